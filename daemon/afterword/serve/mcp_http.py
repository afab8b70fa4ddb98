"""MCP over the loopback API: the tools of `mcp_tools` at `/mcp`, for who has a token with that scope.

The SDK takes a second to import and 30 MB, so it comes with the first caller, in a thread.
"""

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final

from starlette.types import Receive, Scope, Send

from afterword.app.config import Config
from afterword.redact.redactor import Redactor
from afterword.serve.gate import Caller
from afterword.serve.threads import in_thread

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

_SESSIONS_MOST: Final = 32
_IDLE_S: Final = 900.0
_BODY_MAX_BYTES: Final = 256 << 10


class Mcp:
    """One server for all its clients; begun when the first one comes."""

    def __init__(self, config: Config, redactor: Redactor) -> None:
        self._config = config
        self._redactor = redactor
        self._made = asyncio.Lock()
        self._manager: StreamableHTTPSessionManager | None = None
        self._task: asyncio.Task[None] | None = None
        self._end = asyncio.Event()

    async def answer(self, caller: Caller, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of this caller; a session belongs to who began it."""
        manager = await self._begun()
        from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser  # noqa: PLC0415  # loaded by now
        from mcp.server.auth.provider import AccessToken  # noqa: PLC0415

        # Only the id counts: the token was held against what is known before.
        known = AccessToken(token="", client_id=caller.id or "owner", scopes=["mcp"])
        scope["user"] = AuthenticatedUser(known)
        await manager.handle_request(scope, receive, send)

    async def close(self) -> None:
        self._end.set()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _begun(self) -> "StreamableHTTPSessionManager":
        async with self._made:
            manager = self._manager
            if manager is None:
                manager = self._manager = await in_thread(self._make)
                ready = asyncio.Event()
                self._task = asyncio.create_task(self._run(manager, ready))
                await ready.wait()
            return manager

    def _make(self) -> "StreamableHTTPSessionManager":
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # noqa: PLC0415

        from afterword.serve.mcp import server  # noqa: PLC0415

        file = self._config.places.config_file
        return StreamableHTTPSessionManager(
            server(file if file.exists() else None, self._redactor),
            json_response=True,
            session_idle_timeout=_IDLE_S,
            max_request_body_size=_BODY_MAX_BYTES,
            max_sessions=_SESSIONS_MOST,
        )

    async def _run(self, manager: "StreamableHTTPSessionManager", ready: asyncio.Event) -> None:
        async with manager.run():
            ready.set()
            await self._end.wait()
