"""Every column of the ledger that can hold text is either re-scrubbed or known to hold nothing of anybody's."""

import sqlite3

from afterword.store.ledger import schema
from afterword.store.ledger.rescrub import COLUMNS


def test_no_column_is_forgotten() -> None:
    db = sqlite3.connect(":memory:")
    db.isolation_level = None
    schema.migrate(db)
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    columns = {
        f"{table}.{name}"
        for table in tables
        if not table.startswith("sqlite_")
        for _, name, kind, *_ in db.execute(f"PRAGMA table_info({table})")
        if kind.upper() != "INTEGER"
    }
    assert columns - COLUMNS.keys() == set(), "say in rescrub.COLUMNS what they hold, and scrub what is text"
