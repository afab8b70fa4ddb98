"""Where sections stand in notes, what is appended, and what an unconfirmed append left behind."""

import pytest

from afterword.domain.daily import (
    Found,
    HalfWritten,
    Mark,
    NotWritten,
    Span,
    Written,
    append_text,
    find_markers,
    half_written,
    new_note,
    spans,
)
from afterword.domain.ids import SegmentKey
from afterword.domain.sections import Section, Texts, forgotten_line, render, withdrawn_line

KEY = SegmentKey("s-9f2c41d07a3b")
OTHER = SegmentKey("s-0123456789ab")
DAY = "2026-06-10"


def section(key: SegmentKey = KEY, rev: int = 1, context: str = "Ünstable runner.") -> str:
    return render(
        Section(key, rev, "claude-code", "api", "laptop", "14:20", Texts(context, ("a point",), actions=("do",)))
    )


BLOCK = section()
HEAD = "---\ntype: daily\ndate: 2026-06-10\ntags: [memory/daily]\n---\n# Daily Log: 2026-06-10\n\n## Sessions\n"


def test_a_new_note() -> None:
    assert new_note(DAY) == HEAD
    for existing in (None, b""):
        assert append_text(existing, BLOCK, DAY).decode() == f"{HEAD}\n{BLOCK}"
    assert append_text(b"\xef\xbb\xbf", BLOCK, DAY).decode() == f"{HEAD}\n{BLOCK}"


def test_a_new_note_where_the_vault_has_other_types() -> None:
    head = new_note(DAY, {"date": "datetime", "type": "multitext", "tags": "tags", "mood": "text"})
    assert head.startswith('---\ntype: [daily]\ndate: "2026-06-10T00:00:00"\ntags: [memory/daily]\n---\n')


@pytest.mark.parametrize(
    ("existing", "before"),
    [
        (HEAD, "\n"),
        (HEAD + "\n", ""),
        (HEAD[:-1], "\n\n"),
        (HEAD + "\ntext", "\n\n"),
        (HEAD + "\ntext\n", "\n"),
        (HEAD + "\ntext\n\n", ""),
        (HEAD + "\ntext\n  ", "\n"),
        # the last heading is not ours
        ("# Mine\n", "\n## Sessions\n\n"),
        ("text", "\n\n## Sessions\n\n"),
        ("\n", "## Sessions\n\n"),
        (HEAD + "\n## Mine\n", "\n## Sessions\n\n"),
        (HEAD + "\n# Mine\n", "\n## Sessions\n\n"),
        (HEAD + "\n### Deeper\n", "\n"),
        (HEAD + "\n##Sessions and #tag\n", "\n"),
        (HEAD + "\nMine\n---\n", "\n## Sessions\n\n"),
        (HEAD + "\nMine\n===\n", "\n## Sessions\n\n"),
        (HEAD + "\nMine\n\n---\n", "\n"),
        (HEAD + "\n- Mine\n---\n", "\n"),
        ("## Sessions ##\ntext\n", "\n"),
        ("## Sessions of mine\n", "\n## Sessions\n\n"),
        # headings in code blocks and front matter do not count
        (HEAD + "\n```\n## Mine\n```\n", "\n"),
        (HEAD + "\n~~~ sh\n## Mine\n```\n~~~\n", "\n"),
        (HEAD + "\n````\n```\n## Mine\n````\n", "\n"),
        ("---\n## Sessions\n---\n", "\n## Sessions\n\n"),
        ("---\n## Sessions\ntext\n", "\n"),
        (HEAD + "\n```js `x`\n## Mine\n", "\n## Sessions\n\n"),
        # a code block left open is closed
        (HEAD + "\n```\n## Mine\n", "```\n\n"),
        (HEAD + "\n  ~~~~sh\ncode", "\n~~~~\n\n"),
        (HEAD + "\n```\na\n```\n```\nb\n", "```\n\n"),
        (HEAD + "\n```\na\n```", "\n\n"),
    ],
)
def test_what_comes_before_the_section(existing: str, before: str) -> None:
    assert append_text(existing.encode(), BLOCK, DAY).decode() == before + BLOCK
    crlf = existing.replace("\n", "\r\n")
    if crlf != existing:
        assert append_text(crlf.encode(), BLOCK, DAY).decode() == (before + BLOCK).replace("\n", "\r\n")
        assert append_text(b"\xef\xbb\xbf" + crlf.encode(), BLOCK, DAY).decode() == (before + BLOCK).replace(
            "\n", "\r\n"
        )


