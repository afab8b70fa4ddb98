"""The bytes of a line log, plain or compressed: all positions count bytes of the log itself, never of its container.

A compressed log is read as a stream, from its start again where somebody looks back, so that memory is bounded by a
chunk and no plain copy of it is ever written anywhere.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol, cast

import zstandard

PACKED = ".zst"
UNPACKED_MAX = 4 << 30
"""What a compressed log may grow to (bytes); what follows is left out."""
_DAMAGED = "the compressed file is damaged"
_PIECE = 1 << 20
_WINDOW_MAX = 1 << 27


class Content(Protocol):
    """A log that is open for reading."""

    found: os.stat_result
    """The file as it was when it was opened; a compressed one's size says nothing about the log's."""

    def pread(self, size: int, pos: int) -> bytes:
        """Up to `size` bytes from `pos`; less only at the end."""

    def seek(self, pos: int) -> None:
        """Go on reading from `pos`."""

    def read(self, size: int) -> bytes:
        """Up to `size` bytes from where the reading is; none at the end."""

    def holds(self, size: int) -> bool:
        """Whether the log may be as long as this."""

    def cut(self) -> bool:
        """Whether the reading came to an end although there was more."""


def log_name(path: Path) -> Path:
    """The name a log has, whether it is compressed now or not: both are one source."""
    return path.with_suffix("") if str(path).endswith(PACKED) and path.suffix == PACKED else path


@contextmanager
def opened(path: Path) -> Iterator[Content]:
    """The log in this file.

    Raises:
        OSError: it cannot be opened or read, is no regular file, or what is compressed in it is damaged.
    """
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise OSError("not a regular file")
        yield Packed(fd, found) if path.suffix == PACKED else Plain(fd, found)
    finally:
        os.close(fd)


class Plain:
    """A log as it lies in its file."""

    def __init__(self, fd: int, found: os.stat_result) -> None:
        self._fd = fd
        self.found = found

    def pread(self, size: int, pos: int) -> bytes:
        return os.pread(self._fd, size, pos)

    def seek(self, pos: int) -> None:
        os.lseek(self._fd, pos, os.SEEK_SET)

    def read(self, size: int) -> bytes:
        return os.read(self._fd, size)

    def holds(self, size: int) -> bool:
        return self.found.st_size >= size

    def cut(self) -> bool:
        return False


class Packed:
    """A log compressed by zstd, in any number of frames. Looking back and reading on are streams of their own."""

    def __init__(self, fd: int, found: os.stat_result) -> None:
        self.found = found
        self._look = _Stream(fd)
        self._reading = _Stream(fd)

    def pread(self, size: int, pos: int) -> bytes:
        self._look.seek(pos)
        parts = []
        while size and (data := self._look.read(size)):
            parts.append(data)
            size -= len(data)
        return b"".join(parts)

    def seek(self, pos: int) -> None:
        self._reading.seek(pos)

    def read(self, size: int) -> bytes:
        return self._reading.read(size)

    def holds(self, size: int) -> bool:
        return size <= UNPACKED_MAX

    def cut(self) -> bool:
        return self._reading.pos >= UNPACKED_MAX


class Clipped:
    """A log as if it ended at a byte; `found` is that of the whole."""

    def __init__(self, content: Content, end: int) -> None:
        self._content = content
        self._end = end
        self._pos = 0
        self.found = content.found

    def pread(self, size: int, pos: int) -> bytes:
        return self._content.pread(max(0, min(size, self._end - pos)), pos)

    def seek(self, pos: int) -> None:
        self._pos = pos
        self._content.seek(pos)

    def read(self, size: int) -> bytes:
        data = self._content.read(max(0, min(size, self._end - self._pos)))
        self._pos += len(data)
        return data

    def holds(self, size: int) -> bool:
        return self._content.holds(size)

    def cut(self) -> bool:
        return False


class _Raw:
    """The container's bytes from its start, whatever else reads the descriptor."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._pos = 0

    def read(self, size: int) -> bytes:
        data = os.pread(self._fd, size, self._pos)
        self._pos += len(data)
        return data


class _Stream:
    """What is compressed, from its start on; `pos` counts its bytes."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._begin()

    def _begin(self) -> None:
        unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW_MAX)
        source = cast("IO[bytes]", _Raw(self._fd))  # it reads, and is asked for nothing else
        self._unpacked = unpacker.stream_reader(source, read_across_frames=True)
        self.pos = 0

    def seek(self, pos: int) -> None:
        if pos < self.pos:
            self._begin()
        while self.pos < pos and self.read(min(_PIECE, pos - self.pos)):
            pass

    def read(self, size: int) -> bytes:
        size = min(size, UNPACKED_MAX - self.pos)
        if size <= 0:
            return b""
        try:
            data = self._unpacked.read(size)
        except zstandard.ZstdError as err:
            raise OSError(_DAMAGED) from err
        if not data and self.pos == 0:
            raise OSError(_DAMAGED)  # a container with nothing whole in it
        self.pos += len(data)
        return data
