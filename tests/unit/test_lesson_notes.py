"""Entries and topics as Markdown: what is read back, and whose bytes stay."""

import datetime as dt
from typing import Any

import pytest

from afterword.domain.article_note import layout
from afterword.domain.ids import FactId, LessonUid
from afterword.domain.lesson_note import Bad, Entry, markdown, name_of, read
from afterword.domain.lessons import Lesson
from afterword.domain.topic_note import FactLine, TopicView, added, fact_line, merged, new_note, shown
from afterword.store.matter import read_matter

NOW = (1_786_630_800_000_000, "2026-08-13")
ODD = "Never trust `rm -rf *`: [[links]], #tags, %% comments %% and - dashes; 1. numbers <b>"


def entry(note: bytes) -> Entry | Bad:
    where = layout(note)
    body = note if where.matter is None else note[where.matter[1] :].partition(b"\n")[2]
    return read(read_matter(note), body, NOW)


def test_an_entry_is_read_back_as_it_was_written() -> None:
    lesson = Lesson(
        text=ODD, kind="dead-end", at_us=1_786_630_805_123_000, day="2026-08-13", source="remember", by="codex",
        agents=("claude", "codex"), project="api", topic="ci", machine="box", evidence="s-0123456789ab: “quoted”",
        supersedes=("f-0123456789ab",), status="draft", pinned=True,
    )  # fmt: skip
    found = entry(markdown(LessonUid("l-0123456789ab"), lesson))
    assert isinstance(found, Entry)
    assert (found.uid, found.lesson) == ("l-0123456789ab", lesson)


def test_the_name_of_a_file_says_when_who_and_what() -> None:
    lesson = Lesson("x", "lesson", 0, "2026-08-13", "learn", by="codex", topic="ci")
    at = dt.datetime(2026, 8, 13, 14, 20, tzinfo=dt.UTC)
    assert name_of(LessonUid("l-0123456789ab"), lesson, at) == "2026-08-13-1420-codex-ci-0123456789ab.md"


def test_plain_words_are_an_entry() -> None:
    found = entry(b"The NAS runs fnos.\n\nIt was a Synology once.\n")
    assert isinstance(found, Entry)
    assert found.uid == ""
    assert found.lesson.source == "file"
    assert found.lesson.text == "The NAS runs fnos. It was a Synology once."
    assert (found.lesson.at_us, found.lesson.day) == NOW


def test_a_person_writes_front_matter_their_way() -> None:
    note = (
        b"---\nkind: local-fact\nagents: claude-code\nproject: Harbor API\ntopic: C#\ndate: 2026-03-01\n---\nA fact.\n"
    )
    found = entry(note)
    assert isinstance(found, Entry)
    lesson = found.lesson
    assert (lesson.kind, lesson.agents, lesson.project) == ("local-fact", ("claude",), "harbor-api")
    assert (lesson.topic, lesson.day) == ("c-sharp", "2026-03-01")


@pytest.mark.parametrize(
    ("note", "word"),
    [
        (b"---\nkind: opinion\n---\nx y\n", "kind"),
        (b"---\nkind: [lesson]\n---\nx y\n", "kind"),
        (b"---\ntype: concept\n---\nx y\n", "type"),
        (b"---\nuid: 17\n---\nx y\n", "uid"),
        (b"---\ndate: tomorrow\n---\nx y\n", "date"),
        (b"---\nsupersedes: the old one\n---\nx y\n", "supersedes"),
        (b"---\nstatus: maybe\n---\nx y\n", "status"),
        (b"---\nkind: lesson\nkind: dead-end\n---\nx y\n", "YAML"),
        (b"---\nkind: lesson\n\nno end\n", "YAML"),
        (b"---\nkind: lesson\n---\n\n", "nothing"),
        (b"---\nkind: lesson\n---\n\xff\xfe\n", "UTF-8"),
        (b"x" * 2001, "characters"),
    ],
)
def test_what_is_wrong_is_said(note: bytes, word: str) -> None:
    found = entry(note)
    assert isinstance(found, Bad)
    assert word in found.problem