def test_a_lone_marker_line_needs_no_heading() -> None:
    line = forgotten_line(KEY)
    assert append_text(b"# Mine\n", line, DAY).decode() == f"\n{line}"


def test_marks_and_their_places() -> None:
    note = (HEAD + "\n" + BLOCK + "\n" + section(rev=2) + withdrawn_line(OTHER, KEY) + forgotten_line(OTHER)).encode()
    found = find_markers(note)
    assert [(f.mark, f.key, f.rev) for f in found] == [
        (Mark.START, KEY, 1),
        (Mark.BLOCK, KEY, 1),
        (Mark.END, KEY, 1),
        (Mark.START, KEY, 2),
        (Mark.BLOCK, KEY, 2),
        (Mark.END, KEY, 2),
        (Mark.WITHDRAWN, OTHER, 1),
        (Mark.FORGOTTEN, OTHER, 1),
    ]
    assert found[0].fields == ("claude-code", "api", "laptop")
    assert found[6].by == KEY
    assert [note[f.start : f.end].decode() for f in found[:3]] == [
        "%% afterword s-9f2c41d07a3b claude-code api laptop %%",
        "^s-9f2c41d07a3b",
        "%% /afterword s-9f2c41d07a3b %%",
    ]


@pytest.mark.parametrize(
    ("line", "mark"),
    [
        ("%% afterword s-9f2c41d07a3b claude-code api laptop %%", Mark.START),
        ("  %%afterword  s-9f2c41d07a3b\tapi%%  ", Mark.START),
        ("%% afterword s-9f2c41d07a3b %% and my words", Mark.START),
        ("%% /afterword s-9f2c41d07a3b %%\r", Mark.END),
        ("^s-9f2c41d07a3b", Mark.BLOCK),
        ("- moved here ^s-9f2c41d07a3b  \r", Mark.BLOCK),
        ("\xa0é ^s-9f2c41d07a3b", Mark.BLOCK),
        # not ours
        (r"\%\% afterword s-9f2c41d07a3b \%\%", None),
        ("`%% afterword s-9f2c41d07a3b %%`", None),
        ("    %% afterword s-9f2c41d07a3b %%", None),
        ("%% afterword s-9f2c41d07a3 %%", None),
        ("%% afterword s-9f2c41d07a3bc %%", None),
        ("%% afterwords s-9f2c41d07a3b %%", None),
        ("%% afterword s-9f2c41d07a3b Claude %%", None),
        ("text^s-9f2c41d07a3b", None),
        ("text ^s-9f2c41d07a3b more", None),
        (r"text \^s-9f2c41d07a3b", None),
        ("[[#^s-9f2c41d07a3b]]", None),
        ("[[2026-06-10#^s-9f2c41d07a3b|14:20]]", None),
    ],
)
def test_one_line(line: str, mark: Mark | None) -> None:
    found = find_markers(f"before\n{line}\nafter".encode())
    assert [f.mark for f in found] == ([mark] if mark else [])
    assert all(f.key == KEY for f in found)


def test_code_blocks_hide_marks_but_not_from_the_question_of_presence() -> None:
    note = f"````\n{BLOCK}````\n".encode()
    assert find_markers(note) == []
    assert [f.mark for f in find_markers(note, fenced=True)] == [Mark.START, Mark.BLOCK, Mark.END]
    assert all(f.fenced for f in find_markers(note, fenced=True))
    assert spans(note) == []
    assert find_markers(b"```\n```\n" + BLOCK.encode())[0].mark is Mark.START


