"""Codex CLI, rule by rule, on made-up lines."""

import json
from pathlib import Path
from typing import Any

import pytest

from afterword.domain.items import Kind, SaidBy

from .harness_model import Model, fingerprint, load, plain, read_lines, through_json

T = "019d0000-0000-7000-8000-0000000000f1"
PARENT = "019d0000-0000-7000-8000-0000000000f0"
PATH = f"/h/.codex/sessions/2026/03/04/rollout-2026-03-04T10-00-00-{T}.jsonl"
FEEDS = pytest.mark.parametrize("feed", [plain, through_json], ids=lambda feed: feed.__name__)
Line = dict[str, Any]


def line(kind: str, at: str = "10:00:00.000", **payload: Any) -> Line:
    return {"timestamp": f"2026-03-04T{at}Z", "type": kind, "payload": payload}


def meta(thread: str = T, at: str = "10:00:00.000", **more: Any) -> Line:
    return line("session_meta", at, id=thread, timestamp=f"2026-03-04T{at}Z", cwd="/srv/x", **more)


def context(turn: str | None, at: str = "10:00:00.000", **more: Any) -> Line:
    return line("turn_context", at, cwd="/srv/x", model="g-5", **({"turn_id": turn} if turn else {}), **more)


def item(kind: str, **payload: Any) -> Line:
    return line("response_item", type=kind, **payload)


def event(kind: str, at: str = "10:00:00.000", **payload: Any) -> Line:
    return line("event_msg", at, type=kind, **payload)


def user_item(*texts: str) -> Line:
    return item("message", role="user", content=[{"type": "input_text", "text": text} for text in texts])


def asked(text: str) -> list[Line]:
    return [user_item(text), event("user_message", message=text)]


def reply_item(text: str) -> Line:
    return item("message", role="assistant", content=[{"type": "output_text", "text": text}])


def answered(text: str) -> list[Line]:
    return [event("agent_message", message=text), reply_item(text)]


def call(name: str, call_id: str, **arguments: Any) -> Line:
    return item("function_call", name=name, call_id=call_id, arguments=json.dumps(arguments))


def output(call_id: str, text: Any) -> Line:
    return item("function_call_output", call_id=call_id, output=text)


def read(lines: list[Line], feed: Any = plain, path: str = PATH) -> Model:
    return read_lines("codex", lines, path, feed)


def texts(model: Model, thread: str = T) -> list[str]:
    return [text for _, text in model.said(thread)]


def statuses(model: Model) -> list[Any]:
    return model.view(T)["commands"]


# What a person typed

INJECTED = [
    "# AGENTS.md instructions for /srv/x\n\n<INSTRUCTIONS>\nUse ruff.\n</INSTRUCTIONS>",
    "<environment_context>\n<cwd>/srv/x</cwd>\n</environment_context>",
    "  <ENVIRONMENT_CONTEXT>x</environment_context>\n",
    "<user_instructions>x</user_instructions>",
    "<skill>x</skill>",
    "<turn_aborted>x</turn_aborted>",
    "<subagent_notification>x</subagent_notification>",
    "<additional_context>x</additional_context>",
]


@pytest.mark.parametrize("fragment", INJECTED)
def test_injected_fragments_are_no_prompts(fragment: str) -> None:
    assert texts(read([meta(), user_item(fragment), user_item(fragment, "Hi.")])) == ["Hi."]
    assert texts(read([meta(), event("user_message", message=fragment), *asked("Hi.")])) == ["Hi."]


@pytest.mark.parametrize("text", ["what is <environment_context>?", "<skill> files: where?", "# AGENTS.md is missing"])
def test_a_mention_is_kept(text: str) -> None:
    assert texts(read([meta(), *asked(text)])) == [text]


def test_ide_preamble_is_cut() -> None:
    text = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nFix it.\n"
    assert texts(read([meta(), *asked(text)])) == ["Fix it."]


def test_other_roles_say_nothing() -> None:
    lines = [
        item("message", role=role, content=[{"type": "input_text", "text": "x"}]) for role in ("developer", "system")
    ]
    assert texts(read([meta(), *lines, *asked("Hi.")])) == ["Hi."]


