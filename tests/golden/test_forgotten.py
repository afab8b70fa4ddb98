"""In every agent's sample store: what is forgotten stays away when every source is read again from its start, and a new
ledger that knows the tombstones gives the same."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from catalogue import Entry, every_entry
from decoding import assert_gone
from homes import Home

UP = ("up", "--once", "--settle", "0")


def lines(home: Home) -> list[str]:
    said = home.run("doctor", "--fingerprint", "--explain").stdout.splitlines()
    return [line for line in said if not line.startswith("article")]


def read_again(home: Home) -> None:
    """Have every source read from its start, as when its past was rewritten."""
    with closing(sqlite3.connect(home.state / "ledger.db")) as db, db:
        db.execute(
            "UPDATE source SET size = -1, mtime_ns = 0, offset = 0, lines = 0, state = '', open_tail = -1,"
            " open_hash = x'', version = '', generation = generation + 1"
        )


@pytest.mark.sampled(5)
@every_entry
def test_a_forgotten_word_stays_away(entry: Entry, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.env |= entry.variables(home.path)
    entry.lay_out(home.path)
    home.run(*UP)
    assert home.json("search", entry.word)["total"] > 1
    home.run("forget", "--match", entry.word, "--yes")
    assert_gone(home, entry.word)
    home.run(*UP)
    wanted = lines(home)
    read_again(home)
    home.run(*UP)
    assert_gone(home, entry.word)
    assert lines(home) == wanted

    fresh = Home(tmp_path / "fresh")
    fresh.env |= entry.variables(fresh.path)
    entry.lay_out(fresh.path)
    fresh.state.mkdir(parents=True)
    shutil.copyfile(home.state / "forgotten.jsonl", fresh.state / "forgotten.jsonl")
    fresh.run(*UP)
    assert_gone(fresh, entry.word)
    own = str(home.path)
    assert [line for line in lines(fresh) if own not in line] == [line for line in wanted if own not in line]


@pytest.mark.sampled(5)
@every_entry
def test_a_forgotten_session_stays_away(entry: Entry, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.env |= entry.variables(home.path)
    entry.lay_out(home.path)
    home.run(*UP)
    with closing(sqlite3.connect(home.state / "ledger.db")) as db:
        (its_id,) = db.execute(
            "SELECT s.id FROM membership m JOIN session s ON s.row = m.session"
            " GROUP BY s.row ORDER BY count(*) DESC, s.id"
        ).fetchone()
    home.run("forget", its_id, "--yes")
    home.run("show", its_id, code=3)
    before = lines(home)
    read_again(home)
    home.run(*UP)
    assert lines(home) == before
    home.run("show", its_id, code=3)
    with closing(sqlite3.connect(home.state / "ledger.db")) as db:
        held = db.execute(
            "SELECT count(*) FROM membership m JOIN session s ON s.row = m.session WHERE s.id = ? AND m.state < 3",
            (its_id,),
        ).fetchone()
    assert held == (0,)
