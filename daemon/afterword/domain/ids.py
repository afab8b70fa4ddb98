"""Identities: 128-bit hashes over a harness's own key tuples, fixed at first sight.

No text and no path goes into one (capture: "Identity"), so neither a new redaction rule nor a moved file
changes an id, and two machines that read the same transcript give the same item the same id.
"""

import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from typing import NewType

import msgspec

ItemId = NewType("ItemId", bytes)
"""16 bytes."""
SessionId = NewType("SessionId", str)
"""32 hex digits."""
SegmentKey = NewType("SegmentKey", str)
"""`s-` and 12 hex digits."""
ArticleUid = NewType("ArticleUid", str)
"""`a-` and 12 hex digits."""
LessonUid = NewType("LessonUid", str)
"""`l-` and 12 hex digits."""
FactId = NewType("FactId", str)
"""`f-` and 12 hex digits."""
OriginId = NewType("OriginId", str)
"""32 hex digits, random, one per machine and ledger."""

KeyPart = str | int


_encoded = msgspec.json.Encoder().encode


def _hash128(person: bytes, parts: Sequence[KeyPart]) -> bytes:
    try:
        data = _encoded(parts)
    except (UnicodeEncodeError, TypeError):
        # Transcripts hold lone surrogates now and then; an id must still come out. The quick way takes plain `str`.
        data = json.dumps(list(parts), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16, person=person).digest()


def item_id(harness: str, kind: str, key: Sequence[KeyPart]) -> ItemId:
    """The id of the item with this key tuple: BLAKE2b-128 over (harness, kind, tuple)."""
    return ItemId(_hash128(b"afterword-item", (harness, kind, *key)))


def session_id(harness: str, native: str) -> SessionId:
    """The id of a session. `native` is the harness's id; a sub-agent's is `parent/agent`."""
    return SessionId(_hash128(b"afterword-sess", (harness, native)).hex())


def segment_key(first_item: ItemId) -> SegmentKey:
    """The key of the segment that starts with this item."""
    digest = hashlib.blake2b(first_item, digest_size=6, person=b"afterword-segm").hexdigest()
    return SegmentKey(f"s-{digest}")


@lru_cache(maxsize=65536)
def article_uid(section: SegmentKey, quote: str) -> ArticleUid:
    """The uid of the article whose first evidence is this quote of this section."""
    digest = hashlib.blake2b(f"{section} {quote}".encode(), digest_size=6, person=b"afterword-artic").hexdigest()
    return ArticleUid(f"a-{digest}")


def connection_uid(one: ArticleUid, other: ArticleUid) -> ArticleUid:
    """The uid of the connection that was first seen between these two articles, in either order."""
    first, second = sorted((one, other))
    digest = hashlib.blake2b(f"{first} {second}".encode(), digest_size=6, person=b"afterword-connec").hexdigest()
    return ArticleUid(f"a-{digest}")


def digest_lesson_uid(section: SegmentKey, quote: str) -> LessonUid:
    """The uid of the lesson that a digest drew from this quote: the same on every machine that has the section."""
    digest = hashlib.blake2b(f"{section} {quote}".encode(), digest_size=6, person=b"afterword-lesson").hexdigest()
    return LessonUid(f"l-{digest}")


def dropped_lesson_uid(name: str) -> LessonUid:
    """The uid of the lesson in a file that a person dropped into the journal without one: made from the file's name."""
    data = name.encode("utf-8", "surrogatepass")
    return LessonUid(f"l-{hashlib.blake2b(data, digest_size=6, person=b'afterword-dropp').hexdigest()}")


def fact_id(first: LessonUid) -> FactId:
    """The id of the fact that this lesson was the first to state."""
    return FactId(f"f-{first.removeprefix('l-')}")


def topic_uid(slug: str) -> str:
    """The uid of a topic's note: `t-` and 12 hex digits."""
    return f"t-{hashlib.blake2b(slug.encode(), digest_size=6, person=b'afterword-topic').hexdigest()}"
