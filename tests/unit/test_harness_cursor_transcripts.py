"""Cursor's transcripts and what a person typed in them, rule by rule."""

import json
from pathlib import Path
from typing import Any

import pytest
from cursor_stores import ONE, TWO

from afterword.capture.harness import cursor, cursor_places
from afterword.capture.harness.cursor_speech import spoken, stamped, typed
from afterword.domain.events import BadLine, Decoded, Document, Facts, Item, Skipped
from afterword.domain.items import Kind, SaidBy

from .harness_model import fingerprint

PLACE = Path("/h/.cursor/projects/srv-orchard-api/agent-transcripts")
MINUTE_US = 1_772_619_600_000_000


# What a person typed


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<user_query>\nTrim it.\n</user_query>", "Trim it."),
        (
            "<timestamp>Wednesday, Mar 4, 2026, 10:20 AM (UTC)</timestamp>\n<user_query>\nTrim it.\n</user_query>",
            "Trim it.",
        ),
        (
            (
                "<attached_files>\n<code>x</code>\n</attached_files>\n<user_query>Trim it.</user_query>\n"
                "<system_reminder>No.</system_reminder>"
            ),
            "Trim it.",
        ),
        ("<user_query>one</user_query>\n<rules>r</rules>\n<user_query>two</user_query>", "one\n\ntwo"),
        (
            "<user_query>What does <user_query> mean, and </user_query>?\nTell me.</user_query>",
            "What does <user_query> mean, and </user_query>?\nTell me.",
        ),
        ("<user_query>no end", "<user_query>no end"),
        ("What is <system_reminder> for?", "What is <system_reminder> for?"),
        ("My words.\n<system_reminder>Not mine.</system_reminder>", "My words."),
        ("Why does this fail?\n<rules>\n<rule/>\n</rules>", "Why does this fail?\n<rules>\n<rule/>\n</rules>"),
        ("Plain words.", "Plain words."),
        ("<user_info>\nOS Version: linux\n</user_info>\n<rules>\nUse ruff.\n</rules>", ""),
        ("<system_reminder>Now.</system_reminder>\nAnd my words.", "And my words."),
        ('<user_query>Use <afterword-context id="1">\nours\n</afterword-context> this.</user_query>', "Use  this."),
    ],
)
def test_typed(text: str, found: str) -> None:
    assert typed(text) == found


def test_what_a_person_pasted_is_theirs() -> None:
    pasted = "Web results for cookies\n" + "\n".join(
        f"{n}. https://example.test/{n} A result about cookies." for n in range(600)
    )
    assert len(pasted) > 25_000
    question = f"{pasted}\n\nWhich of these is right?"
    assert typed(question) == question
    assert typed(f"<user_query>\n{question}\n</user_query>") == question
    assert typed(f"{pasted}\n<user_query>\nWhich of these is right?\n</user_query>") == "Which of these is right?"


@pytest.mark.parametrize(
    ("stamp", "after_us"),
    [
        ("Wednesday, Mar 4, 2026, 10:20 AM (UTC)", 0),
        ("Wednesday, March 4, 2026 at 10:20 AM (UTC)", 0),
        ("Wednesday, Mar 4, 2026, 2:20 AM (UTC-8)", 0),
        ("Wednesday, Mar 4, 2026, 3:50 PM (UTC+5:30)", 0),
        ("Wednesday, Mar 4, 2026, 5:20 AM (America/New_York)", 0),
        ("Wednesday, Mar 4, 2026, 12:20 PM (GMT)", 2 * 3_600_000_000),
        ("Wednesday, Mar 4, 2026, 12:20 AM (UTC)", -10 * 3_600_000_000),
        ("Wednesday, Mar 4, 2026, 10:20 AM (Narnia)", None),
        ("Wednesday, Mar 34, 2026, 10:20 AM (UTC)", None),
        ("Mittwoch, 4. März 2026", None),
    ],
)
def test_times_of_prompts(stamp: str, after_us: int | None) -> None:
    found = stamped(f"<timestamp>{stamp}</timestamp>\n<user_query>x</user_query>")
    assert found == (None if after_us is None else MINUTE_US + after_us)


def test_markers_of_what_was_left_out_go() -> None:
    assert spoken("One.\n[REDACTED]\n\nTwo [REDACTED]words.\n") == "One.\n\nTwo words."


# Lines


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "message": {"content": [{"type": "text", "text": text}]}}


def agent(*blocks: Any) -> dict[str, Any]:
    found = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return {"role": "assistant", "message": {"content": found}}