def test_spans() -> None:
    one, two = BLOCK.encode(), section(OTHER).encode()
    end = len(one) - 1
    assert spans(one + b"\n" + two) == [
        Span(KEY, 1, 0, end, closed=True),
        Span(OTHER, 1, len(one) + 1, len(one) + len(two), closed=True),
    ]
    no_end = one.replace(b"%% /afterword s-9f2c41d07a3b %%\n", b"")
    assert spans(no_end + two) == [
        Span(KEY, 1, 0, len(no_end), closed=False),
        Span(OTHER, 1, len(no_end), len(no_end + two) - 1, closed=True),
    ]
    assert spans(no_end + b"## Mine\n") == [Span(KEY, 1, 0, len(no_end), closed=False)]
    mine = one.replace(b"- a point", b"- a point\n\n### My heading\n")
    assert spans(mine) == [Span(KEY, 1, 0, len(mine) - 1, closed=True)]
    headless = one.partition(b"\n")[2]
    assert spans(b"text\n" + headless) == [Span(KEY, 1, 5, 4 + len(headless), closed=True)]
    assert spans(b"## Sessions\ntext\n" + headless)[0].start == len(b"## Sessions\ntext\n")


BASE = b"# Mine\n\ntext\n"
PLANNED = append_text(BASE, BLOCK, DAY)
AT = len(BASE)


def torn(until: bytes) -> int:
    return PLANNED.index(until)


def test_nothing_written() -> None:
    for note in (BASE, BASE + b"\n", BASE + b"\n\n- my line\n", BASE + b"\n## Mine\n", BASE[:5], b""):
        assert half_written(note, AT, PLANNED) == NotWritten()


def test_all_written() -> None:
    start = AT + torn(b"### Session")
    for note in (BASE + PLANNED, BASE + PLANNED + b"mine", BASE + PLANNED[:-1]):
        assert half_written(note, AT, PLANNED) == Written(start)
    assert half_written(b"new\n" + BASE + PLANNED, AT, PLANNED) == Written(start + 4)
    assert half_written(BASE + PLANNED.replace(b"a point", b"my point"), AT, PLANNED) != NotWritten()
    assert isinstance(half_written(BASE + PLANNED.replace(b"a point", b"my point"), AT, PLANNED), Written)
    assert isinstance(half_written((BASE + PLANNED).replace(b"\n", b"\r\n"), AT, PLANNED), Written)
    edited = PLANNED.replace(b"**Context:**", b"**Context:** I say:").replace(b"%% /afterword s-9f2c41d07a3b %%", b"")
    assert isinstance(half_written(BASE + edited, AT, PLANNED), Written)


@pytest.mark.parametrize(
    ("cut", "behind"),
    [
        ("essions", ""),
        (" Session (14", ""),
        ("s-9f2c", ""),
        ("**Key", ""),
        # what follows is a person's, and so may be what they could have begun alike
        ("do\n", "my line"),
        ("a point", "\n- my line\n"),
        ("- a point", "apples\n"),
        ("runner.", "\n\n# Mine\n"),
        ("**Key", "text\n"),
        ("9f2c41d07a3b claude", "text\n"),
        ("4:20)", "text\n"),
    ],
)
def test_half_written(cut: str, behind: str) -> None:
    note = BASE + PLANNED[: torn(cut.encode())] + behind.encode()
    half = half_written(note, AT, PLANNED)
    assert isinstance(half, HalfWritten)
    left = note[: half.start] + note[half.end :]
    if not behind:
        assert left == BASE
        return
    above = BASE + PLANNED[: torn(b"### Session")]
    assert left.startswith(above)
    assert left.endswith(behind.encode())
    assert len(left) - len(above) - len(behind.encode()) <= 24


@pytest.mark.parametrize("behind", ["Summary\n", "Session notes\n", "text\n", "\ntext"])
def test_what_a_person_may_have_begun_alike_stays(behind: str) -> None:
    for cut in range(torn(b"### Session") + len(b"### Session")):
        assert half_written(BASE + PLANNED[:cut] + behind.encode(), AT, PLANNED) == NotWritten()


def test_a_character_torn_in_two_leaves_nothing() -> None:
    cut = PLANNED.index("Ü".encode()) + 1
    for behind in (b"", b" text\n", b"\n"):
        note = BASE + PLANNED[:cut] + behind
        half = half_written(note, AT, PLANNED)
        assert isinstance(half, HalfWritten)
        assert (note[: half.start] + note[half.end :]).removeprefix(BASE + b"\n## Sessions\n\n") in {behind, BASE}
    # an editor saved it meanwhile
    note = BASE + PLANNED[: cut - 1] + "\ufffd text\n".encode()
    half = half_written(note, AT, PLANNED)
    assert isinstance(half, HalfWritten)
    assert note[half.end :] == b" text\n"
    # a person's character with the same first byte
    note = BASE + PLANNED[: cut - 1] + "Österreich\n".encode()
    half = half_written(note, AT, PLANNED)
    assert isinstance(half, HalfWritten)
    assert note[half.end :].endswith("Österreich\n".encode())


