"""Make the sample history that `afterword up --demo` reads: a small made-up HOME with Claude Code and Codex stores.

    python -m bench.make_demo_history                 # writes daemon/afterword/demo/history again
    python -m bench.make_demo_history --out FOLDER    # somewhere else
    python -m bench.make_demo_history --canaries      # prints the made-up secrets, one a line

The same code gives the same bytes. The stories are in `demo_stories.py`; here is how each agent writes them down.
Times are chosen so that in every zone from UTC-11 to UTC+11 the sessions fall on the same three days.
"""

import argparse
import datetime as dt
import hashlib
import json
import re
import shutil
import uuid
from pathlib import Path
from typing import Any

from bench import demo_stories

HERE = Path(__file__).resolve().parents[1]
TARGET = HERE / "daemon" / "afterword" / "demo" / "history"
LOCAL = dt.timedelta(hours=2)  # Codex names its files by local time; these people work in Gdańsk
NAMESPACE = uuid.UUID("5b0c1f4e-0000-4000-8000-00000000d3e0")


class Recorder:
    """What both agents share: a clock that only goes on, ids from counters, lines."""

    def __init__(self, name: str, start: str) -> None:
        self.name = name
        self.lines: list[str] = []
        self.now = dt.datetime.fromisoformat(start).replace(tzinfo=dt.UTC)
        self._count = 0

    def at(self, when: str) -> None:
        """Jump to a later UTC time."""
        then = dt.datetime.fromisoformat(when).replace(tzinfo=dt.UTC)
        assert then > self.now, (self.name, when, self.now)
        self.now = then

    def wait(self, minutes: float) -> None:
        self.now += dt.timedelta(minutes=minutes)

    def _tick(self, seconds: float) -> str:
        jitter = int(self._digest("tick")[:4], 16) % 1000 / 1000
        self.now += dt.timedelta(seconds=round(seconds * (0.7 + 0.6 * jitter), 3))
        return self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _digest(self, what: str) -> str:
        self._count += 1
        return hashlib.sha256(f"{self.name}/{what}/{self._count}".encode()).hexdigest()

    def _write(self, row: dict[str, Any]) -> None:
        self.lines.append(json.dumps(row, ensure_ascii=False, separators=(",", ":")))

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


