"""The door: loopback HTTP for callers on this machine that hold the token. Reads and queues, never captures.

Others on this machine can reach a loopback port, and so can a web page in a browser: the token keeps out the first,
the checks of Host and Origin the second. One request a connection, with bounds on everything a caller can make large
or slow; all of it in threads of its own.
"""

import contextlib
import hmac
import http.server
import io
import json
import logging
import os
import re
import secrets
import selectors
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, Final, cast
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from afterword import __version__
from afterword.domain.errors import AfterwordError, Busy, NothingFound, NotSetUp, UserError
from afterword.redact.exits import leave_tree
from afterword.serve.routes import ROUTES, Room, Route
from afterword.store import doorfile

_log = logging.getLogger(__name__)

HEAD_MAX_BYTES: Final = 16 << 10
BODY_MAX_BYTES: Final = 256 << 10
CONNECTIONS_MAX: Final = 16
REQUEST_S: Final = 10.0
"""A caller has so long to say all of its request."""
CROWD_S: Final = 2.0
"""A caller waits so long for room while all others are being answered."""
SEND_S: Final = 30.0
"""A caller that takes nothing for so long is dropped."""

_PATTERNS: Final = [(re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", route.path)), route) for route in ROUTES]
_BODIES_MAX_BYTES: Final = max(BODY_MAX_BYTES, *(route.body_max for route in ROUTES))
_STATUS: Final[dict[type[AfterwordError], HTTPStatus]] = {
    NothingFound: HTTPStatus.NOT_FOUND,
    NotSetUp: HTTPStatus.CONFLICT,
    Busy: HTTPStatus.SERVICE_UNAVAILABLE,
    UserError: HTTPStatus.BAD_REQUEST,
}


class Door:
    """An open door. Its address and token are in `door.json` of the state folder until it is closed."""

    def __init__(self, room: Room) -> None:
        """Open it.

        Raises:
            OSError: the port is taken, or there is none.
        """
        self._state = room.config.places.state
        self._server = _Server(room, secrets.token_urlsafe(32), room.config.settings.door.port)
        self.port = int(self._server.server_address[1])
        self._woken, self._wake = socket.socketpair()
        self._thread = threading.Thread(target=self._serve, name="door", daemon=True)
        self._thread.start()
        card = doorfile.DoorCard(1, self.port, self._server.token, os.getpid(), __version__)
        try:
            doorfile.write(self._state, card)
        except BaseException:
            self.close()
            raise

    def _serve(self) -> None:
        try:
            with selectors.DefaultSelector() as ready:
                ready.register(self._server, selectors.EVENT_READ)
                ready.register(self._woken, selectors.EVENT_READ)
                # Nobody at the door: no waking up.
                while not any(key.fileobj is self._woken for key, _ in ready.select(self._server.patience_s())):
                    self._server.handle_request()
        except Exception:  # noqa: BLE001  # the daemon captures without a door, too
            _log.exception("the door broke; it opens again when the daemon starts")

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def close(self) -> None:
        """Take the card away and answer nobody any more; streams end when their job does."""
        with contextlib.suppress(OSError):
            doorfile.remove(self._state, os.getpid())
        self._wake.close()
        self._thread.join(timeout=5)
        self._woken.close()
        self._server.server_close()


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 8 * CONNECTIONS_MAX
    timeout = 0

    def __init__(self, room: Room, token: str, port: int) -> None:
        self.room = room
        self.token = token
        self._free = threading.BoundedSemaphore(CONNECTIONS_MAX)
        self._lock = threading.Lock()
        self._asking: dict[socket.socket, float] = {}
        super().__init__(("127.0.0.1", port), _Handler)
        self.hosts = {f"{name}:{self.server_address[1]}" for name in ("127.0.0.1", "localhost")}

    def server_bind(self) -> None:
        # HTTPServer's own asks the resolver for the host's name, which may take seconds.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._wait_for_room():
            self.shutdown_request(request)
            return
        with self._lock:
            self._asking[request] = time.monotonic() + REQUEST_S
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def _wait_for_room(self) -> bool:
        """Whether one more caller can be answered. Most answers take no time, so a crowd is let in one by one."""
        end = time.monotonic() + CROWD_S
        while not self._free.acquire(timeout=0.1):
            self.patience_s()
            if time.monotonic() > end:
                return False
        return True

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.asked(request)
            self._free.release()

    def asked(self, request: socket.socket) -> None:
        """A caller has said all of its request."""
        with self._lock:
            self._asking.pop(request, None)

    def patience_s(self) -> float | None:
        """Hang up on callers that are too slow to ask; `settimeout` alone would wait for every single byte.

        Returns:
            In how many seconds to look again; None when nobody is asking.
        """
        now = time.monotonic()
        with self._lock:
            slow = [request for request, end in self._asking.items() if end < now]
            waiting = bool(self._asking)
        for request in slow:
            with contextlib.suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)
        return 0.5 if waiting else None

    def handle_error(self, request: Any, client_address: Any) -> None:
        del request, client_address
        _log.debug("a caller at the door went away", exc_info=True)


class _Bounded(io.RawIOBase):
    """What comes from a caller, up to a bound; after it, nothing more."""

    def __init__(self, inner: io.BufferedIOBase, left: int) -> None:
        self._inner = inner
        self._left = left

    def readline(self, size: int | None = -1) -> bytes:
        limit = self._left if size is None or size < 0 else min(size, self._left)
        line = self._inner.readline(limit)
        self._left -= len(line)
        return line

    def read(self, size: int = -1) -> bytes:
        data = self._inner.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(data)
        return data


class _Refusal(Exception):
    """A request that is not answered, and why."""

    def __init__(self, status: HTTPStatus, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "afterword"
    sys_version = ""
    timeout = REQUEST_S

    def setup(self) -> None:
        super().setup()
        self._own = cast("_Server", self.server)
        self.rfile = cast("io.BufferedReader", _Bounded(self.rfile, HEAD_MAX_BYTES + _BODIES_MAX_BYTES))

    def handle(self) -> None:
        self.close_connection = True
        try:
            self.handle_one_request()
        except (ConnectionError, TimeoutError):
            _log.debug("a caller at the door went away")
        self.close_connection = True

    def do_GET(self) -> None:  # http.server's name
        self._take("GET")

    def do_POST(self) -> None:  # http.server's name
        self._take("POST")

    def _take(self, method: str) -> None:
        self.close_connection = True
        try:
            self._let_in()
            route, asked = self._asked(method)
            self._own.asked(self.connection)
            self.connection.settimeout(SEND_S)
            answer = route.answer(self._own.room, asked)
        except _Refusal as err:
            self._error(err.status, err.kind, err.message)
        except AfterwordError as err:
            status = next((code for kind, code in _STATUS.items() if isinstance(err, kind)), HTTPStatus.CONFLICT)
            self._error(status, err.kind, err.message, err.hint, int(err.code))
        except (OSError, sqlite3.Error) as err:
            self._error(HTTPStatus.INTERNAL_SERVER_ERROR, "system", str(err))
        except Exception as err:  # noqa: BLE001  # a broken answer must not end the door
            _log.exception("a request at the door failed unexpectedly")
            self._error(HTTPStatus.INTERNAL_SERVER_ERROR, "bug", f"internal error: {type(err).__name__}")
        else:
            if isinstance(answer, dict):
                self._say(HTTPStatus.OK, answer)
            else:
                self._stream(answer)

    def _let_in(self) -> None:
        if self.headers.get("Host", "").lower() not in self._own.hosts:
            raise _Refusal(HTTPStatus.FORBIDDEN, "forbidden", "the Host is not this door's")
        if self.headers.get("Origin") is not None:
            raise _Refusal(HTTPStatus.FORBIDDEN, "forbidden", "web pages are not let in")
        given = self.headers.get("Authorization", "").encode("utf-8", "replace")
        if not hmac.compare_digest(given, f"Bearer {self._own.token}".encode()):
            raise _Refusal(HTTPStatus.UNAUTHORIZED, "unauthorized", "the token is missing or wrong")

    def _asked(self, method: str) -> tuple[Route, Any]:
        """The route that is asked for, and what it is asked, of the route's own type."""
        url = urlsplit(self.path)
        found = [(match, route) for pattern, route in _PATTERNS if (match := pattern.fullmatch(url.path))]
        if not found:
            raise _Refusal(HTTPStatus.NOT_FOUND, "no-route", "there is no such path")
        fitting = [(match, route) for match, route in found if route.method == method]
        if not fitting:
            raise _Refusal(HTTPStatus.METHOD_NOT_ALLOWED, "no-route", "this path takes another method")
        match, route = fitting[0]
        said: dict[str, Any] = dict(parse_qsl(url.query, max_num_fields=20)) if method == "GET" else self._body(route)
        said |= {name: unquote(part) for name, part in match.groupdict().items()}
        try:
            return route, msgspec.convert(said, route.asked, strict=method == "POST")
        except msgspec.ValidationError as err:
            raise _Refusal(HTTPStatus.BAD_REQUEST, "usage", str(err)) from err

    def _body(self, route: Route) -> dict[str, Any]:
        kind = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise _Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "usage", "the body must be application/json")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or self.headers.get("Transfer-Encoding"):
            raise _Refusal(HTTPStatus.LENGTH_REQUIRED, "usage", "the body needs a Content-Length")
        most = max(BODY_MAX_BYTES, route.body_max)
        if len(length) > 12 or int(length) > most:
            raise _Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "usage", f"a body has at most {most} bytes")
        data = self.rfile.read(int(length))
        try:
            said = msgspec.json.decode(data)
        except (msgspec.DecodeError, RecursionError) as err:
            raise _Refusal(HTTPStatus.BAD_REQUEST, "usage", "the body is not JSON") from err
        if not isinstance(said, dict):
            raise _Refusal(HTTPStatus.BAD_REQUEST, "usage", "the body must be an object")
        return said

    def _head(self, status: HTTPStatus, kind: str, length: int | None) -> None:
        self.send_response_only(status)
        self.send_header("Content-Type", kind)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Connection", "close")
        self.end_headers()

    def _say(self, status: HTTPStatus, fields: dict[str, Any]) -> None:
        data = self._encoded({"version": 1, **fields})
        self._head(status, "application/json", len(data))
        self.wfile.write(data)

    def _stream(self, lines: Iterator[dict[str, Any]]) -> None:
        self._head(HTTPStatus.OK, "application/x-ndjson", None)
        for line in lines:
            self.wfile.write(self._encoded(line))

    def _encoded(self, fields: dict[str, Any]) -> bytes:
        clean = leave_tree("api", fields, self._own.room.redactor)
        return json.dumps(clean, ensure_ascii=False).encode("utf-8", "replace") + b"\n"

    def _error(self, status: HTTPStatus, kind: str, message: str, hint: str = "", code: int = 1) -> None:
        with contextlib.suppress(ConnectionError, TimeoutError):
            self._say(status, {"error": {"kind": kind, "message": message, "hint": hint, "code": code}})

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What http.server itself finds wrong with a request, in our words."""
        del explain
        self._error(HTTPStatus(code), "usage", message or HTTPStatus(code).phrase)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # http.server's name
        """Nothing: an address or a query is no log line."""
