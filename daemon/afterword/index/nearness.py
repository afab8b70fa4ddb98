"""How near texts are by meaning, for those that merge articles: vectors from the embedder, kept by the hash of a text.

Independent of Chroma and of how far the index is: each text is embedded by itself and rounded to half precision, so it
has the same vector whatever it was asked together with. `vectors.db` is disposable.
"""

import contextlib
import hashlib
import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from afterword.store.privacy import private_file

if TYPE_CHECKING:
    # numpy is loaded when something is compared: every command that writes makes one of these.
    from afterword.index.embedder import Embedder, Matrix

FILE = "vectors.db"
_UNKNOWN = re.compile(r"[\u0370-\u03ff\u0530-\u05ff\u0700-\u0dff\u0f00-\u10ff\u1200-\u137f\u1780-\u18af]")
"""Letters of scripts the local model never learned: all their texts look alike to it."""
_LETTER = re.compile(r"[^\W\d_]")
_AT_ONCE = 500
_CHARS_MAX = 2_000


class Nearness:
    """Fills the `Meaning` of compile. `embedder` is only asked for when a text is new."""

    def __init__(self, folder: Path, signature: str, embedder: Callable[[], "Embedder"]) -> None:
        self.signature = signature
        self._path = folder / FILE
        self._embedder = embedder
        self._made: Embedder | None = None
        self._held: dict[bytes, Matrix | None] = {}
        self._db: sqlite3.Connection | None = None

    def alike(self, ones: Sequence[str], others: Sequence[str]) -> Sequence[Sequence[float]]:
        """A row for each of `ones`: how near each of `others` is; 0 where a text is in a script nobody taught us."""
        import numpy as np  # noqa: PLC0415

        if not ones or not others:
            return [[] for _ in ones]
        left, right = self._matrix(ones), self._matrix(others)
        if left.shape[1] != right.shape[1]:
            # None of the texts of one side is known.
            return [[0.0] * len(others) for _ in ones]
        found: list[list[float]] = np.round((left @ right.T).astype(np.float64), 4).tolist()
        return found

    def keep(self, texts: Iterable[str]) -> None:
        """Drop the vectors of all other texts: what was said once and is gone leaves nothing here."""
        wanted = {self._key(text) for text in texts}
        self._held = {key: row for key, row in self._held.items() if key in wanted}
        db = self._opened()
        gone = [(key,) for (key,) in db.execute("SELECT hash FROM vector") if key not in wanted]
        if gone:
            with db:
                db.executemany("DELETE FROM vector WHERE hash = ?", gone)

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _matrix(self, texts: Sequence[str]) -> "Matrix":
        import numpy as np  # noqa: PLC0415

        keys = [self._key(text) for text in texts]
        self._load({key: text for key, text in zip(keys, texts, strict=True) if key not in self._held})
        rows = [self._held[key] for key in keys]
        width = next((len(row) for row in rows if row is not None), 1)
        blank = np.zeros(width, np.float32)
        return np.stack([blank if row is None else row for row in rows])

    def _load(self, missing: dict[bytes, str]) -> None:
        import numpy as np  # noqa: PLC0415

        for key in [key for key, text in missing.items() if not known(text)]:
            self._held[key] = None
            del missing[key]
        if not missing:
            return
        db = self._opened()
        keys = list(missing)
        for n in range(0, len(keys), _AT_ONCE):
            some = keys[n : n + _AT_ONCE]
            marks = ",".join("?" * len(some))
            for key, half in db.execute(f"SELECT hash, half FROM vector WHERE hash IN ({marks})", some):
                self._held[key] = np.frombuffer(half, np.float16).astype(np.float32)
        new = [(key, text) for key, text in missing.items() if key not in self._held]
        if not new:
            return
        if self._made is None:
            self._made = self._embedder()
        embedder = self._made
        with db:
            for key, text in new:
                half = embedder.embed([text])[0].astype(np.float16)
                db.execute("INSERT OR REPLACE INTO vector VALUES (?, ?)", (key, half.tobytes()))
                self._held[key] = half.astype(np.float32)

    def _key(self, text: str) -> bytes:
        said = text[:_CHARS_MAX].encode("utf-8", "surrogatepass")
        return hashlib.blake2b(said, digest_size=16, person=self.signature.encode()[:16]).digest()

    def _opened(self) -> sqlite3.Connection:
        if self._db is None:
            try:
                self._db = _open(self._path)
            except sqlite3.DatabaseError:
                for end in ("", "-wal", "-shm"):
                    with contextlib.suppress(FileNotFoundError):
                        self._path.with_name(self._path.name + end).unlink()
                self._db = _open(self._path)
        return self._db


def known(text: str) -> bool:
    """Whether the local model knows the script that most of a text is written in."""
    return len(_UNKNOWN.findall(text)) * 3 < max(1, len(_LETTER.findall(text)))


def _open(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(private_file(path), timeout=5)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA secure_delete = ON")
        db.execute("CREATE TABLE IF NOT EXISTS vector (hash BLOB PRIMARY KEY, half BLOB NOT NULL) WITHOUT ROWID")
        db.execute("SELECT count(*) FROM vector").fetchone()
    except BaseException:
        db.close()
        raise
    return db
