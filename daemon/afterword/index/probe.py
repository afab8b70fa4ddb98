"""`python -m afterword.index.probe FOLDER`: opens a Chroma store, reads and asks every collection; 0 when it is sound.

A process of its own, because a damaged store may end the one that opens it.
"""

import sys
from pathlib import Path

from afterword.index.chroma import open_client


def main(folder: Path) -> int:
    """0 when every collection answers with what is in it."""
    client = open_client(folder)
    for collection in client.list_collections():
        opened = client.get_collection(collection.name, embedding_function=None)
        if not opened.count():
            continue
        sample = opened.get(limit=3, include=["embeddings"])
        vectors = sample["embeddings"]
        if vectors is None or len(vectors) != len(sample["ids"]):
            return 1
        found = opened.query(query_embeddings=vectors, n_results=min(5, opened.count()), include=["distances"])
        distances = found["distances"] or []
        if any(not row or min(row) > 1e-3 for row in distances):
            return 1
    client.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
