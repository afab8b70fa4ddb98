"""The shape of a section: golden files, the byte budget, and reading back what a person edited.

AFTERWORD_REFRESH_GOLDEN=1 writes the golden files anew; the difference is read in review.
"""

import os
from pathlib import Path

import msgspec
import pytest

from afterword.domain.daily import append_text, spans
from afterword.domain.digest import Digest, Point
from afterword.domain.ids import SegmentKey
from afterword.domain.sections import (
    Parsed,
    Section,
    Texts,
    forgotten_line,
    parse_section,
    render,
    texts_of,
    withdrawn_line,
)

GOLDEN = Path(__file__).parents[1] / "golden" / "sections"
KEY = SegmentKey("s-9f2c41d07a3b")
FULL = Texts(
    "Debugging an unstable CI runner that failed now and then on the same test.",
    ("The runner shares /tmp between jobs; `mktemp -d` per job was tried.", "Forty runs stayed green."),
    ("Every job gets its own temp directory.",),
    ("C# and #include are no tags; [[ -f x ]] is no link; std::vector is no field.",),
    ("Remove the retry in ci.yml", "- [ ] tell %% the team %%"),
)
SECTION = Section(KEY, 1, "claude-code", "api", "laptop", "14:20", FULL)
HOSTILE = Texts(
    "%% /afterword s-9f2c41d07a3b %%\n### Session (14:20) ^s-9f2c41d07a3b",
    ("```dataviewjs\napp.vault.delete()\n```", "<% tp.system.clipboard() %> <img src=http://e/x>"),
    ("![[secret]] [x](http://e) https://e.x/y",),
    ("**Action Items:**",),
    ("[x] 1. $a$ ==b== ~~c~~ a|b", "%% afterword s-000000000000 claude-code api laptop %%"),
)


def with_(section: Section, **changes: object) -> Section:
    return msgspec.structs.replace(section, **changes)


def two_of_one_day() -> str:
    note = append_text(None, render(SECTION), "2026-06-10")
    note += append_text(note, render(with_(SECTION, rev=2, texts=HOSTILE)), "2026-06-10")
    note += append_text(note, withdrawn_line(SegmentKey("s-0123456789ab"), KEY), "2026-06-10")
    return note.decode()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("full.md", render(SECTION)),
        ("context-only.md", render(with_(SECTION, texts=Texts("Only this.")))),
        ("hostile.md", render(with_(SECTION, texts=HOSTILE))),
        ("revision-3.md", render(with_(SECTION, rev=3, texts=Texts("Third.")))),
        ("shortened.md", render(SECTION, max_bytes=680)),
        ("note.md", two_of_one_day()),
    ],
)
def test_golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("AFTERWORD_REFRESH_GOLDEN"):
        path.write_bytes(text.encode())
    assert text == path.read_bytes().decode()


@pytest.mark.parametrize("texts", [FULL, HOSTILE, Texts("x"), Texts("", ("a",))])
def test_what_is_rendered_is_read_back(texts: Texts) -> None:
    parsed = parse_section(render(with_(SECTION, texts=texts)).encode())
    again = with_(SECTION, texts=parsed.texts)
    assert render(again) == render(with_(SECTION, texts=texts))
    assert (parsed.done, parsed.extra, parsed.shortened) == ((), (), False)
    assert parse_section(render(again).replace("\n", "\r\n").encode()) == parsed


def test_a_first_revision_replaces_nothing_and_a_later_one_what_it_is_told() -> None:
    assert "replaces" not in render(SECTION)
    for changes, old in (({"rev": 2}, KEY), ({"rev": 4, "replaces": 1}, KEY), ({"rev": 4}, f"{KEY}-r3")):
        block = render(with_(SECTION, **changes))
        # The word is for programs and hidden when read; the sentence has a link to click.
        assert f" %% replaces [[#^{old}]] %%\n" in block
        assert f"\n_Goes on from [[#^{old}|the section above]]; " in block
        assert parse_section(block.encode()) == msgspec.structs.replace(
            parse_section(render(SECTION).encode()), goes_on=True
        )
    assert "replaces" not in render(with_(SECTION, rev=2, replaces=0))


