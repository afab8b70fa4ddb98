"""Floors of what is found in a made-up coding history: counts, not times. The weights were not chosen on this half."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench import own_history
from bench.questions import Score, Way
from bench.retrieval import measure, own


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Score]:
    ways = {"both": Way(), "exact": Way("exact")}
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HOME", "/nonexistent")  # set anew by the run, and given back here
        patched.setenv("TZ", "UTC")
        patched.setenv("AFTERWORD_NOW", own_history.NOW)
        return measure(own(tmp_path_factory.mktemp("own"), "held-out"), ways)


def test_the_set_is_what_it_says() -> None:
    assert len(own_history.questions()) >= 200
    assert sum(map(len, own_history.unanswerable().values())) >= 40
    assert {story.language for story in own_history.stories()} == {"en", "pl", "ru", "he"}
    dev, held = own_history.questions("dev"), own_history.questions("held-out")
    assert not {a for q in dev for a in q.answers} & {a for q in held for a in q.answers}


def test_what_is_asked_is_found(scores: dict[str, Score]) -> None:
    table = scores["both"].table()
    assert table["all"]["hit@1"] >= 0.6, table
    for category in ("error", "flag", "identifier"):
        assert table["categories"][category]["hit@1"] == 1.0, table
    assert table["categories"]["time"]["hit@1"] >= 0.8, table


def test_nothing_comes_for_what_was_never_spoken_of(scores: dict[str, Score]) -> None:
    assert scores["both"].table()["nothing"] >= 0.9, scores["both"].misses


def test_exact_search_alone_finds_names_and_says_nothing_to_the_rest(scores: dict[str, Score]) -> None:
    table = scores["exact"].table()
    assert table["categories"]["identifier"]["hit@1"] == 1.0, table
    assert table["nothing"] >= 0.85, table
