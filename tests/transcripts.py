"""Made-up transcripts for tests: whole stores as bytes, from a seed. Nothing in them is anybody's session."""

import json
import random
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

WORDS = tuple(
    "runner cache socket retry queue parser token index build flaky worker migration pool timeout schema lock "  # noqa: SIM905
    "größe naïve żółw повтор кэш ошибка 接続プール 🚀 שגיאה deploy header buffer batch replica quota".split()
)


class ClaudeSession:
    """A Claude Code transcript that grows line by line."""

    def __init__(self, rng: random.Random, session: str | None = None, cwd: str = "/srv/orchard-api") -> None:
        self._rng = rng
        self.session = session or str(uuid.UUID(int=rng.getrandbits(128), version=4))
        self.cwd = cwd
        self.clock = datetime(2026, 3, 2, 9, tzinfo=UTC) + timedelta(minutes=rng.randrange(170_000))
        self.parent: str | None = None
        self.lines: list[bytes] = []

    def path(self, home: Path) -> Path:
        return home / ".claude/projects/-srv-orchard-api" / f"{self.session}.jsonl"

    def row(self, kind: str, **fields: Any) -> str:
        """Add a row; returns its uuid."""
        its_id = fields.pop("uuid", None) or str(uuid.UUID(int=self._rng.getrandbits(128), version=4))
        parent = fields.pop("parent", self.parent)
        row = {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": "2.1.250",
            "uuid": its_id,
            "timestamp": self.clock.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "type": kind,
            **fields,
        }
        self.lines.append(json.dumps(row, ensure_ascii=self._rng.random() < 0.2).encode() + b"\n")
        self.clock += timedelta(seconds=self._rng.randrange(1, 40))
        self.parent = its_id
        return its_id

    def prompt(self, text: str, **fields: Any) -> str:
        return self.row("user", message={"role": "user", "content": text}, **fields)

    def reply(self, text: str, **fields: Any) -> str:
        return self.row("assistant", message=self._answer({"type": "text", "text": text}), **fields)

    def command(self, command: str, output: str, *, failed: bool = False) -> None:
        call = f"toolu_{self._rng.getrandbits(64):016x}"
        self.row(
            "assistant",
            message=self._answer({"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}),
        )
        result = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": failed}
        self.row("user", message={"role": "user", "content": [result]})

    def compact(self) -> None:
        self.row("system", subtype="compact_boundary", content="Conversation compacted", parent=None)

    def pause(self, minutes: int) -> None:
        self.clock += timedelta(minutes=minutes)

    def _answer(self, block: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": f"msg_{self._rng.getrandbits(64):016x}",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": [block],
        }


class CodexSession:
    """A classic Codex rollout that grows line by line."""

    def __init__(self, rng: random.Random, cwd: str = "/srv/orchard-web") -> None:
        self._rng = rng
        self.session = str(uuid.UUID(int=rng.getrandbits(128), version=4))
        self.clock = datetime(2026, 3, 2, 9, tzinfo=UTC) + timedelta(minutes=rng.randrange(170_000))
        self.started = self.clock
        self.cwd = cwd
        self._turn = 0
        self.lines: list[bytes] = []
        self.add("session_meta", id=self.session, cwd=cwd, cli_version="0.134.0", source="cli")

    def path(self, home: Path) -> Path:
        name = f"rollout-{self.started.strftime('%Y-%m-%dT%H-%M-%S')}-{self.session}.jsonl"
        return home / ".codex/sessions" / self.started.strftime("%Y/%m/%d") / name

    def add(self, kind: str, **payload: Any) -> None:
        row = {
            "timestamp": self.clock.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "type": kind,
            "payload": payload,
        }
        self.lines.append(json.dumps(row, ensure_ascii=False).encode() + b"\n")
        self.clock += timedelta(seconds=self._rng.randrange(1, 30))

    def prompt(self, text: str) -> None:
        self._turn += 1
        self.add("turn_context", turn_id=f"turn-{self._turn}", cwd=self.cwd, model="gpt-5.2-codex")
        self.add("response_item", type="message", role="user", content=[{"type": "input_text", "text": text}])
        self.add("event_msg", type="user_message", message=text)

    def reply(self, text: str) -> None:
        self.add("event_msg", type="agent_message", message=text)
        self.add("response_item", type="message", role="assistant", content=[{"type": "output_text", "text": text}])

    def command(self, command: str, output: str, *, failed: bool = False) -> None:
        call = f"call_{self._rng.getrandbits(64):016x}"
        arguments = json.dumps({"cmd": command, "workdir": self.cwd})
        self.add("response_item", type="function_call", name="exec_command", arguments=arguments, call_id=call)
        text = f"Process exited with code {int(failed)}\nOutput:\n{output}"
        self.add("response_item", type="function_call_output", call_id=call, output=text)

    def compact(self) -> None:
        self.add("compacted", message="", replacement_history=[])

    def pause(self, minutes: int) -> None:
        self.clock += timedelta(minutes=minutes)


def sentence(rng: random.Random, length: int = 9) -> str:
    words = rng.choices(WORDS, k=length)
    return f"{words[0].capitalize()} {' '.join(words[1:])} {rng.getrandbits(24):06x}."


# (what somebody asks, what was the cause, what was decided, what was learned)
STORIES = (
    ("The export test fails every third run in CI", "two jobs write their snapshots to one folder under /tmp",
     "every job gets a temporary folder of its own", "a fixed path under /tmp is a race between jobs"),
    ("The invoices come out a cent short", "amounts are kept as floats and rounded at every step",
     "money is an integer number of cents everywhere", "round once, at the end, with the bank's rule"),
    ("Login breaks for names with accents", "the directory compares bytes while the form sends another normal form",
     "names are normalised to NFC at the door", "compare text only after normalising it"),
    ("The map tiles take a minute to load", "every tile opens a connection and asks for the whole index",
     "tiles share one pool of eight connections", "measure the count of requests before their size"),
    ("Backups stopped last Tuesday without a word", "the disk of the backup host is full and cron's mail goes nowhere",
     "the backup job reports its age to the status page", "alert on the absence of success, not on errors"),
    ("The mobile client shows yesterday's tide", "the forecast is cached by day of the server, which runs on UTC",
     "forecasts are cached by the harbour's own zone", "a day belongs to a place, so key caches by zone"),
    ("Search returns nothing for Japanese words", "the tokenizer splits on spaces that Japanese does not have",
     "every sign becomes a token and words become phrases", "test search with scripts that have no spaces"),
    ("Deploys roll back although the service is healthy", "the probe asks before the migrations have finished",
     "readiness waits for the schema version", "liveness and readiness answer different questions"),
    ("The queue grows every night until six", "one poisoned message is retried for ever at the head",
     "a message goes to the dead letters after five tries", "bound every retry in number and in time"),
    ("The PDF report has no images on Windows", "links to pictures are written with backslashes",
     "paths in documents are always written in POSIX form", "a path inside a document is a URL, not a file name"),
    ("Webhooks arrive twice at the partner", "our sender times out first and sends the same event again",
     "each event carries an idempotency key", "at least once needs a key on the other side"),
    ("Memory of the worker climbs by a gigabyte a day", "a cache of compiled patterns is keyed by user input",
     "the pattern cache holds five hundred entries", "whatever is keyed by input needs a bound"),
)  # fmt: skip


def telling_session(rng: random.Random, first: datetime, days: int) -> ClaudeSession | CodexSession:
    """A session on one of `days` days from `first` on, in which something is found out and decided: what articles are
    made of. It may go on after a pause, take a part of itself back, and tell what another one told before."""
    cwd = f"/srv/{rng.choice(('orchard-api', 'orchard-web'))}"
    session: ClaudeSession | CodexSession = (
        ClaudeSession(rng, cwd=cwd) if rng.random() < 0.6 else CodexSession(rng, cwd=cwd)
    )
    session.clock = first + timedelta(days=rng.randrange(days), hours=8, minutes=rng.randrange(500))
    for part in range(rng.randrange(1, 4)):
        if part:
            session.pause(rng.choice((35, 50, 90)))
        trouble, cause, decision, lesson = rng.choice(STORIES)
        what = rng.choice(WORDS[:14])
        fork = session.parent if isinstance(session, ClaudeSession) else None
        session.prompt(f"{trouble}, find out why. {sentence(rng)}")
        session.command(f"pytest -q tests/{what}", f"E   {sentence(rng, 20)}", failed=True)
        session.reply(
            f"The root cause is that {cause}. {sentence(rng)}\n\nDecision: {decision}, because {cause}."
            f" {sentence(rng, 12)}\n\nLesson learned: {lesson}."
        )
        session.command(f"pytest -q tests/{what}", f"{rng.randrange(5, 90)} passed")
        if rng.random() < 0.2:
            if isinstance(session, ClaudeSession) and fork:
                session.prompt(sentence(rng), parent=fork)
                session.reply(f"We decided to keep the {what}. {sentence(rng, 14)}")
            elif isinstance(session, CodexSession):
                session.add("event_msg", type="thread_rolled_back", num_turns=1)
        if rng.random() < 0.2:
            session.compact()
    session.prompt(f"Thanks, and remember the {rng.choice(WORDS[:14])}. {sentence(rng)}")
    session.reply(f"Noted. {sentence(rng)}")
    return session


def busy_session(rng: random.Random, parts: int) -> ClaudeSession | CodexSession:
    """A session with `parts` stretches: prompts, replies, commands, rewinds, rollbacks, compactions, pauses."""
    session: ClaudeSession | CodexSession = ClaudeSession(rng) if rng.random() < 0.6 else CodexSession(rng)
    for _ in range(parts):
        for _ in range(rng.randrange(1, 4)):
            fork = session.parent if isinstance(session, ClaudeSession) else None
            session.prompt(sentence(rng))
            session.command(f"pytest -q {rng.choice(WORDS)}", sentence(rng, 30), failed=rng.random() < 0.3)
            session.reply(f"We decided to keep the {rng.choice(WORDS)}. {sentence(rng, 12)}")
            if rng.random() < 0.2:
                if isinstance(session, ClaudeSession) and fork:
                    session.prompt(sentence(rng), parent=fork)
                    session.reply(sentence(rng))
                elif isinstance(session, CodexSession):
                    session.add("event_msg", type="thread_rolled_back", num_turns=1)
        if rng.random() < 0.3:
            session.compact()
        session.pause(rng.choice((35, 50, 90, 600)))
    session.prompt(sentence(rng))
    session.reply(sentence(rng))
    return session
