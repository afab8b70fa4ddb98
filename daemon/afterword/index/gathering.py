"""Documents that are cut and wait until the vectors of all their chunks are known."""

import time
from collections.abc import Callable
from typing import Literal, TypeAlias

from afterword.index.chunks import Chunk
from afterword.index.documents import Document
from afterword.index.embedder import Embedder
from afterword.index.manifest import Manifest

Way: TypeAlias = Literal["done", "late", "waiting"]
"""How embedding stands: all there, out of time, or under way in another thread."""


class Gathering:
    """A request to a service costs more than its texts, so those of several documents go together; an embedder of ours
    takes one document after the other, so that what is taken in can be found at once."""

    def __init__(self, manifest: Manifest, embedder: Embedder) -> None:
        self._manifest = manifest
        self._embedder = embedder
        self._waiting: list[tuple[Document, list[Chunk]]] = []
        self._missing: dict[bytes, str] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, document: Document, chunks: list[Chunk]) -> None:
        """One more document."""
        known = self._manifest.known(self._embedder.signature, [chunk.hash for chunk in chunks])
        self._missing |= {chunk.hash: chunk.text for chunk in chunks if chunk.hash not in known}
        self._waiting.append((document, chunks))

    def due(self, *, last: bool) -> bool:
        """Whether to embed now; `last`: nothing more comes."""
        return bool(self._waiting) and (
            last or not self._embedder.gathers or not self._missing or len(self._missing) >= self._embedder.at_once
        )

    def embed(self, wake: Callable[[], None] | None, end: float) -> tuple[Way, int]:
        """Embed what is missing, and keep it; how that went, and how many texts. Without `wake` it waits for vectors.

        Raises:
            AfterwordError: a service gave none, and why.
        """
        count = 0
        while self._missing:
            some = dict(list(self._missing.items())[: self._embedder.at_once])
            texts = list(some.values())
            matrix = self._embedder.embed(texts) if wake is None else self._embedder.begin(texts, wake)
            if matrix is None:
                return "waiting", count
            self._manifest.add_vectors(self._embedder.signature, list(some), matrix)
            for text in some:
                del self._missing[text]
            count += len(some)
            if self._missing and time.monotonic() >= end:
                return "late", count
        return "done", count

    def take(self) -> list[tuple[Document, list[Chunk]]]:
        """The documents whose vectors are all there."""
        found, self._waiting = self._waiting, []
        return found
