"""The steps of an Antigravity transcript: the fields we read, and what their texts say."""

import re
from typing import NamedTuple, TypeAlias
from urllib.parse import unquote

import msgspec
from msgspec import Raw, Struct

from afterword.capture.harness.lenient import part
from afterword.capture.harness.texts import tidy, without_blocks
from afterword.domain.items import ExitStatus, Kind

_BLOCKS = ("ADDITIONAL_METADATA", "USER_SETTINGS_CHANGE", "EPHEMERAL_MESSAGE", "SYSTEM_MESSAGE")
_REQUEST = re.compile(r"<USER_REQUEST>(.*)</USER_REQUEST>", re.DOTALL)
_MODEL = re.compile(r"`?Model Selection`? from .*? to (.+?)\.(?:\s|\Z)", re.DOTALL)
_HEADER = re.compile(r"(?:(?:Created|Completed) At:[^\n]*(?:\n|\Z))+\n?")
_HEADS = ("Created At:", "Completed At:")
_CUT = re.compile(r"\s*(?:…|\.\.\.|[<\[]truncated[^>\]]{0,60}[>\]])\s*\Z")
_EXIT = re.compile(r"failed with exit code:? *(-?\d{1,10})")
_PASSED = "completed successfully"
_VIEWED = re.compile(r"^File Path: `?([^`\n]+)`?", re.MULTILINE)
_EDITED = re.compile(r"^(?:Created|Edited|Updated|Deleted) file `?(file://\S+?|/[^\n`]+)`?\.?$", re.MULTILINE)
_STATUS: dict[str, ExitStatus] = {
    "ERROR": "error",
    "FAILED": "failed",
    "CANCELED": "interrupted",
    "CANCELLED": "interrupted",
}
_SAID = 400

KIND_OF = {
    "RUN_COMMAND": Kind.COMMAND,
    "VIEW_FILE": Kind.READ,
    "CODE_ACTION": Kind.EDIT,
    "EDIT_FILE": Kind.EDIT,
}
"""Type of a result → kind of the call it belongs to; every other type belongs to other calls."""


class Loose(Struct, gc=False):
    """An object nothing of which is read."""


class ToolCall(Struct, gc=False):
    name: str | None = None
    args: Raw = Raw(b"")
    arguments: Raw = Raw(b"")


class Step(Struct, gc=False):
    """One line."""

    step_index: int | None = None
    source: str | None = None
    type: str | None = None
    status: str | None = None
    created_at: str | int | float | None = None
    content: str | None = None
    thinking: str | None = None
    tool_calls: list[ToolCall] | None = None
    truncated_fields: list[str] | None = None


class Chunk(Struct, gc=False):
    """One replaced span of several."""

    old: str | None = msgspec.field(default=None, name="TargetContent")
    new: str | None = msgspec.field(default=None, name="ReplacementContent")


Value: TypeAlias = str | int | float | bool | list[Raw] | Loose | None


class Called(NamedTuple):
    """The item a call makes, and the folder it ran in."""

    kind: Kind
    text: str
    path: str | None = None
    cwd: str = ""


STEPS = msgspec.json.Decoder(Step)
_STRING = msgspec.json.Decoder(str)
_ARGS = msgspec.json.Decoder(dict[str, Raw])
_CHUNKS = msgspec.json.Decoder(list[Chunk])
_ANY = msgspec.json.Decoder(dict[str, object])


def whole(step: Step) -> bool:
    """Whether what was found behind a broken half is a step."""
    return step.step_index is not None and bool(step.type)


def typed(content: str) -> str:
    """What a person typed of a `USER_INPUT`."""
    request = _REQUEST.search(content)
    return tidy((request[1] if request else without_blocks(content, _BLOCKS)).strip())


def chosen_model(content: str) -> str | None:
    """The model the last change of settings in a text names."""
    found = _MODEL.findall(content) if "Model Selection" in content else None
    return " ".join(found[-1].split())[:100] if found else None


