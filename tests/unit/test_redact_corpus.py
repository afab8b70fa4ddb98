"""The corpus keeps recall and precision from falling, in every engine."""

import json
import re
from collections import Counter
from functools import cache

import pytest
from redact_corpus import FOLDER, left_of, measure, negatives, positives

from afterword.redact.redactor import Redactor
from afterword.redact.rules import KINDS, RULES
from afterword.redact.words import KEY_WORDS_ABROAD, PASSWORD_WORDS_ABROAD, WEAK_WORDS_ABROAD

ENGINES = ("hyperscan", "re2", "python")


@cache
def redactor(name: str) -> Redactor:
    return Redactor(name)


@pytest.mark.parametrize("name", ENGINES)
def test_recall_and_precision(name: str) -> None:
    found = measure(redactor(name))
    assert found.recall >= 0.98, found.missed
    assert found.precision >= 0.99, found.wrong
    assert len(found.misnamed) <= 0.01 * found.positives, found.misnamed
    assert len(found.torn) <= 0.01 * found.positives, found.torn


def test_engines_give_the_same_text() -> None:
    for case in (*positives(), *negatives()):
        assert len({str(redactor(name).redact(case.text)) for name in ENGINES}) == 1, case.text


@pytest.mark.parametrize("name", ENGINES)
def test_every_word_abroad_is_known_also_escaped(name: str) -> None:
    secret = "q7Zk2Lm9Xw4Rt8Bv6Nc3Hd5Jf1Gs0Pyu"
    lost = []
    for word in (*PASSWORD_WORDS_ABROAD, *KEY_WORDS_ABROAD, *WEAK_WORDS_ABROAD):
        for ascii_only in (False, True):
            text = json.dumps({word: secret, "n": 1}, ensure_ascii=ascii_only)
            lost += [form for form in (text, json.dumps(text)) if secret in redactor(name).redact(form)]
    assert lost == []


def test_twice_is_once() -> None:
    for case in positives():
        once = redactor("re2").redact(case.text)
        assert redactor("re2").redact(once) == once


def test_the_corpus_is_large_and_covers_every_kind() -> None:
    cases = positives()
    assert len(cases) >= 300
    assert len(negatives()) >= 300
    assert len({case.text for case in cases}) == len(cases)
    shapes = Counter(case.kind for case in cases)
    few = {kind: shapes[kind] for kind in KINDS if shapes[kind] < 3 and kind not in {"extra", "api-key", "secret"}}
    assert few == {}
    assert len(KINDS) >= 60


def test_every_rule_is_reached_by_three_cases() -> None:
    """A row of the table that nothing reaches is a row that nothing tests."""
    texts = [case.text.encode() for case in positives()]
    patterns = [re.compile(rule.pattern.encode()) for rule in RULES]
    idle = {
        pattern.pattern[:80]: count
        for pattern in patterns
        if (count := sum(pattern.search(text) is not None for text in texts)) < 3
    }
    assert idle == {}


def test_the_files_hold_no_whole_secret() -> None:
    """The cases are kept apart, so that a push or a scanner is not stopped by them."""
    raw = (FOLDER / "positives.jsonl").read_text()
    lines = zip(raw.splitlines(), positives(), strict=True)
    assert not [case.secret for line, case in lines if len(case.secret) > 12 and case.secret in line]
    assert "-----BEGIN" not in raw


def test_what_is_left_is_noticed() -> None:
    assert left_of("abcdefghijklmnopqrst", "x efghijklmnop y")
    assert not left_of("abcdefghijklmnopqrst", "[redacted:x]")
