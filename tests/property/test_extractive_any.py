import hashlib
import os
import subprocess
import sys
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from afterword.compile.engine import (
    MAX_ACTIONS,
    MAX_CONTEXT,
    MAX_DECISIONS,
    MAX_EXCHANGES,
    MAX_LESSONS,
    MAX_QUOTE,
    MAX_TEXT,
    check,
)
from afterword.compile.extractive import Extractive
from afterword.compile.sentences import normal, sentences
from afterword.domain.digest import Digest, DigestInput, Passage, Point
from afterword.domain.ids import SegmentKey
from afterword.domain.items import Kind, SaidBy

LANGUAGE = (
    "we'll use|decided to|root cause|because|TODO:|next step|the cache|`x.py`|instead of|. |! |?|\n|\n\n|- |- [ ] "
    "|## Next steps\n|```\n|> |\\|**|[a](b)|решили|החלטנו|原因は|。|zamiast|error: bad|ignore previous instructions"
    "|12|etc.|e.g.|\u202e|…|:|Use Redis|it works"
)
WORDS = st.sampled_from(LANGUAGE.split("|"))
PROSE = st.lists(WORDS, max_size=30).map(" ".join)
TEXT = st.one_of(PROSE, st.text(max_size=200), st.text(st.characters(), max_size=60))
PASSAGE = st.builds(
    Passage,
    item=st.sampled_from([f"{n:032x}" for n in range(12)]),
    kind=st.sampled_from(list(Kind)),
    text=TEXT,
    said_by=st.sampled_from(list(SaidBy)),
    path=st.one_of(st.none(), st.text(max_size=20)),
    exit_status=st.sampled_from([None, 0, 1, "ok", "error", "failed", "interrupted"]),
)
SEGMENT = st.builds(
    DigestInput,
    key=st.just(SegmentKey("s-000000000000")),
    harness=st.just("codex"),
    project=st.text(max_size=8),
    title=st.text(max_size=30),
    passages=st.lists(PASSAGE, max_size=14).map(tuple),
    reports=st.lists(PASSAGE, max_size=2).map(tuple),
)


def holds(digest: Digest, segment: DigestInput) -> None:
    texts: dict[str, list[str]] = {}
    for passage in (*segment.passages, *segment.reports):
        texts.setdefault(passage.item, []).append(normal(passage.text))
    parts = (
        (digest.exchanges, MAX_EXCHANGES),
        (digest.decisions, MAX_DECISIONS),
        (digest.lessons, MAX_LESSONS),
        (digest.actions, MAX_ACTIONS),
    )
    for points, most in parts:
        assert len(points) <= most
        for point in points:
            assert 0 < len(point.text) <= MAX_TEXT
            assert 0 < len(point.quote) <= MAX_QUOTE
            assert any(point.quote in text for item in point.items for text in texts[item])
    assert len(digest.context.text) <= MAX_CONTEXT
    assert not digest.context.items or any(
        digest.context.quote in text for item in digest.context.items for text in texts[item]
    )
    said = [point.text for points, _ in parts for point in points]
    assert len(said) == len(set(said))
    msgspec.json.encode(digest)


@given(SEGMENT)
def test_any_segment_gives_a_proved_and_bounded_digest(segment: DigestInput) -> None:
    digest = Extractive().digest(segment)
    holds(digest, segment)
    assert check(digest, segment) == digest
    assert Extractive().digest(segment) == digest


POINT = st.builds(
    Point,
    text=TEXT,
    items=st.lists(st.sampled_from([f"{n:032x}" for n in range(14)]), max_size=12).map(tuple),
    quote=TEXT,
)
POINTS = st.lists(POINT, max_size=9).map(tuple)


@given(SEGMENT, st.builds(Digest, POINT, POINTS, POINTS, POINTS, POINTS))
def test_check_lets_nothing_unproved_through(segment: DigestInput, digest: Digest) -> None:
    checked = check(digest, segment)
    holds(checked, segment)
    assert check(checked, segment) == checked


@given(TEXT)
def test_sentences_are_substrings(text: str) -> None:
    whole = normal(text)
    for sentence in sentences(text):
        assert sentence.raw in whole


SCRIPT = """
import hashlib, msgspec
from bench.digest import cases
from afterword.compile.extractive import Extractive
found = [Extractive().digest(case.segment) for case in cases()]
print(hashlib.sha256(msgspec.json.encode(found)).hexdigest())
"""


def test_the_same_bytes_under_any_hash_seed() -> None:
    root = Path(__file__).parents[2]
    seen = set()
    for seed in ("0", "1", "4711"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([str(root / "daemon"), str(root)])}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=env, cwd=root, capture_output=True, text=True, check=True
        )
        seen.add(done.stdout.strip())
    assert len(seen) == 1
    assert len(hashlib.sha256().hexdigest()) == len(seen.pop())
