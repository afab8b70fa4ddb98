"""opencode's databases: `session`, `message`, `part` (1.2 on), and beside or in their place `session_message` (2.x).

Which columns there are differs from build to build: everything but ids and `data` may be missing.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from afterword.capture.harness.lenient import part
from afterword.capture.harness.opencode_reading import RECORD_MAX, Conversation, Head, Record, facts
from afterword.capture.harness.opencode_shapes import REVERT, Revert
from afterword.domain.events import Decoded, Part, Unreadable

ROWS, ENTRIES = 2, 3
"""Authorities of the two shapes; also the beginnings of their parts' names."""

_GO = "a database of the older Go edition of opencode, which is not read"
_SPOKEN = "type IN ('user', 'assistant', 'shell')"
_TABLES = {"session", "session_v2", "message", "part", "session_message", "sessions", "messages"}
_HEAD = ("directory", "title", "parent_id", "fork_session_id", "time_created", "time_updated", "time_archived",
         "revert")  # fmt: skip


class Tables:
    """What tables and columns a database has.

    Raises:
        Unreadable: they are none of opencode's, or of an edition that is not read.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        there = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        self.columns: dict[str, set[str]] = {}
        for table in there & _TABLES:
            found = db.execute("SELECT name FROM pragma_table_info(?)", (table,))
            self.columns[table] = {column for (column,) in found}
        self.rows = {"message", "part"} <= self.columns.keys()
        self.entries = "session_message" in self.columns
        if {"sessions", "messages"} <= self.columns.keys() and not self.rows and not self.entries:
            raise Unreadable(_GO)
        if there and not self.rows and not self.entries:
            raise Unreadable("an unknown schema: it has neither `message` and `part` nor `session_message`")
        if self.rows:
            self._need("message", "id", "session_id", "data")
            self._need("part", "id", "message_id", "data")
        if self.entries:
            self._need("session_message", "id", "session_id", "type", "data")

    def head_of(self, authority: int) -> str:
        """The table of sessions for a shape; empty when there is none."""
        names = ("session_v2", "session") if authority == ENTRIES else ("session",)
        return next((name for name in names if "id" in self.columns.get(name, ())), "")

    def select(self, table: str, names: Sequence[str], alias: str) -> str:
        """The columns by name, NULL for those this build has not."""
        there = self.columns[table]
        return ", ".join(f"{alias}.{name}" if name in there else "NULL" for name in names)

    def order(self) -> str:
        """What orders the messages of the newest shape; its first builds had no number."""
        return "seq" if "seq" in self.columns["session_message"] else "time_created, id"

    def _need(self, table: str, *names: str) -> None:
        for name in names:
            if name not in self.columns[table]:
                raise Unreadable(f"an unknown schema: `{table}` has no column `{name}`")


def parts(db: sqlite3.Connection) -> Iterator[Part]:
    """Every session in each shape it is there in. A version is made of the times and numbers of its rows: rows are
    changed in place while a text grows, and deleted when it is undone, so that no position could be kept.

    Raises:
        Unreadable: see `Tables`.
    """
    tables = Tables(db)
    if tables.rows:
        yield from _rows(db, tables)
    if tables.entries:
        yield from _entries(db, tables)


def _rows(db: sqlite3.Connection, tables: Tables) -> Iterator[Part]:
    versions = _sums(db, tables, "message", "session_id")
    of_parts = _sums(db, tables, "part", "session_id") if "session_id" in tables.columns["part"] else {}
    heads = _heads(db, tables, ROWS)
    for session in dict.fromkeys([*heads, *versions]):
        count, total, last = versions.get(session, (0, 0, 0))
        if count:
            count_parts, total_parts, last_part = of_parts.get(session, (0, 0, 0))
            head, updated = heads.get(session, ("", 0))
            newest = max(last, last_part, updated)
            yield Part(
                f"{ROWS}/{session}", f"{head}|{count}.{total}|{count_parts}.{total_parts}", ROWS, newest * 1000 or None
            )


def _entries(db: sqlite3.Connection, tables: Tables) -> Iterator[Part]:
    heads = _heads(db, tables, ENTRIES)
    spoken = {session for (session,) in db.execute(f"SELECT DISTINCT session_id FROM session_message WHERE {_SPOKEN}")}
    for session, (count, total, last) in _sums(db, tables, "session_message", "session_id").items():
        # Builds before 2.0 note here that the model was switched, and keep the talk in the older tables.
        if session in spoken:
            head, updated = heads.get(session, ("", 0))
            yield Part(f"{ENTRIES}/{session}", f"{head}|{count}.{total}", ENTRIES, max(last, updated) * 1000 or None)


def _sums(db: sqlite3.Connection, tables: Tables, table: str, by: str) -> dict[str, tuple[int, int, int]]:
    """(rows, sum of their times, newest time) by session; a row's time changes whenever the row does."""
    dated = "time_updated" in tables.columns[table]
    time = "time_updated" if dated else "rowid"
    # The remainder keeps the sum of any number of rows a whole number that SQLite can hold.
    rows = db.execute(f"SELECT {by}, count(*), sum({time} % 4294967296), max({time}) FROM {table} GROUP BY {by}")
    return {str(session): (count, total or 0, int(last or 0) if dated else 0) for session, count, total, last in rows}


