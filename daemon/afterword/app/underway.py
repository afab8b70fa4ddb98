"""How far a long reading is: noted by who reads, about once a second, for `status` and whoever else asks meanwhile."""

import time
from typing import Literal, TypeAlias

import msgspec

from afterword.store.ledger.ledger import Ledger

_KEY = "underway"
_EVERY_S = 1.0


Phase: TypeAlias = Literal["previewing", "reading", "indexing"]


class Underway(msgspec.Struct, frozen=True):
    """A reading that takes long. `phase` counts files that are looked through first (previewing), bytes of files
    (reading) or rows of items (indexing); the rate is in these a second, and None as long as nobody knows; so is
    `left_s`."""

    phase: Phase
    done: int
    of: int
    rate: float | None
    left_s: int | None


def underway(ledger: Ledger) -> Underway | None:
    """What was noted last. A reading that was killed noted it as well: ask only while somebody writes."""
    found = ledger.meta(_KEY)
    return msgspec.json.decode(found.encode(), type=Underway) if isinstance(found, str) and found else None


class Note:
    """Notes it, where there is so much to read that somebody might ask."""

    def __init__(self, ledger: Ledger, from_bytes: int) -> None:
        self._ledger = ledger
        self._from_bytes = from_bytes
        self._phase = ""
        self._large = False
        self._began = self._due = 0.0

    def previewing(self, done: int, of: int) -> None:
        """So many files of so many are looked through; that is done where there is much only."""
        self._large = True
        self._tell("previewing", done, of)

    def reading(self, done: int, of: int) -> None:
        """So many bytes of so many are read."""
        self._large = self._large or (of >= self._from_bytes and of > 0)
        self._tell("reading", done, of)

    def indexing(self, done: int, of: int) -> None:
        """All is read; so many rows of so many are indexed."""
        self._tell("indexing", done, of)

    def _tell(self, phase: Phase, done: int, of: int) -> None:
        now = time.monotonic()
        if phase != self._phase:
            self._phase, self._began, self._due = phase, now, now
        if not self._large or now < self._due:
            return
        self._due = now + _EVERY_S
        rate = done / (now - self._began) if done and now > self._began else None
        left_s = round((of - done) / rate) if rate else None
        self._put(msgspec.json.encode(Underway(phase, done, of, rate and round(rate, 1), left_s)).decode())

    def over(self) -> None:
        """Nothing is underway any more, be it from a reading that was killed."""
        if self._ledger.meta(_KEY):
            self._put("")

    def _put(self, value: str) -> None:
        with self._ledger.transaction():
            self._ledger.set_meta(_KEY, value)
