"""The lines of a Codex rollout: the fields we read of both modes, everything else is skipped in C."""

import msgspec
from msgspec import Raw, Struct, field


class Loose(Struct, gc=False):
    """An object nothing of which is read."""


class Part(Struct, gc=False):
    """A piece of a message, a summary or a tool's output."""

    type: str = ""
    text: str | None = None
    image_url: str | Loose | None = None


class Output(Struct, gc=False):
    """A tool's output given as an object."""

    content: str | list[Part] | None = None
    output: str | None = None
    success: bool | None = None


class Action(Struct, gc=False):
    """What a local shell call or a web search does."""

    type: str | None = None
    command: list[str] | str | None = None
    query: str | None = None
    url: str | None = None
    pattern: str | None = None


class Spawn(Struct, gc=False):
    parent_thread_id: str | None = None
    agent_nickname: str | None = None
    agent_role: str | None = None


class SubAgent(Struct, gc=False):
    thread_spawn: Spawn | None = None


class Source(Struct, gc=False):
    subagent: SubAgent | str | None = None


class Git(Struct, gc=False):
    branch: str | None = None


class HistoryBase(Struct, gc=False):
    thread_id: str | None = None
    end_ordinal_exclusive: int | None = None


class Change(Struct, gc=False):
    """One file of a patch, in either mode."""

    type: str | Loose | None = None
    path: str | None = None
    unified_diff: str | None = None
    diff: str | None = None
    content: str | None = None
    move_path: str | None = None


Changes = dict[str, Change] | list[Change] | None


class ThreadItem(Struct, gc=False):
    """A finished item of a paginated thread; fields in snake and in camel case."""

    type: str = ""
    id: str | None = None
    content: str | list[Part] | None = None
    summary_text: list[str] | str | None = None
    summary: list[str] | str | None = None
    command: list[str] | str | None = None
    aggregated_output: str | None = None
    aggregated_output_camel: str | None = field(default=None, name="aggregatedOutput")
    exit_code: int | None = None
    exit_code_camel: int | None = field(default=None, name="exitCode")
    stdout: str | None = None
    status: str | Loose | None = None
    changes: Changes = None
    server: str | None = None
    tool: str | None = None
    arguments: Raw = Raw(b"")
    query: str | None = None
    source: str | Loose | None = None


class Payload(Struct, gc=False):
    """The payload of every line type, and the bare lines of the first `.jsonl` rollouts."""

    type: str = ""
    id: str | None = None
    timestamp: str | int | float | None = None
    # session_meta
    cwd: str | None = None
    cli_version: str | None = None
    forked_from_id: str | None = None
    parent_thread_id: str | None = None
    agent_nickname: str | None = None
    agent_role: str | None = None
    history_mode: str | None = None
    history_base: HistoryBase | None = None
    source: str | Source | None = None
    git: Git | None = None
    # turns
    turn_id: str | None = None
    model: str | None = None
    num_turns: int | float | None = None
    thread_name: str | None = None
    thread_id: str | None = None
    # messages
    role: str | None = None
    message: str | Loose | list[Raw] | None = None
    content: str | list[Part] | None = None
    summary: list[Part] | str | Loose | None = None
    text: str | Loose | None = None
    images: list[str] | None = None
    # tools
    name: str | None = None
    call_id: str | None = None
    arguments: str | Loose | None = None
    input: str | Loose | None = None
    output: str | Output | list[Part] | None = None
    action: Action | str | None = None
    changes: Changes = None
    success: bool | None = None
    exit_code: int | None = None
    # paginated threads
    item: ThreadItem | None = None


class Line(Struct, gc=False):
    timestamp: str | int | float | None = None
    type: str = ""
    payload: Payload | None = None
    ordinal: int | None = None
    # a bare header or a line of session_index.jsonl
    id: str | None = None
    thread_name: str | None = None
    # a line of history.jsonl
    session_id: str | None = None
    conversation_id: str | None = None
    ts: int | float | None = None
    text: str | None = None


class Arguments(Struct, gc=False):
    """What we read of a tool's arguments."""

    cmd: str | list[str] | None = None
    command: str | list[str] | None = None
    input: str | list[str] | None = None
    patch: str | None = None
    session_id: str | int | None = None


class Metadata(Struct, gc=False):
    exit_code: int | None = None


class OldOutput(Struct, gc=False):
    """The output of a command as older versions wrote it: JSON inside a string."""

    output: str
    metadata: Metadata


LINES = msgspec.json.Decoder(Line)
BARE = msgspec.json.Decoder(Payload)
ARGUMENTS = msgspec.json.Decoder(Arguments)
OLD_OUTPUT = msgspec.json.Decoder(OldOutput)

LINE_TYPES = frozenset(
    {
        "session_meta",
        "turn_context",
        "response_item",
        "event_msg",
        "compacted",
        "world_state",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
        "security_risk_score",
        "realtime_item",
        "rollout_reference",
    }
)
QUIET_ITEMS = frozenset(
    {
        "compaction",
        "compaction_summary",
        "context_compaction",
        "ghost_snapshot",
        "image_generation_call",
        "other",
        "tool_search_call",
        "tool_search_output",
    }
)
"""Response items without text of ours."""
QUIET_EVENTS = frozenset(
    {
        "agent_message_delta",
        "agent_reasoning_raw_content",
        "agent_reasoning_section_break",
        "background_event",
        "context_compacted",
        "deprecation_notice",
        "entered_review_mode",
        "error",
        "exec_command_begin",
        "exec_command_output_delta",
        "exited_review_mode",
        "guardian_warning",
        "image_generation_end",
        "item_started",
        "mcp_tool_call_begin",
        "mcp_tool_call_end",
        "model_reroute",
        "patch_apply_begin",
        "patch_apply_updated",
        "plan_update",
        "session_configured",
        "stream_error",
        "sub_agent_activity",
        "thread_goal_updated",
        "thread_settings_applied",
        "token_count",
        "turn_diff",
        "undo_completed",
        "undo_started",
        "view_image_tool_call",
        "warning",
        "web_search_begin",
        "web_search_end",
    }
)
QUIET_THREAD_ITEMS = frozenset(
    {"EnteredReviewMode", "ExitedReviewMode", "HookPrompt", "ImageGeneration", "ImageView", "Plan", "SubAgentActivity"}
)


def whole(line: Line) -> bool:
    """Whether what was found behind a broken half is a line and not a piece of one."""
    return line.payload is not None and line.type in LINE_TYPES
