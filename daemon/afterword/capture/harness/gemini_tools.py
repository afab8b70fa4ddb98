"""Tool calls of Gemini CLI: which kind of item one is, its text, its result and how it ended."""

import re
from typing import NamedTuple

import msgspec

from afterword.capture.harness.gemini_records import ARGUMENTS, Arguments, Content, Display, Part, ToolCall
from afterword.capture.harness.lenient import part
from afterword.capture.harness.texts import decoded_size, image_note, tidy
from afterword.domain.items import ExitStatus, Kind

_EDITS = frozenset({"write_file", "replace", "edit", "smart_edit"})
_STATUS: dict[str, ExitStatus] = {"success": "ok", "error": "error", "cancelled": "interrupted"}
_EXIT = re.compile(r"^\[?Exit Code: *(-?\d{1,10})\b", re.MULTILINE)
_GLOB = re.compile(r"[*?\[\]{}]")
_ANY = msgspec.json.Decoder(dict[str, object])
MASKED = "<tool_output_masked>"
"""What history masking puts in place of a long output."""


class Called(NamedTuple):
    """One item a call makes."""

    kind: Kind
    text: str
    path: str | None = None


def called(call: ToolCall, cwd: str) -> list[Called]:
    """The items of a call, its result aside."""
    name = call.name or "unknown tool"
    given = part(bytes(call.args), ARGUMENTS) if bytes(call.args) else None
    given = given or Arguments()
    if name == "run_shell_command" and given.command is not None:
        return [Called(Kind.COMMAND, tidy(given.command))]
    path = given.file_path or given.absolute_path or given.path
    if name in _EDITS and path:
        path = absolute(path, cwd)
        return [Called(Kind.EDIT, tidy(_span(call, given)), path)]
    if name == "read_file" and path:
        path = absolute(path, cwd)
        return [Called(Kind.READ, path, path)]
    if name == "read_many_files":
        named = [absolute(each, cwd) for each in given.paths or given.include or [] if not _GLOB.search(each)]
        if named:
            return [Called(Kind.READ, each, each) for each in dict.fromkeys(named)]
    return [Called(Kind.CALL, tidy(f"{name} {_compact(bytes(call.args))}".rstrip()))]


def _span(call: ToolCall, given: Arguments) -> str:
    if isinstance(call.result_display, Display) and call.result_display.file_diff:
        return call.result_display.file_diff
    if given.content is not None:
        return given.content
    halves = (("-", given.old_string), ("+", given.new_string))
    return "\n".join(sign + text.replace("\n", "\n" + sign) for sign, text in halves if text)


def _compact(raw: bytes) -> str:
    given = part(raw, _ANY) if raw else None
    return msgspec.json.encode(given).decode("utf-8", "replace") if given else ""


def absolute(path: str, cwd: str) -> str:
    """The path below the session's folder, unless it is absolute or there is none."""
    if path.startswith(("/", "~")) or re.match(r"[A-Za-z]:[\\/]|\\\\", path) or not cwd:
        return path
    return f"{cwd.rstrip('/')}/{path.removeprefix('./')}"


def result(call: ToolCall) -> str:
    """What a tool gave back; pictures as size notes."""
    text = "\n".join(filter(None, map(_answer, _parts(call.result))))
    if not text and isinstance(call.result_display, str):
        text = call.result_display
    return tidy(text)


def ended(call: ToolCall, output: str) -> ExitStatus:
    """The exit number a command's output ends with, else what the status says; None while it runs."""
    if call.name == "run_shell_command" and call.status not in (None, "cancelled"):
        codes = _EXIT.findall(output[-2000:])
        if codes:
            return int(codes[-1])
    return _STATUS.get(call.status or "")


def _parts(content: Content) -> list[Part]:
    if content is None:
        return []
    pieces = content if isinstance(content, list) else [content]
    return [Part(text=piece) if isinstance(piece, str) else piece for piece in pieces]


def _answer(piece: Part) -> str:
    if piece.function_response is not None:
        response = piece.function_response.response
        return (response.output or response.error or "") if response else ""
    return piece.text or picture(piece)


def picture(piece: Part) -> str:
    """The size note of data in a message; empty for any other part."""
    if piece.inline_data is None:
        return ""
    data = bytes(piece.inline_data.data).strip(b'"')
    return image_note(piece.inline_data.mime_type, decoded_size(data[-2:].decode("latin-1"), len(data)))


def pictures(content: Content) -> list[str]:
    """The size notes of the data among a message's parts."""
    return [note for note in map(picture, _parts(content)) if note]


def spoken(content: Content) -> tuple[str, list[str], bool]:
    """The text of a message, the thoughts among its parts, and whether it is nothing but tools' answers."""
    parts = _parts(content)
    texts = [piece.text for piece in parts if piece.text and not piece.thought]
    thoughts = [piece.text for piece in parts if piece.text and piece.thought]
    answers = bool(parts) and all(piece.function_response is not None for piece in parts)
    return "".join(texts), thoughts, answers
