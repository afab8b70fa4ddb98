"""What breaks a tie among passages that are equally near: the project named or worked in, age, what was asked for."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from index_world import World
from transcripts import ClaudeSession

from afterword.domain.clock import DAY_US
from afterword.index.meaning import Meaning, Wanted
from afterword.index.signals import DEFAULT, Signals
from afterword.index.stemming import asks_decision

SAID = "The cache is emptied when the settings change."
NOW_US = 1_790_000_000_000_000


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    for project in ("orchard", "harbour"):
        session = ClaudeSession(made.rng, session=f"in-{project}", cwd=f"/srv/{project}")
        made.sessions.append(session)
        made.talk(SAID, "It is.", session=session)
    made.catch_up()
    return made


def first(world: World, question: str, signals: Signals = DEFAULT, **wanted: Any) -> str:
    meaning = Meaning(world.state, world.embedder, signals)
    try:
        found = meaning.ask(
            question, Wanted(**wanted), limit=5, day_of=lambda us: "2026-09-01", now_us=NOW_US, floor=-1.0
        )
    finally:
        meaning.close()
    assert len(found) == 2
    return found[0].project


def test_the_project_that_is_named_comes_first(world: World) -> None:
    asked = "when is the cache of {} emptied"
    assert first(world, asked.format("harbour")) == "harbour"
    assert first(world, asked.format("orchard")) == "orchard"
    off = msgspec.structs.replace(DEFAULT, project=0.0)
    assert first(world, asked.format("harbour"), off) == first(world, asked.format("orchard"), off)


def test_the_project_one_works_in_comes_first(world: World) -> None:
    asked = "when is the cache emptied"
    assert first(world, asked, here="harbour") == "harbour"
    assert first(world, asked, here="orchard") == "orchard"
    assert first(world, asked, here="elsewhere") == first(world, asked)


def test_what_is_newer_comes_first_when_nothing_else_tells(world: World) -> None:
    asked = "when is the cache emptied"
    late = world.sessions[0]
    late.pause(60 * 24 * 120)
    newer = ClaudeSession(world.rng, session="in-newer", cwd="/srv/newer")
    newer.clock = late.clock
    world.talk(SAID, "It is.", session=newer)
    world.catch_up()
    now_us = NOW_US
    meaning = Meaning(world.state, world.embedder)
    found = meaning.ask(
        asked, Wanted(), limit=5, day_of=lambda us: "2026-09-01", now_us=now_us - DAY_US, floor=-1.0
    )  # fmt: skip
    meaning.close()
    assert found[0].project == "newer"


def test_sessions_narrow(world: World) -> None:
    meaning = Meaning(world.state, world.embedder)
    asked = {"limit": 5, "day_of": lambda us: "2026-09-01", "now_us": NOW_US, "floor": -1.0}
    every = meaning.ask("cache", Wanted(), **asked)
    one = meaning.ask("cache", Wanted(sessions=frozenset({every[1].session})), **asked)
    none = meaning.ask("cache", Wanted(sessions=frozenset()), **asked)
    meaning.close()
    assert [passage.session for passage in one] == [every[1].session]
    assert none == []
    assert not asks_decision("cache")
