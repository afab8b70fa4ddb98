"""The running daemon with loopback Gemini: nothing waits for a model but what it is asked about."""

import random
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from gemini_server import GeminiServer
from homes import Home
from transcripts import ClaudeSession, telling_session

from afterword.store.ledger import articles, views
from afterword.store.ledger.ledger import open_reader

NOW = {"AFTERWORD_NOW": "2026-06-07T22:00:00Z"}
QUICK = {"AFTERWORD_SEGMENT_SETTLE": "0", "AFTERWORD_CAPTURE_SWEEP": "1s", "AFTERWORD_COMPILE_AT": "off"}


@pytest.fixture
def server() -> Iterator[GeminiServer]:
    with GeminiServer() as running:
        yield running


@pytest.fixture
def home(tmp_path: Path, server: GeminiServer) -> Home:
    made = Home(tmp_path / "home")
    made.env |= server.env | NOW | QUICK
    made.run("init", str(made.vault), "--yes", "--zone", "UTC")
    return made


def told(home: Home, seed: int, day: int = 7) -> ClaudeSession:
    """A session of a day; today is the seventh."""
    for n in range(seed, seed + 1_000):
        session = telling_session(random.Random(n), datetime(2026, 6, day, tzinfo=UTC), 1)
        if isinstance(session, ClaudeSession):
            path = session.path(home.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"".join(session.lines))
            return session
    raise AssertionError("no such session")


def wait_for(what: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.05)


def items(home: Home) -> int:
    reader = open_reader(home.state)
    try:
        return views.counts(reader).items
    finally:
        reader.close()


def engines(home: Home) -> dict[str, str]:
    reader = open_reader(home.state)
    try:
        return {day: record.engine for day, (_, record) in articles.builds(reader).items()}
    finally:
        reader.close()


def test_capture_searches_and_jobs_go_on_while_the_model_thinks(home: Home, server: GeminiServer) -> None:
    home.run("ingest")
    server.hold.clear()
    with home.daemon():
        session = told(home, 1)
        wait_for(lambda: bool(server.asked("digest")))
        before = items(home)
        session.prompt("And what about the zebra? We decided to keep the zebra in the lighthouse.")
        session.path(home.path).write_bytes(b"".join(session.lines))
        wait_for(lambda: items(home) == before + 1)
        assert home.json("search", "zebra", "lighthouse")["results"]
        assert home.json("ingest")["new"] == 0
        assert not home.daily()
        server.hold.set()
        wait_for(lambda: "zebra" in home.daily())
    status = home.json("status")
    assert status["spend"]["engine"] == "gemini"
    assert status["spend"]["today"]["tokens"] == server.tokens > 0
    assert status["spend"]["failing"] == []
    assert status["pending"]["sessions"] == 0


def test_a_compile_that_waits_for_the_model_holds_no_other_job_up(home: Home, server: GeminiServer) -> None:
    told(home, 1)
    told(home, 2, day=6)
    home.run("up", "--once", AFTERWORD_COMPILE_ENGINE="extractive")
    assert set(engines(home).values()) == {"extractive"}
    server.hold.clear()
    with home.daemon():
        asking = home.start("compile", "--engine", "gemini", "--all", "--json")
        try:
            wait_for(lambda: bool(server.asked()))
            assert home.json("ingest")["new"] == 0
            assert asking.poll() is None
            server.hold.set()
            out, err = asking.communicate(timeout=60)
        finally:
            asking.kill()
        assert asking.returncode == 0, err
        assert out.count('"compiled"') == 2
    assert set(engines(home).values()) == {"gemini"}
    assert home.json("status")["spend"]["ever"]["calls"] == len(server.calls)


def test_the_night_goes_on_when_the_model_has_answered(home: Home, server: GeminiServer) -> None:
    home.env |= {"AFTERWORD_COMPILE_AT": "03:30"}
    told(home, 1)
    # In force since the first of the month.
    home.run("up", "--once", AFTERWORD_NOW="2026-06-01T10:00:00Z")
    told(home, 2, day=6)
    told(home, 3, day=5)
    odd = told(home, 4, day=7)
    odd.prompt("Tell me about the zebra in the lighthouse.")
    odd.path(home.path).write_bytes(b"".join(odd.lines))
    server.blocked = "zebra"  # what a model will not write up holds nothing else up
    home.run("ingest")
    with home.daemon(AFTERWORD_NOW="2026-06-08T05:00:00Z"):
        wait_for(lambda: {"2026-06-05", "2026-06-06"} <= set(engines(home)))
        wait_for(lambda: "2026-06-06" in (home.vault / "knowledge/log.md").read_text())
    assert engines(home)["2026-06-06"] == "gemini"
    [failing] = home.json("status")["spend"]["failing"]
    assert (failing["step"], failing["why"]) == ("digest", "blocked")
    assert "one write-up waits" in home.run("doctor", code=None).stdout


