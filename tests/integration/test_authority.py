"""Sessions that are read from several kinds of source: what counts, whatever is read first."""

import itertools
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from talks import Talk, Talks, World

from afterword.app.fingerprint import lines
from afterword.store.ledger import authority, schema, sessions, views
from afterword.store.ledger.ledger import FILE, open_writer


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.ledger.close()


def put(world: World, name: str, *talks: Talk) -> None:
    """Write a document and have it read."""
    path = world.folder / f"{name}.json"
    path.write_bytes(msgspec.json.encode(talks))
    world.take(path, Talks())


SHORT = Talk("a", ["one", "two", "three"], title="short", authority=1)
FULL = Talk("a", ["one", "two, and more"], title="full", authority=2)
BEST = Talk("a", ["one"], title="best", authority=3)


@pytest.mark.parametrize("order", list(itertools.permutations([SHORT, FULL, BEST])))
def test_what_only_lower_sources_show_is_hidden_whatever_is_read_first(world: World, order: tuple[Talk, ...]) -> None:
    for talk in order:
        put(world, talk.title, talk)
    assert world.said("a") == [("one", "live"), ("two, and more", "hidden"), ("three", "hidden")]
    assert sessions.load(world.ledger, "")[0].facts.title == "best"


def test_a_better_source_that_appears_later_replaces_and_adds_no_more_than_its_own_records(world: World) -> None:
    put(world, "short", SHORT)
    before = views.counts(world.ledger).log
    put(world, "full", FULL)
    assert world.said("a") == [("one", "live"), ("two, and more", "live"), ("three", "hidden")]
    # The session's facts, the edition of an item, and two memberships that another kind of source shows now; that
    # the third one is hidden is worked out by every machine for itself.
    assert views.counts(world.ledger).log == before + 4


def test_a_lower_source_that_is_read_again_changes_nothing(world: World) -> None:
    put(world, "short", SHORT)
    put(world, "full", FULL)
    before, log = lines(world.ledger), views.counts(world.ledger).log
    put(world, "short", Talk("a", ["other words~", "two", "three"], title="shorter", authority=1))
    assert lines(world.ledger) == before
    assert views.counts(world.ledger).log == log
    # Only what a lower source alone says is new: hidden.
    put(world, "short", Talk("a", ["one", "two", "three", "four"], title="short", authority=1))
    assert world.said("a")[-1] == ("four", "hidden")


def test_what_the_better_source_takes_back_is_abandoned_though_a_lower_one_shows_it(world: World) -> None:
    put(world, "short", SHORT)
    put(world, "full", FULL)
    put(world, "full", Talk("a", ["one"], title="full", authority=2))
    assert world.said("a") == [("one", "live"), ("two, and more", "abandoned"), ("three", "hidden")]
    put(world, "full", FULL)
    assert world.live("a") == ["one", "two, and more"]


def test_a_session_that_only_a_lower_source_has_is_live(world: World) -> None:
    put(world, "both", Talk("b", ["uno"], authority=1), FULL)
    assert world.live("b") == ["uno"]


def test_one_source_may_become_another_kind(world: World) -> None:
    put(world, "short", SHORT)
    put(world, "full", FULL)
    for title in ("full now", "full still"):
        # Both are the best there is now: of what both show, the longer edition stands, however often they are read.
        put(world, "short", Talk("a", SHORT.said, title=title, authority=2))
        assert world.said("a") == [("one", "live"), ("two, and more", "live"), ("three", "live")]


def test_one_thing_under_two_ids_is_shown_once(world: World) -> None:
    put(world, "here", Talk("a", ["one", "two", "three"], keys="x"))
    put(world, "there", Talk("a", ["one", "2", "three", "four"], keys="y"))
    shown = sorted(text for text, state in world.said("a") if state == "live")
    assert shown == ["2", "four", "one", "three", "two"]
    ids = {}
    for item in views.in_order(world.ledger, 1):
        ids.setdefault(str(item.text), []).append((item.id, item.state))
    for text in ("one", "three"):
        assert [state for _, state in sorted(ids[text])] == [0, 2]


def test_another_one_stands_where_one_is_abandoned(world: World) -> None:
    put(world, "here", Talk("a", ["one", "two"], keys="x"))
    put(world, "there", Talk("a", ["one", "two"], keys="y"))
    for name, keys in (("here", "x"), ("there", "y")):
        put(world, name, Talk("a", ["one", "two"], keys=keys, undone=1))
        assert world.live("a") == ["one", "two"]
        put(world, name, Talk("a", ["one", "two"], keys=keys))
    put(world, "here", Talk("a", ["one", "two"], keys="x", undone=1))
    put(world, "there", Talk("a", ["one", "two"], keys="y", undone=1))
    assert world.live("a") == ["one"]


def test_what_comes_to_the_place_of_something_that_was_removed_does_not_hide_it(world: World) -> None:
    put(world, "short", Talk("a", ["start", "go on", "end"], keys="x"))
    put(world, "short", Talk("a", ["start", "go on", "end"], keys="y"))
    assert sorted(world.said("a")) == sorted(
        (text, state) for text in ("start", "go on", "end") for state in ("live", "abandoned")
    )


def test_working_it_out_again_changes_nothing(world: World) -> None:
    put(world, "short", SHORT, Talk("b", ["uno"], authority=1))
    put(world, "full", FULL, Talk("b", ["uno", "dos"], authority=2))
    put(world, "x", Talk("c", ["one"], keys="x"))
    put(world, "y", Talk("c", ["one"], keys="y"))
    with world.ledger.transaction():
        for session in sessions.load(world.ledger, ""):
            assert authority.settle(world.ledger, session.row) == []


def test_memberships_of_an_earlier_ledger_keep_what_was_said_of_them(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    for step in schema.MIGRATIONS[:3]:
        step(db)
    db.execute("PRAGMA user_version = 3")
    for state in (0, 1, 2):
        db.execute(
            "INSERT INTO membership (session, item, pos, sub, state, origin) VALUES (1, ?, ?, 0, ?, 1)",
            (state, state, state),
        )
    db.close()
    ledger = open_writer(tmp_path, "box")
    assert ledger.db.execute("SELECT state, said, authority FROM membership ORDER BY item").fetchall() == [
        (0, 0, 0), (1, 1, 0), (2, 2, 0),
    ]  # fmt: skip
    ledger.close()
