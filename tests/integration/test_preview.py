"""During a large first reading what was said is found before its file is read, and each thing once."""

import os
import random
import sqlite3
from pathlib import Path
from typing import Any

import histories
import pytest
from homes import Home
from transcripts import ClaudeSession, CodexSession

SEED = int(os.environ.get("AFTERWORD_TEST_SEED", "20261201"))
AHEAD = {
    "AFTERWORD_CAPTURE_JOBS": "3",
    "AFTERWORD_CAPTURE_JOBS_FROM": "0",
    "AFTERWORD_CAPTURE_PREVIEW_FROM": "0",
}
WHOLE = "preview.whole#1"


def lay_out(home: Path) -> None:
    rng = random.Random(SEED)
    for n in range(6):
        session: ClaudeSession | CodexSession
        session = ClaudeSession(rng, cwd=f"/srv/orchard{n % 2}") if n % 3 else CodexSession(rng, cwd="/srv/mill")
        session.prompt(f"why does the gribble{n} pump stall? {histories.PLANTED[0]}")
        session.command("make all", "the gribble said nothing")
        session.reply(f"Decided: the gribble{n} valve opens first, see resolveGribblePath")
        histories.write(home, session)
    histories.rest(home)


def killed(home: Home, point: str = WHOLE, code: int = -9, **env: str) -> None:
    """A first reading, killed at a point: what it left is what a search meanwhile would have seen. With code 0 it does
    not get there: nothing is previewed."""
    process = home.start("ingest", **AHEAD, AFTERWORD_FAULT=f"kill@{point}", **env)
    process.communicate(timeout=120)
    assert process.returncode == code


def said(found: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    """What was found of what people and agents said, by id."""
    rows = [row for row in found["results"] if row["item_kind"] in ("prompt", "reply")]
    assert len({row["id"] for row in rows}) == len(rows)
    keys = ("item_kind", "role", "title", "snippet", "session", "harness", "project", "time", "why")
    return {row["id"]: tuple(row[key] if key != "why" else tuple(row[key]) for key in keys) for row in rows}


@pytest.mark.parametrize("point", [WHOLE, "ledger.committed#18"])
def test_what_was_said_is_found_before_it_is_read(point: str, tmp_path: Path) -> None:
    lay_out(tmp_path)
    home = Home(tmp_path)
    killed(home, point)
    early = home.json("search", "gribble*", "-n", "100")
    assert not early["complete"]
    narrowed = {
        words: said(home.json("search", "gribble*", "-n", "100", *words))
        for words in (("--project", "mill"), ("--harness", "codex"), ("--role", "user"), ("--kind", "reply"))
    }
    phrase = said(home.json("search", '"gribble3 valve opens"'))
    part = said(home.json("search", "resolveGribblePath"))
    home.run("ingest", **AHEAD)
    assert not list(home.state.glob("preview.db*"))
    whole = home.json("search", "gribble*", "-n", "100")
    assert whole["complete"]
    assert len(said(whole)) == 12
    assert said(early) == said(whole)
    for words, found in narrowed.items():
        assert found
        assert found == said(home.json("search", "gribble*", "-n", "100", *words))
    assert phrase == said(home.json("search", '"gribble3 valve opens"'))
    assert len(part) == 6
    assert early["total"] >= 12


@pytest.mark.parametrize("point", ["ledger.commit#19"])
def test_nothing_is_counted_twice_while_it_is_read(point: str, tmp_path: Path) -> None:
    lay_out(tmp_path)
    home = Home(tmp_path)
    killed(home, point)
    found = home.json("search", "gribble3", "-n", "100")
    assert found["total"] == len(found["results"]) == 2


def test_no_secret_is_in_it(tmp_path: Path) -> None:
    lay_out(tmp_path)
    home = Home(tmp_path)
    killed(home)
    assert (home.state / "preview.db").stat().st_mode & 0o077 == 0
    for path in home.state.glob("preview.db*"):
        assert histories.SECRET.encode() not in path.read_bytes()
    assert home.json("search", "AWS_ACCESS_KEY_ID")["total"] == 6


def previewed(home: Home) -> int:
    if not (home.state / "preview.db").exists():
        return 0
    with sqlite3.connect(home.state / "preview.db") as db:
        count: int = db.execute("SELECT count(*) FROM said").fetchone()[0]
    return count


def test_where_anything_is_left_out_nothing_is_previewed(tmp_path: Path) -> None:
    lay_out(tmp_path)
    home = Home(tmp_path)
    killed(home, code=0, AFTERWORD_CAPTURE_EXCLUDE_PROJECTS="orchard1")
    assert home.json("search", "gribble0")["total"] == 2


def test_a_folder_left_out_on_the_way_ends_it(tmp_path: Path) -> None:
    lay_out(tmp_path)
    rng = random.Random(SEED)
    out = tmp_path / "work" / "hidden"
    out.mkdir(parents=True)
    (out / ".afterwordignore").write_text("")
    session = ClaudeSession(rng, cwd="/srv/orchard0")
    session.prompt("the gribble is public here")
    session.lines.append(session.lines[-1].replace(b"/srv/orchard0", str(out).encode()).replace(b"public", b"covert"))
    histories.write(tmp_path, session)
    histories.rest(tmp_path)
    home = Home(tmp_path)
    killed(home)
    assert previewed(home) == 0
    home.run("ingest", **AHEAD)
    assert home.json("search", "covert", code=3)["total"] == 0
    assert home.json("search", "public")["total"] == 1


def test_after_something_was_forgotten_nothing_is_previewed(tmp_path: Path) -> None:
    lay_out(tmp_path)
    home = Home(tmp_path)
    home.run("ingest", **AHEAD)
    first = home.json("search", "gribble1")["results"][0]["session"]
    home.run("forget", first, "--yes")
    rng = random.Random(SEED + 1)
    session = ClaudeSession(rng, cwd="/srv/late")
    session.prompt("a late gribble")
    histories.write(tmp_path, session)
    killed(home, code=0)
    assert home.json("search", "late")["total"] == 1
