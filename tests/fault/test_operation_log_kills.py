"""Killed while an operation log is taken in, half of it before and half after, the program ends as one pass ends."""

import shutil
import signal
from pathlib import Path

import pytest
from homes import FIXTURES, Home

HARNESSES = ["gemini-cli", "antigravity", "grok-build"]
POINTS = ["ledger.inside#4", "ledger.inside#17", "ledger.commit#3", "ledger.committed#3", "ledger.inside#29"]


def fingerprint(home: Home) -> str:
    home.run("ingest")
    return home.run("doctor", "--fingerprint").stdout


@pytest.mark.parametrize("harness", HARNESSES)
def test_killed_between_and_inside_transactions(harness: str, tmp_path: Path) -> None:
    calm, killed = Home(tmp_path / "calm"), Home(tmp_path / "killed")
    calm.sample(harness)
    wanted = fingerprint(calm)

    killed.sample(harness)
    logs = [path for path in sorted(killed.path.rglob("*.jsonl")) if path.stat().st_size]
    whole = {path: path.read_bytes() for path in logs}
    deaths = 0
    for n, point in enumerate(POINTS, 1):
        for path, data in whole.items():
            path.write_bytes(data[: len(data) * n // len(POINTS)])
        done = killed.run("ingest", code=None, AFTERWORD_FAULT=f"kill@{point}")
        deaths += done.returncode == -signal.SIGKILL
    assert deaths >= 3
    assert fingerprint(killed) == wanted
    shutil.rmtree(killed.path / next(FIXTURES.joinpath("harness", harness).glob(".*")).name)
    assert fingerprint(killed) == wanted