@FEEDS
def test_desktop_threads_without_events(feed: Any) -> None:
    lines = [meta(), context("t1"), user_item(INJECTED[1]), user_item("One."), reply_item("Yes."), context("t2")]
    model = read([*lines, user_item("Two."), reply_item("No.")], feed)
    assert texts(model) == ["One.", "Yes.", "Two.", "No."]
    assert [key.key for key in model.items.values()] == [(T, "t1", 0), (T, "t1", 0), (T, "t2", 0), (T, "t2", 0)]


@FEEDS
def test_the_first_event_confirms_one_prompt_and_refutes_the_others(feed: Any) -> None:
    lines = [meta(), context("t1"), user_item("Something injected."), *asked("Real."), *answered("Yes.")]
    lines += [user_item("Injected again."), *asked("Next.")]
    assert texts(read(lines, feed)) == ["Real.", "Yes.", "Next."]


def test_event_before_its_response_item() -> None:
    lines = [meta(), context("t1"), event("user_message", message="Hi."), user_item("Hi.")]
    assert texts(read(lines)) == ["Hi."]


def test_own_shell_command() -> None:
    text = (
        "<user_shell_command>\n<command>\nls -la\n</command>\n"
        "<result>\nExit code: 2\nOutput:\nno\n</result>\n</user_shell_command>"
    )
    model = read([meta(), context("t1"), user_item(text), *asked("Hi.")])
    assert statuses(model) == [["ls -la", 2]]
    assert texts(model) == ["Hi."]
    assert next(i for i in model.items.values() if i.kind is Kind.COMMAND).said_by is SaidBy.PERSON


def test_pictures_are_size_notes() -> None:
    url = "data:image/png;base64," + "QUJD" * 1000
    parts = [
        {"type": "input_text", "text": "<image name=[Image #1]>"},
        {"type": "input_image", "image_url": url},
        {"type": "input_text", "text": "</image>"},
        {"type": "input_text", "text": "What is this?"},
    ]
    lines = [
        meta(),
        item("message", role="user", content=parts),
        event("user_message", message="What is this?", images=[url]),
    ]
    assert texts(read(lines)) == ["What is this?\n[image: image/png, 3,000 bytes]"]


# What the agent said


@FEEDS
@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (answered("Yes."), ["Yes."]),
        (answered("Yes.")[::-1], ["Yes."]),
        ([*answered("Yes."), *answered("Yes.")], ["Yes.", "Yes."]),
        ([event("agent_message", message="a  b\n"), reply_item("a b")], ["a  b\n"]),
        ([event("agent_message", message="Only an event.")], ["Only an event."]),
        ([event("agent_message", message="Draft."), reply_item("Final."), event("task_complete")], ["Final."]),
        (
            [event("agent_message", message="Draft."), event("task_complete"), reply_item("Final.")],
            ["Draft.", "Final."],
        ),
    ],
)
def test_replies_come_once(lines: list[Line], said: list[str], feed: Any) -> None:
    assert texts(read([meta(), context("t1"), *lines], feed)) == said


def test_thinking_comes_once() -> None:
    lines = [
        event("agent_reasoning", text="First."),
        item(
            "reasoning", summary=[{"type": "summary_text", "text": "First."}, {"type": "summary_text", "text": "Then."}]
        ),
        event("agent_reasoning", text="Then."),
        item("reasoning", summary=[], content=None, encrypted_content="opaque"),
    ]
    model = read([meta(), context("t1"), *lines])
    assert [(i.kind, i.text) for i in model.items.values()] == [(Kind.THINKING, "First."), (Kind.THINKING, "Then.")]


# Tools

COMMANDS = [
    (call("exec_command", "c", cmd="make"), "make"),
    (call("shell", "c", command=["bash", "-lc", "make | tail"]), "make | tail"),
    (call("shell", "c", command=["/bin/zsh", "-c", "make"]), "make"),
    (call("container.exec", "c", command=["ls", "a b"]), "ls 'a b'"),
    (call("shell_command", "c", command="make all"), "make all"),
    (call("shell", "c", command=["powershell.exe", "-Command", "dir"]), "dir"),
    (call("shell", "c", command=["bash", "-lc", "apply_patch <<'EOF'\n*** Begin Patch\nEOF"]), None),
    (item("local_shell_call", call_id="c", action={"type": "exec", "command": ["ls", "-l"]}), "ls -l"),
    (item("function_call", name="shell", call_id="c", arguments="{broken"), "{broken"),
]


