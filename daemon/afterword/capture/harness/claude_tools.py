"""Tool calls of Claude Code: which kind of item one is, and its text."""

import msgspec

from afterword.capture.harness.claude_rows import INPUT, Block, Source, ToolInput
from afterword.capture.harness.lenient import part
from afterword.capture.harness.texts import decoded_size, image_note, tidy
from afterword.domain.items import Kind

_EDITS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
_ANY = msgspec.json.Decoder(dict[str, object])


def called(block: Block) -> tuple[Kind, str, str | None]:
    """Kind, text and path of a `tool_use` block."""
    name = block.name or "unknown tool"
    if name in ("Bash", "Read") or name in _EDITS:
        given = part(bytes(block.input), INPUT)
        if given is not None:
            if name == "Bash" and given.command is not None:
                return Kind.COMMAND, tidy(given.command), None
            if name == "Read" and given.file_path is not None:
                return Kind.READ, given.file_path, given.file_path
            path = given.file_path or given.notebook_path
            if name in _EDITS and path is not None:
                return Kind.EDIT, tidy(_span(name, given)), path
    return Kind.CALL, tidy(f"{name} {_compact(bytes(block.input))}".rstrip()), None


def _span(name: str, given: ToolInput) -> str:
    if name == "Write":
        return given.content or ""
    if name == "NotebookEdit":
        return signed("", given.new_source)
    if name == "MultiEdit":
        return "\n@@\n".join(signed(edit.old_string, edit.new_string) for edit in given.edits or [])
    return signed(given.old_string, given.new_string)


def signed(old: str | None, new: str | None) -> str:
    """A replaced span: old lines behind `-`, new lines behind `+`."""
    halves = (sign + text.replace("\n", "\n" + sign) for sign, text in (("-", old), ("+", new)) if text)
    return "\n".join(halves)


def _compact(raw: bytes) -> str:
    given = part(raw, _ANY) if raw else None
    if not given:
        return ""
    return msgspec.json.encode(given).decode("utf-8", "replace")


def result_text(content: str | list[Block] | None) -> str:
    """The text of a tool's result; pictures as size notes."""
    if content is None:
        return ""
    if isinstance(content, str):
        return tidy(content)
    parts = (tidy(block.text) if block.text else picture(block) for block in content)
    return "\n".join(filter(None, parts))


def picture(block: Block) -> str:
    """The size note of an image or document block; empty for any other."""
    if block.type not in ("image", "document"):
        return ""
    source = block.source or Source()
    if source.type != "base64":
        return "[image]"
    data = bytes(source.data).strip(b'"')
    return image_note(source.media_type, decoded_size(data[-2:].decode("latin-1"), len(data)))
