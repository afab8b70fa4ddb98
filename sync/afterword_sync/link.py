"""Frames over a channel: a thread that reads, a thread that writes, and whoever talks in between, who never blocks.

The reader always reads on, so two sides that both send megabytes cannot wait for each other; how much may pile up is
bounded by what the sender may have unacknowledged. The writer sends a sign of life when there is nothing else.
"""

import threading
import time
from collections import deque
from types import TracebackType
from typing import Self

import msgspec

from afterword_sync.batch import MAX_BATCH_BYTES
from afterword_sync.channel import Channel
from afterword_sync.errors import LinkBroken, NeverGreeted, Refused
from afterword_sync.frame import MAGIC, Frame, Kind, Packer, Unpacker

WINDOW_BYTES = 8 * 1024 * 1024
"""How much may be sent and not acknowledged, unpacked; one batch always may."""

_MOST_WAITING_BYTES = WINDOW_BYTES + MAX_BATCH_BYTES
_MOST_WAITING_FRAMES = 10_000
_TELLING_BYTES = 100_000  # of smaller frames the time says nothing


class Deadlines(msgspec.Struct, frozen=True):
    """How long is waited, in seconds."""

    hello_s: float = 30.0  # until the other side says that it is afterword
    idle_s: float = 60.0  # without a byte from it, or without it taking one
    ping_s: float = 15.0  # after so much silence of ours we say that we are there
    end_s: float = 5.0  # for the last words


class Link:
    """Frames both ways. Use as a context manager: it ends the threads and the channel."""

    def __init__(self, channel: Channel, deadlines: Deadlines) -> None:
        self._channel = channel
        self._deadlines = deadlines
        self._changed = threading.Condition()
        self._incoming: deque[Frame] = deque()
        self._incoming_bytes = 0
        self._outgoing: deque[Frame] = deque()
        self._writing = True  # the magic goes first
        self._greeted = False
        self._ended = False
        self._read_error: Exception | None = None
        self._write_error: Exception | None = None
        self._threads = [
            threading.Thread(target=self._read_on, name="afterword-sync-reader", daemon=True),
            threading.Thread(target=self._write_on, name="afterword-sync-writer", daemon=True),
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        self._channel.close()
        for thread in self._threads:
            thread.join()

    def send(self, kind: Kind, body: bytes = b"") -> None:
        """Have a frame sent. Never waits; an error shows in `take`."""
        with self._changed:
            self._outgoing.append(Frame(kind, body))
            self._changed.notify_all()

    def take(self, *, wait: bool) -> Frame | None:
        """The next frame that came, or None when there is none and `wait` is not set.

        Raises:
            SyncError: there will be no more, and why.
        """
        with self._changed:
            while not self._incoming:
                if self._read_error is not None:
                    raise self._read_error
                if self._write_error is not None:
                    # What the other side said before it stopped listening explains more than that it did.
                    self._changed.wait_for(lambda: self._incoming or self._read_error, self._deadlines.end_s)
                    if not self._incoming:
                        raise self._read_error or self._write_error
                    break
                if not wait:
                    return None
                self._changed.wait()
            frame = self._incoming.popleft()
            self._incoming_bytes -= len(frame.body)
            return frame

    def flush(self) -> None:
        """Wait until everything is sent, or nothing more can be; not longer than a last word may take."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._write_error or not (self._outgoing or self._writing), self._deadlines.end_s
            )

    def drain(self) -> None:
        """Wait until the other side has ended, or refuses as well; not longer than a last word may take.

        What it is still sending is read meanwhile: a connection closed before that is reset, our last word with it.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self._read_error or any(frame.kind is Kind.REFUSED for frame in self._incoming),
                self._deadlines.end_s,
            )

    def _read_on(self) -> None:
        unpacker = Unpacker(self._read_some)
        try:
            unpacker.skip_to_magic()
            self._greeted = True
            while True:
                frame = unpacker.next()
                if frame.kind is not Kind.PING:
                    self._took(frame)
        except Exception as err:  # noqa: BLE001 - it is raised in the thread that talks
            with self._changed:
                self._read_error = self._told(err)
                self._changed.notify_all()

    def _read_some(self, size: int) -> bytes:
        return self._channel.read(size, self._deadlines.idle_s if self._greeted else self._deadlines.hello_s)

    def _took(self, frame: Frame) -> None:
        with self._changed:
            self._incoming.append(frame)
            self._incoming_bytes += len(frame.body)
            if self._incoming_bytes > _MOST_WAITING_BYTES or len(self._incoming) > _MOST_WAITING_FRAMES:
                raise Refused("the other side sends more than was acknowledged")
            self._changed.notify_all()

    def _write_on(self) -> None:
        packer = Packer()
        hard = True
        try:
            self._channel.write(MAGIC, self._deadlines.hello_s)
            while True:
                with self._changed:
                    self._writing = False
                    self._changed.notify_all()
                    self._changed.wait_for(lambda: self._outgoing or self._ended, self._deadlines.ping_s)
                    if self._ended:
                        return
                    frame = self._outgoing.popleft() if self._outgoing else Frame(Kind.PING)
                    self._writing = True
                began_s = time.monotonic()
                data = packer.pack(frame, hard=hard)
                packed_s = time.monotonic()
                self._channel.write(data, self._deadlines.idle_s)
                if len(data) > _TELLING_BYTES:
                    hard = time.monotonic() - packed_s > packed_s - began_s
        except Exception as err:  # noqa: BLE001 - it is raised in the thread that talks
            with self._changed:
                self._write_error = self._told(err)
                self._changed.notify_all()

    def _told(self, err: Exception) -> Exception:
        if isinstance(err, TimeoutError):
            if not self._greeted:
                return NeverGreeted(f"the other side said nothing for {self._deadlines.hello_s:g} s")
            return LinkBroken(f"nothing was heard from the other side for {self._deadlines.idle_s:g} s")
        if isinstance(err, OSError | EOFError):
            kind = LinkBroken if self._greeted else NeverGreeted
            broken = kind("the connection broke")
            broken.__cause__ = err
            return broken
        if isinstance(err, LinkBroken) and not self._greeted and not isinstance(err, NeverGreeted):
            return NeverGreeted(err.reason)
        return err
