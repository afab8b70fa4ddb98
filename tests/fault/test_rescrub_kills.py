"""Killed at random points of a re-scrub, the next run ends where an undisturbed one does, and nothing is left."""

import contextlib
import os
import random
import shutil
import signal
import sqlite3
from pathlib import Path

from homes import Home

import afterword

KILLS = int(os.environ.get("AFTERWORD_TEST_RESCRUB_KILLS", "8"))
SEED = int(os.environ.get("AFTERWORD_TEST_SEED", "20260612"))
HISTORY = Path(afterword.__file__).parent / "demo" / "history"
NOW = {"AFTERWORD_NOW": "2026-06-11T12:00:00Z"}
EXTRA = {"AFTERWORD_REDACT_EXTRA": "(?i)booking[a-z]*"}
WORD = b"booking"
EXPLAIN = ("doctor", "--fingerprint", "--explain")
UP = ("up", "--once", "--settle", "0")

# (point, how often it is reached at most in the re-scrub of the sample history)
POINTS = (
    ("rescrub.step", 12),
    ("rescrub.rows", 1),
    ("rescrub.text", 1),
    ("rescrub.note", 2),
    ("rescrub.vault", 1),
    ("rescrub.index", 1),
    ("ledger.inside", 40),
    ("ledger.commit", 14),
    ("ledger.committed", 14),
    ("text.commit", 1),
    ("text.committed", 1),
    ("article.plan", 1),
    ("article.written", 1),
    ("atomic.write", 3),
    ("atomic.rename", 3),
    ("note.half", 1),
)


def test_kills_inside_a_rescrub_leave_no_difference(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    first = Home(tmp_path / "first")
    shutil.copytree(HISTORY, first.path, dirs_exist_ok=True)
    first.run(*UP, **NOW)
    calm = copy(first, tmp_path / "calm")
    calm.run(*UP, **NOW, **EXTRA)
    wanted, notes = calm.run(*EXPLAIN, **EXTRA).stdout, calm.vault_bytes()
    killed = 0
    while killed < KILLS:
        home = copy(first, tmp_path / f"home{killed}")
        # A home is killed several times over, each time going on from what the kill before left.
        for _ in range(min(rng.randrange(1, 5), KILLS - killed)):
            point, most = POINTS[killed % len(POINTS)] if killed < len(POINTS) else rng.choice(POINTS)
            spec = f"kill@{point}#{rng.randrange(1, most + 1)}"
            done = home.run(*UP, code=None, AFTERWORD_FAULT=spec, **NOW, **EXTRA)
            assert done.returncode in (0, -signal.SIGKILL), (spec, done.stderr)
            assert "Traceback" not in done.stderr, done.stderr
            assert readable(home), spec
            killed += 1
        home.run(*UP, **NOW, **EXTRA)
        assert home.run(*EXPLAIN, **EXTRA).stdout == wanted
        assert holders(home) == []
        assert home.vault_bytes() == notes
        shutil.rmtree(home.path)


def test_a_kill_between_full_text_and_ledger_leaves_no_posting(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    shutil.copytree(HISTORY, home.path, dirs_exist_ok=True)
    home.run(*UP, **NOW)
    home.run("ingest", code=-signal.SIGKILL, AFTERWORD_FAULT="kill@text.committed#1", **NOW, **EXTRA)
    home.run("ingest", **NOW, **EXTRA)
    assert holders(home) == []
    with sqlite3.connect(home.state / "ledger.db") as db:
        assert db.execute("SELECT count(*) FROM text_pending").fetchone()[0] == 0


def test_a_full_disk_leaves_it_for_the_next_run(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    shutil.copytree(HISTORY, home.path, dirs_exist_ok=True)
    home.run(*UP, **NOW)
    for spec in ("fail@rescrub.step#3", "fail@text.commit#1", "fail@atomic.fsync#1"):
        home.run("ingest", code=1, AFTERWORD_FAULT=spec, **NOW, **EXTRA)
    home.run("ingest", **NOW, **EXTRA)
    assert holders(home) == []


def copy(home: Home, path: Path) -> Home:
    shutil.copytree(home.path, path)
    copied = Home(path)
    copied.env["AFTERWORD_VAULT_PATH"] = str(copied.vault)
    return copied


def readable(home: Home) -> bool:
    """Whether an older program could go on: the ledger is whole and names rules that all its rows went through."""
    with sqlite3.connect(home.state / "ledger.db") as db:
        return bool(db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")


def holders(home: Home) -> list[str]:
    found = []
    for path in (path for root in (home.state, home.vault) for path in sorted(root.rglob("*")) if path.is_file()):
        with contextlib.suppress(FileNotFoundError):  # a log that the last to close a database took away
            if WORD in path.read_bytes().lower():
                found.append(str(path.relative_to(home.path)))
    return found
