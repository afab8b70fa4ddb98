"""The loopback API as an ASGI program: lets callers in, reads what they ask within bounds, and says the answers.

Nothing here touches the ledger or waits: handlers run in threads, so many at once, and the loop only carries bytes.
"""

import asyncio
import contextlib
import json
import logging
import sqlite3
from collections.abc import AsyncIterator, Iterator
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route as Served
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from afterword.domain.errors import AfterwordError, Busy, NothingFound, NotSetUp, UserError
from afterword.redact.exits import leave_tree
from afterword.serve.gate import Caller, Gate, Refusal
from afterword.serve.mcp_http import Mcp
from afterword.serve.openapi import described
from afterword.serve.pairing import BadCode
from afterword.serve.room import Room
from afterword.serve.routes import Nothing, Route
from afterword.serve.routes_editor import ROUTES
from afterword.serve.threads import in_thread
from afterword.store.vault_card import read_card

_log = logging.getLogger(__name__)

BODY_MAX_BYTES: Final = 256 << 10
AT_ONCE: Final = 16
"""So many answers of the owner are made at a time, and so many streams and slow ones beside them."""
GUESTS_AT_ONCE: Final = 8
"""The same for paired programs together."""
CROWD_S: Final = 2.0
"""A caller waits so long for its turn while all others are being answered."""
SEND_S: Final = 30.0
"""A caller that takes nothing for so long is dropped."""
VAULT: Final = "x-afterword-vault"
"""The id of the vault the caller is in: another one's questions are not answered."""

_BODIES_MAX_BYTES: Final = max(BODY_MAX_BYTES, *(route.body_max for route in ROUTES))
_STATUS: Final[dict[type[AfterwordError], HTTPStatus]] = {
    NothingFound: HTTPStatus.NOT_FOUND,
    NotSetUp: HTTPStatus.CONFLICT,
    Busy: HTTPStatus.SERVICE_UNAVAILABLE,
    BadCode: HTTPStatus.FORBIDDEN,
    UserError: HTTPStatus.BAD_REQUEST,
}
_OPEN: Final = frozenset(route.path for route in ROUTES if not route.scope)
_HEADERS: Final = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class Turns:
    """The owner's turns and those of paired programs, short and long ones apart: however many streams a paired program
    opens, the command line and an exchange with another machine have room."""

    def __init__(self) -> None:
        self._own = asyncio.Semaphore(AT_ONCE), asyncio.Semaphore(AT_ONCE)
        self._guests = asyncio.Semaphore(GUESTS_AT_ONCE), asyncio.Semaphore(GUESTS_AT_ONCE)

    def of(self, caller: Caller, *, long: bool) -> asyncio.Semaphore:
        return (self._guests if caller.id else self._own)[long]


