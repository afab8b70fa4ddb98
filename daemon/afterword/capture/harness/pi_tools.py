"""Tool calls of pi: which kind of item one is, its text, and how it ended; what of a prompt a person typed."""

import re
from typing import NamedTuple

import msgspec

from afterword.capture.harness.claude_tools import signed
from afterword.capture.harness.gemini_tools import absolute
from afterword.capture.harness.lenient import part
from afterword.capture.harness.pi_lines import ARGUMENTS, Arguments, Block, Blocks, Spoken
from afterword.capture.harness.texts import decoded_size, image_note, tidy
from afterword.domain.items import ExitStatus, Kind

_EXIT = re.compile(r"Command exited with code (-?\d{1,10})\s*\Z")
_ABORTED = re.compile(r"(?:Command|Operation) aborted\s*\Z")
_INJECTED = re.compile(
    r'<skill name="[^"\n]*" location="[^"\n]*">\n.*?\n</skill>\s*|<file name="[^"\n]*">(?:\n.*?\n)?</file>\s*',
    re.DOTALL,
)
"""A skill's text, and the text of files named on the command line."""
_ANY = msgspec.json.Decoder(dict[str, object])


class Called(NamedTuple):
    kind: Kind
    text: str
    path: str | None = None


def called(block: Block, cwd: str) -> Called:
    """Kind, text and path of a call."""
    name, raw = block.name or "unknown tool", bytes(block.arguments)
    given = part(raw, ARGUMENTS) or Arguments()
    if name == "bash" and given.command is not None:
        return Called(Kind.COMMAND, tidy(given.command))
    if given.path:
        path = absolute(given.path, cwd)
        if name == "read":
            return Called(Kind.READ, path, path)
        if name == "write" and given.content is not None:
            return Called(Kind.EDIT, tidy(given.content), path)
        if name == "edit":
            spans = [(each.old_text, each.new_text) for each in given.edits or []] or [(given.old_text, given.new_text)]
            return Called(Kind.EDIT, tidy("\n@@\n".join(signed(*span) for span in spans)), path)
    inside = part(raw, _ANY) if raw else None
    text = msgspec.json.encode(inside).decode("utf-8", "replace") if inside else ""
    return Called(Kind.CALL, tidy(f"{name} {text}".rstrip()))


def ended(message: Spoken, output: str) -> ExitStatus:
    """The exit number a failed command's output ends with, else whether the call went well."""
    if not message.is_error:
        return "ok"
    code = _EXIT.search(output[-200:])
    if code and message.tool_name in (None, "bash"):
        return int(code[1])
    return "interrupted" if _ABORTED.search(output[-200:]) else "error"


def text_of(content: Blocks) -> str:
    """The texts of a message; pictures as size notes."""
    if content is None or isinstance(content, str):
        return tidy(content or "")
    return "\n".join(filter(None, (tidy(block.text) if block.text else _picture(block) for block in content)))


def typed(content: Blocks) -> str:
    """What of a message in the user's role a person typed."""
    return _INJECTED.sub("", text_of(content)).strip()


def _picture(block: Block) -> str:
    if block.type != "image":
        return ""
    data = bytes(block.data).strip(b'"')
    return image_note(block.mime_type, decoded_size(data[-2:].decode("latin-1"), len(data)))
