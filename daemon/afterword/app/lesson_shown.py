"""One lesson whole: what it says, whom it concerns, and the entries of the journal it comes from."""

from collections.abc import Sequence
from typing import Any

from afterword.domain.ids import FactId, LessonUid, topic_uid
from afterword.domain.lessons import CurrentFact, CurrentLesson
from afterword.store.ledger import lesson_files, lessons, sessions, views
from afterword.store.ledger.ledger import Ledger


def lesson_named(ledger: Ledger, its_id: str) -> CurrentFact | CurrentLesson | None:
    """The fact (f-…) or entry (l-…) of this id; None where it is no such id, or there is none."""
    its_id = its_id.removeprefix("^")  # as it stands behind a search result
    if lessons.FACT_ID.fullmatch(its_id):
        return lessons.fact(ledger, FactId(its_id))
    return lessons.lesson(ledger, LessonUid(its_id)) if lessons.UID.fullmatch(its_id) else None


def lesson_place(ledger: Ledger, found: CurrentFact | CurrentLesson) -> tuple[str, str | None] | None:
    """(path in the vault, block) of the topic a fact stands in, or of an entry's file; None when it is in none."""
    key = topic_uid(found.fact.topic) if isinstance(found, CurrentFact) else found.uid
    file = lesson_files.get(ledger, key)
    if file is None or file.state:
        return None
    return file.path, found.id if isinstance(found, CurrentFact) else None


def lesson_fields(ledger: Ledger, found: CurrentFact | CurrentLesson) -> dict[str, Any]:
    """The fields of `show --json` for a lesson. An entry's are those of the one entry it is."""
    place = lesson_place(ledger, found)
    common = {"reason": found.edits.retract_reason or None, "path": place[0] if place else None}
    if isinstance(found, CurrentLesson):
        entry = found.lesson
        return common | {
            "id": found.uid, "kind": entry.kind, "text": entry.text, "topic": entry.topic or None,
            "projects": [entry.project] if entry.project else [], "agents": list(entry.agents),
            "machine": entry.machine or None, "status": entry.status, "pinned": entry.pinned,
            "created": entry.day, "updated": entry.day, "superseded_by": None, "entries": _entries(ledger, [found]),
        }  # fmt: skip
    fact = found.fact
    drawn = [each for uid in fact.lessons if (each := lessons.lesson(ledger, uid))]
    return common | {
        "id": found.id, "kind": fact.kind, "text": fact.text, "topic": fact.topic, "projects": list(fact.projects),
        "agents": list(fact.agents), "machine": fact.machine or None, "status": fact.status, "pinned": fact.pinned,
        "created": fact.created, "updated": fact.updated, "superseded_by": fact.superseded_by or None,
        "entries": _entries(ledger, drawn),
    }  # fmt: skip


def _entries(ledger: Ledger, found: Sequence[CurrentLesson]) -> list[dict[str, Any]]:
    rows = []
    for each in found:
        entry = each.lesson
        said_in = views.session_of_section(ledger, entry.evidence) if entry.source == "digest" else ""
        session = sessions.head(ledger, said_in) if said_in else None
        rows.append(
            {
                "id": each.uid,
                "day": entry.day,
                "source": entry.source,
                "by": entry.by or None,
                "text": entry.text,
                "status": entry.status,
                "evidence": entry.evidence or None,
                "session": session.shown_native if session else None,
            }
        )
    return rows
