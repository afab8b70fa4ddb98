"""Entries of the journal → facts, each stated once.

What was decided about an entry is kept in the fact it went into, so only new entries are placed, whoever does it, and
the same journal gives the same facts however often it is distilled. A retracted fact takes in what says the same, and
stays retracted: so nothing brings it back.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from afterword.domain.ids import FactId, LessonUid, fact_id
from afterword.domain.lessons import CurrentFact, CurrentLesson, Fact, Known, Lesson, Placing
from afterword.memory.engine import Alike, Distiller, scope_meets

_NEAREST: Final = 12
AT_ONCE: Final = 20
"""So many entries are put to a paid engine at a time."""
_KEPT_OUT: Final = frozenset({"retracted", "deleted", "draft"})
"""Facts of these statuses are told by nobody, and still take in what says the same."""


class Folded(msgspec.Struct, frozen=True):
    """What a fold came to: facts that are new or changed, how many entries were placed, and how many are left."""

    changed: dict[FactId, Fact]
    placed: int
    left: int = 0
    created: tuple[FactId, ...] = ()
    joined: tuple[FactId, ...] = ()
    superseded: tuple[FactId, ...] = ()


class Fold:
    """One run over a journal and the facts there are."""

    def __init__(
        self,
        entries: Sequence[CurrentLesson],
        facts: Sequence[CurrentFact],
        stored: Mapping[FactId, Fact],
        alike: Alike,
        engine: Distiller,
    ) -> None:
        """`facts` as they stand, `stored` as the last run left them."""
        self._entries = {each.uid: each for each in entries}
        self._standing = {each.id: each for each in facts}
        self._before = dict(stored)
        self._facts = dict(stored)
        self._alike = alike
        self._engine = engine
        self._texts = {its_id: each.fact.text for its_id, each in self._standing.items()}
        self._postings: dict[str, set[FactId]] = {}
        self._words: dict[FactId, frozenset[str]] = {}
        self._created: list[FactId] = []
        self._joined: list[FactId] = []
        self._superseded: list[FactId] = []

    def run(
        self,
        most: int = 0,
        before: str = "",
        on_progress: Callable[[int, int], None] = lambda _done, _all: None,
    ) -> Folded:
        """Place what is new, or the first `most` of it, and let go of what is no entry any more. With `before` only
        entries of days before that one are placed.

        Raises:
            AfterwordError: the engine cannot say now; nothing was changed.
        """
        self._let_go()
        for its_id, fact in self._facts.items():
            if fact.status != "withdrawn":
                self._post(its_id)
        placed = {uid for fact in self._facts.values() for uid in fact.lessons}
        new = [each for each in self._entries.values() if each.counts and each.uid not in placed]
        new = [each for each in new if not before or each.lesson.day < before]
        new.sort(key=lambda each: (each.lesson.at_us, each.uid))
        left = max(0, len(new) - most) if most else 0
        new = new[: len(new) - left]
        # A paid engine is asked about many at once; without one each entry sees what the one before it became.
        step = AT_ONCE if self._engine.paid else 1
        for start in range(0, len(new), step):
            on_progress(start, len(new))
            self._some(new[start : start + step])
        on_progress(len(new), len(new))
        changed = {its_id: fact for its_id, fact in self._facts.items() if self._before.get(its_id) != fact}
        return Folded(
            changed=changed,
            placed=len(new),
            left=left,
            created=tuple(self._created),
            joined=tuple(dict.fromkeys(self._joined)),
            superseded=tuple(self._superseded),
        )

    # What is there

    def _let_go(self) -> None:
        """Facts without the entries that are no more: those that were deleted, withdrawn, or are drafts again."""
        for its_id, fact in self._facts.items():
            kept = tuple(uid for uid in fact.lessons if self._holds(uid))
            self._facts[its_id] = self._made(fact, kept)

    def _holds(self, uid: LessonUid) -> bool:
        each = self._entries.get(uid)
        return each is not None and each.lesson.status in ("active", "retracted")

    def _made(self, fact: Fact, members: tuple[LessonUid, ...], text: str = "") -> Fact:
        """The fact as these entries have it, the newest of them as its wording."""
        if not members:
            return msgspec.structs.replace(fact, lessons=(), status="withdrawn", superseded_by="", why="")
        row = sorted((self._entries[uid] for uid in members), key=lambda each: (each.lesson.at_us, each.uid))
        newest = row[-1].lesson
        agents: tuple[str, ...] = ()
        if all(each.lesson.agents for each in row):
            agents = tuple(sorted({name for each in row for name in each.lesson.agents}))
        projects: tuple[str, ...] = ()
        if all(each.lesson.project for each in row):
            projects = tuple(sorted({each.lesson.project for each in row}))
        status = fact.status
        if any(each.edits.status == "retracted" or each.lesson.status == "retracted" for each in row):
            status = "retracted"
        elif status in ("withdrawn", "retracted"):
            status = "superseded" if fact.superseded_by else "active"
        # A model's wording stands while the entry it was made for is the newest, and nobody changed that.
        worded = fact.engine != "extractive" and fact.lessons[-1:] == (row[-1].uid,)
        keeps = worded and row[-1].edits.text is None and newest.source != "file"
        return msgspec.structs.replace(
            fact,
            text=text or (fact.text if keeps else newest.text),
            kind=newest.kind,
            lessons=tuple(each.uid for each in row),
            created=row[0].lesson.day,
            updated=newest.day,
            at_us=newest.at_us,
            agents=agents,
            projects=projects,
            machine=newest.machine,
            status=status,
            pinned=any(each.lesson.pinned for each in row),
        )

    # What is new

    def _some(self, row: Sequence[CurrentLesson]) -> None:
        entries = [(each.uid, each.lesson) for each in row]
        near: dict[FactId, None] = {}
        for each in row:
            near.update(dict.fromkeys(self._near(each.lesson)))
        known = [
            Known(its_id, msgspec.structs.replace(self._facts[its_id], text=self._text(its_id))) for its_id in near
        ]
        placings = self._engine.place(entries, known)
        became: dict[str, FactId] = {}
        for each, placing in zip(row, placings, strict=True):
            became[each.uid] = self._put(each, placing, FactId(became.get(placing.of, FactId(placing.of))))

    def _put(self, each: CurrentLesson, placing: Placing, of: FactId) -> FactId:
        fact = self._facts.get(of)
        if placing.verdict == "same" and fact is not None and each.lesson.machine == fact.machine:
            its_id = self._join(of, each, placing)
        else:
            its_id = self._new(each, placing)
            if placing.verdict == "replaces" and fact is not None and scope_meets(each.lesson, fact):
                self._against(its_id, of)
        for target in self._meant(each.lesson.supersedes):
            if target != its_id:
                self._supersede(target, its_id, "said")
        return its_id

    def _new(self, each: CurrentLesson, placing: Placing) -> FactId:
        its_id = fact_id(each.uid)
        lesson = each.lesson
        topic = lesson.topic or placing.topic
        empty = Fact(
            lesson.text, lesson.kind, topic, (), lesson.day, lesson.day, lesson.at_us, engine=self._engine.name
        )
        self._facts[its_id] = self._made(empty, (each.uid,), placing.text)
        self._created.append(its_id)
        self._post(its_id)
        return its_id

    def _join(self, its_id: FactId, each: CurrentLesson, placing: Placing) -> FactId:
        fact = self._facts[its_id]
        newer = each.lesson.at_us >= fact.at_us
        joined = self._made(fact, (*fact.lessons, each.uid), placing.text if newer else "")
        self._facts[its_id] = msgspec.structs.replace(joined, engine=self._engine.name) if newer else joined
        self._joined.append(its_id)
        if newer and joined.status == "superseded" and joined.why == "newer":
            # Said again after what took its place: now it is the newer one.
            by = FactId(joined.superseded_by)
            self._facts[its_id] = msgspec.structs.replace(
                self._facts[its_id], status="active", superseded_by="", why=""
            )
            if by in self._facts and self._facts[by].at_us <= each.lesson.at_us:
                self._supersede(by, its_id, "newer")
        self._post(its_id)
        return its_id

    def _against(self, new: FactId, old: FactId) -> None:
        """Of two that cannot both hold the newer one stands."""
        if self._status(old) in _KEPT_OUT:
            return
        if self._facts[old].at_us > self._facts[new].at_us:
            new, old = old, new
        if self._status(old) != "superseded":
            self._supersede(old, new, "newer")

    def _supersede(self, old: FactId, by: FactId, why: str) -> None:
        fact = self._facts[old]
        if fact.status == "withdrawn":
            return
        how = "said" if why == "said" else "newer"
        self._facts[old] = msgspec.structs.replace(fact, status="superseded", superseded_by=by, why=how)
        self._superseded.append(old)

    def _meant(self, references: Sequence[str]) -> list[FactId]:
        """The facts that ids of facts or entries mean; a beginning will do where it is one fact's alone."""
        found: list[FactId] = []
        for each in references:
            if each.startswith("f-"):
                hits = [its_id for its_id in self._facts if its_id.startswith(each)]
            else:
                hits = [
                    its_id for its_id, fact in self._facts.items() if any(uid.startswith(each) for uid in fact.lessons)
                ]
            if len(hits) == 1:
                found.append(hits[0])
        return found

    # What is near

    def _text(self, its_id: FactId) -> str:
        """How a fact is worded: as a person worded it, if one did."""
        standing = self._standing.get(its_id)
        if standing and standing.edits.text is not None:
            return standing.edits.text
        return self._facts[its_id].text

    def _status(self, its_id: FactId) -> str:
        standing = self._standing.get(its_id)
        if standing and standing.edits.status is not None:
            return standing.edits.status
        return self._facts[its_id].status

    def _post(self, its_id: FactId) -> None:
        words = self._alike.words(self._text(its_id))
        for word in self._words.get(its_id, frozenset()) - words:
            self._postings[word].discard(its_id)
        for word in words:
            self._postings.setdefault(word, set()).add(its_id)
        self._words[its_id] = words

    def _near(self, lesson: Lesson) -> list[FactId]:
        """The facts that share most with an entry, the nearest first; said for other agents or in other projects too,
        since one fact lives in one place."""
        hits: Counter[FactId] = Counter()
        for word in self._alike.words(lesson.text):
            weight = 1 + 60 // (1 + len(self._postings.get(word, ())))
            for its_id in self._postings.get(word, ()):
                hits[its_id] += weight
        row = [its_id for its_id in hits if self._facts[its_id].machine == lesson.machine]
        return sorted(row, key=lambda its_id: (-hits[its_id], its_id))[:_NEAREST]