def result(step: Step) -> str:
    """The text of a tool's result, without its times; a cut text without what stands for the rest."""
    text = step.content or ""
    if step.truncated_fields and "content" in step.truncated_fields:
        text = _CUT.sub("", text)
        line = text[text.rfind("\n") + 1 :]
        if line and any(head.startswith(line) for head in _HEADS):
            text = text[: -len(line)]
    header = _HEADER.match(text)
    return tidy(text[header.end() :] if header else text).strip("\n")


def cut(step: Step) -> bool:
    """Whether the writer left out some of the step's content."""
    return bool(step.truncated_fields and "content" in step.truncated_fields)


def ended(step: Step, text: str) -> ExitStatus:
    """How a tool ended, as far as its result says."""
    if step.type == "RUN_COMMAND":
        code = _EXIT.search(text, 0, _SAID)
        if code:
            return int(code[1])
        if _PASSED in text[:_SAID]:
            return "ok"
    return _STATUS.get(step.status or "")


def touched(step: Step, text: str) -> str | None:
    """The file that a result without a call says it is about."""
    found = (_VIEWED if step.type == "VIEW_FILE" else _EDITED).search(text)
    return path_of(found[1].strip()) if found else None


def path_of(uri: str) -> str:
    """The path of a `file://` URI; any other text as it is."""
    return unquote(uri.removeprefix("file://")) if uri.startswith("file://") else uri


def called(call: ToolCall) -> Called:
    """What a tool call of the model is."""
    name = call.name or "unknown tool"
    raw = bytes(call.args) or bytes(call.arguments)
    if raw.startswith(b'"'):
        raw = (part(raw, _STRING) or "").encode("utf-8", "surrogatepass")
    args = part(raw, _ARGS) or {}
    folder = _text(args, "Cwd")
    if command := _text(args, "CommandLine"):
        return Called(Kind.COMMAND, tidy(command), cwd=folder)
    if target := _text(args, "TargetFile"):
        return Called(Kind.EDIT, tidy(_span(args)), path_of(target), folder)
    if name.startswith(("view_file", "view_code", "read_file")):
        viewed = _text(args, "AbsolutePath") or _text(args, "File") or _text(args, "FilePath")
        if viewed:
            return Called(Kind.READ, path_of(viewed), path_of(viewed), folder)
    given = part(raw, _ANY) if raw else None
    shown = msgspec.json.encode(given).decode("utf-8", "replace") if given else ""
    return Called(Kind.CALL, tidy(f"{name} {shown}".rstrip()), cwd=folder)


def _span(args: dict[str, Raw]) -> str:
    if content := _text(args, "CodeContent"):
        return content
    spans = [(_text(args, "TargetContent"), _text(args, "ReplacementContent"))]
    if "ReplacementChunks" in args:
        raw = _unquoted(bytes(args["ReplacementChunks"]))
        try:
            spans = [(chunk.old or "", chunk.new or "") for chunk in _CHUNKS.decode(raw)]
        except (ValueError, RecursionError):
            spans = []
    signed = []
    for old, new in spans:
        halves = [sign + text.replace("\n", "\n" + sign) for sign, text in (("-", old), ("+", new)) if text]
        signed.append("\n".join(halves))
    return "\n@@\n".join(filter(None, signed))


def _text(args: dict[str, Raw], name: str) -> str:
    """A text argument; values are usually JSON inside the string."""
    raw = bytes(args.get(name, Raw(b"")))
    if not raw.startswith(b'"'):
        return ""
    text = _unquoted(raw)
    if text.startswith(b'"'):
        text = _unquoted(text)
    return text.decode("utf-8", "replace")


def _unquoted(raw: bytes) -> bytes:
    """A JSON string's text, or the bytes as they are when they are none."""
    if not raw.startswith(b'"'):
        return raw
    try:
        return _STRING.decode(raw).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        return raw
