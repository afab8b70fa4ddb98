"""Takes in what other machines numbered: a batch is one transaction, and makes no number of our own.

Tombstones of a batch come first. What a tombstone forbids is not taken in, in whatever order it comes, and what is here
of it is noted to be forgotten. Numbers that are here are skipped; a payload fills the stub of a number that was
withheld. The same number with another name means that two machines use one origin: all of it is refused.
"""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from afterword.redact.redactor import Redactor
from afterword.store import faults
from afterword.store.ledger import entries, forgetting, tombstones
from afterword.store.ledger.admitting import Admitted, Rows, Unfit
from afterword.store.ledger.entries import FORGOTTEN, SUPERSEDED, WITHHELD, Entry, MembershipBody
from afterword.store.ledger.ledger import Ledger, RecordKind

_WORDS: Final = frozenset({SUPERSEDED, FORGOTTEN, entries.RESCRUBBED, WITHHELD})


UNSEEN: Final = "arrived"
"""The small fact that something came of which not everything was made yet that follows from it."""
_BY: Final = b'"by":"'
_UNNAMED: Final = re.compile(rf"{FORGOTTEN}:\d{{1,19}}")
"""The key of what is not even known by its key any more."""


class _Said(msgspec.Struct, frozen=True):
    """Who wrote the revision in a body, where that is not who numbered it."""

    by: str = ""


class Counted(msgspec.Struct, frozen=True):
    """What became of a batch."""

    new: int
    known: int
    filled: int
    stones: int
    """How many tombstones in it say something new: what they forbid is to be forgotten."""


class Shared(Unfit):
    """A number is here with another name: two machines count in one origin."""

    def __init__(self, origin: str, n: int) -> None:
        super().__init__(
            f"two machines share origin {origin[:8]}: number {n} is another record here",
            "on the one whose home was copied or set back run `afterword sync status`, which gives it a new one",
        )


def take(ledger: Ledger, redactor: Redactor, origin: str, batch: Sequence[Entry]) -> Counted:
    """Take in numbers of one origin, ascending, without a gap to what is here.

    Raises:
        Unfit: something in it cannot be; nothing is changed then.
    """
    with ledger.transaction():
        done = _Arrival(ledger, redactor, origin).take(batch)
        faults.hit("arrivals.commit")
    faults.hit("arrivals.committed")
    return done


def heed(ledger: Ledger, redactor: Redactor, batch: Sequence[tuple[str, Entry]]) -> int:
    """Let tombstones of any origins hold before their numbers are here; how many say something new."""
    with ledger.transaction():
        rows = Rows(ledger, redactor)
        for origin, entry in batch:
            if entries.KINDS[entry.kind] is RecordKind.TOMBSTONE and entry.body is not None:
                rows.admit(entry, origin)
        rows.settle()
        found = _forbid(ledger, rows)
        if found:
            ledger.set_meta(UNSEEN, 1)
        faults.hit("arrivals.commit")
    return found


def _forbid(ledger: Ledger, rows: Rows) -> int:
    if rows.stones:
        ledger.set_meta(tombstones.COUNT, tombstones.counted(ledger))
        forgetting.notice(ledger, rows.stones)
        rows.refusal.looked_up()
    return len(rows.stones)


