"""Messages in the shape that Cursor's agent keeps and writes: roles with texts, calls and results."""

from collections.abc import Iterator

import msgspec
from msgspec import Raw, Struct

from afterword.capture.harness import cursor_tools as tools
from afterword.capture.harness.cursor_speech import stamped, typed
from afterword.capture.harness.cursor_values import NO_JSON
from afterword.capture.harness.lenient import part


class Function(Struct, gc=False):
    name: str | None = None
    arguments: Raw = NO_JSON


class ToolCall(Struct, gc=False):
    """A call as older versions keep it."""

    id: str | None = None
    function: Function | None = None


class Block(Struct, gc=False):
    """A piece of a message, in the names of both the store and the transcript."""

    type: str = ""
    text: str | None = None
    tool_call_id: str | None = msgspec.field(default=None, name="toolCallId")
    tool_name: str | None = msgspec.field(default=None, name="toolName")
    args: Raw = NO_JSON
    result: Raw = NO_JSON
    output: Raw = NO_JSON
    is_error: bool | None = msgspec.field(default=None, name="isError")
    name: str | None = None
    input: Raw = NO_JSON


class Message(Struct, gc=False):
    """A message; of a transcript's line the part below `message`."""

    role: str | None = None
    content: str | list[Block] | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    name: str | None = None


class Words(Struct, gc=False):
    """A result given as an object with a text in it."""

    type: str | None = None
    value: str | None = None
    text: str | None = None


MESSAGES = msgspec.json.Decoder(Message)
_WORDS = msgspec.json.Decoder(Words)
_BLOCKS = msgspec.json.Decoder(list[Block])


def blocks(message: Message) -> list[Block]:
    """The pieces of a message, whichever shape they have."""
    if isinstance(message.content, list):
        found = message.content
    elif message.role == "tool":
        text = msgspec.json.encode(message.content or "")
        found = [Block("tool-result", tool_call_id=message.tool_call_id, tool_name=message.name, result=Raw(text))]
    else:
        found = [Block("text", message.content)] if message.content else []
    return [*found, *_old_calls(message)]


def _old_calls(message: Message) -> Iterator[Block]:
    for call in message.tool_calls or []:
        if call.function is not None and call.function.name:
            args = call.function.arguments
            yield Block("tool-call", tool_call_id=call.id, tool_name=call.function.name, args=args)


def asked(found: list[Block]) -> tuple[str, int | None]:
    """(what a person typed in a message in the user role, when), empty when nothing."""
    texts = [block.text for block in found if block.type == "text" and block.text]
    at = next((at for text in texts if (at := stamped(text)) is not None), None)
    marked = [text for text in texts if "<user_query>" in text]
    notes = ["[image]" for block in found if block.type in ("image", "file")]
    return "\n".join(filter(None, (*(typed(text) for text in marked or texts), *notes))), at


def call(block: Block) -> list[tools.Called]:
    """The items a call is."""
    name = block.tool_name or block.name or "unknown tool"
    return tools.called(name, tools.payload(block.args), tools.payload(block.input))


def result(block: Block) -> tools.Ended:
    """The text of a result, and how the tool ended as far as it says so."""
    raw = bytes(block.result) or bytes(block.output)
    text = tools.payload(Raw(raw))
    if raw.startswith(b"{"):
        words = part(raw, _WORDS)
        text = (words and (words.value or words.text)) or text
    elif raw.startswith(b"["):
        try:
            inner = _BLOCKS.decode(raw)
        except ValueError:
            inner = []
        text = "\n".join(piece.text for piece in inner if piece.text) or text
    found = tools.result(text)
    if found.exit_status is None and block.is_error:
        return tools.Ended(found.text, "error")
    return found
