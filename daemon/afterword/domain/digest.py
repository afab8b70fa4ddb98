"""The write-up of one segment, and what it is made from."""

import msgspec

from afterword.domain.ids import SegmentKey
from afterword.domain.items import ExitStatus, Kind, SaidBy


class Point(msgspec.Struct, frozen=True):
    """One statement of a digest: `quote` is found in one of `items` (white space normalised).

    `items` are item ids as hex.
    """

    text: str
    items: tuple[str, ...]
    quote: str


class Digest(msgspec.Struct, frozen=True):
    """Context is always there; the other parts may be empty."""

    context: Point
    exchanges: tuple[Point, ...] = ()
    decisions: tuple[Point, ...] = ()
    lessons: tuple[Point, ...] = ()
    actions: tuple[Point, ...] = ()


class Passage(msgspec.Struct, frozen=True):
    """One live item of the segment as the engine sees it: redacted, output trimmed."""

    item: str
    kind: Kind
    text: str
    said_by: SaidBy
    path: str | None = None
    exit_status: ExitStatus = None


class DigestInput(msgspec.Struct, frozen=True):
    """A due segment in order, plus the last replies of the sub-agents that ran in it."""

    key: SegmentKey
    harness: str
    project: str
    title: str
    passages: tuple[Passage, ...]
    reports: tuple[Passage, ...] = ()
