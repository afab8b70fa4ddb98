"""A copy of a ledger on its way into the place of the present one: a new origin, and what only the present one knows.

A machine that was set back must not give numbers it gave before, so everything it numbered is another origin's from
now on, and its own log begins anew.
"""

import contextlib
import sqlite3
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from afterword.domain.registers import Rank
from afterword.redact.text import stored
from afterword.store import files
from afterword.store.ledger import holds, registers, schema
from afterword.store.ledger.ledger import Ledger, RecordKind

_OWNED: Final = (
    *(("session", "origin"), ("session", "by"), ("item", "origin"), ("membership", "origin"), ("register", "origin")),
    *(("log", "origin"), ("stub", "origin"), ("issued_again", "origin"), ("issued_again", "by")),
)
"""Columns that say whose something is."""
MARK: Final = "numbered.json"


class _Mark(msgspec.Struct, frozen=True, omit_defaults=True):
    origin: str
    n: int
    earlier: dict[str, int] = {}
    """The same of the origins this machine had before: a ledger of that time may be put back, too."""


PLACE: Final = "place"
"""The small fact of where the ledger lies; empty until a writer has looked."""
_OF_THE_VAULT: Final = ("append", "placed", "note", "article_file", "other_file", "build_logged")
"""What stands in the vault, which was not set back."""


def renew(path: Path, tell: Callable[[int, int], None]) -> str:
    """Bring the ledger in this file to the newest schema and give it a new origin; the id of that.

    All of it or nothing; afterwards no connection is open and no log lies beside the file.
    """
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA secure_delete = FAST")
        db.execute("PRAGMA temp_store = MEMORY")
        schema.migrate(db)
        ledger = Ledger(db, path)
        with ledger.transaction():
            new = new_origin(ledger, tell)
            # What was asked of another daemon, at another time.
            db.execute("DELETE FROM job")
            db.execute("DELETE FROM meta WHERE key = 'backup' OR key LIKE 'watch:%'")
            ledger.set_meta(PLACE, "")
        db.execute("PRAGMA journal_mode = DELETE")
    return new


def new_origin(
    ledger: Ledger, tell: Callable[[int, int], None] = lambda _done, _all: None, *, same: bool = True
) -> str:
    """Give this machine another origin: what it numbered so far is another one's. Inside a transaction of its own.

    `same`: it is the machine that numbered it, and does on what the settings say that one does.

    Returns:
        The new id.
    """
    db = ledger.db
    before, _ = ledger.origin
    new = uuid.uuid4().hex
    db.execute("UPDATE origin SET id = ? WHERE row = 1", (new,))
    old = db.execute("INSERT INTO origin (id, name, rev) SELECT ?, name, rev FROM origin WHERE row = 1", (before,))
    for n, (table, column) in enumerate(_OWNED):
        tell(n, len(_OWNED))
        db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = 1", (old.lastrowid,))
    db.execute("UPDATE log SET ref = ? WHERE kind = ? AND ref = 1", (old.lastrowid, RecordKind.ORIGIN))
    db.execute("UPDATE origin SET rev = 1 WHERE row = 1")
    settings = db.execute(
        "SELECT key FROM register WHERE kind = ? AND value = ?", (RecordKind.SETTING, f'"{before}"')
    ).fetchall()
    ledger.begin_log()
    ledger.number(RecordKind.ORIGIN, 1, 1)
    if same:
        holds.move(ledger, before, new)
    for (key,) in settings if same else ():
        registers.put(ledger, RecordKind.SETTING, key, stored(f'"{new}"'), Rank.PERSON)
    return new


def place_of(ledger: Ledger, machine: str) -> str:
    """A name for where this ledger lies: another one for a copy of the file, or on another machine."""
    inode = ledger.path.stat().st_ino
    return ledger.keyed_hash(f"place\0{machine}\0{inode}".encode(), 16).hex()


def settle_place(ledger: Ledger, machine: str) -> bool:
    """Give this machine a new origin if its ledger is a copy of one that lies, or lay, elsewhere, or an older state of
    this one; whether it did.

    Two machines that number in one origin would overwrite each other: a copied home, or one put back from a backup of
    files, begins a log of its own.
    """
    here = place_of(ledger, machine)
    before = ledger.meta(PLACE)
    set_back = _reached(ledger) > ledger.head(1)
    if before == here and not set_back:
        return False
    with ledger.transaction(durable=True):
        moved = bool(before)
        if moved:
            # Where others are known, the one it was copied from may be at work still.
            new_origin(ledger, same=set_back or len(ledger.origins()) == 1)
        ledger.set_meta(PLACE, here)
    return moved


def keep_reached(ledger: Ledger) -> None:
    """Remember beside the ledger how far this machine has numbered: an older ledger put in its place is known by it."""
    its_id, before = ledger.origin[0], _mark(ledger)
    earlier = {**before.earlier, before.origin: before.n} if before else {}
    earlier.pop(its_id, None)
    mark = _Mark(its_id, max(ledger.head(1), _reached(ledger)), earlier)
    if mark != before:
        files.replace(ledger.path.with_name(MARK), msgspec.json.encode(mark))


def _reached(ledger: Ledger) -> int:
    mark, its_id = _mark(ledger), ledger.origin[0]
    if mark is None:
        return 0
    return mark.n if mark.origin == its_id else mark.earlier.get(its_id, 0)


def _mark(ledger: Ledger) -> _Mark | None:
    try:
        return msgspec.json.decode(ledger.path.with_name(MARK).read_bytes(), type=_Mark)
    except (OSError, msgspec.DecodeError):
        return None


def settle_name(ledger: Ledger, name: str) -> None:
    """What this machine is called now: others learn of it with the next exchange."""
    if ledger.origin[1] == name:
        return
    with ledger.transaction():
        ledger.db.execute("UPDATE origin SET name = ?, rev = rev + 1 WHERE row = 1", (name,))
        rev = ledger.db.execute("SELECT rev FROM origin WHERE row = 1").fetchone()[0]
        ledger.number(RecordKind.ORIGIN, 1, rev)


def take_over(path: Path, present: Path) -> None:
    """What the present ledger knows of the vault and of its backups, for the copy that takes its place."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA secure_delete = FAST")
        db.execute("ATTACH ? AS present", (str(present),))
        db.execute("BEGIN IMMEDIATE")
        try:
            for table in _OF_THE_VAULT:
                if db.execute("SELECT 1 FROM present.sqlite_master WHERE name = ?", (table,)).fetchone():
                    db.execute(f"DELETE FROM {table}")
                    db.execute(f"INSERT INTO {table} SELECT * FROM present.{table}")
            if db.execute("SELECT 1 FROM present.sqlite_master WHERE name = 'backup'").fetchone():
                db.execute("INSERT OR IGNORE INTO backup SELECT * FROM present.backup")
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")
        db.execute("DETACH present")
