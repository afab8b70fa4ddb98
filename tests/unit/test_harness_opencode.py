"""opencode's messages in all shapes → events: what is speech and what is not, keys, tools, odd rows."""

import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import opencode as world
import pytest

from afterword.capture.harness import opencode, stores
from afterword.domain.events import BadLine, Database, Decoded, Document, Facts, Item, Part, Skipped, Unreadable, Where
from afterword.domain.items import Kind, SaidBy

S = "ses_1"


def fingerprint(text: str) -> str:
    raise AssertionError("it asks for none")


class Base:
    """A database in memory."""

    def __init__(self, era: str = "v2") -> None:
        self.db = sqlite3.connect(":memory:", isolation_level=None)
        for statement in world.statements(era):
            if statement.startswith("CREATE"):
                self.db.execute(statement)
        self.n = 0

    def session(self, its_id: str = S, table: str = "session", **columns: Any) -> None:
        row = {
            "id": its_id, "project_id": "p", "slug": "s", "directory": "/srv/orchard-api", "title": "T",
            "version": "1", "time_created": 1772618400000, "time_updated": 1772618400000,
        } | columns  # fmt: skip
        marks = ", ".join("?" * len(row))
        self.db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))

    def message(self, its_id: str, role: str, *parts: Any, session: str = S, **data: Any) -> None:
        self.n += 1
        raw = json.dumps({"role": role, "time": {"created": 1772618400000 + self.n}} | data)
        self.db.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (its_id, session, self.n, self.n, raw))
        for n, part in enumerate(parts):
            raw = part if isinstance(part, str) else json.dumps(part)
            self.db.execute(
                "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", (f"prt_{its_id}_{n}", its_id, session, n, n, raw)
            )

    def entry(self, its_id: str, kind: str, session: str = S, **data: Any) -> None:
        self.n += 1
        self.db.execute(
            "INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)",
            (its_id, session, kind, self.n, 1772618400000 + self.n, self.n, json.dumps(data)),
        )

    def parts(self) -> list[Part]:
        return list(opencode.parts(Database(Path("opencode.db"), self.db), {}))

    def events(self, part: str = "") -> list[Decoded]:
        given = next(p for p in self.parts() if not part or p.name == part)
        records = opencode.events(Database(Path("opencode.db"), self.db), given, fingerprint)
        return [event for record in records for event in record]

    def items(self, part: str = "") -> list[Item]:
        return [event for event in self.events(part) if isinstance(event, Item)]


@pytest.fixture
def base() -> Iterator[Base]:
    made = Base()
    yield made
    made.db.close()


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": said} | more


def tool(name: str, given: Any, call: str = "c1", **state: Any) -> dict[str, Any]:
    return {"type": "tool", "tool": name, "callID": call, "state": {"status": "completed", "input": given} | state}


def test_keys_are_the_same_in_both_shapes_of_a_message(base: Base) -> None:
    base.session()
    base.session(table="session_v2")
    call = tool("bash", {"command": "make"}, output="done", metadata={"exit": 0})
    piece = {
        "type": "tool", "id": "c1", "name": "bash",
        "state": {"status": "completed", "input": {"command": "make"}, "content": [text("done")],
                  "metadata": {"exit": 0}},
    }  # fmt: skip
    base.message("m1", "user", text("Build it."), text("Injected", synthetic=True), text("Also test."))
    base.message("m2", "assistant", {"type": "reasoning", "text": "Hm."}, call, text("Built."))
    base.entry("m1", "user", text="Build it.")
    base.entry("m2", "assistant", content=[{"type": "reasoning", "text": "Hm."}, piece, text("Built.")])
    first = {(item.kind, item.key): item.text for item in base.items("2/ses_1")}
    second = {(item.kind, item.key): item.text for item in base.items("3/ses_1")}
    assert second == {
        (Kind.PROMPT, ("m1", 0)): "Build it.",
        (Kind.THINKING, ("m2", 0)): "Hm.",
        (Kind.COMMAND, ("m2", "c1")): "make",
        (Kind.OUTPUT, ("m2", "c1")): "done",
        (Kind.REPLY, ("m2", 0)): "Built.",
    }
    assert first == second | {(Kind.PROMPT, ("m1", 1)): "Also test."}
    assert [part.authority for part in base.parts()] == [2, 3]


