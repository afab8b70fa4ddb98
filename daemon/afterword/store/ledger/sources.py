"""Sources and how far they were read: the checkpoint that commits together with the items it produced."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from afterword.redact.text import Redacted
from afterword.store.ledger import drift
from afterword.store.ledger.ledger import Ledger

_TROUBLES_KEPT = 100
FORGOTTEN_PATH = "(forgotten)"


class Checkpoint(msgspec.Struct, frozen=True):
    """How far a line log was read, and what the bytes before looked like.

    `offset` is the byte after the last complete newline consumed. `head` and `tail` are keyed hashes of the first
    and last (up to) 4 KiB of [0, offset); `chain` covers all its whole blocks, `part` the rest. `open_tail` is the
    size at which an unterminated last object was taken, `open_hash` the keyed hash of that object; `verified_ns` is
    the mtime at which all bytes were compared.
    """

    device: int = 0
    inode: int = 0
    size: int = -1
    mtime_ns: int = 0
    offset: int = 0
    lines: int = 0
    head: bytes = b""
    tail: bytes = b""
    chain: bytes = b""
    part: bytes = b""
    state: str = ""
    generation: int = 1
    open_tail: int = -1
    open_hash: bytes = b""
    verified_ns: int = -1
    first_us: int = 0


class Source(msgspec.Struct, frozen=True):
    """A file in a store, or a conversation inside one. `path` is redacted and only for show.

    A conversation has the row of its file in `within`, the reader's `name` for it, and the `version` read last.
    """

    row: int
    harness: str
    path_key: bytes
    path: str
    at: Checkpoint
    bad: int
    skipped: int
    problem: str
    within: int | None = None
    name: str = ""
    version: str = ""
    authority: int = 0


_COLUMNS = (
    "row, harness, path_key, path, bad, skipped, problem, within, name, version, authority, device, inode, size,"
    " mtime_ns, offset, lines, head, tail, chain, part, state, generation, open_tail, open_hash, verified_ns, first_us"
)


def path_key(ledger: Ledger, harness: str, path: Path) -> bytes:
    """What finds a source by its path without storing the path."""
    return ledger.keyed_hash(f"{harness}\0".encode() + bytes(path), 16)


def part_key(ledger: Ledger, file_row: int, name: str) -> bytes:
    """What finds a conversation inside a file."""
    return ledger.keyed_hash(b"part\0%d\0" % file_row + name.encode("utf-8", "surrogatepass"), 16)


def every(ledger: Ledger, harness: str | None = None) -> Iterator[Source]:
    """Every file that is a source, or those of one harness."""
    where = " WHERE within IS NULL" + ("" if harness is None else " AND harness = ?")
    rows = ledger.db.execute(f"SELECT {_COLUMNS} FROM source{where} ORDER BY row", (harness,) if harness else ())
    return map(_source, rows)


def parts(ledger: Ledger, file_row: int) -> Iterator[Source]:
    """The conversations inside a file that were read."""
    return map(_source, ledger.db.execute(f"SELECT {_COLUMNS} FROM source WHERE within = ? ORDER BY row", (file_row,)))


def versions(ledger: Ledger, harness: str, name: str, besides: int) -> list[str]:
    """The versions of the parts of this name in a harness's files, but for that with row `besides`; oldest first."""
    rows = ledger.db.execute(
        "SELECT version FROM source WHERE harness = ? AND name = ? AND within <> ? ORDER BY row",
        (harness, name, besides),
    )
    return [version for (version,) in rows]


def hold_talk(ledger: Ledger, harness: str) -> bool:
    """Whether anything was found in a harness's files that should be a conversation: lines, or parts.

    A part whose name begins with a dot is a reader's note and no conversation.
    """
    found = ledger.db.execute(
        "SELECT 1 FROM source WHERE harness = ? AND (offset > 0 OR within IS NOT NULL AND name NOT LIKE '.%') LIMIT 1",
        (harness,),
    ).fetchone()
    return found is not None


def shares(ledger: Ledger, row: int) -> bool:
    """Whether another source shows something of what this one does, so that its places may not be this one's."""
    found = ledger.db.execute(
        "SELECT 1 FROM shown s WHERE s.source = ?"
        " AND EXISTS (SELECT 1 FROM shown o WHERE o.membership = s.membership AND o.source <> s.source) LIMIT 1",
        (row,),
    ).fetchone()
    return found is not None


def unread(ledger: Ledger, harness: str) -> tuple[int, int]:
    """(bad, left out) lines or records of a harness, those inside documents and databases included."""
    found: tuple[int, int] = ledger.db.execute(
        "SELECT coalesce(sum(bad), 0), coalesce(sum(skipped), 0) FROM source WHERE harness = ?", (harness,)
    ).fetchone()
    return found


def find(ledger: Ledger, key: bytes) -> Source | None:
    found = ledger.db.execute(f"SELECT {_COLUMNS} FROM source WHERE path_key = ?", (key,)).fetchone()
    return _source(found) if found else None


def _source(found: tuple[Any, ...]) -> Source:
    row, harness, key, path, bad, skipped, problem, within, name, version, authority, *rest = found
    return Source(
        row, harness, key, path, Checkpoint(*rest), bad, skipped, problem, within, name, version, authority
    )  # fmt: skip


def add(ledger: Ledger, harness: str, key: bytes, path: Redacted, first_us: int, authority: int = 0) -> Source:
    """Make the row of a source seen for the first time; inside a transaction."""
    ledger.db.execute(
        "INSERT INTO source (harness, path_key, path, first_us, authority) VALUES (?, ?, ?, ?, ?)",
        (harness, key, path, first_us, authority),
    )
    found = find(ledger, key)
    assert found is not None
    return found


