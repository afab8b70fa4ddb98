"""Newer rules over a history that is there: nothing they find is left in any byte, and it equals a fresh ingest."""

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from homes import Home

import afterword
from afterword.app import program as composition
from afterword.app.config import load
from afterword.app.program import writer
from afterword.domain.registers import Rank
from afterword.redact import redactor as redacting
from afterword.store.ledger import masked
from afterword.store.ledger.ledger import open_reader

HISTORY = Path(afterword.__file__).parent / "demo" / "history"
NOW = {"AFTERWORD_NOW": "2026-06-11T12:00:00Z"}
WORD = b"booking"
EXTRA = {"AFTERWORD_REDACT_EXTRA": "(?i)booking[a-z]*"}
EXPLAIN = ("doctor", "--fingerprint", "--explain")
UP = ("up", "--once", "--settle", "0")


def history(path: Path, *, meaning: bool = False, **env: str) -> Home:
    home = Home(path, meaning=meaning)
    shutil.copytree(HISTORY, path, dirs_exist_ok=True)
    home.run(*UP, **NOW, **env)
    return home


def holders(home: Home) -> list[str]:
    """The files of ours that hold the word, in any case."""
    ours = [path for root in (home.state, home.vault) for path in sorted(root.rglob("*")) if path.is_file()]
    return [str(path.relative_to(home.path)) for path in ours if WORD in path.read_bytes().lower()]