def test_a_model_that_fails_is_left_alone_for_a_while_and_status_says_why(home: Home, server: GeminiServer) -> None:
    home.run("ingest")
    server.always = "404"
    with home.daemon(AFTERWORD_CAPTURE_SWEEP="1s"):
        told(home, 1)
        wait_for(lambda: bool(home.json("status")["spend"]["failing"]))
        asked = len(server.calls)
        told(home, 2)
        wait_for(lambda: home.json("status")["pending"]["sessions"] == 2)
        home.run("ingest")
        assert len(server.calls) == asked
    spend = home.json("status")["spend"]
    assert "gemini-3.8-flash" in spend["failing"][0]["reason"]
    assert "config set gemini.model" in spend["paused"]["reason"]
    assert "config set gemini.model" in home.run("status").stdout
    assert not home.daily()
    server.always = ""
    assert home.json("up", "--once")["pending"]["sessions"] == 0
    assert home.daily()
    assert home.json("status")["spend"]["paused"] is None


def test_it_stops_at_once_while_a_model_thinks(home: Home, server: GeminiServer) -> None:
    home.run("ingest")
    server.hold.clear()
    with home.daemon() as process:
        told(home, 1)
        wait_for(lambda: bool(server.asked("digest")))
        process.terminate()
        assert process.wait(timeout=30) == 0
    # What was under way is booked at its most, and asked for again.
    assert home.json("status")["spend"]["today"]["tokens"] > 8_000
    server.hold.set()
    home.run("up", "--once")
    assert home.daily()


def test_ctrl_c_ends_a_command_that_waits(home: Home, server: GeminiServer) -> None:
    told(home, 1)
    home.run("up", "--once", AFTERWORD_COMPILE_ENGINE="extractive")
    before = home.vault_bytes()
    server.hold.clear()
    asking = home.start("backfill", "--yes")
    try:
        wait_for(lambda: bool(server.calls))
        asking.terminate()
        out, err = asking.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        asking.kill()
        raise
    assert asking.returncode == 0, err
    assert "Stopped, 1 day left" in out
    assert home.vault_bytes() == before
    # Whoever stops it here does not want a daemon to go on with it.
    assert home.json("status")["spend"]["backfill"] is None


def test_the_first_up_says_what_gemini_will_do_and_what_the_past_would_take(home: Home, server: GeminiServer) -> None:
    told(home, 1, day=5)
    told(home, 2, day=6)
    told(home, 3)
    said = home.run("up", "--once").stdout
    assert "Gemini writes up from today on (gemini-3.8-flash)" in said
    assert "2 days" in said
    assert "backfill" in said
    assert engines(home) == {"2026-06-05": "extractive", "2026-06-06": "extractive", "2026-06-07": "gemini"}
    asked = len(server.calls)
    look = home.json("backfill", "--estimate")
    assert (look["estimate"]["days"], look["estimate"]["sections"], len(server.calls)) == (2, 4, asked)
    assert [day["note"] for day in look["days"]] == ["daily/2026-06-05.md", "daily/2026-06-06.md"]
    assert home.json("backfill", code=2)["error"]["hint"].startswith("say --yes")
    done = home.json("backfill", "--yes")
    assert (done["sections"], done["compiled"], done["failed"], done["left"]["days"]) == (4, 2, [], 0)
    assert set(engines(home).values()) == {"gemini"}
    assert home.json("backfill", "--yes")["estimate"]["days"] == 0
    assert home.json("status")["spend"]["ever"]["tokens"] == server.tokens
    everything = [path for path in home.path.rglob("*") if path.is_file()]
    assert not [path for path in everything if b"loopback-key" in path.read_bytes()]


def test_a_backfill_beside_the_daemon_is_done_by_it(home: Home, server: GeminiServer, tmp_path: Path) -> None:
    told(home, 1, day=5)
    told(home, 2, day=6)
    home.run("up", "--once", AFTERWORD_COMPILE_ENGINE="extractive")
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "2024-03-05.md").write_text(
        "We moved the invoice importer off the shared temp directory, because two workers overwrote each other's files."
        "\n\n## Decisions\n- The invoice importer writes into a directory of its own, for every one of its workers.\n"
        "\n## Lessons\n- The importer fails with EEXIST when the directory is made twice, so make it with exist_ok.\n"
    )
    with home.daemon():
        done = home.json("backfill", str(notes), "--yes")
        assert (done["notes"]["files"], done["notes"]["sections"]) == (1, 1)
        assert (done["compiled"], done["failed"], done["left"]["days"]) == (3, [], 0)
        assert set(engines(home).values()) == {"gemini"}
        assert home.json("status")["spend"]["backfill"] is None
        asked = len(server.calls)
        again = home.json("backfill", str(notes), "--yes")
        assert (again["notes"]["read"], again["sections"], again["compiled"], len(server.calls)) == (0, 0, 0, asked)
    assert home.json("status")["jobs"] == {"waiting": 0, "failed": []}