class Claude(Recorder):
    """A Claude Code transcript; a sub-agent's is another one with `agent` set."""

    def __init__(
        self, name: str, start: str, cwd: str, branch: str, agent: str = "", parent: "Claude | None" = None
    ) -> None:
        super().__init__(name, start)
        self.cwd, self.branch, self.agent = cwd, branch, agent
        self.session: str = parent.session if parent else str(uuid.uuid5(NAMESPACE, name))
        self.children: list[tuple[Claude, dict[str, str]]] = []
        self._leaf: str | None = None
        self._message: tuple[str, str] | None = None
        if not agent:
            first = str(uuid.UUID(self._digest("snapshot")[:32]))
            snapshot = {"messageId": first, "trackedFileBackups": {}, "timestamp": self._tick(0)}
            self._write(
                {"type": "file-history-snapshot", "messageId": first, "snapshot": snapshot, "isSnapshotUpdate": False}
            )

    def _row(self, seconds: float, row: dict[str, Any], parent: str | bool | None = True) -> str:
        its_id = str(uuid.UUID(self._digest("row")[:32], version=4))
        envelope: dict[str, Any] = {
            "parentUuid": self._leaf if parent is True else parent,
            "isSidechain": bool(self.agent),
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": "2.1.164",
            "gitBranch": self.branch,
        }
        if self.agent:
            envelope["agentId"] = self.agent
        self._write(envelope | row | {"uuid": its_id, "timestamp": self._tick(seconds)})
        self._leaf = its_id
        return its_id

    def user(self, text: str, reminder: str = "") -> None:
        content: Any = text
        if reminder:
            reminder = f"<system-reminder>\n{reminder}\n</system-reminder>"
            content = [{"type": "text", "text": reminder}, {"type": "text", "text": text}]
        self._message = None
        self._row(140, {"type": "user", "message": {"role": "user", "content": content}})

    def queued(self, text: str) -> None:
        """A prompt typed while the agent worked."""
        self._message = None
        attachment = {"type": "queued_command", "prompt": text, "commandMode": "prompt"}
        self._row(4, {"type": "attachment", "attachment": attachment})

    def mark(self) -> str | None:
        """The point to which a later `rewind` can go back."""
        return self._leaf

    def rewind(self, mark: str | None) -> None:
        """The next prompt follows `mark`; what came after stays in the file."""
        self._leaf = mark
        self._message = None

    def _assistant(self, seconds: float, block: dict[str, Any]) -> None:
        if self._message is None:
            digest = self._digest("message")
            self._message = (f"msg_01{digest[:22]}", f"req_011{digest[22:42]}")
        message = {
            "id": self._message[0],
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": [block],
            "stop_reason": None,
            "usage": {"input_tokens": 11, "output_tokens": len(json.dumps(block)) // 4},
        }
        self._row(seconds, {"type": "assistant", "requestId": self._message[1], "message": message})

    def think(self, text: str) -> None:
        signature = self._digest("signature")[:24]
        self._assistant(5, {"type": "thinking", "thinking": text, "signature": signature})

    def say(self, text: str) -> None:
        self._assistant(7, {"type": "text", "text": text})

    def _tool(self, name: str, arguments: dict[str, Any]) -> str:
        its_id = f"toolu_01{self._digest('tool')[:22]}"
        self._assistant(4, {"type": "tool_use", "id": its_id, "name": name, "input": arguments})
        self._message = None
        return its_id

    def _result(self, seconds: float, tool: str, content: Any, twin: Any, *, failed: bool = False) -> None:
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": tool, "content": content}
        if failed:
            block["is_error"] = True
        self._row(seconds, {"type": "user", "message": {"role": "user", "content": [block]}, "toolUseResult": twin})

    def run(self, command: str, output: str, code: int = 0, why: str = "", seconds: float = 6) -> None:
        tool = self._tool("Bash", {"command": command, "description": why or command.split(maxsplit=1)[0]})
        output = output.strip("\n")
        if code:
            text = f"Exit code {code}\n{output}"
            self._result(seconds, tool, text, f"Error: {text}", failed=True)
        else:
            self._result(
                seconds, tool, output, {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
            )

    def read(self, path: str, content: str) -> None:
        lines = content.strip("\n").split("\n")
        tool = self._tool("Read", {"file_path": f"{self.cwd}/{path}"})
        numbered = "\n".join(f"{n:>6}\t{line}" for n, line in enumerate(lines, 1))
        file = {
            "filePath": f"{self.cwd}/{path}",
            "content": content.strip("\n"),
            "numLines": len(lines),
            "startLine": 1,
            "totalLines": len(lines),
        }
        self._result(2, tool, numbered, {"type": "text", "file": file})

    def edit(self, path: str, old: str, new: str) -> None:
        full = f"{self.cwd}/{path}"
        old, new = old.strip("\n"), new.strip("\n")
        tool = self._tool("Edit", {"file_path": full, "old_string": old, "new_string": new, "replace_all": False})
        before, after = old.split("\n"), new.split("\n")
        patch = {
            "oldStart": 12,
            "oldLines": len(before),
            "newStart": 12,
            "newLines": len(after),
            "lines": [f"-{line}" for line in before] + [f"+{line}" for line in after],
        }
        twin = {
            "filePath": full,
            "oldString": old,
            "newString": new,
            "structuredPatch": [patch],
            "userModified": False,
            "replaceAll": False,
        }
        self._result(2, tool, f"The file {full} has been updated.", twin)

    def create(self, path: str, content: str) -> None:
        full, content = f"{self.cwd}/{path}", content.strip("\n") + "\n"
        tool = self._tool("Write", {"file_path": full, "content": content})
        twin = {"type": "create", "filePath": full, "content": content, "structuredPatch": []}
        self._result(2, tool, f"File created successfully at: {full}", twin)

    def delegate(self, agent: str, what: str, prompt: str) -> "Claude":
        """Start a sub-agent; give its report to `report` when it is done."""
        start = (self.now + dt.timedelta(seconds=6)).replace(tzinfo=None).isoformat()
        tool = self._tool("Task", {"description": what, "prompt": prompt, "subagent_type": "general-purpose"})
        child = Claude(f"{self.name}/{agent}", start, self.cwd, self.branch, agent, self)
        child._row(1, {"type": "user", "message": {"role": "user", "content": prompt}})
        self.children.append((child, {"agentType": "general-purpose", "description": what, "toolUseId": tool}))
        return child

    def report(self, child: "Claude", text: str) -> None:
        child.say(text)
        self.now = child.now
        tool = self.children[-1][1]["toolUseId"]
        content = [{"type": "text", "text": text}]
        twin = {"status": "completed", "agentId": child.agent, "content": content, "totalToolUseCount": 3}
        self._result(2, tool, content, twin)

    def compact(self, summary: str) -> None:
        boundary = {
            "type": "system",
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "level": "info",
            "logicalParentUuid": self._leaf,
            "compactMetadata": {"trigger": "auto", "preTokens": 156_804},
        }
        self._message = None
        self._row(8, boundary, parent=None)
        opening = "This session is being continued from a previous conversation that ran out of context. "
        self._row(
            0.1,
            {
                "type": "user",
                "isCompactSummary": True,
                "isVisibleInTranscriptOnly": True,
                "message": {"role": "user", "content": opening + summary},
            },
        )

    def title(self, text: str) -> None:
        self._write({"type": "ai-title", "aiTitle": text, "sessionId": self.session})

    def save(self, home: Path) -> None:
        folder = home / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", self.cwd)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.session}.jsonl").write_text(self.text(), encoding="utf-8")
        for child, meta in self.children:
            below = folder / self.session / "subagents"
            below.mkdir(parents=True, exist_ok=True)
            (below / f"agent-{child.agent}.jsonl").write_text(child.text(), encoding="utf-8")
            (below / f"agent-{child.agent}.meta.json").write_text(json.dumps(meta, indent=2) + "\n", encoding="utf-8")


class Codex(Recorder):
    """A Codex rollout of the classic kind: prompts and replies twice, as response item and as event."""

    def __init__(self, name: str, start: str, cwd: str, branch: str, title: str) -> None:
        super().__init__(name, start)
        self.cwd, self.title = cwd, title
        self.started = self.now
        self.history: list[dict[str, Any]] = []
        digest = hashlib.sha256(name.encode()).hexdigest()
        millis = int(self.now.timestamp() * 1000)
        self.thread = str(uuid.UUID(f"{millis:012x}7{digest[:3]}8{digest[3:18]}"))
        self._turn = 0
        self._open = False
        self._last = ""
        meta = {
            "session_id": self.thread,
            "id": self.thread,
            "timestamp": self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "cwd": cwd,
            "originator": "codex_cli_rs",
            "cli_version": "0.134.0",
            "source": "cli",
            "model_provider": "openai",
            "git": {"commit_hash": digest[:40], "branch": branch},
        }
        self._line(0, "session_meta", meta)
        self._message(0, "developer", "<permissions instructions>workspace-write</permissions instructions>")
        agents = "<INSTRUCTIONS>\nRun the tests before you say it works.\nKeep changes small.\n</INSTRUCTIONS>"
        self._message(0, "user", f"# AGENTS.md instructions for {cwd}\n\n{agents}")
        self._message(
            0, "user", f"<environment_context>\n  <cwd>{cwd}</cwd>\n  <shell>bash</shell>\n</environment_context>"
        )

    def _line(self, seconds: float, kind: str, payload: dict[str, Any]) -> None:
        self._write({"timestamp": self._tick(seconds), "type": kind, "payload": payload})

    def _message(self, seconds: float, role: str, text: str) -> None:
        part = {"type": "output_text" if role == "assistant" else "input_text", "text": text}
        self._line(seconds, "response_item", {"type": "message", "role": role, "content": [part]})

    def user(self, text: str) -> None:
        self._done()
        self._turn += 1
        self._open = True
        self._line(140, "event_msg", {"type": "task_started", "turn_id": self.turn})
        context = {
            "turn_id": self.turn,
            "cwd": self.cwd,
            "approval_policy": "on-request",
            "model": "gpt-5.2-codex",
            "effort": "medium",
        }
        self._line(0, "turn_context", context)
        self._message(0, "user", text)
        self._line(0, "event_msg", {"type": "user_message", "message": text, "images": []})
        self.history.append({"session_id": self.thread, "ts": int(self.now.timestamp()), "text": text})
        self._last = ""

    @property
    def turn(self) -> str:
        return str(uuid.uuid5(NAMESPACE, f"{self.name}/turn/{self._turn}"))

    def _done(self) -> None:
        """Close the turn that is open, if any."""
        if not self._open:
            return
        self._open = False
        usage = {"input_tokens": 2100 * self._turn, "cached_input_tokens": 900 * self._turn, "output_tokens": 310}
        usage |= {"reasoning_output_tokens": 64, "total_tokens": 2100 * self._turn + 310}
        info = {"total_token_usage": usage, "last_token_usage": usage}
        self._line(1, "event_msg", {"type": "token_count", "info": info, "rate_limits": None})
        done = {"type": "task_complete", "turn_id": self.turn, "last_agent_message": self._last}
        self._line(0, "event_msg", done)

    def think(self, text: str) -> None:
        summary = [{"type": "summary_text", "text": text}]
        opaque = self._digest("opaque")
        self._line(
            6, "response_item", {"type": "reasoning", "summary": summary, "content": None, "encrypted_content": opaque}
        )

    def say(self, text: str) -> None:
        self._last = text
        self._line(7, "event_msg", {"type": "agent_message", "message": text})
        self._message(0, "assistant", text)

    def run(self, command: str, output: str, code: int = 0, seconds: float = 6) -> None:
        call = f"call_{self._digest('call')[:24]}"
        arguments = json.dumps({"cmd": command, "workdir": self.cwd}, ensure_ascii=False)
        self._line(
            4,
            "response_item",
            {"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": call},
        )
        output = output.strip("\n")
        head = f"Chunk ID: {call[5:11]}\nWall time: {seconds:.1f} seconds\nProcess exited with code {code}\n"
        text = f"{head}Original token count: {len(output) // 4 + 1}\nOutput:\n{output}"
        self._line(seconds, "response_item", {"type": "function_call_output", "call_id": call, "output": text})

    def patch(self, path: str, old: str, new: str) -> None:
        call = f"call_{self._digest('call')[:24]}"
        removed, added = old.strip("\n").split("\n"), new.strip("\n").split("\n")
        body = "\n".join([f"-{line}" for line in removed] + [f"+{line}" for line in added])
        envelope = f"*** Begin Patch\n*** Update File: {path}\n@@\n{body}\n*** End Patch"
        self._line(
            5,
            "response_item",
            {
                "type": "custom_tool_call",
                "status": "completed",
                "call_id": call,
                "name": "apply_patch",
                "input": envelope,
            },
        )
        diff = f"@@ -12,{len(removed)} +12,{len(added)} @@\n{body}\n"
        change = {f"{self.cwd}/{path}": {"type": "update", "unified_diff": diff, "move_path": None}}
        end = {"type": "patch_apply_end", "call_id": call, "turn_id": self.turn, "stdout": "Success.", "stderr": ""}
        self._line(1, "event_msg", end | {"success": True, "changes": change})
        result = f"Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nM {path}"
        self._line(0, "response_item", {"type": "custom_tool_call_output", "call_id": call, "output": result})

    def rollback(self, turns: int) -> None:
        self._done()
        self._line(20, "event_msg", {"type": "thread_rolled_back", "num_turns": turns})

    def save(self, home: Path) -> None:
        self._done()
        local = self.started + LOCAL
        folder = home / ".codex" / "sessions" / local.strftime("%Y/%m/%d")
        folder.mkdir(parents=True, exist_ok=True)
        name = f"rollout-{local.strftime('%Y-%m-%dT%H-%M-%S')}-{self.thread}.jsonl"
        (folder / name).write_text(self.text(), encoding="utf-8")
        ended = self.now.isoformat(timespec="seconds").replace("+00:00", "Z")
        _append(
            home / ".codex" / "session_index.jsonl",
            [{"id": self.thread, "thread_name": self.title, "updated_at": ended}],
        )
        _append(home / ".codex" / "history.jsonl", self.history)


def _append(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)


def write(home: Path) -> None:
    """Replace `home` by the sample history."""
    if home.exists():
        shutil.rmtree(home)
    for session in demo_stories.tell(Claude, Codex):
        session.save(home)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=TARGET)
    parser.add_argument("--canaries", action="store_true")
    chosen = parser.parse_args()
    if chosen.canaries:
        print("\n".join(demo_stories.CANARIES))
        return
    write(chosen.out)
    files = [path for path in chosen.out.rglob("*") if path.is_file()]
    print(f"{len(files)} files, {sum(path.stat().st_size for path in files) // 1000} KB in {chosen.out}")


if __name__ == "__main__":
    main()