def test_a_pattern_added_later_leaves_no_byte_and_equals_a_fresh_ingest(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    fresh = history(tmp_path / "fresh", **EXTRA)
    assert len(holders(home)) >= 4
    before = home.json("search", "berth", **NOW)["results"]
    said = home.run("ingest", **NOW, **EXTRA)
    # Where the ordinary way takes over, nothing of it is left already.
    assert holders(home) == [], said
    home.run(*UP, **NOW, **EXTRA)
    assert holders(home) == []
    assert home.run(*EXPLAIN, **EXTRA).stdout == fresh.run(*EXPLAIN, **EXTRA).stdout
    assert home.json("search", "booking", code=3, **NOW)["results"] == []
    assert home.json("search", "berth", **NOW, **EXTRA)["results"]
    assert before
    first = home.vault_bytes()
    home.run(*UP, **NOW, **EXTRA)
    assert home.vault_bytes() == first


def test_the_same_rules_again_change_nothing(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    dump, vault = rows(home), home.vault_bytes()
    with sqlite3.connect(home.state / "ledger.db") as db:
        db.execute("UPDATE meta SET value = '0' WHERE key = 'rules_version'")
    home.run("ingest", **NOW)
    assert rows(home) == dump
    assert home.vault_bytes() == vault
    home.run(*UP, **NOW)
    assert home.vault_bytes() == vault


def rows(home: Home) -> list[str]:
    with sqlite3.connect(home.state / "ledger.db") as db:
        return list(db.iterdump())


def test_what_a_person_wrote_stays(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    mine = b"My own line about bookings.\n"
    daily = next(path for path in sorted((home.vault / "daily").glob("*.md")) if WORD in path.read_bytes())
    daily.write_bytes(daily.read_bytes() + b"\n## Mine\n\n" + mine)
    article = next(
        path for path in sorted((home.vault / "knowledge/concepts").glob("*.md")) if WORD in path.read_bytes()
    )
    article.write_bytes(article.read_bytes() + b"\n## Mine\n\n" + mine)
    loose = home.vault / "bookings.md"
    loose.write_bytes(mine)
    before = daily.read_bytes()
    home.run(*UP, **NOW, **EXTRA)
    assert loose.read_bytes() == mine
    assert sorted(holders(home)) == sorted(str(path.relative_to(home.path)) for path in (daily, article, loose))
    after = daily.read_bytes()
    assert after.lower().count(WORD) == article.read_bytes().lower().count(WORD) == 1
    # Line for line: what is not ours, or holds nothing, is as it was; a new revision comes behind.
    masked_lines = [
        (old, new)
        for old, new in zip(before.split(b"\n"), after.split(b"\n"), strict=False)
        if old != new and old != mine.rstrip()
    ]
    assert masked_lines
    assert all(WORD in old.lower() and b"redacted:extra" in new for old, new in masked_lines)
    assert b"-r2" in after.removeprefix(before[:100])


def test_revisions_ranks_and_counts(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    with sqlite3.connect(home.state / "ledger.db") as db:
        ids = {row[0] for row in db.execute("SELECT id FROM item")}
        head = db.execute("SELECT max(n) FROM log").fetchone()[0]
    home.run("ingest", **NOW, **EXTRA)
    ledger = open_reader(home.state)
    changed = ledger.db.execute(
        "SELECT row, rev, rank FROM item WHERE rev > 1 AND rank = ?", (Rank.PARTIAL,)
    ).fetchall()
    assert changed
    assert {row[0] for row in ledger.db.execute("SELECT id FROM item")} == ids
    for row, rev, _ in changed:
        assert ledger.db.execute("SELECT 1 FROM log WHERE n > ? AND kind = 3 AND ref = ? AND rev = ?", (head, row, rev))
    # A person's words keep their rank, or lose it to what another machine still has of them, never to an engine.
    assert ledger.db.execute("SELECT count(*) FROM register WHERE kind = 10 AND rank = 1").fetchone()[0]
    counts = masked.counts(ledger)
    assert counts["extra"] >= len(changed)
    assert ledger.db.execute("SELECT count(*) FROM meta WHERE key = 'rescrub'").fetchone()[0] == 0
    ledger.close()
    said = home.run("doctor", **NOW, **EXTRA, code=None).stdout
    assert f"{counts['extra']:,} extra" in said
    assert "booking" not in said
    stale = home.run("doctor", **NOW, code=None).stdout
    assert "went through other rules" in stale


def test_a_reader_shows_nothing_that_is_not_masked_yet(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    assert "booking" in home.run("search", "booking", **NOW).stdout.lower()
    for words in (("search", "booking"), ("search", "booking", "--json")):
        said = home.run(*words, **NOW, **EXTRA)
        assert "[redacted:extra]" in said.stdout
        assert "booking" not in json.loads(said.stdout)["results"][0]["snippet"].lower() if "--json" in words else True
        assert said.stdout.lower().count("booking") <= 1 + ("--json" not in words) * 0, said.stdout


def test_a_vault_that_is_away_is_masked_when_it_is_back(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    away = tmp_path / "elsewhere"
    home.vault.rename(away)
    home.run("ingest", **NOW, **EXTRA)
    away.rename(home.vault)
    assert any(name.startswith("Afterword/daily") for name in holders(home))
    home.run("ingest", **NOW, **EXTRA)
    assert holders(home) == []


def test_the_index_holds_nothing_of_it(tmp_path: Path) -> None:
    home = history(tmp_path / "home", meaning=True)
    assert any("chroma" in name for name in holders(home))
    home.run("ingest", **NOW, **EXTRA)
    assert holders(home) == []
    home.run(*UP, **NOW, **EXTRA)
    assert holders(home) == []
    assert home.json("status", **NOW, **EXTRA)["index"]["semantic"] == "ready"
    assert home.json("search", "how long is a berth", **NOW, **EXTRA)["results"]


def test_newer_built_in_rules_are_a_newer_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = history(tmp_path / "home")
    for name, value in home.env.items():
        monkeypatch.setenv(name, value)
    env = home.env | NOW
    with sqlite3.connect(home.state / "ledger.db") as db:
        number = db.execute("SELECT value FROM meta WHERE key = 'rules_version'").fetchone()[0]
    monkeypatch.setattr(redacting, "RULES_VERSION", int(number) + 1)
    told: list[tuple[int, int]] = []
    work = composition.rescrub.Rescrub
    real = work.rows
    monkeypatch.setattr(work, "rows", lambda self, tell: real(self, lambda done, all_: told.append((done, all_))))
    with writer(load(), env, "up") as program:
        assert program.ledger.meta("rules_version") == str(int(number) + 1)
    assert told
    assert told[-1][0] == told[-1][1] > 0
    told.clear()
    with writer(load(), env, "up"):
        assert told == []


def test_the_version_tells_nothing_of_a_pattern(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    home.run("ingest", **NOW, **EXTRA)
    with sqlite3.connect(home.state / "ledger.db") as db:
        first = db.execute("SELECT value FROM meta WHERE key = 'rules_version'").fetchone()[0]
    assert "book" not in first
    other = history(tmp_path / "other")
    other.run("ingest", **NOW, **EXTRA)
    with sqlite3.connect(other.state / "ledger.db") as db:
        # Keyed: equal patterns on two machines look different.
        assert db.execute("SELECT value FROM meta WHERE key = 'rules_version'").fetchone()[0] != first


def test_what_is_only_allowed_no_more_is_masked(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    project = home.path / ".claude/projects/-srv-x"
    project.mkdir(parents=True)
    line = {
        "type": "user", "uuid": "4b1f0c2e-0000-4000-8000-0000000000aa", "sessionId": "s1", "cwd": "/srv/x",
        "timestamp": NOW["AFTERWORD_NOW"],
        "message": {"role": "user", "content": "the password: hunter2x is for the tests"},
    }  # fmt: skip
    (project / "s1.jsonl").write_text(json.dumps(line) + "\n")
    home.run(*UP, **NOW, AFTERWORD_REDACT_ALLOW="hunter2x")
    shown = home.json("search", "tests", **NOW, AFTERWORD_REDACT_ALLOW="hunter2x")["results"]
    assert "hunter2x" in shown[0]["snippet"]
    home.run("ingest", **NOW)
    with sqlite3.connect(home.state / "ledger.db") as db:
        assert db.execute("SELECT count(*) FROM item WHERE text LIKE '%hunter2x%'").fetchone()[0] == 0
