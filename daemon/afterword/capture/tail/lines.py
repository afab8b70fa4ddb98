"""Whole lines of a file from a position on, in bounded memory."""

from collections.abc import Iterator

import msgspec

from afterword.capture.tail.content import Content
from afterword.capture.tail.prefix import Mark, PrefixHash

CHUNK = 1 << 20
LINE_MAX = 16 << 20
_HEAD_KEPT = 1 << 16


class Line(msgspec.Struct, frozen=True, gc=False):
    """A complete line without its newline. `pos` is the byte position of its first byte."""

    pos: int
    data: bytes


class Oversized(msgspec.Struct, frozen=True, gc=False):
    """A complete line of `size` bytes, over LINE_MAX: only its first 64 KiB are here."""

    pos: int
    size: int
    head: bytes


class Batch(msgspec.Struct, frozen=True):
    """Lines up to a position right after a newline, with the hash of everything before it."""

    lines: list[Line | Oversized]
    mark: Mark


class Rest(msgspec.Struct, frozen=True, gc=False):
    """The bytes after the last newline: not a line yet. None when they are more than a line may have."""

    pos: int
    data: bytes | None


def read(content: Content, prefix: PrefixHash) -> Iterator[Batch | Rest]:
    """Read from `prefix.offset` to the end as it is now; batches of about a chunk, then one Rest.

    At most one line and two chunks are in memory. What is read, not what `stat` said, decides.
    """
    pos = prefix.offset
    content.seek(pos)
    pending = b""
    while chunk := content.read(CHUNK):
        cut = chunk.rfind(b"\n") + 1
        if cut == 0:
            pending += chunk
            if len(pending) > LINE_MAX:
                found = _skip(content, pos, pending, prefix)
                if found is None:
                    yield Rest(pos, None)
                    return
                pending = b""
                pos += found.size + 1
                yield Batch([found], prefix.mark())
            continue
        whole, pending = pending + chunk[:cut], chunk[cut:]
        prefix.update(whole)
        lines: list[Line | Oversized] = []
        for data in whole[:-1].split(b"\n"):
            if len(data) > LINE_MAX:
                lines.append(Oversized(pos, len(data), data[:_HEAD_KEPT]))
            else:
                lines.append(Line(pos, data))
            pos += len(data) + 1
        yield Batch(lines, prefix.mark())
    yield Rest(pos, pending)


def _skip(content: Content, pos: int, pending: bytes, prefix: PrefixHash) -> Oversized | None:
    """Pass over a line that is too long, keeping its head; None when it has no end yet."""
    ahead = prefix.copy()
    head, size = pending[:_HEAD_KEPT], len(pending)
    ahead.update(pending)
    del pending
    while chunk := content.read(CHUNK):
        cut = chunk.find(b"\n")
        if cut < 0:
            ahead.update(chunk)
            size += len(chunk)
            continue
        ahead.update(chunk[: cut + 1])
        prefix.become(ahead)
        # What follows is read again by the caller, so that it is split like everything else.
        content.seek(prefix.offset)
        return Oversized(pos, size + cut, head)
    return None
