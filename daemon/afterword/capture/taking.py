"""One conversation of a document or database on its way into the ledger."""

import msgspec

from afterword.capture.intake import Intake, Memory, sane
from afterword.capture.linelog import Tools
from afterword.domain.events import BadLine, Decoded, Facts, Item
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.sources import Checkpoint, Source

_PRINT = 16
"""Bytes of a record's hash."""


class Recall:
    """Keyed hashes of the records of conversations read lately, so that only what follows the first changed record is
    taken in again while a conversation grows. Lost with the process: then a conversation is read whole once more."""

    def __init__(self, max_bytes: int = 4 << 20) -> None:
        self._max_bytes = max_bytes
        self._kept: dict[int, tuple[int, bytes]] = {}

    def of(self, row: int, generation: int) -> bytes:
        """The hashes of the last reading of a part, one after the other; nothing when they are not known."""
        found = self._kept.get(row)
        return found[1] if found and found[0] == generation else b""

    def keep(self, row: int, generation: int, prints: bytes) -> None:
        self._kept.pop(row, None)
        self._kept[row] = (generation, prints)
        size = sum(len(kept) for _, kept in self._kept.values())
        while size > self._max_bytes:
            size -= len(self._kept.pop(next(iter(self._kept)))[1])


class Taking:
    """One conversation on its way into the ledger, inside one transaction: what stands at its beginning as before is
    left alone, everything from the first change on is taken in."""

    def __init__(self, tools: Tools, at: Source, known: bytes, *, changed_us: int) -> None:
        self._tools = tools
        self._at = at
        self._known = known
        self._now_us = tools.clock()
        self._changed_us = min(changed_us, self._now_us)
        self._intake: Intake | None = None
        self._last_us: dict[str, int] = {}
        self._whole = True
        self._records = 0
        self.prints = bytearray()
        self.generation = at.at.generation

    def record(self, record: list[Decoded]) -> None:
        n, mark = self._records, print_of(self._tools.ledger, record)
        self._records += 1
        self.prints += mark
        if self._intake is None:
            if self._known[n * _PRINT : (n + 1) * _PRINT] == mark and self._passed(record):
                return
            self._intake = self._begin(n)
        self._intake.line(record, n, n + 1)
        # What could not be read is not gone.
        self._whole = self._whole and not any(isinstance(event, BadLine) for event in record)

    def close(self) -> int:
        """Settle; returns how many items were new."""
        intake = self._intake or self._begin(self._records)
        intake.close(whole=self._whole)
        return intake.new_items

    def _passed(self, record: list[Decoded]) -> bool:
        """Whether nothing but items and facts is in a record, so that it need not be taken in again. A copy is matched
        against its origin from the first item on."""
        if not all(isinstance(event, Facts) or (isinstance(event, Item) and not event.copy_of) for event in record):
            return False
        for event in record:
            if isinstance(event, Item) and sane(event.time_us, self._now_us):
                self._last_us[event.session] = event.time_us or 0
        return True

    def _begin(self, since: int) -> Intake:
        self.generation += not since
        at = Checkpoint(generation=self.generation, first_us=self._at.at.first_us)
        source = msgspec.structs.replace(self._at, at=at)
        intake = Intake(
            self._tools.ledger,
            self._tools.redactor,
            source,
            changed_us=self._changed_us,
            now_us=self._now_us,
            memory=Memory(),
            passing=self._tools.passing(source.row) if self._tools.passing else None,
        )
        if since:
            intake.resume(since, self._last_us)
        else:
            intake.start_over()
        return intake


def print_of(ledger: Ledger, record: list[Decoded]) -> bytes:
    """A keyed hash of a record, of a fixed length."""
    return ledger.keyed_hash(_ENCODER.encode([(type(event).__name__, event) for event in record]), _PRINT)


_ENCODER = msgspec.json.Encoder()