@pytest.mark.parametrize(("made", "text"), COMMANDS)
def test_commands(made: Line, text: str | None) -> None:
    model = read([meta(), context("t1"), made])
    (command,) = model.items.values()
    assert (command.kind, command.key) == (Kind.COMMAND, (T, "c"))
    assert text is None or command.text == text


OUTPUTS = [
    ("Chunk ID: 7d\nWall time: 1.2 seconds\nProcess exited with code 1\nOutput:\n1 failed", 1, "1 failed"),
    ("Exit code: 0\nWall time: 0 seconds\nOutput:\nfine\nExit code: 9", 0, "fine\nExit code: 9"),
    (json.dumps({"output": "x\n", "metadata": {"exit_code": 127, "duration_seconds": 0.1}}), 127, "x\n"),
    ([{"type": "input_text", "text": "Exit code: 3\nOutput:\nparts"}], 3, "parts"),
    ("Chunk ID: 1\nProcess running with session ID 42\nOutput:\nstarted", None, "started"),
    ("plain text that says Process exited with code 4", None, "plain text that says Process exited with code 4"),
    ("aborted by user after 3.2s", "interrupted", "aborted by user after 3.2s"),
]


@pytest.mark.parametrize(("given", "status", "text"), OUTPUTS)
def test_exit_numbers(given: Any, status: Any, text: str) -> None:
    made = output("c", given)
    model = read([meta(), context("t1"), call("exec_command", "c", cmd="make"), made])
    assert statuses(model) == [["make", status]]
    assert [i.text for i in model.items.values() if i.kind is Kind.OUTPUT] == [text]


@FEEDS
def test_a_command_that_goes_on_is_finished_by_the_last_write(feed: Any) -> None:
    running = "Chunk ID: 1\nProcess running with session ID 42\nOutput:\n"
    lines = [
        call("exec_command", "c1", cmd="serve"),
        output("c1", running + "up"),
        call("write_stdin", "c2", session_id=42, chars=""),
        output("c2", running + "still up"),
        call("write_stdin", "c3", session_id=42, chars="q"),
        output("c3", "Chunk ID: 2\nProcess exited with code 0\nOutput:\nbye"),
    ]
    model = read([meta(), context("t1"), *lines], feed)
    assert statuses(model) == [["serve", 0]]
    assert [i.text for i in model.items.values() if i.kind is Kind.OUTPUT] == ["up", "still up", "bye"]


PATCH = """*** Begin Patch
*** Update File: b.py
@@
-x
+y
*** Add File: /abs/a.py
+new
*** Delete File: ../c.py
*** End Patch"""


@FEEDS
@pytest.mark.parametrize("as_function", [False, True])
def test_patches_give_one_edit_a_file(as_function: bool, feed: Any) -> None:
    made = (
        call("apply_patch", "p", input=PATCH)
        if as_function
        else item("custom_tool_call", name="apply_patch", call_id="p", input=PATCH)
    )
    model = read([meta(), context("t1"), made], feed)
    assert [(i.key, i.path, i.text) for i in model.items.values()] == [
        ((T, "p", 0), "/abs/a.py", "+new"),
        ((T, "p", 1), "/srv/c.py", ""),
        ((T, "p", 2), "/srv/x/b.py", "@@\n-x\n+y"),
    ]
    changes = {
        "/srv/x/b.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-x\n+y\n", "move_path": None},
        "/srv/c.py": {"type": "delete"},
        "/abs/a.py": {"type": "add", "content": "new\n"},
    }
    end = event("patch_apply_end", call_id="p", success=False, changes=changes)
    model = read([meta(), context("t1"), made, end, output("p", "Exit code: 1\nOutput:\nno")], feed)
    edits = {i.path: (i.key, i.text) for i in model.items.values() if i.kind is Kind.EDIT}
    assert edits == {
        "/abs/a.py": ((T, "p", 0), "new\n"),
        "/srv/c.py": ((T, "p", 1), ""),
        "/srv/x/b.py": ((T, "p", 2), "@@ -1 +1 @@\n-x\n+y\n"),
    }
    assert set(model.status.values()) == {"failed"}


