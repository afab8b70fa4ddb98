"""One table of the full text in its file, and how far it follows the ledger.

A part has rows of the ledger's items from two sides. A *range* of rows that were there first is filled in from the rows
as they are, in steps that are kept; everything later comes by `text_pending`. Each step remembers how much was pending
when its rows were read: what was pending then is in them, what came later is still owed. So steps and changes may come
in any order, and a kill anywhere doubles and loses nothing.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator

from afterword.domain.items import PROSE_KINDS
from afterword.store import faults
from afterword.store.fulltext import Range, body
from afterword.store.ledger.ledger import unpack

_STEP_CHARS = 4 << 20
_PROSE = ",".join(str(int(kind)) for kind in sorted(PROSE_KINDS))
SCHEMA = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "CREATE TABLE step (part TEXT, last INTEGER, seq INTEGER, PRIMARY KEY (part, last)) WITHOUT ROWID",
)


class Part:
    """A table in an open file. `ledger` is the connection that the rows are read by."""

    def __init__(self, db: sqlite3.Connection, table: str, ledger: sqlite3.Connection, rows: Range) -> None:
        self._db = db
        self._table = table
        self._ledger = ledger
        self.rows = rows
        self._kinds = f"{'IN' if table == 'prose' else 'NOT IN'} ({_PROSE})"

    @property
    def filled(self) -> int:
        """The row up to which its range is in."""
        return self._meta("filled")

    @property
    def whole(self) -> bool:
        """Whether all of its range is in."""
        return self.rows.end is not None and next(self.rows.stretches(self.filled), None) is None

    @property
    def upto(self) -> int:
        """The number in `text_pending` up to which changes were taken in."""
        return self._meta("upto")

    def fill(self, stop: Callable[[], bool]) -> int:
        """Take in what is missing of its range; returns how many items. `stop` is asked between two steps."""
        count = 0
        while not self.whole and not stop():
            count += self._step()
        return count

    def _step(self) -> int:
        new: list[tuple[int, str]] = []
        chars = 0
        self._db.execute("BEGIN IMMEDIATE")
        self._ledger.execute("BEGIN")
        try:
            # One state of the ledger: these rows, and how much was pending for them.
            seq = self._ledger.execute("SELECT seq FROM sqlite_sequence WHERE name = 'text_pending'").fetchone()
            last = self.filled
            for first, end in self.rows.stretches(last):
                for row, text, size in self._texts(first, end):
                    if text:
                        new.append((row, text))
                    last = row
                    chars += size
                    if chars > _STEP_CHARS:
                        break
                if chars > _STEP_CHARS:
                    break
                last = end
            self._insert(new)
            self._db.execute("INSERT INTO step VALUES (?, ?, ?)", (self._table, last, seq[0] if seq else 0))
            self._set("filled", last)
            faults.hit("text.commit")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        finally:
            self._ledger.execute("ROLLBACK")
        self._db.execute("COMMIT")
        return len(new)

    def _texts(self, first: int, last: int) -> Iterator[tuple[int, str, int]]:
        rows = self._ledger.execute(
            f"SELECT row, text, packed, chars FROM item WHERE row BETWEEN ? AND ? AND kind {self._kinds} ORDER BY row",
            (first, last),
        )
        for row, blob, packed, size in rows:
            yield row, body(self._table, unpack(blob, packed)), size

    def owed(self, upto: int) -> Iterator[tuple[int, int]]:
        """(item, number) of the first change of each item that is not in, up to a number in `text_pending`: it names
        what is indexed now."""
        start, end = self.rows.start, -1 if self.rows.end is None else self.rows.end
        known = self._db.execute("SELECT coalesce(min(seq), 0) FROM step WHERE part = ?", (self._table,)).fetchone()[0]
        rows = self._ledger.execute(
            "SELECT p.item, min(p.seq) FROM text_pending p JOIN item i ON i.row = p.item"
            f" WHERE p.seq > ? AND p.seq <= ? AND i.kind {self._kinds}"
            " AND (p.seq > ? OR p.item <= ? OR p.item > ?) GROUP BY p.item",
            (self.upto, upto, known, start, end),
        ).fetchall()
        for item, seq in rows:
            first = seq
            if self.rows.covers(item):
                if not self.rows.holds(item):
                    continue
                seen = self._seen(item)
                if seq <= seen:
                    first = self._ledger.execute(
                        "SELECT min(seq) FROM text_pending WHERE item = ? AND seq > ? AND seq <= ?", (item, seen, upto)
                    ).fetchone()[0]
            elif self.rows.shard:
                continue
            if first is not None:
                yield item, first

    def _seen(self, item: int) -> int:
        """What was pending at most when this row of the range was read."""
        found = self._db.execute(
            "SELECT seq FROM step WHERE part = ? AND last >= ? ORDER BY last LIMIT 1", (self._table, item)
        ).fetchone()
        return found[0] if found else 0

    def take(self, owed: Iterable[tuple[int, int]], upto: int) -> int:
        """Take in changes; the text of an item as it is today is what goes in. Returns how many items."""
        count = 0
        new: list[tuple[int, str]] = []
        chars = 0
        self._db.execute("BEGIN IMMEDIATE")
        try:
            for item, first in owed:
                blob, packed, old, old_packed = self._ledger.execute(
                    "SELECT i.text, i.packed, p.old, p.old_packed FROM item i, text_pending p"
                    " WHERE i.row = ? AND p.seq = ?",
                    (item, first),
                ).fetchone()
                if old is not None:
                    self._delete(item, body(self._table, unpack(old, old_packed)))
                text = body(self._table, unpack(blob, packed))
                new.append((item, text))
                chars += len(text)
                if chars > _STEP_CHARS:
                    self._insert(new)
                    new, chars = [], 0
                count += 1
            self._insert(new)
            self._set("upto", upto)
            faults.hit("text.commit")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")
        return count

    def optimize(self) -> None:
        """Merge the segments of the table."""
        self._db.execute(f"INSERT INTO {self._table} ({self._table}) VALUES ('optimize')")

    def _insert(self, new: list[tuple[int, str]]) -> None:
        """Many rows in one go cost a fifth less than each by itself."""
        self._db.executemany(f"INSERT INTO {self._table} (rowid, body) VALUES (?, ?)", new)

    def _delete(self, row: int, text: str) -> None:
        if text:
            self._db.execute(
                f"INSERT INTO {self._table} ({self._table}, rowid, body) VALUES ('delete', ?, ?)", (row, text)
            )

    def _meta(self, key: str) -> int:
        found = self._db.execute("SELECT value FROM meta WHERE key = ?", (f"{self._table}.{key}",)).fetchone()
        return int(found[0]) if found else 0

    def _set(self, key: str, value: int) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"{self._table}.{key}", value))
