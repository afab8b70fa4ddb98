"""pi, rule by rule, on made-up entries."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from afterword.capture.harness import pi
from afterword.domain.events import Item
from afterword.domain.items import Kind

from .harness_model import Model, fingerprint, read_lines

S = "5e55104e-0000-4000-8000-000000000001"
HEADER = {"type": "session", "version": 3, "id": S, "timestamp": "2026-03-04T10:00:00.000Z", "cwd": "/srv/x"}


def entry(its_id: str, parent: str | None, **message: Any) -> dict[str, Any]:
    base = {"type": "message", "id": its_id, "parentId": parent, "timestamp": "2026-03-04T10:00:01.000Z"}
    return base | {"message": message}


def user(its_id: str, parent: str | None, text: str) -> dict[str, Any]:
    return entry(its_id, parent, role="user", content=[{"type": "text", "text": text}])


def read(*rows: dict[str, Any]) -> Model:
    return read_lines("pi", [HEADER, *rows], f"/x/2026-03-04T10-00-00-000Z_{S}.jsonl")


def texts(model: Model, which: str = "messages") -> list[str]:
    return [text for _, text in model.view(S)[which]]


def test_going_back_to_a_branch_lets_it_live_again() -> None:
    rows = [user("a", None, "A"), user("b", "a", "B"), user("c", "a", "C")]
    assert texts(read(*rows)) == ["A", "C"]
    model = read(*rows, user("d", "b", "D"))
    assert texts(model) == ["A", "B", "D"]
    assert texts(model, "abandoned") == ["C"]
    assert texts(read(*rows, user("e", None, "E"))) == ["E"]


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ('<skill name="n" location="/x/SKILL.md">\ntext\n</skill>\n\nDo it', "Do it"),
        ('<file name="/x/a.txt">\ntext\n</file>\nRead that', "Read that"),
        ('What does <file name="x"> mean?', 'What does <file name="x"> mean?'),
    ],
)
def test_what_a_person_typed(typed: str, kept: str) -> None:
    assert texts(read(user("a", None, typed))) == [kept]


@pytest.mark.parametrize(
    ("output", "is_error", "status"),
    [
        ("x\n\nCommand exited with code 2", True, 2),
        ("Command exited with code 2", False, "ok"),
        ("Command aborted", True, "interrupted"),
        ("Command timed out after 5 seconds", True, "error"),
    ],
)
def test_how_a_command_ended(output: str, is_error: bool, status: Any) -> None:  # a case of the table
    call = {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "make"}}
    content = [{"type": "text", "text": output}]
    result = entry("b", "a", role="toolResult", toolCallId="c", toolName="bash", content=content, isError=is_error)
    model = read(entry("a", None, role="assistant", content=[call], model="m"), result)
    assert model.view(S)["commands"] == [["make", status]]
    assert model.view(S)["model"] == "m"


def test_a_persons_own_commands() -> None:
    rows = [
        entry("a", None, role="bashExecution", command="ls", output="x", exitCode=1, cancelled=False),
        entry("b", "a", role="bashExecution", command="sleep 9", output="", cancelled=True),
    ]
    assert read(*rows).view(S)["commands"] == [["ls", 1], ["sleep 9", "interrupted"]]


def test_what_extensions_say_is_no_prompt_and_unknown_types_are_counted() -> None:
    rows: list[dict[str, Any]] = [
        entry("a", None, role="custom", content="INJECTED"),
        {"type": "custom_message", "id": "b", "parentId": "a", "content": "INJECTED"},
        entry("c", "b", role="novel", content="x"),
        {"type": "novel", "id": "d", "parentId": "c"},
    ]
    model = read(*rows)
    assert model.items == {}
    assert model.skipped == ["message novel", "novel"]


def test_a_fork_has_the_keys_of_what_it_was_copied_from() -> None:
    rows = [user("a", None, "A"), user("b", "a", "B")]
    parent = f"C:\\x\\2026-03-04T10-00-00-000Z_{S}.jsonl"
    fork = [HEADER | {"id": "other", "parentSession": parent}, *rows, user("c", "b", "C")]
    model = read_lines("pi", fork)
    assert set(read(*rows).items) < set(model.items)
    assert model.view("other")["forked_from"] == S


def test_edits() -> None:
    call = {"type": "toolCall", "name": "edit", "arguments": {"path": "a.py", "oldText": "x", "newText": "y"}}
    many = call | {"arguments": {"path": "/b.py", "edits": [{"oldText": "x", "newText": "y"}, {"newText": "z"}]}}
    model = read(entry("a", None, role="assistant", content=[call, many]))
    edits = [(item.path, item.text) for item in model.items.values() if item.kind is Kind.EDIT]
    assert edits == [("/srv/x/a.py", "-x\n+y"), ("/b.py", "-x\n+y\n@@\n+z")]


def test_the_state_holds_no_text() -> None:
    state = pi.start(Path(f"/x/2026-03-04T10-00-00-000Z_{S}.jsonl"))
    assert pi.session_of(state) == S
    call = {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "secret"}}
    rows = [HEADER, user("a", None, "secret words"), entry("b", "a", role="assistant", content=[call])]
    found = [each for row in rows for each in pi.decode(msgspec.json.encode(row), state, fingerprint)]
    second = 1_772_618_401_000_000
    assert [item.key for item in found if isinstance(item, Item)] == [("a", second, 0), ("b", second, 0)]
    assert b"secret" not in msgspec.json.encode(state)