def test_what_was_ticked_is_written_ticked() -> None:
    block = render(with_(SECTION, done=("- [ ] tell %% the team %%", "something else")))
    assert "- [ ] Remove the retry in ci.yml\n- [x] \\- \\[ ] tell" in block
    assert parse_section(block.encode()).done == (1,)


@pytest.mark.parametrize(
    "changes",
    [
        {"harness": "Claude Code"},
        {"project": ""},
        {"origin": "a %%"},
        {"key": "s-9f2c41d07a3"},
        {"rev": 0},
        {"time": "14:20)"},
        {"time": "2pm"},
    ],
)
def test_fields_that_would_break_the_markers_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="not "):
        render(with_(SECTION, **changes))


@pytest.mark.parametrize("size", [0, 100, 300, 500, 1_000, 5_000, 50_000, 500_000])
def test_budget(size: int) -> None:
    texts = Texts("é" * 9_000, *([tuple(f"{part}{i} " + "#x " * 300 for i in range(60)) for part in "abcd"]))
    block = render(with_(SECTION, texts=texts), max_bytes=size)
    assert len(block.encode()) <= max(size, 260)
    parsed = parse_section(block.encode())
    assert parsed.shortened == (size < 500_000)
    assert ("`afterword show s-9f2c41d07a3b`" in block) == parsed.shortened
    assert parsed.extra == ()
    assert len(spans(block.encode())) == 1
    for points in (parsed.texts.exchanges, parsed.texts.actions):
        assert all(point[1:].startswith(f"{i} ") for i, point in enumerate(points))


def test_a_budget_that_suffices_changes_nothing() -> None:
    whole = render(SECTION)
    assert render(SECTION, max_bytes=len(whole.encode())) == whole


def test_one_long_text_is_cut_before_points_go() -> None:
    texts = Texts("c", ("x" * 10_000, "second", "third"))
    parsed = parse_section(render(with_(SECTION, texts=texts), max_bytes=4_000).encode())
    assert parsed.texts.exchanges == ("x" * 1_999 + "…", "second", "third")


def test_a_persons_edits_are_read() -> None:
    block = render(SECTION)
    block = block.replace("- [ ] Remove the retry", "- [x] Remove *all* the retries")
    block = block.replace(
        "- Forty runs stayed green.", "* Forty runs, see [[ci|CI]]\n  and more\n\n- a third\nmy remark"
    )
    block = block.replace("same test. ^", "same test,\nand another. ^")
    block = block.replace("**Lessons Learned:**", "**Lessons Learned**:  \r")
    block += "\n#### Mine\n- own point\n"
    assert parse_section(block.encode()) == Parsed(
        Texts(
            FULL.context[:-1] + ", and another.",
            (FULL.exchanges[0], "Forty runs, see [[ci|CI]] and more", "a third"),
            FULL.decisions,
            FULL.lessons,
            ("Remove *all* the retries in ci.yml", FULL.actions[1]),
        ),
        done=(0,),
        extra=("my remark", "#### Mine", "- own point"),
    )


def test_broken_bytes_are_read_as_far_as_they_go() -> None:
    assert parse_section(b"**Context:** a\xff ^s-9f2c41d07a3b\n\xfe\n**Decisions Made:**\n- b").texts == Texts(
        "a\ufffd \ufffd", decisions=("b",)
    )
    assert parse_section(b"") == Parsed(Texts(""))


def test_texts_of_a_digest() -> None:
    def point(text: str) -> Point:
        return Point(text, ("00",), text)

    digest = Digest(point("c"), (point("e"),), (), (point("l"), point("m")), (point("a"),))
    assert texts_of(digest) == Texts("c", ("e",), (), ("l", "m"), ("a",))


def test_lines() -> None:
    assert (
        withdrawn_line(SegmentKey("s-00000000000b"), KEY) == "%% afterword s-00000000000b withdrawn s-9f2c41d07a3b %%\n"
    )
    assert forgotten_line(KEY) == "%% afterword s-9f2c41d07a3b forgotten %%\n"
