"""The writer's side of the full text: what the ledger owes, into one file, or into several at once where there is much.

How the parts follow the ledger is told in `textpart`. Where much comes in at once, prose is taken in as it comes, and
what tools said when all of it is there, by several processes; meanwhile a search says that it is not complete.
"""

import logging
import secrets
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path

from afterword.store import faults
from afterword.store.fulltext import FILE, TOKENIZE, Range, shard_path, spread_of
from afterword.store.ledger.ledger import Ledger
from afterword.store.privacy import private_file
from afterword.store.textfill import filling
from afterword.store.textpart import SCHEMA, Part

VERSION = 3
SHARDS_MAX = 4
_CHECKED_BYTES = 256 << 20
_TABLES = {
    "prose": f'CREATE VIRTUAL TABLE prose USING fts5(body, content="", tokenize="{TOKENIZE}")',
    "tool": f'CREATE VIRTUAL TABLE tool USING fts5(body, content="", columnsize=0, detail=none, tokenize="{TOKENIZE}")',
}
_log = logging.getLogger(__name__)


class FullText:
    """The writer's side. Made again from nothing when it is missing, of another version or ledger, or damaged.

    With `jobs` over 1, where there is much to take in, tool text is spread over several files by as many processes.
    """

    def __init__(self, state: Path, ledger: Ledger, *, jobs: int = 1, spread_bytes: int = 0) -> None:
        """`spread_bytes` is how large a ledger must be for that when its full text is made again."""
        self._state = state
        self._path = state / FILE
        self._ledger = ledger
        self._shards_max = max(1, min(jobs, SHARDS_MAX))
        self._spread_bytes = spread_bytes
        self._beside: dict[int, sqlite3.Connection] = {}
        try:
            self._db = self._open()
            self._check()
        except sqlite3.DatabaseError as err:
            _log.warning("the full text is damaged, it is made again: %s", err)
            self._begin_again()

    def _check(self) -> None:
        """Raise DatabaseError when a file is damaged. A large one is checked in part: the check reads all of it."""
        for db, path in ((self._db, self._path), *((self._shard(n), shard_path(self._state, n)) for n in self._others)):
            tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}
            if not {"meta", "tool"} <= tables or (db is self._db and "prose" not in tables):
                raise sqlite3.DatabaseError("a table is missing")
            if path.stat().st_size < _CHECKED_BYTES:
                said = db.execute("PRAGMA quick_check(1)").fetchone()[0]
                if said != "ok":
                    raise sqlite3.DatabaseError(said)

    def _open(self) -> sqlite3.Connection:
        db = connect(self._path)
        stamp = f"{VERSION} {self._ledger.origin[0]}"
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
            self._remove_shards()
            self._make(db, stamp)
        elif db.execute("SELECT value FROM meta WHERE key = 'stamp'").fetchone() != (stamp,):
            db.close()
            self._remove()
            return self._open()
        return db

    def _make(self, db: sqlite3.Connection, stamp: str) -> None:
        db.execute("BEGIN IMMEDIATE")
        make_tables(db, ("prose", "tool"))
        owed = self._ledger.db.execute("SELECT coalesce(max(seq), 0) FROM text_pending").fetchone()[0]
        last = self._ledger.db.execute("SELECT coalesce(max(row), 0) FROM item").fetchone()[0]
        # Rows up to `last` are taken from the items as they are now, later ones come by text_pending.
        large = last > 0 and self._ledger.path.stat().st_size >= self._spread_bytes
        spread = Range(0, last, self._shards_max if large else 1)
        for key, value in (
            ("stamp", stamp),
            ("build", secrets.token_hex(8)),
            ("prose.upto", owed),
            ("tool.upto", owed),
            ("prose.end", last),
            ("spread", spread.stored()),
        ):
            db.execute("INSERT INTO meta VALUES (?, ?)", (key, value))
        db.execute("COMMIT")

    def _remove(self) -> None:
        remove(self._path)
        self._remove_shards()

    def _remove_shards(self) -> None:
        for number in range(1, SHARDS_MAX):
            remove(shard_path(self._state, number))

    def _begin_again(self) -> None:
        self.close()
        self._remove()
        self._db = self._open()

    @property
    def _spread(self) -> Range:
        return spread_of(self._db)

    @property
    def _others(self) -> range:
        """The numbers of the files beside this one."""
        return range(1, self._spread.shards)

    def _shard(self, number: int) -> sqlite3.Connection:
        """The file with this number, made when it is missing or belongs to another one: then its rows are owed."""
        found = self._beside.get(number)
        if found is None:
            build = self._db.execute("SELECT value FROM meta WHERE key = 'build'").fetchone()[0]
            found = self._beside[number] = open_shard(shard_path(self._state, number), f"{build}.{number}")
        return found

    def _parts(self) -> tuple[Part, list[Part]]:
        end = self._db.execute("SELECT value FROM meta WHERE key = 'prose.end'").fetchone()[0]
        spread = self._spread
        tool = [
            Part(self._shard(n) if n else self._db, "tool", self._ledger.db, spread._replace(shard=n))
            for n in range(spread.shards)
        ]
        return Part(self._db, "prose", self._ledger.db, Range(0, end)), tool

    def spread(self) -> None:
        """Much is about to come in: until `gather`, prose is taken in alone, and what tools said waits."""
        spread = self._spread
        prose, tool = self._parts()
        if self._shards_max < 2 or spread.shards > 1 or not (prose.whole and tool[0].whole):
            return
        self.catch_up()
        last = self._ledger.db.execute("SELECT coalesce(max(row), 0) FROM item").fetchone()[0]
        # Nothing of the rows that come now is in yet, so they need no order with what is.
        self._set("spread", Range(last, None, self._shards_max).stored())

    def gather(self) -> None:
        """What was about to come in is there: from now on it is taken in. Without `spread` before nothing happens."""
        spread = self._spread
        if spread.end is None:
            last = self._ledger.db.execute("SELECT coalesce(max(row), 0) FROM item").fetchone()[0]
            self._set("spread", Range(spread.start, last, spread.shards).stored())

    def catch_up(
        self,
        stop: Callable[[], bool] = lambda: False,
        on_progress: Callable[[int, int], None] = lambda _done, _all: None,
    ) -> int:
        """Take in everything the ledger owes; returns how many items were indexed here. `stop` is asked while much is
        taken in; then the rest is done the next time. `on_progress` is told rows of items then: done, all."""
        prose, tool = self._parts()
        count = prose.fill(stop)
        upto = self._ledger.db.execute("SELECT max(seq) FROM text_pending").fetchone()[0] or 0
        if prose.whole and upto > prose.upto:
            count += prose.take(prose.owed(upto), upto)
        if tool[0].rows.end is not None:
            if len(tool) > 1 and not all(part.whole for part in tool):
                self._fill_beside(tool, stop, on_progress)
            else:
                count += tool[0].fill(stop)
        if not upto or not prose.whole:
            return count
        if not all(part.whole for part in tool):
            return count
        for part in tool:
            owed = list(part.owed(upto))
            count += part.take(owed, upto) if owed else 0
        faults.hit("text.committed")
        with self._ledger.transaction():
            self._ledger.db.execute("DELETE FROM text_pending WHERE seq <= ?", (upto,))
        return count

    def _fill_beside(self, tool: list[Part], stop: Callable[[], bool], on_progress: Callable[[int, int], None]) -> None:
        """Fill the files by a process for each; what they leave is done here."""
        rows = tool[0].rows
        assert rows.end is not None
        every = rows.end - rows.start
        stopped = filling(
            self._state,
            [part.rows for part in tool],
            stop,
            lambda: on_progress(sum(max(0, part.filled - rows.start) for part in tool) // len(tool), every),
        )
        if not stopped:
            for part in tool:
                part.fill(stop)
        on_progress(every, every)

    def forget_replaced(self) -> None:
        """Take in what is owed so that no byte of a text that was replaced is left in the file."""
        self.gather()
        prose, tool = self._parts()
        if not (prose.whole and all(part.whole for part in tool)):
            # What is not filled yet was never indexed as it was: begin again with the rows as they are.
            self._begin_again()
        every = [self._db, *map(self._shard, self._others)]
        for db in every:
            db.execute("PRAGMA secure_delete = ON")
        try:
            self.catch_up()
            # Deleted postings are only marked until their segments are merged.
            self.optimize()
            with self._ledger.transaction():
                # Also what a kill left between the two files: it holds texts as they were.
                self._ledger.db.execute(
                    "DELETE FROM text_pending WHERE seq <= ?",
                    (self._db.execute("SELECT value FROM meta WHERE key = 'prose.upto'").fetchone()[0],),
                )
        finally:
            for db in [self._db, *map(self._shard, self._others)]:
                db.execute("PRAGMA secure_delete = OFF")

    def pack(self) -> None:
        """Write the files anew, without free pages: they may hold postings of texts that were replaced long ago."""
        for db in (self._db, *map(self._shard, self._others)):
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def optimize(self) -> None:
        """Merge the index's segments after a large ingest, for faster queries and a smaller file."""
        prose, tool = self._parts()
        for part in (prose, *tool):
            part.optimize()
        for db in (self._db, *map(self._shard, self._others)):
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _set(self, key: str, value: str | int) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def let_go(self) -> None:
        """Give up what is kept in memory to be quicker."""
        for db in (self._db, *self._beside.values()):
            db.execute("PRAGMA shrink_memory")

    def close(self) -> None:
        for db in (*self._beside.values(), *([self._db] if hasattr(self, "_db") else [])):
            db.close()
        self._beside.clear()


def connect(path: Path) -> sqlite3.Connection:
    """A file of the full text, open to be written; made when it is missing."""
    db = sqlite3.connect(private_file(path), isolation_level=None, check_same_thread=False, timeout=30)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA cache_size = -32768")
    return db


def make_tables(db: sqlite3.Connection, tables: Iterable[str]) -> None:
    """The tables of a new file; inside a transaction."""
    for statement in (*SCHEMA, *(_TABLES[table] for table in tables)):
        db.execute(statement)


def open_shard(path: Path, stamp: str) -> sqlite3.Connection:
    """A file with tool text alone, empty when it was not that of this stamp."""
    try:
        db = connect(path)
        if db.execute("SELECT value FROM meta WHERE key = 'stamp'").fetchone() == (stamp,):
            return db
        db.close()
    except sqlite3.DatabaseError as err:
        _log.info("a file of the full text is made anew: %s", err)
    remove(path)
    db = connect(path)
    db.execute("BEGIN IMMEDIATE")
    make_tables(db, ("tool",))
    db.execute("INSERT INTO meta VALUES ('stamp', ?)", (stamp,))
    db.execute("COMMIT")
    return db


def remove(path: Path) -> None:
    """Remove a file of the full text with what lies beside it."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
