"""The ledger: one SQLite file that holds the truth, with one writer and any number of readers."""

import contextlib
import hashlib
import sqlite3
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path

import zstandard

from afterword.domain.errors import DataError, NotSetUp
from afterword.domain.ids import OriginId
from afterword.redact.text import Redacted, stored
from afterword.store import faults
from afterword.store.files import private_folder
from afterword.store.ledger import schema
from afterword.store.privacy import private_file

FILE = "ledger.db"
_PACK_FROM_BYTES = 512
_TIDY = "PRAGMA secure_delete = FAST"
"""A fresh page is emptied first, or it would carry what its memory held: bytes of a transaction that was given up."""


class RecordKind(IntEnum):
    """Kinds of the log's records; numbers are stored and never reused. From SETTING on: rows of `register`."""

    ORIGIN = 1
    SESSION = 2
    ITEM = 3
    MEMBERSHIP = 4
    SETTING = 5
    SEGMENT = 6
    """What is known of a segment besides its write-up; by `key/edits` what a person changed in its section."""
    DIGEST = 7
    SECTION = 8
    BUILD = 9
    """What a day's compile was given and what its engine proposed; by day."""
    ARTICLE = 10
    """An article by its uid, and a person's edits of it by `uid/edits`."""
    TOMBSTONE = 11
    """What was forgotten and is not taken in again; by `kind:key` (see `tombstones`)."""
    LESSON = 12
    """An entry of the journal by its uid, and what a person said of it since by `uid/edits`."""
    FACT = 13
    """What entries of the journal come to, by its id, and a person's edits of it by `id/edits`."""
    HOLD = 20
    """The machines that one machine has nothing of a session sent to; by `session/machine` (see `holds`)."""


def _keyed(key: bytes) -> tuple["hashlib._Hash", "hashlib._Hash"]:
    """The two hashes of HMAC-SHA-256 after the key: going on from copies of them takes a third of the time."""
    block = (key if len(key) <= 64 else hashlib.sha256(key).digest()).ljust(64, b"\0")
    return hashlib.sha256(bytes(byte ^ 0x36 for byte in block)), hashlib.sha256(bytes(byte ^ 0x5C for byte in block))


def pack(text: Redacted) -> tuple[bytes, int]:
    """The stored bytes of a text and whether they are zstd (1) or plain UTF-8 (0)."""
    raw = text.encode()
    if len(raw) < _PACK_FROM_BYTES:
        return raw, 0
    return _COMPRESSOR.compress(raw), 1


def unpack(blob: bytes, packed: int) -> Redacted:
    """The text of stored bytes; it went through the redactor before it was stored."""
    return stored((_DECOMPRESSOR.decompress(blob) if packed else blob).decode())


_COMPRESSOR = zstandard.ZstdCompressor(level=1)
_DECOMPRESSOR = zstandard.ZstdDecompressor()


