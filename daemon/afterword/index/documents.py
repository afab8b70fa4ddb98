"""What the index holds, read from the ledger: articles, lessons, the sections of the diary, and what was said."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Protocol

import msgspec

from afterword.domain.ids import FactId, SegmentKey
from afterword.domain.items import PROSE_KINDS
from afterword.domain.section_edits import laid_over
from afterword.domain.sections import PARTS
from afterword.index.standing import DocumentKind
from afterword.store.ledger import lessons, section_edits, segments, sessions
from afterword.store.ledger.ledger import Ledger, RecordKind


class Part(msgspec.Struct, frozen=True):
    """A stretch of a document under one heading. `item` is the id (hex) of the item it is, where it is one."""

    text: str
    heading: str = ""
    item: str = ""


class Document(msgspec.Struct, frozen=True):
    """One thing that can be found. `ref` names it in its kind: a path in the vault, a fact's id, a section's key, a
    session's id.

    `session` is a session's id, empty for an article or a fact; `print` changes when the document does. `project`
    may be several, each on a line.
    """

    kind: DocumentKind
    ref: str
    print: str
    title: str
    day: str
    time_us: int
    project: str
    harness: str
    session: str
    parts: tuple[Part, ...]


class ArticleSource(Protocol):
    """Where articles come from; `app` fills it."""

    def prints(self) -> Mapping[str, str]:
        """Of every article: its ref (a path in the vault) → something that changes when its text does."""

    def load(self, ref: str) -> Document | None:
        """The article; None when it is gone by now."""


class NoArticles:
    """There are none."""

    def prints(self) -> Mapping[str, str]:
        return {}

    def load(self, ref: str) -> Document | None:
        del ref
        return None


def diary_prints(ledger: Ledger) -> dict[str, str]:
    """Of every section that stands: its key → its revision, and that of what a person changed in it."""
    rows = ledger.db.execute(
        f"SELECT key, rev FROM register WHERE kind = {int(RecordKind.SECTION)} AND forgotten = 0"
        " AND json_extract(value, '$.withdrawn_by') IS NULL"
    )
    edited = section_edits.revs(ledger)
    return {key: _diary_print(rev, edited.get(key, 0)) for key, rev in rows}


def _diary_print(rev: int, edited: int) -> str:
    return f"{rev}.{edited}" if edited else str(rev)


def load_diary(ledger: Ledger, key: str) -> Document | None:
    """A section of the diary as a person left it; None when it does not stand any more."""
    found = ledger.db.execute(
        "SELECT rev, value FROM register WHERE kind = ? AND key = ? AND forgotten = 0", (RecordKind.SECTION, key)
    ).fetchone()
    if found is None:
        return None
    record = msgspec.json.decode(found[1], type=segments.SectionRecord)
    if record.withdrawn_by:
        return None
    digest, _ = laid_over(record.digest, section_edits.get(ledger, SegmentKey(key)))
    parts = [Part(digest.context.text, "Context")]
    for field, label in PARTS:
        parts += [Part(point.text, label) for point in getattr(digest, field)]
    return Document(
        kind="diary",
        ref=key,
        print=_diary_print(found[0], section_edits.revs(ledger).get(SegmentKey(key), 0)),
        title=f"{record.project} {record.day}",
        day=record.day,
        time_us=record.start_us,
        project=record.project,
        harness=record.harness,
        session=record.session,
        parts=tuple(part for part in parts if part.text),
    )


LEARNED = next(label for field, label in PARTS if field == "lessons")


def lesson_prints(ledger: Ledger) -> dict[str, str]:
    """Of every fact that holds: its id → its revision, and that of what a person said of it."""
    revs = lessons.fact_revs(ledger)
    return {each.id: revs[each.id] for each in lessons.facts(ledger) if each.live} if revs else {}


def load_lesson(ledger: Ledger, its_id: str) -> Document | None:
    """A fact as it stands; None when it does not hold any more."""
    each = lessons.fact(ledger, FactId(its_id))
    if each is None or not each.live:
        return None
    fact = each.fact
    return Document(
        kind="lesson",
        ref=its_id,
        print=lessons.fact_rev(ledger, each.id),
        title=fact.topic.replace("-", " "),
        day=fact.updated,
        time_us=fact.at_us,
        project="\n".join(fact.projects),
        harness="",
        session="",
        parts=(Part(fact.text, LEARNED),),
    )


def sessions_by_age(ledger: Ledger) -> Iterator[tuple[str, int]]:
    """(id, time of the last thing in it) of every session with something live in it, newest first."""
    yield from ledger.db.execute(
        "SELECT s.id, max(i.time_us) AS last FROM session s JOIN membership m ON m.session = s.row AND m.state = 0"
        " JOIN item i ON i.row = m.item GROUP BY s.row ORDER BY last DESC, s.id"
    )


def load_session(ledger: Ledger, session_id: str) -> Document | None:
    """What was said in a session: its live prompts and replies in order. None without any."""
    found = sessions.load(ledger, "WHERE s.id = ?", (session_id,))
    if not found:
        return None
    session = found[0]
    project = session.facts.project
    digest = hashlib.blake2b(digest_size=12)
    digest.update(repr((session.facts.title, project, session.started_us)).encode("utf-8", "replace"))
    parts = []
    last_us = 0
    for entry in segments.owned(ledger, session.row):
        if entry.member.abandoned or entry.member.kind not in PROSE_KINDS:
            continue
        text, _, _ = segments.text_of(ledger, entry.row)
        if text.strip():
            digest.update(entry.member.item + b"%d" % entry.rev)
            parts.append(Part(text, item=entry.member.item.hex()))
            last_us = max(last_us, entry.member.time_us)
    if not parts:
        return None
    return Document(
        kind="message",
        ref=session.id,
        print=digest.hexdigest(),
        title=session.facts.title,
        day="",
        time_us=session.started_us if session.started_us is not None else last_us,
        project=project,
        harness=session.harness,
        session=session.id,
        parts=tuple(parts),
    )


def heads(ledger: Ledger) -> str:
    """How far every machine's log has come: what changed between two of these is in the log."""
    return json.dumps({its_id: ledger.head(row) for row, (its_id, _) in ledger.origins().items()}, sort_keys=True)


def changed_sessions(ledger: Ledger, since: str) -> set[str]:
    """The ids of the sessions that the log's entries after `since` (of `heads`) touch."""
    before: dict[str, int] = json.loads(since or "{}")
    found: set[str] = set()
    for row, its_id in ledger.db.execute("SELECT row, id FROM origin").fetchall():
        for kind, of_entry in _SESSIONS_OF.items():
            rows = ledger.db.execute(
                f"SELECT DISTINCT s.id FROM log l {of_entry} WHERE l.origin = ? AND l.n > ? AND l.kind = ?",
                (row, before.get(its_id, 0), kind),
            )
            found.update(its_session for (its_session,) in rows)
    return found


_SESSIONS_OF = {
    RecordKind.SESSION: "JOIN session s ON s.row = l.ref",
    RecordKind.ITEM: "JOIN membership m ON m.item = l.ref JOIN session s ON s.row = m.session",
    RecordKind.MEMBERSHIP: "JOIN membership m ON m.row = l.ref JOIN session s ON s.row = m.session",
}