def test_what_is_no_speech(base: Base) -> None:
    base.session(title="New session - 2026-03-04")
    base.message("m1", "user", text("typed"), text("hidden", ignored=True), text("", synthetic=False), text("  \n"))
    base.message("m2", "assistant", {"type": "step-start"}, {"type": "step-finish"}, {"type": "snapshot"})
    base.message("m3", "assistant", error={"name": "APIError", "data": {"message": "overloaded"}})
    base.message("m4", "assistant", text("Summary of all that."), summary=True)
    base.message("m5", "user", {"type": "agent", "name": "general"}, {"type": "compaction", "auto": True})
    assert [(item.kind, item.text) for item in base.items()] == [(Kind.PROMPT, "typed"), (Kind.SUMMARY, "")]
    assert next(event for event in base.events() if isinstance(event, Facts)).title is None


def test_a_sub_agents_words_are_the_agents(base: Base) -> None:
    base.session("ses_c", parent_id=S)
    base.message("m1", "user", text("Find callers."), session="ses_c")
    base.message("m2", "assistant", text("One."), session="ses_c", agent="general", modelID="big")
    prompt, reply = base.items()
    assert (prompt.kind, prompt.said_by, reply.said_by) == (Kind.PROMPT, SaidBy.AGENT, SaidBy.AGENT)
    facts = [event for event in base.events() if isinstance(event, Facts)]
    assert facts[0].parent == S
    assert (facts[1].agent, facts[1].model) == ("general", "big")


def test_the_call_that_made_a_sub_agent(base: Base) -> None:
    base.session()
    base.message("m1", "assistant", tool("task", {"prompt": "Find."}, metadata={"sessionId": "ses_c"}, output="One."))
    assert Facts("ses_c", parent=S, spawned_by="c1") in base.events()
    assert [item.kind for item in base.items()] == [Kind.CALL, Kind.OUTPUT]


@pytest.mark.parametrize(
    ("part", "kind", "said", "path", "exit_status"),
    [
        (tool("bash", {"command": "ls"}, metadata={"exit": 3}), Kind.COMMAND, "ls", None, 3),
        (tool("bash", {"command": "ls"}, metadata={"exit": None}), Kind.COMMAND, "ls", None, None),
        (tool("bash", {"command": "ls"}, status="running"), Kind.COMMAND, "ls", None, None),
        (tool("bash", {"command": "ls"}, status="error", error="Tool execution aborted"), Kind.COMMAND, "ls", None,
         "interrupted"),
        (tool("bash", {"command": "ls"}, status="error", error="spawn failed"), Kind.COMMAND, "ls", None, "error"),
        (tool("edit", {"filePath": "a.py", "oldString": "x", "newString": "y"}), Kind.EDIT, "-x\n+y",
         "/srv/orchard-api/a.py", "ok"),
        (tool("write", {"filePath": "/a.py", "content": "all"}), Kind.EDIT, "all", "/a.py", "ok"),
        (tool("multiedit", {"filePath": "/a.py", "edits": [{"oldString": "x", "newString": "y"}, {"newString": "z"}]}),
         Kind.EDIT, "-x\n+y\n@@\n+z", "/a.py", "ok"),
        (tool("apply_patch", {"patchText": "*** Begin Patch\n*** Update File: b.py\n@@\n-x\n+y\n*** End Patch"}),
         Kind.EDIT, "@@\n-x\n+y", "/srv/orchard-api/b.py", "ok"),
        (tool("read", {"filePath": "/a.py"}), Kind.READ, "/a.py", "/a.py", "ok"),
        (tool("grep", {"pattern": "x"}), Kind.CALL, 'grep {"pattern":"x"}', None, "ok"),
        (tool("bash", "half of an inp"), Kind.CALL, "bash", None, "ok"),
    ],
)  # fmt: skip
def test_tools(base: Base, part: Any, kind: Kind, said: str, path: str | None, exit_status: object) -> None:
    base.session()
    base.message("m1", "assistant", part)
    item = base.items()[0]
    assert (item.kind, item.text, item.path, item.exit_status) == (kind, said, path, exit_status)


