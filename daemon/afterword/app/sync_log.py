"""The ledger as the exchange between machines sees it: its `Log`, filled from store and redact."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from afterword.app import sync_holds
from afterword.domain.settings import Peer
from afterword.redact.exits import leave, leave_tree
from afterword.redact.redactor import Redactor
from afterword.store.ledger import arrivals, entries, holds, restored
from afterword.store.ledger.entries import Entry, Standing
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.rescrub import VERSION
from afterword_sync.log import Inserted, Refused
from afterword_sync.record import Payload, Record, Stub

_KINDS: Final = frozenset(entries.KINDS)
_EARLY: Final = frozenset({entries.EARLY})


class LedgerLog:
    """A `Log` on an open ledger. `peers` are the machines of the settings, for what is held back from them."""

    def __init__(self, ledger: Ledger, redactor: Redactor, peers: Mapping[str, Peer] | None = None) -> None:
        self._ledger = ledger
        self._redactor = redactor
        self._peers = peers or {}
        self._settled: set[str] = set()
        self.news = 0
        """How many numbers came that were not here, or only without what they number."""
        self.stones = 0
        """How many tombstones came that say something new."""

    @property
    def ledger(self) -> Ledger:
        return self._ledger

    @property
    def origin(self) -> str:
        return self._ledger.origin[0]

    @property
    def kinds(self) -> frozenset[str]:
        return _KINDS

    @property
    def early(self) -> frozenset[str]:
        return _EARLY

    def vector(self) -> Mapping[str, int]:
        return {its_id: self._ledger.head(row) for row, (its_id, _) in self._ledger.origins().items()}

    def machines(self) -> Mapping[str, str]:
        return dict(self._ledger.origins().values())

    def rules(self) -> str:
        return str(self._ledger.meta(VERSION) or "")[:64]

    def read(self, origin: str, first: int, last: int, peer: str | None) -> Iterator[Record]:
        row = self._rows().get(origin)
        if row is not None:
            yield from self._read(origin, row, first, last, self._sieve(peer), early=False)

    def priority(self, have: Mapping[str, int], peer: str | None) -> Iterator[Record]:
        sieve = self._sieve(peer)
        for origin, row in sorted(self._rows().items()):
            head = self._ledger.head(row)
            if head > have.get(origin, 0):
                yield from self._read(origin, row, have.get(origin, 0) + 1, head, sieve, early=True)

    def _read(
        self, origin: str, row: int, first: int, last: int, sieve: holds.Sieve, *, early: bool
    ) -> Iterator[Record]:
        kind = entries.KINDS[entries.EARLY] if early else None
        self._ledger.db.execute("BEGIN")
        try:
            for entry, standing in entries.standing(self._ledger, row, first, last, kind):
                yield self._record(origin, entry, standing, sieve)
        finally:
            self._ledger.db.execute("COMMIT")

    def withheld(self, peer: str, vector: Mapping[str, int]) -> Mapping[str, Sequence[tuple[int, int]]]:
        return sync_holds.to_ask(self._ledger, self._peers, peer, vector)

    def insert(self, records: Sequence[Record], sender: str) -> Inserted:
        del sender
        if not records:
            return Inserted()
        try:
            done = arrivals.take(self._ledger, self._redactor, records[0].origin, [_entry(each) for each in records])
        except arrivals.Unfit as err:
            raise Refused(err.message, err.hint) from err
        self.news += done.new + done.filled
        self.stones += done.stones
        return Inserted(new=done.new, known=done.known, filled=done.filled)

    def insert_early(self, records: Sequence[Record], sender: str) -> Inserted:
        del sender
        vector = self.vector()
        new = [each for each in records if each.n > vector.get(each.origin, 0)]
        try:
            self.stones += arrivals.heed(
                self._ledger, self._redactor, [(each.origin, _entry(each)) for each in new if each.kind in _EARLY]
            )
        except arrivals.Unfit as err:
            raise Refused(err.message, err.hint) from err
        return Inserted(new=len(new), known=len(records) - len(new))

    def reborn(self, known: int) -> str:
        if self._ledger.head(1) < known:
            with self._ledger.transaction(durable=True):
                restored.new_origin(self._ledger)
        return self.origin

    def _record(self, origin: str, entry: Entry, standing: Standing | None, sieve: holds.Sieve) -> Record:
        body: Payload | Stub
        if entry.body is None:
            body = Stub(entry.why)
        elif sieve.holds(entry, standing):
            body = Stub.WITHHELD
        else:
            body = Payload(cleaned("sync-batch", entry.body, self._redactor))
        return Record(origin=origin, n=entry.n, kind=entry.kind, key=entry.key, rev=entry.rev, body=body)

    def _rows(self) -> dict[str, int]:
        return {its_id: row for row, (its_id, _) in self._ledger.origins().items()}

    def _sieve(self, peer: str | None) -> holds.Sieve:
        if peer is not None and peer not in self._settled and self._peers:
            self._settled.add(peer)
            self.hold(peer)
        held = holds.held(self._ledger, peer)
        if peer is None:
            held |= holds.by_project(self._ledger, sync_holds.patterns(self._ledger, self._peers, None)).keys()
        return holds.Sieve(self._ledger, held)

    def hold(self, peer: str) -> None:
        """Hold back from a machine what the settings say, before anything is read for it."""
        sync_holds.settle(self._ledger, self._redactor, self._peers, peer)


def cleaned(way: str, body: bytes, redactor: Redactor) -> bytes:
    """A JSON object as it may leave: what stands redacted in the ledger comes out as it is."""
    text = body.decode()
    if leave(way, text, redactor) == text:
        return body
    return msgspec.json.encode(leave_tree(way, msgspec.json.decode(body), redactor), order="sorted")


def _entry(record: Record) -> Entry:
    if isinstance(record.body, Payload):
        return Entry(record.n, record.kind, record.key, record.rev, record.body.json)
    return Entry(record.n, record.kind, record.key, record.rev, None, record.body.value)
