"""Vectors from a service over the network: asked for by a thread of its own, paid for from a purse, checked here."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Protocol, TypeAlias

import numpy as np

from afterword.domain.errors import AfterwordError
from afterword.index.embedder import CHARS_MAX, Floats, Floors, Matrix, cosines

Answer: TypeAlias = tuple[Sequence[Sequence[float]], int | None]
"""A row for each text, and how many tokens that took, None where the service did not say."""

_KEPT_QUESTIONS = 64
_BYTES_A_TOKEN = 2


class Service(Protocol):
    """Where vectors come from; `app` fills it. Safe to call from several threads."""

    def __call__(self, texts: Sequence[str], *, question: bool) -> Answer:
        """One row for each text, in order.

        Raises:
            AfterwordError: there are none, and why.
        """


class Purse(Protocol):
    """What calls cost; `app` fills it. Used from the thread that uses the embedder."""

    def begin(self, tokens: int) -> int:
        """Note that a call is made which costs so many tokens at most; its number.

        Raises:
            AfterwordError: that is more than may be spent today.
        """

    def end(self, number: int, tokens: int | None, fault: AfterwordError | None) -> None:
        """Note what it cost, None where nobody counted, or why it came to nothing."""


class RemoteEmbedder:
    """Used from one thread at a time. Texts are redacted before they come here, and once more on their way out."""

    gathers = True
    floors = Floors((0.19, 2.0), (0.19, 2.0))
    """How near its vectors are to each other is not known beforehand: the background alone says what is too far."""

    def __init__(
        self,
        signature: str,
        dim: int,
        at_once: int,
        service: Service,
        purse: Purse,
        redact: Callable[[str], str],
    ) -> None:
        self.signature = signature
        self.dim = dim
        self.at_once = at_once
        self._service = service
        self._purse = purse
        self._redact = redact
        self._under_way: tuple[tuple[str, ...], int, Future[Answer]] | None = None
        self._asked: OrderedDict[str, Matrix] = OrderedDict()

    def embed(self, texts: Sequence[str]) -> Matrix:
        found = np.zeros((len(texts), self.dim), np.float32)
        for at in range(0, len(texts), self.at_once):
            some = self._given(texts[at : at + self.at_once])
            found[at : at + len(some)] = self._now(some, question=False)
        return found

    def question(self, text: str) -> Matrix:
        (given,) = self._given([text])
        if given not in self._asked:
            self._asked[given] = self._now([given], question=True)[0]
            while len(self._asked) > _KEPT_QUESTIONS:
                self._asked.popitem(last=False)
        return self._asked[given]

    def near(self, vectors: Matrix, question: Matrix) -> Floats:
        return cosines(vectors, question)

    def begin(self, texts: Sequence[str], wake: Callable[[], None]) -> Matrix | None:
        """As the protocol says; what fails is raised when it is asked again, and then asked for anew."""
        some = tuple(self._given(texts))
        if self._under_way is not None:
            asked, number, answer = self._under_way
            if not answer.done():
                return None
            self._under_way = None
            found = self._taken(number, answer, len(asked))
            if asked == some:
                return found
        number = self._purse.begin(_estimate(some))
        answer = Future()
        self._under_way = some, number, answer
        threading.Thread(target=self._ask, args=(some, answer, wake), name="embedding", daemon=True).start()
        return None

    def _ask(self, texts: Sequence[str], answer: "Future[Answer]", wake: Callable[[], None]) -> None:
        try:
            answer.set_result(self._service(texts, question=False))
        except BaseException as err:  # noqa: BLE001  # it is raised where the answer is taken
            answer.set_exception(err)
        wake()

    def _now(self, texts: Sequence[str], *, question: bool) -> Matrix:
        number = self._purse.begin(_estimate(texts))
        answer: Future[Answer] = Future()
        try:
            answer.set_result(self._service(texts, question=question))
        except AfterwordError as err:
            answer.set_exception(err)
        return self._taken(number, answer, len(texts))

    def _taken(self, number: int, answer: "Future[Answer]", count: int) -> Matrix:
        """What came, booked; rows of length 1, because a shortened vector does not come so."""
        try:
            rows, tokens = answer.result()
        except AfterwordError as fault:
            self._purse.end(number, None, fault)
            raise
        self._purse.end(number, tokens, None)
        found: Matrix = np.asarray(rows, np.float32)
        if found.shape != (count, self.dim):
            raise AfterwordError(f"{found.shape} is not {count} vectors of {self.dim} numbers")
        found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
        return found

    def _given(self, texts: Sequence[str]) -> list[str]:
        """What is sent: bounded, redacted, never empty, and without what JSON cannot carry."""
        return [
            self._redact(text[:CHARS_MAX].encode("utf-8", "replace").decode()).replace("\0", " ").strip() or "."
            for text in texts
        ]


def _estimate(texts: Sequence[str]) -> int:
    """The most tokens it can cost: a token is hardly ever less than two bytes."""
    return sum(len(text.encode()) // _BYTES_A_TOKEN + 4 for text in texts)