ONE, TWO, THREE = (FactId(f"f-{digit * 12}") for digit in "123")


def line(its_id: FactId, text: str, meta: str = "") -> FactLine:
    return FactLine(its_id, fact_line(its_id, text, meta), text)


def view(**lines: tuple[FactLine, ...]) -> TopicView:
    return TopicView("# CI\n", {name.replace("_", " "): row for name, row in lines.items()})


def ours(note: bytes) -> set[str]:
    return {row.rstrip() for row in note.decode().split("\n") if row.strip()}


def test_a_topic_says_what_it_was_given() -> None:
    note = new_note("---\ntype: topic\n---\n", view(Facts=(line(ONE, "One.", "[[j/a|2026-08-13]]; in api"),)))
    assert [(each.section, each.id, each.text) for each in shown(note)] == [("Facts", ONE, "One.")]
    assert merged(note, view(Facts=(line(ONE, "One.", "[[j/a|2026-08-13]]; in api"),)), {ONE}, ours(note)) == note


def test_lines_come_change_and_go_and_all_else_stays() -> None:
    first = new_note("---\ntype: topic\n---\n", view(Facts=(line(ONE, "One."), line(TWO, "Two."))))
    mine = (
        first.replace(b"Two. ^", b"Two. ^").replace(b"- Two.", b"  a thought of mine\n\n- [ ] ask Maya\n- Two.")
        + b"\n## Notes\n\n- One. is what I think, too\n| a | b |\n"
    )
    wanted = view(
        Facts=(line(ONE, "One, reworded."), line(THREE, "Three.")),
        No_longer_held=(FactLine(TWO, f"- gone ^{TWO}", ""),),
    )
    note = merged(mine, wanted, {ONE, TWO, THREE}, ours(first))
    assert note.decode() == (
        "---\ntype: topic\n---\n\n# CI\n\n## Facts\n\n"
        f"- One, reworded. ^{ONE}\n- Three. ^{THREE}\n  a thought of mine\n\n- [ ] ask Maya\n\n"
        f"## No longer held\n\n- gone ^{TWO}\n\n"
        "## Notes\n\n- One. is what I think, too\n| a | b |\n"
    )
    assert merged(note, wanted, {ONE, TWO, THREE}, ours(first) | ours(note)) == note


def test_a_line_in_a_persons_words_stays_while_it_says_the_fact() -> None:
    first = new_note("---\ntype: topic\n---\n", view(Facts=(line(ONE, "One."),)))
    mine = first.replace(b"- One. ^", b"* One\\. ^")
    assert merged(mine, view(Facts=(line(ONE, "One."),)), {ONE}, ours(first)) == mine
    gone = merged(mine, view(), {ONE}, ours(first))
    assert b"One" not in gone


def test_a_persons_point_gets_the_id_of_its_fact() -> None:
    first = new_note("---\ntype: topic\n---\n", view(Facts=(line(ONE, "One."),)))
    mine = first + b"- Another *thing*.\r\n"
    assert list(added(mine)) == [("Facts", "Another *thing*.")]
    note = merged(mine, view(Facts=(line(ONE, "One."), line(TWO, "Another *thing*."))), {ONE, TWO}, ours(first))
    assert note == first + f"- Another *thing*. ^{TWO}\r\n".encode()


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_line_ends_are_the_notes_own(ending: bytes) -> None:
    first = new_note("---\ntype: topic\n---\n", view(Facts=(line(ONE, "One."),))).replace(b"\n", ending)
    wanted: dict[str, Any] = {"Facts": (line(ONE, "One."), line(TWO, "Two.")), "Dead_ends": (line(THREE, "Three."),)}
    note = merged(first, view(**wanted), {ONE, TWO, THREE}, {row.rstrip() for row in first.decode().split("\n")})
    assert note.count(b"\n") == note.count(ending)
    assert [each.id for each in shown(note)] == [ONE, TWO, THREE]
    assert merged(note, view(), {ONE, TWO, THREE}, ours(note)).strip().endswith(b"# CI")
