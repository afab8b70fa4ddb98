"""What sessions' write-ups call lessons → entries of the journal, by themselves.

An entry's uid is made from its section and quote, so that a second look, a revision of the section and another machine
all mean the same one. It is withdrawn where its section is, or says it no more.
"""

import re
from typing import Final, Literal, TypeAlias

import msgspec

from afterword.domain import old_notes
from afterword.domain.digest import Point
from afterword.domain.ids import LessonUid, SegmentKey, digest_lesson_uid
from afterword.domain.lessons import TEXT_MAX, Lesson, LessonKind, agent_name
from afterword.redact.redactor import Redactor
from afterword.store.ledger import forgetting, lessons, registers, segments, tombstones
from afterword.store.ledger.ledger import Ledger, RecordKind
from afterword.store.ledger.segments import SectionRecord

Auto: TypeAlias = Literal["yes", "review", "no"]
_UPTO: Final = "lessons_gleaned"
"""The small fact of how far the log was looked through for sections."""
_AT_ONCE: Final = 200
_DEAD_END: Final = re.compile(
    r"\b(?:dead[ -]end|did(?: not|n't) (?:help|work)|does(?: not|n't) (?:help|work)|doesn't help|was no use|to no avail"
    r"|tried .{0,60}(?:failed|in vain)|half nicht|hilft nicht|funktioniert nicht|sackgasse|nie pomogło|nie działa"
    r"|ślepa uliczka|не помогло|не работает|тупик)\b|効かなかった|行き止まり|没有用|不起作用|לא עוזר|לא עבד",
    re.IGNORECASE,
)


def glean(ledger: Ledger, redactor: Redactor, auto: Auto) -> int:
    """Take the lessons of sections that are new or changed into the journal; how many entries were made or changed.

    Only what this machine wrote up: another one's entries come as its own do.
    """
    done = 0
    while True:
        found = ledger.meta(_UPTO)
        after = found if isinstance(found, int) else 0
        rows = ledger.db.execute(
            "SELECT n, kind, ref FROM log WHERE origin = 1 AND n > ? AND kind = ? ORDER BY n LIMIT ?",
            (after, RecordKind.SECTION, _AT_ONCE),
        ).fetchall()
        if not rows:
            return done
        with ledger.transaction():
            for ref in dict.fromkeys(ref for _, _, ref in rows):
                done += _section(ledger, redactor, ref, auto)
            ledger.set_meta(_UPTO, rows[-1][0])


def dead_end(text: str) -> bool:
    """Whether a text tells of something that was tried and does not work."""
    return bool(_DEAD_END.search(text))


def _section(ledger: Ledger, redactor: Redactor, row: int, auto: Auto) -> int:
    found = ledger.db.execute("SELECT key, value FROM register WHERE row = ? AND forgotten = 0", (row,)).fetchone()
    if found is None:
        return 0
    key = SegmentKey(found[0])
    section = segments.section(ledger, key)
    if section is None:
        return 0
    register, record = section
    said: dict[LessonUid, Point] = {}
    if not record.withdrawn_by and record.harness != old_notes.NAME:
        said = {digest_lesson_uid(key, point.quote): point for point in record.digest.lessons}
    done = 0
    for uid in forgetting.drawn_from(ledger, register.row):
        standing = lessons.lesson(ledger, uid)
        if standing and uid not in said and standing.lesson.status in ("active", "draft"):
            stored = msgspec.structs.replace(standing.lesson, status="withdrawn")
            done += lessons.put_lesson(ledger, redactor, uid, stored)
    if auto == "no":
        return done
    for uid, point in said.items():
        if tombstones.lesson_forgotten(ledger, uid):
            continue
        standing = lessons.lesson(ledger, uid)
        lesson = _lesson(key, record, point, auto)
        if standing:
            if standing.lesson.status != "withdrawn":
                continue
            lesson = msgspec.structs.replace(lesson, status="active" if auto == "yes" else "draft")
        done += lessons.put_lesson(ledger, redactor, uid, lesson)
        entry = registers.get(ledger, RecordKind.LESSON, uid)
        if entry:
            ledger.derive((RecordKind.LESSON, entry.row), [(RecordKind.SECTION, register.row)])
    return done


def _lesson(key: SegmentKey, record: SectionRecord, point: Point, auto: Auto) -> Lesson:
    kind: LessonKind = "dead-end" if dead_end(point.text) or dead_end(point.quote) else "lesson"
    return Lesson(
        text=point.text[:TEXT_MAX],
        kind=kind,
        at_us=record.start_us // 1000 * 1000,
        day=record.day,
        source="digest",
        by=agent_name(record.harness),
        project=record.project,
        evidence=key,
        status="active" if auto == "yes" else "draft",
    )
