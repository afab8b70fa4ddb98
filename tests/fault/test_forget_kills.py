"""Killed at random points of a forgetting, the next run ends where an undisturbed one does, and nothing is left."""

import os
import random
import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from homes import Home

import afterword
from afterword.store import faults

KILLS = int(os.environ.get("AFTERWORD_TEST_FORGET_KILLS", "9"))
SEED = int(os.environ.get("AFTERWORD_TEST_SEED", "20260613"))
HISTORY = Path(afterword.__file__).parent / "demo" / "history"
NOW = {"AFTERWORD_NOW": "2026-06-11T12:00:00Z"}
WORD = b"booking"
EXPLAIN = ("doctor", "--fingerprint", "--explain")
UP = ("up", "--once", "--settle", "0")
FORGET = ("forget", "--match", "booking", "--yes")

# (point, how often it is reached at most in a forgetting of the sample history)
POINTS = (
    ("forget.marked", 1),
    ("forget.step", 2),
    ("forget.rows", 1),
    ("forget.note", 3),
    ("forget.articles", 1),
    ("forget.text", 1),
    ("forget.index", 1),
    ("forget.packed", 1),
    ("ledger.inside", 60),
    ("ledger.commit", 20),
    ("ledger.committed", 20),
    ("text.commit", 1),
    ("text.committed", 1),
    ("article.plan", 2),
    ("article.written", 2),
    ("build.commit", 1),
    ("build.committed", 1),
    ("build.files", 1),
    ("note.append", 2),
    ("note.half", 2),
    ("note.appended", 2),
    ("atomic.write", 8),
    ("atomic.rename", 8),
)


def test_every_point_of_a_forgetting_is_killed_at() -> None:
    assert {point for point in faults.POINTS if point.startswith("forget.")} <= {point for point, _ in POINTS}


def test_kills_inside_a_forgetting_leave_no_difference(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    first = Home(tmp_path / "first")
    shutil.copytree(HISTORY, first.path, dirs_exist_ok=True)
    first.run(*UP, **NOW)
    whole = copy(first, tmp_path / "whole")
    whole.run(*FORGET, **NOW)
    assert holders(whole) == []
    wanted = whole.run(*EXPLAIN).stdout
    killed = 0
    while killed < KILLS:
        home = copy(first, tmp_path / f"home{killed}")
        spec = ""
        asked = False
        for _ in range(min(rng.randrange(1, 4), KILLS - killed)):
            point, most = POINTS[killed % len(POINTS)] if killed < len(POINTS) else rng.choice(POINTS)
            spec = f"kill@{point}#{rng.randrange(1, most + 1)}"
            # Once it is planned, any next command of a writer goes on with it.
            words = UP if asked else FORGET
            done = home.run(*words, code=None, AFTERWORD_FAULT=spec, **NOW)
            assert done.returncode in (0, 1, -signal.SIGKILL), (spec, done.stderr)
            assert "Traceback" not in done.stderr, (spec, done.stderr)
            asked = asked or planned(home)
            killed += 1
        home.run(*UP, **NOW)
        if not asked:
            home.run(*FORGET, **NOW)
        assert holders(home) == [], spec
        assert home.run(*EXPLAIN).stdout == wanted, spec
        assert not planned(home), spec
        shutil.rmtree(home.path)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("point", ["forget.marked", "forget.rows", "forget.articles", "forget.packed"])
def test_a_daemon_that_dies_of_it_goes_on_at_its_next_start(tmp_path: Path, point: str) -> None:
    home = Home(tmp_path / "home")
    shutil.copytree(HISTORY, home.path, dirs_exist_ok=True)
    home.run(*UP, **NOW)
    with home.daemon(AFTERWORD_CAPTURE_SWEEP="1h", AFTERWORD_FAULT=f"kill@{point}#1", **NOW) as process:
        caller = home.start(*FORGET, **NOW)
        assert process.wait(60) == -signal.SIGKILL
    with home.daemon(AFTERWORD_CAPTURE_SWEEP="1h", **NOW):
        # The caller that waits meets the daemon that came back.
        out, err = caller.communicate(timeout=120)
        assert caller.returncode in (0, 75), (out, err)
        assert "Traceback" not in err
        assert home.json("search", "booking", code=3, **NOW)["results"] == []
    assert holders(home) == []
    assert not planned(home)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("point", ["forget.step", "text.commit", "atomic.fsync", "forget.packed"])
def test_a_full_disk_leaves_it_for_the_next_run(tmp_path: Path, point: str) -> None:
    home = Home(tmp_path / "home")
    shutil.copytree(HISTORY, home.path, dirs_exist_ok=True)
    home.run(*UP, **NOW)
    home.run(*FORGET, code=1, AFTERWORD_FAULT=f"fail@{point}#1", **NOW)
    home.run("ingest", **NOW)
    assert holders(home) == []


def test_a_vault_that_is_away_is_relieved_when_it_is_back(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    shutil.copytree(HISTORY, home.path, dirs_exist_ok=True)
    home.run(*UP, **NOW)
    away = tmp_path / "elsewhere"
    home.vault.rename(away)
    said = home.json(*FORGET, code=1, **NOW)
    assert said["vault_away"] is True
    away.rename(home.vault)
    assert any(name.startswith("Afterword/daily") for name in holders(home))
    home.run(*UP, **NOW)
    assert holders(home) == []


def copy(home: Home, path: Path) -> Home:
    shutil.copytree(home.path, path)
    copied = Home(path)
    copied.env["AFTERWORD_VAULT_PATH"] = str(copied.vault)
    return copied


def planned(home: Home) -> bool:
    with closing(sqlite3.connect(home.state / "ledger.db")) as db:
        return db.execute("SELECT 1 FROM forgetting LIMIT 1").fetchone() is not None


def holders(home: Home) -> list[str]:
    ours = [path for root in (home.state, home.vault) for path in sorted(root.rglob("*")) if path.is_file()]
    return [str(path.relative_to(home.path)) for path in ours if WORD in path.read_bytes().lower()]
