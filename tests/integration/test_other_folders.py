"""Started in somebody's folder, nothing in that folder is run: not by the command, not by its child processes."""

import random
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from homes import Home
from transcripts import telling_session

HOSTILE = ("chromadb", "numpy", "msgspec", "zstandard", "yaml", "hyperscan", "re2", "select", "http", "typing")


def test_modules_in_the_working_folder_are_not_run(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", meaning=True)
    for seed in range(3):
        session = telling_session(random.Random(seed), datetime(2026, 6, 1, tzinfo=UTC), 1)
        path = session.path(home.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(session.lines))
    folder = tmp_path / "project"
    folder.mkdir()
    marker = tmp_path / "was-run"
    for name in HOSTILE:
        (folder / f"{name}.py").write_text(f"open({str(marker)!r}, 'a').write({name!r} + ' ')\n")
    several = {"AFTERWORD_CAPTURE_JOBS": "2", "AFTERWORD_CAPTURE_JOBS_FROM": "0"}
    script = Path(sys.executable).parent / "afterword"
    done = subprocess.run(
        [script, "up", "--once", "--settle", "0", "--json"],
        env=home.env | several, cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not marker.exists(), marker.read_text()
    assert done.returncode == 0, done.stderr
    assert home.json("status")["index"]["semantic"] == "ready"
