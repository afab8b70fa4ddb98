"""What a model says about two tellings: kept with the build, asked once, proved by quotes, and in doubt distinct."""

import json
import shutil
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from gemini_server import BEHAVIOURS, Call, GeminiServer, verdict_on
from gemini_world import World, opened
from knowledge import later

from afterword.app.fingerprint import fingerprint
from afterword.app.linting import examine
from afterword.domain.articles import LIVE, Article
from afterword.store.ledger import articles

THREE = {
    "2026-06-15": """Why does the export test fail in CI? It passes on my machine.
The root cause: both jobs write to /tmp/export, so one deletes the files of the other. Fixed: every job gets a temp \
directory of its own. Lesson learned: a fixed path under /tmp is a race as soon as two jobs share a runner.""",
    "2026-06-16": """The nightly build is red again, please look at the export.
The export test fails because two jobs write to /tmp/export, and one deletes the files of the other one. I gave each \
job its own temp directory, and the export test passes now.""",
    "2026-06-17": """Can you make the export test stable?
It was flaky because the jobs write to the same directory /tmp/export. Each job has a temp directory of its own now, \
so that no job deletes the files of another one.""",
}
DAYS = tuple(THREE)
LATE = "2026-06-20T12:00:00Z"


class _Home:
    """Where `knowledge.later` puts its transcripts."""

    def __init__(self, path: Path) -> None:
        self.path = path


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("verdicts") / "home"
    home.mkdir()
    for n, (day, said) in enumerate(THREE.items()):
        asked, _, answer = said.partition("\n")
        later(_Home(home), asked, answer, day=f"{day}T10:00:00", name=f"e{n}")  # type: ignore[arg-type]  # only its path
    with pytest.MonkeyPatch.context() as monkeypatch:
        return _settled(home, monkeypatch)


def _settled(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    with opened(home, monkeypatch, AFTERWORD_NOW=LATE) as world:
        world.program.ingest(thorough=True)
        world.program.write_up(settle_us=0)
    return home


@pytest.fixture
def server() -> Iterator[GeminiServer]:
    with GeminiServer() as running:
        yield running


@pytest.fixture
def world(settled: Path, tmp_path: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    home = tmp_path / "home"
    shutil.copytree(settled, home)
    config = home / ".config/afterword/config.toml"
    config.write_text(config.read_text().replace(str(settled), str(home)))
    with opened(home, monkeypatch, server, AFTERWORD_NOW=LATE, AFTERWORD_COMPILE_MIN_WORDS="5") as made:
        yield made


def saying(verdict: str, change: Callable[[dict[str, Any]], None] = lambda _row: None) -> Callable[..., None]:
    """A model that writes honest articles, one a day, and says this of every pair."""

    def answer(server: GeminiServer, handler: BaseHTTPRequestHandler, call: Call) -> None:
        if call.step != "compare":
            BEHAVIOURS["1-articles" if call.step == "compile" else "honest"](server, handler, call)
            return
        rows = [verdict_on(row, verdict) for row in call.rows]
        for row in rows:
            change(row)
        server.answer(handler, call, json.dumps({"verdicts": rows}))

    return answer


def live(world: World) -> list[Article]:
    return [each.article for each in articles.current(world.program.ledger) if each.article.status in LIVE]


def compiled(world: World, server: GeminiServer, monkeypatch: pytest.MonkeyPatch, said: Callable[..., None]) -> None:
    monkeypatch.setitem(BEHAVIOURS, "said", said)
    server.always = "said"
    for day in DAYS:
        assert world.day(day, engine="gemini").state == "compiled"


def test_one_fix_told_in_three_ways_is_one_article(
    world: World, server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled(world, server, monkeypatch, saying("same"))
    [one] = live(world)
    assert len(one.sections) == 3
    assert len(one.merged) == 2
    # What was said stays with the builds: all folded anew gives the same, and nobody is asked again.
    asked, stands = len(server.calls), fingerprint(world.program.ledger)
    world.program.compiling.mend()
    assert (len(server.calls), fingerprint(world.program.ledger)) == (asked, stands)


def test_each_pair_is_asked_about_once(world: World, server: GeminiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled(world, server, monkeypatch, saying("distinct"))
    assert len(live(world)) == 3
    assert [len(call.rows) for call in server.asked("compare")] == [1, 2]
    pairs = [json.dumps(row["earlier"]) + json.dumps(row["later"]) for c in server.asked("compare") for row in c.rows]
    assert len(pairs) == len(set(pairs))
    assert [call for call in world.calls() if call[0] == "compare"] == [("compare", "answered", "")] * 2
    assert world.spent().tokens == server.tokens
    asked = len(server.calls)
    for day in DAYS:
        world.day(day, engine="gemini")
    assert len(server.calls) == asked
    assert "double" not in {fault.kind for fault in examine(world.program.config, world.program.ledger)}


def test_what_is_superseded_says_by_what(world: World, server: GeminiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled(world, server, monkeypatch, saying("supersedes"))
    by_day = {one.created: one for one in live(world)}
    assert [by_day[day].status for day in DAYS] == ["stale", "stale", "active"]
    uids = {each.article.created: each.uid for each in articles.current(world.program.ledger)}
    assert by_day["2026-06-15"].replaced_by == uids["2026-06-16"]
    assert by_day["2026-06-16"].replaced_by == uids["2026-06-17"]
    notes = {path: data.decode() for path, data in world.files().items() if "/concepts/" in path}
    old = next(text for text in notes.values() if uids["2026-06-16"] in text)
    assert "status: stale" in old
    assert "\nreplaced_by: " in old
    assert "> [!info] Replaced\n> By [[knowledge/concepts/" in old
    before = world.files()
    world.program.compiling.run([])
    assert world.files() == before


def test_a_contradiction_is_kept_apart_and_named(
    world: World, server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled(world, server, monkeypatch, saying("contradicts"))
    assert len(live(world)) == 3
    kinds = [fault.kind for fault in examine(world.program.config, world.program.ledger)]
    assert "contradiction" in kinds
    assert "double" not in kinds


def test_a_verdict_that_no_quote_proves_is_none(
    world: World, server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled(world, server, monkeypatch, saying("same", lambda row: row.update(quote_later="not a word of it")))
    assert len(live(world)) == 3


@pytest.mark.parametrize("behaviour", ["500", "half-json", "wrong-schema", "safety", "429-day"])
def test_a_day_waits_until_it_is_known(
    world: World, server: GeminiServer, monkeypatch: pytest.MonkeyPatch, behaviour: str
) -> None:
    monkeypatch.setitem(BEHAVIOURS, "said", saying("same"))
    server.always = "said"
    assert world.day(DAYS[0], engine="gemini").state == "compiled"
    before = world.state()

    def broken(given: GeminiServer, handler: BaseHTTPRequestHandler, call: Call) -> None:
        BEHAVIOURS["1-articles" if call.step == "compile" else behaviour](given, handler, call)

    monkeypatch.setitem(BEHAVIOURS, "said", broken)
    assert world.day(DAYS[1], engine="gemini").state == "failed"
    assert world.state() == before
    paid = len(server.asked("compile"))
    monkeypatch.setitem(BEHAVIOURS, "said", saying("same"))
    assert world.day(DAYS[1], engine="gemini").state == "compiled"
    assert len(server.asked("compile")) == paid  # the articles were paid for once
    assert len(live(world)) == 1
