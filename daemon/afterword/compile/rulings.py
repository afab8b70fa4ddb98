"""What an engine or a person said about two tellings, so that every fold of the builds heeds it.

A ruling names claims by their marks, not articles: what is united, parted or compiled anew afterwards still answers to
it.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Final

from afterword.domain.articles import Article, Proposal, Ruling, Verdict

_APART: Final[tuple[Verdict, ...]] = ("distinct", "contradicts")


class Rulings:
    """All that was said so far. A person's partings and an engine's verdicts are told alike: where two differ, what
    keeps apart holds."""

    def __init__(self, rulings: Iterable[Ruling] = ()) -> None:
        self._rulings: list[Ruling] = []
        self._by_mark: dict[str, list[tuple[int, bool]]] = {}
        self.add(rulings)

    def add(self, rulings: Iterable[Ruling]) -> None:
        """Take more in."""
        for ruling in rulings:
            number = len(self._rulings)
            self._rulings.append(ruling)
            for later, marks in ((True, ruling.later), (False, ruling.earlier)):
                for mark in marks:
                    self._by_mark.setdefault(mark, []).append((number, later))

    def opposite(self, marks: Iterable[str]) -> set[str]:
        """The marks of everything that was ever put beside one of these."""
        found: set[str] = set()
        for number, later in self._touched(marks):
            ruling = self._rulings[number]
            found.update(ruling.earlier if later else ruling.later)
        return found

    def between(self, later: AbstractSet[str], earlier: AbstractSet[str]) -> Verdict | None:
        """What something with the marks `later` is to something with the marks `earlier`; None where nobody said."""
        said: set[Verdict] = set()
        for number, as_later in self._touched(later):
            ruling = self._rulings[number]
            if not earlier.isdisjoint(ruling.earlier if as_later else ruling.later):
                # The other way round it is no replacement; it still is another matter.
                said.add(ruling.verdict if as_later or ruling.verdict != "supersedes" else "distinct")
        for verdict in (*_APART, "supersedes", "same"):
            if verdict in said:
                return verdict
        return None

    def _touched(self, marks: Iterable[str]) -> set[tuple[int, bool]]:
        return {place for mark in marks for place in self._by_mark.get(mark, ())}


def marks(told: Article | Proposal) -> frozenset[str]:
    """The marks of what an article or proposal says."""
    return frozenset(claim.mark for claim in told.points)


def ruling(verdict: Verdict, later: AbstractSet[str], earlier: AbstractSet[str]) -> Ruling | None:
    """That the one is this to the other; None where nothing that one of them says is its own."""
    own, others = later - earlier, earlier - later
    return Ruling(verdict, tuple(sorted(own)), tuple(sorted(others))) if own and others else None
