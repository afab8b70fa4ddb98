"""The engine that asks Gemini. It knows no network and no file: questions go to `Answers`, which keep what came."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from afterword.compile.engine import Waiting, check
from afterword.compile.gemini import articles, digests, pairs
from afterword.compile.gemini.answers import Answers
from afterword.compile.gemini.faults import OF_THE_TEXT, ModelFault
from afterword.domain.articles import CompileInput, Pair, Proposal, Verdict
from afterword.domain.digest import Digest, DigestInput

Piece = TypeVar("Piece")
Made = TypeVar("Made")


class Gemini:
    """Writes up what it is given, in as many calls as that takes; all of it or nothing."""

    name = "gemini"
    paid = True

    def __init__(self, answers: Answers, model: str, prompt_max_bytes: int) -> None:
        self._answers = answers
        self._model = model
        self._bound = prompt_max_bytes

    def digest(self, segment: DigestInput) -> Digest:
        """The write-up of one segment.

        Raises:
            Waiting: not all of it is there yet.
            ModelFault: it cannot be had now.
        """

        def made(piece: DigestInput) -> Digest:
            return digests.read(self._answers.get(digests.question(piece, self._model)), piece)

        found = _all(digests.parts(segment, self._bound), made, digests.halved)
        return check(digests.merged(found), segment)

    def compile(self, day: CompileInput) -> list[Proposal]:
        """The articles of one day; the same raises as `digest`."""
        if not day.most:
            return []

        def made(piece: CompileInput) -> list[Proposal]:
            alone = len(piece.sections) == len(day.sections)
            return articles.read(self._answers.get(articles.question(piece, self._model, alone=alone)), piece)

        found = _all(articles.parts(day, self._bound), made, articles.halved)
        return [proposal for row in found for proposal in row]

    def compare(self, day: str, rows: Sequence[Pair]) -> list[Verdict]:
        """What the later of each two is to the earlier; the same raises as `digest`."""

        def made(piece: Sequence[Pair]) -> list[Verdict]:
            return pairs.read(self._answers.get(pairs.question(day, piece, self._model)), piece)

        found = _all(pairs.parts(rows, self._bound), made, pairs.halved)
        return [verdict for row in found for verdict in row]

    def nothing(self, day: CompileInput) -> None:
        """A day that a model was paid to write up has something in it: what it said was no good.

        Raises:
            ModelFault: always.
        """
        raise self._answers.reject(articles.STEP, day.day, "no article of the answer is proved by its quotes")


def _all(
    pieces: Sequence[Piece], made: Callable[[Piece], Made], halved: Callable[[Piece], Sequence[Piece]]
) -> list[Made]:
    """What is made of each piece; one that cannot be answered as a whole is asked for in halves, and those again.

    All are asked before it is said that one waits, so that they are answered side by side.
    """
    found: list[Made] = []
    waiting: Waiting | None = None
    for piece in pieces:
        try:
            try:
                found.append(made(piece))
            except ModelFault as fault:
                smaller = halved(piece) if fault.why in OF_THE_TEXT else ()
                if not smaller:
                    raise
                found += _all(smaller, made, halved)
        except Waiting as err:
            waiting = err
    if waiting is not None:
        raise waiting
    return found
