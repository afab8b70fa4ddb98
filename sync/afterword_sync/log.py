"""What this library knows of a ledger: the `Log` protocol, filled by whoever has one.

Every method is called from the thread that called `exchange`, `serve`, `export_folder` or `import_folder`, never from
two threads, and no iterator is kept open over another call. What one call does happens in one transaction, what one
call reads comes from one snapshot (an iterator's from the moment of its first record to its last; it is closed when the
library stops early).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

import msgspec

from afterword_sync.errors import Refused
from afterword_sync.record import Record

__all__ = ["MOST_ASKED", "Inserted", "Log", "Refused", "reading"]

MOST_ASKED = 10_000
"""How many ranges are asked for in one exchange."""


class Inserted(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a batch: every record of it is counted once."""

    new: int = 0  # numbers that were not here
    known: int = 0  # numbers that were here, skipped
    filled: int = 0  # numbers that were here as a stub and have their payload now


class Log(Protocol):
    """A ledger as its peers see it: one append-only series of numbers a machine (*origin*)."""

    @property
    def origin(self) -> str:
        """Our own id, 32 lower-case hex digits. Another one after `reborn`."""
        ...

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of record this ledger can keep. A batch with another kind is refused before `insert`."""
        ...

    @property
    def early(self) -> frozenset[str]:
        """Those of `kinds` that go before everything else: tombstones and retractions."""
        ...

    def vector(self) -> Mapping[str, int]:
        """The highest number of each origin below which none is missing; ours is there, even at 0.

        What `insert_early` put above a gap does not count until the gap is filled.
        """
        ...

    def machines(self) -> Mapping[str, str]:
        """Names of origins, for people. An origin without a name may be left out."""
        ...

    def rules(self) -> str:
        """The version of the redaction rules that what we send has gone through, at most 64 characters."""
        ...

    def read(self, origin: str, first: int, last: int, peer: str | None) -> Iterator[Record]:
        """The records `first` to `last` (both included) of this origin in order of n, each number exactly once.

        Payloads as they stand now: a number whose revision lost is a `superseded` stub, and what is held back from
        `peer` (an origin) a `withheld` one. With `peer` None nobody knows who will read it (a folder): what is held
        back from anybody is `withheld`. Must not hold the whole range in memory.
        """
        ...

    def priority(self, have: Mapping[str, int], peer: str | None) -> Iterator[Record]:
        """The records of the kinds in `early` that lie above `have`, of all origins, in order of n within an origin.

        Origins missing in `have` are at 0. Nothing above our own `vector()`.
        """
        ...

    def withheld(self, peer: str, vector: Mapping[str, int]) -> Mapping[str, Sequence[tuple[int, int]]]:
        """Numbers that are here as a `withheld` stub, to ask `peer` for: (first, last), both included, ascending and
        apart, by origin; at most `MOST_ASKED` of them. None where it was asked before, and has nothing new since: this
        is its `vector`.
        """
        ...

    def insert(self, records: Sequence[Record], sender: str) -> Inserted:
        """Take one checked batch: redact it by our rules, then all of it in one transaction.

        Of one origin, numbers without a gap, the first at most one above our vector, every kind known. `sender` is the
        origin that handed it over, or "dir". Numbers we have are skipped, unless the payload fills a stub that no
        tombstone forbids. An import makes no record of our own.

        Raises:
            Refused: the same number is here with another kind, key or rev ("two machines share origin X"), a number
                of our own that we never made, or a payload that its kind does not allow. Nothing is changed then.
        """
        ...

    def insert_early(self, records: Sequence[Record], sender: str) -> Inserted:
        """As `insert`, for records of the kinds in `early`: of any origins, with gaps. They hold at once."""
        ...

    def reborn(self, known: int) -> str:
        """Take a new origin, and return it: somebody has our number `known`, which we have not made (yet).

        The ledger was set back to an older state, or its home was copied. The old origin is foreign from then on:
        what was lost of it comes home by `insert`. Does nothing when our own vector has reached `known`.
        """
        ...


@contextmanager
def reading(records: Iterator[Record]) -> Iterator[Iterator[Record]]:
    """The records, and whatever is open behind them closed afterwards, also when not all were taken."""
    try:
        yield records
    finally:
        close = getattr(records, "close", None)
        if close is not None:
            close()
