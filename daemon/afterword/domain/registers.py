"""The one merge rule: what can change has a key and revisions, and the highest one stands."""

from enum import IntEnum
from typing import TypeAlias

Standing: TypeAlias = tuple[bool, int, int, str]
"""(forgotten, rank, rev, origin): compared in this order, the highest wins, on one machine and between machines."""


class Rank(IntEnum):
    """Who says it. Numbers are stored."""

    ENGINE = 1
    PARTIAL = 2
    """A short transcript, a superseded store, masked text."""
    COMPLETE = 3
    PERSON = 4


def wins(new: Standing, old: Standing | None) -> bool:
    """Whether a revision with standing `new` replaces the one with `old`."""
    return old is None or new > old
