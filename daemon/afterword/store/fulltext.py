"""Full text: `text-0.db` beside the ledger, disposable and made again from the rows.

Prose (what people and agents said) has positions, for phrases and BM25; everything else is indexed by token only.
The ledger notes in the same transaction as an item that its text is owed here (`text_pending`); this file remembers
in the same transaction as its postings how far it got. So a kill between the two loses and doubles nothing: one
item, one posting.
"""

import contextlib
import functools
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from unicodedata import category, normalize

from afterword.domain.items import PROSE_KINDS
from afterword.store import faults
from afterword.store.ledger.ledger import Ledger, unpack
from afterword.store.privacy import private_file

FILE = "text-0.db"
VERSION = 2
_FILL_CHARS = 4 << 20
_CHECKED_BYTES = 256 << 20

# The first thing owed for an item names what is indexed now; its text as it is today is what goes in.
_OWED = (
    "SELECT o.item, i.kind, i.text, i.packed, p.old, p.old_packed"
    " FROM (SELECT item, min(seq) AS first FROM text_pending WHERE seq > ? AND seq <= ? GROUP BY item) o"
    " JOIN item i ON i.row = o.item JOIN text_pending p ON p.seq = o.first"
)
_TOKENIZE = "unicode61 remove_diacritics 2 tokenchars '_'"
_SCHEMA = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    f'CREATE VIRTUAL TABLE prose USING fts5(body, content="", tokenize="{_TOKENIZE}")',
    f'CREATE VIRTUAL TABLE tool USING fts5(body, content="", columnsize=0, detail=none, tokenize="{_TOKENIZE}")',
)


# Compiled when first needed: such ranges take some milliseconds each, and plain English needs none of them.
@functools.cache
def _unspaced() -> re.Pattern[str]:
    """Scripts written without spaces: each sign becomes a token, a word a phrase of them."""
    return re.compile(
        "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uaa60-\uaa7f"
        "\uf900-\ufaff\U00020000-\U0003ffff])"
    )


@functools.cache
def _letters() -> re.Pattern[str]:
    """Letters and numbers beyond ASCII; arrows, rules, boxes and dashes, which most tool output has, are none."""
    return re.compile("[\u00aa-\u1fff\u2070-\u209f\u2100-\u218f\u2460-\u24ff\u2c00-\U0010ffff]")


@functools.cache
def _marks() -> re.Pattern[str]:
    """Every combining mark of the first plane."""
    marks = (sign for sign in map(chr, range(0x300, 0xFE30)) if category(sign)[0] == "M")
    return re.compile(f"[{''.join(map(re.escape, marks))}]+")


def folded(text: str) -> str:
    """`text` in one case, without accents and with compatible signs made one: how texts are compared.

    It keeps no length: one sign may become several, or none.
    """
    if text.isascii() or not _letters().search(text):
        return text.lower()
    return _marks().sub("", normalize("NFKD", text).casefold())


def spaced(text: str) -> str:
    """`text` as it is given to the tokenizer, at indexing and in queries alike: folded by us, because the tokenizer
    does not know every script's case and marks."""
    if text.isascii() or not _letters().search(text):
        return text
    return _unspaced().sub(r" \1 ", folded(text))


PART = "_"
"""Before each part of a name, so that a part is told from a word: `resolveEncodedPath` also gives `_resolve _encoded
_path`. Prose only, where people write names into sentences; in tool text it would cost a third of an ingest."""
_WORD = re.compile(r"[A-Za-z0-9_]+")
_NAME = re.compile(r"[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)+|[A-Za-z0-9]*(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z])[A-Za-z0-9]*")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@functools.lru_cache(maxsize=50_000)
def parts_of(name: str) -> tuple[str, ...]:
    """The parts of a name such as `max_retry_count`, `HTTPServer` or `resolveEncodedPath`; of anything else none."""
    return tuple(part.lower() for part in _PARTS.findall(name)) if _NAME.fullmatch(name) else ()


