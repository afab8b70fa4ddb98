"""The one table of all harnesses: how each one's sample store is laid out and fed, and what it must give.

A harness is held to everything in `tests/golden` and `tests/property/test_any_log.py` by a row here.
"""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cursor_stores
import opencode
import pytest
from homes import FIXTURES, Home, differences

SAMPLES = FIXTURES / "harness"


@dataclass(frozen=True)
class Entry:
    """A sample store.

    `name` is the test's id. `logs` are globs of its line logs below a home, which are fed piece by piece in the order
    of their paths; `renames` those of them whose name says nothing. `env` decides where it is found (`{home}` stands
    for the home). `word` is said more than once. `problem` is what `sources` says of the sample. `copy` lays a main log
    beside itself under a new id, one turn longer (T-COPY), and gives that id and what is new in it.
    """

    name: str
    harness: str
    word: str
    lay_out: Callable[[Path], None]
    wanted: Callable[[], list[dict[str, Any]]]
    logs: tuple[str, ...] = ()
    renames: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    problem: str | None = None
    copy: Callable[[Path], tuple[str, list[str]]] | None = None

    def variables(self, home: Path) -> dict[str, str]:
        return {name: value.format(home=home) for name, value in self.env.items()}

    def files(self, home: Path) -> list[Path]:
        """The line logs as they were laid out, parents before forks."""
        return sorted({path for glob in self.logs for path in home.glob(glob)})


def copied(harness: str) -> Callable[[Path], None]:
    def lay_out(home: Path) -> None:
        shutil.copytree(
            SAMPLES / harness, home, dirs_exist_ok=True, ignore=shutil.ignore_patterns("expected.json", "*.sql")
        )

    return lay_out


def expected(harness: str) -> Callable[[], list[dict[str, Any]]]:
    def wanted() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads((SAMPLES / harness / "expected.json").read_text())["sessions"]
        return found

    return wanted


def _opencode(*eras: str) -> Callable[[Path], None]:
    def lay_out(home: Path) -> None:
        if "tree" in eras:
            opencode.tree(home)
        opencode.database(home, eras[0])

    return lay_out


