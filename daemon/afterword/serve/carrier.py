"""uvicorn as the carrier of the loopback API: one socket that is given, no signals, no ticking while nobody asks."""

import asyncio
import json
import logging
import socket
from typing import Any, Final

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_MAX_BYTES: Final = 16 << 10
CONNECTIONS_MAX: Final = 128
REQUEST_S: Final = 10.0
"""A caller has so long to say all of its request."""
_KEEP_S: Final = 5
_WAKE_S: Final = 1
"""How long answers that are under way have when the door closes."""


class Bounded(H11Protocol):
    """A connection with an end: so many of them, and each says all of its request in time."""

    _end: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS_MAX:
            transport.abort()
            return
        self._begin()

    def data_received(self, data: bytes) -> None:
        if self._end is None:
            self._begin()
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._asked()

    def connection_lost(self, exc: Exception | None) -> None:
        self._asked()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP is answered in JSON, too."""
        del msg
        error = {"kind": "usage", "message": "this is no request that can be read", "hint": "", "code": 1}
        data = json.dumps({"version": 1, "error": error}).encode() + b"\n"
        headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
        try:
            said = self.conn.send(h11.Response(status_code=400, headers=headers, reason=b"Bad Request"))
            said = (said or b"") + (self.conn.send(h11.Data(data=data)) or b"")
            self.transport.write(said + (self.conn.send(h11.EndOfMessage()) or b""))
        except h11.LocalProtocolError:
            pass  # an answer was under way
        self.transport.close()

    def _begin(self) -> None:
        self._end = self.loop.call_later(REQUEST_S, self.transport.abort)

    def _asked(self) -> None:
        if self._end is not None:
            self._end.cancel()
            self._end = None


async def carry(app: ASGIApp, listening: socket.socket, stop: asyncio.Event) -> None:
    """Answer at this socket until told to stop."""
    # What it says of callers is theirs: addresses and queries are no log lines.
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    config = uvicorn.Config(
        app,
        http=Bounded,
        ws="none",
        lifespan="off",
        loop="asyncio",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=_KEEP_S,
        timeout_graceful_shutdown=_WAKE_S,
        h11_max_incomplete_event_size=HEAD_MAX_BYTES,
    )
    config.load()
    server: Any = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    # Not `serve`: that would tick ten times a second, and take the process's signals.
    await server.startup(sockets=[listening])
    await stop.wait()
    close = getattr(app, "close", None)
    if close is not None:
        await close()
    await server.shutdown(sockets=[listening])
