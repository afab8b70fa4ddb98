"""The JSON of opencode's messages and parts, in all its storage eras: the fields we read, all of them optional."""

import msgspec
from msgspec import Raw, Struct

Number = int | float | None


class Loose(Struct, gc=False):
    """An object nothing of which is read."""


class Times(Struct, gc=False):
    """Epoch milliseconds."""

    created: Number = None
    start: Number = None
    end: Number = None
    completed: Number = None
    updated: Number = None
    archived: Number = None


class Model(Struct, gc=False):
    id: str | None = None
    modelID: str | None = None  # noqa: N815  # the format's


class Where(Struct, gc=False):
    cwd: str | None = None


class Revert(Struct, frozen=True, gc=False):
    """From this message, or this part of it, on everything is undone."""

    message_id: str | None = msgspec.field(default=None, name="messageID")
    part_id: str | None = msgspec.field(default=None, name="partID")


class Session(Struct, gc=False):
    """A session of the JSON trees."""

    directory: str | None = None
    title: str | None = None
    parent: str | None = msgspec.field(default=None, name="parentID")
    time: Times | None = None
    revert: Revert | None = None


class Metadata(Struct, gc=False):
    """What a tool says of its run, beside its output."""

    exit: int | None = None
    session: str | None = msgspec.field(default=None, name="sessionId")


class Fault(Struct, gc=False):
    message: str | None = None


class Piece(Struct, gc=False):
    """A piece of a tool's result."""

    type: str = ""
    text: str | None = None
    url: str | None = None


class ToolState(Struct, gc=False):
    status: str = ""
    input: Raw = Raw()
    output: str | None = None
    content: list[Piece] | str | None = None
    error: str | Fault | None = None
    metadata: Metadata | None = None
    time: Times | None = None


class Part(Struct, gc=False):
    """A part of a message (first two eras), or a piece of its content (third)."""

    type: str = ""
    text: str | None = None
    synthetic: bool = False
    ignored: bool = False
    call: str | None = msgspec.field(default=None, name="callID")
    id: str | None = None
    tool: str | None = None
    name: str | None = None
    state: ToolState | None = None
    time: Times | None = None
    mime: str | None = None
    url: str | None = None
    filename: str | None = None
    files: list[str] | None = None
    prompt: str | None = None
    agent: str | Loose | None = None


class Message(Struct, gc=False):
    """A message of the first two eras; its parts lie elsewhere."""

    role: str = ""
    time: Times | None = None
    parent: str | None = msgspec.field(default=None, name="parentID")
    model: str | None = msgspec.field(default=None, name="modelID")
    agent: str | None = None
    mode: str | None = None
    path: Where | None = None
    summary: bool | Loose | None = None


class Attached(Struct, gc=False):
    """A file given with a prompt (third era)."""

    uri: str | None = None
    url: str | None = None
    mime: str | None = None
    name: str | None = None


class Entry(Struct, gc=False):
    """A message of the third era, whole."""

    text: str | None = None
    files: list[Attached] | None = None
    agent: str | None = None
    model: Model | str | None = None
    content: list[Part] | None = None
    time: Times | None = None
    command: str | None = None
    status: str | None = None
    exit: int | None = None
    output: str | None = None


class Edit(Struct, gc=False):
    old: str | None = msgspec.field(default=None, name="oldString")
    new: str | None = msgspec.field(default=None, name="newString")


class ToolInput(Struct, gc=False):
    command: str | None = None
    path: str | None = msgspec.field(default=None, name="filePath")
    old: str | None = msgspec.field(default=None, name="oldString")
    new: str | None = msgspec.field(default=None, name="newString")
    content: str | None = None
    edits: list[Edit] | None = None
    patch: str | None = msgspec.field(default=None, name="patchText")


SESSION = msgspec.json.Decoder(Session)
MESSAGE = msgspec.json.Decoder(Message)
PART = msgspec.json.Decoder(Part)
ENTRY = msgspec.json.Decoder(Entry)
REVERT = msgspec.json.Decoder(Revert)
INPUT = msgspec.json.Decoder(ToolInput)
ANY = msgspec.json.Decoder(dict[str, object])