def _claude_copy(home: Path) -> tuple[str, list[str]]:
    """The first session's file under another id, one turn longer; its id and what is new in it."""
    path = max(home.glob(".claude/projects/*/*.jsonl"), key=lambda path: path.stat().st_size)
    new = "4b1f0c2e-0000-4000-8000-0000000000cc"
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    last = [row["uuid"] for row in rows if "uuid" in row][-1]
    more = [
        {"type": "user", "uuid": "cc1", "parentUuid": last, "message": {"role": "user", "content": "And the docs?"}},
        {
            "type": "assistant", "uuid": "cc2", "parentUuid": "cc1",
            "message": {"id": "msg_cc", "role": "assistant", "content": [{"type": "text", "text": "Written."}]},
        },
    ]  # fmt: skip
    stamp = {"timestamp": "2026-03-05T10:00:00.000Z", "cwd": "/srv/orchard-api"}
    rows = [{**row, "sessionId": new} for row in [*rows, *({**row, **stamp} for row in more)]]
    path.with_name(f"{new}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return new, ["And the docs?", "Written."]


def _codex_copy(home: Path) -> tuple[str, list[str]]:
    path = next(home.glob(".codex/sessions/**/*00a1.jsonl"))
    new = "019d0000-0000-7000-8000-0000000000cc"
    meta = {
        "id": new,
        "timestamp": "2026-03-05T10:00:00.000Z",
        "cwd": "/srv/orchard-api",
        "forked_from_id": path.stem[-36:],
    }
    rows: list[dict[str, Any]] = [{"timestamp": "2026-03-05T10:00:00.000Z", "type": "session_meta", "payload": meta}]
    rows += [{**json.loads(line), "timestamp": "2026-03-05T10:00:00.001Z"} for line in path.read_bytes().splitlines()]
    text = [{"type": "output_text", "text": "Written."}]
    for kind, payload in (
        ("turn_context", {"turn_id": "turn-cc", "cwd": "/srv/orchard-api", "model": "gpt-5.2-codex"}),
        ("event_msg", {"type": "user_message", "message": "And the docs?"}),
        ("response_item", {"type": "message", "role": "assistant", "content": text}),
    ):
        rows.append({"timestamp": "2026-03-05T10:05:00.000Z", "type": kind, "payload": payload})
    target = path.with_name(f"rollout-2026-03-05T10-00-00-{new}.jsonl")
    target.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return new, ["And the docs?", "Written."]


def _qwen_copy(home: Path) -> tuple[str, list[str]]:
    path = next(home.glob(".qwen/projects/*/chats/*.jsonl"))
    new = "9f8e7d6c-0000-4000-8000-0000000000cc"
    lines = path.read_bytes().replace(b"}{", b"}\n{").splitlines()
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    rows = [row | {"forkedFrom": {"sessionId": path.stem, "messageUuid": row["uuid"]}} for row in rows]
    for kind, text in (("user", "And the docs?"), ("assistant", "Written.")):
        message = {"role": kind, "parts": [{"text": text}]}
        rows.append({"uuid": f"cc-{kind}", "parentUuid": rows[-1]["uuid"], "type": kind, "message": message})
    stamp = {"timestamp": "2026-03-07T10:00:00.000Z", "cwd": "/srv/orchard-api"}
    rows = [stamp | row | {"sessionId": new} for row in rows]
    path.with_name(f"{new}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return new, ["And the docs?", "Written."]


def _pi_copy(home: Path) -> tuple[str, list[str]]:
    path = next(home.glob(".pi/agent/sessions/*/*00c1.jsonl"))
    new = "019d1000-0000-7000-8000-0000000000cc"
    rows: list[dict[str, Any]] = [json.loads(line) for line in path.read_bytes().splitlines()]
    rows[0] |= {"id": new, "timestamp": "2026-03-08T10:00:00.000Z", "parentSession": str(path)}
    for n, (role, text) in enumerate((("user", "And the docs?"), ("assistant", "Written."))):
        stamp = {"id": f"cc{n}", "parentId": rows[-1]["id"], "timestamp": f"2026-03-08T10:00:0{n + 1}.000Z"}
        rows.append(
            {"type": "message", **stamp, "message": {"role": role, "content": [{"type": "text", "text": text}]}}
        )
    path.with_name(f"2026-03-08T10-00-00-000Z_{new}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return new, ["And the docs?", "Written."]


CATALOGUE = (
    Entry(
        "claude-code", "claude-code", "changelog", copied("claude-code"), expected("claude-code"),
        logs=(".claude/projects/**/*.jsonl",), renames=(".claude/projects/*/*.jsonl",), copy=_claude_copy,
    ),
    Entry(
        "codex", "codex", "importer", copied("codex"), expected("codex"),
        logs=(".codex/**/*.jsonl", ".codex/**/*.zst"), renames=(".codex/*s/**/rollout-*.jsonl",), copy=_codex_copy,
    ),
    Entry(
        "gemini-cli", "gemini-cli", "target", copied("gemini-cli"), expected("gemini-cli"),
        logs=(".gemini/tmp/**/chats/**/*.jsonl",), renames=(".gemini/tmp/*/chats/session-2026*.jsonl",),
    ),
    Entry(
        "antigravity", "antigravity", "slow", copied("antigravity"), expected("antigravity"),
        logs=(".gemini/antigravity*/brain/**/*.jsonl",),
        problem="an empty transcript; what was said is only in the agent's own conversations folder",
    ),
    Entry(
        "grok-build", "grok-build", "cache", copied("grok-build"), expected("grok-build"),
        logs=(".grok/sessions/**/updates.jsonl",),
    ),
    Entry(
        "copilot-cli", "copilot-cli", "harvest.py", copied("copilot-cli"), expected("copilot-cli"),
        logs=(".copilot/session-state/**/*.jsonl",), renames=(".copilot/session-state/*.jsonl",),
    ),
    Entry(
        "qwen-code", "qwen-code", "cache", copied("qwen-code"), expected("qwen-code"),
        logs=(".qwen/projects/**/*.jsonl",), renames=(".qwen/projects/*/chats/*.jsonl",), copy=_qwen_copy,
    ),
    Entry(
        "pi", "pi", "retries", copied("pi"), expected("pi"),
        logs=(".pi/agent/sessions/**/*.jsonl",), renames=(".pi/agent/sessions/*/*.jsonl",), copy=_pi_copy,
    ),
    Entry(
        "cursor", "cursor", "SameSite", cursor_stores.lay_out, expected("cursor"),
        logs=(".cursor/projects/**/*.jsonl",),
    ),
    Entry(
        "opencode-v1", "opencode", "export", _opencode("v1", "tree"),
        lambda: opencode.expected("v1_db_or_json_or_both"),
    ),
    Entry("opencode-v2", "opencode", "export", _opencode("v2", "tree"), lambda: opencode.expected("v2_db")),
    Entry(
        "aider", "aider", "retry", copied("aider"), expected("aider"), env={"AFTERWORD_AIDER_ROOT": "{home}/srv"},
    ),
)  # fmt: skip

every_entry = pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
every_log = pytest.mark.parametrize("entry", [entry for entry in CATALOGUE if entry.logs], ids=lambda entry: entry.name)


def check(home: Home, entry: Entry) -> None:
    """Hold what `show --json` says of every session of a sample against what is expected."""
    for wanted in entry.wanted():
        shown = home.json("show", wanted.get("id") or wanted["key"])
        if entry.harness == "aider":
            # Its page says to compare without outer white space, and its folder lies in this home.
            shown["session"]["cwd"] = (shown["session"]["cwd"] or "").removeprefix(str(home.path))
            shown["session"]["key"] = shown["session"]["native_id"]
            for item in shown["messages"]:
                item["text"] = item["text"].strip()
        told = {name: value for name, value in wanted.items() if name not in ("note", "source", "commits")}
        assert differences(shown, told) == {}, wanted.get("id")


def at_rest(home: Path) -> None:
    """Give every file a time of its own long ago, so that nothing depends on when a test copied it."""
    for n, path in enumerate(sorted(home.rglob("*"))):
        if path.is_file() and ".local/state" not in str(path):
            os.utime(path, (1_772_700_000 + n, 1_772_700_000 + n))
