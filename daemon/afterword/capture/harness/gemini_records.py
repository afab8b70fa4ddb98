"""The records of a Gemini CLI session: the fields we read of the operation log and of whole documents."""

from typing import TypeAlias

import msgspec
from msgspec import Raw, Struct, field

NO_JSON = Raw(b"")


class Loose(Struct, gc=False):
    """An object nothing of which is read."""


class Response(Struct, gc=False):
    """What a tool answered."""

    output: str | None = None
    error: str | None = None


class FunctionResponse(Struct, gc=False):
    response: Response | None = None


class Inline(Struct, gc=False, rename="camel"):
    """Data in the message; left raw, only its size is told."""

    mime_type: str | None = None
    data: Raw = NO_JSON


class Part(Struct, gc=False, rename="camel"):
    """A piece of a message's content or of a tool's result."""

    text: str | None = None
    thought: bool | None = None
    function_call: Loose | None = None
    function_response: FunctionResponse | None = None
    inline_data: Inline | None = None


Content: TypeAlias = str | Part | list[Part | str] | None


class Thought(Struct, gc=False):
    subject: str | None = None
    description: str | None = None
    timestamp: str | int | float | None = None


class Display(Struct, gc=False, rename="camel"):
    """What the terminal showed of a result, when it is more than text."""

    file_diff: str | None = None
    file_path: str | None = None


class ToolCall(Struct, gc=False, rename="camel"):
    id: str | None = None
    name: str | None = None
    args: Raw = NO_JSON
    status: str | None = None
    timestamp: str | int | float | None = None
    result: Content = None
    result_display: str | Display | list[Raw] | None = None


class Arguments(Struct, gc=False):
    """The arguments of the tools whose calls are more than a name."""

    command: str | None = None
    file_path: str | None = None
    absolute_path: str | None = None
    path: str | None = None
    content: str | None = None
    old_string: str | None = None
    new_string: str | None = None
    paths: list[str] | None = None
    include: list[str] | None = None


class Message(Struct, gc=False, rename="camel"):
    """A message, in either format."""

    id: str | None = None
    timestamp: str | int | float | None = None
    type: str | None = None
    content: Content = None
    display_content: Content = None
    model: str | None = None
    thoughts: list[Thought] | None = None
    tool_calls: list[ToolCall] | None = None


class Fields(Struct, gc=False, rename="camel"):
    """Metadata that is set later, or the whole list of messages."""

    session_id: str | None = None
    summary: str | None = None
    directories: list[str] | None = None
    messages: list[Message] | None = None


class Line(Message, gc=False, rename="camel"):
    """One line of the operation log, whatever it is."""

    rewind_to: str | None = field(default=None, name="$rewindTo")
    changes: Fields | None = field(default=None, name="$set")
    session_id: str | None = None
    project_hash: str | None = None
    start_time: str | int | float | None = None
    kind: str | None = None
    summary: str | None = None
    directories: list[str] | None = None


class Session(Struct, gc=False, rename="camel"):
    """A whole document."""

    session_id: str | None = None
    start_time: str | int | float | None = None
    kind: str | None = None
    summary: str | None = None
    directories: list[str] | None = None
    messages: list[Message] | None = None


LINES = msgspec.json.Decoder(Line)
SESSION = msgspec.json.Decoder(Session)
ARGUMENTS = msgspec.json.Decoder(Arguments)


def whole(line: Line) -> bool:
    """Whether what was found behind a broken half is a record, not a piece of one."""
    return bool(line.rewind_to or line.changes or (line.id and line.type) or (line.session_id and line.project_hash))
