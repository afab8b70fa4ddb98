"""GitHub Copilot CLI, rule by rule, on made-up events."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from afterword.capture.harness import copilot_cli, copilot_stores
from afterword.domain.events import Document, Facts, Finish, Item
from afterword.domain.items import Kind, SaidBy

from .harness_model import Model, fingerprint, read_lines

S = "5e55104e-0000-4000-8000-000000000001"
START = {"sessionId": S, "copilotVersion": "1.0.24", "context": {"cwd": "/srv/x"}}


def event(kind: str, number: int, data: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "id": f"e{number}", "timestamp": "2026-03-04T10:00:00.000Z", **more}


def read(*given: tuple[str, dict[str, Any]]) -> Model:
    rows = [event("session.start", 0, START)]
    rows += [event(kind, n + 1, data) for n, (kind, data) in enumerate(given)]
    return read_lines("copilot_cli", rows, "/x/session-state/folder/events.jsonl")


def ended(tool: str, given: Any, **complete: Any) -> list[Any]:
    start = {"toolCallId": "c", "toolName": tool, "arguments": given}
    model = read(("tool.execution_start", start), ("tool.execution_complete", {"toolCallId": "c", **complete}))
    found: list[Any] = model.view(S)["commands"]
    return found


@pytest.mark.parametrize(
    ("complete", "status"),
    [
        ({"success": True, "result": {"content": "x\n<exited with exit code 3>"}}, 3),
        ({"success": True, "result": {"content": "<exited with exit code 3> was printed"}}, "ok"),
        ({"success": True, "result": {"content": "", "contents": [{"type": "terminal", "exitCode": 0}]}}, 0),
        ({"success": True, "result": "fine"}, "ok"),
        ({"success": False, "error": {"message": "denied"}}, "error"),
        ({}, None),
    ],
)
def test_how_a_command_ended(complete: dict[str, Any], status: Any) -> None:
    assert ended("bash", {"command": "make"}, **complete) == [["make", status]]


def test_arguments_may_be_a_text() -> None:
    assert ended("powershell", '{"command": "dir"}', success=True) == [["dir", "ok"]]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (None, True),
        ("user", True),
        ("immediate-prompt", True),
        ("skill", False),
        ("skill-notes", False),
        ("autopilot", False),
        ("jit-instruction", False),
        ("system", False),
        ("thinking-exhausted-continuation", False),
    ],
)
def test_who_typed_a_message(source: str | None, said: bool) -> None:  # a case of the table
    model = read(("user.message", {"content": "Hello", "source": source}))
    assert model.said(S) == ([("user", "Hello")] if said else []) if S in model.sessions else not said


def test_a_patch_is_an_edit_of_each_file() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n-x\n+y\n*** Add File: /srv/b.py\n+z\n*** End Patch"
    model = read(
        ("tool.execution_start", {"toolCallId": "c", "toolName": "apply_patch", "arguments": {"input": patch}})
    )
    edits = [(item.path, item.text) for item in model.items.values() if item.kind is Kind.EDIT]
    assert edits == [("/srv/x/a.py", "-x\n+y"), ("/srv/b.py", "+z")]


def test_a_sub_agent_is_known_by_its_id_or_by_the_call() -> None:
    rows = [
        event("session.start", 0, START),
        event("subagent.started", 1, {"toolCallId": "call", "agentName": "explore"}, agentId="agent"),
        event("user.message", 2, {"content": "Look"}, agentId="agent"),
        event("assistant.message", 3, {"content": "Seen", "parentToolCallId": "call"}),
    ]
    model = read_lines("copilot_cli", rows)
    assert model.said(f"{S}/call") == [("user", "Look"), ("assistant", "Seen")]
    assert model.view(f"{S}/call")["parent"] == S
    assert {item.said_by for item in model.items.values()} == {SaidBy.AGENT}


def test_unknown_types_are_counted_and_known_ones_are_not() -> None:
    model = read(("session.brand_new", {}), ("hook.brand_new", {}), ("session.info", {}), ("abort", {}))
    assert model.skipped == ["session.brand_new"]


def test_keys_are_the_events_own_and_the_state_holds_no_text() -> None:
    state = copilot_cli.start(Path("/x/session-state/folder/events.jsonl"))
    assert copilot_cli.session_of(state) == "folder"
    rows = [
        event("session.start", 0, START),
        event("user.message", 1, {"content": "secret words"}),
        event("tool.execution_start", 2, {"toolCallId": "c", "toolName": "bash", "arguments": {"command": "secret"}}),
    ]
    found = [each for row in rows for each in copilot_cli.decode(msgspec.json.encode(row), state, fingerprint)]
    assert [item.key for item in found if isinstance(item, Item)] == [("e1", 0), ("e2", 0)]
    assert not [each for each in found if isinstance(each, Finish)]
    assert [facts.version for facts in found if isinstance(facts, Facts)] == ["1.0.24"]
    assert b"secret" not in msgspec.json.encode(state)


@pytest.mark.parametrize(
    ("notes", "title", "rank"),
    [
        ("id: x\nsummary: Plain words\n", "Plain words", 3),
        ("id: x\nsummary: |-\n  First line\n  second\nbranch: main\n", "First line", 3),
        ("name: 'It''s quoted'\nsummary: other\n", "It's quoted", 4),
        ('name: "a \\"b\\""\r\n', 'a "b"', 4),
        ("id: x\n", None, 3),
    ],
)
def test_notes(tmp_path: Path, notes: str, title: str | None, rank: int) -> None:
    path = tmp_path / "folder" / "workspace.yaml"
    path.parent.mkdir()
    log = path.with_name("events.jsonl")
    opened = Document(path, notes.encode())
    log.write_bytes(msgspec.json.encode(event("session.start", 0, START)))
    assert list(copilot_cli.parts(opened, {})) == []  # whose they are is not known before the line is whole
    log.write_bytes(log.read_bytes() + b"\n")
    (part,) = copilot_cli.parts(opened, {})
    ((facts,),) = copilot_cli.events(opened, part, fingerprint)
    assert isinstance(facts, Facts)
    assert (facts.session, facts.title, facts.title_rank) == (S, title, rank)
    assert copilot_stores.session_of(path) == "folder"