def _heads(db: sqlite3.Connection, tables: Tables, authority: int) -> dict[str, tuple[str, int]]:
    """(what changes when the session's own row does, its time) by session."""
    table = tables.head_of(authority)
    if not table:
        return {}
    wanted = tables.select(table, ("id", *_HEAD), "s")
    found = {}
    for row in db.execute(f"SELECT {wanted} FROM {table} s ORDER BY s.id"):
        its_id, _, title, _, _, _, updated, archived, revert = row
        back = _revert(revert)
        marks = (updated, archived, len(title or ""), back.message_id, back.part_id)
        found[str(its_id)] = (" ".join(str(mark) for mark in marks if mark is not None), int(updated or 0))
    return found


def events(db: sqlite3.Connection, given: Part) -> Iterator[list[Decoded]]:
    """The conversation of a part."""
    shape, _, session = given.name.partition("/")
    tables = Tables(db)
    head = _head(db, tables, int(shape), session)
    yield [facts(head)]
    talk = Conversation(head)
    if int(shape) == ENTRIES:
        columns = ("id", "type", *_JSON, "time_created")
        for row in _records(db, tables, "session_message", columns, "session_id = ?", session, tables.order()):
            its_id, kind, raw, size, created = row
            yield talk.entry(Record(str(its_id), raw, size, created), str(kind))
        return
    wanted = ("id", *_JSON, "time_created")
    order = "time_created, id" if "time_created" in tables.columns["message"] else "id"
    # The parts are asked for while this query is open: both see the same state.
    for its_id, raw, size, created in _records(db, tables, "message", wanted, "session_id = ?", session, order):
        rows = _records(db, tables, "part", ("id", *_JSON), "message_id = ?", its_id, "id")
        there = [Record(str(its), text, length) for its, text, length in rows]
        yield from talk.message(Record(str(its_id), raw, size, created), there)


_JSON = (f"CASE WHEN length(data) <= {RECORD_MAX} THEN data END", "length(data)")


def _records(
    db: sqlite3.Connection, tables: Tables, table: str, columns: Sequence[str], where: str, value: str, order: str
) -> Iterator[tuple[Any, ...]]:
    there = tables.columns[table]
    wanted = ", ".join(name if name in there or name in _JSON else "NULL" for name in columns)
    return db.execute(f"SELECT {wanted} FROM {table} WHERE {where} ORDER BY {order}", (value,))


def _head(db: sqlite3.Connection, tables: Tables, authority: int, session: str) -> Head:
    table = tables.head_of(authority)
    row = None
    if table:
        wanted = tables.select(table, _HEAD, "s")
        row = db.execute(f"SELECT {wanted} FROM {table} s WHERE s.id = ?", (session,)).fetchone()
    if row is None:
        return Head(session)
    directory, title, parent, forked_from, created, _, archived, revert = row
    return Head(
        session,
        directory=directory or "",
        title=title or "",
        parent=parent or "",
        forked_from=forked_from or "",
        created=created,
        archived=archived is not None,
        revert=_revert(revert),
    )


def _revert(raw: str | bytes | None) -> Revert:
    return (part(raw, REVERT) if raw else None) or Revert()
