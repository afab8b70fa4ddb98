"""Frames on a byte stream: one byte for the kind, two lengths, the body, compressed where it is worth it.

Every length is bounded before anything is read or unpacked: what a peer claims never decides how much memory is used.
"""

import struct
from collections.abc import Callable
from enum import Enum

import msgspec
import zstandard

from afterword_sync.batch import MAX_BATCH_BYTES
from afterword_sync.errors import LinkBroken, NeverGreeted, Refused

MAGIC = b"\x00\xffafterword-sync\xff\x00\n"
"""What a side begins with. No shell start-up prints this by chance, and `set -x` cannot echo it from our command."""

MAX_NOISE_BYTES = 1024 * 1024
MAX_SMALL_BYTES = 1024 * 1024

_HEAD = struct.Struct(">cII")  # kind, bytes on the wire, bytes unpacked
_LEVELS = {True: 3, False: 1}  # a seventh of JSONL is left, or a fifth in half of the time


class Kind(Enum):
    """What a frame is."""

    HELLO = b"H"
    WANT = b"W"  # numbers that are here without their payload
    EARLY = b"E"  # tombstones, out of turn
    BATCH = b"B"
    ACK = b"A"  # committed
    DONE = b"D"  # nothing more to send
    BYE = b"Y"  # everything of both sides is acknowledged
    PING = b"P"
    REFUSED = b"R"


_PACKED = frozenset({Kind.EARLY, Kind.BATCH})


class Frame(msgspec.Struct, frozen=True):
    """One frame, its body unpacked."""

    kind: Kind
    body: bytes = b""


class Packer:
    """Frames to bytes. Compresses outside of the interpreter's lock."""

    def __init__(self) -> None:
        self._compressors = {hard: zstandard.ZstdCompressor(level=level) for hard, level in _LEVELS.items()}

    def pack(self, frame: Frame, *, hard: bool = True) -> bytes:
        """The frame's bytes on the wire. `hard`: the wire is slower than we are, so fewer bytes are worth the time."""
        body = self._compressors[hard].compress(frame.body) if frame.kind in _PACKED else frame.body
        return _HEAD.pack(frame.kind.value, len(body), len(frame.body)) + body


class Unpacker:
    """Bytes to frames. `read(size)` gives 1 to `size` bytes, or none at the end of the stream."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._buffer = bytearray()
        self._decompressor = zstandard.ZstdDecompressor()

    def skip_to_magic(self) -> bytes:
        """Drop everything up to and with the magic, and return what was dropped, the last kilobytes of it at most.

        Raises:
            NeverGreeted: the stream ended before. Why is the transport's to find.
            Refused: more noise than any shell's start-up makes.
        """
        seen = 0
        while (at := self._buffer.find(MAGIC)) < 0:
            if seen > MAX_NOISE_BYTES:
                raise Refused("the other side prints, but not what afterword says", "look at what its shell starts")
            data = self._read(65536)
            if not data:
                raise NeverGreeted("the other side ended before it said anything")
            seen += len(data)
            del self._buffer[: max(0, len(self._buffer) - 4096)]
            self._buffer += data
        noise = bytes(self._buffer[:at])
        del self._buffer[: at + len(MAGIC)]
        return noise[-4096:]

    def next(self) -> Frame:
        """The next frame.

        Raises:
            LinkBroken: the stream ended, inside a frame or between two.
            Refused: a frame that is none, or larger than one may be.
        """
        kind_byte, wire_bytes, body_bytes = _HEAD.unpack(self._exactly(_HEAD.size))
        try:
            kind = Kind(kind_byte)
        except ValueError as err:
            raise Refused("a frame of a kind that is not known here") from err
        packed = kind in _PACKED
        most = MAX_BATCH_BYTES if packed else MAX_SMALL_BYTES
        # What cannot be compressed grows a little; more than that is no compressor's work.
        if body_bytes > most or wire_bytes > most + most // 128 + 1024 or (not packed and wire_bytes != body_bytes):
            raise Refused(f"a frame of {max(wire_bytes, body_bytes)} bytes; {most} are allowed")
        body = self._exactly(wire_bytes)
        return Frame(kind, self._unpacked(body, body_bytes) if packed else body)

    def _unpacked(self, body: bytes, body_bytes: int) -> bytes:
        try:
            # The size that the compressed data tells is what would be allocated.
            if zstandard.frame_content_size(body) != body_bytes:
                raise Refused("a frame that unpacks to another size than it tells")
            if body_bytes == 0:
                raise Refused("an empty frame of records")
            return self._decompressor.decompress(body, max_output_size=body_bytes, allow_extra_data=False)
        except zstandard.ZstdError as err:
            raise Refused("a frame that cannot be unpacked") from err

    def _exactly(self, size: int) -> bytes:
        if size > len(self._buffer) and size > 65536:
            # Large ones: joined once, not grown.
            parts = [bytes(self._buffer)]
            self._buffer.clear()
            missing = size - len(parts[0])
            while missing > 0:
                data = self._some(min(missing, 1024 * 1024))
                parts.append(data)
                missing -= len(data)
            return b"".join(parts)
        while len(self._buffer) < size:
            self._buffer += self._some(65536)
        out = bytes(self._buffer[:size])
        del self._buffer[:size]
        return out

    def _some(self, size: int) -> bytes:
        data = self._read(size)
        if not data:
            raise LinkBroken("the connection ended in the middle")
        return data
