"""Where a session is cut: a pure function of its items, so a backfill, a killed run and a second machine agree."""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from afterword.domain.ids import ItemId, SegmentKey, segment_key
from afterword.domain.items import Kind, SaidBy


class Member(msgspec.Struct, frozen=True, gc=False):
    """An owned item of the session, abandoned ones included, in the order (position, id)."""

    item: ItemId
    kind: Kind
    said_by: SaidBy
    time_us: int
    abandoned: bool


class Segment(msgspec.Struct, frozen=True):
    """A stretch of a session. Times are the running maximum, so they never go back."""

    key: SegmentKey
    members: tuple[Member, ...]
    start_us: int
    end_us: int

    @property
    def written(self) -> bool:
        """Whether it gets a section: only with a live prompt of a person."""
        return any(m.kind is Kind.PROMPT and m.said_by is SaidBy.PERSON and not m.abandoned for m in self.members)


def cut(members: Sequence[Member], gap_us: int, day: Callable[[int], str]) -> list[Segment]:
    """The segments of a session, in order.

    A cut lies where the time since the item before exceeds `gap_us`, after a `summary` (compaction), and where
    `day` (the vault's local day of a time) changes. Abandoned items count, so that a rewind moves no key.
    """
    segments: list[Segment] = []
    run: list[Member] = []
    start_us = clock_us = 0
    today = ""
    for member in members:
        now_us = max(clock_us, member.time_us) if run or segments else member.time_us
        its_day = day(now_us)
        if run and (now_us - clock_us > gap_us or run[-1].kind is Kind.SUMMARY or its_day != today):
            segments.append(_close(run, start_us, clock_us))
            run = []
        if not run:
            start_us = now_us
        run.append(member)
        clock_us, today = now_us, its_day
    if run:
        segments.append(_close(run, start_us, clock_us))
    return segments


def _close(run: Iterable[Member], start_us: int, end_us: int) -> Segment:
    members = tuple(run)
    return Segment(segment_key(members[0].item), members, start_us, end_us)
