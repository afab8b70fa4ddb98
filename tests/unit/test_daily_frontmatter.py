"""Front matter: what we emit is read back alike by YAML 1.2 (ruamel) and by python-frontmatter's YAML 1.1."""

import datetime as dt
from decimal import Decimal
from typing import Any

import frontmatter
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from afterword.domain.frontmatter import Value, Word, emit

ODD = [
    "Auth: the fix",
    "# no comment",
    "a #b",
    'say "hi"',
    "[[daily/2026-06-10#^s-9f2c41d07a3b|2026-06-10 14:20]]",
    "two\nlines\r\n",
    "yes",
    "no",
    "null",
    "~",
    "true",
    "12:30",
    "12e4567",
    "1e3",
    "0o17",
    "0123",
    "2026-06-10",
    "-",
    "---",
    "- a",
    "? a",
    "*a",
    "&a",
    "!tag",
    "%x",
    "@x",
    "`x",
    "{a: b}",
    "[a]",
    "a, b",
    "'",
    "\\",
    "\\n",
    " lead and trail ",
    "\ttab",
    "",
    "😀 中文 é",
    "a\x00\x07\x7f\x85\u2028\u2029\ufeffb",
    "<% tp.date.now() %>",
    "<%",
    "word " * 60,
]


def read_both(text: str) -> dict[str, Any]:
    assert text.startswith("---\n")
    assert text.endswith("\n---\n")
    assert text.count("\n---\n") == 1
    new: dict[str, Any] = dict(YAML(typ="safe", pure=True).load(text[4:-4]))
    old = frontmatter.loads(text + "body\n")
    assert old.metadata == new
    assert old.content == "body"
    return new


@pytest.mark.parametrize("text", ODD)
def test_free_text(text: str) -> None:
    emitted = emit([("title", text), ("aliases", [text, "b", text])])
    assert read_both(emitted) == {"title": text, "aliases": [text, "b", text]}
    assert emitted.count("\n") == 4
    assert "<%" not in emitted


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text(text: str) -> None:
    assert read_both(emit([("title", text), ("tags", [text])])) == {"title": text, "tags": [text]}


def test_lone_surrogates_are_replaced() -> None:
    assert read_both(emit([("title", "a\ud800b")])) == {"title": "a\ufffdb"}


@pytest.mark.parametrize(
    ("value", "line", "read"),
    [
        (Word("concept"), "concept", "concept"),
        (Word("memory/daily"), "memory/daily", "memory/daily"),
        ([Word("ci"), Word("e2e-tests")], "[ci, e2e-tests]", ["ci", "e2e-tests"]),
        (["api"], '["api"]', ["api"]),
        ([], "[]", []),
        (4, "4", 4),
        (-12, "-12", -12),
        (0.5, "0.5", 0.5),
        (1e-7, "0.0000001", 1e-7),
        (1e22, "10000000000000000000000", 1e22),
        (Decimal("3.10"), "3.10", 3.1),
        (True, "true", True),
        (False, "false", False),
        (dt.date(2026, 6, 10), "2026-06-10", dt.date(2026, 6, 10)),
    ],
)
def test_values(value: Value, line: str, read: object) -> None:
    emitted = emit([("x", value)])
    assert emitted == f"---\nx: {line}\n---\n"
    assert read_both(emitted) == {"x": read}


@pytest.mark.parametrize(
    "word", ["yes", "no", "on", "off", "null", "true", "y", "n", "12e4567", "1", "A", "a b", "a:", "", "a-", "é"]
)
def test_what_is_no_word(word: str) -> None:
    with pytest.raises(ValueError, match="not a word"):
        Word(word)


@pytest.mark.parametrize(
    "pairs", [[("a", 1), ("a", 2)], [("Title", 1)], [("a b", 1)], [("a: b", 1)], [("y", 1)], [("", 1)]]
)
def test_keys(pairs: list[tuple[str, Value]]) -> None:
    with pytest.raises(ValueError, match="not a key"):
        emit(pairs)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), Decimal("NaN")])
def test_numbers_are_finite(number: float | Decimal) -> None:
    with pytest.raises(ValueError, match="finite"):
        emit([("a", number)])


def test_a_time_is_not_a_date() -> None:
    with pytest.raises(TypeError):
        emit([("a", dt.datetime(2026, 6, 10, 12, tzinfo=dt.UTC))])
