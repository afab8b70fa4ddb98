"""What an SQLite file holds: the cells of every table, the terms of every full text, and what lies in dead pages."""

import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from unwrapping import ZSTD, unzstd

MAGIC = b"SQLite format 3\0"
_LEAF_FROM = 1 << 36
"""From here on the rows of a full text's data table are pages of its segments."""


def cells(main: bytes, log: bytes = b"") -> Iterator[tuple[str, bytes]]:
    """(table.column, bytes) of every text and blob in a database, the frames of its write-ahead log included."""
    with _opened(main, log) as db:
        for table, columns in _tables(db):
            for row in db.execute(f'SELECT * FROM "{table}"'):
                for column, value in zip(columns, row, strict=True):
                    if isinstance(value, str):
                        yield f"{table}.{column}", value.encode(errors="replace")
                    elif isinstance(value, bytes) and value:
                        yield f"{table}.{column}", value


def terms(main: bytes, log: bytes = b"") -> Iterator[tuple[str, dict[str, set[int]]]]:
    """(table, term → documents) of every full text in a database."""
    with _opened(main, log) as db:
        texts = [
            name
            for name, sql in db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
            if sql and " using fts5" in sql.lower()
        ]
        for name in texts:
            db.execute(f"CREATE VIRTUAL TABLE temp.words_{name} USING fts5vocab(main, '{name}', instance)")
            found: dict[str, set[int]] = defaultdict(set)
            for term, document in db.execute(f"SELECT term, doc FROM temp.words_{name}"):
                found[term].add(document)
            yield name, dict(found)


def dead_terms(main: bytes, log: bytes = b"") -> Iterator[tuple[str, list[str]]]:
    """(table, terms) of the pages of every full text, those included whose documents were deleted since.

    On a page each term is stored as how much it shares with the one before, and the rest.
    """
    with _opened(main, log) as db:
        for table, columns in _tables(db):
            if table.endswith("_data") and columns == ["id", "block"]:
                found: list[str] = []
                for (block,) in db.execute(f'SELECT block FROM "{table}" WHERE id >= ?', (_LEAF_FROM,)):
                    found += page_terms(bytes(block))
                yield table, found


def page_terms(block: bytes) -> list[str]:
    """The terms on one page of a full text."""
    if len(block) < 4:
        return []
    at = int.from_bytes(block[2:4], "big")
    place = 0
    before = b""
    found: list[str] = []
    while at < len(block):
        step, at = _number(block, at)
        place += step
        here = place
        kept = 0
        if found or before:
            kept, here = _number(block, here)
        size, here = _number(block, here)
        if size > len(block) - here or kept > len(before):
            break
        before = before[:kept] + block[here : here + size]
        found.append(before[1:].decode(errors="replace"))
    return found


def chained(data: bytes) -> Iterator[bytes]:
    """The contents of zstd frames whose bytes go on in other pages, also where nothing refers to them any more.

    A long value leaves its first bytes in one page, then the number of the next; each further page begins with the
    number of its successor. Where the first part ends is not known to a reader of dead pages, so every place that
    holds a number of a page is tried.
    """
    size = int.from_bytes(data[16:18], "big")
    size = 65536 if size == 1 else size
    usable = size - data[20]
    last = len(data) // size
    at = data.find(ZSTD)
    while at >= 0:
        page = at // size * size
        if not unzstd(data[at : page + usable])[1]:
            for split in range(page + usable - 4, at + 16, -1):
                number = int.from_bytes(data[split : split + 4], "big")
                if 1 < number <= last:
                    inner, whole = unzstd(data[at:split] + b"".join(_successors(data, number, size, usable, last)))
                    if whole:
                        yield inner
                        break
        at = data.find(ZSTD, at + 1)


def _successors(data: bytes, number: int, size: int, usable: int, last: int) -> Iterator[bytes]:
    seen: set[int] = set()
    while 1 < number <= last and number not in seen:
        seen.add(number)
        page = data[(number - 1) * size : (number - 1) * size + usable]
        number = int.from_bytes(page[:4], "big")
        yield page[4:]


class _opened:  # noqa: N801  # used like a function
    """A private copy of a database, open; the original and its side files are not touched."""

    def __init__(self, main: bytes, log: bytes) -> None:
        self._main, self._log = main, log

    def __enter__(self) -> sqlite3.Connection:
        self._folder = tempfile.TemporaryDirectory(prefix="pages-")
        path = Path(self._folder.name) / "copy.db"
        path.write_bytes(self._main)
        if self._log:
            path.with_name("copy.db-wal").write_bytes(self._log)
        self._db = sqlite3.connect(path)
        return self._db

    def __exit__(self, *_how: object) -> None:
        self._db.close()
        self._folder.cleanup()


def _tables(db: sqlite3.Connection) -> Iterator[tuple[str, list[str]]]:
    names = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    for name, sql in names:
        if sql and not sql.upper().startswith("CREATE VIRTUAL"):
            yield name, [row[1] for row in db.execute(f'PRAGMA table_info("{name}")')]


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A variable-length number of SQLite's, and where it ends."""
    value = 0
    for _ in range(9):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            break
    return value, at
