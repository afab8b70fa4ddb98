"""A search from the command line beside an index run: it takes no lock, and says when only exact words answered."""

import json
import random
import sqlite3
from pathlib import Path

import pytest
from homes import Home
from transcripts import ClaudeSession

from afterword.index import keeper
from afterword.store.lock import writer_lock


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path, meaning=True)
    session = ClaudeSession(random.Random(1), session="session-1")
    session.prompt("Why do the background jobs hang every Monday?")
    session.reply("Each worker opens a pool of its own, so the database runs out of connections.")
    path = session.path(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(session.lines))
    made.run("up", "--once", "--settle", "0")
    return made


def test_a_search_takes_none_of_the_locks_a_writer_and_an_index_run_hold(home: Home) -> None:
    asked = ("search", "why do the workers run out of database connections")
    before = home.json(*asked)
    assert before["semantic"] == "ready"
    assert before["answered_by"] == "here"
    with writer_lock(home.state, "index"), keeper.lock(home.state):
        db = sqlite3.connect(home.state / "index.db", isolation_level=None)
        db.execute("BEGIN IMMEDIATE")
        beside = home.json(*asked)
        db.execute("ROLLBACK")
        db.close()
    assert beside == before


def test_half_an_index_is_not_searched_and_it_is_said(home: Home) -> None:
    db = sqlite3.connect(home.state / "index.db")
    with db:
        db.execute("UPDATE build SET complete = 0")
    db.close()
    done = home.run("search", "workers opening pools", "--json")
    found = json.loads(done.stdout)
    assert found["semantic"] == "building"
    assert found["results"]
    assert all(row["why"] == ["exact"] for row in found["results"])
    said = home.run("search", "workers opening pools")
    assert "the index for search by meaning is being made" in said.stderr
