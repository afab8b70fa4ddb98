"""Edits of items in one transaction: an item that is edited forth and back, as when a growing answer is read again from
its first edition on, has not changed."""

import hashlib
from collections.abc import Iterator

import msgspec

from afterword.store.ledger.ledger import Ledger, RecordKind


class _Edit(msgspec.Struct):
    """A hash of what the item was before, None when it was not there; whether the full text is told already."""

    before: bytes | None
    owed: bool = False


class Edits:
    """The items one transaction makes and edits."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._db = ledger.db
        self._edits: dict[int, _Edit] = {}
        self._owed: list[tuple[int]] = []
        """New items of which the full text is told in the end."""

    def made(self, row: int, *, owed: bool) -> None:
        """An item is new; further edits belong to its first revision. `owed`: it has a text."""
        self._edits[row] = _Edit(None, owed)
        if owed:
            self._owed.append((row,))

    def begin(self, row: int) -> None:
        """An item is about to be edited."""
        if row not in self._edits:
            self._edits[row] = _Edit(self._digest(row))

    def owe(self, row: int, old: bytes, old_packed: int) -> None:
        """The text of an item that `begin` was called for was another one: the full text is told once."""
        edit = self._edits[row]
        if not edit.owed:
            edit.owed = True
            indexed = (None, None) if edit.before is None else (old, old_packed)
            self._db.execute("INSERT INTO text_pending (item, old, old_packed) VALUES (?, ?, ?)", (row, *indexed))

    def settle(self) -> Iterator[int]:
        """Tell the full text of what is new, and number the items that are not what they were; gives their rows."""
        self._db.executemany("INSERT INTO text_pending (item) VALUES (?)", self._owed)
        self._owed.clear()
        for row, edit in self._edits.items():
            if edit.before is None or edit.before == self._digest(row):
                continue
            self._db.execute("UPDATE item SET rev = rev + 1, origin = 1 WHERE row = ?", (row,))
            rev = self._db.execute("SELECT rev FROM item WHERE row = ?", (row,)).fetchone()[0]
            self._ledger.number(RecordKind.ITEM, row, rev)
            yield row
        self._edits.clear()

    def _digest(self, row: int) -> bytes:
        found = self._db.execute(
            "SELECT text, packed, time_us, time_flag, exit_status, path FROM item WHERE row = ?", (row,)
        ).fetchone()
        return hashlib.blake2b(repr(found).encode("utf-8", "surrogatepass"), digest_size=16).digest()
