"""Forgotten sections out of a note: ours go, a stub stays, and every line of a person's stays where it was."""

import pytest

from afterword.domain.daily import Mark, append_text, find_markers
from afterword.domain.ids import SegmentKey
from afterword.domain.sections import Section, Texts, render
from afterword.store.forgotten_notes import ours_in, stub_note

ONE, TWO = SegmentKey("s-0123456789ab"), SegmentKey("s-ba9876543210")


def section(key: SegmentKey, rev: int = 1, word: str = "secret") -> str:
    texts = Texts(f"A {word} context.", (f"An {word} exchange",), (f"We decided the {word}",), (), (f"Do {word}",))
    return render(Section(key, rev, "claude-code", "api", "box", "10:00", texts))


def note(*blocks: str, before: bytes | None = None) -> bytes:
    said = before
    for block in blocks:
        said = (said or b"") + append_text(said, block, "2026-06-10")
    assert said is not None
    return said


def nobody(_key: SegmentKey, _text: str) -> bool:
    return False


def test_a_section_leaves_a_stub_and_the_others_stay() -> None:
    made = note(section(ONE), section(TWO, word="other"))
    bare = stub_note(made, {ONE}, nobody)
    assert b"secret" not in bare
    assert bare.count(b"%% afterword s-0123456789ab forgotten %%") == 1
    assert section(TWO, word="other").encode() in bare
    assert [found.key for found in find_markers(bare) if found.mark is Mark.FORGOTTEN] == [ONE]
    assert stub_note(bare, {ONE}, nobody) == bare


def test_every_revision_goes_and_one_stub_stays() -> None:
    made = note(section(ONE), section(TWO, word="other"), section(ONE, rev=2, word="secrets"))
    bare = stub_note(made, {ONE}, nobody)
    assert b"secret" not in bare
    assert bare.count(b"forgotten %%") == 1
    # What a section says of the one before it is ours as well, and leads to nothing now.
    assert b"Goes on from" not in bare
    assert b"replaces" not in bare


def test_the_link_to_the_section_before_goes_with_it() -> None:
    texts = Texts("A secret context.")
    link = "[[daily/2026-06-09#^s-ba9876543210|2026-06-09 23:50]]"
    made = note(render(Section(ONE, 1, "claude-code", "api", "box", "10:00", texts, before=link)))
    assert b"Continued from" in made
    bare = stub_note(made, {ONE}, nobody)
    assert b"Continued from" not in bare
    assert b"secret" not in bare


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_a_persons_lines_stay(newline: bytes) -> None:
    block = section(ONE)
    mine = ["| a | table |", "- mine, of two lines", "  that goes on", "A paragraph of mine.", "- a point of mine"]
    at = block.index("%% /afterword")
    made = note(block[:at] + "\n".join(mine) + "\n\n" + block[at:])
    made = made.replace(b"\n", newline) + b"Behind it." + newline
    bare = stub_note(made, {ONE}, lambda _key, text: text == "a point of mine")
    assert b"secret" not in bare
    for line in mine:
        assert line.encode() + newline in bare
    assert bare.endswith(b"Behind it." + newline)
    assert bare.count(b"\n") == bare.count(newline)


def test_a_context_a_person_wrote_stays() -> None:
    made = note(section(ONE)).replace(b"A secret context.", b"My own context.")
    bare = stub_note(made, {ONE}, lambda _key, text: text == "My own context.")
    assert b"**Context:** My own context." in bare
    assert b"secret" not in bare


def test_a_section_whose_end_was_taken_away() -> None:
    made = note(section(ONE)).replace(b"%% /afterword s-0123456789ab %%\n", b"") + b"\n## Mine\n\nText of mine.\n"
    bare = stub_note(made, {ONE}, nobody)
    assert b"secret" not in bare
    assert bare.endswith(b"## Mine\n\nText of mine.\n")


def test_a_section_behind_a_code_block_that_was_left_open() -> None:
    before = b"# Day\n\n```\nleft open\n"
    made = before + section(ONE).encode()
    bare = stub_note(made, {ONE}, nobody)
    assert bare.startswith(before)
    assert b"secret" not in bare
    assert b"s-0123456789ab forgotten" in bare


def test_what_is_not_named_stays_byte_for_byte() -> None:
    made = note(section(ONE), section(TWO))
    assert stub_note(made, set(), nobody) == made
    assert stub_note(b"no section here\n", {ONE}, nobody) == b"no section here\n"


def test_ours_are_the_lines_of_sections_but_a_persons() -> None:
    made = note(section(ONE)) + b"behind it\n"
    at = made.index(b"%% /afterword")
    made = made[:at] + b"- mine\n" + made[at:]
    ours = b"\n".join(made[start:end] for start, end in ours_in(made, lambda _key, text: text == "mine"))
    assert b"secret exchange" in ours
    assert b"- mine" not in ours
    assert b"behind it" not in ours
    assert b"Daily Log" not in ours
