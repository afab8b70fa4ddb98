"""`index.db`: which chunks of which documents are in which collection, and every vector by the hash of its text.

It is written after Chroma, document by document, so a kill in between leaves chunks in Chroma that are not listed
here; they are taken out when it is opened again. Readers open it without any lock, also while a daemon writes.
"""

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from afterword.index.chunks import Chunk
from afterword.index.documents import Document
from afterword.index.embedder import Matrix
from afterword.index.standing import FILE, DocumentKind
from afterword.store import faults
from afterword.store.privacy import private_file

_VERSION = 1
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;

-- A collection; complete once everything in the ledger is in it. heads: how far the ledger's log was taken in.
CREATE TABLE build (
  row INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  embedder TEXT NOT NULL,
  complete INTEGER NOT NULL DEFAULT 0,
  heads TEXT NOT NULL DEFAULT '',
  changes INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE doc (
  row INTEGER PRIMARY KEY,
  build INTEGER NOT NULL,
  kind TEXT NOT NULL,
  ref TEXT NOT NULL,
  print TEXT NOT NULL,
  title TEXT NOT NULL,
  day TEXT NOT NULL,
  time_us INTEGER NOT NULL,
  project TEXT NOT NULL,
  harness TEXT NOT NULL,
  session TEXT NOT NULL,
  parts INTEGER NOT NULL,
  chunks INTEGER NOT NULL,
  UNIQUE (build, kind, ref)
);

-- items: ids of messages, 16 bytes each. terms: numbers of words, 4 bytes each, the first `shared` are not its own.
CREATE TABLE chunk (
  row INTEGER PRIMARY KEY AUTOINCREMENT,
  build INTEGER NOT NULL,
  id TEXT NOT NULL,
  doc INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  hash BLOB NOT NULL,
  heading TEXT NOT NULL,
  text TEXT NOT NULL,
  items BLOB NOT NULL,
  terms BLOB NOT NULL,
  shared INTEGER NOT NULL,
  UNIQUE (build, id)
);
CREATE INDEX chunk_doc ON chunk (doc);
CREATE INDEX chunk_hash ON chunk (hash);

-- Half precision: half the size, and what comes back is what was given to Chroma, so both agree.
CREATE TABLE vector (embedder TEXT, hash BLOB, half BLOB NOT NULL, PRIMARY KEY (embedder, hash)) WITHOUT ROWID;
"""


class Build(msgspec.Struct, frozen=True):
    """A collection. `changes` grows with every change to what it holds."""

    row: int
    name: str
    embedder: str
    complete: bool
    heads: str
    changes: int


class Listed(msgspec.Struct, frozen=True):
    """A document as it was taken in."""

    row: int
    kind: DocumentKind
    ref: str
    print: str
    time_us: int
    chunks: int


class Sizes(msgspec.Struct, frozen=True):
    """How much a build holds: chunks, and messages of sessions among what they were made of."""

    chunks: int
    documents: int
    messages: int


class Manifest:
    """The open file. Made again from nothing when it is missing, damaged, or of another version or ledger."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db

    def build(self, name: str) -> Build | None:
        """The build of this name."""
        found = self.db.execute(
            "SELECT row, name, embedder, complete, heads, changes FROM build WHERE name = ?", (name,)
        ).fetchone()
        return Build(found[0], found[1], found[2], bool(found[3]), found[4], found[5]) if found else None

    def builds(self) -> list[str]:
        """The names of all builds, the oldest first."""
        return [name for (name,) in self.db.execute("SELECT name FROM build ORDER BY row")]

    def begin(self, name: str, embedder: str) -> Build:
        """The build of this name, made when there is none."""
        self.db.execute("INSERT OR IGNORE INTO build (name, embedder) VALUES (?, ?)", (name, embedder))
        found = self.build(name)
        assert found is not None
        return found

    def finish(self, build: Build, heads: str) -> None:
        """Everything up to `heads` is in. Vectors that no chunk has any more go: they say something of a text."""
        self.db.execute("UPDATE build SET complete = 1, heads = ? WHERE row = ?", (heads, build.row))
        self.db.execute("DELETE FROM vector WHERE hash NOT IN (SELECT hash FROM chunk)")

    def drop(self, name: str) -> None:
        """Forget a build. Its vectors stay until the next `finish`, for a build with the same embedder."""
        with self.transaction():
            self.db.execute("DELETE FROM chunk WHERE build = (SELECT row FROM build WHERE name = ?)", (name,))
            self.db.execute("DELETE FROM doc WHERE build = (SELECT row FROM build WHERE name = ?)", (name,))
            self.db.execute("DELETE FROM build WHERE name = ?", (name,))

    def forget_vectors(self, sessions: Collection[str]) -> None:
        """Drop the vectors of what these sessions (ids) said and were written up as, and of all articles and
        lessons: texts that are still there get theirs again."""
        self.db.execute(
            "DELETE FROM vector WHERE hash IN (SELECT c.hash FROM chunk c JOIN doc d ON d.row = c.doc"
            " WHERE d.kind IN ('article', 'lesson') OR d.session IN (SELECT value FROM json_each(?)))",
            (msgspec.json.encode(sorted(sessions)).decode(),),
        )

    def listed(self, build: Build, kind: DocumentKind) -> dict[str, Listed]:
        """The documents of a kind by ref."""
        rows = self.db.execute(
            "SELECT row, kind, ref, print, time_us, chunks FROM doc WHERE build = ? AND kind = ?", (build.row, kind)
        )
        return {found.ref: found for found in (Listed(*row) for row in rows)}

    def listed_one(self, build: Build, kind: DocumentKind, ref: str) -> Listed | None:
        """The document of this name."""
        found = self.db.execute(
            "SELECT row, kind, ref, print, time_us, chunks FROM doc WHERE build = ? AND kind = ? AND ref = ?",
            (build.row, kind, ref),
        ).fetchone()
        return Listed(*found) if found else None

    def chunk_ids(self, build: Build, ref: tuple[DocumentKind, str] | None = None) -> set[str]:
        """The ids of all chunks, or of those of one document."""
        if ref is None:
            return {its_id for (its_id,) in self.db.execute("SELECT id FROM chunk WHERE build = ?", (build.row,))}
        rows = self.db.execute(
            "SELECT c.id FROM chunk c JOIN doc d ON d.row = c.doc WHERE d.build = ? AND d.kind = ? AND d.ref = ?",
            (build.row, *ref),
        )
        return {its_id for (its_id,) in rows}

    def store(self, build: Build, documents: Sequence[tuple[Document, list[Chunk]]], gone: Iterable[Listed]) -> None:
        """List documents with exactly these chunks, and take others out; one transaction."""
        with self.transaction():
            for listed in gone:
                self.db.execute("DELETE FROM chunk WHERE doc = ?", (listed.row,))
                self.db.execute("DELETE FROM doc WHERE row = ?", (listed.row,))
            for document, chunks in documents:
                self._store(build, document, chunks)
            self.db.execute("UPDATE build SET changes = changes + 1 WHERE row = ?", (build.row,))
            faults.hit("index.manifest")

    def _store(self, build: Build, document: Document, chunks: list[Chunk]) -> None:
        from afterword.index.terms import numbers  # noqa: PLC0415  # who only counts needs no words

        facts = (document.print, document.title, document.day, document.time_us, document.project, document.harness,
                 document.session, len(document.parts), len(chunks))  # fmt: skip
        row = self.db.execute(
            "INSERT INTO doc (build, kind, ref, print, title, day, time_us, project, harness, session, parts, chunks)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (build, kind, ref) DO UPDATE SET"
            " print = excluded.print, title = excluded.title, day = excluded.day, time_us = excluded.time_us,"
            " project = excluded.project, harness = excluded.harness, session = excluded.session,"
            " parts = excluded.parts, chunks = excluded.chunks RETURNING row",
            (build.row, document.kind, document.ref, *facts),
        ).fetchone()[0]
        standing = dict(self.db.execute("SELECT id, row FROM chunk WHERE doc = ?", (row,)).fetchall())
        wanted = {chunk.id for chunk in chunks}
        self.db.executemany("DELETE FROM chunk WHERE row = ?", [(r,) for i, r in standing.items() if i not in wanted])
        for chunk in chunks:
            if chunk.id in standing:
                self.db.execute("UPDATE chunk SET seq = ? WHERE row = ?", (chunk.seq, standing[chunk.id]))
                continue
            shared = numbers(chunk.text[: chunk.shared])
            terms = np.concatenate([shared, numbers(chunk.text[chunk.shared :])])
            self.db.execute(
                "INSERT INTO chunk (build, id, doc, seq, hash, heading, text, items, terms, shared)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    build.row,
                    chunk.id,
                    row,
                    chunk.seq,
                    chunk.hash,
                    chunk.heading,
                    chunk.text,
                    bytes.fromhex("".join(chunk.items)),
                    terms.tobytes(),
                    len(shared),
                ),
            )

    def unlist(self, build: Build, ids: Iterable[str]) -> None:
        """Take chunks out that are not in Chroma; their documents are taken in again."""
        with self.transaction():
            for its_id in ids:
                self.db.execute(
                    "UPDATE doc SET print = '' WHERE row = (SELECT doc FROM chunk WHERE build = ? AND id = ?)",
                    (build.row, its_id),
                )
                self.db.execute("DELETE FROM chunk WHERE build = ? AND id = ?", (build.row, its_id))
            # The next pass looks at every document.
            self.db.execute("UPDATE build SET changes = changes + 1, heads = '' WHERE row = ?", (build.row,))

    def look_again(self, build: Build) -> None:
        """The next pass looks at every document."""
        self.db.execute("UPDATE build SET heads = '' WHERE row = ?", (build.row,))

    def known(self, embedder: str, hashes: Sequence[bytes]) -> set[bytes]:
        """Those of these texts whose vectors are known."""
        query = "SELECT 1 FROM vector WHERE embedder = ? AND hash = ?"
        return {text for text in set(hashes) if self.db.execute(query, (embedder, text)).fetchone()}

    def vectors(self, embedder: str, hashes: Sequence[bytes]) -> dict[bytes, npt.NDArray[np.float32]]:
        """The vectors known of these texts."""
        found = {}
        for text in hashes:
            row = self.db.execute(
                "SELECT half FROM vector WHERE embedder = ? AND hash = ?", (embedder, text)
            ).fetchone()
            if row:
                found[text] = np.frombuffer(row[0], np.float16).astype(np.float32)
        return found

    def add_vectors(self, embedder: str, hashes: Sequence[bytes], matrix: Matrix) -> None:
        """Keep the vectors of these texts."""
        halves = matrix.astype(np.float16)
        with self.transaction():
            self.db.executemany(
                "INSERT OR REPLACE INTO vector VALUES (?, ?, ?)",
                [(embedder, text, half.tobytes()) for text, half in zip(hashes, halves, strict=True)],
            )

    def sizes(self, build: Build) -> Sizes:
        """How much a build holds."""
        found = self.db.execute(
            "SELECT coalesce(sum(chunks), 0), count(*), coalesce(sum(parts) FILTER (WHERE kind = 'message'), 0)"
            " FROM doc WHERE build = ?",
            (build.row,),
        ).fetchone()
        return Sizes(*found)

    def meta(self, key: str) -> str:
        found = self.db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(found[0]) if found else ""

    def set_meta(self, key: str, value: str) -> None:
        self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def transaction(self) -> "_Transaction":
        return _Transaction(self.db)

    def pack(self) -> None:
        """Write the file anew, without free pages."""
        self.db.execute("VACUUM")
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        self.db.close()


