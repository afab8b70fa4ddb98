"""The past through the model: sections and articles, within what a day's tokens let through, and nothing paid twice."""

import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gemini_server import GeminiServer, spent_twice
from gemini_world import DAYS, World, opened, settled_home

from afterword.app import backfill
from afterword.app.backfill import Backfill
from afterword.app.linting import examine
from afterword.domain.errors import UserError
from afterword.serve.jobs import Lines, Runner
from afterword.store.ledger import articles, jobs, model_calls, registers, segments
from afterword.store.ledger import backfill as asked_for
from afterword.store.ledger.ledger import RecordKind

TOMORROW = "2026-06-12T00:00:00Z"


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The history, written up and compiled by the extractive engine."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        home = settled_home(tmp_path_factory.mktemp("settled") / "home", monkeypatch)
        with opened(home, monkeypatch) as world:
            world.compile(*DAYS)
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


def done(world: World, *, begin: bool = True) -> dict[str, Any]:
    def tell(*_: object) -> None: ...

    if begin:
        backfill.run(world.program, Backfill("begin"), tell, lambda: False)
    return backfill.run(world.program, Backfill(), tell, lambda: False)


def engines(world: World) -> Counter[str]:
    """Who wrote the digests that stand up."""
    found: Counter[str] = Counter()
    for register, record in segments.sections(world.program.ledger):
        digest = registers.get(world.program.ledger, RecordKind.DIGEST, register.key)
        if digest and not record.withdrawn_by:
            found[digest.read(segments.DigestRecord).engine] += 1
    return found


def builders(world: World) -> set[str]:
    return {record.engine for _, record in articles.builds(world.program.ledger).values()}


