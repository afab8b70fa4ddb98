"""What an exchange did, and how far it is: values for whoever shows them."""

from collections.abc import Callable
from enum import StrEnum
from typing import TypeAlias

import msgspec


class Way(StrEnum):
    """Which way records go, as seen from here."""

    IN = "in"
    OUT = "out"


class Moved(msgspec.Struct, frozen=True):
    """Records of one origin that went one way."""

    origin: str
    first: int
    last: int
    records: int  # numbers that were handed over
    new: int  # those that the receiver did not have


class Step(msgspec.Struct, frozen=True):
    """How far an exchange is."""

    way: Way
    origin: str  # of the batch that was committed just now
    done: int  # records of all origins, this way
    total: int


Progress: TypeAlias = Callable[[Step], None]


def silent(step: Step) -> None:
    """The `Progress` that shows nothing."""


class Exchanged(msgspec.Struct, frozen=True):
    """What a conversation with a peer brought. With a dry run: what it would bring, nothing moved."""

    peer: str  # its origin; "" when it never said
    name: str  # what it calls itself
    sent: tuple[Moved, ...]
    received: tuple[Moved, ...]
    early: int = 0  # records taken out of turn, tombstones; most of them are in `received` as known ones


class Tally:
    """Adds batches up to a `Moved` for each origin."""

    def __init__(self) -> None:
        self._moved: dict[str, Moved] = {}

    def add(self, origin: str, first: int, last: int, new: int) -> None:
        """Count numbers `first` to `last`, of which `new` were new."""
        before = self._moved.get(origin, Moved(origin, first, last, 0, 0))
        self._moved[origin] = Moved(
            origin,
            min(before.first, first),
            max(before.last, last),
            before.records + last - first + 1,
            before.new + new,
        )

    @property
    def moved(self) -> tuple[Moved, ...]:
        """In the order in which the origins came first."""
        return tuple(self._moved.values())

    @property
    def records(self) -> int:
        """Of all origins."""
        return sum(moved.records for moved in self._moved.values())
