"""The events of a GitHub Copilot CLI session: the fields we read, and which types of them there are."""

import msgspec
from msgspec import Raw, Struct

NO_JSON = Raw(b"")


class Context(Struct, gc=False):
    """Where the agent works."""

    cwd: str | None = None
    branch: str | None = None


class Content(Struct, gc=False, rename="camel"):
    """A piece of a tool's result."""

    type: str | None = None
    text: str | None = None
    exit_code: int | None = None


class Result(Struct, gc=False):
    content: str | None = None
    contents: list[Content] | None = None


class Error(Struct, gc=False):
    message: str | None = None
    code: str | None = None


class Data(Struct, gc=False, rename="camel"):
    """What an event says; every type has its own of these fields."""

    session_id: str | None = None
    copilot_version: str | None = None
    start_time: str | int | float | None = None
    context: Context | None = None
    selected_model: str | None = None
    new_model: str | None = None
    model: str | None = None
    title: str | None = None
    cwd: str | None = None
    branch: str | None = None
    content: str | None = None
    source: str | None = None
    reasoning_text: str | None = None
    tool_call_id: str | None = None
    parent_tool_call_id: str | None = None
    tool_name: str | None = None
    agent_name: str | None = None
    arguments: Raw = NO_JSON
    success: bool | None = None
    result: Result | str | None = None
    error: Error | str | None = None
    up_to_event_id: str | None = None


class Line(Struct, gc=False, rename="camel"):
    """One event."""

    type: str | None = None
    id: str | None = None
    timestamp: str | int | float | None = None
    agent_id: str | None = None
    data: Data | None = None


class Arguments(Struct, gc=False):
    """The arguments of the tools whose calls are more than a name."""

    command: str | None = None
    path: str | None = None
    file_text: str | None = None
    old_str: str | None = None
    new_str: str | None = None
    input: str | None = None
    patch: str | None = None


LINES = msgspec.json.Decoder(Line)
ARGUMENTS = msgspec.json.Decoder(Arguments)

_GROUPS = (
    "auto_mode_switch.", "canvas.", "capabilities.", "command.", "commands.", "elicitation.", "exit_plan_mode.",
    "extensions.", "external_tool.", "factory.", "fusion.", "hook.", "mcp.", "mcp_app.", "model.", "permission.",
    "sampling.", "session_limits.", "system.", "ui.", "user_input.",
)  # fmt: skip
_QUIET = {
    "abort", "pending_messages.modified", "skill.invoked", "tools.updated", "binary.asset", "custom.notification",
    *(f"tool.{word}" for word in (
        "execution_partial_result", "execution_progress", "user_requested", "search_activated",
    )),
    *(f"subagent.{word}" for word in ("completed", "configured", "deselected", "failed", "selected")),
    *(f"assistant.{word}" for word in (
        "turn_start", "turn_end", "turn_retry", "intent", "reasoning", "reasoning_delta", "streaming_delta",
        "tool_call_delta", "message_start", "message_delta", "server_tool_progress", "usage", "idle", "thinking",
        "fusion_phase_started", "fusion_phase_completed", "fusion_phase_failed",
    )),
    *(f"session.{word}" for word in (
        "auto_mode_resolved", "autopilot_objective_changed", "background_tasks_changed", "binary_asset",
        "canvas_closed", "canvas_opened", "canvas_recorded", "canvas_registry_changed", "canvas_removed",
        "canvas_unavailable", "compaction_start", "context_cleared", "custom_agents_updated", "custom_notification",
        "error", "extensions_loaded", "handoff", "idle", "import_legacy", "info", "managed_settings_enforced",
        "managed_settings_resolved", "mcp_prompts_list_changed", "mcp_resources_list_changed",
        "mcp_server_status_changed", "mcp_servers_loaded", "mcp_tools_list_changed", "mode_changed",
        "mode_notice_delivered", "permissions_changed", "plan_changed", "remote_steerable_changed",
        "schedule_cancelled", "schedule_created", "schedule_rearmed", "session_limits_changed", "shutdown",
        "skills_loaded", "task_complete", "todos_changed", "tools_updated", "truncation", "usage_checkpoint",
        "usage_info", "usage_record", "warning", "workspace_file_changed",
    )),
}  # fmt: skip


def quiet(kind: str) -> bool:
    """Whether an event of this type is known and says nothing that is kept."""
    return kind in _QUIET or kind.startswith(_GROUPS)


def whole(line: Line) -> bool:
    """Whether what was found behind a broken half is an event, not a piece of one."""
    return bool(line.type and line.data is not None)