def test_one_file_needs_no_number_and_windows_paths_stay() -> None:
    patch = "*** Begin Patch\n*** Update File: src\\a.py\n*** Move to: src\\b.py\n@@\n-x\n+y\n*** End Patch"
    lines = [
        meta() | {"payload": {"id": T, "cwd": "C:\\work"}},
        item("custom_tool_call", name="apply_patch", call_id="p", input=patch),
    ]
    (edit,) = read(lines).items.values()
    assert (edit.key, edit.path) == ((T, "p"), "C:\\work\\src\\a.py")


def test_a_patch_applied_by_a_shell_command() -> None:
    end = event("patch_apply_end", call_id="c", success=True, changes={"a.py": {"type": "add", "content": "x"}})
    model = read([meta(), context("t1"), call("shell", "c", command=["apply_patch", PATCH]), end])
    assert [(i.kind, i.key) for i in model.items.values()] == [(Kind.COMMAND, (T, "c")), (Kind.EDIT, (T, "c"))]
    assert model.view(T)["edited"] == ["/srv/x/a.py"]


def test_other_calls() -> None:
    lines = [
        call("update_plan", "c1", plan=["é"]),
        item("custom_tool_call", name="exec", call_id="c2", input="await tools.x()"),
        item("web_search_call", id="ws_1", action={"type": "search", "query": "sqlite wal"}),
        item("custom_tool_call", name="apply_patch", call_id="c3", input="no patch"),
    ]
    model = read([meta(), context("t1"), *lines])
    assert [(i.kind, i.key, i.text) for i in model.items.values()] == [
        (Kind.CALL, (T, "c1"), 'update_plan {"plan":["é"]}'),
        (Kind.CALL, (T, "c2"), "exec await tools.x()"),
        (Kind.CALL, (T, "ws_1"), "web_search sqlite wal"),
        (Kind.CALL, (T, "c3"), "apply_patch no patch"),
    ]


# Turns, rollbacks, compaction


@FEEDS
def test_rollbacks_of_several_turns(feed: Any) -> None:
    turns = [[context(f"t{n}"), *asked(f"Ask {n}."), *answered(f"Answer {n}.")] for n in range(5)]
    lines = [meta(), *turns[0], *turns[1], *turns[2]]
    lines += [event("thread_rolled_back", num_turns=2), *turns[3], event("thread_rolled_back", num_turns=1), *turns[4]]
    model = read(lines, feed)
    assert texts(model) == ["Ask 0.", "Answer 0.", "Ask 4.", "Answer 4."]
    assert len(model.view(T)["abandoned"]) == 6
    assert texts(read([*lines, event("thread_rolled_back", num_turns=99)], feed)) == []


def test_turns_without_ids_are_numbered() -> None:
    lines = [meta(), context(None), *asked("One."), *answered("Yes."), context(None), context(None), *asked("Two.")]
    keys = [i.key for i in read(lines).items.values()]
    assert keys == [(T, "#0", 0), (T, "#0", 0), (T, "#1", 0)]


def test_compaction_is_a_divider() -> None:
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Old."}]}]
    lines = [meta(), context("t1"), *asked("Hi."), line("compacted", message="So far …", replacement_history=history)]
    model = read([*lines, event("context_compacted"), lines[-1]])
    assert texts(model) == ["Hi."]
    assert model.view(T)["compactions"] == 2


# Forks and sub-agents


def _parent() -> list[Line]:
    return [
        meta(PARENT, "09:00:00.000"),
        context("p1"),
        *asked("Old ask."),
        call("shell", "c1", command=["ls"]),
        output("c1", "Exit code: 0\nOutput:\nx"),
        *answered("Old answer."),
    ]


def _own(turn: str | None) -> list[Line]:
    return [context(turn, "10:00:05.000"), *asked("New ask."), *answered("New answer.")]


