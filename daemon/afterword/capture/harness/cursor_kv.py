"""Reads Cursor's key-value tables by key, never a table as a whole: it holds credentials, and gigabytes.

Sizes are asked before values are read, and what is over the bound stays unread. Which keys a range has, and with
which row ids, an index alone answers. Every write of Cursor's replaces the row, which gives it a new row id.
"""

import sqlite3
from typing import Literal, NamedTuple

from afterword.domain.events import Unreadable

Table = Literal["cursorDiskKV", "ItemTable"]

VALUE_MAX = 16 << 20
"""Bytes of a message or a step; a larger one becomes a note of its size."""
CONVERSATION_MAX = 128 << 20
"""Bytes of a conversation's own value, which in old versions holds all its messages."""

_COMPOSERS = "composerData:"
_BUBBLES = "bubbleId:"
_COLUMNS = {"key", "value"}


class Oversized(NamedTuple):
    """A value that is too big to be read."""

    size: int


class Entry(NamedTuple):
    """A conversation's key, and its row."""

    composer: str
    row: int


def tables(db: sqlite3.Connection) -> set[Table]:
    """Which of the two tables are there.

    Raises:
        Unreadable: neither is, or one has not the columns we know.
    """
    found: set[Table] = set()
    names: tuple[Table, ...] = ("cursorDiskKV", "ItemTable")
    for name in names:
        columns = {row[1] for row in db.execute(f"PRAGMA table_info({name})")}
        if columns and not columns >= _COLUMNS:
            raise Unreadable(f"an unknown schema: no columns `key` and `value` in `{name}`")
        if columns:
            found.add(name)
    if not found:
        raise Unreadable("an unknown schema: there is neither `cursorDiskKV` nor `ItemTable`")
    return found


def composers(db: sqlite3.Connection) -> list[Entry]:
    """Every conversation's key, without its value."""
    rows = db.execute("SELECT key, rowid FROM cursorDiskKV WHERE key >= ? AND key < ? ORDER BY key", _range(_COMPOSERS))
    return [Entry(key[len(_COMPOSERS) :], row) for key, row in rows]


def composer_key(composer: str) -> str:
    return _COMPOSERS + composer


def bubble_key(composer: str, bubble: str) -> str:
    return f"{_BUBBLES}{composer}:{bubble}"


def bubbles_seen(db: sqlite3.Connection, composer: str) -> tuple[int, str]:
    """(newest row id of a conversation's messages, what their row ids come to); reads no value."""
    count, newest, total = db.execute(
        "SELECT count(*), coalesce(max(rowid), 0), total(rowid) FROM cursorDiskKV WHERE key >= ? AND key < ?",
        _range(bubble_key(composer, "")),
    ).fetchone()
    return newest, f"{count}.{newest}.{total:.0f}"


def has_bubbles(db: sqlite3.Connection, composer: str) -> bool:
    """Whether a conversation has messages under keys of their own."""
    found = db.execute(
        "SELECT 1 FROM cursorDiskKV WHERE key >= ? AND key < ? LIMIT 1", _range(bubble_key(composer, ""))
    ).fetchone()
    return found is not None


def value(db: sqlite3.Connection, table: Table, key: str, bound: int = VALUE_MAX) -> bytes | Oversized | None:
    """The value of one key; None when there is none, or NULL."""
    asked = f"SELECT rowid, typeof(value) FROM {table} WHERE key = ?"  # noqa: S608  # one of our two names
    found = db.execute(asked, (key,)).fetchone()
    if found is None or found[1] not in ("text", "blob"):
        return None
    return cell(db, table, "value", found[0], bound)


def cell(db: sqlite3.Connection, table: str, column: str, row: int, bound: int) -> bytes | Oversized:
    """A text or blob of a row, unless it is over the bound."""
    with db.blobopen(table, column, row, readonly=True) as blob:
        return Oversized(len(blob)) if len(blob) > bound else blob.read()


def headed(db: sqlite3.Connection, composer: str) -> bytes | None:
    """The head that newer versions keep of a conversation in a table of its own."""
    if not list(db.execute("PRAGMA table_info(composerHeaders)")):
        return None
    found = db.execute("SELECT rowid, typeof(value) FROM composerHeaders WHERE composerId = ?", (composer,)).fetchone()
    if found is None or found[1] not in ("text", "blob"):
        return None
    read = cell(db, "composerHeaders", "value", found[0], VALUE_MAX)
    return read if isinstance(read, bytes) else None


def _range(prefix: str) -> tuple[str, str]:
    """The keys that begin with a prefix: from it on, and before it with its last character's successor."""
    return prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)