class _Transaction:
    """All of the block, or nothing."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, _value: object, _trace: object) -> None:
        self._db.execute("ROLLBACK" if kind else "COMMIT")


def identity(folder: Path) -> tuple[int, int] | None:
    """What tells the file from another one in its place; None when there is none."""
    try:
        at = (folder / FILE).stat()
    except OSError:
        return None
    return at.st_dev, at.st_ino


def open_writer(folder: Path, ledger_id: str) -> Manifest:
    """Open the file to write, under the index's lock."""
    path = folder / FILE
    try:
        return Manifest(_opened(path, ledger_id))
    except sqlite3.DatabaseError:
        _remove(path)
        return Manifest(_opened(path, ledger_id))


def _opened(path: Path, ledger_id: str) -> sqlite3.Connection:
    db = sqlite3.connect(private_file(path), isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA secure_delete = ON")
    db.execute("PRAGMA busy_timeout = 30000")
    stamp = f"{_VERSION} {ledger_id}"
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
        with _Transaction(db):
            for statement in _SCHEMA.split(";\n"):
                db.execute(statement)
            db.execute("INSERT INTO meta VALUES ('stamp', ?)", (stamp,))
    elif db.execute("SELECT value FROM meta WHERE key = 'stamp'").fetchone() != (stamp,):
        db.close()
        _remove(path)
        return _opened(path, ledger_id)
    return db


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def open_reader(folder: Path) -> Manifest | None:
    """Open the file to read; None when there is none, or none that can be read."""
    path = folder / FILE
    if not path.exists():
        return None
    try:
        db = sqlite3.connect(path.as_uri() + "?mode=ro", uri=True, isolation_level=None, check_same_thread=False)
        db.execute("PRAGMA busy_timeout = 5000")
        if not str(db.execute("SELECT value FROM meta WHERE key = 'stamp'").fetchone()[0]).startswith(f"{_VERSION} "):
            db.close()
            return None
    except (sqlite3.DatabaseError, TypeError):
        return None
    return Manifest(db)


class ChunkRow(msgspec.Struct, frozen=True):
    """A chunk as it is shown: `items` are ids of messages as hex, `block` is empty or a heading's path."""

    text: str
    heading: str
    items: tuple[str, ...]


def chunk_row(manifest: Manifest, row: int) -> ChunkRow | None:
    """A chunk by its row; None when it is gone by now."""
    found = manifest.db.execute("SELECT text, heading, items FROM chunk WHERE row = ?", (row,)).fetchone()
    if found is None:
        return None
    text, heading, items = found
    return ChunkRow(text, heading, tuple(items[at : at + 16].hex() for at in range(0, len(items), 16)))
