"""Tool calls of opencode: the same in a part of the first two eras and in a piece of content of the third."""

import posixpath
import re

import msgspec

from afterword.capture.harness.claude_tools import signed
from afterword.capture.harness.lenient import part
from afterword.capture.harness.opencode_shapes import ANY, INPUT, Fault, Part, ToolInput, ToolState
from afterword.capture.harness.texts import image_url_note, tidy
from afterword.domain.items import ExitStatus, Kind

_EDITS = frozenset({"edit", "multiedit", "write"})
_PATCHES = frozenset({"apply_patch", "patch"})
_FILE = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_PATCH_END = re.compile(r"^\*\*\* End Patch", re.MULTILINE)
_ABORTED = ("aborted", "interrupted", "cancelled")


class Call(msgspec.Struct, frozen=True):
    """What a tool call is: one item, or one for each file of a patch (text and path), and its output."""

    kind: Kind
    items: tuple[tuple[str, str | None], ...]
    exit_status: ExitStatus
    output: str


def called(given: Part, cwd: str) -> Call:
    """Read a tool call with its result, as far as it got."""
    state = given.state or ToolState()
    name = given.tool or given.name or "unknown tool"
    kind, items = _doing(name, bytes(state.input), cwd)
    return Call(kind, tuple(items), _exit(kind, state), _output(state))


def _doing(name: str, raw: bytes, cwd: str) -> tuple[Kind, list[tuple[str, str | None]]]:
    given = part(raw, INPUT) if raw else None
    if given is not None:
        if name in ("bash", "shell") and given.command is not None:
            return Kind.COMMAND, [(tidy(given.command), None)]
        if name == "read" and given.path is not None:
            return Kind.READ, [(given.path, _absolute(given.path, cwd))]
        if name in _EDITS and given.path is not None:
            return Kind.EDIT, [(tidy(_span(given)), _absolute(given.path, cwd))]
        if name in _PATCHES and given.patch is not None and (files := _patched(given.patch, cwd)):
            return Kind.EDIT, files
    found = part(raw, ANY) if raw else None
    text = msgspec.json.encode(found).decode("utf-8", "replace") if found else ""
    return Kind.CALL, [(tidy(f"{name} {text}".rstrip()), None)]


def _span(given: ToolInput) -> str:
    if given.edits:
        return "\n@@\n".join(signed(edit.old, edit.new) for edit in given.edits)
    if given.content is not None:
        return given.content
    return signed(given.old, given.new)


def _patched(patch: str, cwd: str) -> list[tuple[str, str | None]]:
    """(text, absolute path) of each file of a patch."""
    end = _PATCH_END.search(patch)
    stop = end.start() if end else len(patch)
    heads = [head for head in _FILE.finditer(patch) if head.start() < stop]
    files: dict[str, list[str]] = {}
    for n, head in enumerate(heads):
        until = heads[n + 1].start() if n + 1 < len(heads) else stop
        files.setdefault(_absolute(head[1].strip(), cwd), []).append(patch[head.end() : until].strip("\n"))
    return [(tidy("\n".join(texts)), path) for path, texts in files.items()]


def _absolute(path: str, cwd: str) -> str:
    if path.startswith("/") or not cwd.startswith("/"):
        return path
    return posixpath.normpath(posixpath.join(cwd, path))


def _exit(kind: Kind, state: ToolState) -> ExitStatus:
    """A command's number where there is one; else how the call ended, None while it runs or when nothing says."""
    if state.status == "error":
        said = _fault(state).lower()
        return "interrupted" if any(word in said[:60] for word in _ABORTED) else "error"
    if kind is Kind.COMMAND:
        return state.metadata.exit if state.metadata else None
    return "ok" if state.status == "completed" else None


def _output(state: ToolState) -> str:
    if state.status == "error":
        return tidy(_fault(state))
    if state.output is not None:
        return tidy(state.output)
    if isinstance(state.content, str):
        return tidy(state.content)
    pieces = (tidy(piece.text) if piece.text else _picture(piece.url) for piece in state.content or [])
    return "\n".join(filter(None, pieces))


def _picture(url: str | None) -> str:
    return image_url_note(url) if url and url.startswith("data:image/") else ""


def _fault(state: ToolState) -> str:
    return (state.error.message or "") if isinstance(state.error, Fault) else state.error or ""
