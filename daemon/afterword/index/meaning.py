"""What is near a question in meaning: weighed by vectors, words and times, one best chunk a session or article."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from afterword.domain.clock import DAY_US
from afterword.index import manifest
from afterword.index.background import ENGLISH, OTHERS
from afterword.index.dates import Spoken, nearness, spoken, without_times
from afterword.index.embedder import Embedder, Floats, Matrix, limit_threads
from afterword.index.manifest import Build, Manifest
from afterword.index.memory import Memory
from afterword.index.room import give_back
from afterword.index.scripts import foreign, is_english
from afterword.index.signals import DEFAULT, Signals
from afterword.index.standing import DocumentKind, collection_name
from afterword.index.stemming import asks_decision, stems
from afterword.index.terms import asked

_BACKGROUND_SHARE = 97
_FLOOR_WORDS, _FLOOR_MEAN, _FEW = 0.5, 0.7, 50
_FOREIGN = 0.15
"""How near a text counts whose script the embedder does not know: its vectors say which script it is, no more."""
_HALF_LIFE_DAYS = 90.0
_BESIDE = 0.6
"""What comes beside a passage above the floor may be so much lower."""


class Passage(msgspec.Struct, frozen=True):
    """The best chunk of a session or article. `session` is a session's id, `items` are ids of messages as hex."""

    kind: DocumentKind
    ref: str
    text: str
    heading: str
    items: tuple[str, ...]
    day: str
    time_us: int
    project: str
    harness: str
    session: str
    score: float


class Wanted(msgspec.Struct, frozen=True):
    """What narrows a question: names are compared as they are, times are UTC microseconds."""

    kinds: frozenset[DocumentKind] = frozenset({"article", "lesson", "diary", "message"})
    project: str | None = None
    harness: str | None = None
    session: str | None = None
    since_us: int | None = None
    until_us: int | None = None
    sessions: frozenset[str] | None = None
    """Ids; only these, where it is given."""
    here: str | None = None
    """The project the asker works in: it narrows nothing, and counts a little."""


