"""Hostile text: the work grows with the length and no faster, which is counted and not timed."""

import functools
import re

import pytest
from redact_hostile import SHAPES, work_on

from afterword.redact.redactor import GROWTH, Redactor
from afterword.redact.rules import RULES

SMALL, LARGE = 10_000, 40_000
SLACK = 1.15


@functools.cache
def redactor(name: str) -> Redactor:
    return Redactor(name)


@pytest.mark.parametrize("shape", SHAPES)
def test_work_is_linear(shape: str) -> None:
    """Four times the text: at most four times the searches, the bytes they pass over, followed and judged."""
    small, large = (work_on(redactor("re2"), SHAPES[shape](size)) for size in (SMALL, LARGE))
    for name in ("searches", "bytes", "followed", "judged"):
        few, many = getattr(small, name), getattr(large, name)
        assert many <= 4 * SLACK * few + 4 * 4096, (name, few, many)
    # Every rule may go over the text twice in each pass (a search from a key, and one from behind it).
    assert large.bytes <= 2 * len(RULES) * LARGE * large.scans
    assert large.scans <= 9


@pytest.mark.parametrize("shape", SHAPES)
def test_growth_and_idempotence(shape: str) -> None:
    text = SHAPES[shape](SMALL)
    once = redactor("re2").redact(text)
    assert len(once) <= GROWTH * len(text)
    assert redactor("re2").redact(once) == once


@pytest.mark.parametrize("shape", SHAPES)
def test_engines_agree(shape: str) -> None:
    text = SHAPES[shape](2_000) + " password: hunter2x"
    assert len({str(redactor(name).redact(text)) for name in ("re2", "python")}) == 1


def test_hyperscan_agrees_on_all_of_them() -> None:
    fast, plain = redactor("hyperscan"), redactor("re2")
    for shape, make in SHAPES.items():
        text = make(2_000) + " password: hunter2x"
        assert fast.redact(text) == plain.redact(text), shape


def test_no_pattern_repeats_a_repeat_without_end() -> None:
    """The standard engine tries again and again: `(a+)+` would take it for ever. What stands in a group that repeats
    without end must begin or end with something else than what it repeats."""
    nested = re.compile(rb"\((?:\?:)?(?:[^()\\]|\\.)*[+*]\)[+*]")
    assert [rule.kind for rule in RULES if nested.search(rule.pattern.encode())] == []


def test_a_huge_line_with_a_secret_at_its_end() -> None:
    text = "x" * 5_000_000 + " password: hunter2x"
    for name in ("hyperscan", "re2"):
        assert redactor(name).redact(text) == "x" * 5_000_000 + " password: [redacted:password]"


@pytest.mark.parametrize("sign", ["\0", "\x1b", "\ufeff", "\ud800", "\u2028"])
@pytest.mark.parametrize("name", ["hyperscan", "re2", "python"])
def test_strange_signs_shield_nothing(name: str, sign: str) -> None:
    token = "gh" + "p_q7Zk2Lm9Xw4Rt8Bv6Nc3Hd5Jf1Gs0PyuTr4X"
    for text in (f"{sign}{token}{sign}", f"{sign}password: hunter2x{sign}", f"a{sign}\n\tsecret={sign}\nkey {token}"):
        clean = redactor(name).redact(text)
        assert token not in clean
        assert "hunter2x" not in clean
