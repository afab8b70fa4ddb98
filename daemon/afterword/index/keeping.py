"""`python -m afterword.index.keeping FOLDER`: the child that has Chroma open. Frames come in, a reply goes out to each.

Chroma takes no lock, a second process silently sees stale vectors and two writers damage it: `keeper` starts one at a
time. Vectors always come from outside: `embedding_function=None` everywhere, or Chroma attaches its default one, which
would download a model. An id names exactly one content, so nothing is ever merged. A server may be others' too: there a
collection carries the name of the ledger it belongs to, and no other one is touched.
"""

import os
import sys
from pathlib import Path
from typing import Any, cast

import chromadb
import httpx
import msgspec
import numpy as np
from chromadb.api.client import Client
from chromadb.api.models.Collection import Collection
from chromadb.errors import ChromaError

from afterword.index.keeper import Entry, Reply, Request, read_frame, write_frame
from afterword.index.place import Place
from afterword.index.room import give_back
from afterword.index.server import PAGE, Unusable, open_server, said
from afterword.store import faults

_OURS = "afterword-"


def open_client(folder: Path) -> Client:
    """The only way Chroma is opened."""
    settings = chromadb.config.Settings(anonymized_telemetry=False)
    return cast("Client", chromadb.PersistentClient(path=str(folder), settings=settings))


class Open:
    """Chroma, open."""

    def __init__(self, client: Client, place: Place | None) -> None:
        self.client = client
        self._place = place
        self._suffix = f"-{place.owner}" if place else ""

    def done(self, request: Request) -> Reply:
        """Do what is asked."""
        match request.do:
            case "names":
                return Reply(ids=[self._short(name) for name in self._names()])
            case "only":
                for name in self._names():
                    if self._short(name) != request.name:
                        self.client.delete_collection(name)
                return Reply()
            case "check":
                return self._check()
        collection = self._collection(request)
        match request.do:
            case "ids":
                return Reply(ids=self._ids(collection))
            case "delete":
                for some in self._pages(request.ids):
                    collection.delete(ids=some)
            case _:
                half = len(request.entries) // 2 if faults.armed("index.inside") else 0
                if half:
                    self._upsert(collection, request.entries[:half])
                    faults.hit("index.inside", with_parent=True)
                self._upsert(collection, request.entries[half:])
        return Reply()

    def _names(self) -> list[str]:
        """The names of our collections as Chroma has them."""
        names = [collection.name for collection in self.client.list_collections()]
        return [name for name in names if not self._place or (name.startswith(_OURS) and name.endswith(self._suffix))]

    def _short(self, name: str) -> str:
        return name.removesuffix(self._suffix)

    def _collection(self, request: Request) -> Collection:
        told = {"embedder": request.embedder} | ({"owner": self._place.owner} if self._place else {})
        found = self.client.get_or_create_collection(
            request.name + self._suffix,
            embedding_function=None,
            configuration={"hnsw": {"space": "cosine"}},
            metadata=told,
        )
        if self._place and found.metadata != told:
            # What is there already is given back as it is, whatever was asked for.
            raise Unusable(f"the collection {found.name} on {self._place.url} is not ours")
        return found

    def _ids(self, collection: Collection) -> list[str]:
        if not self._place:
            return collection.get(include=[])["ids"]
        found: list[str] = []
        while some := collection.get(include=[], limit=PAGE, offset=len(found))["ids"]:
            found += some
        return found

    def _pages(self, ids: list[str]) -> list[list[str]]:
        size = PAGE if self._place else max(1, len(ids))
        return [ids[at : at + size] for at in range(0, len(ids), size)]

    def _upsert(self, collection: Collection, entries: list[Entry]) -> None:
        size = PAGE if self._place else max(1, len(entries))
        for at in range(0, len(entries), size):
            some = entries[at : at + size]
            metadatas: list[Any] = [entry.facts for entry in some]
            collection.upsert(
                ids=[entry.id for entry in some],
                embeddings=np.array([np.frombuffer(entry.vector, "<f4") for entry in some]),
                documents=[entry.text for entry in some],
                metadatas=metadatas,
            )

    def _check(self) -> Reply:
        """Read a little of every collection and ask it for itself."""
        for name in self._names():
            opened = self.client.get_collection(name, embedding_function=None)
            if not opened.count():
                continue
            sample = opened.get(limit=3, include=["embeddings"])
            vectors = sample["embeddings"]
            if vectors is None or len(vectors) != len(sample["ids"]):
                return Reply("vectors are missing")
            found = opened.query(query_embeddings=vectors, n_results=min(5, opened.count()), include=["distances"])
            if any(not row or min(row) > 1e-3 for row in found["distances"] or []):
                return Reply("it does not find what is in it")
        return Reply()


def _behind_everybody() -> None:
    """Nobody waits for what is done here: after all others, and on one core only."""
    os.nice(10)
    for name in ("OMP_NUM_THREADS", "RAYON_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def _served(store: Open, place: Place | None, request: Request) -> Reply:
    try:
        return store.done(request)
    except Unusable as err:
        return Reply(error=str(err))
    except httpx.HTTPError as err:
        if place is None:
            raise
        return Reply(error=said(err, place))
    except (ChromaError, ValueError) as err:
        # Only the kind: a message may quote what it was given.
        return Reply(error=said(err, place) if place else f"the vector store refused: {type(err).__name__}")


def main(folder: Path) -> None:
    """Serve until the input ends."""
    # What is not ours to say must not get between the frames.
    frames = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.umask(0o077)
    _behind_everybody()
    store: Open | None = None
    place: Place | None = None
    while (data := read_frame(sys.stdin.buffer)) is not None:
        request = msgspec.msgpack.decode(data, type=Request)
        if store is None:
            place = request.place
            try:
                store = Open(open_server(place) if place else open_client(folder), place)
                reply = Reply()
            except Unusable as err:
                reply = Reply(error=str(err))
        else:
            reply = _served(store, place, request)
            give_back()
        try:
            write_frame(frames, msgspec.msgpack.encode(reply))
        except BrokenPipeError:
            break
    if store is not None:
        store.client.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
