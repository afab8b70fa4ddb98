"""Retracting facts and entries of the journal, and taking that back: a person's edits of facts.

A retracted fact stays where it is in the ledger and takes in whatever says the same from then on, so no session, no
agent and no distilling brings it back. Topics and agents' files are made again without it.
"""

import datetime as dt
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from afterword.app.alike import Words
from afterword.domain.articles import name_key
from afterword.domain.ids import FactId, LessonUid
from afterword.domain.lessons import TEXT_MAX, CurrentFact, Fact, FactEdits, Lesson, LessonEdits
from afterword.redact.redactor import Redactor
from afterword.store.ledger import lessons
from afterword.store.ledger.ledger import Ledger

if TYPE_CHECKING:
    from afterword.app.program import Program

_LEAST: Final = 6
_KEPT: Final = frozenset({"active", "superseded", "draft"})


def named(ledger: Ledger, what: str) -> list[CurrentFact]:
    """The facts that an id means: the fact's own, or that of an entry that says it; a unique beginning will do."""
    asked = what.removeprefix("^")
    if len(asked) < _LEAST or asked[:2] not in ("f-", "l-"):
        return []
    row = lessons.facts(ledger)
    found = [
        each
        for each in row
        if (each.id.startswith(asked) if asked[:2] == "f-" else any(uid.startswith(asked) for uid in each.fact.lessons))
    ]
    return found if len(found) == 1 else [each for each in found if asked in (each.id, *each.fact.lessons)]


def bare_entries(ledger: Ledger, what: str) -> list[LessonUid]:
    """The entries an id means that no fact was made of yet."""
    if len(what) < _LEAST or not what.startswith("l-"):
        return []
    placed = {uid for each in lessons.facts(ledger) for uid in each.fact.lessons}
    found = [each.uid for each in lessons.lessons(ledger) if each.uid.startswith(what) and each.uid not in placed]
    return found if len(found) == 1 else []


def saying(ledger: Ledger, claim: str) -> list[CurrentFact]:
    """The live facts that say a claim, in its words or nearly."""
    words = Words()
    asked = name_key(claim)
    return [
        each
        for each in lessons.facts(ledger)
        if each.live and asked and (asked in name_key(each.fact.text) or words.same(claim, each.fact.text))
    ]


def retract(program: "Program", ids: tuple[str, ...], reason: str, replacement: str | None, today: str) -> list[str]:
    """Mark facts, and entries that are no fact yet, as retracted; the ids that were. Inside a transaction.

    A replacement in words becomes an entry that takes the place of them, for whom and where they held.
    """
    ledger, redactor = program.ledger, program.redactor
    standing = {each.id: each for each in lessons.facts(ledger)}
    done: list[str] = []
    for its_id in ids:
        each = standing.get(FactId(its_id))
        if each is not None and each.fact.status in _KEPT:
            edits = msgspec.structs.replace(
                each.edits,
                status="retracted",
                retract_reason=reason,
                retracted_on=today,
                replaced_by=replacement or "",
            )
            lessons.put_fact_edits(ledger, redactor, each.id, edits)
            for uid in each.fact.lessons:
                _mark(program, uid, reason, today)
            done.append(its_id)
        elif its_id.startswith("l-") and lessons.lesson(ledger, LessonUid(its_id)) is not None:
            _mark(program, LessonUid(its_id), reason, today)
            ledger.set_meta(lessons.OWED, 1)
            done.append(its_id)
    gone = [standing[FactId(its_id)] for its_id in done if its_id in standing]
    if gone and replacement and "[[" not in replacement and "://" not in replacement:
        _instead(program, gone, replacement)
    return done


def _mark(program: "Program", uid: LessonUid, reason: str, today: str) -> None:
    edits = msgspec.structs.replace(
        lessons.lesson_edits(program.ledger, uid), status="retracted", retract_reason=reason, retracted_on=today
    )
    lessons.put_lesson_edits(program.ledger, program.redactor, uid, edits)


def _instead(program: "Program", gone: list[CurrentFact], text: str) -> None:
    """What holds in the place of some facts, as an entry: in all projects, where they were of several."""
    now_us = program.clock() // 1000 * 1000
    fact = gone[0].fact
    projects = {each.fact.projects for each in gone}
    machines = {each.fact.machine for each in gone}
    agents = [each.fact.agents for each in gone]
    lesson = Lesson(
        text=text[:TEXT_MAX],
        kind="lesson" if fact.kind == "dead-end" else fact.kind,
        at_us=now_us,
        day=program.zones.day(now_us),
        source="learn",
        agents=tuple(sorted({name for row in agents for name in row})) if all(agents) else (),
        project=fact.projects[0] if len(projects) == 1 and len(fact.projects) == 1 else "",
        topic=fact.topic,
        machine=fact.machine if len(machines) == 1 else "",
        evidence=" ".join(each.id for each in gone[:20]),
        pinned=any(each.fact.pinned for each in gone),
    )
    lessons.put_lesson(program.ledger, program.redactor, LessonUid(f"l-{secrets.token_hex(6)}"), lesson)


def follow(ledger: Ledger, redactor: Redactor, changed: Mapping[FactId, Fact]) -> None:
    """Have facts follow their entries: what a person retracted in Obsidian, or took back there, is so of the fact with
    their reason. Inside a transaction."""
    entries = {each.uid: each for each in lessons.lessons(ledger)}
    for its_id, fact in changed.items():
        edits = lessons.fact_edits(ledger, its_id)
        mine = [entries[uid] for uid in fact.lessons if uid in entries]
        wrong = next((each for each in mine if each.lesson.status == "retracted"), None)
        if wrong and edits.status is None:
            new = msgspec.structs.replace(
                edits,
                status="retracted",
                retract_reason=wrong.edits.retract_reason,
                retracted_on=wrong.edits.retracted_on or wrong.lesson.day,
            )
            lessons.put_fact_edits(ledger, redactor, its_id, new)
        elif not wrong and edits.status == "retracted" and any(each.edits.status == "active" for each in mine):
            lessons.put_fact_edits(
                ledger, redactor, its_id, FactEdits(text=edits.text, pinned=edits.pinned, topic=edits.topic)
            )


def retracted(ledger: Ledger, today: str, days: int) -> list[CurrentFact]:
    """The facts that were retracted within so many days, the newest first."""
    since = (dt.date.fromisoformat(today) - dt.timedelta(days=days)).isoformat()
    found = [
        each
        for each in lessons.facts(ledger)
        if each.edits.status in ("retracted", "deleted") and (each.edits.retracted_on or today) >= since
    ]
    return sorted(found, key=lambda each: (each.edits.retracted_on, each.id), reverse=True)


def undo(program: "Program", its_id: FactId) -> None:
    """Take a fact's retraction back, and that of its entries; inside a transaction."""
    ledger, redactor = program.ledger, program.redactor
    each = next(each for each in lessons.facts(ledger) if each.id == its_id)
    edits = FactEdits(text=each.edits.text, pinned=each.edits.pinned, topic=each.edits.topic)
    lessons.put_fact_edits(ledger, redactor, its_id, edits)
    for uid in each.fact.lessons:
        before = lessons.lesson_edits(ledger, uid)
        if before.status in ("retracted", "deleted"):
            lessons.put_lesson_edits(ledger, redactor, uid, LessonEdits(text=before.text, pinned=before.pinned))