class Ledger:
    """An open ledger. Make one with `open_writer` (under the writer's lock) or `open_reader`."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self.db = db
        self.path = path
        found = self.meta("hash_key")
        self._hash_key = found if isinstance(found, bytes) else b""
        self._inner, self._outer = _keyed(self._hash_key)
        self._next_n = 0
        self._numbered: list[tuple[int, RecordKind, int, int]] = []
        """Entries of the log that the transaction at hand has made and not written yet."""

    def meta(self, key: str) -> bytes | str | int | None:
        """A small fact of this ledger."""
        row = self.db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def set_meta(self, key: str, value: bytes | str | int) -> None:
        """Set a small fact; inside a transaction."""
        self.db.execute(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (key, value)
        )

    def keyed_hash(self, data: bytes, size: int = 32) -> bytes:
        """HMAC-SHA-256 with this ledger's own key: raw bytes leave no hash anybody else could test guesses on."""
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(data)
        outer.update(inner.digest())
        return outer.digest()[:size]

    @property
    def hash_key(self) -> bytes:
        """The key itself, for the reader that hashes a file as it goes. Never numbered, never sent."""
        return self._hash_key

    @property
    def origin(self) -> tuple[OriginId, str]:
        """This machine: id and name."""
        found = self.db.execute("SELECT id, name FROM origin WHERE row = 1").fetchone()
        return OriginId(found[0]), found[1]

    def origins(self) -> dict[int, tuple[str, str]]:
        """Row → (id, name) of every machine known here."""
        return {row: (its_id, name) for row, its_id, name in self.db.execute("SELECT row, id, name FROM origin")}

    @contextlib.contextmanager
    def transaction(self, durable: bool = False) -> Iterator[None]:
        """All of the block, or nothing. `durable`: on the disk before it returns, not just safe from a kill."""
        if durable:
            self.db.execute("PRAGMA synchronous = FULL")
        self.db.execute("BEGIN IMMEDIATE")
        try:
            faults.hit("ledger.begin")
            self._next_n = self.head(1) + 1
            yield
            self.db.executemany("INSERT INTO log VALUES (1, ?, ?, ?, ?)", self._numbered)
            faults.hit("ledger.commit")
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        else:
            self.db.execute("COMMIT")
            faults.hit("ledger.committed")
        finally:
            self._numbered.clear()
            if durable:
                self.db.execute("PRAGMA synchronous = NORMAL")

    @contextlib.contextmanager
    def erasing(self) -> Iterator[None]:
        """What is replaced or deleted in the block leaves no byte in the file."""
        self.db.execute("PRAGMA secure_delete = ON")
        try:
            yield
            self.checkpoint()
        finally:
            self.db.execute(_TIDY)

    def head(self, origin_row: int) -> int:
        """The highest number in an origin's log; 0 when it is empty."""
        found = self.db.execute("SELECT max(n) FROM log WHERE origin = ?", (origin_row,)).fetchone()[0]
        return found or 0

    def number(self, kind: RecordKind, ref: int, rev: int) -> None:
        """Give a revision this machine made the next number of its log; inside a transaction.

        The log is written at the end of it, all entries at once: until then it shows none of them.
        """
        self._numbered.append((self._next_n, kind, ref, rev))
        self._next_n += 1
        faults.hit("ledger.inside")

    def number_again(self, kind: RecordKind, ref: int, rev: int, by: int) -> None:
        """Give the standing revision of a row, which machine `by` made, one more number; inside a transaction."""
        n = self._next_n
        self.number(kind, ref, rev)
        if by != 1:
            self.db.execute("INSERT INTO issued_again VALUES (1, ?, ?)", (n, by))

    def derive(self, dst: tuple[RecordKind, int], sources: list[tuple[RecordKind, int]]) -> None:
        """Record what `dst` was made from, in place of what was recorded before; what was forgotten stays noted."""
        self.db.execute(
            "UPDATE derivation SET earlier = 1 WHERE dst_kind = ? AND dst = ? AND src_kind = ?"
            " AND src IN (SELECT item FROM erased)",
            (*dst, RecordKind.ITEM),
        )
        self.db.execute("DELETE FROM derivation WHERE dst_kind = ? AND dst = ? AND earlier = 0", dst)
        self._derived(dst, sources)

    def derive_anew(self, dst: tuple[RecordKind, int], sources: list[tuple[RecordKind, int]]) -> None:
        """The same for what another machine made: what an earlier revision was made from is still remembered, because
        it may stand in the vault."""
        self.db.execute("UPDATE derivation SET earlier = 1 WHERE dst_kind = ? AND dst = ?", dst)
        self._derived(dst, sources)

    def _derived(self, dst: tuple[RecordKind, int], sources: list[tuple[RecordKind, int]]) -> None:
        self.db.executemany(
            "INSERT INTO derivation VALUES (?, ?, ?, ?, 0) ON CONFLICT DO UPDATE SET earlier = 0",
            [(*dst, *src) for src in sources],
        )

    def begin_log(self) -> None:
        """The next number is 1: this machine has a new origin. Inside a transaction that numbered nothing."""
        assert not self._numbered
        self._next_n = 1

    def checkpoint(self) -> None:
        """Move what is in the write-ahead log into the file, so that it does not grow over a long ingest."""
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def vacuum(self) -> bool:
        """Write the file anew, without free pages, and empty the write-ahead log; False while a reader holds that.

        Takes about the file's size of room in its folder, for as long as it runs.
        """
        self.db.execute("PRAGMA temp_store = FILE")
        try:
            self.db.execute("VACUUM")
        finally:
            self.db.execute("PRAGMA temp_store = MEMORY")
        busy: int = self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        return not busy

    def let_go(self) -> None:
        """Give up what is kept in memory to be quicker."""
        self.db.execute("PRAGMA shrink_memory")

    def close(self) -> None:
        self.db.close()


def open_writer(state: Path, machine_name: str) -> Ledger:
    """Open the ledger to write, making or migrating it. The caller holds the writer's lock."""
    private_folder(state)
    path = state / FILE
    db = _connect(private_file(path).as_uri())
    db.execute(_TIDY)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA cache_size = -32768")
    db.execute("PRAGMA temp_store = MEMORY")
    schema.migrate(db)
    ledger = Ledger(db, path)
    if not ledger.hash_key:
        import secrets  # noqa: PLC0415  # once in a ledger's life, and not cheap
        import uuid  # noqa: PLC0415

        with ledger.transaction():
            ledger.set_meta("hash_key", secrets.token_bytes(32))
            db.execute("INSERT INTO origin (row, id, name) VALUES (1, ?, ?)", (uuid.uuid4().hex, machine_name))
            ledger.number(RecordKind.ORIGIN, 1, 1)
        ledger = Ledger(db, path)
    return ledger


def open_reader(state: Path) -> Ledger:
    """Open the ledger to read; never waits for the writer.

    Raises:
        NotSetUp: there is no ledger yet.
    """
    path = state / FILE
    if not path.exists():
        raise NotSetUp("nothing was taken in yet", "run `afterword up`")
    db = _connect(path.as_uri() + "?mode=ro")
    if schema.check_version(db) < len(schema.MIGRATIONS):
        db.close()
        raise DataError(
            "the ledger was written by an older afterword", "run `afterword up --once` to bring it up to date"
        )
    return Ledger(db, path)


def open_beside(state: Path) -> Ledger:
    """Open the ledger of a running writer a second time in its process, to queue jobs; numbers nothing.

    Raises:
        NotSetUp: there is no ledger yet.
    """
    path = state / FILE
    if not path.exists():
        raise NotSetUp("nothing was taken in yet", "run `afterword up`")
    db = _connect(path.as_uri() + "?mode=rw")
    db.execute("PRAGMA synchronous = NORMAL")
    return Ledger(db, path)


def _connect(uri: str) -> sqlite3.Connection:
    db = sqlite3.connect(
        uri, uri=True, timeout=30, isolation_level=None, check_same_thread=False, cached_statements=512
    )
    db.execute("PRAGMA busy_timeout = 30000")
    return db
