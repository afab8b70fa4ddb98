"""An entry of the journal as a file: its name, its Markdown, and what is read back out of one, checked.

What is wrong with a file is said and the file left alone; a file without front matter is a lesson in plain words.
"""

import contextlib
import datetime as dt
import re
from collections.abc import Mapping
from typing import Final, TypeAlias, TypeVar, get_args

import msgspec

from afterword.domain.clock import format_rfc3339, parse_rfc3339
from afterword.domain.escape import plain, prose, unescape
from afterword.domain.frontmatter import Value, Word, emit
from afterword.domain.ids import LessonUid
from afterword.domain.lessons import GENERAL, TEXT_MAX, Lesson, LessonKind, LessonStatus, Source, agent_name
from afterword.domain.slugs import article_slug, slug

W = TypeVar("W", bound=str)

FILE_MAX_BYTES: Final = 64 << 10
_UID: Final = re.compile(r"l-[0-9a-f]{12}")
_REFERENCE: Final = re.compile(r"[lf]-[0-9a-f]{4,12}")
_KINDS: Final[tuple[LessonKind, ...]] = get_args(LessonKind)
_SOURCES: Final[tuple[Source, ...]] = get_args(Source)
_STATUSES: Final[tuple[LessonStatus, ...]] = get_args(LessonStatus)


class Bad(msgspec.Struct, frozen=True):
    """Why a file is no entry, and what would make it one."""

    problem: str


class Entry(msgspec.Struct, frozen=True):
    """What a file says. `uid` is empty where it names none: then it is a person's own file. `reason` is
    what they typed beside `status: retracted`."""

    uid: str
    lesson: Lesson
    reason: str = ""


Read: TypeAlias = Entry | Bad


def name_of(uid: LessonUid, lesson: Lesson, local: dt.datetime) -> str:
    """The name of its file. `local` is the moment in the vault's zone."""
    agent = (lesson.agents[0] if len(lesson.agents) == 1 else "") or lesson.by or "all"
    topic = slug(lesson.topic or lesson.project, fallback=GENERAL)
    return f"{local:%Y-%m-%d-%H%M}-{slug(agent)}-{topic}-{uid.removeprefix('l-')}.md"


def topic_slug(text: str) -> str:
    """A topic as a slug; empty for nothing."""
    return article_slug(text) if text.strip() else ""


def markdown(uid: LessonUid, lesson: Lesson) -> bytes:
    """The file of an entry, as we write it."""
    front: list[tuple[str, Value]] = [
        ("type", Word("lesson")),
        ("uid", uid),
        ("date", dt.date.fromisoformat(lesson.day)),
        ("at", format_rfc3339(lesson.at_us)),
        ("kind", Word(lesson.kind)),
        ("source", Word(lesson.source)),
    ]
    front += [("by", lesson.by)] if lesson.by else []
    front += [("agents", list(lesson.agents))] if lesson.agents else []
    front += [("projects", [lesson.project])] if lesson.project else []
    front += [("topic", lesson.topic)] if lesson.topic else []
    front += [("machine", lesson.machine)] if lesson.machine else []
    front += [("evidence", lesson.evidence)] if lesson.evidence else []
    front += [("supersedes", list(lesson.supersedes))] if lesson.supersedes else []
    front += [("status", Word(lesson.status))]
    front += [("pinned", True)] if lesson.pinned else []
    return f"{emit(front)}\n{prose(lesson.text)}\n".encode()


def read(values: Mapping[str, object] | None, body: bytes, now: tuple[int, str]) -> Read:
    """What a file says. `values` is its parsed front matter, None when that cannot be read; `now` is the time and the
    local day that hold where it names none: those of the file itself."""
    if values is None:
        return Bad("its front matter cannot be read as YAML, or says something twice")
    try:
        text = plain(unescape(body.decode("utf-8")))
    except UnicodeDecodeError:
        return Bad("it is not UTF-8")
    if not text:
        return Bad("it says nothing")
    if len(text) > TEXT_MAX:
        return Bad(f"it has {len(text):,} characters; a lesson says one thing, in {TEXT_MAX:,} at most")
    said = _Front(values)
    kind = said.one_of("kind", _KINDS, "lesson")
    status = said.one_of("status", _STATUSES, "active")
    source = said.one_of("source", _SOURCES, "file")
    uid = said.text("uid")
    if said.text("type") not in ("", "lesson"):
        said.problem = said.problem or f"its type is {said.text('type')!r}, not lesson"
    if uid and not _UID.fullmatch(uid):
        said.problem = said.problem or f"uid: {uid!r} is no id of a lesson; leave it out"
    at_us, day = said.moment(now)
    references = said.texts("supersedes")
    for each in references:
        if not _REFERENCE.fullmatch(each):
            said.problem = said.problem or f"supersedes: {each!r} is no id of a fact (f-…) or a lesson (l-…)"
    projects = said.texts("projects") or said.texts("project")
    pinned = values.get("pinned") is True
    agents = tuple(dict.fromkeys(filter(None, map(agent_name, said.texts("agents") or said.texts("agent")))))
    lesson = Lesson(
        text=text,
        kind=kind,
        at_us=at_us,
        day=day,
        source=source if uid else "file",
        by=agent_name(said.text("by")),
        agents=agents,
        project=slug(projects[0], fallback="") if projects else "",
        topic=topic_slug(said.text("topic")),
        machine=slug(said.text("machine"), fallback=""),
        evidence=plain(said.text("evidence"))[:300],
        supersedes=tuple(references),
        status=status,
        pinned=pinned,
    )
    reason = plain(said.text("retract_reason"))
    return Bad(said.problem) if said.problem else Entry(uid, lesson, reason)


class _Front:
    """Front matter as it is asked for; the first thing wrong with it is kept."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values
        self.problem = ""

    def text(self, key: str) -> str:
        value = self._values.get(key)
        if value is None:
            return ""
        if isinstance(value, bool | list | dict):
            self.problem = self.problem or f"{key}: a word is wanted"
            return ""
        return str(value).strip()

    def texts(self, key: str) -> list[str]:
        value = self._values.get(key)
        if value is None or value == "":
            return []
        row = value if isinstance(value, list) else [value]
        if any(isinstance(each, bool | list | dict) for each in row):
            self.problem = self.problem or f"{key}: a word or a list of words is wanted"
            return []
        return [str(each).strip() for each in row if each is not None]

    def one_of(self, key: str, allowed: tuple[W, ...], usual: W) -> W:
        found = self.text(key)
        for word in allowed:
            if word == found:
                return word
        if found:
            self.problem = self.problem or f"{key}: {found!r} is none of {', '.join(allowed)}"
        return usual

    def moment(self, now: tuple[int, str]) -> tuple[int, str]:
        at = self._values.get("at")
        at_us = parse_rfc3339(str(at)) if at is not None else None
        if at is not None and at_us is None:
            self.problem = self.problem or f"at: {at!s:.40} is no time"
        day = self._values.get("date")
        if isinstance(day, dt.datetime):
            day = day.date()
        if isinstance(day, str):
            with contextlib.suppress(ValueError):
                day = dt.date.fromisoformat(day.strip())
        if day is not None and not isinstance(day, dt.date):
            self.problem = self.problem or f"date: {day!s:.40} is no day; write it like 2026-08-13"
            day = None
        found = day.isoformat() if day is not None else ""
        if at_us is None and found:
            at_us = parse_rfc3339(f"{found}T12:00:00Z") if found != now[1] else now[0]
        return (at_us if at_us is not None else now[0]), found or now[1]
