"""`sources --explain FILE`: what each record became, fit to be shown to anybody, and nothing is written."""

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from catalogue import Entry, every_entry
from homes import FIXTURES, Home
from transcripts import ClaudeSession

SECRET = "sk-ant-api03-" + "Qz7Rk2Vw9Xt4" * 8


def claude(home: Home) -> Path:
    session = ClaudeSession(random.Random(1), session="session-1", cwd=f"{home.path}/code/api")
    session.prompt(f"My key is {SECRET}, see {home.path}/notes. " + "And so on. " * 40)
    session.command(f"curl -H 'Authorization: Bearer {SECRET}' {home.path}", "401", failed=True)
    session.lines.append(b'{"type":"hologram","sessionId":"session-1","beam":{"text":"Hidden words."}}\n')
    session.lines.append(b'{"type":"user", broken\n')
    session.reply("An answer without its newline.")
    path = session.path(home.path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(session.lines)[:-1])
    return path


def explained(home: Home, *words: str, code: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = home.json("sources", "--explain", *words, code=code)["explained"]
    return found


def test_what_each_record_became_is_told_and_scrubbed(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = claude(home)
    before = sorted(tmp_path.rglob("*"))
    found = explained(home, str(path))
    assert sorted(tmp_path.rglob("*")) == before
    said = json.dumps(found)
    assert SECRET not in said
    assert str(tmp_path) not in said
    assert "Hidden words" not in said
    assert (found["harness"], found["file"]) == ("claude-code", f"~{str(path).removeprefix(str(tmp_path))}")
    events = [event for record in found["records"] for event in record["became"]]
    prompt = next(event for event in events if event["event"] == "item")
    assert (prompt["kind"], prompt["said_by"], prompt["session"]) == ("prompt", "person", "session-1")
    assert prompt["text"].startswith("My key is [redacted:")
    assert prompt["text"].endswith("characters)")
    assert len(prompt["text"]) < 160
    assert prompt["key"][1] == "0"
    unknown = next(record for record in found["records"] if record["type"] == "hologram")
    assert unknown["fields"] == ["type", "sessionId", "beam"]
    assert found["sums"] == {
        "item prompt": 1, "item command": 1, "item output": 1, "item reply": 1, "finish command": 1, "row": 4,
        "facts": 2, "unknown type": 1, "bad line": 1,
    }  # fmt: skip
    shown = home.run("sources", "--explain", str(path)).stdout
    assert SECRET not in shown
    assert str(tmp_path) not in shown
    assert "hologram with type, sessionId, beam" in shown
    assert "bad line not JSON" in shown


@pytest.mark.parametrize("named", [False, True])
def test_a_file_that_was_copied_away_is_known_by_its_lines_or_by_name(named: bool, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    for harness in ("claude-code", "codex"):
        source = max((FIXTURES / "harness" / harness).rglob("*.jsonl"), key=lambda path: path.stat().st_size)
        copy = tmp_path / f"{harness}.txt"
        shutil.copyfile(source, copy)
        found = explained(home, str(copy), *(("--harness", harness) if named else ()))
        assert found["harness"] == harness
        assert found["sums"]["item prompt"] >= 1
        assert "bad line" not in found["sums"]


MAIN_FILE = {
    "claude-code": ".claude/projects/*/*0001.jsonl",
    "codex": ".codex/archived_sessions/*.zst",
    "gemini-cli": ".gemini/tmp/*/chats/*.json",
    "antigravity": ".gemini/antigravity/brain/*/.system_generated/logs/transcript_full.jsonl",
    "grok-build": ".grok/sessions/*/*0001/updates.jsonl",
    "copilot-cli": ".copilot/session-state/*/events.jsonl",
    "qwen-code": ".qwen/projects/*/chats/*.jsonl",
    "pi": ".pi/agent/sessions/*/*00c1.jsonl",
    "cursor": ".config/Cursor/User/globalStorage/state.vscdb",
    "opencode-v1": ".local/share/opencode/opencode.db",
    "opencode-v2": ".local/share/opencode/opencode.db",
    "aider": "srv/orchard-api/.aider.chat.history.md",
}


@every_entry
def test_every_kind_of_file_is_explained(entry: Entry, tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.env |= entry.variables(tmp_path)
    entry.lay_out(tmp_path)
    (path,) = tmp_path.glob(MAIN_FILE[entry.name])
    before = {each: each.stat().st_mtime_ns for each in tmp_path.rglob("*")}
    found = explained(home, str(path))
    assert found["harness"] == entry.harness
    assert found["sums"]["item prompt"] >= 1
    assert not {"bad line", "unknown type"} & found["sums"].keys()
    assert {each: each.stat().st_mtime_ns for each in tmp_path.rglob("*")} == before
    moved = tmp_path / "moved.bin"
    if entry.harness not in ("aider", "codex", "cursor"):  # a name without its folder says too little of these
        shutil.move(path, moved)
        assert explained(home, str(moved), "--harness", entry.harness)["sums"]["item prompt"] >= 1


def test_what_nobody_writes_is_said_in_a_sentence(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (tmp_path / "notes.txt").write_text("Dear diary,\nnothing today.\n")
    assert "no agent known here writes" in home.run("sources", "--explain", str(tmp_path / "notes.txt"), code=2).stderr
    said = home.run("sources", "--explain", str(tmp_path / "notes.txt"), "--harness", "nobody", code=2).stderr
    assert "no agent is called 'nobody'" in said
    home.run("sources", "--explain", str(tmp_path / "gone.jsonl"), code=2)
