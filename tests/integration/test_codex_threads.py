"""Codex threads that lie in several files or were written again in another form: each thing is there once."""

import itertools
import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from homes import FIXTURES
from transcripts import CodexSession
from writer import Reading

from afterword.app.fingerprint import lines
from afterword.store.ledger import sessions

THREAD = "019d0000-0000-7000-8000-0000000000f1"
OTHER = "019d0000-0000-7000-8000-0000000000f2"
NOON_S = 12 * 3600


class File:
    """A paginated rollout; ordinals go on from `base`."""

    def __init__(self, at: int, *, thread: str = THREAD, base: tuple[str, int] | None = None, first: int | None = None):
        self.at = at
        self.name = f"rollout-2026-03-04T{at // 3600:02d}-{at // 60 % 60:02d}-00-{at:08d}.jsonl"
        self.ordinal = first if first is not None else base[1] if base else 0
        self.rows: list[dict[str, Any]] = []
        more: dict[str, Any] = {}
        if base:
            more["history_base"] = {
                "thread_id": base[0], "end_ordinal_exclusive": base[1], "end_byte_offset": 1,
            }  # fmt: skip
        self.add("session_meta", id=thread, cwd="/srv/x", cli_version="0.153.0", history_mode="paginated", **more)
        self.thread = thread

    def add(self, kind: str, **payload: Any) -> None:
        stamp = f"2026-03-04T{self.at // 3600:02d}:{self.at // 60 % 60:02d}:{self.at % 60:02d}.000Z"
        self.rows.append({"timestamp": stamp, "ordinal": self.ordinal, "type": kind, "payload": payload})
        self.ordinal += 1
        self.at += 1

    def turn(self, word: str) -> None:
        for kind, text in (("UserMessage", f"Ask {word}."), ("AgentMessage", f"Answer {word}.")):
            item = {"type": kind, "id": f"{kind}-{word}", "content": [{"type": "text", "text": text}]}
            self.add("event_msg", type="item_completed", thread_id=self.thread, turn_id=f"turn-{word}", item=item)

    def write(self, home: Path, folder: str = "sessions/2026/03/04") -> None:
        path = home / ".codex" / folder / self.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in self.rows))


def reverted(first: int | None = None) -> list[File]:
    """Three files of one thread: the second reverts to after B, the third to after D of the second."""
    one = File(NOON_S)
    for word in "ABC":
        one.turn(word)
    two = File(NOON_S + 600, base=(THREAD, 5), first=first)
    two.turn("D")
    two.turn("E")
    three = File(NOON_S + 1200, base=(THREAD, 8), first=first)
    three.turn("F")
    return [one, two, three]


def said(words: str) -> list[str]:
    return [text for word in words for text in (f"Ask {word}.", f"Answer {word}.")]


@pytest.mark.parametrize("first", [None, 0], ids=["ordinals go on", "ordinals begin again"])
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_reverted_thread_is_one_session_in_whatever_order_its_files_come(
    order: tuple[int, ...], first: int | None, tmp_path: Path
) -> None:
    files = reverted(first)
    reading = Reading(tmp_path)
    for n in order:
        files[n].write(tmp_path)
        reading.sweep()
        reading.restart()
    assert reading.live(THREAD) == said("ABDF")
    gone = [text for _, text, state in reading.speech(THREAD) if state == "abandoned"]
    assert sorted(gone) == sorted(said("CE"))
    found = lines(reading.ledger)
    head = reading.ledger.db.execute("SELECT count(*) FROM log").fetchone()
    for file in files:
        file.write(tmp_path, "archived_sessions")
        (tmp_path / ".codex/sessions/2026/03/04" / file.name).unlink()
    reading.sweep(thorough=True)
    assert lines(reading.ledger) == found
    moved = reading.ledger.db.execute("SELECT count(*) FROM log").fetchone()
    assert moved[0] - head[0] <= 1  # it is archived now
    reading.close()

    calm = Reading(tmp_path / "calm")
    for file in files:
        file.write(tmp_path / "calm")
    calm.sweep()
    assert lines(calm.ledger) == found
    assert len(sessions.load(calm.ledger, "")) == 1
    calm.close()


def test_repeated_ordinals_keep_the_order_of_the_file(tmp_path: Path) -> None:
    file = File(NOON_S)
    for word in "ABCDEF":
        file.turn(word)
    for row, ordinal in zip(file.rows, [0, 1, 2, 2, 2, 1, 3, 3, 9, 4, 4, 5, 6], strict=True):
        row["ordinal"] = ordinal
    file.write(tmp_path)
    reading = Reading(tmp_path)
    reading.sweep()
    assert reading.live(THREAD) == said("ABCDEF")
    reading.close()


def test_a_fork_by_reference_is_a_session_of_its_own_and_abandons_nothing(tmp_path: Path) -> None:
    one, fork = File(NOON_S), File(NOON_S + 600, thread=OTHER, base=(THREAD, 3))
    for word in "AB":
        one.turn(word)
    fork.turn("C")
    for file in (one, fork):
        file.write(tmp_path)
    reading = Reading(tmp_path)
    reading.sweep()
    assert reading.live(THREAD) == said("AB")
    assert reading.live(OTHER) == said("C")
    assert sessions.load(reading.ledger, "WHERE s.native = ?", (OTHER,))[0].facts.forked_from == THREAD
    reading.close()


