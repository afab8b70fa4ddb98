"""Sections under arbitrary texts, a person's edits and appends that broke off anywhere."""

from hypothesis import given
from hypothesis import strategies as st

from afterword.domain.daily import (
    HalfWritten,
    Mark,
    NotWritten,
    Written,
    append_text,
    find_markers,
    half_written,
    spans,
    without_doubles,
)
from afterword.domain.escape import plain
from afterword.domain.ids import SegmentKey
from afterword.domain.sections import Section, Texts, parse_section, render

DAY = "2026-06-10"
QUOTED = SegmentKey("s-00000000000f")
HOSTILE = st.lists(
    st.sampled_from(
        [
            "%% afterword s-000000000001 claude-code api laptop %%",
            "%% /afterword s-000000000001 %%",
            " ^s-000000000001",
            "### Session (14:20)",
            "## Mine",
            "**Context:** x",
            "**Action Items:**",
            "_Shortened: `afterword show s-000000000001` has the rest._",
            "replaces [[#^s-000000000001]]",
            "- [x] ",
            "```",
            "---",
            "\n",
            "\r\n",
            " ",
            "\\",
            "é",
            "中文",
        ]
    )
    | st.text(max_size=4),
    max_size=6,
).map("".join)
PARTS = st.lists(HOSTILE, max_size=3).map(tuple)
TEXTS = st.builds(Texts, HOSTILE, PARTS, PARTS, PARTS, PARTS)
KEYS = st.integers(1, 4).map(lambda n: SegmentKey(f"s-{n:012x}"))
SECTIONS = st.builds(
    Section, KEYS, st.integers(1, 3), st.just("codex"), st.just("api"), st.just("laptop"), st.just("14:20"), TEXTS
)

# What a person types: whole pieces, none of them one of our marks outside a code block.
TYPED = st.lists(
    st.sampled_from(
        [
            "my thought",
            "## Mine",
            "## Sessions",
            "# Mine",
            "### Session notes",
            "Title\n---",
            "- [ ] buy milk",
            f"```sh\n%% afterword {QUOTED} codex api laptop %%\n\n ^{QUOTED}\n```",
            "~~~\n## No heading\n~~~",
            "> quote",
            "see [[2026-06-10#^s-000000000001]]",
            "Été – 中文",
            "%% my comment %%",
            "\n",
            "\n\n",
            "\r\n",
            "  ",
        ]
    ),
    min_size=1,
    max_size=4,
).map(lambda pieces: "\n".join(pieces).encode())


