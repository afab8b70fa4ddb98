"""Antigravity's transcripts, written as the agent writes them, read by the real capture."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from writer import Reading

from afterword.app.fingerprint import lines
from afterword.capture.stores import survey
from afterword.domain.events import Where
from afterword.store.ledger import drift, sessions, sources, views

SESSION = "8c2d0000-0000-4000-8000-0000000000aa"
Row = dict[str, Any]


class Antigravity:
    """One conversation with its short and its full transcript."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.reading = Reading(home)
        self.root = home / ".gemini/antigravity"
        self.short, self.full = self.logs(self.root)

    def logs(self, root: Path, session: str = SESSION) -> tuple[Path, Path]:
        folder = root / "brain" / session / ".system_generated/logs"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / "transcript.jsonl", folder / "transcript_full.jsonl"

    def append(self, *rows: Row | bytes, path: Path | None = None) -> None:
        with (path or self.short).open("ab") as out:
            for row in rows:
                out.write(row if isinstance(row, bytes) else json.dumps(row, ensure_ascii=False).encode() + b"\n")
        self.reading.sweep(thorough=True)

    def items(self, state: str = "live") -> list[tuple[str, str]]:
        return [(kind, text) for kind, text, its in self.reading.speech(SESSION) if its == state]

    def said(self, state: str = "live") -> list[str]:
        return [text for kind, text in self.items(state) if kind in ("prompt", "reply")]

    def commands(self) -> list[tuple[str, Any]]:
        row = sessions.load(self.reading.ledger, "WHERE s.native = ?", (SESSION,))[0].row
        return [(i.text, i.exit_status) for i in views.in_order(self.reading.ledger, row) if i.kind.word == "command"]

    def troubles(self) -> list[str]:
        return [reason for _, _, reason in sources.troubles(self.reading.ledger)]

    def problems(self) -> dict[str, str]:
        found = {view.harness: view.found for view in survey(Where({}, self.home, "linux"))}["antigravity"]
        return {str(each.path.relative_to(self.root)): each.problem for each in found if each.problem}


def step(
    n: int, kind: str, content: str | None = None, source: str = "MODEL", status: str = "DONE", **more: Any
) -> Row:
    time = f"2026-03-04T10:{n // 60 % 60:02d}:{n % 60:02d}Z"
    row = {"step_index": n, "source": source, "type": kind, "status": status, "created_at": time, **more}
    return row if content is None else row | {"content": content}


def prompt(n: int, text: str, **more: Any) -> Row:
    request = f"<USER_REQUEST>\n{text}\n</USER_REQUEST>\n<ADDITIONAL_METADATA>\nIt is noon.\n</ADDITIONAL_METADATA>"
    return step(n, "USER_INPUT", request, source="USER_EXPLICIT", **more)


def reply(n: int, text: str, **more: Any) -> Row:
    return step(n, "PLANNER_RESPONSE", text, **more)


def calls(n: int, *made: tuple[str, Row], name: str = "args") -> Row:
    quoted = [{"name": tool, name: {key: json.dumps(value) for key, value in args.items()}} for tool, args in made]
    return step(n, "PLANNER_RESPONSE", tool_calls=quoted)


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Antigravity]:
    made = Antigravity(tmp_path)
    yield made
    made.reading.close()


def test_a_window_that_starts_in_the_middle_and_repeats(agent: Antigravity) -> None:
    rows = [
        reply(1419, "Earlier."),
        prompt(1420, "느린 테스트는 무엇입니까? 🐢"),
        reply(1423, "这个测试很慢。"),
        prompt(1425, "Weiter."),
    ]
    agent.append(*rows)
    before = lines(agent.reading.ledger)
    agent.append(*rows[1:])
    assert lines(agent.reading.ledger) == before
    assert agent.said() == ["Earlier.", "느린 테스트는 무엇입니까? 🐢", "这个测试很慢。", "Weiter."]
    assert agent.said("abandoned") == []


def test_the_window_moved_on_and_the_file_was_written_anew(agent: Antigravity) -> None:
    agent.append(prompt(0, "One."), reply(1, "Two."), prompt(2, "Three."), reply(3, "Four."))
    for _ in range(2):
        agent.short.write_bytes(b"")
        agent.append(prompt(2, "Three."), reply(3, "Quite otherwise."))
    # What left the window was not undone; what stands otherwise in it was.
    assert agent.said() == ["One.", "Two.", "Three.", "Quite otherwise."]
    assert agent.said("abandoned") == ["Four."]


def test_a_file_cut_off_and_written_again(agent: Antigravity) -> None:
    agent.append(prompt(0, "One."), reply(1, "Two."), prompt(2, "Three."))
    agent.short.write_bytes(b"".join(agent.short.read_bytes().splitlines(keepends=True)[:1]))
    agent.append(reply(1, "Two and a half."))
    assert agent.said() == ["One.", "Two and a half."]
    assert agent.said("abandoned") == ["Two.", "Three."]


