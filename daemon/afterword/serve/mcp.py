"""The MCP server: earlier sessions for agents, over the streams it is given. Its tools are in `mcp_tools`.

A question that cannot be answered is a tool result with the reason, never an end of the session.
"""

import json
import os
import select
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Final

import anyio
import msgspec
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)

from afterword import __version__
from afterword.app.config import load
from afterword.domain.errors import AfterwordError, NothingFound
from afterword.redact.exits import leave_tree
from afterword.redact.logs import begin
from afterword.redact.redactor import Redactor, at_exit
from afterword.serve.mcp_memory import CLIENT
from afterword.serve.mcp_tools import TOOLS

_PARENT_EVERY_S: Final = 5.0


def server(config_file: Path | None, redactor: Redactor) -> "Server[Any]":
    """A server with all tools, for whatever carries it."""

    async def list_tools(_context: Any, _asked: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[tool.shown for tool in TOOLS.values()])

    async def call_tool(context: Any, asked: CallToolRequestParams) -> CallToolResult:
        arguments = dict(asked.arguments or {})
        if asked.name == "remember":
            arguments[CLIENT] = _client(context)
        return await anyio.to_thread.run_sync(_answer, config_file, redactor, asked.name, arguments)

    return Server(
        "afterword", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool,
        instructions=(
            "Search earlier sessions before you solve a problem again or decide what may be decided already; ask"
            " `again` about an error before you debug it, `blame` about a file before you change how it works. Have"
            " what will be true in later sessions too kept with `remember`."
        ),
    )  # fmt: skip


def serve(stdin_fd: int, stdout_fd: int, config_file: Path | None, parent: int) -> None:
    """Speak MCP on these descriptors until the client closes its side or is gone. `parent` is the process that was the
    parent when this one began: by now it may have another."""
    redactor = Redactor("python")
    begin(redactor)
    made = server(config_file, redactor)

    async def run() -> None:
        stdin = TextIOWrapper(os.fdopen(stdin_fd, "rb", closefd=False), encoding="utf-8", errors="replace")
        stdout = TextIOWrapper(os.fdopen(stdout_fd, "wb"), encoding="utf-8")
        async with anyio.create_task_group() as group:
            group.start_soon(_end_with, parent, stdout_fd)
            async with stdio_server(anyio.wrap_file(stdin), anyio.wrap_file(stdout)) as (inward, outward):
                await made.run(inward, outward, made.create_initialization_options())
            group.cancel_scope.cancel()

    anyio.run(run)


def _client(context: Any) -> str:
    """What the client calls itself; nothing where it did not say."""
    said = getattr(getattr(context, "session", None), "client_params", None)
    name = getattr(getattr(said, "client_info", None), "name", "")
    return name if isinstance(name, str) else ""


async def _end_with(parent: int, stdout_fd: int) -> None:
    """Leave when the client is gone that started this, though somebody else may hold its end of stdin open."""
    while os.getppid() == parent and not _unheard(stdout_fd):  # noqa: ASYNC110  # the system tells of no event
        await anyio.sleep(_PARENT_EVERY_S)
    os._exit(0)


def _unheard(stdout_fd: int) -> bool:
    """Whether nobody can read any more what is said: so it is when the client was gone before this process knew it."""
    ask = select.poll()
    ask.register(stdout_fd, 0)  # errors and hang-ups are told unasked
    return any(said & (select.POLLERR | select.POLLHUP | select.POLLNVAL) for _, said in ask.poll(0))


def _answer(config_file: Path | None, redactor: Redactor, tool: str, arguments: dict[str, Any]) -> CallToolResult:
    """The result of a tool; whatever goes wrong is one, too."""
    try:
        if tool not in TOOLS:
            hint = f"there are {', '.join(TOOLS)}"
            return _said(redactor, {"error": f"there is no tool {tool!r}", "hint": hint}, is_error=True)
        config = load(config_file)
        own = config.settings.redact
        if own.extra or own.allow:
            redactor = at_exit("python", own.extra, own.allow)
        return _said(redactor, TOOLS[tool].answer(config, arguments), is_error=False)
    except msgspec.ValidationError as err:
        said = {"error": f"{tool}: {err}", "hint": "see the tool's schema"}
    except NothingFound as err:
        return _said(redactor, {"results": [], "note": err.message, "hint": err.hint}, is_error=False)
    except AfterwordError as err:
        said = {"error": err.message, "hint": err.hint}
    except Exception as err:  # noqa: BLE001  # a bug here must not end the agent's session with us
        said = {"error": f"internal error: {type(err).__name__}", "hint": "`afterword doctor` may know more"}
    return _said(redactor, said, is_error=True)


def _said(redactor: Redactor, fields: dict[str, Any], *, is_error: bool) -> CallToolResult:
    clean = leave_tree("mcp", fields, redactor)
    return CallToolResult(
        content=[TextContent(type="text", text=json.dumps(clean, ensure_ascii=False))], is_error=is_error
    )
