"""Where Cursor keeps its conversations: the databases of its windows, the stores and transcripts of its agent.

One conversation may be in several of them. What they are worth, the fullest last: plain text, transcript, agent's
store, a window's database, the database of all windows.
"""

import re
import stat
from collections.abc import Iterator
from pathlib import Path

from afterword.capture.harness import stores
from afterword.capture.harness.cursor_transcripts import FOLDER
from afterword.domain.events import Found, Where

TEXT, TRANSCRIPT, STORE, WINDOW, WINDOWS = 1, 2, 3, 4, 5

DATABASE = "state.vscdb"
_LOG = re.compile(r"(?!.*\.tmp).+\.(?:jsonl|txt)", re.DOTALL)
_STORE = re.compile(r"store\.db")


def roots(where: Where) -> list[Path]:
    """The User folders of the editor, then the agent's own folders."""
    return [*_users(where), *_agents(where)]


def _users(where: Where) -> list[Path]:
    own = stores.overridden(where, "CURSOR")
    if own:
        return own
    if where.platform == "darwin":
        return [where.home / "Library" / "Application Support" / "Cursor" / "User"]
    config = [*stores.listed(where, "XDG_CONFIG_HOME"), where.home / ".config"]
    users = [folder / "Cursor" / "User" for folder in config]
    if where.platform == "linux" and _in_windows(where):
        users += sorted(Path("/mnt/c/Users").glob("*/AppData/Roaming/Cursor/User"))
    return list(dict.fromkeys(users))


def _in_windows(where: Where) -> bool:
    """Whether this is a Linux inside Windows, whose editor keeps its data on the other side."""
    return "WSL_DISTRO_NAME" in where.env


def _agents(where: Where) -> list[Path]:
    own = stores.overridden(where, "CURSOR_CLI") or stores.listed(where, "CURSOR_CONFIG_DIR")
    return own or [where.home / ".cursor"]


def sources(root: Path) -> Iterator[Found]:
    """The databases of the editor, then stores, then transcripts, sessions before their sub-agents."""
    yield from _databases(root)
    yield from _stores(root)
    yield from _transcripts(root)


def _databases(root: Path) -> Iterator[Found]:
    yield from _sqlite(root / "globalStorage" / DATABASE, WINDOWS)
    try:
        windows = [entry for entry in stores.entries(root / "workspaceStorage") if stores.is_folder(entry)]
    except PermissionError:
        yield Found(root / "workspaceStorage", "none", stores.NOT_LISTED)
        return
    for window in windows:
        yield from _sqlite(Path(window.path) / DATABASE, WINDOW)


def _stores(root: Path) -> Iterator[Found]:
    for folder, depth in (("chats", 2), ("acp-sessions", 1)):
        for entry in stores.below(root / folder, _STORE, depth):
            if isinstance(entry, Found):
                yield entry
            else:
                yield from _sqlite(Path(entry.path), STORE)


def _sqlite(path: Path, authority: int) -> Iterator[Found]:
    try:
        at = path.stat()
    except OSError:
        return
    if stat.S_ISREG(at.st_mode):
        yield Found(path, "sqlite", authority=authority)
    else:
        yield Found(path, "none", stores.NOT_REGULAR)


def _transcripts(root: Path) -> Iterator[Found]:
    try:
        projects = [entry for entry in stores.entries(root / "projects") if stores.is_folder(entry)]
    except PermissionError:
        yield Found(root / "projects", "none", stores.NOT_LISTED)
        return
    for project in projects:
        found = list(stores.below(Path(project.path) / FOLDER, _LOG, 2))
        yield from (entry for entry in found if isinstance(entry, Found))
        logs = [entry for entry in found if not isinstance(entry, Found)]
        for entry in sorted(logs, key=lambda entry: (Path(entry.path).parent.name == "subagents", entry.path)):
            log = stores.line_log(entry)
            if log.problem:
                yield log
            elif entry.name.endswith(".jsonl"):
                yield Found(log.path, "lines", authority=TRANSCRIPT)
            else:
                yield Found(log.path, "document", authority=TEXT)
