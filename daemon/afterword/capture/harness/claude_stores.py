"""Where Claude Code's transcripts lie: one folder per project, sub-agents below their session."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from afterword.capture.harness import stores
from afterword.capture.harness.lenient import part
from afterword.domain.events import Found, Where

_DAYS_KEPT = 30
_DAYS_NEVER = 36_500
_LOG = re.compile(r".+\.jsonl", re.DOTALL)
_COWORK = Path("Library/Application Support/Claude/local-agent-mode-sessions")


class _Settings(Struct, rename="camel"):
    """What we read of the agent's settings."""

    cleanup_period_days: int | float | None = None


_SETTINGS = msgspec.json.Decoder(_Settings)


def roots(where: Where) -> list[Path]:
    """Every folder that holds a `projects` folder, and the desktop's folder of folders on macOS."""
    own = stores.overridden(where, "CLAUDE")
    if own:
        return own
    found = stores.listed(where, "CLAUDE_CONFIG_DIR", ",") or [
        where.home / ".claude",
        where.home / ".config" / "claude",
    ]
    if where.platform == "darwin":
        found.append(where.home / _COWORK)
    return found


def kept_days(root: Path) -> int | None:
    """How many days after their last change transcripts in `root` are deleted by the agent; None when it says never."""
    said = part(stores.side_file(root / "settings.json"), _SETTINGS)
    days = said.cleanup_period_days if said else None
    if days is None:
        return _DAYS_KEPT
    return int(days) if 0 <= days < _DAYS_NEVER else None


def sources(root: Path) -> Iterator[Found]:
    """Main transcripts, oldest first, then each project's sub-agents."""
    if root.name == _COWORK.name:
        for entry in stores.below(root, re.compile(r"local_.*"), 4):
            if isinstance(entry, Found):
                yield entry
            elif stores.is_folder(entry):
                yield from _projects(Path(entry.path) / ".claude" / "projects")
    else:
        yield from _projects(root / "projects")


def _projects(folder: Path) -> Iterator[Found]:
    try:
        projects = [entry for entry in stores.entries(folder) if stores.is_folder(entry)]
    except PermissionError:
        yield Found(folder, "none", stores.NOT_LISTED)
        return
    for project in projects:
        try:
            inside = stores.entries(Path(project.path))
        except PermissionError:
            yield Found(Path(project.path), "none", stores.NOT_LISTED)
            continue
        logs = [entry for entry in inside if _LOG.fullmatch(entry.name)]
        logs.sort(key=lambda entry: entry.name.startswith("agent-"))
        mains = [entry for entry in logs if not entry.name.startswith("agent-")]
        for entry in [*stores.oldest_first(mains), *logs[len(mains) :]]:
            yield stores.line_log(entry)
        for session in inside:
            if not _LOG.fullmatch(session.name) and stores.is_folder(session):
                yield from _agents(Path(session.path) / "subagents")


def _agents(folder: Path) -> Iterator[Found]:
    for entry in stores.below(folder, _LOG, 3):
        if isinstance(entry, Found):
            yield entry
        elif entry.name != "journal.jsonl":
            yield stores.line_log(entry)
