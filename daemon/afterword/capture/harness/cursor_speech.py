"""What a person typed in Cursor, and when: out of its wrappers, its editor's state and its English dates."""

import datetime as dt
import re
from zoneinfo import ZoneInfo

from afterword.capture.harness.cursor_values import EDITORS, Bubble, Node
from afterword.capture.harness.lenient import part
from afterword.capture.harness.texts import OWN_BLOCKS, tidy, without_blocks
from afterword.domain.clock import parse_rfc3339

_NEVER_TYPED = ("system_reminder", "system-reminder", "system_notification", *OWN_BLOCKS)
"""What Cursor or we put among a person's words."""
_CONTEXT = (
    *_NEVER_TYPED,
    "user_info",
    "git_status",
    "rules",
    "always_applied_workspace_rules",
    "agent_requestable_workspace_rules",
    "agent_skills",
    "available_skills",
    "project_layout",
    "attached_files",
    "additional_data",
    "open_and_recently_viewed_files",
    "external_links",
    "cursor_commands",
    "mcp_instructions",
    "agent_transcripts",
    "timestamp",
)
"""What Cursor puts before a person's words in the user role. A person may paste such a block: it is context only in a
text that begins with one."""

_BEGINS = re.compile(rf"\s*<(?:{'|'.join(_CONTEXT)})[\s>]")
_OPEN, _CLOSE = "<user_query>", "</user_query>"
_QUERY = re.compile(r"<(/?)user_query>")
_STAMP = re.compile(
    r"<timestamp>\s*(?:\w+,\s*)?([A-Z][a-z]+)\.?\s+(\d{1,2}),\s*(\d{4}),?\s*(?:at\s+)?(\d{1,2}):(\d\d)(?::(\d\d))?"
    r"\s*([AaPp])\.?[Mm]\.?\s*(?:\(([^()<>]{1,40})\))?\s*</timestamp>"
)
_OFFSET = re.compile(r"(?:UTC|GMT)?\s*([+\u2212-])(\d{1,2})(?::?(\d\d))?")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_REDACTED = "[REDACTED]"
_DEPTH = 40


def typed(text: str) -> str:
    """What a person typed of a text in the user role; empty when all of it was put there by Cursor.

    Where a query is marked only its inside counts. Without a mark complete blocks of Cursor's go and the rest stays.
    """
    inside = _queries(text)
    if inside is None:
        inside = without_blocks(text, _CONTEXT if _BEGINS.match(text) else _NEVER_TYPED) if "<" in text else text
    elif any(f"<{name}" in inside for name in OWN_BLOCKS):
        inside = without_blocks(inside, OWN_BLOCKS)
    return tidy(inside.strip())


def _queries(text: str) -> str | None:
    """The insides of the marked queries; None when none is marked.

    A mark opens at the start of a line; what a person pasted may hold the same tags, so they are counted.
    """
    if _OPEN not in text or _CLOSE not in text:
        return None
    found: list[str] = []
    start = depth = end = 0
    for tag in _QUERY.finditer(text):
        if tag[1]:
            end = tag.start() if depth else end
            depth = max(0, depth - 1)
            if not depth and end:
                found.append(text[start:end])
                end = 0
        elif depth:
            depth += 1
        elif tag.start() == 0 or text[tag.start() - 1] in "\n>":
            start, depth = tag.end(), 1
    if depth and end:
        found.append(text[start:end])
    return "\n\n".join(query.strip() for query in found) if found else None


def spoken(text: str) -> str:
    """An agent's text without the markers of what Cursor left out."""
    if _REDACTED in text:
        text = "\n".join(line for line in text.replace(_REDACTED, "\0").split("\n") if line.strip(" \0") or not line)
        text = text.replace("\0", "")
    return tidy(text.strip())


def stamped(text: str) -> int | None:
    """UTC microseconds of the time that Cursor put before a query; None without one, or in a zone nobody knows."""
    found = _STAMP.search(text)
    if found is None or found[1][:3].lower() not in _MONTHS:
        return None
    zone = _zone(found[8])
    if zone is None:
        return None
    hour = int(found[4]) % 12 + (12 if found[7] in "Pp" else 0)
    month = _MONTHS.index(found[1][:3].lower()) + 1
    try:
        at = dt.datetime(int(found[3]), month, int(found[2]), hour, int(found[5]), int(found[6] or 0), tzinfo=zone)
    except ValueError:
        return None
    return parse_rfc3339(at.isoformat())


def _zone(name: str | None) -> dt.tzinfo | None:
    name = (name or "UTC").strip()
    if name in ("UTC", "GMT", "Z"):
        return dt.UTC
    offset = _OFFSET.fullmatch(name)
    if offset:
        minutes = int(offset[2]) * 60 + int(offset[3] or 0)
        return dt.timezone(dt.timedelta(minutes=minutes if offset[1] == "+" else -minutes)) if minutes < 1440 else None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def words(bubble: Bubble) -> str:
    """The words of a bubble, wherever its version keeps them."""
    for text in (bubble.text, bubble.raw_text, bubble.content, bubble.message, bubble.init_text):
        if text and text.strip():
            return _edited(text) if text.startswith('{"root"') else text
    return _edited(bubble.rich_text or "")


def _edited(state: str) -> str:
    """The text of an editor's state; a text that is none is plain text."""
    if not state.lstrip().startswith("{"):
        return state
    editor = part(state, EDITORS)
    if editor is None or editor.root is None:
        return ""
    return "\n".join(_line(child, 0) for child in editor.root.children or [])


def _line(node: Node, depth: int) -> str:
    if node.type == "linebreak":
        return "\n"
    if depth > _DEPTH:
        return ""
    return (node.text or "") + "".join(_line(child, depth + 1) for child in node.children or [])