@pytest.mark.parametrize("above", ["", "one more line\n"])
@pytest.mark.parametrize("base", ["", "# Mine\n\ntext\n", HEAD + "\n" + section(OTHER), "```\ncode\r\n", "text"])
@pytest.mark.parametrize(
    "behind",
    ["", "\n", "my text", "\n- buy milk\n", "### Mine\n", "- [ ] x\n", "Été\n", "%% my comment %%\n", "\n\n# Mine"],
)
def test_recovery_from_every_cut(base: str, behind: str, above: str) -> None:
    before = base.encode()
    planned = append_text(before or None, BLOCK, DAY)
    for cut in range(len(planned) + 1):
        note = (above.encode() + before) + planned[:cut] + behind.encode()
        match half_written(note, len(before), planned):
            case Written():
                pass
            case HalfWritten(start, end):
                note = note[:start] + note[end:]
                assert half_written(note, len(before), planned) == NotWritten()
                note += append_text(note or None, BLOCK, DAY)
            case _:
                note += append_text(note or None, BLOCK, DAY)
        assert note.startswith((above + base).encode())
        assert behind.encode() in note[len(above + base) :]
        found = [f.mark for f in find_markers(note) if f.key == KEY]
        assert found == [Mark.START, Mark.BLOCK, Mark.END]
        assert isinstance(half_written(note, len(before), planned), Written)


def test_a_half_that_moved() -> None:
    for cut in (b"14:20)", b"9f2c41d", b"**Key", b"%% /afterword"):
        note = b"a new first line\n" + BASE + PLANNED[: torn(cut)]
        half = half_written(note, AT, PLANNED)
        assert half == HalfWritten(note.index(b"### Session"), len(note))
    note = b"new\n" + BASE + PLANNED[: torn(b"**Key")] + b"my text\n"
    half = half_written(note, AT, PLANNED)
    assert isinstance(half, HalfWritten)
    assert note[: half.start] == b"new\n" + BASE + b"\n## Sessions\n\n"
    assert note[half.end :].strip() == b"my text"


def test_other_sections_are_never_taken_for_a_half() -> None:
    other = section(OTHER)
    note = BASE + append_text(BASE, other, DAY)
    assert half_written(note, AT, PLANNED) == NotWritten()
    assert half_written(note, len(note), append_text(note, BLOCK, DAY)) == NotWritten()
    second = BASE + append_text(BASE, section(rev=2), DAY)
    assert half_written(second, AT, PLANNED) == NotWritten()
    for line in (withdrawn_line(KEY, OTHER), forgotten_line(KEY)):
        note = BASE + append_text(BASE, line, DAY)
        assert half_written(note, AT, PLANNED) == NotWritten()


def test_a_quotation_is_never_taken_for_a_half() -> None:
    quote = b"```\n%% afterword s-9f2c41d07a3b claude-code api laptop %%\n```\n"
    assert half_written(quote, 0, PLANNED) == NotWritten()
    note = quote + PLANNED[: torn(b"**Key")]
    assert half_written(note, len(quote), PLANNED) == HalfWritten(len(quote), len(note))


@pytest.mark.parametrize("line", [withdrawn_line(KEY, OTHER), forgotten_line(KEY)])
def test_lone_lines(line: str) -> None:
    note = BASE + append_text(BASE, BLOCK, DAY)
    planned = append_text(note, line, DAY)
    assert half_written(note, len(note), planned) == NotWritten()
    assert half_written(note + planned, len(note), planned) == Written(len(note) + 1)
    for cut in range(1, len(planned)):
        outcome = half_written(note + planned[:cut], len(note), planned)
        whole = planned[:cut].endswith(b"%%") and cut > 5
        assert outcome == (
            NotWritten() if cut == 1 else Written(len(note) + 1) if whole else HalfWritten(len(note), len(note) + cut)
        )


def test_found_is_a_value() -> None:
    assert find_markers(b" ^s-9f2c41d07a3b") == [Found(Mark.BLOCK, KEY, 1, 1, 16)]
