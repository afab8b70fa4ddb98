"""Logs whose later lines change what earlier ones mean, against models of what the agents make of them: Gemini CLI's
operations, Grok Build's turns, Antigravity's steps, pi's tree. Fed in any pieces they end as one pass ends."""

import json
import random
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from writer import Reading

from afterword.app.fingerprint import lines
from afterword.store.ledger import sources

SESSION = "3f9a1b2c-0000-4000-8000-0000000000aa"
Row = dict[str, Any]
Said = list[str]


class Gemini:
    """A session as the agent keeps it: a list of messages."""

    path = f".gemini/tmp/x/chats/session-2026-03-04T10-00-{SESSION[:8]}.jsonl"

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.rows: list[Row] = [{"sessionId": SESSION, "projectHash": "0" * 64}]
        self.list: list[Row] = []
        self.compacted: list[Row] = []
        self.undone: list[Row] = []
        self.made = 0

    def step(self) -> None:
        """The agent does something and writes it down."""
        what = self.rng.choice(["user", "gemini", "gemini", "again", "again", "rewind", "lose", "mask", "set", "info"])
        if what in ("user", "gemini"):
            self.made += 1
            row = {"id": f"m{self.made}", "type": what, "content": f"Text {self.made}"}
            self.list.append(row)
            self.rows.append(row)
        elif what == "info":
            self.rows.append({"id": f"i{len(self.rows)}", "type": "info", "content": "x"})
        elif what == "set":
            self.rows.append({"$set": {"lastUpdated": "2026-03-04T10:00:00Z"}})
        elif what == "lose" and self.rng.random() < 0.2:
            self.rows.append({"$rewindTo": "nobody"})
            self.undone += [*self.compacted, *self.list]
            self.compacted, self.list = [], []
        elif self.list:
            at = self.rng.randrange(len(self.list))
            if what == "again":
                self.list[at] = self.list[at] | {"content": self.list[at]["content"] + " more"}
                self.rows.append(self.list[at])
            elif what == "rewind":
                self.rows.append({"$rewindTo": self.list[at]["id"]})
                self.undone += self.list[at:]
                self.list = self.list[:at]
            elif what == "mask":
                self.compacted += self.list[:at]
                self.list = self.list[at:]
                self.rows.append({"$set": {"messages": [row | {"content": row["content"][:4]} for row in self.list]}})

    def live(self) -> Said:
        return [row["content"] for row in [*self.compacted, *self.list]]

    def abandoned(self) -> Said:
        return [row["content"] for row in self.undone]