class Api:
    """The ASGI program. `version` of the answers is 1, as in the path."""

    def __init__(self, room: Room, gate: Gate) -> None:
        self._room = room
        self._gate = gate
        self._turns = Turns()
        self._mcp = Mcp(room.config, room.redactor)
        served = [Served(route.path, self._endpoint(route), methods=[route.method]) for route in ROUTES]
        served.append(Served("/v1/openapi.json", self._endpoint(_DESCRIPTION), methods=["GET"]))
        for each in served:
            (each.methods or set()).discard("HEAD")
        self._app: ASGIApp = Starlette(routes=served, exception_handlers={HTTPException: self._unrouted})  # type: ignore[dict-item]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        send = _patient(send)
        request = Request(scope, receive)
        try:
            self._gate.check_place(request.headers)
            open_ = scope["path"] in _OPEN
            caller = self._gate.stranger() if open_ else self._gate.caller(request.headers)
            scope["caller"] = caller
            self._check_vault(request)
        except Refusal as err:
            await _drained(request)
            await self._refused(err)(scope, receive, send)
            return
        with contextlib.suppress(ClientDisconnect, ConnectionError, TimeoutError):
            if scope["path"] in ("/mcp", "/mcp/"):
                if not caller.may("mcp"):
                    await self._refused(_out_of_scope("mcp"))(scope, receive, send)
                else:
                    await self._mcp.answer(caller, scope, receive, send)
                return
            await self._app(scope, receive, send)

    async def close(self) -> None:
        """Let go of what answered MCP."""
        await self._mcp.close()

    def _check_vault(self, request: Request) -> None:
        said = request.headers.get(VAULT)
        if said is None:
            return
        vault = self._room.config.vault
        card = read_card(vault) if vault else None
        if card is None or card.id != said:
            message = "this daemon keeps another vault"
            raise Refusal(HTTPStatus.CONFLICT, "wrong-vault", message, "pair the vault that it keeps")

    def _endpoint(self, route: Route) -> Any:
        async def answer(request: Request) -> Response:
            try:
                return await self._answered(route, request)
            except Refusal as err:
                await _drained(request)
                return self._refused(err)
            except ClientDisconnect:
                raise
            except Exception as err:  # noqa: BLE001  # a broken answer must not end the door
                return self._failed(err)

        return answer

    async def _answered(self, route: Route, request: Request) -> Response:
        caller: Caller = request.scope["caller"]
        if not caller.may(route.scope):
            raise _out_of_scope(route.scope)
        asked = await _asked(route, request)
        turns = self._turns.of(caller, long=route.slow or bool(route.lines))
        try:
            await asyncio.wait_for(turns.acquire(), CROWD_S)
        except TimeoutError as err:
            message = "too many ask at the same time"
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "busy", message, "try again", wait_s=1) from err
        try:
            found = await in_thread(lambda: route.answer(self._room, asked))
        finally:
            turns.release()
        # A stream takes its turn anew when it is sent: one that is never begun would keep this one.
        return (
            self._say(HTTPStatus.OK, found, route.bare)
            if isinstance(found, dict)
            else self._stream(route, found, turns)
        )

    def _failed(self, err: Exception) -> Response:
        """What went wrong with an answer, as one."""
        if isinstance(err, AfterwordError):
            status = next((code for kind, code in _STATUS.items() if isinstance(err, kind)), HTTPStatus.CONFLICT)
            return self._error(status, err.kind, err.message, err.hint, int(err.code))
        if isinstance(err, OSError | sqlite3.Error):
            return self._error(HTTPStatus.INTERNAL_SERVER_ERROR, "system", str(err))
        _log.error("a request at the door failed unexpectedly", exc_info=err)
        return self._error(HTTPStatus.INTERNAL_SERVER_ERROR, "bug", f"internal error: {type(err).__name__}")

    async def _unrouted(self, request: Request, err: HTTPException) -> Response:
        await _drained(request)
        known = err.status_code == HTTPStatus.METHOD_NOT_ALLOWED
        message = "this path takes another method" if known else "there is no such path"
        answer = self._error(HTTPStatus(err.status_code), "no-route", message, "see /v1/openapi.json")
        answer.headers.update(dict(err.headers or {}))
        return answer

    def _refused(self, err: Refusal) -> Response:
        answer = self._error(err.status, err.kind, err.message, err.hint)
        if err.wait_s:
            answer.headers["Retry-After"] = str(err.wait_s)
        if err.status == HTTPStatus.UNAUTHORIZED:
            answer.headers["WWW-Authenticate"] = "Bearer"
        return answer

    def _error(self, status: HTTPStatus, kind: str, message: str, hint: str = "", code: int = 1) -> Response:
        return self._say(status, {"error": {"kind": kind, "message": message, "hint": hint, "code": code}})

    def _say(self, status: HTTPStatus, fields: dict[str, Any], bare: tuple[str, ...] = ()) -> Response:
        return Response(self._encoded({"version": 1, **fields}, bare), status, _HEADERS, "application/json")

    def _stream(self, route: Route, lines: Iterator[dict[str, Any]], turns: asyncio.Semaphore) -> Response:
        async def pieces() -> AsyncIterator[bytes]:
            end: Any = object()
            try:
                async with turns:
                    while (line := await in_thread(lambda: next(lines, end))) is not end:
                        data = self._encoded(line)
                        yield data if route.lines != "text/event-stream" else _event(line, data)
            except (AfterwordError, OSError, sqlite3.Error) as err:
                _log.info("a stream ended early: %s", err)

        return StreamingResponse(pieces(), headers=_HEADERS, media_type=route.lines)

    def _encoded(self, fields: dict[str, Any], bare: tuple[str, ...] = ()) -> bytes:
        clean = leave_tree("api", fields, self._room.redactor)
        clean |= {name: fields[name] for name in bare if name in fields}
        return json.dumps(clean, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _event(line: dict[str, Any], data: bytes) -> bytes:
    """A line as a server-sent event; a beat is a comment."""
    return b": beat\n\n" if "beat" in line else b"event: pulse\ndata: " + data + b"\n"


def _describe(_room: Room, _asked: Nothing) -> dict[str, Any]:
    return described()


_DESCRIPTION: Final = Route("GET", "/v1/openapi.json", Nothing, _describe, "status")


def _out_of_scope(scope: str) -> Refusal:
    message = f"this token may not do that: it needs the scope {scope!r}"
    return Refusal(
        HTTPStatus.FORBIDDEN, "scope", message, "the command line may, and `afterword pair --scope` gives more"
    )


def _patient(send: Send) -> Send:
    """A caller that takes nothing is waited for only so long."""

    async def sent(message: Message) -> None:
        await asyncio.wait_for(send(message), SEND_S)

    return sent


async def _asked(route: Route, request: Request) -> Any:
    """What is asked, of the route's own type."""
    said: dict[str, Any]
    if route.method == "GET":
        try:
            said = dict(parse_qsl(request.scope["query_string"].decode("ascii"), True, max_num_fields=20))
        except ValueError as err:
            raise Refusal(HTTPStatus.BAD_REQUEST, "usage", "the query cannot be read", "see /v1/openapi.json") from err
    else:
        said = await _body(route, request)
    said |= request.path_params
    try:
        return msgspec.convert(said, route.asked, strict=route.method == "POST")
    except (msgspec.ValidationError, OverflowError, ValueError) as err:
        raise Refusal(HTTPStatus.BAD_REQUEST, "usage", str(err), "see /v1/openapi.json") from err


async def _body(route: Route, request: Request) -> dict[str, Any]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        message = "the body must be application/json"
        raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "usage", message, "say it in Content-Type")
    length = _length(request)
    if length is None:
        message = "the body needs a Content-Length"
        raise Refusal(HTTPStatus.LENGTH_REQUIRED, "usage", message, "send it in one piece")
    most = max(BODY_MAX_BYTES, route.body_max)
    if length > most:
        raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "usage", f"a body has at most {most} bytes", "ask for less")
    try:
        said = msgspec.json.decode(await request.body())
    except (msgspec.DecodeError, RecursionError, ValueError) as err:
        raise Refusal(HTTPStatus.BAD_REQUEST, "usage", "the body is not JSON", "see /v1/openapi.json") from err
    if not isinstance(said, dict):
        raise Refusal(HTTPStatus.BAD_REQUEST, "usage", "the body must be an object", "see /v1/openapi.json")
    return said


def _length(request: Request) -> int | None:
    said = request.headers.get("content-length", "")
    if not (said.isascii() and said.isdigit()) or request.headers.get("transfer-encoding"):
        return None
    return int(said) if len(said) <= 12 else 10**12


async def _drained(request: Request) -> None:
    """Take what a refused caller still says, within bounds, so that it hears the answer."""
    length = _length(request)
    if length is None or length > 2 * _BODIES_MAX_BYTES or request.scope.get("method") == "GET":
        return
    with contextlib.suppress(ClientDisconnect, RuntimeError):
        async for _ in request.stream():
            pass
