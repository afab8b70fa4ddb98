"""Qwen Code, rule by rule, on made-up records."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from afterword.capture.harness import qwen_code
from afterword.domain.events import Facts, Item
from afterword.domain.items import Kind

from .harness_model import Model, fingerprint, read_lines

S = "5e55104e-0000-4000-8000-000000000001"


def row(kind: str, uuid: str, parent: str | None, *parts: Any, **more: Any) -> dict[str, Any]:
    pieces = [{"text": part} if isinstance(part, str) else part for part in parts]
    base = {"uuid": uuid, "parentUuid": parent, "sessionId": S, "timestamp": "2026-03-04T10:00:00.000Z", "type": kind}
    return base | {"cwd": "/srv/x", "version": "0.19.11", "message": {"role": "user", "parts": pieces}} | more


def read(*rows: dict[str, Any]) -> Model:
    return read_lines("qwen_code", rows, f"/x/projects/-srv-x/chats/{S}.jsonl")


def texts(model: Model, which: str = "messages") -> list[str]:
    return [text for _, text in model.view(S)[which]]


def test_a_rewind_leaves_what_was_said_behind_it_also_when_nothing_follows() -> None:
    rows = [
        row("system", "s", None, subtype="session_approval_mode"),
        row("user", "u1", "s", "One"),
        row("assistant", "a1", "u1", "First"),
        row("system", "t", "a1", subtype="ui_telemetry"),
        row("user", "u2", "t", "Two"),
        row("assistant", "a2", "u2", "Second"),
        row("system", "r", "a1", subtype="rewind", systemPayload={"truncatedCount": 2}),
    ]
    model = read(*rows)
    assert texts(model) == ["One", "First"]
    assert texts(model, "abandoned") == ["Two", "Second"]
    assert texts(read(*rows, row("user", "u3", "r", "Three"))) == ["One", "First", "Three"]
    assert texts(read(*rows, row("system", "r0", None, subtype="rewind"))) == []


def test_a_record_beside_the_conversation_rewinds_nothing() -> None:
    title = {"customTitle": "A name", "titleSource": "auto"}
    rows = [
        row("user", "u1", None, "One"),
        row("assistant", "a1", "u1", "First"),
        row("user", "u2", "a1", "Two"),
        row("system", "c", "u1", subtype="custom_title", systemPayload=title),
        row("assistant", "a2", "u2", "Second"),
        row("assistant", "a3", "c", "hangs from the name"),
    ]
    assert texts(read(*rows[:5])) == ["One", "First", "Two", "Second"]
    assert texts(read(*rows)) == ["One", "hangs from the name"]
    assert read(*rows).view(S)["title"] == "A name"


def test_pieces_of_a_message_are_all_kept_and_what_follows_hangs_from_it() -> None:
    rows = [
        row("user", "u", None, "One"),
        row("assistant", "a", "u", "Hel"),
        row("assistant", "a", "u", "lo"),
        row("user", "v", "a", "Two"),
    ]
    assert texts(read(*rows)) == ["One", "Hel", "lo", "Two"]


def test_texts_of_a_record_are_one_and_thoughts_none_of_it() -> None:
    call = {"functionCall": {"id": "c", "name": "glob", "args": {"pattern": "*"}}}
    model = read(row("assistant", "a", None, {"text": "hm", "thought": True}, "Hel", "lo", call, "Bye"))
    assert texts(model) == ["Hello", "Bye"]


@pytest.mark.parametrize("subtype", ["notification", "cron", "goal_runtime", "background_task_completed"])
def test_what_nobody_typed_is_no_prompt(subtype: str) -> None:
    model = read(row("user", "u", None, "One"), row("user", "n", "u", "INJECTED", subtype=subtype))
    assert texts(model) == ["One"]
    assert model.skipped == []


def test_a_prompt_is_what_was_shown() -> None:
    rows = [
        row("user", "u", None, "expanded by a hook", systemPayload={"displayText": "typed"}),
        row("user", "v", "u", "<system-reminder>\nx\n</system-reminder>\nSay <system-reminder> twice"),
    ]
    assert texts(read(*rows)) == ["typed", "Say <system-reminder> twice"]


def test_how_a_command_ended() -> None:
    def ended(output: str, status: str | None, *, error: bool = False) -> Any:
        call = {"functionCall": {"id": "c", "name": "run_shell_command", "args": {"command": "make"}}}
        answer = {"functionResponse": {"id": "c", "name": "x", "response": {"error" if error else "output": output}}}
        outcome = {"callId": "c", "status": status, "resultDisplay": {"any": ["shape"]}}
        rows = row("assistant", "a", None, call), row("tool_result", "r", "a", answer, toolCallResult=outcome)
        return read(*rows).view(S)["commands"]

    assert ended("Output: x\nExit Code: 2\nSignal: (none)", "success") == [["make", 2]]
    assert ended("no such folder", "error", error=True) == [["make", "error"]]
    assert ended("cancelled", "cancelled", error=True) == [["make", "interrupted"]]
    assert ended("fine", "success") == [["make", "ok"]]


def test_a_compaction_that_failed_is_none() -> None:
    def compactions(status: Any) -> Any:
        payload = {"info": {"compressionStatus": status}, "compressedHistory": []}
        return read(
            row("user", "u", None, "One"), row("system", "c", "u", subtype="chat_compression", systemPayload=payload)
        ).view(S)["compactions"]

    assert [compactions(status) for status in (1, None, "completed", 2, 3)] == [1, 1, 1, 0, 0]


def test_unknown_types_are_counted() -> None:
    model = read(
        row("user", "u", None, "x", subtype="novel"),
        row("system", "s", "u", subtype="novel"),
        row("novel", "n", "s"),
    )
    assert model.skipped == ["user novel", "system novel", "novel"]


def test_a_branch_has_the_keys_of_what_it_was_copied_from_and_the_state_no_text() -> None:
    state = qwen_code.start(Path("/x/projects/p/chats/archive/b.jsonl"))
    origin = {"sessionId": "parent", "messageUuid": "u"}
    call = {"functionCall": {"id": "c", "name": "run_shell_command", "args": {"command": "secret"}}}
    rows = [
        row("user", "u", None, "secret words", forkedFrom=origin, gitBranch="secret-branch"),
        row("assistant", "a", "u", "secret", call),
    ]
    found = [each for line in rows for each in qwen_code.decode(msgspec.json.encode(line), state, fingerprint)]
    items = [each for each in found if isinstance(each, Item)]
    assert [(item.kind, item.key, item.owner) for item in items] == [
        (Kind.PROMPT, ("u", 0), "parent"),
        (Kind.REPLY, ("a", 0), None),
        (Kind.COMMAND, ("a", 1), None),
    ]
    facts = next(each for each in found if isinstance(each, Facts))
    assert (facts.forked_from, facts.archived, facts.version) == ("parent", True, "0.19.11")
    assert b"secret" not in msgspec.json.encode(state)
