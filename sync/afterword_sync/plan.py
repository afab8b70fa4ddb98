"""Who lacks what: pure functions over vectors (`{origin: highest number below which none is missing}`)."""

from collections.abc import Mapping

import msgspec


class Range(msgspec.Struct, frozen=True):
    """Numbers `first` to `last` of one origin, both included."""

    origin: str
    first: int
    last: int

    @property
    def records(self) -> int:
        """How many numbers these are."""
        return self.last - self.first + 1


def lacking(ours: Mapping[str, int], theirs: Mapping[str, int]) -> list[Range]:
    """What somebody with the vector `theirs` lacks of what `ours` has, in the order of origins. Nothing is echoed."""
    return [
        Range(origin, theirs.get(origin, 0) + 1, last)
        for origin, last in sorted(ours.items())
        if last > theirs.get(origin, 0)
    ]
