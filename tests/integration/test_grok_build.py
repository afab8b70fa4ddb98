"""Grok Build's update logs, written as the agent writes them, read by the real capture."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from writer import Reading

from afterword.app.fingerprint import lines
from afterword.capture.tail import units
from afterword.store.ledger import drift, sessions, sources, views
from afterword.store.ledger.sessions import SessionFacts

SESSION = "019e0000-0000-7000-8000-0000000000aa"
FORK = "019e0000-0000-7000-8000-0000000000bb"
START_MS = 1_772_618_400_000
Row = dict[str, Any]


class Grok:
    """Sessions of one folder. Rows get the next second and the next event number."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.reading = Reading(home)
        self.group = home / ".grok/sessions/%2Fsrv%2Forchard-api"
        self.log = self.folder(SESSION) / "updates.jsonl"
        self.ms = START_MS
        self.event = 0

    def folder(self, session: str, group: Path | None = None) -> Path:
        folder = (group or self.group) / session
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def summary(self, session: str = SESSION, **fields: Any) -> None:
        info = {"id": session, "cwd": fields.pop("cwd", "/srv/orchard-api")}
        (self.folder(session) / "summary.json").write_text(json.dumps({"info": info, **fields}))

    def append(self, *rows: Row | bytes, path: Path | None = None, sweep: bool = True) -> None:
        with (path or self.log).open("ab") as out:
            for row in rows:
                out.write(row if isinstance(row, bytes) else json.dumps(row, ensure_ascii=False).encode() + b"\n")
        if sweep:
            self.reading.sweep(thorough=True)

    def update(self, update: str, *, session: str = SESSION, meta: bool = True, **fields: Any) -> Row:
        self.ms += 1000
        params: Row = {"sessionId": session, "update": {"sessionUpdate": update, **fields}}
        if meta:
            self.event += 1
            params["_meta"] = {"eventId": f"{session}-{self.event}", "agentTimestampMs": self.ms}
        return {"timestamp": self.ms // 1000, "method": "session/update", "params": params}

    def chunk(self, kind: str, text: str, **more: Any) -> Row:
        return self.update(f"{kind}_chunk", content={"type": "text", "text": text}, **more)

    def prompt(self, text: str, index: int | None = None, **more: Any) -> Row:
        meta = {} if index is None else {"_meta": {"promptIndex": index, "modelId": "grok-4.5"}}
        return self.chunk("user_message", text, meta=False, **meta, **more)

    def reply(self, text: str, **more: Any) -> Row:
        return self.chunk("agent_message", text, **more)

    def done(self, **more: Any) -> Row:
        return self.update("turn_completed", meta=False, **more)

    def rewind(self, target: int) -> Row:
        return self.update("rewind_marker", meta=False, target_prompt_index=target)

    def said(self, state: str = "live", session: str = SESSION) -> list[str]:
        speech = self.reading.speech(session)
        return [text for kind, text, its in speech if its == state and kind in ("prompt", "reply")]

    def row(self, session: str = SESSION) -> int:
        return sessions.load(self.reading.ledger, "WHERE s.native = ?", (session,))[0].row

    def facts(self, session: str = SESSION) -> SessionFacts:
        return sessions.load(self.reading.ledger, "WHERE s.native = ?", (session,))[0].facts

    def items(self, kind: str, session: str = SESSION) -> list[tuple[str, Any, str | None]]:
        placed = views.in_order(self.reading.ledger, self.row(session))
        return [(item.text, item.exit_status, item.path) for item in placed if item.kind.word == kind]

    def inherited(self, session: str) -> int:
        return len(sessions.inherited_items(self.reading.ledger, self.row(session)))

    def count(self, table: str = "item") -> int:
        found: int = self.reading.ledger.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        return found

    def replay(self) -> None:
        """The log is read again from its start by another process."""
        away = self.home / "away"
        self.log.rename(away)
        self.reading.sweep()
        data = away.read_bytes()
        self.log.write_bytes(data[: len(data) // 2])
        self.reading.restart()
        self.reading.sweep(thorough=True)
        self.log.write_bytes(data)
        self.reading.sweep(thorough=True)


@pytest.fixture
def grok(tmp_path: Path) -> Iterator[Grok]:
    made = Grok(tmp_path)
    yield made
    made.reading.close()


def test_an_open_message_grows_in_its_row(grok: Grok) -> None:
    grok.append(grok.prompt("Find the ", 0))
    assert grok.facts().title == "Find the"
    grok.append(grok.prompt("leak.", 0))
    assert grok.facts().title == "Find the leak."
    seen = []
    for piece in ("Profiling ", "now", ", wait", " …"):
        grok.append(grok.reply(piece))
        seen.append(grok.said())
    assert seen == [
        ["Find the leak.", "Profiling"],
        ["Find the leak.", "Profiling now"],
        ["Find the leak.", "Profiling now, wait"],
        ["Find the leak.", "Profiling now, wait …"],
    ]
    grok.append(
        grok.update("tool_call", toolCallId="c1", kind="think", title="Think", status="completed"), grok.reply("Done.")
    )
    assert grok.said() == ["Find the leak.", "Profiling now, wait …", "Done."]
    assert grok.said("abandoned") == []
    assert grok.count() == 4
    grok.append(grok.prompt("Find the leak. Again!", 1))
    assert grok.facts().title == "Find the leak."


def test_no_text_of_anybody_is_kept_to_go_on_from(grok: Grok) -> None:
    grok.append(grok.prompt("Zebra one", 0), grok.reply("Zebra two"))
    (state,) = grok.reading.ledger.db.execute("SELECT state FROM source WHERE offset >= 0 AND state <> ''").fetchone()
    assert "Zebra" not in state


def test_chunks_and_updates_out_of_order(grok: Grok) -> None:
    grok.append(grok.prompt("Go.", 0), sweep=False)
    rows = [
        grok.chunk("agent_thought", "Hm."),
        grok.reply("One "),
        grok.reply("two "),
        grok.reply("three."),
        grok.update("tool_call", toolCallId="c1", kind="execute", status="pending", rawInput={"command": "make"}),
        grok.update("tool_call_update", toolCallId="c1", status="completed", rawOutput={"exit_code": 0}),
        grok.reply("Four."),
    ]
    for n in (3, 1, 0, 2, 5, 4, 6):
        grok.append(rows[n])
    assert grok.said() == ["Go.", "One two three.", "Four."]
    shown = [kind for kind, _, state in grok.reading.speech(SESSION) if state != "hidden"]
    assert shown == ["prompt", "thinking", "reply", "command", "reply"]
    assert grok.items("command") == [("make", 0, None)]


def test_a_prompt_written_after_what_it_started_stands_before_it(grok: Grok) -> None:
    before, first = grok.chunk("user_message", "Before."), grok.chunk("user_message", "Go.")
    answer, more = grok.reply("Gone."), grok.reply("Further.")
    grok.append(before, answer, first, more)
    assert grok.said() == ["Before.", "Go.", "Gone.", "Further."]


def test_a_clock_that_was_set_back_does_not_turn_the_session_round(grok: Grok) -> None:
    grok.append(grok.prompt("One.", 0), grok.reply("Two."), grok.done())
    grok.ms -= 3_600_000
    grok.append(grok.prompt("Three.", 1), grok.reply("Four."), grok.done())
    assert grok.said() == ["One.", "Two.", "Three.", "Four."]


def test_rewinds_number_the_prompts_that_stand(grok: Grok) -> None:
    def turn(text: str, index: int) -> None:
        grok.append(grok.prompt(text, index), grok.reply(f"{text} Yes."), grok.done())

    turn("A.", 0)
    turn("B.", 1)
    turn("C.", 2)
    grok.append(grok.rewind(1), grok.prompt("wake-up", hostTurn=True) | {}, grok.reply("Awake."))
    turn("D.", 1)
    turn("E.", 2)
    grok.append(grok.rewind(7))
    grok.append(grok.rewind(2))
    turn("F.", 2)
    assert grok.said() == ["A.", "A. Yes.", "wake-up", "Awake.", "D.", "D. Yes.", "F.", "F. Yes."]
    assert grok.said("abandoned") == ["B.", "B. Yes.", "C.", "C. Yes.", "E.", "E. Yes."]
    before = lines(grok.reading.ledger)
    grok.replay()
    assert lines(grok.reading.ledger) == before


def test_prompts_without_an_index_stop_counting_once_one_has_it(grok: Grok) -> None:
    grok.append(grok.prompt("Old."), grok.reply("Yes."), grok.done(), grok.prompt("A.", 0), grok.reply("Aye."))
    grok.append(grok.rewind(0), grok.prompt("B.", 0))
    assert grok.said() == ["Old.", "Yes.", "B."]
    assert grok.said("abandoned") == ["A.", "Aye."]


def test_an_index_that_only_some_chunks_of_a_prompt_carry(grok: Grok) -> None:
    grok.append(grok.prompt("One "), grok.prompt("prompt.", 0), grok.prompt(" Really."), grok.prompt("Another.", 1))
    grok.append(grok.reply("Yes."), grok.rewind(1), grok.prompt("Third.", 1))
    assert grok.said() == ["One prompt. Really.", "Third."]
    assert grok.said("abandoned") == ["Another.", "Yes."]


def test_the_same_prompt_again_after_a_rewind_is_another_one(grok: Grok) -> None:
    grok.append(
        grok.prompt("Again.", 0), grok.reply("One."), grok.rewind(0), grok.prompt("Again.", 0), grok.reply("Two.")
    )
    assert grok.said() == ["Again.", "Two."]
    assert grok.said("abandoned") == ["Again.", "One."]


def test_truncated_and_regrown(grok: Grok) -> None:
    grok.append(
        grok.prompt("A.", 0), grok.reply("One."), grok.done(), grok.prompt("B.", 1), grok.reply("Two."), grok.done()
    )
    kept = grok.log.read_bytes().splitlines(keepends=True)[:3]
    grok.log.write_bytes(b"".join(kept))
    grok.append(grok.prompt("C.", 1), grok.reply("Three."))
    assert (grok.said(), grok.said("abandoned")) == (["A.", "One.", "C.", "Three."], ["B.", "Two."])
    grok.log.write_bytes(b"".join(kept))
    grok.append(grok.prompt("B.", 1))
    # The prompt that stood there before is found again, not made a second time.
    assert grok.said() == ["A.", "One.", "B."]
    assert sorted(grok.said("abandoned")) == ["C.", "Three.", "Two."]


def test_a_turn_that_was_cut_off_while_it_was_open(grok: Grok) -> None:
    grok.append(grok.prompt("A.", 0), grok.reply("One "), grok.reply("two."))
    grok.log.write_bytes(b"".join(grok.log.read_bytes().splitlines(keepends=True)[:1]))
    grok.append(grok.reply("Else."))
    assert (grok.said(), grok.said("abandoned")) == (["A.", "Else."], ["One two."])


def test_tools(grok: Grok) -> None:
    def call(its_id: str, tool: str, status: str = "completed", **fields: Any) -> Row:
        return grok.update("tool_call", toolCallId=its_id, kind=tool, status=status, **fields)

    def text(said: str) -> list[Row]:
        return [{"type": "content", "content": {"type": "text", "text": said}}]

    diff = [{"type": "diff", "path": path, "oldText": "a\n", "newText": "b\n"} for path in ("/srv/a.py", "/srv/b.py")]
    grok.append(
        grok.prompt("Work.", 0),
        call("c1", "execute", "pending", rawInput={"command": "make"}, title="Execute `make`"),
        grok.update("tool_call_update", toolCallId="c1", status="in_progress", content=text("Build it")),
        grok.update("tool_call_update", toolCallId="c1", status="completed", content=text("exit code 3\nbroken")),
        call("c2", "execute", rawInput={"command": ["ls", "-l a"]}, rawOutput={"exit_code": 0, "output": "nothing"}),
        call("c3", "execute", "pending", rawInput={"command": "sleep 9"}),
        call("c4", "read", locations=[{"path": "/srv/c.py"}], content=text("c = 1")),
        call("c5", "edit", "pending", title="Edit"),
        grok.update("tool_call_update", toolCallId="c5", status="completed", content=diff),
        call("c6", "search", "failed", title="Search", rawInput={"query": "leak"}),
        grok.done(),
    )
    commands = [("make", 3, None), ("ls '-l a'", 0, None), ("sleep 9", None, None)]
    assert grok.items("command") == commands
    assert grok.items("output") == [("exit code 3\nbroken", None, None), ("nothing", None, None), ("c = 1", None, None)]
    assert grok.items("read") == [("/srv/c.py", "ok", "/srv/c.py")]
    assert grok.items("edit") == [("-a\n+b", "ok", "/srv/a.py"), ("-a\n+b", "ok", "/srv/b.py")]
    assert grok.items("call") == [('Search {"query":"leak"}', "failed", None)]
    # A command in the background ends after its turn.
    grok.append(
        grok.prompt("Next.", 1),
        grok.update("tool_call_update", toolCallId="c3", status="failed", content=text("killed")),
    )
    assert grok.items("command") == [*commands[:2], ("sleep 9", "failed", None)]
    assert [text for text, _, _ in grok.items("output")] == ["exit code 3\nbroken", "nothing", "killed", "c = 1"]


def test_a_torn_record_that_became_a_bad_line(grok: Grok) -> None:
    half = json.dumps(grok.reply("lost")).encode()[:90]
    grok.append(grok.prompt("A.", 0), half)
    grok.append(b"\n", grok.reply("Found."))
    for n in range(3):
        grok.append(grok.reply(f" {n}"))
    assert grok.said() == ["A.", "Found. 0 1 2"]
    # The line was decoded each time its turn grew; it is counted once.
    assert sources.troubles(grok.reading.ledger) == [(str(grok.log), 2, "not JSON")]
    assert [source.bad for source in sources.every(grok.reading.ledger)] == [1]


def test_a_picture_in_a_prompt_is_a_note_and_counts_as_one(grok: Grok) -> None:
    picture = {"type": "image", "mimeType": "image/png", "data": "QUJD" * 9}
    alone = grok.update("user_message_chunk", meta=False, content=picture, _meta={"promptIndex": 0})
    beside = grok.update("user_message_chunk", meta=False, content=picture, _meta={"promptIndex": 1})
    grok.append(alone, grok.reply("A cat."), grok.done(), grok.prompt("And here?", 1))
    grok.append(beside, grok.reply("A dog."), grok.done())
    note = "[image: image/png, 27 bytes]"
    assert grok.said() == [note, "A cat.", f"And here?\n{note}", "A dog."]
    grok.append(grok.rewind(1))
    assert grok.said() == [note, "A cat."]


def test_what_is_no_speech(grok: Grok) -> None:
    rows = [
        grok.prompt("<user_query>\nTyped.\n</user_query>", 0),
        grok.update("plan", entries=[]),
        grok.update("available_commands_update", availableCommands=[]),
        grok.chunk("agent_thought", "Thinking."),
        grok.update("hook_execution", name="x"),
        grok.update("task_started", id="x"),
        grok.update("compaction_checkpoint", checkpoint_id="k"),
        grok.update("model_changed", model_id="grok-5"),
        grok.update("hologram"),
        {
            "sessionId": SESSION,
            "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Old."}},
        },
    ]
    grok.append(*rows)
    grok.append(grok.done())
    assert [(kind, text) for kind, text, _ in grok.reading.speech(SESSION)] == [
        ("prompt", "Typed."),
        ("thinking", "Thinking."),
        ("summary", ""),
        ("reply", "Old."),
    ]
    assert grok.facts().model == "grok-5"
    assert [odd.unknown for odd in drift.report(grok.reading.ledger)] == [{"update hologram": 1}]


def fork_lines(grok: Grok, rows: list[bytes], at_ms: int, events: bool) -> list[bytes]:
    """The lines as a fork copies them: its own session id and the time of the copy, the rest as it was."""
    out = []
    for row in rows:
        line = json.loads(row)
        line["timestamp"] = at_ms // 1000
        line["params"]["sessionId"] = FORK
        if not events:
            line["params"].pop("_meta", None)
        out.append(json.dumps(line).encode() + b"\n")
    return out


@pytest.mark.parametrize("events", [True, False])
@pytest.mark.parametrize("forked_at", [True, False])
@pytest.mark.parametrize("survivors", [True, False])
def test_a_fork_adds_only_what_is_its_own(grok: Grok, events: bool, forked_at: bool, survivors: bool) -> None:
    grok.summary()
    grok.append(
        *(grok.prompt("A.", 0), grok.reply("Same."), grok.reply(" More."), grok.done()),
        *(grok.prompt("B.", 1), grok.reply("Same."), grok.done(), grok.rewind(1)),
        *(grok.prompt("C.", 1), grok.reply("Same."), grok.done()),
    )
    if not events:
        grok.log.write_bytes(
            b"".join(fork_lines(grok, grok.log.read_bytes().splitlines(), grok.ms, False)).replace(
                FORK.encode(), SESSION.encode()
            )
        )
        grok.reading.sweep(thorough=True)
    original = grok.log.read_bytes().splitlines()
    copied = [*original[:4], *original[8:]] if survivors else original
    known = grok.count()
    at_ms = grok.ms + 500_000
    told = {"forked_at": "2026-03-04T10:08:40Z"} if forked_at else {}
    grok.summary(FORK, parent_session_id=SESSION, session_kind="fork", inherited_prefix_len=6, **told)
    path = grok.folder(FORK) / "updates.jsonl"
    grok.append(*fork_lines(grok, copied, at_ms, events), path=path)
    assert grok.count() == known
    grok.ms = at_ms + 60_000
    grok.append(grok.prompt("Own.", 2, session=FORK), grok.reply("Same.", session=FORK), path=path)
    # The parent goes on as well, with the same words.
    grok.append(grok.prompt("Own.", 2), grok.reply("Same."), grok.done())
    assert grok.count() == known + 4
    assert grok.said(session=FORK) == ["A.", "Same. More.", "C.", "Same.", "Own.", "Same."]
    assert grok.facts(FORK).forked_from == SESSION
    assert grok.inherited(FORK) == (4 if survivors else 6)
    assert grok.inherited(SESSION) == 0
    before = lines(grok.reading.ledger)
    for each in (path, grok.log):
        data = each.read_bytes()
        each.write_bytes(data + b"\n")
        grok.reading.restart()
        grok.reading.sweep(thorough=True)
        each.write_bytes(data.replace(b'"timestamp"', b' "timestamp"', 1)[:-1] + b"\n")
        grok.reading.sweep(thorough=True)
    assert lines(grok.reading.ledger) == before


def test_an_agent_s_session_knows_its_parent(grok: Grok) -> None:
    child = "019e0000-0000-7000-8000-0000000000cc"
    grok.append(
        grok.prompt("Find.", 0), grok.update("subagent_spawned", child_session_id=child, subagent_type="explore")
    )
    sidecar = grok.folder(SESSION) / "subagents" / child / "meta.json"
    sidecar.parent.mkdir(parents=True)
    sidecar.write_text(json.dumps({"parent_session_id": SESSION, "subagent_type": "explore"}))
    told = grok.prompt("<fork-context>old</fork-context>\nLook here.", session=child)
    grok.append(told, path=grok.folder(child) / "updates.jsonl")
    assert (grok.facts(child).parent, grok.facts(child).agent) == (SESSION, "explore")
    placed = list(views.in_order(grok.reading.ledger, grok.row(child)))
    assert [(item.text, item.said_by.name) for item in placed] == [("Look here.", "AGENT")]


def test_titles_come_from_the_summary_as_it_changes(grok: Grok) -> None:
    grok.summary(generated_title=None, session_summary="")
    grok.append(grok.prompt("find the leak", 0))
    assert grok.facts().title == "find the leak"
    grok.summary(session_summary="leak hunt")
    grok.reading.sweep()
    assert grok.facts().title == "leak hunt"
    grok.summary(generated_title="Unbounded cache", session_summary="leak hunt", current_model_id="grok-5")
    grok.reading.sweep()
    assert (grok.facts().title, grok.facts().model) == ("Unbounded cache", "grok-5")
    (grok.folder(SESSION) / "summary.json").write_text('{"info": {"id"')
    grok.reading.sweep()
    assert grok.facts().title == "Unbounded cache"


def test_a_hidden_session_is_not_read(grok: Grok) -> None:
    grok.summary(hidden=True, generated_title="Secret helper")
    grok.append(grok.prompt("Host made.", 0), grok.reply("Yes."))
    assert grok.count() == 0
    assert sessions.load(grok.reading.ledger, "WHERE s.facts <> '{}'") == []


def test_a_session_in_two_groups_is_one(grok: Grok) -> None:
    grok.append(grok.prompt("A.", 0), grok.reply("One."))
    other = grok.folder(SESSION, grok.group.with_name("%2Fsrv%2Fother")) / "updates.jsonl"
    other.write_bytes(grok.log.read_bytes())
    grok.append(grok.done(), grok.prompt("B.", 1), path=other)
    assert grok.said() == ["A.", "One.", "B."]


def test_a_turn_over_the_bound_is_taken_in_parts(grok: Grok, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units, "UNIT_MAX", 2000)
    grok.append(grok.prompt("A.", 0), sweep=False)
    words = [f"word{n} " for n in range(60)]
    for word in words:
        grok.append(grok.reply(word), sweep=False)
    grok.reading.sweep()
    assert "".join(text + " " for text in grok.said()[1:]) == "".join(words)
    assert grok.reading.ledger.db.execute("SELECT offset > 2000 FROM source").fetchone() == (1,)


def test_chunks_that_share_an_event_id_overwrite_nothing(grok: Grok) -> None:
    first, second = grok.reply("One."), grok.reply("Two.")
    second["params"]["_meta"]["eventId"] = first["params"]["_meta"]["eventId"]
    call = grok.update("tool_call", toolCallId="c1", kind="think", status="completed", meta=False)
    grok.append(grok.prompt("A.", 0), first, call, second, grok.done())
    assert grok.said() == ["A.", "One.", "Two."]
