"""Time: UTC microseconds inside, the vault's local day only to name a note."""

import datetime as dt
import functools
import os
import time
from collections.abc import Callable, Sequence
from typing import TypeAlias

from afterword.domain.errors import UsageError

Clock: TypeAlias = Callable[[], int]
"""Now, in UTC microseconds."""

SECOND_US = 1_000_000
DAY_US = 86_400_000_000
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_FIRST_US = -62_000_000_000_000_000  # in the year 5
_LAST_US = 253_000_000_000_000_000  # in the year 9987


def system_clock() -> int:
    return time.time_ns() // 1000


def clock_from(env: dict[str, str] | os._Environ[str]) -> Clock:
    """The system's clock, or a clock that stands still at `AFTERWORD_NOW` (RFC 3339)."""
    fixed = env.get("AFTERWORD_NOW")
    if not fixed:
        return system_clock
    at = parse_rfc3339(fixed)
    if at is None:
        raise UsageError(f"AFTERWORD_NOW is not a time: {fixed!r}", "write it like 2026-06-10T14:20:00Z")
    return lambda: at


def parse_rfc3339(text: str) -> int | None:
    """UTC microseconds of an RFC 3339 time; without an offset it is taken as UTC. None when it is not one."""
    try:
        at = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=dt.UTC)
    try:
        return round((at - _EPOCH) / dt.timedelta(microseconds=1))
    except OverflowError:
        return None


def format_rfc3339(at_us: int) -> str:
    """RFC 3339 with `Z`, milliseconds when there are any."""
    at = _EPOCH + dt.timedelta(microseconds=min(max(at_us, _FIRST_US), _LAST_US))
    return at.isoformat(timespec="milliseconds" if at_us % 1_000_000 else "seconds").replace("+00:00", "Z")


class Zones:
    """The vault's zone over time: a list of (first day it holds, IANA name). A change moves no day before it."""

    def __init__(self, changes: Sequence[tuple[str, str]], day_starts_at_min: int = 0) -> None:
        """`changes` are (`YYYY-MM-DD` or "" for always, IANA name) in order; minutes after midnight start a day."""
        self._named = tuple(changes)
        self._shift = dt.timedelta(minutes=day_starts_at_min)

    @functools.cached_property
    def _changes(self) -> list[tuple[str, dt.tzinfo]]:
        # Looked up when a day is asked for: a search for a script asks for none, and this takes 5 ms.
        return [(since, _zone(name)) for since, name in self._named] or [("", dt.UTC)]

    def become(self, changes: Sequence[tuple[str, str]]) -> bool:
        """Hold other zones from now on, for everybody who was given these; whether they are others."""
        if self._named == tuple(changes):
            return False
        self._named = tuple(changes)
        self.__dict__.pop("_changes", None)
        return True

    def local(self, at_us: int) -> dt.datetime:
        """The local time in the zone that holds on that day. Times no calendar has are moved to its ends."""
        at_us = min(max(at_us, _FIRST_US), _LAST_US)
        at = _EPOCH + dt.timedelta(microseconds=at_us)
        chosen = at.astimezone(self._changes[0][1])
        for since, zone in self._changes:
            there = at.astimezone(zone)
            if since <= (there - self._shift).date().isoformat():
                chosen = there
        return chosen

    def day(self, at_us: int) -> str:
        """The local day as `YYYY-MM-DD`, after the vault's start of day."""
        return (self.local(at_us) - self._shift).date().isoformat()

    def start_of(self, day: str) -> int | None:
        """When a local day `YYYY-MM-DD` begins, UTC microseconds; None when it is no day."""
        try:
            midnight = dt.datetime.combine(dt.date.fromisoformat(day), dt.time(), self._changes[0][1])
        except ValueError:
            return None
        zone = next((zone for since, zone in reversed(self._changes) if since <= day), self._changes[0][1])
        start = midnight.replace(tzinfo=zone) + self._shift
        return round((start - _EPOCH) / dt.timedelta(microseconds=1))


def _zone(name: str) -> dt.tzinfo:
    if name == "UTC":
        return dt.UTC
    from zoneinfo import ZoneInfo  # noqa: PLC0415

    return ZoneInfo(name)