def test_all_of_the_past_is_written_up_once_and_three_runs_change_nothing(
    home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(home, monkeypatch, server) as world:
        assert set(engines(world)) == {"extractive"}
        takes = backfill.estimate(backfill.left(world.program.ledger))
        assert (takes.days, takes.sections) == (len(DAYS), sum(engines(world).values()))
        over = done(world)
        assert (over["sections"], over["compiled"], over["failed"], over["left"]["days"]) == (takes.sections, 3, [], 0)
        assert (set(engines(world)), builders(world)) == ({"gemini"}, {"gemini"})
        # About what was foretold: not a tenth, not ten times.
        assert takes.tokens / 10 < server.tokens < takes.tokens * 10
        assert spent_twice(server) == []
        # Oldest first.
        days = [call.text[11:21] for call in server.asked()]
        assert days == sorted(days)
        assert examine(world.program.config, world.program.ledger) == []
        notes = world.files()
        assert sum(note.count(b" replaces [[") for name, note in notes.items() if name.startswith("daily/")) > 0
        made, calls = world.state(), len(server.calls)
        for _ in range(3):
            assert done(world)["left"]["days"] == 0
            assert (world.state(), len(server.calls)) == (made, calls)
    with opened(home, monkeypatch) as world:  # and nobody takes it back when the key is gone
        assert world.program.compiling.days() == []


def test_where_the_days_tokens_end_it_stops_and_goes_on_the_next_day(
    home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    cap = {"AFTERWORD_GEMINI_DAILY_TOKENS": "24000"}
    with opened(home, monkeypatch, server, **cap) as world:
        first = done(world)
        assert "the day's tokens are spent" in first["paused"]["reason"]
        assert first["paused"]["until"] == TOMORROW
        assert 0 < first["left"]["days"] <= 3
        assert first["failed"] == []
        assert world.spent().tokens == server.tokens <= 24_000
        assert not backfill.due(world.program)
        before, calls = world.state(), len(server.calls)
        assert done(world)["paused"]["until"] == TOMORROW
        assert (world.state(), len(server.calls)) == (before, calls)
    for n in range(12, 30):
        with opened(home, monkeypatch, server, **cap, AFTERWORD_NOW=f"2026-06-{n}T00:00:01Z") as world:
            assert backfill.due(world.program)
            over = done(world, begin=False)
            assert model_calls.spent(world.program.ledger, f"2026-06-{n}").tokens <= 24_000
            if not over["paused"]:
                break
    with opened(home, monkeypatch, server) as world:
        assert (set(engines(world)), builders(world)) == ({"gemini"}, {"gemini"})
        assert not backfill.due(world.program)
        assert asked_for.asked(world.program.ledger) is None
    assert spent_twice(server) == []


def test_a_cap_under_every_question_is_said_and_not_waited_for(
    home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(home, monkeypatch, server, AFTERWORD_GEMINI_DAILY_TOKENS="20") as world:
        before = world.state()
        with pytest.raises(UserError, match="tokens are spent") as caught:
            done(world)
        assert "daily_tokens" in caught.value.hint
        assert (world.state(), server.calls) == (before, [])
        assert asked_for.asked(world.program.ledger) is None


def test_a_server_that_is_down_is_left_alone_for_as_long_as_the_pause(
    home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.always = "503"
    with opened(home, monkeypatch, server) as world:
        before = world.state()
        paused = done(world)["paused"]
        assert paused["until"] == "2026-06-11T12:10:00Z"
        assert "not available" in paused["reason"]
        assert world.state() == before
        assert len(server.calls) == 4  # the tries of one call: no other question met it
    server.always = ""
    with opened(home, monkeypatch, server, AFTERWORD_NOW="2026-06-11T12:10:01Z") as world:
        assert backfill.due(world.program)
        assert done(world, begin=False)["left"]["days"] == 0


def test_what_the_model_will_not_write_up_keeps_its_text_and_holds_nothing_up(
    home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(home, monkeypatch, server) as world:
        [register, record] = next(
            (register, record)
            for register, record in segments.sections(world.program.ledger)
            if record.day == DAYS[1] and len(record.digest.context.quote) > 20
        )
        server.blocked = record.digest.context.quote[:30].replace('"', "")
        over = done(world)
        assert [each["what"] for each in over["failed"]][:1] == [register.key]
        assert "safety" in over["failed"][0]["reason"]
        kept = segments.section(world.program.ledger, segments.SegmentKey(register.key))
        assert kept is not None
        assert kept[1].digest == record.digest
        assert engines(world)["extractive"] == 1
        assert over["left"]["sections"] == 1
        server.blocked = ""
        again = done(world)
        assert (again["failed"], again["left"]["days"], engines(world)["extractive"]) == ([], 0, 0)
    rows = [text for text in spent_twice(server) if text]
    assert all(record.digest.context.quote[:30] in text for text in rows)


def test_the_daemon_goes_on_by_itself(home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    cap = {"AFTERWORD_GEMINI_DAILY_TOKENS": "24000"}
    with opened(home, monkeypatch, server, **cap) as world:
        assert done(world)["paused"]
        runner = Runner(world.program, Lines(), lambda: False)
        assert not runner.step()
        assert jobs.first_queued(world.program.ledger) is None  # not before the next day
    came = threading.Event()
    with opened(home, monkeypatch, server, AFTERWORD_NOW="2026-06-12T00:00:01Z") as world:
        program = world.program
        program.begin_in_background(came.set)
        runner = Runner(program, Lines(), lambda: False)
        assert not runner.step()
        job = jobs.first_queued(program.ledger)
        assert job is not None
        assert job.name == "backfill"
        for _ in range(200):
            runner.step()
            ended = jobs.get(program.ledger, job.id)
            assert ended is not None
            if ended.state in ("done", "failed"):
                break
            # It waits for the model, and nothing of it is queued a second time.
            assert jobs.waiting(program.ledger) == 1
            assert came.wait(60)
            came.clear()
            program.take_answers()
            runner.answered()
        assert (ended.state, ended.error) == ("done", "")
        assert (set(engines(world)), builders(world)) == ({"gemini"}, {"gemini"})
        runner.step()
        assert jobs.first_queued(program.ledger) is None
    assert spent_twice(server) == []


def test_stop_leaves_the_rest_alone(home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(home, monkeypatch, server, AFTERWORD_GEMINI_DAILY_TOKENS="24000") as world:
        assert done(world)["paused"]
        written = world.state()
        backfill.run(world.program, Backfill("end"), lambda *_: None, lambda: False)
        assert world.state() == written
    with opened(home, monkeypatch, server, AFTERWORD_NOW="2026-06-12T00:00:01Z") as world:
        assert not backfill.due(world.program)
        over = done(world, begin=False)
        assert (over["stopped"], over["sections"]) == (True, 0)


def test_what_a_person_changed_in_a_section_goes_into_its_articles_and_stays(
    home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "The outbox keeps each mail for ninety days, Maya said so."
    with opened(home, monkeypatch, server) as world:
        note = home / "Afterword/daily" / f"{DAYS[0]}.md"
        text = note.read_text()
        at = text.index("**Decisions Made:**\n") + len("**Decisions Made:**\n")
        note.write_text(f"{text[:at]}- {said}\n{text[at:]}")
        assert done(world)["left"]["days"] == 0
        assert said in note.read_text()
        assert [call for call in server.asked() if said in call.text]
