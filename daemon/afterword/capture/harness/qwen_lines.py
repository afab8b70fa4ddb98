"""The records of a Qwen Code session: the fields we read, and which kinds of them there are."""

import msgspec
from msgspec import Raw, Struct

from afterword.capture.harness.gemini_records import Inline, Loose, Response

NO_JSON = Raw(b"")


class FunctionCall(Struct, gc=False):
    id: str | None = None
    name: str | None = None
    args: Raw = NO_JSON


class FunctionResponse(Struct, gc=False):
    id: str | None = None
    name: str | None = None
    response: Response | None = None


class Part(Struct, gc=False, rename="camel"):
    """A piece of a message."""

    text: str | None = None
    thought: bool | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None
    inline_data: Inline | None = None


class Content(Struct, gc=False):
    role: str | None = None
    parts: list[Part] | None = None


class Outcome(Struct, gc=False, rename="camel"):
    """What the terminal knew of a tool's result."""

    call_id: str | None = None
    name: str | None = None
    status: str | None = None
    result_display: str | Loose | list[Raw] | None = None


class Compressed(Struct, gc=False, rename="camel"):
    compression_status: int | str | None = None


class Payload(Struct, gc=False, rename="camel"):
    """What a system record says, and what was shown of a prompt."""

    display_text: str | None = None
    custom_title: str | None = None
    title_source: str | None = None
    parent_session_id: str | None = None
    model_id: str | None = None
    files_read: list[str] | None = None
    info: Compressed | None = None


class Forked(Struct, gc=False, rename="camel"):
    session_id: str | None = None
    message_uuid: str | None = None


class Line(Struct, gc=False, rename="camel"):
    """One record."""

    uuid: str | None = None
    parent_uuid: str | None = None
    session_id: str | None = None
    timestamp: str | int | float | None = None
    type: str | None = None
    subtype: str | None = None
    cwd: str | None = None
    version: str | None = None
    git_branch: str | None = None
    model: str | None = None
    message: Content | None = None
    tool_call_result: Outcome | None = None
    system_payload: Payload | None = None
    agent_id: str | None = None
    agent_name: str | None = None
    forked_from: Forked | None = None


class Meta(Struct, gc=False, rename="camel"):
    """What lies beside a sub-agent's transcript."""

    agent_type: str | None = None
    tool_use_id: str | None = None


LINES = msgspec.json.Decoder(Line)
META = msgspec.json.Decoder(Meta)

BESIDE = frozenset({
    "custom_title", "session_artifact_event", "session_artifact_snapshot", "session_sources_snapshot", "turn_result",
})  # fmt: skip
"""Records that may stand beside the conversation: no branch ends in them."""
QUIET = BESIDE | {
    "agent_bootstrap", "agent_launch_prompt", "agent_retry", "agent_session_ready", "attribution_snapshot",
    "branch_checkpoint", "file_history_snapshot", "goal_runtime", "goal_state", "goal_turn_end",
    "managed_session_commit_v1", "managed_session_event_v1", "managed_session_header_v1", "notification",
    "omni_recall", "realtime_message", "rewind", "session_approval_mode", "session_execution_engine", "session_notes",
    "session_source", "slash_command", "ui_telemetry", "user_text_elements",
}  # fmt: skip
INJECTED = frozenset({"background_task_completed", "cron", "goal_runtime", "goal_state", "notification"})
"""Subtypes of records in the user's role that nobody typed."""


def whole(line: Line) -> bool:
    """Whether what was found behind a broken half is a record, not a piece of one."""
    return bool(line.type and (line.uuid or line.session_id))