@FEEDS
@pytest.mark.parametrize("second_meta", [True, False])
@pytest.mark.parametrize("named", [True, False])
def test_forks(second_meta: bool, named: bool, feed: Any) -> None:
    if not (second_meta or named):
        return
    parent = _parent()
    more = {"forked_from_id": PARENT} if named else {}
    fork = [meta(T, **more), *(parent if second_meta else parent[1:]), *_own("n1")]
    decoder = load("codex")
    model = Model("codex")
    lines = [json.dumps(row).encode() for row in parent]
    feed(model, decoder, Path(PATH.replace(T, PARENT)), lines)
    items = len(model.items)
    feed(model, decoder, Path(PATH), [json.dumps(row).encode() for row in fork])
    assert texts(model) == ["New ask.", "New answer."]
    assert model.view(T)["forked_from"] == PARENT
    assert model.view(T)["inherited"] == 2
    assert len(model.items) == items + 2
    # Without the parent's file the copied part is known by its owner alone.
    assert texts(read(fork, feed)) == ["New ask.", "New answer."]


def test_a_fork_ends_where_its_own_meta_comes_again() -> None:
    fork = [meta(T, forked_from_id=PARENT), *_parent(), meta(T), *asked("New ask.")]
    assert texts(read(fork)) == ["New ask."]


def test_numbered_turns_of_a_fork_do_not_meet_those_of_its_parent() -> None:
    parent = [meta(PARENT, "09:00:00.000"), context(None), *asked("Old.")]
    fork = [meta(T, forked_from_id=PARENT), *parent, *_own(None)]
    longer = [*parent, context(None), *asked("Parent goes on.")]
    decoder = load("codex")
    model = Model("codex")
    plain(model, decoder, Path(PATH.replace(T, PARENT)), [json.dumps(row).encode() for row in longer])
    plain(model, decoder, Path(PATH), [json.dumps(row).encode() for row in fork])
    assert texts(model, PARENT) == ["Old.", "Parent goes on."]
    assert texts(model) == ["New ask.", "New answer."]


def test_turn_ids_that_hold_a_time_end_the_copy() -> None:
    def turn(ms: int) -> str:
        digits = f"{ms:012x}"
        return f"{digits[:8]}-{digits[8:]}-7000-8000-000000000000"

    own_ms = 1772618400000
    fork = [meta(T, forked_from_id=PARENT), meta(PARENT, "09:00:00.000"), context(turn(own_ms - 5000)), *asked("Old.")]
    fork += [context(turn(own_ms + 20)), *asked("New.")]
    assert texts(read(fork)) == ["New."]


@FEEDS
def test_a_fork_that_logs_prompts_in_another_way_than_its_parent(feed: Any) -> None:
    fork = [
        meta(T, forked_from_id=PARENT),
        *_parent(),
        context("n1", "10:00:09.000"),
        user_item("New."),
        reply_item("Yes."),
    ]
    assert texts(read(fork, feed)) == ["New.", "Yes."]


def test_sub_agents() -> None:
    spawn = {"parent_thread_id": PARENT, "depth": 1, "agent_nickname": "scout", "agent_role": "explorer"}
    lines = [meta(T, source={"subagent": {"thread_spawn": spawn}}), context("t1"), *asked("Look."), *answered("Seen.")]
    model = read(lines)
    view = model.view(T)
    assert (view["parent"], view["agent"]) == (PARENT, "scout")
    assert {i.said_by for i in model.items.values()} == {SaidBy.AGENT}
    assert read([meta(T, source={"subagent": "review"}), context("t1"), *asked("x")]).view(T)["agent"] == "review"


@pytest.mark.parametrize(("at", "said"), [("10:00:00.500", ["Look."]), ("10:00:00.000", [])])
def test_a_sub_agent_under_its_parents_meta(at: str, said: list[str]) -> None:
    lines = [meta(T, parent_thread_id=PARENT), meta(PARENT, "09:00:00.000"), context("t1", at), *asked("Look.")]
    model = read(lines)
    assert texts(model) == said
    assert {i.said_by for i in model.items.values()} == {SaidBy.AGENT if said else SaidBy.PERSON}


