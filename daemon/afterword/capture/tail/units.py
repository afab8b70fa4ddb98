"""Lines that are decoded together: where a unit ends, and the mark that stands before the one that is still open."""

from collections.abc import Callable

import msgspec

from afterword.capture.tail.content import Content
from afterword.capture.tail.lines import Line
from afterword.capture.tail.prefix import Mark, PrefixHash

UNIT_MAX = 4 << 20
_BLOCK = 1 << 20


class Held(msgspec.Struct, frozen=True, gc=False):
    """A line of the open unit with its number in the file."""

    number: int
    line: Line


class Units:
    """The open unit of a file that is read, and the position before it, which only moves over whole units."""

    def __init__(self, content: Content, prefix: PrefixHash, ends: Callable[[bytes, bytes], bool]) -> None:
        self._content = content
        self._prefix = prefix
        self._ends = ends
        self._size = 0
        self.held: list[Held] = []

    def ended_by(self, line: Line) -> bool:
        """Whether the open unit is over now that this line follows."""
        if not self.held:
            return False
        return self._size > UNIT_MAX or self._ends(self.held[-1].line.data, line.data)

    def hold(self, number: int, line: Line) -> None:
        self.held.append(Held(number, line))
        self._size += len(line.data)

    def pass_to(self, offset: int) -> Mark:
        """The open unit is done: the position moves to this byte, where the next unit begins."""
        self.held = []
        self._size = 0
        while self._prefix.offset < offset:
            data = self._content.pread(min(_BLOCK, offset - self._prefix.offset), self._prefix.offset)
            if not data:
                break  # cut off while it is read: the next look finds that the bytes are others
            self._prefix.update(data)
        return self._prefix.mark()