class Grok:
    """A session as the agent keeps it: prompts with what followed them."""

    path = f".grok/sessions/%2Fsrv%2Fx/{SESSION}/updates.jsonl"

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.rows: list[Row] = []
        self.turns: list[Said] = []
        self.undone: Said = []
        self.ms = 1_772_618_400_000

    def update(self, kind: str, *, meta: bool = True, **fields: Any) -> None:
        self.ms += 250
        params: Row = {"sessionId": SESSION, "update": {"sessionUpdate": kind, **fields}}
        if meta:
            params["_meta"] = {"eventId": f"{SESSION}-{len(self.rows)}", "agentTimestampMs": self.ms}
        self.rows.append({"timestamp": self.ms // 1000, "method": "session/update", "params": params})

    def chunks(self, kind: str, text: str, *, meta: bool = True, **more: Any) -> str:
        for word in text.split(" "):
            self.update(f"{kind}_chunk", meta=meta, content={"type": "text", "text": f"{word} "}, **more)
        return text

    def step(self) -> None:
        """The agent does something and writes it down."""
        what = self.rng.choice(["prompt", "reply", "reply", "tool", "done", "rewind", "host"])
        text = f"say {self.rng.randrange(3)} {'x ' * self.rng.randrange(3)}{len(self.rows)}"
        if what == "prompt" or not self.turns:
            self.update("turn_completed", meta=False)
            index = {"_meta": {"promptIndex": len(self.turns)}}
            same = self.rng.random() < 0.3
            self.turns.append([self.chunks("user_message", "go on" if same else text, meta=False, **index)])
        elif what == "reply":
            self.update("plan", entries=[])
            self.turns[-1].append(self.chunks("agent_message", text))
        elif what == "tool":
            self.update("tool_call", toolCallId=f"c{len(self.rows)}", title="Think", status="completed")
        elif what == "done":
            self.update("turn_completed", meta=False)
        elif what == "host":
            self.chunks("user_message", "wake up", meta=False, _meta={"hostTurn": True})
        else:
            target = self.rng.randrange(len(self.turns) + 1)
            self.update("rewind_marker", meta=False, target_prompt_index=target)
            self.undone += [text for turn in self.turns[target:] for text in turn]
            self.turns = self.turns[:target]

    def live(self) -> Said:
        return [text for turn in self.turns for text in turn]

    def abandoned(self) -> Said:
        return self.undone


class Antigravity:
    """A session as the agent keeps it: steps, of which a person may go back to one."""

    path = f".gemini/antigravity/brain/{SESSION}/.system_generated/logs/transcript.jsonl"

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.rows: list[Row] = []
        self.steps: dict[int, Row] = {}
        self.undone: Said = []
        self.first = rng.choice([0, 1419])
        self.made = 0

    def write(self, number: int, source: str, kind: str, content: str, status: str = "DONE") -> None:
        row = {"step_index": number, "source": source, "type": kind, "status": status, "content": content}
        self.rows.append(row)
        self.steps[number] = row

    def step(self) -> None:
        """The agent does something and writes it down."""
        self.made += 1
        what = self.rng.choice(["prompt", "reply", "reply", "grow", "again", "back", "tool"])
        last = max(self.steps, default=self.first - 1)
        # No text begins another one: at its place it would be taken for its growth.
        number, text = last + self.rng.randrange(1, 3), f"Text {self.made}."
        prompts = [n for n, row in self.steps.items() if row["type"] == "USER_INPUT"]
        if what == "prompt" or not self.steps:
            self.write(self.first if not self.steps else number, "USER_EXPLICIT", "USER_INPUT", text)
        elif what == "reply":
            self.write(number, "MODEL", "PLANNER_RESPONSE", text)
        elif what == "tool":
            self.write(number, "MODEL", "RUN_COMMAND", text, status="RUNNING")
        elif what == "grow":
            row = self.steps[last]
            if row["type"] != "USER_INPUT":
                self.write(last, "MODEL", row["type"], row["content"] + " more")
        elif what == "again":
            self.rows += [self.steps[n] for n in sorted(self.steps)][-3:]
        elif prompts:
            target = self.rng.choice(prompts)
            gone = [n for n in self.steps if n >= target]
            self.undone += [self.steps[n]["content"] for n in sorted(gone) if self.steps[n]["type"] != "RUN_COMMAND"]
            for n in gone:
                del self.steps[n]
            self.write(target, "USER_EXPLICIT", "USER_INPUT", text)

    def live(self) -> Said:
        spoken = ("USER_INPUT", "PLANNER_RESPONSE")
        return [self.steps[n]["content"] for n in sorted(self.steps) if self.steps[n]["type"] in spoken]

    def abandoned(self) -> Said:
        return self.undone


class Pi:
    """A session as the agent keeps it: a tree of entries, of which one is where a person stands."""

    path = f".pi/agent/sessions/--srv-x--/2026-03-04T10-00-00-000Z_{SESSION}.jsonl"

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.rows: list[Row] = [{"type": "session", "version": 3, "id": SESSION, "cwd": "/srv/x"}]
        self.at: str | None = None

    def step(self) -> None:
        """The agent does something and writes it down."""
        entries = [row["id"] for row in self.rows[1:]]
        if entries and self.rng.random() < 0.3:
            self.at = self.rng.choice([None, *entries])
        row: Row = {"id": f"{len(self.rows):08x}", "parentId": self.at, "timestamp": "2026-03-04T10:00:00.000Z"}
        what = self.rng.choice(["user", "assistant", "assistant", "label"])
        if what == "label":
            row |= {"type": "label", "targetId": "x"}
        else:
            content = [{"type": "text", "text": f"Text {len(self.rows)}"}]
            row |= {"type": "message", "message": {"role": what, "content": content}}
        self.rows.append(row)
        self.at = row["id"]

    def _texts(self, *, live: bool) -> Said:
        by_id = {row["id"]: row for row in self.rows[1:]}
        way, step = set(), self.rows[-1]["id"] if by_id else None
        while step:
            way.add(step)
            step = by_id[step]["parentId"]
        rows = [row for row in self.rows[1:] if "message" in row and (row["id"] in way) is live]
        return [row["message"]["content"][0]["text"] for row in rows]

    def live(self) -> Said:
        return self._texts(live=True)

    def abandoned(self) -> Said:
        return self._texts(live=False)


def of_state(reading: Reading, state: str) -> Said:
    speech = reading.speech(SESSION)
    return [text for kind, text, its in speech if its == state and kind in ("prompt", "reply")]


@settings(max_examples=settings().max_examples // 3 + 1)
@given(
    st.sampled_from([Gemini, Grok, Antigravity, Pi]),
    st.randoms(use_true_random=False),
    st.integers(1, 25),
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from(["", "restart", "rename", "cut"])), max_size=6),
)
def test_any_log_in_any_pieces(
    kind: type[Gemini | Grok | Antigravity | Pi],
    rng: random.Random,
    length: int,
    cuts: list[tuple[float, str]],
) -> None:
    agent = kind(rng)
    for _ in range(length):
        agent.step()
    data = b"".join(json.dumps(row).encode() + b"\n" for row in agent.rows)
    with tempfile.TemporaryDirectory() as folder:
        calm, fed = Reading(Path(folder) / "calm"), Reading(Path(folder) / "fed")
        for reading in (calm, fed):
            (reading.root / agent.path).parent.mkdir(parents=True, exist_ok=True)
        (calm.root / agent.path).write_bytes(data)
        calm.sweep(thorough=True)
        path, cut_off = fed.root / agent.path, False
        for share, how in [*sorted(cuts), (1.0, "")]:
            path.write_bytes(data[: round(len(data) * share)])
            fed.sweep(thorough=True)
            if how == "restart":
                fed.restart()
            elif how == "rename":
                path.rename(fed.root / "away")
                fed.sweep(thorough=True)
                (fed.root / "away").rename(path)
            elif how == "cut":
                # Half of it goes and comes back: read again from its start, twice.
                cut_off = True
                path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
                fed.sweep(thorough=True)
        assert of_state(calm, "live") == agent.live()
        assert sorted(of_state(calm, "abandoned")) == sorted(agent.abandoned())
        assert of_state(fed, "live") == agent.live()
        if not cut_off:
            # What was cut off in the middle of a growing text was seen as a text of its own.
            assert lines(fed.ledger) == lines(calm.ledger)
        for reading in (calm, fed):
            _replay(reading)
            before, revisions = lines(reading.ledger), _revisions(reading)
            _replay(reading)
            assert (lines(reading.ledger), _revisions(reading)) == (before, revisions)
            assert of_state(reading, "live") == agent.live()
            reading.close()


def _replay(reading: Reading) -> None:
    """Everything is read again from its start by another process."""
    with reading.ledger.transaction():
        for source in sources.every(reading.ledger):
            sources.rewind(reading.ledger, source.row)
    reading.restart()
    reading.sweep(thorough=True)


def _revisions(reading: Reading) -> int:
    found: int = reading.ledger.db.execute("SELECT count(*) FROM log").fetchone()[0]
    return found
