"""What lies beside transcripts, and the folders they tell of, may be anything: nothing of it stops the reading."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from homes import FIXTURES, Home, drop_override
from opencode import MAIN, tree

GROK = "019e0000-0000-7000-8000-00000000000a"
ANTIGRAVITY = "8c2d0000-0000-4000-8000-00000000000a"
STORE = "7e100000-0000-4000-8000-00000000000a"


def write(path: Path, *records: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in records))
    return path


def claude_row(session: str, text: str, cwd: str = "/srv/orchard-api") -> dict[str, Any]:
    row = {"type": "user", "sessionId": session, "uuid": f"{session}-1", "timestamp": "2026-03-04T10:00:00.000Z"}
    return {**row, "parentUuid": None, "cwd": cwd, "message": {"role": "user", "content": text}}


def chunk(kind: str, text: str) -> dict[str, Any]:
    update = {"sessionUpdate": kind, "content": {"type": "text", "text": text}, "_meta": {"promptIndex": 0}}
    return {"timestamp": 1772618400, "method": "session/update", "params": {"sessionId": GROK, "update": update}}


def beside(home: Path) -> Iterator[tuple[str, str, list[Path]]]:
    """(session, its prompt, what its harness reads beside it): the transcripts are written, the rest is not."""
    claude = home / ".claude/projects/-srv-orchard-api"
    write(claude / "c1.jsonl", claude_row("c1", "For Claude."))
    write(
        claude / "c1/subagents/agent-a1.jsonl", claude_row("c1", "For a sub-agent.") | {"agentId": "a1", "uuid": "a1-1"}
    )
    yield "c1", "For Claude.", [home / ".claude/settings.json", claude / "c1/subagents/agent-a1.meta.json"]
    gemini = home / ".gemini/tmp/orchard"
    write(
        gemini / "chats/session-g1.jsonl",
        {"sessionId": "g1", "projectHash": "x", "startTime": "2026-03-04T10:00:00Z"},
        {"id": "m1", "type": "user", "timestamp": "2026-03-04T10:00:00Z", "content": "For Gemini."},
    )
    yield "g1", "For Gemini.", [gemini / ".project_root", home / ".gemini/projects.json"]
    log = home / f".gemini/antigravity/brain/{ANTIGRAVITY}/.system_generated/logs/transcript.jsonl"
    step = {"step_index": 0, "source": "USER_EXPLICIT", "type": "USER_INPUT", "status": "DONE"}
    write(log, step | {"created_at": "2026-03-04T10:00:00Z", "content": "For Antigravity."})
    cache = home / ".gemini/antigravity/cache"
    names = ("conversation_metadata.json", "last_conversations.json")
    yield ANTIGRAVITY, "For Antigravity.", [cache / name for name in names]
    grok = home / f".grok/sessions/%2Fsrv/{GROK}"
    write(grok / "updates.jsonl", chunk("user_message_chunk", "For Grok."), chunk("agent_message_chunk", "Yes."))
    meta = home / f".grok/sessions/%2Fsrv/parent/subagents/{GROK}/meta.json"
    yield GROK, "For Grok.", [grok / "summary.json", grok.parent / ".cwd", meta]
    said = {"role": "user", "message": {"content": [{"type": "text", "text": "For Cursor."}]}}
    write(home / f".cursor/projects/srv/agent-transcripts/{STORE}.jsonl", said)
    chat = home / f".cursor/chats/aa/{STORE}"
    window = home / ".config/Cursor/User/workspaceStorage/aa"
    paths = [chat / "store.db", chat / "meta.json", window / "workspace.json", window / "state.vscdb"]
    yield STORE, "For Cursor.", paths


def prompts(home: Home, session: str) -> list[str]:
    return [m["text"] for m in home.json("show", session)["messages"] if m["kind"] == "prompt"]


@pytest.mark.parametrize("kind", ["pipe", "folder", "loop", "endless"])
def test_side_files_that_are_no_files_stop_nothing(kind: str, tmp_path: Path) -> None:
    home = Home(tmp_path)
    wanted = {}
    for session, prompt, paths in beside(tmp_path):
        wanted[session] = [prompt]
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
            match kind:
                case "pipe":
                    os.mkfifo(path)
                case "folder":
                    path.mkdir()
                case "loop":
                    path.symlink_to(path.name)
                case _:
                    path.symlink_to("/dev/zero")
    home.run("up", "--once", "--settle", "0")
    assert {session: prompts(home, session) for session in wanted} == wanted
    home.run("doctor", code=None)


@pytest.mark.parametrize("kind", ["pipe", "folder", "loop"])
def test_one_record_of_a_tree_that_is_no_file_harms_no_other(kind: str, tmp_path: Path) -> None:
    home = Home(tmp_path)
    storage = tree(tmp_path)
    home.run("ingest")
    before = prompts(home, MAIN)
    assert before
    message = next(iter(sorted((storage / "message" / MAIN).iterdir())))
    for path in (storage / "part" / message.stem / "prt_zz.json", message.with_name("msg_zz.json")):
        {"pipe": os.mkfifo, "folder": Path.mkdir, "loop": lambda its: its.symlink_to(its.name)}[kind](path)
    shutil.rmtree(home.state)
    home.run("ingest")
    assert prompts(home, MAIN) == before
    (found,) = [s for s in home.json("sources")["sources"] if s["harness"] == "opencode"]
    assert found["bad_lines"] == 2


def unprivileged(home: Home, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    words = (sys.executable, "-m", "afterword", *words)
    return subprocess.run(
        words, env=home.env | env, capture_output=True, text=True, preexec_fn=drop_override, check=False
    )


@pytest.mark.skipif(sys.platform != "linux", reason="drops a Linux capability")
def test_folders_out_of_reach_stop_no_pass(tmp_path: Path) -> None:
    home = Home(tmp_path)
    locked = tmp_path / "locked"
    (locked / "project").mkdir(parents=True)
    locked.chmod(0)
    store = tmp_path / ".claude/projects/-x"
    write(store / "c1.jsonl", claude_row("c1", "Worked where we may not look.", f"{locked}/project"))
    write(store / "c2.jsonl", claude_row("c2", "Worked in a name that is too long.", "/" + "x" * 3000))
    write(store / "c3.jsonl", claude_row("c3", "Worked in a name with a NUL.", "/srv/a\0b"))
    try:
        roots = f"{locked}/store:{tmp_path}/.claude:/{'y' * 3000}"
        done = unprivileged(home, "up", "--once", "--settle", "0", AFTERWORD_CLAUDE_ROOT=roots)
        assert done.returncode == 0, done.stderr
        assert [prompts(home, f"c{n}")[0][:6] for n in (1, 2, 3)] == ["Worked"] * 3
        said = unprivileged(home, "sources", "--json", AFTERWORD_CLAUDE_ROOT=roots)
        (claude,) = [s for s in json.loads(said.stdout)["sources"] if s["harness"] == "claude-code"]
        assert claude["problem"] == "the folder cannot be listed"
        assert claude["sessions"] == 3
    finally:
        locked.chmod(0o700)


def test_explain_says_what_is_no_transcript(tmp_path: Path) -> None:
    home = Home(tmp_path)
    os.mkfifo(tmp_path / "pipe.jsonl")
    said = home.json("sources", "--explain", str(tmp_path / "pipe.jsonl"), code=2)["error"]["message"]
    assert said.endswith("pipe.jsonl is not a regular file")
    shutil.copytree(FIXTURES / "harness/antigravity", tmp_path, dirs_exist_ok=True)
    (empty,) = tmp_path.glob(".gemini/antigravity-cli/brain/*/.system_generated/logs/transcript.jsonl")
    said = home.json("sources", "--explain", str(empty), code=2)["error"]["message"]
    assert "is not read: an empty transcript" in said