def test_another_prompt_at_an_earlier_step_is_a_rewind(agent: Antigravity) -> None:
    agent.append(prompt(0, "One."), reply(1, "Two."), prompt(2, "Three."), reply(3, "Four."), reply(5, "Five."))
    agent.append(prompt(2, "Otherwise."), reply(3, "Six."))
    assert agent.said() == ["One.", "Two.", "Otherwise.", "Six."]
    assert agent.said("abandoned") == ["Three.", "Four.", "Five."]
    before = lines(agent.reading.ledger)
    agent.short.rename(agent.home / "away")
    agent.reading.sweep()
    (agent.home / "away").rename(agent.short)
    agent.reading.restart()
    agent.reading.sweep(thorough=True)
    assert lines(agent.reading.ledger) == before


def test_a_prompt_where_an_answer_stood_is_a_rewind(agent: Antigravity) -> None:
    agent.append(prompt(0, "One."), reply(1, "Two."), reply(2, "Three."))
    agent.append(prompt(1, "Stop."))
    assert (agent.said(), agent.said("abandoned")) == (["One.", "Stop."], ["Two.", "Three."])


def test_a_step_that_arrives_late_is_none(agent: Antigravity) -> None:
    agent.append(prompt(0, "One."), reply(3, "Three."), prompt(2, "Two."))
    assert agent.said() == ["One.", "Two.", "Three."]


def test_a_running_step_is_replaced(agent: Antigravity) -> None:
    agent.append(prompt(0, "Time them."), calls(1, ("run_command", {"CommandLine": "pytest", "Cwd": "/srv/x"})))
    agent.append(step(2, "RUN_COMMAND", "Created At: now\n\nOutput:\n1.2s", status="RUNNING"))
    agent.append(reply(3, "I wi", status="RUNNING"))
    agent.append(
        step(2, "RUN_COMMAND", "Created At: now\nCompleted At: then\n\nOutput:\n1.2s slow\nfailed with exit code 4")
    )
    agent.append(reply(3, "I will see."))
    assert agent.said() == ["Time them.", "I will see."]
    assert agent.said("abandoned") == []
    assert agent.commands() == [("pytest", 4)]
    assert [text for kind, text in agent.items() if kind == "output"] == ["Output:\n1.2s slow\nfailed with exit code 4"]


def test_results_belong_to_calls_by_their_order(agent: Antigravity) -> None:
    agent.append(
        calls(
            1,
            ("run_command", {"CommandLine": "make a", "Cwd": "/srv/x"}),
            ("view_file", {"AbsolutePath": "file:///srv/x/a%20b.py"}),
            ("run_command", {"CommandLine": "make b", "Cwd": "/srv/x"}),
            ("grep_search", {"Query": "cache"}),
        ),
        step(2, "RUN_COMMAND", "The command completed successfully."),
        step(3, "VIEW_FILE", "File Path: `file:///srv/x/a%20b.py`\n1: import time"),
        step(4, "RUN_COMMAND", "The command failed with exit code 2."),
        step(5, "GREP_SEARCH", "nothing", status="ERROR"),
    )
    assert agent.commands() == [("make a", "ok"), ("make b", 2)]
    assert [text for kind, text in agent.items() if kind == "read"] == ["/srv/x/a b.py"]
    assert [text for kind, text in agent.items() if kind == "call"] == ['grep_search {"Query":"\\"cache\\""}']
    assert sessions.load(agent.reading.ledger, "")[0].facts.cwd == "/srv/x"


@pytest.mark.parametrize("form", ["args", "arguments", "text"])
def test_edits_in_every_form_of_arguments(agent: Antigravity, form: str) -> None:
    args = {"TargetFile": "/srv/x/a.py", "TargetContent": "a = 1", "ReplacementContent": "a = 2"}
    row = calls(1, ("replace_file_content", args), name="arguments" if form == "arguments" else "args")
    if form == "text":
        row["tool_calls"] = [{"name": "replace_file_content", "args": json.dumps(args)}]
    agent.append(
        row,
        step(2, "CODE_ACTION", "Edited file file:///srv/x/a.py"),
        step(3, "CODE_ACTION", "Created file file:///srv/x/b.py"),
    )
    row_of = sessions.load(agent.reading.ledger, "")[0].row
    edits = [(i.text, i.path) for i in views.in_order(agent.reading.ledger, row_of) if i.kind.word == "edit"]
    assert edits == [("-a = 1\n+a = 2", "/srv/x/a.py"), ("", "/srv/x/b.py")]


