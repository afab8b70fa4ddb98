"""Where Gemini CLI's sessions lie, and which folder a session's project is."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from afterword.capture.harness import stores
from afterword.domain.events import Found, Where

_MAIN = re.compile(r"session-.+\.jsonl", re.DOTALL)
_DOCUMENT = re.compile(r"session-.+\.json", re.DOTALL)
_LOG = re.compile(r".+\.jsonl", re.DOTALL)
_HASH = re.compile(r"[0-9a-f]{64}")


class Projects(Struct):
    """`projects.json`: folder → name of its folder in the store."""

    projects: dict[str, str] = {}


def roots(where: Where) -> list[Path]:
    """Every `.gemini` folder."""
    homes = stores.listed(where, "GEMINI_CLI_HOME") or [where.home]
    return stores.overridden(where, "GEMINI") or [home / ".gemini" for home in homes]


def sources(root: Path) -> Iterator[Found]:
    """Main sessions of each project, documents before the logs that go on with them, then sub-agents."""
    try:
        projects = [entry for entry in stores.entries(root / "tmp") if stores.is_folder(entry)]
    except PermissionError:
        yield Found(root / "tmp", "none", stores.NOT_LISTED)
        return
    # Folders named by a hash were copied and left behind: what their copies say later counts.
    for project in sorted(projects, key=lambda entry: (not _HASH.fullmatch(entry.name), entry.name)):
        chats = Path(project.path) / "chats"
        try:
            inside = stores.entries(chats)
        except PermissionError:
            yield Found(chats, "none", stores.NOT_LISTED)
            continue
        for entry in inside:
            if _DOCUMENT.fullmatch(entry.name):
                found = stores.line_log(entry)
                yield found if found.problem else Found(found.path, "document")
        for entry in stores.oldest_first([entry for entry in inside if _MAIN.fullmatch(entry.name)]):
            # It begins with what a document of the same session held.
            yield stores.line_log(entry, authority=1)
        for entry in inside:
            if stores.is_folder(entry):
                yield from _agents(Path(entry.path))


def _agents(folder: Path) -> Iterator[Found]:
    for entry in stores.below(folder, _LOG, 0):
        yield entry if isinstance(entry, Found) else stores.line_log(entry)


def parent_of(path: Path) -> str:
    """The session that spawned a sub-agent, by the folder its file lies in; empty for a main session."""
    return "" if path.parent.name == "chats" else path.parent.name


def project_of(path: Path) -> str:
    """The project's folder of a session's file; empty when nothing in the store says it."""
    project = path.parents[2] if parent_of(path) and len(path.parents) > 2 else path.parent.parent
    marked = _read(project / ".project_root").strip()
    if marked:
        return marked
    try:
        known = msgspec.json.decode(_read(project.parent.parent / "projects.json") or b"{}", type=Projects).projects
    except (msgspec.DecodeError, RecursionError):
        return ""
    for folder, name in known.items():
        if project.name in (name, hashlib.sha256(folder.encode()).hexdigest()):
            return folder
    return ""


def _read(path: Path) -> str:
    return stores.side_file(path).decode("utf-8", "replace")
