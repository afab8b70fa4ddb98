"""Cursor's databases, rule by rule, on made-up rows in memory."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from cursor_stores import ONE, SECRET, TWO, Store, Window

from afterword.capture.harness import cursor
from afterword.capture.harness import cursor_kv as kv
from afterword.domain.events import BadLine, Database, Decoded, Facts, Finish, Item, Skipped, Unreadable
from afterword.domain.items import Kind, SaidBy

from .harness_model import fingerprint

GLOBAL = Path("/h/.config/Cursor/User/globalStorage/state.vscdb")


def opened(store: Window | Store, path: Path = GLOBAL) -> Database:
    return Database(path, store.db, fingerprint=fingerprint)


def read(store: Window | Store, path: Path = GLOBAL) -> list[Decoded]:
    """All events of all conversations in order."""
    base = opened(store, path)
    found = list(cursor.parts(base, {}))
    return [event for part in found for record in cursor.events(base, part, fingerprint) for event in record]


def versions(window: Window, known: Mapping[str, str] | None = None) -> dict[str, str]:
    return {part.name: part.version for part in cursor.parts(opened(window), known or {})}


def said(events: Iterable[Decoded]) -> list[tuple[str, str]]:
    return [(event.kind.word, event.text) for event in events if isinstance(event, Item)]


def facts(events: Iterable[Decoded], name: str, session: str = ONE) -> list[Any]:
    told = [getattr(event, name) for event in events if isinstance(event, Facts) and event.session == session]
    return [value for value in told if value is not None]


# Membership and order


def test_the_list_says_what_is_in_a_conversation_and_in_which_order() -> None:
    window = Window()
    for its_id, kind, text in (("b3", 2, "Third."), ("b1", 1, "First?"), ("b2", 2, "Second."), ("b9", 2, "Undone.")):
        window.bubble(its_id, kind, text)
    window.composer(ONE, [("b1", 1), ("b2", 2), ("b3", 2)])
    events = read(window)
    assert said(events) == [("prompt", "First?"), ("reply", "Second."), ("reply", "Third.")]
    assert [event.key for event in events if isinstance(event, Item)] == [(ONE, "b1"), (ONE, "b2"), (ONE, "b3")]


def test_what_a_list_names_and_nobody_wrote_is_told_once() -> None:
    window = Window()
    window.bubble("b1", 1, "First?")
    window.put(f"bubbleId:{ONE}:b3", None)
    window.put(f"bubbleId:{ONE}:b4", "null")
    window.composer(ONE, [("b1", 1), ("b2", 2), ("b3", 2), ("b4", 2)])
    events = read(window)
    assert said(events) == [("prompt", "First?")]
    assert [event for event in events if isinstance(event, BadLine)] == [BadLine("a listed message is not there")]


def test_a_conversation_of_which_no_message_is_there_says_nothing_of_itself() -> None:
    window = Window()
    window.composer(ONE, [("b1", 1), ("b2", 2)], name="Elsewhere")
    assert [type(event) for event in read(window)] == [BadLine]


@pytest.mark.parametrize("value", [None, "", "{}", {"fullConversationHeadersOnly": [], "conversation": []}, "[]"])
def test_drafts_give_nothing(value: Any) -> None:
    window = Window()
    window.put(f"composerData:{ONE}", value)
    assert [event for event in read(window) if not isinstance(event, BadLine)] == []


def test_a_conversation_that_is_suddenly_empty_is_left_as_it_was_read() -> None:
    window = Window()
    window.talk(ONE, "First?", "Second.")
    before = versions(window)
    window.composer(ONE, [])
    assert versions(window, before) == {}
    window.composer(TWO, [])
    drafts = versions(window, before)
    assert list(drafts) == [f".draft:{TWO}"]
    assert versions(window, before | drafts) == drafts
    window.talk(TWO, "No draft any more.")
    assert list(versions(window, before | drafts)) == [TWO]


def test_older_shapes() -> None:
    window = Window()
    state = {
        "root": {
            "type": "root",
            "children": [
                {
                    "type": "paragraph",
                    "children": [{"type": "text", "text": "What is "}, {"type": "mention", "text": "@Makefile"}],
                },
                {"type": "paragraph", "children": [{"type": "text", "text": "for?"}, {"type": "linebreak"}]},
            ],
        }
    }
    inline = [
        {"type": 1, "bubbleId": "o1", "richText": json.dumps(state)},
        {"type": 2, "bubbleId": "o2", "text": "Three."},
    ]
    window.put(f"composerData:{ONE}", {"composerId": ONE, "createdAt": 1_745_000_000_000, "conversation": inline})
    mapped = {"m1": {"type": 1, "rawText": "Mapped?"}, "m2": {"type": 2, "text": "Yes."}}
    window.composer(TWO, [("m1", 1), ("m2", 2)], conversationMap=mapped)
    tabs = [
        {
            "tabId": "t1",
            "chatTitle": "A tab",
            "lastSendTime": 1_690_000_000_000,
            "bubbles": [{"type": "user", "id": "u1", "text": "Tab?"}, {"type": "ai", "id": "a1", "rawText": "Tab."}],
        }
    ]
    window.item("workbench.panel.aichat.view.aichat.chatdata", {"tabs": tabs})
    window.item(
        "composer.composerData",
        {
            "allComposers": [
                {"composerId": "listed", "conversation": [{"type": 1, "bubbleId": "l1", "text": "Listed?"}]},
                {"composerId": "only named"},
            ]
        },
    )
    events = read(window)
    assert said(events) == [
        ("prompt", "What is @Makefile\nfor?"),
        ("reply", "Three."),
        ("prompt", "Mapped?"),
        ("reply", "Yes."),
        ("prompt", "Tab?"),
        ("reply", "Tab."),
        ("prompt", "Listed?"),
    ]
    assert {event.session for event in events if isinstance(event, Item)} == {ONE, TWO, "t1", "listed"}
    assert facts(events, "title", "t1") == ["A tab"]


# What a step is

SHELL = json.dumps({"command": "pytest -q", "is_background": False})


@pytest.mark.parametrize(
    ("tool", "found"),
    [
        (
            {
                "name": "run_terminal_cmd",
                "rawArgs": SHELL,
                "result": '{"output":"1 failed","exitCodeV2":1}',
                "status": "completed",
            },
            [("command", "pytest -q", None, 1), ("output", "1 failed", None, None)],
        ),
        (
            {"name": "run_terminal_command_v2", "params": SHELL, "result": '{"output":"ok"}', "status": "completed"},
            [("command", "pytest -q", None, None), ("output", "ok", None, None)],
        ),
        (
            {"name": "run_terminal_cmd", "rawArgs": SHELL, "result": '{"output":"","exitCode":0}'},
            [("command", "pytest -q", None, 0)],
        ),
        (
            {"name": "run_terminal_cmd", "rawArgs": SHELL, "status": "cancelled"},
            [("command", "pytest -q", None, "interrupted")],
        ),
        (
            {"name": "run_terminal_cmd", "rawArgs": SHELL, "result": '{"rejected":true}'},
            [("command", "pytest -q", None, "interrupted"), ("output", '{"rejected":true}', None, None)],
        ),
        (
            {
                "name": "run_terminal_cmd",
                "rawArgs": SHELL,
                "status": "error",
                "error": '{"modelVisibleErrorMessage":"no shell"}',
            },
            [("command", "pytest -q", None, "error"), ("output", "no shell", None, None)],
        ),
        ({"name": "run_terminal_cmd", "rawArgs": SHELL, "status": "loading"}, [("command", "pytest -q", None, None)]),
        (
            {
                "name": "search_replace",
                "rawArgs": '{"file_path":"/a/b.py","old_string":"x","new_string":"y"}',
                "status": "completed",
                "result": '{"diff":{"chunks":[{"diffString":"-x"}]}}',
            },
            [("edit", "-x\n+y", "/a/b.py", "ok")],
        ),
        (
            {
                "name": "edit_file_v2",
                "rawArgs": "{}",
                "params": '{"relativeWorkspacePath":"b.py"}',
                "status": "completed",
                "result": '{"diff":{"chunks":[{"diffString":"-x\\n+y"}]}}',
            },
            [("edit", "-x\n+y", "b.py", "ok")],
        ),
        ({"name": "write", "rawArgs": {"file_path": "/a/b.py", "contents": "z"}}, [("edit", "z", "/a/b.py", None)]),
        (
            {"name": "delete_file", "rawArgs": '{"target_file":"b.py"}', "status": "error", "error": '"gone already"'},
            [("edit", "", "b.py", "error"), ("output", "gone already", None, None)],
        ),
        (
            {
                "name": "read_file_v2",
                "params": '{"targetFile":"/a/b.py","effectiveUri":"file:///a/b.py"}',
                "result": '{"contents":"text"}',
                "status": "completed",
            },
            [("read", "/a/b.py", "/a/b.py", "ok"), ("output", "text", None, None)],
        ),
        (
            {
                "name": "codebase_search",
                "rawArgs": '{"query":"cookies"}',
                "result": '{"results":[]}',
                "status": "completed",
            },
            [("call", 'codebase_search {"query":"cookies"}', None, "ok"), ("output", '{"results":[]}', None, None)],
        ),
        (
            {"name": "run_terminal_cmd", "rawArgs": "not json at all"},
            [("call", "run_terminal_cmd not json at all", None, None)],
        ),
        ({"additionalData": {"status": "error"}}, []),
    ],
)
def test_tools(tool: dict[str, Any], found: list[tuple[str, str, str | None, Any]]) -> None:
    window = Window()
    window.bubble("b1", 2, toolFormerData=tool)
    window.composer(ONE, [("b1", 2)])
    items = [event for event in read(window) if isinstance(event, Item)]
    assert [(item.kind.word, item.text, item.path, item.exit_status) for item in items] == found


def test_a_patch_of_several_files_is_several_edits() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n-x\n+y\n*** Add File: b.py\n+z\n*** End Patch"
    window = Window()
    window.bubble("b1", 2, toolFormerData={"name": "apply_patch", "rawArgs": patch})
    window.composer(ONE, [("b1", 2)])
    items = [event for event in read(window) if isinstance(event, Item)]
    assert [(item.key, item.path, item.text) for item in items] == [
        ((ONE, "b1"), "a.py", "-x\n+y"),
        ((ONE, "b1", 1), "b.py", "+z"),
    ]


def test_an_answer_may_think_speak_and_call() -> None:
    window = Window()
    tool = {"name": "list_dir", "rawArgs": '{"path":"."}'}
    window.bubble(
        "b1", 2, "Looking.", thinking={"text": "Where?"}, toolFormerData=tool, createdAt="2026-03-04T10:00:02Z"
    )
    window.composer(ONE, [("b1", 2)])
    items = [event for event in read(window) if isinstance(event, Item)]
    assert [(item.kind.word, item.text) for item in items] == [
        ("thinking", "Where?"),
        ("reply", "Looking."),
        ("call", 'list_dir {"path":"."}'),
    ]
    assert {item.time_us for item in items} == {1_772_618_402_000_000}


def test_pictures_are_noted_and_unknown_types_are_counted() -> None:
    window = Window()
    window.bubble("b1", 1, "Look.", images=[{"path": "/x.png"}])
    window.bubble("b2", 7, "?")
    window.put(f"bubbleId:{ONE}:b3", '{"text":"by the list"}')
    window.composer(ONE, [("b1", 1), ("b2", 2), ("b3", 2)])
    events = read(window)
    assert said(events) == [("prompt", "Look.\n[image]"), ("reply", "by the list")]
    assert [event for event in events if isinstance(event, Skipped)] == [Skipped("bubble/7")]


def test_a_huge_message_is_a_note_of_its_size_and_the_rest_is_read() -> None:
    window = Window()
    window.put(f"bubbleId:{ONE}:b1", json.dumps({"type": 1, "text": "x" * (17 << 20)}))
    window.bubble("b2", 2, "Read.")
    window.composer(ONE, [("b1", 1), ("b2", 2)])
    size = (17 << 20) + len('{"type": 1, "text": ""}')
    assert said(read(window)) == [("meta", f"[left out: a message of {size:,} bytes]"), ("reply", "Read.")]


def test_bytes_that_are_no_text_cost_no_other_message() -> None:
    window = Window()
    window.put(f"bubbleId:{ONE}:b1", b'{"type":1,"text":"caf\xe9 \xf0\x9f"}')
    window.put(f"bubbleId:{ONE}:b2", '{"type":2,"text":"\\ud83d"}')
    window.put(f"bubbleId:{ONE}:b3", '{"type":2,"text":')
    window.bubble("b4", 2, "Read.", createdAt=["odd"], workspaceUris="odd")
    window.composer(ONE, [("b1", 1), ("b2", 2), ("b3", 2), ("b4", 2)])
    events = read(window)
    assert said(events)[0][1].startswith("caf\ufffd")
    assert said(events)[-1] == ("reply", "Read.")
    assert BadLine("not JSON") in events


# What is known of a conversation


def test_facts() -> None:
    window = Window()
    window.bubble("b1", 1, "Why?", workspaceUris=["file:///srv/orchard%20api"])
    window.bubble("b2", 2, "So.", modelInfo={"modelName": "m-2"})
    more = {"name": "A  title", "isArchived": True, "createdOnBranch": "fix", "modelConfig": {"modelName": "m-1"}}
    window.composer(ONE, [("b1", 1), ("b2", 2)], **more)
    events = read(window)
    told = {name: facts(events, name) for name in ("cwd", "title", "archived", "branch", "model", "started_us")}
    assert told == {
        "cwd": ["/srv/orchard api"],
        "title": ["A title"],
        "archived": [True],
        "branch": ["fix"],
        "model": ["m-2"],
        "started_us": [1_772_618_400_000_000],
    }


def _in_heads(window: Window) -> None:
    window.db.execute("CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, isSubagent INTEGER, value TEXT)")
    value = {"composerId": ONE, "workspaceIdentifier": {"id": "w", "uri": {"fsPath": "/srv/by-table"}}}
    window.db.execute("INSERT INTO composerHeaders VALUES (?, 0, ?)", (ONE, json.dumps(value)))


def _in_list(window: Window) -> None:
    uri = {"scheme": "file", "external": "file:///srv/by-list", "fsPath": "odd"}
    heads = [{"composerId": ONE, "workspaceIdentifier": {"id": "w", "uri": uri}}]
    window.item("composer.composerHeaders", {"allComposers": heads})


@pytest.mark.parametrize(("lay", "cwd"), [(_in_heads, "/srv/by-table"), (_in_list, "/srv/by-list")])
def test_the_folder_by_the_catalogues(lay: Any, cwd: str) -> None:
    window = Window()
    window.talk(ONE, "Why?")
    lay(window)
    assert facts(read(window), "cwd") == [cwd]


def test_the_folder_by_the_window_that_lists_the_conversation(tmp_path: Path) -> None:
    user = tmp_path / "User"
    storage = user / "workspaceStorage" / "0f0f"
    listing = Window(storage / "state.vscdb", wal=False)
    listing.item("composer.composerData", {"allComposers": [{"composerId": ONE}, {"composerId": "no folder"}]})
    (storage / "workspace.json").write_text('{"folder":"file:///srv/by-window"}')
    before = sorted(path.name for path in storage.iterdir())
    window = Window()
    tool = {"name": "read_file", "rawArgs": '{"target_file":"/srv/files/x/y.py"}'}
    window.talk(TWO, "No window?")
    window.bubble("b0", 2, session="by files", toolFormerData=tool)
    window.composer("by files", [("b0", 2)])
    window.bubble("b0", 1, "Where?", session="no folder", workspaceUris=[])
    window.composer("no folder", [("b0", 1)])
    window.talk(ONE, "Why?")
    events = read(window, user / "globalStorage" / "state.vscdb")
    assert facts(events, "cwd") == ["/srv/by-window"]
    assert facts(events, "cwd", TWO) == facts(events, "cwd", "no folder") == []
    assert facts(events, "cwd", "by files") == ["/srv/files/x"]
    assert sorted(path.name for path in storage.iterdir()) == before


@pytest.mark.parametrize(
    ("own", "parent"),
    [({"subagentInfo": {"parentComposerId": TWO, "subagentTypeName": "explore"}}, {}), ({}, {"subComposerIds": [ONE]})],
)
def test_a_sub_agent_is_asked_by_its_parent(own: dict[str, Any], parent: dict[str, Any]) -> None:
    window = Window()
    window.talk(ONE, "Look there.", "There.", **own)
    window.talk(TWO, "Find it?", "Asking.", **parent)
    events = read(window)
    asked = {event.session: event.said_by for event in events if isinstance(event, Item) and event.kind is Kind.PROMPT}
    assert asked == {ONE: SaidBy.AGENT, TWO: SaidBy.PERSON}
    assert set(facts(events, "parent")) == {TWO}


# Which conversations changed


def test_a_version_stands_while_nothing_that_counts_changed() -> None:
    window = Window()
    window.talk(ONE, "Why?", "So.")
    window.talk(TWO, "When?")
    first = versions(window)
    assert versions(window, first) == first
    window.talk(TWO, "When?", lastUpdatedAt=1_772_618_408_000, unsentText="the words being typed")
    window.bubble("b0", 1, "Elsewhere", session="other")
    again = versions(window, first)
    assert again[ONE] == first[ONE]
    value = window.composer(ONE, [("b0", 1), ("b1", 2)], unsentText="the words being typed")
    again = versions(window, first)
    assert again[ONE] == first[ONE]
    window.update(f"composerData:{ONE}", value | {"lastUpdatedAt": 1_772_618_409_000})
    assert versions(window, first)[ONE] != first[ONE]


@pytest.mark.parametrize("replaced", [True, False], ids=["replaced", "updated in place"])
def test_a_running_answer_is_seen_before_the_conversation_says_that_it_changed(replaced: bool) -> None:
    window = Window()
    window.talk(ONE, "Why?", "So")
    first = versions(window)
    if replaced:
        window.bubble("b1", 2, "So it is.")
    else:
        window.update(f"bubbleId:{ONE}:b1", {"type": 2, "text": "So it is."})
    assert versions(window, first)[ONE] != first[ONE]


def test_values_of_conversations_at_rest_are_not_read() -> None:
    window = Window()
    names = [f"7e100000-0000-4000-8000-{n:012d}" for n in range(60)]
    for name in names:
        window.talk(name, *(f"{name} {n}" for n in range(20)))
    known = versions(window)
    asked: list[str] = []
    window.db.set_trace_callback(asked.append)
    window.bubble("b3", 2, "A later edition.", session=names[2])
    again = versions(window, known)
    window.db.set_trace_callback(None)
    assert [name for name in names if again[name] != known[name]] == [names[2]]
    values = [statement for statement in asked if "typeof(value)" in statement and "bubbleId" in statement]
    assert len(values) <= 14 * 5


def test_only_keys_are_asked_for_never_a_table() -> None:
    window = Window()
    window.talk(ONE, "Why?", "So.", subComposerIds=[TWO])
    window.talk(TWO, "When?")
    asked: list[str] = []
    window.db.set_trace_callback(asked.append)
    read(window)
    window.db.set_trace_callback(None)
    assert not [statement for statement in asked if "cursorAuth" in statement or SECRET in statement]
    plans = {
        detail
        for statement in asked
        if statement.startswith("SELECT")
        for _, _, _, detail in window.db.execute(f"EXPLAIN QUERY PLAN {statement}")
    }
    assert plans
    assert all(plan.startswith("SEARCH") for plan in plans), plans
    ranges = {plan for plan in plans if ">" in plan}
    assert all("COVERING INDEX" in plan for plan in ranges), ranges


def test_unknown_schemas_are_said_so() -> None:
    window = Window()
    window.db.execute("DROP TABLE ItemTable")
    window.db.execute("DROP TABLE cursorDiskKV")
    with pytest.raises(Unreadable, match="neither"):
        list(cursor.parts(opened(window), {}))
    window.db.execute("CREATE TABLE cursorDiskKV (key TEXT, bytes BLOB)")
    with pytest.raises(Unreadable, match="no columns"):
        list(cursor.parts(opened(window), {}))


def test_a_value_is_read_up_to_a_bound() -> None:
    window = Window()
    window.put("composerData:x", "abcd")
    assert kv.value(window.db, "cursorDiskKV", "composerData:x", 4) == b"abcd"
    assert kv.value(window.db, "cursorDiskKV", "composerData:x", 3) == kv.Oversized(4)
    assert kv.value(window.db, "cursorDiskKV", "composerData:y") is None


# The agent's store

CHAT = Path("/h/.cursor/chats/713d83ffabd2071eef4f18d5c8d6c2ae") / ONE / "store.db"


def call(its_id: str, name: str, **args: Any) -> dict[str, Any]:
    return {"type": "tool-call", "toolCallId": its_id, "toolName": name, "args": args}


def result(its_id: str, text: Any) -> dict[str, Any]:
    return {"type": "tool-result", "toolCallId": its_id, "toolName": "Shell", "result": text}


def test_only_what_the_root_reaches_counts_in_the_order_of_the_walk() -> None:
    store = Store()
    system = store.leaf("system", "You are an agent.")
    asked = store.leaf("user", [{"type": "text", "text": "<user_info>\nOS\n</user_info>"}])
    prompt = store.leaf("user", [{"type": "text", "text": "<user_query>\nTrim it.\n</user_query>"}])
    store.leaf("assistant", "Abandoned.")
    last = store.leaf("assistant", [{"type": "text", "text": "Done."}])
    inner = store.node(("leaf", last))
    store.point(store.node(("leaf", system), ("leaf", asked), ("leaf", prompt), ("node", inner)), lastUsedModel="m-1")
    events = read(store, CHAT)
    assert said(events) == [("prompt", "Trim it."), ("reply", "Done.")]
    assert facts(events, "model") == ["m-1"]
    assert facts(events, "title") == []
    assert [event.key for event in events if isinstance(event, Item)] == [(ONE, prompt, 0), (ONE, last, 0)]


def test_a_leaf_reached_twice_is_two_items() -> None:
    store = Store()
    again = store.leaf("user", "Go on.")
    store.point(store.node(("leaf", again), ("leaf", store.leaf("assistant", "Yes.")), ("leaf", again)))
    keys = [event.key for event in read(store, CHAT) if isinstance(event, Item) and event.kind is Kind.PROMPT]
    assert keys == [(ONE, again, 0), (ONE, again, 1)]


def test_leaves_may_be_wrapped_missing_or_strange_and_nodes_may_loop() -> None:
    store = Store()
    text = json.dumps({"role": "assistant", "content": "Wrapped."}).encode()
    wrapped = store.blob(b"\x08\x01\x22" + bytes([len(text)]) + text)
    strange = store.blob(b"\xff\xff")
    gone = "00" * 32
    store.db.execute("INSERT INTO blobs VALUES (?, ?)", ("11" * 32, b"\x12\x20" + bytes.fromhex("11" * 32)))
    store.point(store.node(("leaf", wrapped), ("leaf", gone), ("leaf", strange), ("node", "11" * 32)))
    events = read(store, CHAT)
    assert said(events) == [("reply", "Wrapped.")]
    assert [event for event in events if isinstance(event, BadLine)] == [
        BadLine("a message of the conversation is not there, or in a shape nobody knows")
    ]


def test_results_end_their_calls() -> None:
    store = Store()
    first = [{"type": "reasoning", "text": "Hm."}, call("c1", "Shell", command="make"), call("c2", "Read", path="/a/b")]
    told = "Exit code: 2\n\nCommand output:\n\n```\nboom\n```\n\nCommand completed in 9 ms.\n\nShell state persists."
    store.point(
        store.node(
            ("leaf", store.leaf("user", "Build it.")),
            ("leaf", store.leaf("assistant", first)),
            ("leaf", store.leaf("tool", [result("c1", told), result("c2", "FROM python")])),
            (
                "leaf",
                store.leaf(
                    "assistant",
                    "",
                    tool_calls=[{"id": "c3", "function": {"name": "Shell", "arguments": '{"command":"ls"}'}}],
                ),
            ),
            ("leaf", store.leaf("tool", "a\nb", tool_call_id="c3")),
        )
    )
    events = read(store, CHAT)
    assert said(events) == [
        ("prompt", "Build it."),
        ("thinking", "Hm."),
        ("command", "make"),
        ("read", "/a/b"),
        ("output", "boom"),
        ("output", "FROM python"),
        ("command", "ls"),
        ("output", "a\nb"),
    ]
    ended = [event for event in events if isinstance(event, Finish)]
    assert [(event.kind.word, event.exit_status) for event in ended] == [("command", 2)]


def test_the_version_of_a_store_is_its_root_and_what_it_says_of_itself() -> None:
    store = Store()
    root = store.node(("leaf", store.leaf("user", "One.")))
    store.point(root)
    first = [part.version for part in cursor.parts(opened(store, CHAT), {})]
    store.leaf("assistant", "Not reached.")
    assert [part.version for part in cursor.parts(opened(store, CHAT), {})] == first
    store.point(root, name="A name")
    assert [part.version for part in cursor.parts(opened(store, CHAT), {})] != first
    assert not first[0].count("One")


def test_the_folder_by_the_name_of_the_chat() -> None:
    store = Store()
    store.point(store.node(("leaf", store.leaf("assistant", [call("c", "Read", path="/srv/orchard-api/app/x.py")]))))
    assert facts(read(store, CHAT), "cwd") == ["/srv/orchard-api"]


def test_a_store_nobody_understands_is_said_so() -> None:
    store = Store()
    with pytest.raises(Unreadable, match="which session"):
        list(cursor.parts(opened(store, CHAT), {}))
    store.db.execute("INSERT INTO meta VALUES ('0', 'zz')")
    with pytest.raises(Unreadable, match="in a shape"):
        list(cursor.parts(opened(store, CHAT), {}))
    store.db.execute("DROP TABLE blobs")
    with pytest.raises(Unreadable, match="schema"):
        list(cursor.parts(opened(store, CHAT), {}))