class Meaning:
    """The reader's side. Keeps the index in memory and looks for changes with every question; loads what it needs
    when it is first asked. Used from one thread at a time."""

    def __init__(
        self, folder: Path, embedder: Embedder, signals: Signals = DEFAULT, scripts: frozenset[str] | None = None
    ) -> None:
        """`scripts` are those the embedder knows; None when it knows all of them."""
        self._scripts = scripts
        self._folder = folder
        self._embedder = embedder
        self._signals = signals
        self._manifest: Manifest | None = None
        self._opened: tuple[int, int] | None = None
        """Which file that is: another one may come to its place."""
        self._memory: Memory | None = None
        self._background: Matrix | None = None
        self._floors = (embedder.floors.english[1], embedder.floors.others[1])
        """For questions in English, and for others."""

    def ask(
        self,
        question: str,
        wanted: Wanted,
        *,
        limit: int,
        day_of: Callable[[int], str],
        now_us: int,
        floor: float | None = None,
    ) -> list[Passage]:
        """The passages nearest to a question, best first; none when nothing is near enough, or the index not whole."""
        memory = self._loaded()
        if memory is None or not len(memory) or not question.strip():
            return []
        allowed = self._allowed(memory, wanted)
        if not allowed.any():
            return []
        near = self._embedder.near(memory.vectors, self._embedder.question(question))
        mean = _mean(memory, near)
        floor = self._floors[not is_english(question)] if floor is None else floor
        times = spoken(question, dt.date.fromisoformat(day_of(now_us)))
        words, words_of_group = memory.words(asked(without_times(question) if times else question))
        beside = self._beside(memory, question, times, wanted, day_of, now_us)
        outside = ~allowed[memory.doc]
        near[outside] = words[outside] = -1.0
        # What a diary says again counts only where the session itself may not be found.
        own = np.zeros(memory.groups, bool)
        own[memory.group[~memory.again & ~outside]] = True
        weighed = ~(memory.again & own[memory.group])
        nearest, held = memory.best(near, weighed), memory.best(words, weighed)
        signals = self._signals
        score = signals.near * nearest + signals.words * held + signals.words_of_group * words_of_group + beside
        if signals.decisions and asks_decision(question):
            told = memory.best(near + words, memory.decisions & ~outside)
            score += signals.decisions * np.clip(told, 0.0, 1.0)
        relevance = memory.best(self._relevant(question, near, words, mean), weighed)
        kinds = np.array([{"article": signals.article, "diary": signals.diary}.get(doc[1], 0.0) for doc in memory.docs])
        in_group = signals.near * near + signals.words * words + kinds[memory.doc]
        if relevance.max() < floor:
            return []
        found: list[Passage] = []
        for group in np.argsort(-score, kind="stable")[: limit * 5]:
            if len(found) >= limit:
                break
            if relevance[group] < floor * _BESIDE:
                continue
            chunks = np.flatnonzero((memory.group == group) & ~outside)
            best = int(chunks[np.argmax(in_group[chunks])])
            passage = self._passage(memory, best, float(score[group]))
            if passage:
                found.append(passage)
        return found

    def close(self) -> None:
        if self._manifest:
            self._manifest.close()
            self._manifest = None
        self._memory = None

    def _build(self) -> Build | None:
        now = manifest.identity(self._folder)
        if now != self._opened:
            self.close()
        if self._manifest is None:
            self._opened = now
            self._manifest = manifest.open_reader(self._folder)
        return self._manifest.build(collection_name(self._embedder.signature)) if self._manifest else None

    def _loaded(self) -> Memory | None:
        """The index as it is now."""
        build = self._build()
        if build is None or not build.complete or self._manifest is None:
            self._memory = None
            return None
        if self._memory is None or self._memory.changes != build.changes:
            limit_threads()
            self._memory = None  # not both at a time
            self._memory = Memory(self._manifest, build, self._embedder.dim)
            give_back()
            self._floors = self._measured(self._memory)
        return self._memory

    def _measured(self, memory: Memory) -> tuple[float, float]:
        """The floors for this index: what questions that have nothing to do with it come to."""
        between = self._embedder.floors
        if not len(memory):
            return between.english[1], between.others[1]
        if self._background is None:
            self._background = self._embedder.embed([*ENGLISH, *OTHERS])
        found = []
        for question, vector in zip([*ENGLISH, *OTHERS], self._background, strict=True):
            near = self._embedder.near(memory.vectors, vector)
            words, _ = memory.words(asked(question))
            found.append(float(self._relevant(question, near, words, _mean(memory, near)).max()))
        parts = (found[: len(ENGLISH)], between.english), (found[len(ENGLISH) :], between.others)
        english, others = (
            min(highest, max(lowest, float(np.percentile(part, _BACKGROUND_SHARE))))
            for part, (lowest, highest) in parts
        )
        return english, others

    def _relevant(self, question: str, near: Floats, words: Floats, mean: float) -> Floats:
        """What is held against the floor, for each chunk."""
        if self._scripts is not None and foreign(question, self._scripts):
            near, mean = np.minimum(near, _FOREIGN), 0.0
        return near + _FLOOR_WORDS * words - _FLOOR_MEAN * mean

    def _allowed(self, memory: Memory, wanted: Wanted) -> npt.NDArray[np.bool_]:
        """Which documents may be found."""
        return np.array([_fits(doc, wanted) for doc in memory.docs], bool)

    def _beside(
        self, memory: Memory, question: str, times: Spoken, wanted: Wanted, day_of: Callable[[int], str], now_us: int
    ) -> Floats:
        """What each group is given for its time, its project and its kind; it moves no group past the floor."""
        signals = self._signals
        found: Floats = np.zeros(memory.groups)
        named = set(stems(question))
        projects = {doc[5] for doc in memory.docs if doc[5]}
        weight = {
            name: signals.project * (name_stems <= named) + signals.here * (name == wanted.here)
            for name in {name for each in projects for name in each.split("\n")}
            if (name_stems := set(stems(name)))
        }
        of_project = {each: max(weight.get(name, 0.0) for name in each.split("\n")) for each in projects}
        for doc, group in zip(memory.docs, memory.group_of_doc, strict=True):
            age_days = max(0, now_us - doc[4]) / DAY_US
            given = signals.recency * 0.5 ** (age_days / _HALF_LIFE_DAYS) + of_project.get(doc[5], 0.0)
            given += {"article": signals.article, "lesson": signals.lesson}.get(doc[1], 0.0)
            if times:
                given += signals.time * nearness(times, dt.date.fromisoformat(doc[3] or day_of(doc[4])))
            found[group] = max(found[group], given)
        return found

    def _passage(self, memory: Memory, at: int, score: float) -> Passage | None:
        assert self._manifest is not None
        chunk = manifest.chunk_row(self._manifest, int(memory.rows[at]))
        if chunk is None:
            return None
        _, kind, ref, day, time_us, project, harness, session = memory.docs[memory.doc[at]]
        return Passage(
            kind, ref, chunk.text, chunk.heading, chunk.items, day, time_us, project, harness, session, round(score, 4)
        )


def _held(floor: np.floating, between: tuple[float, float]) -> float:
    lowest, highest = between
    return min(highest, max(lowest, float(floor)))


def _mean(memory: Memory, near: Floats) -> float:
    """How near everything is on average: a question in the manner of the texts is near to all of them.

    Of a few texts the average says little.
    """
    return float(near.mean()) * len(memory) / (len(memory) + _FEW)


def _fits(doc: tuple[int, DocumentKind, str, str, int, str, str, str], wanted: Wanted) -> bool:
    _, kind, _, _, time_us, project, harness, session = doc
    return (
        kind in wanted.kinds
        and (wanted.project is None or wanted.project in project.split("\n"))
        and (wanted.harness is None or harness == wanted.harness)
        and (wanted.session is None or session == wanted.session)
        and (wanted.sessions is None or session in wanted.sessions)
        and (wanted.since_us is None or time_us >= wanted.since_us or kind == "message")
        and (wanted.until_us is None or time_us < wanted.until_us)
    )
