"""Killed around a paid call: what was answered is never paid for again, and the end is that of an undisturbed run."""

import os
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from gemini_server import GeminiServer
from homes import Home
from knowledge import NOW
from transcripts import telling_session

from afterword.store.ledger.ledger import open_reader

DAYS = int(os.environ.get("AFTERWORD_TEST_BACKFILL_DAYS", "6"))
KILLS = int(os.environ.get("AFTERWORD_TEST_BACKFILL_KILLS", "6"))
SEED = int(os.environ.get("AFTERWORD_TEST_SEED", "12"))
# Not between an answer's arrival and its commit: what is lost there was paid for, whatever a client does.
POINTS = (
    "model.asked", "ledger.committed", "note.append", "note.half", "note.appended", "build.article",
    "build.commit", "build.committed", "article.plan", "article.written", "build.files", "atomic.rename",
)  # fmt: skip


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some days, compiled by the extractive engine."""
    from datetime import UTC, datetime, timedelta

    home = Home(tmp_path_factory.mktemp("told") / "home")
    for day in range(DAYS):
        session = telling_session(random.Random(day), datetime(2026, 5, 1, tzinfo=UTC) + timedelta(days=day), 1)
        path = session.path(home.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(session.lines))
    home.run("up", "--once", "--settle", "0", **NOW)
    return home.path


def copied(told: Path, path: Path, server: GeminiServer) -> Home:
    shutil.copytree(told, path)
    config = path / ".config/afterword/config.toml"
    config.write_text(config.read_text().replace(str(told), str(path)))
    home = Home(path)
    home.env |= server.env | NOW | {"AFTERWORD_GEMINI_DAILY_TOKENS": "100000000"}
    return home


def knowledge(home: Home) -> dict[str, bytes]:
    return {name: data for name, data in home.vault_bytes().items() if "concepts" in name or "connections" in name}


def _answers(home: Home) -> dict[str, int]:
    """How often each question was answered."""
    reader = open_reader(home.state)
    try:
        rows = reader.db.execute(
            "SELECT key, count(*) FROM model_call WHERE state = 'answered' GROUP BY key"
        ).fetchall()
    finally:
        reader.close()
    return dict(rows)


def test_a_backfill_killed_again_and_again_ends_as_an_undisturbed_one(
    told: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    rng = random.Random(SEED)
    with GeminiServer() as calm_server:
        calm = copied(told, tmp_path / "calm", calm_server)
        assert calm.json("backfill", "--yes")["left"]["days"] == 0
        wanted = calm.run("doctor", "--fingerprint").stdout
        # What is asked when nobody disturbs it, spread over the kills, so that all of them find something to do.
        each = max(1, len(calm_server.calls) // (KILLS + 1))
    with GeminiServer() as server:
        home = copied(told, tmp_path / "home", server)
        killed: Counter[str] = Counter()
        while sum(killed.values()) < KILLS:
            other = rng.choice(POINTS)
            faults = f"kill@model.answered#{rng.randrange(max(1, each // 2), each + 1)}"
            if rng.random() < 0.6:
                faults += f",kill@{other}#{rng.randrange(1, 6)}"
            done = home.run("backfill", "--yes", code=None, AFTERWORD_FAULT=faults)
            assert done.returncode == -9, (faults, killed, done.stdout, done.stderr)
            killed[faults.rpartition("@")[2].partition("#")[0]] += 1
        over = home.json("backfill", "--yes")
        assert (over["left"]["days"], over["failed"], over["paused"]) == (0, [], None)
        assert home.run("doctor", "--fingerprint").stdout == wanted
        assert knowledge(home) == knowledge(calm)
        # Each call is paid for once: kills fall before it is made or after its answer is kept.
        answered = _answers(home)
        assert answered == _answers(calm)
        assert set(answered.values()) == {1}
        assert len(server.calls) == len(answered)
        assert home.json("status")["spend"]["ever"]["tokens"] >= server.tokens
        record_property(f"seed {SEED} backfill", f"{KILLS} kills, {DAYS} days, {len(answered)} calls: {dict(killed)}")


def test_two_backfills_cannot_run_at_once(told: Path, tmp_path: Path) -> None:
    with GeminiServer() as server:
        home = copied(told, tmp_path / "home", server)
        server.hold.clear()
        first = home.start("backfill", "--yes")
        try:
            import time

            end = time.monotonic() + 60
            while not server.calls:
                assert time.monotonic() < end
                time.sleep(0.05)
            refused = home.json("compile", "--engine", "gemini", "--all", code=75)
            assert refused["error"]["kind"] == "busy"
            server.hold.set()
            out, err = first.communicate(timeout=120)
        finally:
            first.kill()
        assert first.returncode == 0, err
        assert f"{DAYS} days compiled" in out
        assert max(Counter(call.text for call in server.calls).values()) == 1
