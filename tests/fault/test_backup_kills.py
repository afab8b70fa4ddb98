"""Killed at any point of a backup or a restore: it is whole or absent, and the next run goes on."""

import os
import random
import shutil
import signal
import sqlite3
from pathlib import Path

import pytest
from homes import Home

import afterword

KILLS = int(os.environ.get("AFTERWORD_TEST_BACKUP_KILLS", "4"))
SEED = int(os.environ.get("AFTERWORD_TEST_SEED", "20260611"))
HISTORY = Path(afterword.__file__).parent / "demo" / "history"
NOW = {"AFTERWORD_NOW": "2026-06-11T12:00:00Z"}
UP = ("up", "--once", "--settle", "0")
DEAD = -signal.SIGKILL


def half_and_whole(path: Path) -> tuple[Home, str, str, str]:
    """A home with a backup of a part of the history and all of it taken in: (home, backup, fingerprints of both)."""
    home = Home(path)
    shutil.copytree(HISTORY / ".claude", home.path / ".claude")
    home.run(*UP, **NOW)
    early = home.run("doctor", "--fingerprint").stdout
    backup = home.json("backup", **NOW)["file"]
    shutil.copytree(HISTORY, home.path, dirs_exist_ok=True)
    home.run(*UP, **NOW)
    late = home.run("doctor", "--fingerprint").stdout
    assert early != late
    return home, backup, early, late


def test_a_killed_backup_is_absent_or_whole(tmp_path: Path) -> None:
    home, _, _, late = half_and_whole(tmp_path / "home")
    target = tmp_path / "b.db.zst"
    for point in ("backup.copy", "backup.pack", "backup.written", "backup.placed"):
        home.run("backup", str(target), code=DEAD, AFTERWORD_FAULT=f"kill@{point}#1", **NOW)
        if point == "backup.placed":
            assert home.json("restore", str(target))["manifest"]["items"] > 0
        else:
            assert not target.exists(), point
        # Where it was to be is known, so that `forget` looks there.
        with sqlite3.connect(home.state / "ledger.db") as db:
            assert db.execute("SELECT count(*) FROM backup WHERE path = ?", (str(target),)).fetchone() == (1,)
        # The next writer takes away what was left, which may hold what is to be forgotten.
        home.run("ingest", "--harness", "pi", **NOW)
        assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".tmp")] == []
        assert not list(home.state.glob(".copy-*"))
        target.unlink(missing_ok=True)
        home.run("backup", str(target), **NOW)
        assert not list(home.state.glob(".copy-*"))
        home.json("restore", str(target))
        target.unlink()
        assert home.run("doctor", "--fingerprint").stdout == late
    assert home.json("backup", str(target), code=1, AFTERWORD_FAULT="fail@backup.pack#1")["error"]
    assert not target.exists()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "point", ["restore.ready", "restore.aside", "restore.placed", "ledger.inside", "ledger.commit"]
)
def test_a_killed_restore_is_the_old_ledger_or_the_new_one(tmp_path: Path, point: str) -> None:
    home, backup, early, late = half_and_whole(tmp_path / "home")
    home.run("restore", backup, "--yes", code=DEAD, AFTERWORD_FAULT=f"kill@{point}#1", **NOW)
    home.run("ingest", "--harness", "pi", **NOW)
    found = home.run("doctor", "--fingerprint").stdout
    assert found == (early if point == "restore.placed" else late)
    home.run("restore", backup, "--yes", **NOW)
    assert home.run("doctor", "--fingerprint").stdout == early
    assert not list(home.state.glob("*before-restore*"))
    assert not list(home.state.glob(".copy-*"))
    home.run(*UP, **NOW)
    assert home.run("doctor", "--fingerprint").stdout == late


def test_kills_at_random_instants_of_a_restore(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    home, backup, early, late = half_and_whole(tmp_path / "home")
    for _ in range(KILLS):
        process = home.start("restore", backup, "--yes", **NOW)
        try:
            process.wait(rng.uniform(0.3, 2.5))
        except Exception:  # noqa: BLE001  # it is still at work
            process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        assert home.run("doctor", "--fingerprint").stdout in (early, late)
    home.run("restore", backup, "--yes", **NOW)
    home.run(*UP, **NOW)
    assert home.run("doctor", "--fingerprint").stdout == late
