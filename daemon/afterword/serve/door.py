"""The door: the loopback API of the running daemon, in a thread of its own. Reads and queues, never captures.

Others on this machine can reach a loopback port, and so can a web page in a browser: `gate` keeps them out. There are
bounds on everything a caller can make large or slow. The socket is open at once; what it takes to answer (a third of a
second of imports) loads in the thread, so that capture never waits for it.
"""

import contextlib
import logging
import os
import secrets
import socket
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from afterword import __version__
from afterword.serve.gate import Gate
from afterword.serve.room import Room
from afterword.store import doorfile

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger(__name__)

_BACKLOG: Final = 128
_END_S: Final = 4.0


class Door:
    """An open door. Its address and token are in `door.json` of the state folder until it is closed."""

    def __init__(self, room: Room) -> None:
        """Open it.

        Raises:
            OSError: the port is taken, or there is none.
        """
        self._state = room.config.places.state
        self._socket = _listening(self._state, room.config.settings.door.port)
        self.port = int(self._socket.getsockname()[1])
        token = secrets.token_urlsafe(32)
        self._gate = Gate(self._state, token, self.port)
        self._room = room
        self._lock = threading.Lock()
        self._closed = False
        self._stop: Callable[[], object] | None = None
        self._thread = threading.Thread(target=self._serve, name="door", daemon=True)
        self._thread.start()
        card = doorfile.DoorCard(1, self.port, token, os.getpid(), __version__)
        try:
            doorfile.write(self._state, card)
            doorfile.keep_port(self._state, self.port)
        except BaseException:
            self.close()
            raise

    def _serve(self) -> None:
        import asyncio  # noqa: PLC0415  # as what it carries: here it delays nobody

        try:
            asyncio.run(self._run())
        except Exception:  # noqa: BLE001  # the daemon captures without a door, too
            _log.exception("the door broke; it opens again when the daemon starts")
        finally:
            self._socket.close()

    async def _run(self) -> None:
        import asyncio  # noqa: PLC0415

        from afterword.serve.api import Api  # noqa: PLC0415
        from afterword.serve.carrier import carry  # noqa: PLC0415

        loop = asyncio.get_running_loop()
        stop = asyncio.Event()
        with self._lock:
            if self._closed:
                return
            self._stop = partial(loop.call_soon_threadsafe, stop.set)
        await carry(Api(self._room, self._gate), self._socket, stop)

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def close(self) -> None:
        """Take the card away and answer nobody any more; streams end when their job does."""
        with contextlib.suppress(OSError):
            doorfile.remove(self._state, os.getpid())
        with self._lock:
            self._closed = True
            stop = self._stop
        if stop is not None:
            with contextlib.suppress(RuntimeError):  # it ended by itself
                stop()
        self._thread.join(timeout=_END_S)


def _listening(state: Path, port: int) -> socket.socket:
    """A socket on this port; without one on that of the last door if it is free, so that who was paired finds it."""
    tries = [port] if port else [doorfile.last_port(state), 0]
    for each in dict.fromkeys(tries):
        # With the protocol named asyncio turns Nagle's algorithm off; without, each answer waits 40 ms.
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(("127.0.0.1", each))
            made.listen(_BACKLOG)
        except OSError:
            made.close()
            if each == tries[-1]:
                raise
        else:
            return made
    raise AssertionError("the last try returns or raises")
