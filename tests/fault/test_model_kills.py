"""Killed around a paid call: what was answered is never paid for again, and the end is that of an undisturbed run."""

import random
import shutil
from collections import Counter
from pathlib import Path

import pytest
from gemini_server import GeminiServer
from homes import Home
from knowledge import NOW
from transcripts import telling_session

from afterword.store.ledger.ledger import open_reader

KILLS = (
    "model.asked#1", "model.answered#1", "model.asked#2", "model.answered#2", "ledger.committed#5", "build.article#3",
    "build.commit#1", "build.committed#1", "article.written#2", "build.files#1",
)  # fmt: skip
DAYS = 6


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
    home.env |= server.env | NOW
    return home


def knowledge(home: Home) -> dict[str, bytes]:
    return {name: data for name, data in home.vault_bytes().items() if "concepts" in name or "connections" in name}


def test_a_backfill_killed_again_and_again_ends_as_an_undisturbed_one(told: Path, tmp_path: Path) -> None:
    with GeminiServer() as calm_server:
        calm = copied(told, tmp_path / "calm", calm_server)
        calm.run("backfill", "--yes")
        wanted = calm.run("doctor", "--fingerprint").stdout
    with GeminiServer() as server:
        home = copied(told, tmp_path / "home", server)
        killed = 0
        for point in KILLS:
            done = home.run("backfill", "--yes", code=None, AFTERWORD_FAULT=f"kill@{point}")
            killed += done.returncode == -9
        home.run("backfill", "--yes")
        assert killed == len(KILLS)
        assert home.run("doctor", "--fingerprint").stdout == wanted
        assert knowledge(home) == knowledge(calm)
        asked = Counter(call.text for call in server.calls)
        reader = open_reader(home.state)
        try:
            answered = reader.db.execute(
                "SELECT count(*) FROM model_call WHERE state = 'answered' GROUP BY key ORDER BY 1 DESC"
            ).fetchall()
        finally:
            reader.close()
        assert {count for (count,) in answered} == {1}
        # Each call is paid for once: kills fall before it is made or after its answer is kept.
        assert set(asked.values()) == {1}
        assert len(answered) == len(server.calls)
        assert home.json("status")["spend"]["ever"]["tokens"] >= server.tokens


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
