"""Gemini CLI's operation logs and documents, written as the agent writes them, read by the real capture."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from writer import Reading

from afterword.app.fingerprint import lines
from afterword.store.ledger import drift, sessions, sources, views
from afterword.store.ledger.sessions import SessionFacts

SESSION = "3f9a1b2c-0000-4000-8000-0000000000aa"
OTHER = "3f9a1b2c-0000-4000-8000-0000000000bb"
Row = dict[str, Any]


class Gemini:
    """One project's folder of sessions."""

    def __init__(self, home: Path, project: str = "orchard-api") -> None:
        self.reading = Reading(home)
        self.folder = home / ".gemini/tmp" / project
        self.chats = self.folder / "chats"
        self.chats.mkdir(parents=True)
        (self.folder / ".project_root").write_text("/srv/orchard-api\n")
        self.log = self.chats / "session-2026-03-04T10-00-3f9a1b2c.jsonl"
        self.second = 0

    def append(self, *rows: Row | bytes, path: Path | None = None) -> None:
        with (path or self.log).open("ab") as out:
            for row in rows:
                out.write(row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n")
        self.reading.sweep(thorough=True)

    def head(self, session: str = SESSION, **more: Any) -> Row:
        return {"sessionId": session, "projectHash": "0" * 64, "startTime": "2026-03-04T10:00:00.000Z", **more}

    def said(self, its_id: str, kind: str, content: Any, **more: Any) -> Row:
        self.second += 1
        time = f"2026-03-04T10:{self.second // 60:02d}:{self.second % 60:02d}.000Z"
        return {"id": its_id, "timestamp": time, "type": kind, "content": content, **more}

    def user(self, its_id: str, content: Any, **more: Any) -> Row:
        return self.said(its_id, "user", content, **more)

    def model(self, its_id: str, content: Any, **more: Any) -> Row:
        return self.said(its_id, "gemini", content, model="gemini-3-pro", **more)

    def of_state(self, state: str, session: str = SESSION) -> list[str]:
        return [
            text for kind, text, its in self.reading.speech(session) if its == state and kind in ("prompt", "reply")
        ]

    def live(self, session: str = SESSION) -> list[str]:
        return self.of_state("live", session)

    def facts(self, session: str = SESSION) -> SessionFacts:
        return sessions.load(self.reading.ledger, "WHERE s.native = ?", (session,))[0].facts

    def items(self, kind: str, session: str = SESSION) -> list[tuple[str, Any, str | None]]:
        row = sessions.load(self.reading.ledger, "WHERE s.native = ?", (session,))[0].row
        placed = views.in_order(self.reading.ledger, row)
        return [(item.text, item.exit_status, item.path) for item in placed if item.kind.word == kind]

    def troubles(self) -> list[str]:
        return [reason for _, _, reason in sources.troubles(self.reading.ledger)]


def shell(its_id: str, command: str, status: str = "success", output: str | None = None) -> Row:
    call: Row = {"id": its_id, "name": "run_shell_command", "args": {"command": command}, "status": status}
    if output is not None:
        call["result"] = [{"functionResponse": {"id": its_id, "response": {"output": output}}}]
    return call


@pytest.fixture
def gemini(tmp_path: Path) -> Iterator[Gemini]:
    made = Gemini(tmp_path)
    yield made
    made.reading.close()


def test_the_message_that_is_written_again_and_again_is_one(gemini: Gemini) -> None:
    gemini.append(gemini.head(), gemini.user("u1", "Make the linter pass."))
    answer = gemini.model("g1", "")
    for n in range(53):
        calls = [
            shell("c1", "make lint", "executing" if n < 9 else "success", "2 errors\nExit Code: 2" if n > 8 else None)
        ]
        gemini.append(answer | {"content": "It passes now."[: n // 3], "toolCalls": calls, "tokens": {"total": n}})
    assert gemini.live() == ["Make the linter pass.", "It passes now."]
    assert gemini.items("command") == [("make lint", 2, None)]
    assert gemini.items("output") == [("2 errors\nExit Code: 2", None, None)]
    # The answer's words come before its calls, although they came after them.
    assert [kind for kind, _, _ in gemini.reading.speech(SESSION)] == ["prompt", "reply", "command", "output"]


def test_a_rewind_takes_the_message_and_all_after_it(gemini: Gemini) -> None:
    u1, g1 = gemini.user("u1", "Drop the cache."), gemini.model("g1", "Dropped.")
    gemini.append(gemini.head(), u1, g1, g1 | {"toolCalls": [shell("c1", "rm -r cache", output="done")]})
    gemini.append({"$set": {"messages": [u1, g1]}}, {"$rewindTo": "u1"}, gemini.model("g2", "What else?"))
    assert gemini.live() == ["What else?"]
    assert gemini.of_state("abandoned") == ["Drop the cache.", "Dropped."]
    before = lines(gemini.reading.ledger)
    os.utime(gemini.log, ns=(1, 1))
    gemini.reading.restart()
    gemini.reading.sweep(thorough=True)
    assert lines(gemini.reading.ledger) == before


def test_a_rewind_to_a_message_nobody_knows_abandons_everything_and_is_reported(gemini: Gemini) -> None:
    gemini.append(gemini.head(), gemini.user("u1", "One."), gemini.model("g1", "Two."), {"$rewindTo": "nobody"})
    gemini.append(gemini.user("u2", "Three."))
    assert gemini.live() == ["Three."]
    assert gemini.of_state("abandoned") == ["One.", "Two."]
    assert gemini.troubles() == ["a rewind to a message that is not there abandoned everything before it"]


def test_a_message_that_comes_back_after_a_rewind_lives(gemini: Gemini) -> None:
    u1, g1 = gemini.user("u1", "One."), gemini.model("g1", "Two.")
    gemini.append(gemini.head(), u1, g1, {"$rewindTo": "u1"}, gemini.user("u2", "Three."), g1)
    assert gemini.live() == ["Three.", "Two."]
    assert gemini.of_state("abandoned") == ["One."]


def test_what_falls_out_of_the_list_stays_and_what_is_masked_keeps_its_text(gemini: Gemini) -> None:
    u1 = gemini.user("u1", "Build it.")
    g1 = gemini.model("g1", "Built.", toolCalls=[shell("c1", "make", output="line\n" * 400 + "Exit Code: 2")])
    gemini.append(gemini.head(), u1, g1)
    masked = shell("c1", "make", output="<tool_output_masked>\n[Exit Code: 2]</tool_output_masked>")
    snapshot = gemini.user("z1", [{"text": "<state_snapshot>All is built.</state_snapshot>"}])
    gemini.append({"$set": {"messages": [snapshot, g1 | {"toolCalls": [masked]}]}})
    gemini.append({"$set": {"messages": [snapshot, g1 | {"toolCalls": [masked]}]}}, gemini.user("u2", "And now?"))
    assert gemini.live() == ["Build it.", "Built.", "And now?"]
    assert gemini.items("output")[0][0].startswith("line\nline")
    assert gemini.items("command") == [("make", 2, None)]
    assert len(gemini.items("summary")) == 1


@pytest.mark.parametrize(
    ("content", "more", "said"),
    [
        ("Plain words.", {}, ["Plain words."]),
        ({"text": "One part."}, {}, ["One part."]),
        ([{"text": "Two "}, {"text": "parts."}], {}, ["Two parts."]),
        (["A string ", {"text": "in a list."}], {}, ["A string in a list."]),
        (
            [{"text": "Look at @a.py"}, {"text": "\n--- Content from referenced files ---\nx = 1"}],
            {},
            ["Look at @a.py"],
        ),
        ("expanded by a hook", {"displayContent": [{"text": "as typed"}]}, ["as typed"]),
        ("<session_context>\nA tree\n</session_context>", {}, []),
        ([{"text": "<hook_context>x</hook_context>"}], {}, []),
        ([{"functionResponse": {"response": {"output": "x"}}}], {}, []),
        ("<hook_context>x</hook_context>\nFix it.", {}, ["Fix it."]),
        ([{"text": "Fix it."}, {"text": "<hook_context>branch: main</hook_context>"}], {}, ["Fix it."]),
        ("What does <state_snapshot> mean?", {}, ["What does <state_snapshot> mean?"]),
        ("<state_snapshot>cut off", {}, []),
        ([{"inlineData": {"mimeType": "image/png", "data": "QUJD" * 9}}], {}, ["[image: image/png, 27 bytes]"]),
        (
            [{"text": "Why?"}, {"inlineData": {"mimeType": "image/png", "data": "QUJD" * 9}}],
            {},
            ["Why?\n[image: image/png, 27 bytes]"],
        ),
        ("/chat save before", {}, []),
        ("?", {}, []),
        ("", {}, []),
        ("/srv/orchard-api does not start, why?", {}, ["/srv/orchard-api does not start, why?"]),
        ("What does <session_context> mean?", {}, ["What does <session_context> mean?"]),
        ("Почему тест падает? 🚀", {}, ["Почему тест падает? 🚀"]),
    ],
)
def test_what_a_person_said(gemini: Gemini, content: Any, more: Row, said: list[str]) -> None:
    gemini.append(gemini.head(), gemini.user("u1", content, **more))
    assert gemini.live() == said


def test_work_is_captured(gemini: Gemini) -> None:
    calls = [
        shell("c1", "pytest -q", output="1 passed"),
        shell("c2", "sleep 9", status="cancelled", output="Exit Code: 130"),
        {"id": "c3", "name": "read_file", "args": {"absolute_path": "/srv/x.py"}, "status": "success"},
        {"id": "c4", "name": "write_file", "args": {"file_path": "app/y.py", "content": "y = 1"}, "status": "success"},
        {
            "id": "c5",
            "name": "replace",
            "args": {"file_path": "/srv/z.py", "old_string": "a", "new_string": "b"},
            "status": "error",
            "result": {"functionResponse": {"response": {"error": "no such text"}}},
        },
        {"id": "c6", "name": "google_web_search", "args": {"query": "flaky"}, "status": "success"},
        {"id": "c7", "name": "read_many_files", "args": {"paths": ["a.md", "docs/*.md", "b.md"]}, "status": "success"},
    ]
    gemini.append(gemini.head(), gemini.model("g1", "", toolCalls=calls))
    assert gemini.items("command") == [("pytest -q", "ok", None), ("sleep 9", "interrupted", None)]
    root = "/srv/orchard-api"
    assert [path for _, _, path in gemini.items("read")] == ["/srv/x.py", f"{root}/a.md", f"{root}/b.md"]
    assert gemini.items("edit") == [("y = 1", "ok", f"{root}/app/y.py"), ("-a\n+b", "error", "/srv/z.py")]
    assert gemini.items("call") == [('google_web_search {"query":"flaky"}', "ok", None)]
    assert gemini.items("output") == [
        ("1 passed", None, None),
        ("Exit Code: 130", None, None),
        ("no such text", None, None),
    ]


def test_bad_lines_and_unknown_ones_stop_nothing(gemini: Gemini) -> None:
    half = json.dumps(gemini.user("u2", "lost")).encode()[:40]
    gemini.append(
        b"\xef\xbb\xbf" + json.dumps(gemini.head()).encode() + b"\r\n", gemini.user("u1", "One."), half + b"\n"
    )
    glued = json.dumps(gemini.user("u3", "Three.")).encode() + json.dumps(gemini.model("g3", "Four.")).encode()
    gemini.append(
        glued + b"\n", half + json.dumps({"$rewindTo": "g3"}).encode() + b"\n", gemini.said("x", "hologram", "?")
    )
    assert gemini.live() == ["One.", "Three."]
    assert gemini.of_state("abandoned") == ["Four."]
    assert sorted(gemini.troubles()) == ["half a record before a whole one", "not JSON"]
    assert [odd.unknown for odd in drift.report(gemini.reading.ledger)] == [{"message hologram": 1}]


def test_title_parent_and_folder(gemini: Gemini) -> None:
    gemini.append(gemini.head(), gemini.user("u1", "Make the linter pass."))
    assert gemini.facts().title == "Make the linter pass."
    gemini.append({"$set": {"summary": "Linter repaired"}}, gemini.model("g1", "Done."))
    assert (gemini.facts().title, gemini.facts().cwd) == ("Linter repaired", "/srv/orchard-api")
    child = gemini.chats / SESSION / "looker-1.jsonl"
    child.parent.mkdir()
    gemini.append(gemini.head("looker-1", kind="subagent"), gemini.user("s1", "Find it."), path=child)
    native = f"{SESSION}/looker-1"
    assert gemini.facts(native).parent == SESSION
    row = sessions.load(gemini.reading.ledger, "WHERE s.native = ?", (native,))[0].row
    assert [item.said_by.name for item in views.in_order(gemini.reading.ledger, row)] == ["AGENT"]


def test_a_folder_known_only_by_its_hash(tmp_path: Path) -> None:
    name = "0402c293014c2e97b929f54f2b56bbba032df017f922db9f77f0802c6cb97da4"
    gemini = Gemini(tmp_path, name)
    (gemini.folder / ".project_root").unlink()
    (tmp_path / ".gemini/projects.json").write_text('{"projects": {"/srv/orchard-api": "orchard-api"}}')
    gemini.append(gemini.head(), gemini.user("u1", "One."))
    assert gemini.facts().cwd == "/srv/orchard-api"
    gemini.reading.close()


def test_a_hash_folder_copied_to_a_slug_folder_doubles_nothing(gemini: Gemini) -> None:
    gemini.append(gemini.head(), gemini.user("u1", "One."), gemini.model("g1", "Two."))
    before = lines(gemini.reading.ledger)
    copy = gemini.folder.with_name("a" * 64) / "chats" / gemini.log.name
    copy.parent.mkdir(parents=True)
    copy.write_bytes(gemini.log.read_bytes())
    gemini.reading.sweep(thorough=True)
    assert lines(gemini.reading.ledger) == before


def test_a_rewind_counts_though_the_copy_left_behind_does_not_know_it(gemini: Gemini) -> None:
    gemini.append(gemini.head(), gemini.user("u1", "One."), gemini.model("g1", "Two."))
    left = gemini.folder.with_name("f" * 64) / "chats" / gemini.log.name
    left.parent.mkdir(parents=True)
    left.write_bytes(gemini.log.read_bytes())
    gemini.append({"$rewindTo": "g1"})
    assert gemini.live() == ["One."]
    fresh = Reading(gemini.reading.root / "fresh")
    (fresh.root / ".gemini").symlink_to(gemini.folder.parents[1])
    fresh.sweep(thorough=True)
    assert fresh.live(SESSION) == ["One."]
    fresh.close()


def test_a_copy_under_a_new_id_adds_only_what_is_new(gemini: Gemini) -> None:
    gemini.append(gemini.head(), gemini.user("u1", "One."), gemini.model("g1", "Two."))
    copy = gemini.chats / "session-2026-03-05T10-00-3f9a1b2d.jsonl"
    copy.write_bytes(gemini.log.read_bytes())
    gemini.append({"$set": {"sessionId": OTHER}}, gemini.user("u2", "Three."), path=copy)
    assert gemini.live() == ["One.", "Two."]
    assert gemini.live(OTHER) == ["Three."]
    assert gemini.facts(OTHER).continued_from == SESSION


def document(gemini: Gemini, *messages: Row) -> bytes:
    return json.dumps({**gemini.head(), "lastUpdated": "2026-03-04T11:00:00Z", "messages": messages}, indent=2).encode()


def test_both_formats_of_a_session_give_each_message_one_row(gemini: Gemini) -> None:
    u1, g1 = gemini.user("u1", "One."), gemini.model("g1", "Two.", toolCalls=[shell("c1", "make", output="ok")])
    old = gemini.log.with_suffix(".json")
    old.write_bytes(document(gemini, u1, g1, gemini.user("only", "Only here.")))
    gemini.reading.sweep()
    count = gemini.reading.ledger.db.execute("SELECT count(*) FROM item").fetchone()
    gemini.append(gemini.head(), u1, g1)
    assert gemini.reading.ledger.db.execute("SELECT count(*) FROM item").fetchone() == count
    gemini.append(gemini.user("u2", "Three."), {"$rewindTo": "g1"})
    assert gemini.live() == ["One."]
    assert gemini.of_state("abandoned") == ["Two.", "Three."]
    assert gemini.of_state("hidden") == ["Only here."]


def test_a_document_that_is_half_written_is_read_when_it_is_whole(gemini: Gemini) -> None:
    old = gemini.log.with_suffix(".json")
    u1, g1 = gemini.user("u1", "One."), gemini.model("g1", "Two.")
    old.write_bytes(document(gemini, u1))
    gemini.reading.sweep()
    whole = document(gemini, u1, g1)
    old.write_bytes(whole[: len(whole) // 2])
    gemini.reading.sweep()
    assert gemini.live() == ["One."]
    problems = [source.problem for source in sources.every(gemini.reading.ledger, "gemini-cli")]
    assert problems == ["it is no whole JSON document; it is read again when it changes"]
    old.write_bytes(whole)
    gemini.reading.sweep()
    assert gemini.live() == ["One.", "Two."]
    assert [source.problem for source in sources.every(gemini.reading.ledger, "gemini-cli")] == [""]
    old.unlink()
    gemini.reading.sweep()
    assert gemini.live() == ["One.", "Two."]


def test_checkpoints_and_the_second_copy_of_the_prompts_are_no_sessions(gemini: Gemini) -> None:
    (gemini.folder / "logs.json").write_text(json.dumps([{"sessionId": OTHER, "message": "x", "type": "user"}]))
    (gemini.folder / "checkpoint-x.json").write_text('{"history": []}')
    (gemini.chats / "session-a.jsonl.unreadable-1").write_text("{}")
    gemini.append(gemini.head(), gemini.user("u1", "One."))
    assert [source.path.rsplit("/", 1)[1] for source in sources.every(gemini.reading.ledger)] == [gemini.log.name]


def test_truncated_and_regrown(gemini: Gemini) -> None:
    gemini.append(gemini.head(), gemini.user("u1", "One."), gemini.model("g1", "Two."), gemini.user("u2", "Three."))
    kept = gemini.log.read_bytes().splitlines(keepends=True)[:2]
    gemini.log.write_bytes(b"".join(kept))
    gemini.append(gemini.model("g9", "Otherwise."))
    assert gemini.live() == ["One.", "Otherwise."]
    assert gemini.of_state("abandoned") == ["Two.", "Three."]
