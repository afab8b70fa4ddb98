"""Journal entries and facts in the ledger: registers, so that every machine has the same and a person's word wins."""

import re
from typing import Final

import msgspec

from afterword.domain.ids import FactId, LessonUid
from afterword.domain.lessons import (
    CurrentFact,
    CurrentLesson,
    Fact,
    FactEdits,
    Lesson,
    LessonEdits,
    fact_laid_over,
    lesson_laid_over,
)
from afterword.domain.registers import Rank
from afterword.domain.slugs import article_slug
from afterword.redact.redactor import Redactor
from afterword.redact.text import Redacted
from afterword.store.ledger import registers
from afterword.store.ledger.ledger import Ledger, RecordKind

_EDITS: Final = "/edits"
OWED: Final = "lessons_owed"
"""The small fact that the vault is behind the ledger: 1 from a change of facts on until their files are written."""
PLAIN: Final = (
    *("kind", "source", "by", "agents", "machine", "status", "lessons", "superseded_by", "why", "engine"),
    *("day", "created", "updated", "retracted_on", "supersedes"),
)
"""What is ours in entries and facts: a person's own patterns must not break it. A topic is somebody's word: it names a
file, so a marker in it becomes a word (`named`)."""
UID: Final = re.compile(r"l-[0-9a-f]{12}")
FACT_ID: Final = re.compile(r"f-[0-9a-f]{12}")


def lessons(ledger: Ledger) -> list[CurrentLesson]:
    """Every entry as it stands, by uid."""
    texts: dict[LessonUid, Lesson] = {}
    edits: dict[LessonUid, LessonEdits] = {}
    for found in registers.every(ledger, RecordKind.LESSON):
        if found.key.endswith(_EDITS):
            edits[LessonUid(found.key.removesuffix(_EDITS))] = found.read(LessonEdits)
        else:
            texts[LessonUid(found.key)] = found.read(Lesson)
    return [
        CurrentLesson(uid, lesson_laid_over(lesson, edits[uid]), edits[uid])
        if uid in edits
        else CurrentLesson(uid, lesson)
        for uid, lesson in texts.items()
    ]


def stored_lessons(ledger: Ledger) -> dict[LessonUid, Lesson]:
    """Every entry as it was taken in, by uid."""
    return {
        LessonUid(found.key): found.read(Lesson)
        for found in registers.every(ledger, RecordKind.LESSON)
        if not found.key.endswith(_EDITS)
    }


def lesson(ledger: Ledger, uid: LessonUid) -> CurrentLesson | None:
    """One entry as it stands."""
    found = registers.get(ledger, RecordKind.LESSON, uid)
    if found is None:
        return None
    edits = lesson_edits(ledger, uid)
    return CurrentLesson(uid, lesson_laid_over(found.read(Lesson), edits), edits)


def lesson_edits(ledger: Ledger, uid: LessonUid) -> LessonEdits:
    """What a person said of an entry."""
    found = registers.get(ledger, RecordKind.LESSON, uid + _EDITS)
    return found.read(LessonEdits) if found else LessonEdits()


def named(redactor: Redactor, topic: str) -> str:
    """A topic's slug without what the rules find in it."""
    clean = redactor.redact(topic)
    return topic if clean == topic else article_slug(clean)


def put_lesson(ledger: Ledger, redactor: Redactor, uid: LessonUid, lesson: Lesson, rank: Rank = Rank.ENGINE) -> bool:
    """Store an entry; whether it says something new. Inside a transaction."""
    lesson = msgspec.structs.replace(lesson, topic=named(redactor, lesson.topic))
    return _put(ledger, RecordKind.LESSON, uid, redactor.document(msgspec.to_builtins(lesson), plain=PLAIN), rank)


def put_lesson_edits(ledger: Ledger, redactor: Redactor, uid: LessonUid, edits: LessonEdits) -> bool:
    """Store what a person said of an entry; whether it is new. Inside a transaction."""
    said = redactor.document(msgspec.to_builtins(edits), plain=PLAIN)
    return _put(ledger, RecordKind.LESSON, uid + _EDITS, said, Rank.PERSON)