class _Arrival:
    """One batch, inside its transaction."""

    def __init__(self, ledger: Ledger, redactor: Redactor, origin: str) -> None:
        self._ledger = ledger
        self._db = ledger.db
        self._origin = origin
        self._rows = Rows(ledger, redactor)
        self._row = self._rows.origin_row(origin)
        self._head = ledger.head(self._row)
        self._log: list[tuple[int, int, int, int, int]] = []
        self._numbers: list[tuple[int, int, str, int, str, str, str | None, bytes | None]] = []
        self._again: list[tuple[int, int, int]] = []
        self._filled: list[int] = []

    def take(self, batch: Sequence[Entry]) -> Counted:
        known = [entry for entry in batch if entry.n <= self._head]
        new = [entry for entry in batch if entry.n > self._head]
        if [entry.n for entry in new] != list(range(self._head + 1, self._head + 1 + len(new))):
            raise Unfit(f"the numbers of origin {self._origin[:8]} have a gap after {self._head}")
        if new and self._row == 1:
            raise Unfit(
                f"number {new[0].n} of this machine's own origin was never made here",
                "`afterword sync` with that machine gives this one a new origin",
            )
        fills = self._fills(known)
        first = [entry for entry in (*fills, *new) if entries.KINDS[entry.kind] is RecordKind.TOMBSTONE]
        refs = {entry.n: self._applied(entry) for entry in first}
        stones = _forbid(self._ledger, self._rows)
        filled: dict[int, int] = {}
        for entry in (*fills, *new):
            ref = refs[entry.n] if entry.n in refs else self._applied(entry)
            if entry.n > self._head:
                self._log.append((self._row, entry.n, entries.KINDS[entry.kind], ref, entry.rev))
            else:
                filled[entry.n] = ref
        for n in self._filled:
            self._db.execute("DELETE FROM stub WHERE origin = ? AND n = ?", (self._row, n))
            self._db.execute("UPDATE log SET ref = ? WHERE origin = ? AND n = ?", (filled[n], self._row, n))
        self._db.executemany("INSERT INTO stub VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", [
            (self._row, *number) for number in self._numbers
        ])  # fmt: skip
        self._db.executemany("INSERT INTO log VALUES (?, ?, ?, ?, ?)", self._log)
        self._db.executemany("INSERT OR REPLACE INTO issued_again VALUES (?, ?, ?)", self._again)
        self._awaited()
        self._rows.settle()
        if new or fills:
            self._ledger.set_meta(UNSEEN, 1)
        forgetting.notice_items(self._ledger, self._rows.refusal.items)
        forgetting.notice_articles(self._ledger, self._rows.emptied)
        forgetting.notice_sections(self._ledger, self._rows.blanked)
        return Counted(len(new), len(known) - len(fills), len(fills), stones)

    def _fills(self, known: Sequence[Entry]) -> list[Entry]:
        """Of numbers that are here, those whose stub now comes with its payload."""
        if not known:
            return []
        here = {entry.n: entry for entry in entries.read(self._ledger, self._row, known[0].n, known[-1].n)}
        found = []
        for entry in known:
            mine = here[entry.n]
            gone = mine.key.startswith(f"{FORGOTTEN}:") or entry.key.startswith(f"{FORGOTTEN}:")
            if (mine.kind, mine.rev) != (entry.kind, entry.rev) or not (gone or mine.key == entry.key):
                raise Shared(self._origin, entry.n)
            if mine.why == WITHHELD and entry.body is not None and self._row != 1:
                found.append(entry)
                self._filled.append(entry.n)
        return found

    def _applied(self, entry: Entry) -> int:
        """Apply a record; the row it is about, or 0."""
        kind = entries.KINDS[entry.kind]
        if entry.body is None:
            if entry.why not in _WORDS:
                raise Unfit(f"number {entry.n}: nothing, for a reason that is none")
            if not _UNNAMED.fullmatch(entry.key):
                self._rows.check_key(entry)
            ref = entries.ref_of(self._ledger, kind, entry.key)
            if entry.why != SUPERSEDED or not ref:
                self._number(entry, kind, entry.why)
            return ref
        done = self._rows.admit(entry, self._origin)
        # Canonical JSON spells it like this; inside of a value it may mean anything.
        if _BY in entry.body and (by := msgspec.json.decode(entry.body, type=_Said).by) not in ("", self._origin):
            self._again.append((self._row, entry.n, self._rows.origin_row(by)))
        if done.waits:
            self._wait(entry, kind)
        elif done.why:
            self._number(entry, kind, done.why)
        return done.ref

    def _number(self, entry: Entry, kind: RecordKind, why: str) -> None:
        self._numbers.append((entry.n, kind, entry.key, entry.rev, why, "", None, None))

    def _wait(self, entry: Entry, kind: RecordKind) -> None:
        assert entry.body is not None
        session, _, item = entry.key.partition("/")
        said = (entry.n, kind, entry.key, entry.rev, "", entry.body.decode(), session, bytes.fromhex(item))
        self._numbers.append(said)

    def _awaited(self) -> None:
        """Memberships whose session and item are here by now."""
        rows = self._db.execute(
            "SELECT w.origin, w.n, w.rev, w.body, s.row, i.row FROM stub w JOIN item i ON i.id = w.item"
            " JOIN session s ON s.id = w.session WHERE w.body <> ''"
        ).fetchall()
        names = {row: its_id for row, (its_id, _) in self._ledger.origins().items()}
        for origin, n, rev, said, session, item in rows:
            body = msgspec.json.decode(said.encode(), type=MembershipBody)
            author = body.by or names[origin]
            self._rows.member(session, item, body, rev, self._rows.origin_row(author), author)
            ref = self._db.execute(
                "SELECT row FROM membership WHERE session = ? AND item = ?", (session, item)
            ).fetchone()[0]
            self._db.execute("UPDATE log SET ref = ? WHERE origin = ? AND n = ?", (ref, origin, n))
            self._db.execute("DELETE FROM stub WHERE origin = ? AND n = ?", (origin, n))


__all__ = ["UNSEEN", "Admitted", "Counted", "Shared", "Unfit", "heed", "take"]
