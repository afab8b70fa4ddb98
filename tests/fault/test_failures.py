"""The n-th commit, write, sync or rename fails (a full disk): it is named, and a later run completes the work."""

import random
from pathlib import Path

import pytest
from homes import Home
from transcripts import busy_session

POINTS = [
    "ledger.begin#4", "ledger.inside#30", "ledger.commit#3", "ledger.committed#3", "text.commit#1", "text.committed#1",
    "note.append#2", "note.half#1", "note.appended#1", "atomic.write#1", "atomic.fsync#1", "atomic.rename#1",
]  # fmt: skip


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> tuple[Home, str, dict[str, bytes]]:
    home = lay_out(Home(tmp_path_factory.mktemp("calm")))
    home.run("up", "--once", "--settle", "0")
    return home, home.run("doctor", "--fingerprint").stdout, home.vault_bytes()


def lay_out(home: Home) -> Home:
    rng = random.Random(5)
    for session in [busy_session(rng, parts=2) for _ in range(3)]:
        path = session.path(home.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(session.lines))
    return home


@pytest.mark.sampled(8)
@pytest.mark.parametrize("action", ["fail", "kill"])
@pytest.mark.parametrize("point", POINTS)
def test_one_fault_then_a_clean_run(
    point: str, action: str, calm: tuple[Home, str, dict[str, bytes]], tmp_path: Path
) -> None:
    home = lay_out(Home(tmp_path))
    broken = home.run("up", "--once", "--settle", "0", code=None, AFTERWORD_FAULT=f"{action}@{point}")
    if action == "kill":
        assert broken.returncode == -9
    elif broken.returncode:
        assert broken.returncode == 1
        assert "Traceback" not in broken.stderr
        assert "fault injected" in broken.stderr or "could not be read" in broken.stderr
    home.run("up", "--once", "--settle", "0")
    _, fingerprint, _ = calm
    assert home.run("doctor", "--fingerprint").stdout == fingerprint
    assert home.json("status")["pending"] == {"sessions": 0, "texts": 0, "sections": 0}
    vault = home.vault_bytes()
    home.run("up", "--once", "--settle", "0")
    assert home.vault_bytes() == vault


def test_an_unknown_fault_is_refused() -> None:
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-c", "import afterword.store.faults"],
        env={"AFTERWORD_FAULT": "kill@nowhere#1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "cannot read 'kill@nowhere#1'" in done.stderr