def test_a_patch_of_two_files_is_two_items(base: Base) -> None:
    base.session()
    patch = "*** Begin Patch\n*** Add File: a.py\n+x\n*** Delete File: b.py\n*** End Patch"
    base.message("m1", "assistant", tool("apply_patch", {"patchText": patch}))
    assert [(item.key, item.path) for item in base.items()] == [
        (("m1", "c1"), "/srv/orchard-api/a.py"),
        (("m1", "c1#1"), "/srv/orchard-api/b.py"),
    ]


def test_files_that_changed_but_for_those_that_a_tool_edited(base: Base) -> None:
    base.session()
    edit = tool("edit", {"filePath": "/srv/orchard-api/a.py", "oldString": "x", "newString": "y"})
    base.message(
        "m1", "assistant", edit, {"type": "patch", "files": ["/srv/orchard-api/a.py", "/srv/orchard-api/made.txt"]}
    )
    assert [item.path for item in base.items() if item.kind is Kind.EDIT] == [
        "/srv/orchard-api/a.py",
        "/srv/orchard-api/made.txt",
    ]


def test_attachments(base: Base) -> None:
    base.session()
    picture = {"type": "file", "mime": "image/png", "url": "data:image/png;base64," + "A" * 400}
    base.message("m1", "user", text("What is this?"), picture, {"type": "file", "url": "file:///srv/a.py?start=1"})
    base.message("m2", "user", picture)
    assert [(item.kind, item.text) for item in base.items()] == [
        (Kind.PROMPT, "What is this?\n[image: image/png, 300 bytes]"),
        (Kind.READ, "/srv/a.py"),
        (Kind.PROMPT, "[image: image/png, 300 bytes]"),
    ]


def test_a_command_the_person_ran(base: Base) -> None:
    base.session()
    base.session(table="session_v2")
    base.message("m1", "user", text("The following tool was executed by the user", synthetic=True))
    base.message("m2", "assistant", tool("bash", {"command": "git log"}, metadata={"exit": 0}), parentID="m1")
    base.entry("m1", "user", text="x")
    base.entry("m9", "shell", command="git log", exit=1, output="nothing")
    assert [(i.kind, i.said_by, i.text) for i in base.items("2/ses_1")] == [(Kind.COMMAND, SaidBy.PERSON, "git log")]
    assert [(i.kind, i.said_by, i.exit_status) for i in base.items("3/ses_1")][1:] == [
        (Kind.COMMAND, SaidBy.PERSON, 1),
        (Kind.OUTPUT, SaidBy.MACHINE, None),
    ]


def test_a_compaction_and_what_is_injected_in_the_newest_shape(base: Base) -> None:
    base.session(table="session_v2", revert='{"messageID": "m6"}', fork_session_id="ses_0", time_archived=5)
    base.entry("m1", "user", text="go on", files=[{"uri": "file:///a.py"}])
    for n, kind in enumerate(["synthetic", "system", "skill", "idle", "agent-switched", "location-switched"]):
        base.entry(f"s{n}", kind, text="injected")
    base.entry("m5", "compaction", summary="all that", recent="x")
    base.entry("m6", "user", text="undone")
    base.entry("m7", "hologram", text="?")
    items = base.items()
    assert [(item.kind, item.text, item.abandoned) for item in items] == [
        (Kind.PROMPT, "go on", False),
        (Kind.READ, "/a.py", False),
        (Kind.SUMMARY, "", False),
        (Kind.PROMPT, "undone", True),
    ]
    assert Skipped("message/hologram") in base.events()
    facts = next(event for event in base.events() if isinstance(event, Facts))
    assert (facts.forked_from, facts.archived) == ("ses_0", True)