def migrated(data: bytes) -> bytes:
    """A legacy rollout as a migration writes it: the same turns, as paginated items."""
    rows: list[dict[str, Any]] = []
    turn = ""

    def add(row: dict[str, Any], kind: str, payload: dict[str, Any]) -> None:
        rows.append({"timestamp": row["timestamp"], "ordinal": len(rows), "type": kind, "payload": payload})

    def item(row: dict[str, Any], **fields: Any) -> None:
        add(row, "event_msg", {"type": "item_completed", "turn_id": turn, "item": fields})

    calls: dict[str, str] = {}
    for line in data.splitlines():
        row = json.loads(line)
        kind, payload = row["type"], row["payload"]
        match kind, payload.get("type"):
            case "session_meta", _:
                add(row, kind, {**payload, "history_mode": "paginated"})
            case "turn_context", _:
                turn = payload["turn_id"]
                add(row, kind, payload)
            case "event_msg", "user_message":
                item(row, type="UserMessage", id="x", content=[{"type": "text", "text": payload["message"]}])
            case "response_item", "message" if payload["role"] == "assistant":
                text = payload["content"][0]["text"]
                item(row, type="AgentMessage", id="y", content=[{"type": "Text", "text": text}])
            case "response_item", "function_call":
                calls[payload["call_id"]] = json.loads(payload["arguments"])["cmd"]
            case "response_item", "function_call_output":
                head, _, body = payload["output"].partition("Output:\n")
                code = int(head.rpartition("code ")[2].split()[0])
                command = ["bash", "-lc", calls[payload["call_id"]]]
                item(
                    row, type="CommandExecution", id=payload["call_id"], command=command, aggregated_output=body,
                    exit_code=code,
                )  # fmt: skip
            case "event_msg", "thread_rolled_back":
                add(row, kind, payload)
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def test_a_migration_in_place_brings_no_new_message(tmp_path: Path) -> None:
    made = CodexSession(random.Random(3))
    for n in range(3):
        made.prompt(f"Ask {n}.")
        made.command(f"make step{n}", f"done {n}")
        made.reply(f"Answer {n}.")
    made.add("event_msg", type="thread_rolled_back", num_turns=1)
    made.prompt("Ask again.")
    made.reply("Answer again.")
    path = made.path(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(made.lines))
    reading = Reading(tmp_path)
    reading.sweep()
    before = lines(reading.ledger)
    assert len(reading.live(made.session)) == 10
    path.write_bytes(migrated(path.read_bytes()))
    assert reading.sweep(thorough=True).new_items == 0
    assert lines(reading.ledger) == before
    reading.restart()
    assert reading.sweep(thorough=True).new_items == 0
    reading.close()


def log_line(session: str, ts: int, text: str, name: str = "session_id") -> str:
    return json.dumps({name: session, "ts": ts, "text": text}) + "\n"


@pytest.mark.parametrize("log_first", [False, True])
def test_the_log_of_prompts_counts_only_where_no_rollout_is(log_first: bool, tmp_path: Path) -> None:
    made = CodexSession(random.Random(4))
    made.prompt("Asked once.")
    made.reply("Answered.")
    log = tmp_path / ".codex/history.jsonl"
    log.parent.mkdir()
    reading = Reading(tmp_path)
    told = [
        log_line(made.session, 1772614801, "Asked once."),
        log_line("gone-1", 1770000000, "Same second."),
        log_line("gone-1", 1770000000, "Same second."),
        log_line("gone-2", 1770000001, "Older name.", "conversation_id"),
        log_line("gone-1", 1770000002, "<environment_context>x</environment_context>"),
        log_line("gone-1", 1770000003, "Later."),
    ]
    path = made.path(tmp_path)
    path.parent.mkdir(parents=True)
    if log_first:
        log.write_text("".join(told))
        reading.sweep()
        assert reading.live(made.session) == ["Asked once."]
        path.write_bytes(b"".join(made.lines))
    else:
        path.write_bytes(b"".join(made.lines))
        for n in range(len(told)):
            log.write_text("".join(told[: n + 1]))
            reading.sweep()
            reading.restart()
    reading.sweep()
    assert reading.live(made.session) == ["Asked once.", "Answered."]
    assert [state for _, text, state in reading.speech(made.session) if text == "Asked once."].count("abandoned") == 0
    assert reading.live("gone-1") == ["Same second.", "Same second.", "Later."]
    assert reading.live("gone-2") == ["Older name."]
    (session,) = sessions.load(reading.ledger, "WHERE s.native = 'gone-2'")
    assert session.started_us == 1770000001 * 1_000_000
    log.unlink()
    reading.sweep()
    assert reading.live("gone-2") == ["Older name."]
    reading.close()


def test_the_sample_migrated_in_place_keeps_its_messages(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "harness/codex", tmp_path, dirs_exist_ok=True)
    path = next(tmp_path.rglob("*00a1.jsonl"))
    reading = Reading(tmp_path)
    reading.sweep()
    before = reading.speech(path.stem[-36:])
    path.write_bytes(migrated(path.read_bytes()))
    assert reading.sweep(thorough=True).new_items == 0
    after = reading.speech(path.stem[-36:])
    spoken = ("prompt", "reply")
    assert [each for each in after if each[0] in spoken] == [each for each in before if each[0] in spoken]
    reading.close()