def _body(table: str, text: str) -> str:
    """What the tokenizer is given of a text: itself, and behind it the parts of the names in it."""
    if table != "prose":
        return spaced(text)
    words = dict.fromkeys(_WORD.findall(text))  # in their order: what is taken out again must be the very same
    named = [parts_of(word) for word in words if "_" in word or not (word.islower() or word.istitle())]
    return spaced(text) + "".join(f"\n{' '.join(PART + part for part in parts)} {PART}" for parts in named if parts)


_PROSE = frozenset(map(int, PROSE_KINDS))


def _table(kind: int) -> str:
    return "prose" if kind in _PROSE else "tool"


class FullText:
    """The writer's side. Made again from nothing when it is missing, of another version or ledger, or damaged."""

    def __init__(self, state: Path, ledger: Ledger) -> None:
        self._path = state / FILE
        self._ledger = ledger
        try:
            self._db = self._open()
            self._check()
        except sqlite3.DatabaseError as err:
            import logging  # noqa: PLC0415  # 4 ms that a search would pay

            logging.getLogger(__name__).warning("the full text is damaged, it is made again: %s", err)
            self._remove()
            self._db = self._open()

    def _check(self) -> None:
        """Raise DatabaseError when the file is damaged. A large one is checked in part: the check reads all of it."""
        tables = {row[0] for row in self._db.execute("SELECT name FROM sqlite_master")}
        if not {"meta", "prose", "tool"} <= tables:
            raise sqlite3.DatabaseError("a table is missing")
        if self._path.stat().st_size < _CHECKED_BYTES:
            said = self._db.execute("PRAGMA quick_check(1)").fetchone()[0]
            if said != "ok":
                raise sqlite3.DatabaseError(said)

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(private_file(self._path), isolation_level=None, check_same_thread=False)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA cache_size = -32768")
        stamp = f"{VERSION} {self._ledger.origin[0]}"
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
            self._make(db, stamp)
        elif db.execute("SELECT value FROM meta WHERE key = 'stamp'").fetchone() != (stamp,):
            db.close()
            self._remove()
            return self._open()
        return db

    def _make(self, db: sqlite3.Connection, stamp: str) -> None:
        db.execute("BEGIN IMMEDIATE")
        for statement in _SCHEMA:
            db.execute(statement)
        owed = self._ledger.db.execute("SELECT coalesce(max(seq), 0) FROM text_pending").fetchone()[0]
        last = self._ledger.db.execute("SELECT coalesce(max(row), 0) FROM item").fetchone()[0]
        # Rows up to `fill_to` are taken from the items as they are now, later ones come by text_pending.
        for key, value in (("stamp", stamp), ("upto", owed), ("filled", 0), ("fill_to", last)):
            db.execute("INSERT INTO meta VALUES (?, ?)", (key, value))
        db.execute("COMMIT")

    def _remove(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def catch_up(self, stop: Callable[[], bool] = lambda: False) -> int:
        """Take in everything the ledger owes; returns how many items were indexed. `stop` is asked while the file is
        made again; then the rest is done the next time."""
        count = self._fill(stop)
        if self._meta("filled") < self._meta("fill_to"):
            return count
        since = self._meta("upto")
        upto = self._ledger.db.execute("SELECT max(seq) FROM text_pending").fetchone()[0] or 0
        if upto <= since:
            if upto:
                self._told(upto)  # a kill came between the two files
            return count
        self._db.execute("BEGIN IMMEDIATE")
        try:
            with self._postings() as add:
                for item, kind, blob, packed, old, old_packed in self._ledger.db.execute(_OWED, (since, upto)):
                    if old is not None:
                        self._delete(table := _table(kind), item, _body(table, unpack(old, old_packed)))
                    add(item, kind, unpack(blob, packed))
                    count += 1
            self._db.execute("UPDATE meta SET value = ? WHERE key = 'upto'", (upto,))
            faults.hit("text.commit")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")
        faults.hit("text.committed")
        self._told(upto)
        return count

    def _told(self, upto: int) -> None:
        """Have the ledger forget what it owed up to here, which is indexed."""
        with self._ledger.transaction():
            self._ledger.db.execute("DELETE FROM text_pending WHERE seq <= ?", (upto,))

    def _fill(self, stop: Callable[[], bool]) -> int:
        """Index the items that were there when this file was made, in steps that are kept."""
        filled, fill_to = self._meta("filled"), self._meta("fill_to")
        count = 0
        while filled < fill_to and not stop():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                with self._postings() as add:
                    for row, kind, text in self._step(filled, fill_to):
                        if text:
                            add(row, kind, text)
                            count += 1
                        filled = row
                self._db.execute("UPDATE meta SET value = ? WHERE key = 'filled'", (filled,))
                faults.hit("text.commit")
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
        return count

    def _step(self, after: int, upto: int) -> Iterator[tuple[int, int, str]]:
        chars = 0
        rows = self._ledger.db.execute(
            "SELECT row, kind, text, packed, chars FROM item WHERE row > ? AND row <= ? ORDER BY row", (after, upto)
        )
        for row, kind, blob, packed, size in rows:
            yield row, kind, unpack(blob, packed)
            chars += size
            if chars > _FILL_CHARS:
                return

    def _meta(self, key: str) -> int:
        value: int = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()[0]
        return value

    @contextlib.contextmanager
    def _postings(self) -> Iterator[Callable[[int, int, str], None]]:
        """Takes (row, kind, text) of what is new; it is in the index when the block is left.

        Many rows of one table in one go cost a fifth less than each by itself.
        """
        waiting: dict[str, list[tuple[int, str]]] = {"prose": [], "tool": []}
        chars = 0

        def flush() -> None:
            nonlocal chars
            for table, rows in waiting.items():
                self._db.executemany(f"INSERT INTO {table} (rowid, body) VALUES (?, ?)", rows)
                rows.clear()
            chars = 0

        def add(row: int, kind: int, text: str) -> None:
            nonlocal chars
            body = _body(table := _table(kind), text)
            waiting[table].append((row, body))
            chars += len(body)
            if chars > _FILL_CHARS:
                flush()

        yield add
        flush()

    def _delete(self, table: str, row: int, text: str) -> None:
        if text:
            self._db.execute(f"INSERT INTO {table} ({table}, rowid, body) VALUES ('delete', ?, ?)", (row, text))

    def forget_replaced(self) -> None:
        """Take in what is owed so that no byte of a text that was replaced is left in the file."""
        if self._meta("filled") < self._meta("fill_to"):
            # What is not filled yet was never indexed as it was: begin again with the rows as they are.
            self._db.close()
            self._remove()
            self._db = self._open()
        self._db.execute("PRAGMA secure_delete = ON")
        try:
            self.catch_up()
            # Deleted postings are only marked until their segments are merged.
            self.optimize()
            # Also what a kill left between the two files: it holds texts as they were.
            self._told(self._meta("upto"))
        finally:
            self._db.execute("PRAGMA secure_delete = OFF")

    def optimize(self) -> None:
        """Merge the index's segments after a large ingest, for faster queries and a smaller file."""
        for table in ("prose", "tool"):
            self._db.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        self._db.close()


def attach(ledger: Ledger, state: Path) -> bool:
    """Attach the full text to a reader's connection as `text0`; False when there is none yet."""
    path = state / FILE
    if not path.exists():
        return False
    ledger.db.execute("ATTACH ? AS text0", (path.as_uri() + "?mode=ro",))
    return bool(ledger.db.execute("SELECT 1 FROM text0.sqlite_master WHERE name = 'meta'").fetchone())


def damage(ledger: Ledger) -> str:
    """What SQLite's quick check says is wrong with the attached full text; empty when nothing is."""
    try:
        said: str = ledger.db.execute("PRAGMA text0.quick_check(1)").fetchone()[0]
        for table in ("prose", "tool"):
            ledger.db.execute(f"SELECT rowid FROM text0.{table} WHERE text0.{table}.{table} MATCH 'a' LIMIT 1")
    except sqlite3.DatabaseError as err:
        return str(err)
    return "" if said == "ok" else said


def complete(ledger: Ledger) -> bool:
    """Whether the attached full text holds every row it should (not one that is just being made again)."""
    meta = dict(ledger.db.execute("SELECT key, value FROM text0.meta"))
    return bool(meta.get("filled", 0) >= meta.get("fill_to", 0))
