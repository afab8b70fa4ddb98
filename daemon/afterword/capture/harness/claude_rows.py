"""The rows of a Claude Code transcript: the fields we read, everything else is skipped in C."""

import msgspec
from msgspec import Raw, Struct

NO_JSON = Raw(b"")


class Source(Struct, gc=False):
    """A picture's data; left raw, only its size is told."""

    type: str | None = None
    media_type: str | None = None
    data: Raw = NO_JSON


class Block(Struct, gc=False):
    """One struct for all kinds of content blocks."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = NO_JSON
    tool_use_id: str | None = None
    is_error: bool | None = None
    content: "str | list[Block] | None" = None
    source: Source | None = None


class Message(Struct, gc=False):
    id: str | None = None
    model: str | None = None
    content: str | list[Block] | None = None


class ToolResult(Struct, gc=False):
    """The structured twin of a result; its big copies are skipped."""

    interrupted: bool | None = None


class ForkedFrom(Struct, gc=False, rename="camel"):
    session_id: str | None = None
    message_uuid: str | None = None


class Attachment(Struct, gc=False, rename="camel"):
    type: str | None = None
    prompt: str | list[Block] | None = None
    command_mode: str | None = None
    is_meta: bool | None = None


class Record(Struct, gc=False, rename="camel"):
    """One line, of whatever type."""

    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    timestamp: str | int | float | None = None
    cwd: str | None = None
    version: str | None = None
    git_branch: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_visible_in_transcript_only: bool | None = None
    is_api_error_message: bool | None = None
    forked_from: ForkedFrom | None = None
    message: Message | None = None
    tool_use_result: ToolResult | str | list[Raw] | int | float | bool | None = None
    attachment: Attachment | None = None
    operation: str | None = None
    content: str | list[Block] | None = None
    summary: str | None = None
    leaf_uuid: str | None = None
    ai_title: str | None = None
    custom_title: str | None = None
    last_prompt: str | None = None


class AgentMeta(Struct, gc=False, rename="camel"):
    """The `.meta.json` beside a sub-agent's transcript."""

    agent_type: str | None = None
    tool_use_id: str | None = None


class Edit(Struct, gc=False):
    old_string: str | None = None
    new_string: str | None = None


class ToolInput(Struct, gc=False):
    """The arguments of the tools we read closely."""

    command: str | None = None
    file_path: str | None = None
    notebook_path: str | None = None
    old_string: str | None = None
    new_string: str | None = None
    new_source: str | None = None
    content: str | None = None
    edits: list[Edit] | None = None


RECORDS = msgspec.json.Decoder(Record)
META = msgspec.json.Decoder(AgentMeta)
INPUT = msgspec.json.Decoder(ToolInput)

SPOKEN = frozenset({"user", "assistant"})
TITLES = frozenset({"summary", "ai-title", "custom-title", "last-prompt"})
QUIET = frozenset(
    {
        "agent-color",
        "agent-name",
        "agent-setting",
        "attribution-snapshot",
        "bridge-session",
        "content-replacement",
        "file-history-snapshot",
        "frame-link",
        "marble-origami-commit",
        "marble-origami-snapshot",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "relocated",
        "speculation-accept",
        "tag",
        "task-summary",
        "worktree-state",
    }
)
"""Known and without speech."""
KNOWN = SPOKEN | TITLES | QUIET | {"attachment", "system", "queue-operation"}


def whole(record: Record) -> bool:
    """Whether what was found behind a broken half is a row and not a content block."""
    return record.type in KNOWN and bool(record.uuid or record.session_id or record.type in TITLES | QUIET)
