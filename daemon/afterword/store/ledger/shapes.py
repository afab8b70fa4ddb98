"""What the key and the value of a register from another machine must look like, by kind: as whoever reads them takes
them for granted. Fields nobody knows are no fault.
"""

import datetime as dt
import re
from typing import Any, Final

import msgspec

from afterword.domain.articles import Article, Edits, Use
from afterword.domain.lessons import Fact, FactEdits, Lesson, LessonEdits
from afterword.domain.section_edits import SectionEdits
from afterword.redact.text import Redacted
from afterword.store.ledger import partings, retractions, reviews, staleness, tombstones
from afterword.store.ledger.articles import BuildRecord
from afterword.store.ledger.ledger import RecordKind
from afterword.store.ledger.segments import DigestRecord, SectionRecord

_UID: Final = r"[0-9a-f]{12}"
_ID: Final = r"[0-9a-f]{32}"
_EDITS: Final = "/edits"
_KEYS: Final[dict[RecordKind, re.Pattern[str]]] = {
    RecordKind.ORIGIN: re.compile(_ID),
    RecordKind.SESSION: re.compile(_ID),
    RecordKind.ITEM: re.compile(_ID),
    RecordKind.MEMBERSHIP: re.compile(rf"{_ID}/{_ID}"),
    RecordKind.SETTING: re.compile(r"[a-z][a-z0-9_.-]*(?:/[^/]+)*"),
    RecordKind.SEGMENT: re.compile(rf"s-{_UID}(?:/edits)?"),
    RecordKind.DIGEST: re.compile(rf"s-{_UID}"),
    RecordKind.SECTION: re.compile(rf"s-{_UID}"),
    RecordKind.BUILD: re.compile(r"\d{4}-\d\d-\d\d"),
    RecordKind.ARTICLE: re.compile(rf"a-{_UID}(?:/edits)?"),
    RecordKind.LESSON: re.compile(rf"l-{_UID}(?:/edits)?"),
    RecordKind.FACT: re.compile(rf"f-{_UID}(?:/edits)?"),
    RecordKind.TOMBSTONE: re.compile(tombstones.KEY),
    RecordKind.HOLD: re.compile(rf"{_ID}/{_ID}"),
}
_VALUES: Final[dict[RecordKind, Any]] = {
    RecordKind.DIGEST: DigestRecord,
    RecordKind.SECTION: SectionRecord,
    RecordKind.BUILD: BuildRecord,
    RecordKind.ARTICLE: Article,
    RecordKind.TOMBSTONE: tombstones.Value,
    RecordKind.LESSON: Lesson,
    RecordKind.FACT: Fact,
    RecordKind.HOLD: list[str],
}
_EDITED: Final[dict[RecordKind, Any]] = {
    RecordKind.SEGMENT: SectionEdits,
    RecordKind.ARTICLE: Edits,
    RecordKind.LESSON: LessonEdits,
    RecordKind.FACT: FactEdits,
}
_SETTINGS: Final[dict[str, Any]] = {
    "compile.on": str,
    "vault.zone": list[tuple[str, str]],
    "use": Use,
    "stale": staleness.Mark,
    "review": reviews.Reviewed,
    "retraction": retractions.Retraction,
    "parted": partings.Parting,
}
_NAME: Final = re.compile(r"[^\x00-\x1f/\\:|#^\[\]]{0,200}")
"""A name that can become a file's, and stand in a link."""
_TIME: Final = re.compile(r"\d\d:\d\d")


def _check_zone(name: str) -> None:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # noqa: PLC0415

    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as err:
        raise ValueError("a time zone that this system does not know") from err


def check_key(kind: RecordKind, key: str) -> None:
    """Raise ValueError unless a record of this kind can have this key; the message does not tell it."""
    if not _KEYS[kind].fullmatch(key):
        raise ValueError("its key is none of its kind")


def check(kind: RecordKind, key: str, value: Redacted) -> None:
    """Raise ValueError unless a register of this kind, by this key, can have this value (JSON); the message tells no
    value."""
    if kind is RecordKind.SETTING:
        shape = _SETTINGS.get(key.partition("/")[0])
    else:
        shape = (_EDITED if key.endswith(_EDITS) else _VALUES).get(kind)
    if shape is None:
        return
    read = msgspec.json.decode(value.encode(), type=shape)
    if isinstance(read, SectionRecord):
        if not (_KEYS[RecordKind.BUILD].fullmatch(read.day) and _TIME.fullmatch(read.time)):
            raise ValueError("day, time: none there is")
        dt.date.fromisoformat(read.day)
    elif isinstance(read, Article) and (read.slug.startswith(".") or not _NAME.fullmatch(read.slug)):
        raise ValueError("slug: no name of a file")
    elif key == "vault.zone":
        for _, name in read:
            _check_zone(name)
    elif kind is RecordKind.BUILD:
        dt.date.fromisoformat(key)
