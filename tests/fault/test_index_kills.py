"""Killed inside the index's writes, the next run repairs it by itself and ends where a calm one ends."""

import os
import random
import shutil
import signal
from pathlib import Path

import pytest
from homes import Home
from transcripts import busy_session

from afterword.index import manifest
from afterword.index.keeper import FOLDER
from afterword.index.keeping import open_client
from afterword.index.standing import SIGNATURES, collection_name

KILLS = int(os.environ.get("AFTERWORD_TEST_INDEX_KILLS", "5"))
SEED = int(os.environ.get("AFTERWORD_TEST_SEED", "20260302"))
POINTS = ("index.upsert", "index.half", "index.upserted", "index.manifest")


def held(home: Home) -> dict[str, str]:
    """Every id in Chroma with its text; the manifest lists exactly these."""
    name = collection_name(SIGNATURES["local"])
    client = open_client(home.state / FOLDER)
    try:
        found = client.get_collection(name, embedding_function=None).get(include=["documents"])
    finally:
        client.close()
    listed = manifest.open_reader(home.state)
    assert listed is not None
    build = listed.build(name)
    assert build is not None
    assert listed.chunk_ids(build) == set(found["ids"])
    listed.close()
    return dict(zip(found["ids"], found["documents"], strict=True))


@pytest.mark.slow
def test_kills_inside_the_index_leave_no_difference(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    home, calm = Home(tmp_path / "disturbed", meaning=True), Home(tmp_path / "calm", meaning=True)
    home.run("init", "--yes")
    done = 0
    for number in range(KILLS):
        session = busy_session(rng, parts=2)
        path = session.path(home.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(session.lines))
        spec = f"kill@{POINTS[number % len(POINTS)]}#1"
        killed = home.run("up", "--once", "--settle", "0", code=None, AFTERWORD_FAULT=spec)
        done += killed.returncode == -signal.SIGKILL
        assert killed.returncode in (0, -signal.SIGKILL), killed.stderr
        assert home.run("search", "deploy", "--json", code=None).returncode in (0, 3)
    assert done == KILLS
    home.run("up", "--once", "--settle", "0")
    for store in (".claude", ".codex"):
        if (home.path / store).exists():
            shutil.copytree(home.path / store, calm.path / store)
    calm.run("init", "--yes")
    calm.run("up", "--once", "--settle", "0")
    assert held(home) == held(calm)