def use(name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": given}


ENDED = {"type": "turn_ended", "status": "success"}


def read(*lines: Any, path: Path = PLACE / ONE / f"{ONE}.jsonl") -> list[Decoded]:
    state = cursor.start(path)
    out: list[Decoded] = []
    for line in lines:
        out += cursor.decode(line if isinstance(line, bytes) else json.dumps(line).encode(), state, fingerprint)
    return out


def said(events: list[Decoded]) -> list[tuple[str, str]]:
    return [(event.kind.word, event.text) for event in events if isinstance(event, Item)]


def test_a_transcript() -> None:
    events = read(
        user("<timestamp>Wednesday, Mar 4, 2026, 10:20 AM (UTC)</timestamp>\n<user_query>\nTrim it.\n</user_query>"),
        agent("Reading.", use("Read", path="/srv/orchard-api/x"), use("Shell", command="make", description="d")),
        agent(use("StrReplace", path="/srv/orchard-api/x", old_string="a", new_string="b"), use("Grep", pattern="q")),
        agent("Done."),
        ENDED,
    )
    assert said(events) == [
        ("prompt", "Trim it."),
        ("reply", "Reading."),
        ("read", "/srv/orchard-api/x"),
        ("command", "make"),
        ("edit", "-a\n+b"),
        ("call", 'Grep {"pattern":"q"}'),
        ("reply", "Done."),
    ]
    items = [event for event in events if isinstance(event, Item)]
    assert all(item.positional for item in items)
    assert [item.key for item in items][:4] == [(ONE, 0, 0), (ONE, 1, 0), (ONE, 1, 1), (ONE, 1, 2)]
    assert [item.time_us for item in items] == [MINUTE_US, *[None] * 6]
    assert {item.exit_status for item in items} == {None}


def test_marks_between_turns_do_not_count() -> None:
    """A resumed session's transcript is written again without them."""
    lines = [user("One?"), agent("1."), user("Two?"), agent("2.")]
    assert read(lines[0], lines[1], ENDED, lines[2], lines[3], ENDED) == read(*lines, ENDED)


def test_bad_and_unknown_lines() -> None:
    events = read(
        b'{"role":"user","mess', b"[1]", {"type": "new_thing"}, {"role": "oracle", "message": {}}, agent("Still.")
    )
    assert said(events) == [("reply", "Still.")]
    assert [type(event) for event in events if isinstance(event, BadLine)] == [BadLine, BadLine]
    assert [event.record_type for event in events if isinstance(event, Skipped)] == ["new_thing", "message/oracle"]


def test_two_messages_on_one_line_are_two() -> None:
    glued = json.dumps(user("One?")).encode() + json.dumps(agent("1.")).encode()
    assert said(read(glued)) == [("prompt", "One?"), ("reply", "1.")]


def test_a_half_line_before_a_whole_one_costs_itself() -> None:
    events = read(b'{"role":"user","message":{"content":[{"ty' + json.dumps(agent("1.")).encode())
    assert said(events) == [("reply", "1.")]
    assert any(isinstance(event, BadLine) for event in events)


def test_a_sub_agent_is_asked_by_its_parent() -> None:
    path = PLACE / ONE / "subagents" / f"{TWO}.jsonl"
    events = read(user("<user_query>Look.</user_query>"), path=path)
    assert [(event.session, event.parent) for event in events if isinstance(event, Facts)] == [(TWO, ONE)]
    assert [event.said_by for event in events if isinstance(event, Item)] == [SaidBy.AGENT]


# The folder


def cwds(events: list[Decoded]) -> list[str | None]:
    return [event.cwd for event in events if isinstance(event, Facts)]


def test_a_projects_name_is_a_guess_until_a_file_confirms_it() -> None:
    path = PLACE.parent.parent / "nowhere-orchard-api" / "agent-transcripts" / f"{ONE}.jsonl"
    events = read(
        agent(use("Read", path="/elsewhere/x")),
        agent(use("Read", path="/nowhere/orchard.api/app/x.py")),
        agent(use("Read", path="/nowhere/orchard/api/x.py")),
        path=path,
    )
    assert cwds(events) == ["nowhere-orchard-api", "/nowhere/orchard.api"]


def test_the_folder_beside_the_store_and_of_a_window_without_one(tmp_path: Path) -> None:
    store = tmp_path / "chats" / ("0" * 32) / ONE
    store.mkdir(parents=True)
    (store / "meta.json").write_text('{"schemaVersion":1,"cwd":"/srv/by-store"}')
    folder = tmp_path / "projects" / "srv-x" / "agent-transcripts" / ONE
    assert cwds(read(user("One?"), path=folder / f"{ONE}.jsonl")) == ["/srv/by-store"]
    assert cwds(read(user("One?"), path=folder / "subagents" / f"{TWO}.jsonl")) == ["/srv/by-store"]
    for name in ("empty-window", "1772618400000"):
        path = tmp_path / "projects" / name / "agent-transcripts" / TWO / f"{TWO}.jsonl"
        assert cwds(read(user("One?"), path=path)) == [None]


def test_a_folder_that_exists_is_one_a_name_was_made_from(tmp_path: Path) -> None:
    (tmp_path / "orchard-api" / "app").mkdir(parents=True)
    slug = str(tmp_path / "orchard-api").strip("/").replace("/", "-")
    assert cursor_places.existing(slug) == str(tmp_path / "orchard-api")
    (tmp_path / "orchard" / "api").mkdir(parents=True)
    assert cursor_places.existing(slug) is None
    assert cursor_places.existing(slug + "-none") is None


# The first form


def test_the_text_form() -> None:
    text = """user:
<user_query>
Trim it.
</user_query>

assistant:
[Thinking] Where is it?
Let me see.

I will look.
[Tool call] Shell
  command: make
  description: Build
[Tool result] Shell
built
user: is a word here

assistant:
Done.
"""
    opened = Document(PLACE / f"{ONE}.txt", text.encode())
    part = next(cursor.parts(opened, {}))
    assert (part.name, part.version) == (ONE, "")
    events = [event for record in cursor.events(opened, part, fingerprint) for event in record]
    assert said(events) == [
        ("prompt", "Trim it."),
        ("thinking", "Where is it?\nLet me see."),
        ("reply", "I will look."),
        ("command", "make"),
        ("output", "built\nuser: is a word here"),
        ("reply", "Done."),
    ]
    assert [event.kind for event in events if isinstance(event, Item) and event.said_by is SaidBy.PERSON] == [
        Kind.PROMPT
    ]
