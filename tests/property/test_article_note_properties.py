"""Splicing under a person's edits anywhere: their bytes stay, ours come up to date, a second time changes nothing."""

import datetime as dt

from hypothesis import given
from hypothesis import strategies as st

from afterword.domain.article_note import HEAD, Wanted, layout, mark, splice, text_of, whole, written_of
from afterword.domain.frontmatter import Value, Word
from afterword.store.matter import read_matter

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r\n#`~"), min_size=1, max_size=20).map(str.strip)
LINES = st.lists(TEXT.filter(bool), min_size=1, max_size=4)
TYPED = st.sampled_from(
    [
        b"my words", b"\n\n## Notes\n\nmine\n", b"\n## My notes\n- x\n", b"```dataview\nLIST\n```\n", b"| a | b |\n",
        b" ", b"\n", b"\xc5\xbc\xc3\xb3\xc5\x82w", b"- [ ] do it\n", b"%% hidden %%",
        b"---\n", b"# Another title\n", b"## Details\n",
    ]
)  # fmt: skip


@st.composite
def wanteds(draw: st.DrawFn) -> Wanted:
    front: list[tuple[str, Value]] = [
        ("type", Word("concept")),
        ("title", draw(TEXT)),
        ("tags", draw(st.lists(st.sampled_from([Word("ci"), Word("testing"), Word("a-b")]), unique=True, max_size=3))),
        ("updated", draw(st.dates(dt.date(2020, 1, 1), dt.date(2030, 1, 1)))),
    ]
    parts = {HEAD: "# Title\n"}
    for name in ("Key Points", "Details", "Sources"):
        parts[name] = f"## {name}\n" + "".join(f"- {line}\n" for line in draw(LINES))
    return Wanted(tuple(front), parts)


@given(wanteds(), wanteds())
def test_what_nobody_touched_becomes_what_is_wanted(old: Wanted, new: Wanted) -> None:
    note = whole(old)
    values = read_matter(note)
    assert values is not None
    done = splice(note, values, new, written_of(old))
    assert done.note == whole(new)
    assert done.written == written_of(new)
    assert done.edited == ()


@given(wanteds(), wanteds(), st.lists(st.tuples(st.floats(0, 1), TYPED), min_size=1, max_size=4), st.booleans())
def test_every_byte_a_person_typed_stays(
    old: Wanted, new: Wanted, typed: list[tuple[float, bytes]], windows: bool
) -> None:
    note = whole(old)
    if windows:
        note = b"\xef\xbb\xbf" + note.replace(b"\n", b"\r\n")
    body = note.index(b"# Title")
    for where, text in typed:
        at = body + round(where * (len(note) - body))
        while at < len(note) and note[at] & 0xC0 == 0x80:
            at += 1
        note = note[:at] + text + note[at:]
    values = read_matter(note)
    assert values is not None
    last = written_of(old)
    done = splice(note, values, new, last)
    theirs = [
        part
        for part in layout(note).parts
        if part.name not in last.parts or mark(text_of(note, part)) != last.parts[part.name]
    ]
    for part in theirs:
        assert note[part.start : part.end].rstrip() in done.note
    again = splice(done.note, read_matter(done.note) or {}, new, done.written)
    assert again.note == done.note
    assert again.edited == done.edited
    if theirs and any(part.name in last.parts for part in theirs):
        first = {part.name: part for part in reversed(layout(note).parts)}
        touched = [
            name for name, part in first.items() if name in last.parts and mark(text_of(note, part)) != last.parts[name]
        ]
        assert set(touched) <= {*done.edited} | {
            n for n in touched if mark(text_of(note, first[n])) == mark(new.parts[n])
        }


@given(wanteds(), st.binary(max_size=200))
def test_any_bytes_are_laid_out_without_a_fault(wanted: Wanted, junk: bytes) -> None:
    for note in (junk, whole(wanted) + junk, b"---\n" + junk):
        where = layout(note)
        assert all(0 <= part.start <= part.end <= len(note) for part in where.parts)
        read_matter(note)