def visible(texts: Texts) -> Texts:
    def points(of: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(filter(None, map(plain, of)))

    return Texts(
        plain(texts.context),
        points(texts.exchanges),
        points(texts.decisions),
        points(texts.lessons),
        points(texts.actions),
    )


@given(SECTIONS, st.booleans())
def test_render_then_parse_is_the_identity_on_visible_text(section: Section, crlf: bool) -> None:
    block = render(section).encode()
    parsed = parse_section(block.replace(b"\n", b"\r\n") if crlf else block)
    assert parsed.texts == visible(section.texts)
    assert (parsed.done, parsed.extra, parsed.shortened) == ((), (), False)


@given(SECTIONS, st.integers(0, 900))
def test_a_shortened_section_is_a_section(section: Section, size: int) -> None:
    whole = render(section).encode()
    block = render(section, max_bytes=size).encode()
    assert len(block) <= max(size, 400)
    assert [f.mark for f in find_markers(block)] == [Mark.START, Mark.BLOCK, Mark.END]
    parsed = parse_section(block)
    assert parsed.shortened == (block != whole)
    assert parsed.extra == ()
    if len(whole) <= size:
        assert block == whole


@given(st.lists(SECTIONS | TYPED, max_size=8), st.booleans(), st.data())
def test_every_section_is_found_once_and_a_persons_bytes_stay(
    steps: list[Section | bytes], crlf: bool, data: st.DataObject
) -> None:
    note = b"# My day\r\n" if crlf else b""
    written: list[Section] = []
    for step in steps:
        if isinstance(step, bytes):
            # between lines, and not inside a section
            places = [0, len(note), *(span.end for span in spans(note)), *(span.start for span in spans(note))]
            at = data.draw(st.sampled_from(sorted(set(places))))
            before, after = note[:at], note[at:]
            note = (
                before
                + (b"" if before.endswith(b"\n") or not before else b"\n")
                + step
                + (b"\n" if after else b"")
                + after
            )
        elif (step.key, step.rev) not in [(s.key, s.rev) for s in written]:
            before = note
            note += append_text(note or None, render(step), DAY)
            assert note.startswith(before)
            written.append(step)
            assert spans(note)[-1].end >= len(note.rstrip(b"\r\n"))
        found = find_markers(note)
        for mark in (Mark.START, Mark.BLOCK, Mark.END):
            assert sorted((f.key, f.rev) for f in found if f.mark is mark) == sorted((s.key, s.rev) for s in written)
        assert all(span.closed for span in spans(note))
        for span in spans(note):
            texts = next(s.texts for s in written if (s.key, s.rev) == (span.key, span.rev))
            assert parse_section(note[span.start : span.end]).texts == visible(texts)


def recovered(note: bytes, offset: int, planned: bytes, block: str) -> bytes:
    match half_written(note, offset, planned):
        case Written():
            return note
        case HalfWritten(start, end):
            note = note[:start] + note[end:]
            assert half_written(note, offset, planned) == NotWritten()
        case _:
            pass
    return note + append_text(note or None, block, DAY)


@given(
    st.lists(SECTIONS, min_size=1, max_size=3, unique_by=lambda s: (s.key, s.rev)),
    st.none() | TYPED,
    TYPED | st.just(b"") | st.text(max_size=5).map(str.encode),
    st.sampled_from([b"", b"inserted above\n", b"\n", "é\n".encode()]),
    st.floats(0, 1),
)
def test_recovery_from_a_cut(
    sections: list[Section], base: bytes | None, behind: bytes, above: bytes, share: float
) -> None:
    note = base or b""
    for section in sections[:-1]:
        note += append_text(note or None, render(section), DAY)
    block = render(sections[-1])
    offset, planned = len(note), append_text(note or None, block, DAY)
    cut = round(len(planned) * share)
    torn = above + note + planned[:cut] + behind
    whole = recovered(torn, offset, planned, block)
    assert whole.startswith(above + note)
    assert behind in whole[len(above + note) :]
    found = [f for f in find_markers(whole) if f.key != QUOTED]
    for mark in (Mark.START, Mark.END):
        assert sorted((f.key, f.rev) for f in found if f.mark is mark) == sorted((s.key, s.rev) for s in sections)
    assert recovered(whole, offset, planned, block) == whole


def test_a_fence_typed_behind_a_half_keeps_its_backticks() -> None:
    texts = Texts("a", ("b",), (), (), ())
    block = render(Section("s-000000000001", 1, "codex", "api", "laptop", "14:20", texts), max_bytes=1)
    assert "`afterword show" in block
    planned = append_text(None, block, DAY)
    typed = b"```sh\nmine\n```"
    for cut in (planned.index(b"`afterword"), planned.index(b"` has"), planned.index(b"` has") + 1):
        assert typed in recovered(planned[:cut] + typed, 0, planned, block)


@given(st.lists(SECTIONS | TYPED, min_size=1, max_size=6), st.data())
def test_doubles_go_and_nothing_else_does(steps: list[Section | bytes], data: st.DataObject) -> None:
    note = b"# Mine\n"
    for step in steps:
        typed = isinstance(step, bytes)
        note += b"\n" + step + b"\n" if typed else append_text(note, render(step), DAY)  # type: ignore[arg-type,operator]
    rows = [note[span.start : span.end] for span in spans(note) if span.closed]
    once = without_doubles(note, lambda _key, _block: False)
    for block in data.draw(st.permutations(rows)) if rows else []:
        note += b"\n" + block + b"\n"
    left = without_doubles(note, lambda _key, _block: False)
    assert without_doubles(left, lambda _key, _block: False) == left
    blocks = [left[span.start : span.end] for span in spans(left) if span.closed]
    assert len(blocks) == len(set(blocks))
    assert set(rows) <= set(blocks) | {row.replace(b"\r\n", b"\n") for row in rows}
    assert left.rstrip(b"\n") == once.rstrip(b"\n")
