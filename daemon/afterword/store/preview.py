"""`preview.db`: what was said, found before it is read. It is there while a first reading of much goes on, no longer.

A whole reading of some gigabytes takes minutes, most of them for what tools said. What people and agents said is a few
per cent of it, so it is looked through first, and searched here until its rows are in the ledger. Nothing is kept of
it: whoever opens the ledger to write begins by removing what a killed process left.
"""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from afterword.domain.ids import ItemId
from afterword.domain.items import Kind
from afterword.redact.text import Redacted
from afterword.store.fulltext import TOKENIZE, body
from afterword.store.ledger.body import Body
from afterword.store.privacy import private_file

FILE = "preview.db"
_SCHEMA = f"""
CREATE TABLE session (
  row INTEGER PRIMARY KEY, harness TEXT NOT NULL, native TEXT NOT NULL, facts TEXT NOT NULL, UNIQUE (harness, native)
);
CREATE TABLE said (
  row INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, session INTEGER NOT NULL, kind INTEGER NOT NULL,
  time_us INTEGER NOT NULL, text BLOB NOT NULL, packed INTEGER NOT NULL
);
CREATE VIRTUAL TABLE prose USING fts5(body, content="", tokenize="{TOKENIZE}");
"""
_COMMIT_CHARS = 1 << 20


class Preview:
    """The writer's side: rows go in as they come, the newest conversations first."""

    def __init__(self, state: Path) -> None:
        """Begins with an empty file."""
        remove(state)
        self._db = sqlite3.connect(private_file(state / FILE), isolation_level=None)
        # It need not outlive this process, so nothing waits for the disk.
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute("PRAGMA cache_size = -16384")
        self._db.executescript(_SCHEMA)
        self._chars = 0
        self._sessions: dict[tuple[str, str], int] = {}

    def session(self, harness: str, native: Redacted, facts: Redacted) -> int:
        """The row of a session, with what is known of it by now (JSON of SessionFacts)."""
        self._begin()
        row = self._sessions.get((harness, native))
        if row is not None:
            self._db.execute("UPDATE session SET facts = ? WHERE row = ?", (facts, row))
            return row
        made = self._db.execute(
            "INSERT INTO session (harness, native, facts) VALUES (?, ?, ?)", (harness, native, facts)
        ).lastrowid
        assert made is not None
        self._sessions[harness, native] = made
        return made

    def say(self, session: int, its_id: ItemId, kind: Kind, time_us: int, said: Body) -> None:
        """Something that was said; what is here already is passed over."""
        self._begin()
        row = self._db.execute(
            "INSERT OR IGNORE INTO said (id, session, kind, time_us, text, packed) VALUES (?, ?, ?, ?, ?, ?)",
            (its_id, session, kind, time_us, *said.stored()),
        )
        if row.rowcount:
            self._db.execute("INSERT INTO prose (rowid, body) VALUES (?, ?)", (row.lastrowid, body("prose", said.text)))
            self._chars += said.chars
        if self._chars >= _COMMIT_CHARS:
            self.commit()

    def commit(self) -> None:
        """From now on what came is found."""
        if self._db.in_transaction:
            self._db.execute("COMMIT")
        self._chars = 0

    def close(self) -> None:
        """All that comes is there; it is found until somebody removes it."""
        self.commit()
        self._db.close()

    def abandon(self) -> None:
        """Nothing more comes; what was not committed is not there. Whoever calls this removes it."""
        self._db.close()

    def _begin(self) -> None:
        if not self._db.in_transaction:
            self._db.execute("BEGIN")


def remove(state: Path) -> None:
    """Remove it, if it is there."""
    for suffix in ("", "-wal", "-shm"):
        (state / (FILE + suffix)).unlink(missing_ok=True)


@contextlib.contextmanager
def reading(state: Path) -> Iterator[sqlite3.Connection | None]:
    """It, as it is now, open to be read; None when there is none. Another may take its place meanwhile, with other
    rows: what belongs together is read by one connection."""
    path = state / FILE
    try:
        db = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None) if path.exists() else None
    except sqlite3.OperationalError:
        db = None  # it went away just now
    try:
        yield db
    finally:
        if db:
            db.close()
