"""Killed, stopped or out of disk in the middle of a first reading by several processes, it goes on and ends equal."""

import os
import random
import signal
import sys
import time
from pathlib import Path

import histories
import pytest
from homes import Home

SEED = int(os.environ.get("AFTERWORD_TEST_SEED", "20261130"))
MANY = {"AFTERWORD_CAPTURE_JOBS": "3", "AFTERWORD_CAPTURE_JOBS_FROM": "0", "AFTERWORD_CAPTURE_PREVIEW_FROM": "0"}
_RNG = random.Random(SEED)
POINTS = [
    *(f"ledger.inside#{_RNG.randrange(1, 1500)}" for _ in range(4)),
    *(f"ledger.{point}#{_RNG.randrange(2, 25)}" for point in ("begin", "commit", "committed")),
]


def lay_out(path: Path) -> Home:
    histories.lay_out(path, SEED, files=8, long_mb=17)
    return Home(path)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> str:
    home = lay_out(tmp_path_factory.mktemp("calm"))
    home.run("ingest", "--jobs", "1")
    return home.run("doctor", "--fingerprint", "--explain").stdout


def workers(home: Path) -> list[int]:
    """The processes beside the program that still run for this home."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            env = (path / "environ").read_bytes().split(b"\0")
            words = (path / "cmdline").read_bytes()
        except OSError:
            continue
        if f"HOME={home}".encode() in env and (b"cold.worker" in words or b"textfill" in words):
            found.append(int(path.name))
    return found


def all_gone(home: Path) -> bool:
    end = time.monotonic() + 60
    while workers(home) and time.monotonic() < end:
        time.sleep(0.05)
    return not workers(home)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("point", POINTS)
def test_killed_it_goes_on_and_no_process_is_left(point: str, calm: str, tmp_path: Path) -> None:
    home = lay_out(tmp_path)
    killed = home.start("ingest", AFTERWORD_FAULT=f"kill@{point}", **MANY)
    killed.communicate(timeout=120)
    assert killed.returncode == -signal.SIGKILL
    assert all_gone(tmp_path)
    home.run("ingest", **MANY)
    assert home.run("doctor", "--fingerprint", "--explain").stdout == calm
    assert home.json("search", "make all")["total"] > 0


def test_a_full_disk_is_said_and_it_goes_on(calm: str, tmp_path: Path) -> None:
    home = lay_out(tmp_path)
    home.run("ingest", code=None, AFTERWORD_FAULT="fail@ledger.commit#4", **MANY)
    assert all_gone(tmp_path)
    home.run("ingest", **MANY)
    assert home.run("doctor", "--fingerprint", "--explain").stdout == calm


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_killed_by_a_signal_or_stopped_with_its_workers_at_work(calm: str, tmp_path: Path) -> None:
    home = lay_out(tmp_path)
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        process = home.start("ingest", **MANY)
        while process.poll() is None and not workers(tmp_path):
            time.sleep(0.02)
        time.sleep(0.5)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
        assert process.returncode in ((0, -signal.SIGKILL) if number == signal.SIGKILL else (0,)), said
        assert "Traceback" not in said
        assert all_gone(tmp_path)
    home.run("ingest", **MANY)
    assert home.run("doctor", "--fingerprint", "--explain").stdout == calm


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_an_interrupted_up_says_so_and_nothing_that_is_not_true(tmp_path: Path) -> None:
    home = lay_out(tmp_path)
    process = home.start("up", "--once", "--settle", "0", **MANY)
    while process.poll() is None and not workers(tmp_path):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    said, worries = process.communicate(timeout=60)
    assert process.returncode == 0, worries
    assert "Stopped before the end. Nothing is lost" in worries
    assert "history was found yet" not in said + worries
    assert "when they rest" not in worries
    assert "--settle 0" not in worries
    assert "stopped" not in home.json("up", "--once", "--settle", "0", **MANY)


def test_nothing_taken_in_yet_is_no_damaged_text(tmp_path: Path) -> None:
    home = Home(tmp_path)  # no agent left anything here: a ledger is made, and nothing comes into it
    home.run("ingest")
    home.run("up", "--once")
    (home.state / "text-0.db").unlink(missing_ok=True)
    checks = {row["name"]: row for row in home.json("doctor", code=None)["checks"]}
    assert checks["full text"]["level"] == "note", checks["full text"]


def test_a_setting_out_of_range_is_named_once(tmp_path: Path) -> None:
    home = Home(tmp_path)
    said = home.run("config", "set", "segment.settle", "5x", code=2).stderr
    assert said.count("segment.settle") == 1, said
