"""Killed at random points of a compile, the next one ends up equal to a run nobody disturbed."""

import os
import random
import shutil
import signal
from pathlib import Path

from homes import Home

import afterword

KILLS = int(os.environ.get("AFTERWORD_TEST_COMPILE_KILLS", "6"))
SEED = int(os.environ.get("AFTERWORD_TEST_SEED", "20260611"))
HISTORY = Path(afterword.__file__).parent / "demo" / "history"
NOW = {"AFTERWORD_NOW": "2026-06-11T12:00:00Z"}
EXPLAIN = ("doctor", "--fingerprint", "--explain")

# (point, how often it is reached at most in a compile of the sample history)
POINTS = (
    ("build.article", 9),
    ("build.commit", 3),
    ("build.committed", 3),
    ("article.plan", 9),
    ("article.written", 9),
    ("build.files", 1),
    ("build.log", 1),
    ("atomic.write", 9),
    ("atomic.rename", 9),
    ("ledger.commit", 8),
    ("ledger.committed", 8),
)


def test_kills_inside_a_compile_leave_no_difference(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    calm = history(tmp_path / "calm")
    calm.run("compile", **NOW)
    wanted = calm.run(*EXPLAIN).stdout
    killed = 0
    while killed < KILLS:
        home = history(tmp_path / f"home{killed}")
        # A home is killed several times over, each time going on from what the kill before left.
        for _ in range(min(rng.randrange(1, 4), KILLS - killed)):
            point, most = POINTS[killed % len(POINTS)] if killed < len(POINTS) else rng.choice(POINTS)
            spec = f"kill@{point}#{rng.randrange(1, most + 1)}"
            done = home.run("compile", code=None, AFTERWORD_FAULT=spec, **NOW)
            assert done.returncode in (0, -signal.SIGKILL), (spec, done.stderr)
            assert "Traceback" not in done.stderr, done.stderr
            killed += 1
            assert whole(home), spec
        home.run("compile", **NOW)
        assert home.run(*EXPLAIN).stdout == wanted
        assert notes(home) == notes(calm)
        first = home.vault_bytes()
        home.run("compile", **NOW)
        assert home.vault_bytes() == first
        assert home.json("lint")["faults"] == []
        shutil.rmtree(home.path)


def test_a_full_disk_leaves_the_day_for_the_next_run(tmp_path: Path) -> None:
    calm = history(tmp_path / "calm")
    calm.run("compile", **NOW)
    home = history(tmp_path / "home")
    for spec in ("fail@build.commit#1", "fail@atomic.fsync#2", "fail@article.written#1"):
        home.run("compile", code=1, AFTERWORD_FAULT=spec, **NOW)
    home.run("compile", **NOW)
    assert home.run(*EXPLAIN).stdout == calm.run(*EXPLAIN).stdout
    assert notes(home) == notes(calm)


def history(path: Path) -> Home:
    """The sample history in daily notes, not compiled yet."""
    home = Home(path)
    shutil.copytree(HISTORY, path, dirs_exist_ok=True)
    home.run("up", "--once", "--settle", "0", AFTERWORD_COMPILE_MIN_WORDS="1000000", **NOW)
    return home


def notes(home: Home) -> dict[str, bytes]:
    return {name: data for name, data in home.vault_bytes().items() if name.startswith("knowledge/")}


def whole(home: Home) -> bool:
    """Whether every article's file is whole: it ends with its last source line."""
    return all(
        data.endswith(b"\n") and b"## Sources\n" in data
        for name, data in notes(home).items()
        if name.startswith("knowledge/concepts/") and "/." not in name
    )
