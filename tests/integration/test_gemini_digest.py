"""Sessions written up with loopback Gemini: what it does wrong leaves vault and ledger as they were, and is not paid
for again; what is asked about is never more than what is new."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from gemini_server import GeminiServer, spent_twice
from gemini_world import World, opened, settled_home
from homes import Home
from knowledge import later

from afterword.store.ledger import model_calls, registers, segments, views
from afterword.store.ledger.ledger import RecordKind

TODAY = "2026-06-11"


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as monkeypatch:
        home = settled_home(tmp_path_factory.mktemp("settled") / "home", monkeypatch)
        later(
            Home(home),
            "Why does the outbox repeat mails?",
            "The root cause is that the outbox marks mails as sent too early. Decision: the outbox marks a mail after"
            " the server took it, because a crash in between repeats nothing. Lesson learned: mark work as done only"
            " after it is done. Next we still have to clean the old outbox rows.",
            day=f"{TODAY}T10:00:00",
        )
        return home


@pytest.fixture
def home(settled: Path, tmp_path: Path) -> Path:
    shutil.copytree(settled, tmp_path / "home")
    config = tmp_path / "home/.config/afterword/config.toml"
    config.write_text(config.read_text().replace(str(settled), str(tmp_path / "home")))
    return tmp_path / "home"


@pytest.fixture
def server() -> Iterator[GeminiServer]:
    with GeminiServer() as running:
        yield running


NO_ANSWER = {
    "429-day": "quota", "429-retry-info": "busy", "401": "key", "400-key": "key", "404": "model-gone",
    "400": "refused", "400-long": "cut", "500": "busy", "503": "busy", "reset": "unreachable", "200-html": "odd",
    "cut-off-body": "unreachable", "hang": "timeout", "drip": "timeout", "none-text": "empty",
    "no-candidates": "empty", "thinking-ate-it": "cut", "max-tokens": "cut", "half-json": "schema",
    "wrong-schema": "schema", "safety": "blocked", "prompt-blocked": "blocked", "placeholders": "unproved",
    "no-quotes": "unproved", "false-quotes": "unproved", "unknown-section": "unproved", "injected": "unproved",
    "echo": "unproved",
}  # fmt: skip


def sections(world: World) -> list[tuple[str, str]]:
    """Section and engine of today."""
    ledger = world.program.ledger
    found = []
    for register, record in segments.sections(ledger):
        digest = registers.get(ledger, RecordKind.DIGEST, register.key)
        if record.day == TODAY and digest:
            found.append((register.key, digest.read(segments.DigestRecord).engine))
    return found


@pytest.mark.parametrize("behaviour", NO_ANSWER)
def test_a_failure_changes_nothing_and_the_next_run_succeeds(
    home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch, behaviour: str
) -> None:
    slow = behaviour in ("hang", "drip")
    server.always = behaviour
    with opened(home, monkeypatch, server, AFTERWORD_GEMINI_DEADLINE="0.3s" if slow else "20s") as world:
        world.program.ingest(thorough=True)
        before, pending = world.state(), views.pending(world.program.ledger)
        assert world.program.write_up(settle_us=0) == (0, 0)
        assert (world.state(), views.pending(world.program.ledger)) == (before, pending)
        assert {(step, why) for step, state, why in world.calls()} >= {("digest", NO_ANSWER[behaviour])}
        [failing, *_] = model_calls.failing(world.program.ledger, 0)
        assert failing.reason
        asked = len(server.calls)
        assert world.program.write_up(settle_us=0) == (0, 0)  # it is not asked again and again
        assert len(server.calls) == asked
    server.always = ""
    with opened(home, monkeypatch, server) as world:
        assert world.program.write_up(settle_us=0) == (1, 1)
        assert [engine for _, engine in sections(world)] == ["gemini"]
        assert model_calls.failing(world.program.ledger, 0) == []
        made, asked = world.state(), len(server.calls)
        assert world.program.write_up(settle_us=0) == (0, 0)
        assert (world.state(), len(server.calls)) == (made, asked)
        rows = world.program.ledger.db.execute("SELECT count(*) FROM model_call WHERE state = 'answered' GROUP BY key")
        assert {count for (count,) in rows} == {1}


def test_a_day_that_changes_all_the_time_is_not_compiled_all_the_time(
    home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without `compile.every` a day is compiled once, when it is over."""
    with opened(home, monkeypatch, server, AFTERWORD_COMPILE_AT="03:30") as world:
        while world.program.tend().more:
            pass
        for n in range(4):
            later(
                Home(home), f"What about mail {n} of the outbox?", f"Decision: mail {n} waits for the server.",
                day=f"{TODAY}T11:{n:02}:00", name=f"n{n}",
            )  # fmt: skip
            world.program.ingest(thorough=True)
            world.program.write_up(settle_us=0)
            while world.program.tend().more:
                pass
        assert server.asked() == []
        assert len(server.asked("digest")) == 5
        assert spent_twice(server) == []
    with opened(home, monkeypatch, server, AFTERWORD_COMPILE_AT="03:30", AFTERWORD_NOW="2026-06-12T04:00:00Z") as world:
        while world.program.tend().more:
            pass
        assert len(server.asked()) <= 2  # one, and a second round where the first gave too few
