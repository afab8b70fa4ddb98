"""Killed while it takes in databases and documents, the program ends up equal to a run nobody disturbed."""

import os
import shutil
from pathlib import Path

import opencode
import pytest
from homes import Home

POINTS = [
    *((f"ledger.inside#{n}") for n in range(1, 52, 6)),
    *((f"ledger.{point}#{n}") for point in ("begin", "commit", "committed") for n in (1, 3, 4, 6)),
]


def lay_out(home: Path) -> Home:
    opencode.tree(home)
    db = opencode.connect(home / "live" / "opencode.db")
    for statement in opencode.statements("v2"):
        db.execute(statement)
    for name in ("opencode.db", "opencode.db-wal"):
        shutil.copy(home / "live" / name, opencode.data_folder(home) / name)
    db.close()
    shutil.rmtree(home / "live")
    return Home(home)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> str:
    home = lay_out(tmp_path_factory.mktemp("calm"))
    home.run("ingest")
    return home.run("doctor", "--fingerprint", "--explain").stdout


@pytest.mark.parametrize("point", POINTS)
def test_killed_once_then_run_again(point: str, calm: str, tmp_path: Path) -> None:
    home = lay_out(tmp_path)
    killed = home.start("ingest", AFTERWORD_FAULT=f"kill@{point}")
    killed.communicate(timeout=120)
    assert killed.returncode != 0
    assert list(Path("/dev/shm").glob(f"afterword-copy-{killed.pid}-*")) == []
    assert list(home.state.glob("afterword-copy-*")) == []
    home.run("ingest")
    assert home.run("doctor", "--fingerprint", "--explain").stdout == calm
    assert sorted(os.listdir(opencode.data_folder(tmp_path))) == ["opencode.db", "opencode.db-wal", "storage"]
