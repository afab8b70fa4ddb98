"""The vector store: an embedded Chroma in a folder of ours, opened by one process at a time.

Chroma takes no lock, a second process silently sees stale vectors and two writers damage it, so whoever opens it
holds `index.lock`. Vectors always come from us: `embedding_function=None` everywhere, or Chroma attaches its default
one, which would download a model. An id names exactly one content (`chunks.Chunk.id`), so nothing is ever merged.
"""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from afterword.domain.errors import Busy, TransientError
from afterword.index.embedder import Matrix
from afterword.store import faults
from afterword.store.files import private_folder

if TYPE_CHECKING:
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection

FOLDER = "chroma"
LOCK = "index.lock"
BATCH = 500
_PROBE_TIMEOUT_S = 120
_QUARANTINED = "chroma.damaged"


class StoreFailed(TransientError):
    """Chroma refused an operation: it is looked at from outside before it is opened again."""

    kind = "index"


class Entry(msgspec.Struct, frozen=True):
    """A chunk as Chroma keeps it."""

    id: str
    text: str
    facts: dict[str, str | int]


@contextlib.contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Hold the index's lock while the block runs.

    Raises:
        Busy: another process holds it.
    """
    private_folder(folder)
    fd = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as err:
            raise Busy("another afterword has the index open", "wait for it, or stop it") from err
        yield
    finally:
        os.close(fd)


class Chroma:
    """The open store; its owner holds `lock`."""

    def __init__(self, folder: Path) -> None:
        self._folder = private_folder(folder / FOLDER)
        self._client = open_client(self._folder)
        self._batch = min(BATCH, self._client.get_max_batch_size())

    def names(self) -> list[str]:
        """The names of the collections."""
        return [collection.name for collection in self._client.list_collections()]

    def collection(self, name: str, embedder: str) -> "Collection":
        """The collection of this name, made when there is none. Its space is fixed for ever."""
        return self._client.get_or_create_collection(
            name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}, metadata={"embedder": embedder}
        )

    def drop(self, name: str) -> None:
        """Take a collection out."""
        if name in self.names():
            self._client.delete_collection(name)

    def ids(self, collection: "Collection") -> set[str]:
        """Every id in a collection."""
        return set(collection.get(include=[])["ids"])

    def replace(self, collection: "Collection", gone: Sequence[str], entries: Sequence[Entry], matrix: Matrix) -> None:
        """Take ids out and put others in, with their vectors; in batches. Doing it again changes nothing."""
        with _failures():
            for start in range(0, len(gone), self._batch):
                collection.delete(ids=list(gone[start : start + self._batch]))
        faults.hit("index.upsert")
        for start in range(0, len(entries), self._batch):
            batch = entries[start : start + self._batch]
            metadatas: list[Any] = [dict(entry.facts) for entry in batch]
            with _failures():
                collection.upsert(
                    ids=[entry.id for entry in batch],
                    embeddings=matrix[start : start + self._batch],
                    documents=[entry.text for entry in batch],
                    metadatas=metadatas,
                )
            faults.hit("index.half")
        faults.hit("index.upserted")

    def close(self) -> None:
        self._client.close()


@contextlib.contextmanager
def _failures() -> Iterator[None]:
    from chromadb.errors import ChromaError  # noqa: PLC0415  # loaded by now

    try:
        yield
    except ChromaError as err:
        raise StoreFailed(f"the vector store refused: {type(err).__name__}", "it is looked at and tried again") from err


def open_client(folder: Path) -> "Client":
    """A client on this folder; also what the probe opens."""
    import chromadb  # noqa: PLC0415  # over a second

    settings = chromadb.config.Settings(anonymized_telemetry=False)
    return cast("Client", chromadb.PersistentClient(path=str(folder), settings=settings))


def state_of(folder: Path) -> str:
    """What the files look like from outside; another one than when we closed means: look before opening."""
    root = folder / FOLDER
    if not (root / "chroma.sqlite3").exists():
        return ""
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return ";".join(f"{path.relative_to(root)}:{path.stat().st_size}:{path.stat().st_mtime_ns}" for path in files)


def sound(folder: Path) -> bool:
    """Whether the store can be opened and read, tried in another process: a damaged one may end it."""
    command = [sys.executable, "-m", "afterword.index.probe", str(folder / FOLDER)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_PROBE_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return False
    except OSError as err:
        raise TransientError(f"the index could not be looked at: {err.strerror}") from err
    return done.returncode == 0


def quarantine(folder: Path) -> None:
    """Put a damaged store aside, in place of the one put aside before."""
    shutil.rmtree(folder / _QUARANTINED, ignore_errors=True)
    with contextlib.suppress(FileNotFoundError):
        (folder / FOLDER).rename(folder / _QUARANTINED)


def remove(folder: Path) -> None:
    """Delete the store with every byte it kept, also what Chroma keeps of deleted texts, and what was put aside."""
    for name in (FOLDER, _QUARANTINED):
        shutil.rmtree(folder / name, ignore_errors=True)