def test_rows_that_only_note_a_switch_do_not_hide_the_older_shape(base: Base) -> None:
    base.session()
    base.message("m1", "user", text("hello"))
    base.entry("m2", "model-switched", model={"id": "big"})
    assert [part.name for part in base.parts()] == ["2/ses_1"]


def test_odd_rows(base: Base) -> None:
    base.session(directory="", title="")
    base.message("m1", "user", "not json", text("fine"), {"type": "teleport"}, '{"type": "text", "text": 5}')
    base.db.execute("INSERT INTO message VALUES ('m2', ?, 9, 9, '[1, 2]')", (S,))
    base.message("m3", "narrator", text("who says this?"))
    base.message("m4", "assistant", text("ok"), tokens={"input": "many"}, path="odd", summary={"title": "x"})
    events = base.events()
    assert [item.text for item in base.items()] == ["fine", "ok"]
    assert sum(isinstance(event, BadLine) for event in events) == 2
    assert {event.record_type for event in events if isinstance(event, Skipped)} == {"part/teleport", "role/narrator"}


def test_a_record_that_is_too_big_is_left_out_with_its_size(base: Base) -> None:
    big = json.dumps(text("x" * (16 << 20)))
    base.session()
    base.message("m1", "user", big, text("short"))
    assert [item.text for item in base.items()] == ["short"]
    (lost,) = [event for event in base.events() if isinstance(event, BadLine)]
    assert lost.reason == f"a record of {len(big):,} characters was left out"


def test_rows_of_a_session_whose_own_row_is_gone(base: Base) -> None:
    base.message("m1", "user", text("left over"))
    assert [item.text for item in base.items()] == ["left over"]


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        (["sessions (id, title)", "messages (id, session_id, parts)", "goose_db_version (id)"], "Go edition"),
        (["other (x)"], "unknown schema"),
        (["message (id, session_id, data)", "part (id, message_id, body)"], "`part` has no column `data`"),
        (["session_message (id, session_id, data)"], "no column `type`"),
    ],
)
def test_schemas_that_are_not_read_are_named(tables: list[str], said: str) -> None:
    db = sqlite3.connect(":memory:")
    for table in tables:
        db.execute(f"CREATE TABLE {table}")
    with pytest.raises(Unreadable, match=said):
        list(opencode.parts(Database(Path("x"), db), {}))
    db.close()


def test_builds_with_few_columns() -> None:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE message (id, session_id, data)")
    db.execute("CREATE TABLE part (id, message_id, data)")
    db.execute("CREATE TABLE session_message (id, session_id, type, time_created, data)")
    db.execute("INSERT INTO message VALUES ('m1', 's', ?)", (json.dumps({"role": "user"}),))
    db.execute("INSERT INTO part VALUES ('p1', 'm1', ?)", (json.dumps(text("one")),))
    db.execute("INSERT INTO session_message VALUES ('m2', 's', 'user', 2, ?)", (json.dumps({"text": "two"}),))
    db.execute("INSERT INTO session_message VALUES ('m1', 's', 'user', 1, ?)", (json.dumps({"text": "one"}),))
    given = Database(Path("x"), db)
    found = [
        [e.text for record in opencode.events(given, part, fingerprint) for e in record if isinstance(e, Item)]
        for part in opencode.parts(given, {})
    ]
    assert found == [["one"], ["one", "two"]]
    db.close()


def test_a_database_without_tables_has_no_sessions() -> None:
    db = sqlite3.connect(":memory:")
    assert list(opencode.parts(Database(Path("x"), db), {})) == []
    db.close()


