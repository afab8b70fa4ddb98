"""A pair of byte streams with deadlines: what a conversation needs of a transport."""

import os
import select
import threading
from typing import Protocol

from afterword_sync.errors import LinkBroken

_CLOSED = "the connection was closed here"


class Channel(Protocol):
    """Bytes both ways. `read` and `write` are called from one thread each, `close` from any."""

    def read(self, size: int, timeout_s: float) -> bytes:
        """1 to `size` bytes, or none at the end.

        Raises:
            TimeoutError: nothing came for `timeout_s`.
            OSError: the connection is broken.
        """
        ...

    def write(self, data: bytes, timeout_s: float) -> None:
        """All of `data`.

        Raises:
            TimeoutError: the other side took nothing for `timeout_s`.
            OSError: the connection is broken.
        """
        ...

    def close(self) -> None:
        """End it. A `read` or `write` under way in another thread ends soon."""
        ...


class Pipes:
    """A `Channel` over two descriptors, which it owns from then on."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._in = incoming
        self._out = outgoing
        self._guard = threading.Lock()
        self._users = 0
        self._ended = False
        self._ending, self._end = os.pipe()  # readable from `close` on, so that nobody has to look again and again
        for descriptor in {incoming, outgoing}:
            os.set_blocking(descriptor, False)

    def read(self, size: int, timeout_s: float) -> bytes:
        """As `Channel.read`."""
        self._enter()
        try:
            while True:
                self._wait(self._in, select.POLLIN, timeout_s)
                try:
                    return os.read(self._in, size)
                except BlockingIOError:
                    continue
        finally:
            self._leave()

    def write(self, data: bytes, timeout_s: float) -> None:
        """As `Channel.write`."""
        self._enter()
        try:
            rest = memoryview(data)
            while rest:
                self._wait(self._out, select.POLLOUT, timeout_s)
                try:
                    rest = rest[os.write(self._out, rest) :]
                except BlockingIOError:
                    continue
        finally:
            self._leave()

    def close(self) -> None:
        """As `Channel.close`; the descriptors go when nobody uses them any more."""
        with self._guard:
            if not self._ended:
                self._ended = True
                os.close(self._end)
                if self._users == 0:
                    self._shut()

    def _wait(self, descriptor: int, what: int, timeout_s: float) -> None:
        # Not `select`, which knows no descriptor above 1,023. An error or an end is found by trying.
        poll = select.poll()
        poll.register(descriptor, what)
        poll.register(self._ending, select.POLLIN)
        ready = poll.poll(timeout_s * 1000)
        if any(which == self._ending for which, _ in ready):
            raise LinkBroken(_CLOSED)
        if not ready:
            raise TimeoutError

    def _enter(self) -> None:
        with self._guard:
            if self._ended:
                raise LinkBroken(_CLOSED)
            self._users += 1

    def _leave(self) -> None:
        # A descriptor closed under a `poll` may already be somebody else's: the last one out closes.
        with self._guard:
            self._users -= 1
            if self._users == 0 and self._ended:
                self._shut()

    def _shut(self) -> None:
        for descriptor in {self._in, self._out, self._ending}:
            os.close(descriptor)


def standard_streams() -> Pipes:
    """Standard input and output as a channel; both are other things from then on.

    What is printed by mistake goes to standard error, and what reads standard input finds nothing: neither may get
    into the conversation.
    """
    incoming, outgoing = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return Pipes(incoming, outgoing)
