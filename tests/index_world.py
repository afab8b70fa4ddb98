"""An index of the test's own: a ledger with made-up talk, a small embedder, and what must be equal."""

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from transcripts import ClaudeSession
from writer import REDACTOR, Reading

from afterword.index import manifest
from afterword.index.building import Done, Index, open_index
from afterword.index.documents import Document, Part
from afterword.index.embedder import Floors, cosines
from afterword.index.keeper import FOLDER
from afterword.index.keeping import open_client
from afterword.index.standing import collection_name


class HashEmbedder:
    """Vectors from the hashes of words: no model, the same for the same text."""

    def __init__(self, dim: int = 32, version: str = "v1") -> None:
        self.dim = dim
        self.signature = f"hash:{dim}:{version}"
        self.embedded: list[str] = []
        self.at_once = 8
        self.gathers = False
        self.floors = Floors((0.16, 0.26), (0.16, 0.26))

    def ready(self, wake: object) -> bool:
        return True

    def begin(self, texts: Sequence[str], wake: Callable[[], None]) -> np.ndarray | None:
        return self.embed(texts) if self.ready(wake) else None

    def question(self, text: str) -> np.ndarray:
        return self.embed([text])[0]

    def near(self, vectors: np.ndarray, question: np.ndarray) -> np.ndarray:
        return cosines(vectors, question)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.embedded += texts
        found = np.zeros((len(texts), self.dim), np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                digest = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest()
                found[row, digest[0] % self.dim] += 1.0 if digest[1] % 2 else -1.0
            found[row, 0] += 0.01
        return found / np.linalg.norm(found, axis=1, keepdims=True)


class Articles:
    """Articles kept in a dict: ref → paragraphs by heading."""

    def __init__(self) -> None:
        self.held: dict[str, list[tuple[str, str]]] = {}

    def prints(self) -> Mapping[str, str]:
        return {ref: hashlib.blake2b(repr(parts).encode()).hexdigest() for ref, parts in self.held.items()}

    def load(self, ref: str) -> Document | None:
        if ref not in self.held:
            return None
        parts = tuple(Part(text, heading) for heading, text in self.held[ref])
        return Document("article", ref, self.prints()[ref], ref, "2026-03-02", 1_772_000_000_000_000, "", "", "", parts)


class World:
    """A ledger, its transcripts and an index beside it."""

    def __init__(self, root: Path, seed: int = 1) -> None:
        self.root = root
        self.rng = random.Random(seed)
        self.reading = Reading(root)
        self.sessions: list[ClaudeSession] = []
        self.articles = Articles()
        self.embedder = HashEmbedder()
        self.max_chunks = 10_000

    @property
    def state(self) -> Path:
        return self.root / "state"

    def talk(self, *texts: str, session: ClaudeSession | None = None) -> ClaudeSession:
        """Add messages, prompt and reply by turns, to a new or a given session."""
        if session is None:
            session = ClaudeSession(self.rng, session=f"session-{len(self.sessions):03d}")
            self.sessions.append(session)
        for number, text in enumerate(texts):
            (session.prompt if number % 2 == 0 else session.reply)(text)
        self.write(session)
        return session

    def write(self, session: ClaudeSession) -> None:
        path = session.path(self.root)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(session.lines))
        self.reading.sweep(thorough=True)

    @contextmanager
    def open(self):
        with open_index(
            self.state,
            self.reading.ledger,
            self.embedder,
            max_chunks=self.max_chunks,
            redact=REDACTOR.redact,
            articles=self.articles,
        ) as index:
            yield index

    def catch_up(self, *, rebuild: bool = False, thorough: bool = False) -> Done:
        with self.open() as index:
            assert isinstance(index, Index)
            if rebuild:
                index.rebuild()
            return index.catch_up(thorough=thorough)

    def in_chroma(self) -> dict[str, tuple[str, str, str]]:
        """Every id in Chroma: text, metadata, vector. Opened only while nobody else has it open."""
        client = open_client(self.state / FOLDER)
        try:
            name = collection_name(self.embedder.signature)
            found = client.get_collection(name, embedding_function=None).get(
                include=["documents", "metadatas", "embeddings"]
            )
        finally:
            client.close()
        columns = zip(found["ids"], found["documents"], found["metadatas"], found["embeddings"], strict=True)
        return {
            its_id: (text, repr(sorted(facts.items())), repr([round(float(x), 4) for x in vector]))
            for its_id, text, facts, vector in columns
        }

    def listed(self) -> set[str]:
        """Every id in the manifest."""
        held = manifest.open_reader(self.state)
        assert held is not None
        build = held.build(collection_name(self.embedder.signature))
        assert build is not None
        try:
            return held.chunk_ids(build)
        finally:
            held.close()

    def check(self) -> dict[str, tuple[str, str, str]]:
        """Chroma and the manifest hold the same; what Chroma holds."""
        there = self.in_chroma()
        assert set(there) == self.listed()
        return there
