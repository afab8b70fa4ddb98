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

from afterword.store.ledger import schema
from afterword.store.ledger.ledger import Ledger, RecordKind

_OWNED: Final = ("session", "item", "membership", "register", "log")
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
            before, name = ledger.origin
            new = uuid.uuid4().hex
            db.execute("UPDATE origin SET id = ? WHERE row = 1", (new,))
            old = db.execute("INSERT INTO origin (id, name) VALUES (?, ?)", (before, name)).lastrowid
            for n, table in enumerate(_OWNED):
                tell(n, len(_OWNED))
                db.execute(f"UPDATE {table} SET origin = ? WHERE origin = 1", (old,))
            db.execute("UPDATE log SET ref = ? WHERE kind = ? AND ref = 1", (old, RecordKind.ORIGIN))
            # What was asked of another daemon, at another time.
            db.execute("DELETE FROM job")
            db.execute("DELETE FROM meta WHERE key = 'backup' OR key LIKE 'watch:%'")
        with ledger.transaction():
            ledger.number(RecordKind.ORIGIN, 1, 1)
        db.execute("PRAGMA journal_mode = DELETE")
    return new


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
