"""What turns entries into facts: what every engine promises, and the one that needs no model."""

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from afterword.domain.ids import LessonUid
from afterword.domain.lessons import GENERAL, Fact, Known, Lesson, Placing


class Distiller(Protocol):
    """Places entries among facts. Touches nothing; all of a row, or an error."""

    name: str
    paid: bool
    """Whether every word costs: then entries are placed many at a time."""

    def place(self, row: Sequence[tuple[LessonUid, Lesson]], known: Sequence[Known]) -> list[Placing]:
        """One placing for each entry, in their order. Any doubt is `new`."""


class Alike(Protocol):
    """How two sentences stand to each other; filled by `app`."""

    def words(self, text: str) -> frozenset[str]:
        """The telling words of a text, folded."""

    def same(self, one: str, other: str) -> bool:
        """Whether two say the same. Any doubt is no."""

    def against(self, later: str, earlier: str) -> bool:
        """Whether both cannot hold. Any doubt is no."""


class Extractive:
    """Places by words: near-duplicates are one, what goes against an earlier fact takes its place."""

    name = "extractive"
    paid = False

    def __init__(self, alike: Alike, topic_of: Callable[[str], str]) -> None:
        self._alike = alike
        self._topic_of = topic_of

    def place(self, row: Sequence[tuple[LessonUid, Lesson]], known: Sequence[Known]) -> list[Placing]:
        """One placing for each entry. `known` are facts near to them, the nearest first."""
        found: list[Placing] = []
        for n, (_, lesson) in enumerate(row):
            said: list[tuple[str, str]] = [(each.id, each.fact.text) for each in known]
            said += [(uid, earlier.text) for uid, earlier in row[:n]]
            apart = {each.id for each in known if not scope_meets(lesson, each.fact)}
            found.append(self._one(lesson, said, apart))
        return found

    def _one(self, lesson: Lesson, said: Sequence[tuple[str, str]], apart: Collection[str]) -> Placing:
        topic = lesson.topic or self._topic_of(lesson.text) or lesson.project or GENERAL
        for ref, text in said:
            if self._alike.same(lesson.text, text):
                return Placing("same", ref, topic)
        for ref, text in said:
            if ref not in apart and self._alike.against(lesson.text, text):
                return Placing("replaces", ref, topic)
        return Placing("new", "", topic)


def scope_meets(lesson: Lesson, fact: Fact) -> bool:
    """Whether an entry can go against a fact: no agent, project or machine keeps them apart."""
    agents = not lesson.agents or not fact.agents or bool(set(lesson.agents) & set(fact.agents))
    projects = not lesson.project or not fact.projects or lesson.project in fact.projects
    return agents and projects and lesson.machine == fact.machine