def add_part(ledger: Ledger, file: Source, key: bytes, name: Redacted, first_us: int) -> Source:
    """Make the row of a conversation inside `file`; inside a transaction."""
    ledger.db.execute(
        "INSERT INTO source (harness, path_key, path, first_us, within, name) VALUES (?, ?, ?, ?, ?, ?)",
        (file.harness, key, file.path, first_us, file.row, name),
    )
    found = find(ledger, key)
    assert found is not None
    return found


def save_part(ledger: Ledger, row: int, version: Redacted, generation: int) -> None:
    """A conversation inside a file was read; in the same transaction as what was read of it."""
    ledger.db.execute("UPDATE source SET version = ?, generation = ? WHERE row = ?", (version, generation, row))


def set_authority(ledger: Ledger, row: int, authority: int) -> None:
    """Say which kind of source it is from its next reading on; inside a transaction."""
    ledger.db.execute("UPDATE source SET authority = ?, generation = generation + 1 WHERE row = ?", (authority, row))


def move(ledger: Ledger, row: int, key: bytes, path: Redacted) -> None:
    """A file was renamed; inside a transaction.

    It stays the same source, whose items are known, but is read from its start once more: its place may say
    something (an archived session).
    """
    ledger.db.execute(
        "UPDATE source SET path_key = ?, path = ?, generation = generation + 1 WHERE row = ?", (key, path, row)
    )
    ledger.db.execute("UPDATE source SET path = ?, version = '' WHERE within = ?", (path, row))
    rewind(ledger, row)
    reset_counts(ledger, row)


def hide_path(ledger: Ledger, row: int) -> None:
    """Keep nothing of where a source lies: what it tells was forgotten. It is found by its keyed path all the same."""
    ledger.db.execute("UPDATE source SET path = ?, problem = '' WHERE row = ?", (FORGOTTEN_PATH, row))
    ledger.db.execute("DELETE FROM trouble WHERE source = ?", (row,))


def without(value: object, said: Collection[str]) -> object:
    """A decoder's state without what a transcript said: texts under these names become empty."""
    if isinstance(value, dict):
        return {k: "" if k in said and isinstance(v, str) else without(v, said) for k, v in value.items()}
    return [without(inner, said) for inner in value] if isinstance(value, list) else value


def rewind(ledger: Ledger, row: int) -> None:
    """Have a source read from its start once more, as a reading of its own; inside a transaction."""
    ledger.db.execute(
        "UPDATE source SET size = -1, offset = 0, lines = 0, state = '', open_tail = -1, open_hash = x'',"
        " generation = generation + 1 WHERE row = ?",
        (row,),
    )


def save(ledger: Ledger, row: int, at: Checkpoint, state: Redacted) -> None:
    """Move a source's position; in the same transaction as what was read up to there."""
    ledger.db.execute(
        "UPDATE source SET device = ?, inode = ?, size = ?, mtime_ns = ?, offset = ?, lines = ?, head = ?, tail = ?,"
        " chain = ?, part = ?, state = ?, generation = ?, open_tail = ?, open_hash = ?, verified_ns = ? WHERE row = ?",
        (
            at.device, at.inode, at.size, at.mtime_ns, at.offset, at.lines, at.head, at.tail,
            at.chain, at.part, state, at.generation, at.open_tail, at.open_hash, at.verified_ns, row,
        ),
    )  # fmt: skip


def set_seen(ledger: Ledger, row: int, at: Checkpoint) -> None:
    """A document or database was read whole as it stood with these stats; inside a transaction."""
    ledger.db.execute(
        "UPDATE source SET device = ?, inode = ?, size = ?, mtime_ns = ?, head = ?, tail = ?, part = ? WHERE row = ?",
        (at.device, at.inode, at.size, at.mtime_ns, at.head, at.tail, at.part, row),
    )


def set_problem(ledger: Ledger, row: int, problem: str) -> None:
    """Why a source cannot be read now ("" when it can); inside a transaction."""
    ledger.db.execute("UPDATE source SET problem = ? WHERE row = ? AND problem <> ?", (problem, row, problem))


def reset_counts(ledger: Ledger, row: int) -> None:
    """Forget what was counted, before a source is read again from its start; inside a transaction."""
    ledger.db.execute("UPDATE source SET bad = 0, skipped = 0 WHERE row = ?", (row,))
    ledger.db.execute("DELETE FROM trouble WHERE source = ?", (row,))
    drift.reset(ledger, row)


def count_trouble(ledger: Ledger, row: int, line: int, reason: str, *, bad: bool) -> None:
    """Count a line that could not be read (`bad`) or was left out, and keep the first few by number."""
    column = "bad" if bad else "skipped"
    ledger.db.execute(f"UPDATE source SET {column} = {column} + 1 WHERE row = ?", (row,))
    ledger.db.execute(
        "INSERT OR IGNORE INTO trouble SELECT ?, ?, ? WHERE (SELECT count(*) FROM trouble WHERE source = ?) < ?",
        (row, line, reason, row, _TROUBLES_KEPT),
    )


def troubles(ledger: Ledger) -> list[tuple[str, int, str]]:
    """(redacted path, number, reason) of the lines that could not be read; inside a document or database the path is
    followed by the conversation, and its records are counted."""
    return list(
        ledger.db.execute(
            "SELECT s.path || CASE s.name WHEN '' THEN '' ELSE ' ' || s.name END, t.line, t.reason"
            " FROM trouble t JOIN source s ON s.row = t.source ORDER BY 1, 2"
        )
    )
