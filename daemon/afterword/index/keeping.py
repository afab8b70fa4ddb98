"""`python -m afterword.index.keeping FOLDER`: the child that has Chroma open. Frames come in, a reply goes out to each.

Chroma takes no lock, a second process silently sees stale vectors and two writers damage it: `keeper` starts one at a
time. Vectors always come from outside: `embedding_function=None` everywhere, or Chroma attaches its default one, which
would download a model. An id names exactly one content, so nothing is ever merged.
"""

import os
import sys
from pathlib import Path
from typing import Any, cast

import chromadb
import msgspec
import numpy as np
from chromadb.api.client import Client
from chromadb.api.models.Collection import Collection
from chromadb.errors import ChromaError

from afterword.index.keeper import Entry, Reply, Request, read_frame, write_frame
from afterword.store import faults


def open_client(folder: Path) -> Client:
    """The only way Chroma is opened."""
    settings = chromadb.config.Settings(anonymized_telemetry=False)
    return cast("Client", chromadb.PersistentClient(path=str(folder), settings=settings))


def done(client: Client, request: Request) -> Reply:
    """Do what is asked."""
    match request.do:
        case "hello":
            return Reply()
        case "names":
            return Reply(ids=[collection.name for collection in client.list_collections()])
        case "drop":
            client.delete_collection(request.name)
            return Reply()
        case "check":
            return _check(client)
    collection = client.get_or_create_collection(
        request.name,
        embedding_function=None,
        configuration={"hnsw": {"space": "cosine"}},
        metadata={"embedder": request.embedder},
    )
    if request.do == "ids":
        return Reply(ids=collection.get(include=[])["ids"])
    if request.do == "delete":
        collection.delete(ids=request.ids)
    else:
        half = len(request.entries) // 2 if faults.armed("index.inside") else 0
        if half:
            _upsert(collection, request.entries[:half])
            faults.hit("index.inside", with_parent=True)
        _upsert(collection, request.entries[half:])
    return Reply()


def _upsert(collection: Collection, entries: list[Entry]) -> None:
    metadatas: list[Any] = [entry.facts for entry in entries]
    collection.upsert(
        ids=[entry.id for entry in entries],
        embeddings=np.array([np.frombuffer(entry.vector, "<f4") for entry in entries]),
        documents=[entry.text for entry in entries],
        metadatas=metadatas,
    )


def _check(client: Client) -> Reply:
    """Read a little of every collection and ask it for itself."""
    for collection in client.list_collections():
        opened = client.get_collection(collection.name, embedding_function=None)
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


def main(folder: Path) -> None:
    """Serve until the input ends."""
    # What is not ours to say must not get between the frames.
    frames = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.umask(0o077)
    _behind_everybody()
    client = open_client(folder)
    while (data := read_frame(sys.stdin.buffer)) is not None:
        try:
            reply = done(client, msgspec.msgpack.decode(data, type=Request))
        except (ChromaError, ValueError) as err:
            # Only the kind: a message may quote what it was given.
            reply = Reply(error=type(err).__name__)
        try:
            write_frame(frames, msgspec.msgpack.encode(reply))
        except BrokenPipeError:
            break
    client.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