def test_versions_change_with_every_kind_of_change(base: Base) -> None:
    base.session()
    base.message("m1", "user", text("one"), text("two"))
    seen = {base.parts()[0].version}
    for change in (
        "UPDATE part SET data = data, time_updated = time_updated + 1 WHERE id = 'prt_m1_1'",
        "DELETE FROM part WHERE id = 'prt_m1_1'",
        'UPDATE session SET revert = \'{"messageID": "m1"}\'',
        'UPDATE session SET revert = \'{"messageID": "m1", "partID": "p"}\'',
        "UPDATE session SET time_archived = 5",
        "INSERT INTO message VALUES ('m2', 'ses_1', 5, 5, '{}')",
    ):
        before = len(seen)
        base.db.execute(change)
        seen.add(base.parts()[0].version)
        assert len(seen) == before + 1, change


def test_where_stores_are(tmp_path: Path) -> None:
    def roots(**env: str) -> list[Path]:
        return opencode.roots(Where(env, Path("/home/ada"), "darwin"))

    default = Path("/home/ada/.local/share/opencode")
    assert roots() == [default]
    assert roots(XDG_DATA_HOME="/data") == [Path("/data/opencode")]
    assert roots(OPENCODE_DB=":memory:") == [default]
    assert roots(OPENCODE_DB="opencode-dev.db") == [default]
    assert roots(OPENCODE_DB="work.db") == [default, default / "work.db"]
    assert roots(OPENCODE_DB="/srv/oc.db") == [default, Path("/srv/oc.db")]
    assert roots(AFTERWORD_OPENCODE_ROOT="/a:/b", OPENCODE_DB="/srv/oc.db") == [Path("/a"), Path("/b")]
    for name in ("opencode.db", "opencode-beta.db", "opencode.db-wal", "opencode.db.bak", "opencode-backup.db", "x.db"):
        (tmp_path / name).touch()
    (tmp_path / "opencode-folder.db").mkdir()
    found = {f.path.name: f.problem for f in opencode.sources(tmp_path)}
    assert found == {"opencode.db": "", "opencode-beta.db": "", "opencode-folder.db": "not a regular file"}
    assert [f.path for f in opencode.sources(tmp_path / "x.db")] == [tmp_path / "x.db"]


def test_a_tree_whose_parts_come_before_their_message_and_the_other_way(tmp_path: Path) -> None:
    session = tmp_path / "storage/session/p/ses_1.json"
    for path, data in (
        (session, {"directory": "/srv"}),
        (tmp_path / "storage/part/m1/p1.json", text("orphan for now")),
        (tmp_path / "storage/message/ses_1/m2.json", {"role": "user", "time": {"created": 1772618400000}}),
        (tmp_path / "storage/message/ses_1/.oc-1.tmp", {"role": "user"}),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data))

    def said() -> list[str]:
        document = Document(session, session.read_bytes())
        (part,) = opencode.parts(document, {})
        return [e.text for r in opencode.events(document, part, fingerprint) for e in r if isinstance(e, Item)]

    assert said() == []
    (tmp_path / "storage/message/ses_1/m1.json").write_text(json.dumps({"role": "user"}))
    assert said() == ["orphan for now"]
    (found,) = opencode.sources(tmp_path)
    assert [path.name for path in found.beside] == ["ses_1", "m1", "m2"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list every folder")
def test_a_folder_that_cannot_be_listed_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    for project, session in (("p", "ses_1"), ("q", "ses_2"), ("r", "ses_3")):
        path = tmp_path / "storage/session" / project / f"{session}.json"
        path.parent.mkdir(parents=True)
        path.write_text("{}")
        (tmp_path / "storage/message" / session).mkdir(parents=True)
    shut = [tmp_path / "storage/session/p", tmp_path / "storage/message/ses_2"]
    for folder in shut:
        folder.chmod(0)
    found = {f.path.name: f.problem for f in opencode.sources(tmp_path)}
    for folder in shut:
        folder.chmod(0o700)
    assert found == {"p": stores.NOT_LISTED, "ses_2.json": stores.NOT_LISTED, "ses_3.json": ""}