def facts(ledger: Ledger) -> list[CurrentFact]:
    """Every fact as it stands, those that are not live included, by id."""
    texts: dict[FactId, Fact] = {}
    edits: dict[FactId, FactEdits] = {}
    for found in registers.every(ledger, RecordKind.FACT):
        if found.key.endswith(_EDITS):
            edits[FactId(found.key.removesuffix(_EDITS))] = found.read(FactEdits)
        else:
            texts[FactId(found.key)] = found.read(Fact)
    return [
        CurrentFact(its_id, fact_laid_over(fact, edits[its_id]), edits[its_id])
        if its_id in edits
        else CurrentFact(its_id, fact)
        for its_id, fact in texts.items()
    ]


def fact(ledger: Ledger, its_id: FactId) -> CurrentFact | None:
    """One fact as it stands."""
    found = registers.get(ledger, RecordKind.FACT, its_id)
    if found is None or its_id.endswith(_EDITS):
        return None
    edits = fact_edits(ledger, its_id)
    return CurrentFact(its_id, fact_laid_over(found.read(Fact), edits), edits)


def fact_rev(ledger: Ledger, its_id: FactId) -> str:
    """What changes when a fact does, or what a person said of it; as `fact_revs` says it of all."""
    return _revs(ledger, " AND key IN (?, ?)", its_id, its_id + _EDITS)[its_id]


def fact_revs(ledger: Ledger) -> dict[FactId, str]:
    """Of every fact: what changes when it does, or what a person said of it."""
    return _revs(ledger, "")


def _revs(ledger: Ledger, where: str, *keys: str) -> dict[FactId, str]:
    found: dict[FactId, str] = {}
    rows = ledger.db.execute(
        f"SELECT key, rev FROM register WHERE kind = ? AND forgotten = 0{where} ORDER BY key", (RecordKind.FACT, *keys)
    )
    for key, rev in rows:
        its_id = FactId(key.removesuffix(_EDITS))
        found[its_id] = f"{found[its_id]}.{rev}" if its_id in found else str(rev)
    return found


def stored_facts(ledger: Ledger) -> dict[FactId, Fact]:
    """Every fact as `distill` left it, by id."""
    return {
        FactId(found.key): found.read(Fact)
        for found in registers.every(ledger, RecordKind.FACT)
        if not found.key.endswith(_EDITS)
    }


def fact_edits(ledger: Ledger, its_id: FactId) -> FactEdits:
    """A person's edits of a fact."""
    found = registers.get(ledger, RecordKind.FACT, its_id + _EDITS)
    return found.read(FactEdits) if found else FactEdits()


def put_fact(ledger: Ledger, redactor: Redactor, its_id: FactId, fact: Fact) -> bool:
    """Store a fact and what it was drawn from; whether it says something new. Inside a transaction."""
    fact = msgspec.structs.replace(fact, topic=named(redactor, fact.topic))
    new = _put(ledger, RecordKind.FACT, its_id, redactor.document(msgspec.to_builtins(fact), plain=PLAIN), Rank.ENGINE)
    if new:
        register = registers.get(ledger, RecordKind.FACT, its_id)
        sources = [found.row for uid in fact.lessons if (found := registers.get(ledger, RecordKind.LESSON, uid))]
        if register:
            ledger.derive((RecordKind.FACT, register.row), [(RecordKind.LESSON, row) for row in sources])
        ledger.set_meta(OWED, 1)
    return new


def put_fact_edits(ledger: Ledger, redactor: Redactor, its_id: FactId, edits: FactEdits) -> bool:
    """Store a person's edits of a fact; whether they say something new. Inside a transaction."""
    said = redactor.document(msgspec.to_builtins(edits), plain=PLAIN)
    new = _put(ledger, RecordKind.FACT, its_id + _EDITS, said, Rank.PERSON)
    if new:
        ledger.set_meta(OWED, 1)
    return new


def stamp(ledger: Ledger) -> tuple[int, int]:
    """(how many, sum of revisions) of entries, facts and people's edits of them: changes whenever one of them does."""
    found = ledger.db.execute(
        "SELECT count(*), coalesce(sum(rev), 0) FROM register WHERE kind IN (?, ?)",
        (RecordKind.LESSON, RecordKind.FACT),
    ).fetchone()
    return found[0], found[1]


def _put(ledger: Ledger, kind: RecordKind, key: str, value: Redacted, rank: Rank) -> bool:
    before = registers.get(ledger, kind, key)
    after = registers.put(ledger, kind, key, value, rank)
    return before is None or before.rev != after.rev
