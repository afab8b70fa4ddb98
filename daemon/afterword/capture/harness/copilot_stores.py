"""Where GitHub Copilot CLI's sessions lie, and what is beside a session's log."""

import re
from collections.abc import Iterator
from pathlib import Path

from afterword.capture.harness import stores
from afterword.capture.harness.copilot_lines import LINES
from afterword.capture.harness.lenient import part
from afterword.domain.events import Found, Where

LOG = "events.jsonl"
NOTES = "workspace.yaml"
_FLAT = re.compile(r".+\.jsonl", re.DOTALL)
_HEAD = 1 << 16
_SCALAR = re.compile(rb"^(id|name|summary|cwd|branch):[ \t]*(.*?)[ \t\r]*$", re.MULTILINE)
_BLOCK = re.compile(rb"[|>][+-]?")


def roots(where: Where) -> list[Path]:
    """Every folder that holds `session-state`."""
    return stores.overridden(where, "COPILOT") or stores.listed(where, "COPILOT_HOME") or [where.home / ".copilot"]


def sources(root: Path) -> Iterator[Found]:
    """Each session's log and notes, older sessions first; before 1.0.11 a log lay in no folder of its own."""
    folder = root / "session-state"
    try:
        inside = stores.oldest_first(stores.entries(folder))
    except PermissionError:
        yield Found(folder, "none", stores.NOT_LISTED)
        return
    for entry in inside:
        if not stores.is_folder(entry):
            if _FLAT.fullmatch(entry.name):
                yield stores.line_log(entry)
            continue
        try:
            own = {each.name: each for each in stores.entries(Path(entry.path))}
        except PermissionError:
            yield Found(Path(entry.path), "none", stores.NOT_LISTED)
            continue
        if LOG in own:
            yield stores.line_log(own[LOG])
            if NOTES in own:
                found = stores.line_log(own[NOTES])
                yield found if found.problem else Found(found.path, "document", beside=(Path(own[LOG].path),))


def session_of(path: Path) -> str:
    """The session a file belongs to, as far as its name says."""
    return path.stem if path.name not in (LOG, NOTES) else path.parent.name


def told_by_log(notes: Path) -> str | None:
    """The session that the log beside some notes is of, which may differ from the folder's name.

    The first line says it; None as long as that is not there.
    """
    line, ended, _ = stores.side_file(notes.with_name(LOG), _HEAD, cut=True).partition(b"\n")
    first = part(line, LINES) if ended else None
    if first is not None and first.data is not None and first.data.session_id:
        return first.data.session_id
    return session_of(notes) if ended else None


def scalars(notes: bytes) -> dict[str, str]:
    """The texts at the top level of a session's notes: plain, quoted, or the first line of a block."""
    found: dict[str, str] = {}
    for match in _SCALAR.finditer(notes):
        value = match[2]
        if _BLOCK.fullmatch(value):
            value = notes[match.end() :].lstrip(b"\r\n").partition(b"\n")[0].strip()
        text = value.decode("utf-8", "replace")
        if len(text) > 1 and text[0] == text[-1] == "'":
            text = text[1:-1].replace("''", "'")
        elif len(text) > 1 and text[0] == text[-1] == '"':
            text = text[1:-1].replace('\\"', '"').replace("\\\\", "\\")
        found.setdefault(match[1].decode(), text)
    return found