# Files and lines


def test_session_is_the_first_metas() -> None:
    lines = [context("t0"), *asked("Before any meta."), meta(), *asked("After.")]
    model = read(lines)
    assert set(model.sessions) == {T}
    assert texts(read(asked("No meta at all."))) == ["No meta at all."]


def test_first_generation_lines() -> None:
    lines: list[Any] = [
        {"id": T, "timestamp": "2025-06-01T10:00:00.000Z", "instructions": None, "cwd": "/srv/x"},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello."}]},
        {"type": "function_call", "name": "shell", "call_id": "c", "arguments": '{"command":["ls"]}'},
    ]
    model = read(lines)
    assert texts(model) == ["Hi.", "Hello."]
    assert statuses(model) == [["ls", None]]


def test_titles() -> None:
    lines = [{"id": T, "thread_name": "Old"}, {"id": "other", "thread_name": "Other"}, {"id": T, "thread_name": "New"}]
    model = read_lines("codex", lines, "/h/.codex/session_index.jsonl")
    assert {native: s.facts for native, s in model.sessions.items()} == {
        T: {"title": "New"},
        "other": {"title": "Other"},
    }
    assert read([meta(), event("thread_name_updated", thread_name="Mine")]).view(T)["title"] == "Mine"


def test_archived_files_say_so() -> None:
    path = f"/h/.codex/archived_sessions/rollout-2026-03-04T10-00-00-{T}.jsonl"
    assert read([meta(), *asked("Hi.")], path=path).view(T)["archived"] is True


def test_unknown_types_are_counted() -> None:
    lines = [
        meta(),
        line("hologram"),
        event("hologram"),
        item("hologram"),
        line("world_state"),
        event("token_count", info={}),
    ]
    model = read([*lines, {"type": "event_msg", "payload": {"type": "key = abc def"}}])
    assert model.skipped == ["hologram", "event_msg/hologram", "response_item/hologram", "unnamed"]
    assert model.bad == []


# Paginated threads


def completed(turn: str, kind: str, **more: Any) -> Line:
    return event("item_completed", thread_id=T, turn_id=turn, item={"type": kind, **more})


@FEEDS
@pytest.mark.parametrize("named", [True, False])
def test_paginated_threads(named: bool, feed: Any) -> None:
    lines = [
        meta(T, **({"history_mode": "paginated"} if named else {})),
        event("task_started", turn_id="t1"),
        user_item(INJECTED[1]),
        completed("t1", "UserMessage", id="i1", content=[{"type": "text", "text": "Hi."}]),
        user_item("Hi."),
        completed("t1", "Reasoning", id="i2", summary_text=["Hm."], raw_content=[]),
        completed("t1", "CommandExecution", id="i3", command=["bash", "-lc", "ls"], aggregatedOutput="x", exitCode=1),
        completed(
            "t1", "CommandExecution", id="i4", command="pwd", aggregated_output="", exit_code=None, status="declined"
        ),
        completed("t1", "FileChange", id="i5", status="completed", changes={"/a": {"type": "add", "content": "x"}}),
        completed("t1", "McpToolCall", id="i6", server="db", tool="query", arguments={"q": 1}),
        completed("t1", "Plan", id="i7", text="x"),
        completed("t1", "ContextCompaction", id="i8"),
        completed("t1", "AgentMessage", id="i9", content=[{"type": "Text", "text": "Hello."}]),
        reply_item("Hello."),
        completed("t1", "Hologram", id="i10"),
    ]
    model = read(lines, feed)
    view = model.view(T)
    assert view["messages"] == [["user", "Hi."], ["assistant", "Hello."]]
    assert view["commands"] == [["ls", 1], ["pwd", "failed"]]
    assert (view["edited"], view["compactions"]) == (["/a"], 1)
    assert [i.key for i in model.items.values() if i.kind in (Kind.PROMPT, Kind.REPLY, Kind.CALL)] == [
        (T, "t1", 0),
        (T, "i6"),
        (T, "t1", 0),
    ]
    assert model.skipped == ["item/Hologram"]


