"""The entries of a pi session: the fields we read."""

from typing import TypeAlias

import msgspec
from msgspec import Raw, Struct

NO_JSON = Raw(b"")


class Block(Struct, gc=False, rename="camel"):
    """A piece of a message."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: Raw = NO_JSON
    mime_type: str | None = None
    data: Raw = NO_JSON


Blocks: TypeAlias = str | list[Block] | None


class Spoken(Struct, gc=False, rename="camel"):
    """A message, whoever's."""

    role: str | None = None
    content: Blocks = None
    model: str | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool | None = None
    command: str | None = None
    output: str | None = None
    exit_code: int | None = None
    cancelled: bool | None = None


class Line(Struct, gc=False, rename="camel"):
    """One entry, or the header of the file."""

    type: str | None = None
    id: str | None = None
    parent_id: str | None = None
    timestamp: str | int | float | None = None
    version: int | None = None
    cwd: str | None = None
    parent_session: str | None = None
    branched_from: str | None = None
    message: Spoken | None = None
    model_id: str | None = None
    name: str | None = None


class Replaced(Struct, gc=False, rename="camel"):
    old_text: str | None = None
    new_text: str | None = None


class Arguments(Struct, gc=False, rename="camel"):
    """The arguments of the tools whose calls are more than a name."""

    command: str | None = None
    path: str | None = None
    content: str | None = None
    old_text: str | None = None
    new_text: str | None = None
    edits: list[Replaced] | None = None


LINES = msgspec.json.Decoder(Line)
ARGUMENTS = msgspec.json.Decoder(Arguments)

QUIET = frozenset({
    "branch_summary", "context_edit", "context_transform", "custom", "custom_message", "ephemeral", "label", "leaf",
    "thinking_level_change", "usage",
})  # fmt: skip
"""Entries that are known and say nothing that is kept; what extensions put in was typed by nobody."""
QUIET_ROLES = frozenset({"branchSummary", "compactionSummary", "custom", "hookMessage"})


def whole(line: Line) -> bool:
    """Whether what was found behind a broken half is an entry, not a piece of one."""
    return bool(line.type and (line.id or line.timestamp))
