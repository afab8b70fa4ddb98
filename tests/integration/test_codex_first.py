"""Codex's first format: a rollout is one JSON document that is written whole at every change."""

import json
from pathlib import Path
from typing import Any

from homes import Home

THREAD = "019d0000-0000-7000-8000-0000000000f1"


def said(role: str, text: str) -> dict[str, Any]:
    kind = "input_text" if role == "user" else "output_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


ITEMS = [
    said("user", "<environment_context>\n<cwd>/srv</cwd>\n</environment_context>"),
    said("user", "Why does it fail?"),
    {"type": "function_call", "name": "shell", "arguments": '{"command":["make","-j"]}', "call_id": "c1"},
    {"type": "function_call_output", "call_id": "c1", "output": '{"output":"no","metadata":{"exit_code":2}}'},
    said("assistant", "The rule has no target."),
]


def write(home: Home, items: list[Any], cut: int = 0) -> Path:
    header = {"id": THREAD, "timestamp": "2025-05-01T10:00:00.000Z", "instructions": ""}
    path = home.path / f".codex/sessions/rollout-2025-05-01-{THREAD}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"session": header, "items": items}, indent=2)
    path.write_text(text[: len(text) - cut])
    return path


def shown(home: Home) -> list[tuple[str, str, Any]]:
    messages = home.json("show", THREAD)["messages"]
    return [(m["kind"], m["text"], m["exit_status"]) for m in messages if not m["abandoned"]]


WHOLE = [
    ("prompt", "Why does it fail?", None),
    ("command", "make -j", 2),
    ("output", "no", None),
    ("reply", "The rule has no target.", None),
]


def test_a_rollout_of_the_first_format_is_read_as_it_grows(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for size in range(1, len(ITEMS) + 1):
        path = write(home, ITEMS[:size])
        home.run("ingest")
    assert shown(home) == WHOLE
    assert home.json("show", THREAD)["session"]["started"] == "2025-05-01T10:00:00Z"
    grown = home.run("doctor", "--fingerprint", code=None).stdout
    write(home, [*ITEMS, said("user", "Torn.")], cut=9)
    home.run("ingest")
    assert shown(home) == WHOLE
    (codex,) = [s for s in home.json("sources")["sources"] if s["harness"] == "codex"]
    assert "no whole JSON document" in codex["problem"]
    path.unlink()
    home.run("ingest")
    assert shown(home) == WHOLE
    once = Home(tmp_path / "once")
    write(once, ITEMS)
    once.run("ingest")
    assert once.run("doctor", "--fingerprint", code=None).stdout == grown


def test_the_log_of_prompts_adds_nothing_to_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    write(home, ITEMS)
    log = home.path / ".codex/history.jsonl"
    log.write_text(json.dumps({"session_id": THREAD, "ts": 1746093600, "text": "Why does it fail?"}) + "\n")
    home.run("ingest")
    assert shown(home) == WHOLE