def test_a_migrated_thread_keeps_its_keys() -> None:
    legacy = [
        meta(),
        context("t1"),
        *asked("Hi."),
        *answered("Hello."),
        context("t2"),
        *asked("More."),
        *answered("Yes."),
    ]
    paginated = [meta(T, history_mode="paginated")]
    for turn, ask, answer in (("t1", "Hi.", "Hello."), ("t2", "More.", "Yes.")):
        paginated.append(completed(turn, "UserMessage", id="x", content=[{"type": "text", "text": ask}]))
        paginated.append(completed(turn, "AgentMessage", id="y", content=[{"type": "Text", "text": answer}]))
    assert read(legacy).items.keys() == read(paginated).items.keys()


def test_state_is_small_and_holds_no_text() -> None:
    import msgspec

    decoder = load("codex")
    state = decoder.start(Path(PATH))
    secret = "the quick brown fox"
    lines = [meta()]
    for n in range(2000):
        lines += [
            context(None),
            user_item(f"{secret} {n}"),
            event("agent_message", message=f"{secret} {n}"),
            reply_item(f"{secret} {n} b"),
            call("exec_command", f"c{n}", cmd=secret),
            output(f"c{n}", f"Chunk ID: 1\nProcess running with session ID {n}\nOutput:\n{secret}"),
        ]
    for made in lines:
        decoder.decode(json.dumps(made).encode(), state, fingerprint)
    kept = msgspec.json.encode(state)
    assert secret.encode() not in kept
    assert len(kept) < 60_000


def test_a_paginated_thread_says_where_its_lines_stand_and_where_it_goes_on() -> None:
    from afterword.domain.events import Facts, Place, Revert

    decoder = load("codex")
    state = decoder.start(Path(PATH))
    base = {"thread_id": T, "end_ordinal_exclusive": 7}
    lines = [
        meta(T, history_mode="paginated", history_base=base, cli_version="0.153.0") | {"ordinal": 0},
        completed("t1", "UserMessage", id="i1", content=[{"type": "text", "text": "Hi."}]) | {"ordinal": 1},
        completed("t1", "AgentMessage", id="i2", content=[{"type": "Text", "text": "Hello."}]) | {"ordinal": 1},
        event("token_count") | {"ordinal": -5},
        event("token_count"),
    ]
    events = [decoder.decode(json.dumps(made).encode(), state, fingerprint) for made in lines]
    places = [[each.pos for each in row if isinstance(each, Place)] for row in events]
    assert places == [[7 << 20], [8 << 20], [(8 << 20) + 1], [], []]
    assert [each for each in events[0] if isinstance(each, Revert)] == [Revert(T, 7 << 20, 1772618400000000)]
    (facts,) = [each for each in events[0] if isinstance(each, Facts)]
    assert (facts.version, facts.forked_from) == ("0.153.0", None)
    # A legacy rollout is ordered by its bytes.
    state = decoder.start(Path(PATH))
    assert not any(
        isinstance(each, Place)
        for each in decoder.decode(json.dumps(meta() | {"ordinal": 3}).encode(), state, fingerprint)
    )


def test_the_log_of_prompts_is_keyed_by_session_second_and_number() -> None:
    rows = [
        {"session_id": "a", "ts": 1770000000, "text": "One."},
        {"session_id": "b", "ts": 1770000000, "text": "Two."},
        {"session_id": "a", "ts": 1770000000, "text": "Three."},
        {"conversation_id": "a", "ts": 1770000009.5, "text": "Four."},
        {"session_id": "a", "ts": 1770000010, "text": "  "},
        {"session_id": "a", "ts": "soon", "text": "Five."},
        {"ts": 1770000011, "text": "Nobody's."},
    ]
    model = read_lines("codex", rows, "/h/.codex/history.jsonl")
    assert [i.key for i in model.items.values()] == [
        ("a", "log", 1770000000, 0),
        ("b", "log", 1770000000, 0),
        ("a", "log", 1770000000, 1),
        ("a", "log", 1770000009, 0),
        ("a", "log", 0, 0),
    ]
    assert [i.time_us for i in model.items.values()][3:] == [1770000009500000, None]
    assert {i.said_by for i in model.items.values()} == {SaidBy.PERSON}
