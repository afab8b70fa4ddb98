"""Tool calls of GitHub Copilot CLI: which kind of item one is, its text, its result and how it ended."""

import re
from typing import NamedTuple

import msgspec

from afterword.capture.harness.claude_tools import signed
from afterword.capture.harness.copilot_lines import ARGUMENTS, Arguments, Data, Result
from afterword.capture.harness.gemini_tools import absolute
from afterword.capture.harness.lenient import part
from afterword.capture.harness.texts import tidy
from afterword.domain.items import ExitStatus, Kind

_SHELLS = frozenset({"bash", "powershell", "shell", "local_shell"})
_EDITORS = frozenset({"edit", "create", "str_replace_editor", "str_replace", "insert"})
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+?)\s*$", re.MULTILINE)
_EXIT = re.compile(r"<exited with (?:exit )?code (-?\d{1,10})>\s*\Z")
_ANY = msgspec.json.Decoder(dict[str, object])
_TEXT = msgspec.json.Decoder(str)
_NO_JSON = (b"", b"null")


class Called(NamedTuple):
    """One item a call makes."""

    kind: Kind
    text: str
    path: str | None = None


def called(data: Data, cwd: str) -> list[Called]:
    """The items of a call."""
    name = data.tool_name or "unknown tool"
    raw = bytes(data.arguments)
    if raw.startswith(b'"'):
        # Arguments may be a text that holds JSON, or a patch.
        raw = _inside(raw)
    given = part(raw, ARGUMENTS) or Arguments()
    if name in _SHELLS and given.command is not None:
        return [Called(Kind.COMMAND, tidy(given.command))]
    if name == "apply_patch":
        patch = given.input or given.patch or raw.decode("utf-8", "replace")
        paths = dict.fromkeys(_PATCHED.findall(patch))
        if paths:
            return [Called(Kind.EDIT, tidy(_portion(patch, path)), absolute(path, cwd)) for path in paths]
    if given.path:
        path = absolute(given.path, cwd)
        if name == "view" or (name == "str_replace_editor" and given.command == "view"):
            return [Called(Kind.READ, path, path)]
        if name in _EDITORS:
            text = given.file_text if given.file_text is not None else signed(given.old_str, given.new_str)
            return [Called(Kind.EDIT, tidy(text), path)]
    return [Called(Kind.CALL, tidy(f"{name} {_compact(raw)}".rstrip()))]


def _inside(raw: bytes) -> bytes:
    try:
        return _TEXT.decode(raw).encode("utf-8", "replace")
    except ValueError:
        return b""


def _portion(patch: str, path: str) -> str:
    """What a patch does to one of its files."""
    marks = list(_PATCHED.finditer(patch))
    kept = []
    for n, mark in enumerate(marks):
        if mark[1] == path:
            end = marks[n + 1].start() if n + 1 < len(marks) else len(patch)
            kept.append(patch[mark.end() : end].partition("*** End Patch")[0].strip("\n"))
    return "\n".join(kept)


def _compact(raw: bytes) -> str:
    given = part(raw, _ANY) if raw not in _NO_JSON else None
    return msgspec.json.encode(given).decode("utf-8", "replace") if given else ""


def result(data: Data) -> str:
    """What a tool gave back."""
    text = ""
    if isinstance(data.result, str):
        text = data.result
    elif data.result is not None:
        text = data.result.content or "\n".join(each.text for each in data.result.contents or [] if each.text)
    if not text and data.error is not None:
        text = data.error if isinstance(data.error, str) else data.error.message or ""
    return tidy(text)


def ended(data: Data, output: str) -> ExitStatus:
    """The exit number that a command's result names, else whether the call went well."""
    if isinstance(data.result, Result):
        codes = [each.exit_code for each in data.result.contents or [] if each.exit_code is not None]
        if codes:
            return codes[-1]
    code = _EXIT.search(output[-200:])
    if code:
        return int(code[1])
    if data.success is None:
        return None
    return "ok" if data.success else "error"
