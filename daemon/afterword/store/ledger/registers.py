"""Rows of the `register` table: what has a key, revisions and one winner."""

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from afterword.domain.registers import Rank, wins
from afterword.redact.text import Redacted, stored
from afterword.store.ledger.ledger import Ledger, RecordKind

T = TypeVar("T")


class Register(msgspec.Struct, frozen=True):
    """The winning revision of a key. `value` is JSON text."""

    row: int
    key: str
    rev: int
    rank: int
    value: Redacted

    def read(self, shape: type[T]) -> T:
        """The value as a Struct or another shape."""
        return msgspec.json.decode(self.value.encode(), type=shape)


def get(ledger: Ledger, kind: RecordKind, key: str) -> Register | None:
    """The winner of (kind, key), or None."""
    found = ledger.db.execute(
        "SELECT row, key, rev, rank, value FROM register WHERE kind = ? AND key = ? AND forgotten = 0", (kind, key)
    ).fetchone()
    return Register(found[0], found[1], found[2], found[3], stored(found[4])) if found else None


def every(ledger: Ledger, kind: RecordKind) -> Iterator[Register]:
    """Every winner of a kind, by key."""
    rows = ledger.db.execute(
        "SELECT row, key, rev, rank, value FROM register WHERE kind = ? AND forgotten = 0 ORDER BY key", (kind,)
    )
    for row, key, rev, rank, value in rows:
        yield Register(row, key, rev, rank, stored(value))


def author(ledger: Ledger, register: Register) -> int:
    """The row of the machine that wrote the revision that stands."""
    found: int = ledger.db.execute("SELECT origin FROM register WHERE row = ?", (register.row,)).fetchone()[0]
    return found


def below(ledger: Ledger, kind: RecordKind, prefix: str) -> Iterator[Register]:
    """Every winner of a kind whose key begins with `prefix`, by key; reads no other."""
    rows = ledger.db.execute(
        "SELECT row, key, rev, rank, value FROM register WHERE kind = ? AND key >= ? AND key < ? AND forgotten = 0"
        " ORDER BY key",
        (kind, prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)),
    )
    for row, key, rev, rank, value in rows:
        yield Register(row, key, rev, rank, stored(value))


def stamp(ledger: Ledger, kind: RecordKind, prefix: str) -> tuple[int, int]:
    """(how many, sum of revisions) of the registers below a prefix: it changes whenever one of them does."""
    count, revs = ledger.db.execute(
        "SELECT count(*), coalesce(sum(rev), 0) FROM register WHERE kind = ? AND key >= ? AND key < ?",
        (kind, prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)),
    ).fetchone()
    return count, revs


def put(
    ledger: Ledger, kind: RecordKind, key: str, value: Redacted, rank: Rank = Rank.ENGINE, rev: int | None = None
) -> Register:
    """Write the next revision of a key if it says something new and wins; inside a transaction.

    `rev` is given only for what `init` writes (0). An equal value makes no revision.

    Returns:
        The winner, which is the old one when that stands.
    """
    origin_id = ledger.origin[0]
    found = ledger.db.execute(
        "SELECT r.row, r.rev, r.rank, r.forgotten, r.value, o.id FROM register r JOIN origin o ON o.row = r.origin"
        " WHERE r.kind = ? AND r.key = ?",
        (kind, key),
    ).fetchone()
    if found is None:
        first = 1 if rev is None else rev
        row = ledger.db.execute(
            "INSERT INTO register (kind, key, rev, rank, origin, value) VALUES (?, ?, ?, ?, 1, ?)",
            (kind, key, first, rank, value),
        ).lastrowid
        assert row is not None
        ledger.number(kind, row, first)
        return Register(row, key, first, rank, value)
    row, old_rev, old_rank, forgotten, old_value, old_origin = found
    standing = Register(row, key, old_rev, old_rank, stored(old_value))
    new_rev = old_rev + 1 if rev is None else rev
    new = (False, int(rank), new_rev, origin_id)
    if old_value == value or not wins(new, (bool(forgotten), old_rank, old_rev, old_origin)):
        return standing
    ledger.db.execute(
        "UPDATE register SET rev = ?, rank = ?, origin = 1, value = ? WHERE row = ?", (new_rev, rank, value, row)
    )
    ledger.number(kind, row, new_rev)
    return Register(row, key, new_rev, rank, value)
