"""Which settings of an agent name us: hooks, and our MCP server. A literal table; `wiring` puts it into the files."""

import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

NAME: Final = "afterword"
"""What our MCP server is called in every agent's settings."""


class Programs(msgspec.Struct, frozen=True):
    """Our two programs, by their absolute paths: an agent starts them without a shell's PATH."""

    main: str
    hook: str


def programs() -> Programs:
    """Those of this installation."""
    folder = Path(sys.executable).absolute().parent
    return Programs(str(folder / "afterword"), str(folder / "afterword-hook"))


class Piece(msgspec.Struct, frozen=True):
    """One entry in a settings file. `path` are the keys to it; a hook is appended to the list that stands there.

    `value` makes the entry from our programs.
    """

    what: str
    kind: Literal["mcp", "hook"]
    file: str
    path: tuple[str, ...]
    value: Callable[[Programs], Any]


class Agent(msgspec.Struct, frozen=True):
    """An agent that can be wired. `root` is its folder: where it is there, the agent is taken to be."""

    name: str
    label: str
    root: Callable[[Path, Mapping[str, str]], Path]
    pieces: tuple[Piece, ...]
    note: str = ""
    """What cannot be wired in this agent."""
    lessons: tuple[Piece, ...] = ()
    """What asks for lessons when a session stops: set only where somebody says so."""


def _home(folder: str, variable: str = "") -> Callable[[Path, Mapping[str, str]], Path]:
    def root(home: Path, env: Mapping[str, str]) -> Path:
        given = env.get(variable, "") if variable else ""
        return Path(given) if given.startswith("/") else home / folder

    return root


def _opencode(home: Path, env: Mapping[str, str]) -> Path:
    given = env.get("XDG_CONFIG_HOME", "")
    return (Path(given) if given.startswith("/") else home / ".config") / "opencode"


def _server(**more: Any) -> Callable[[Programs], Any]:
    return lambda at: {**more, "command": at.main, "args": ["mcp"]}


def _local(at: Programs) -> Any:
    return {"type": "local", "command": [at.main, "mcp"], "enabled": True}


def _hook(event: str, agent: str, **more: Any) -> Callable[[Programs], Any]:
    def entry(at: Programs) -> Any:
        command = f"{shlex.quote(at.hook)} {event} --agent {agent}"
        return {**more, "hooks": [{"type": "command", "command": command}]}

    return entry


def _mcp(file: str, value: Callable[[Programs], Any], path: tuple[str, ...] = ("mcpServers", NAME)) -> Piece:
    return Piece("MCP server", "mcp", file, path, value)


def _on(name: str, event: str, agent: str, **more: Any) -> Piece:
    return Piece(f"hook {name}", "hook", "settings.json", ("hooks", name), _hook(event, agent, **more))


_NO_HOOKS: Final = "no hook is set: its sessions are written up when they rest"

AGENTS: Final = (
    Agent(
        "claude",
        "Claude Code",
        _home(".claude", "CLAUDE_CONFIG_DIR"),
        (
            _on("SessionStart", "session-start", "claude"),
            _on("SessionEnd", "session-end", "claude"),
            _on("PreCompact", "pre-compact", "claude"),
            _mcp("@.claude.json", _server(type="stdio")),
        ),
        lessons=(_on("Stop", "stop", "claude"),),
    ),
    Agent(
        "codex",
        "Codex",
        _home(".codex", "CODEX_HOME"),
        (_mcp("config.toml", _server(), ("mcp_servers", NAME)),),
        _NO_HOOKS,
    ),
    Agent(
        "gemini",
        "Gemini CLI",
        _home(".gemini"),
        (
            _on("SessionEnd", "session-end", "gemini"),
            _on("PreCompress", "pre-compact", "gemini"),
            _mcp("settings.json", _server()),
        ),
        "what a session starts with is not handed over: this agent takes no plain text from a hook",
    ),
    Agent("opencode", "opencode", _opencode, (_mcp("opencode.json", _local, ("mcp", NAME)),), _NO_HOOKS),
    Agent("cursor", "Cursor", _home(".cursor"), (_mcp("mcp.json", _server()),), _NO_HOOKS),
    Agent(
        "antigravity",
        "Antigravity",
        _home(".gemini/antigravity"),
        (_mcp("mcp_config.json", _server()),),
        _NO_HOOKS,
    ),
    Agent(
        "grok",
        "Grok Build",
        _home(".grok", "GROK_HOME"),
        (_mcp("config.toml", _server(), ("mcp_servers", NAME)),),
        _NO_HOOKS,
    ),
    Agent(
        "copilot",
        "GitHub Copilot CLI",
        _home(".copilot", "COPILOT_HOME"),
        (_mcp("mcp-config.json", _server(type="local", tools=["*"])),),
        _NO_HOOKS,
    ),
    Agent("qwen", "Qwen Code", _home(".qwen"), (_mcp("settings.json", _server()),), _NO_HOOKS),
)
"""Every agent that can be wired, and its settings as its makers document them."""

BY_NAME: Final = {agent.name: agent for agent in AGENTS}


def file_of(agent: Agent, piece: Piece, home: Path, env: Mapping[str, str]) -> Path:
    """The settings file of a piece. `@` stands for the home folder, or the agent's own where a variable moves it; a
    `.jsonc` that is there stands for its `.json`."""
    root = agent.root(home, env)
    if piece.file.startswith("@"):
        return (home if root == home / root.name else root) / piece.file[1:]
    path = root / piece.file
    commented = path.with_suffix(".jsonc")
    return commented if path.suffix == ".json" and commented.exists() and not path.exists() else path