def test_what_is_injected_is_not_said(agent: Antigravity) -> None:
    said = "The user changed setting `Model Selection` from {} to {}. No need to comment."
    settings = f"<USER_SETTINGS_CHANGE>\n{said}\n</USER_SETTINGS_CHANGE>"
    agent.append(
        step(
            0,
            "USER_INPUT",
            "No tags here.\n" + settings.format("None", "Gemini 3.1 Pro (High)"),
            source="USER_EXPLICIT",
        ),
        step(1, "CONVERSATION_HISTORY", "old talk", source="SYSTEM"),
        step(2, "EPHEMERAL_MESSAGE", "be brief", source="SYSTEM"),
        step(3, "SYSTEM_MESSAGE", "be kind", source="SYSTEM"),
        step(4, "KNOWLEDGE_ARTIFACTS", "knows", source="SYSTEM"),
        step(5, "CHECKPOINT", "{{ CHECKPOINT 0 }} summary", source="SYSTEM"),
        step(6, "USER_INPUT", settings.format("Gemini 3.1 Pro (High)", "Claude Opus 4.6"), source="USER_EXPLICIT"),
        step(7, "HOLOGRAM", "?", source="SYSTEM"),
        step(8, "BROWSER_CLICK", "clicked"),
    )
    assert agent.items() == [("prompt", "No tags here."), ("summary", ""), ("output", "clicked")]
    assert sessions.load(agent.reading.ledger, "")[0].facts.model == "Claude Opus 4.6"
    assert [odd.unknown for odd in drift.report(agent.reading.ledger)] == [{"step HOLOGRAM": 1}]


def test_a_line_that_lost_its_head(agent: Antigravity) -> None:
    whole = json.dumps(reply(1, "Lost."), ensure_ascii=False).encode()
    agent.append(prompt(0, "One."), whole[20:] + b"\n", reply(2, "Two."))
    assert agent.said() == ["One.", "Two."]
    assert agent.troubles() == ["not JSON"]


@pytest.mark.parametrize("order", ["full first", "short first", "both at once"])
@pytest.mark.parametrize("mark", ["", "…", "\n<truncated 120 bytes>"])
def test_what_the_short_transcript_cut_off_comes_from_the_full_one(agent: Antigravity, order: str, mark: str) -> None:
    output = "Created At: a\nCompleted At: b\n\nThe command completed successfully.\nOutput:\n" + "1.2s test\n" * 300
    full = [
        prompt(0, "Time them."),
        calls(1, ("run_command", {"CommandLine": "pytest"})),
        step(2, "RUN_COMMAND", output),
    ]
    cut = step(2, "RUN_COMMAND", output[:200] + mark, truncated_fields=["content"])
    short = [*full[:2], cut, reply(3, "Only here.")]
    if order == "full first":
        agent.append(*full, path=agent.full)
    if order == "both at once":
        agent.full.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in full))
    agent.append(*short)
    if order == "short first":
        agent.append(*full, path=agent.full)
    assert agent.said() == ["Time them.", "Only here."]
    assert agent.commands() == [("pytest", "ok")]
    assert [text for kind, text in agent.items() if kind == "output"] == [output[30:].strip("\n")]
    assert agent.items("abandoned") == []


def test_a_corrupt_first_line_of_the_full_transcript_loses_nothing(agent: Antigravity) -> None:
    rows = [prompt(0, "One."), reply(1, "Two.")]
    agent.append(*rows)
    agent.append(b'{"step_index":0,"sour\n', rows[1], path=agent.full)
    assert agent.said() == ["One.", "Two."]
    assert agent.troubles() == ["not JSON"]


def test_empty_transcripts_and_binary_conversations_are_named(agent: Antigravity) -> None:
    agent.append(path=agent.short)
    agent.append(path=agent.full)
    (agent.root / "conversations").mkdir()
    (agent.root / "conversations" / f"{SESSION}.db").write_bytes(b"x")
    (agent.root / "conversations/8c2d0000-0000-4000-8000-0000000000bb.pb").write_bytes(b"x")
    folder = f"brain/{SESSION}/.system_generated/logs"
    empty = "an empty transcript; what was said is only in the agent's own conversations folder"
    assert agent.problems() == {
        f"{folder}/transcript_full.jsonl": empty,
        f"{folder}/transcript.jsonl": empty,
        "conversations/8c2d0000-0000-4000-8000-0000000000bb.pb": "a conversation without a transcript is not read",
    }
    assert sessions.load(agent.reading.ledger, "") == []
    agent.append(prompt(0, "One."))
    assert agent.said() == ["One."]
    assert len(agent.problems()) == 1


def test_one_conversation_in_two_roots(agent: Antigravity) -> None:
    agent.append(prompt(0, "One."), reply(1, "Two."))
    other, _ = agent.logs(agent.home / ".gemini/antigravity-cli")
    agent.append(prompt(0, "One."), reply(1, "Two."), prompt(2, "Three."), path=other)
    assert agent.said() == ["One.", "Two.", "Three."]


def test_a_folder_named_by_the_caches(agent: Antigravity) -> None:
    cache = agent.root / "cache"
    cache.mkdir()
    (cache / "last_conversations.json").write_text(json.dumps({"/srv/other": "x", "/srv/orchard-api": SESSION}))
    agent.append(prompt(0, "One."))
    assert sessions.load(agent.reading.ledger, "")[0].facts.cwd == "/srv/orchard-api"
