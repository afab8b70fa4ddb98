"""An agent deletes its own transcripts: `doctor` says when, and what was taken in stays."""

import json
import os
import random
from datetime import UTC, datetime
from pathlib import Path

from homes import Home
from transcripts import ClaudeSession

NOW = "2026-06-10T12:00:00Z"


def write(home: Home, n: int, days_old: float) -> Path:
    session = ClaudeSession(random.Random(n), session=f"session-{n}")
    session.prompt(f"Question {n} about the zebra.")
    session.reply(f"Answer {n} about the zebra.")
    path = session.path(home.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(session.lines))
    at = datetime(2026, 6, 10, 12, tzinfo=UTC).timestamp() - days_old * 86400
    os.utime(path, (at, at))
    return path


def retention(home: Home) -> tuple[str, str]:
    (check,) = [check for check in home.json("doctor", AFTERWORD_NOW=NOW)["checks"] if check["name"] == "retention"]
    return check["level"], check["message"]


def test_doctor_says_what_falls_out_soon_and_nothing_is_lost_when_it_does(tmp_path: Path) -> None:
    home = Home(tmp_path)
    paths = [write(home, n, days_old) for n, days_old in enumerate([1, 10, 15.9, 16.1, 20, 25, 29, 29.9])]
    home.run("up", "--once", "--settle", "0", AFTERWORD_NOW=NOW)
    level, said = retention(home)
    assert level == "ok"
    assert "keeps 30 days, 5 files leave within 14" in said
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"cleanupPeriodDays": 90, "theme": "dark"}))
    assert "keeps 90 days, 0 files leave within 14" in retention(home)[1]
    (tmp_path / ".claude/settings.json").write_text("not JSON")
    write(home, 9, 28)
    level, said = retention(home)
    assert level == "note"
    assert "6 files leave within 14; 1 of them are not taken in yet" in said

    home.run("up", "--once", "--settle", "0", AFTERWORD_NOW=NOW)
    fingerprint, vault = home.run("doctor", "--fingerprint").stdout, home.vault_bytes()
    for path in paths[2:]:
        path.unlink()
    home.run("up", "--once", "--settle", "0", AFTERWORD_NOW=NOW)
    (tmp_path / ".claude").rename(tmp_path / "gone")
    home.run("up", "--once", "--settle", "0", AFTERWORD_NOW=NOW)
    assert (home.run("doctor", "--fingerprint").stdout, home.vault_bytes()) == (fingerprint, vault)
    assert {r["session"] for r in home.json("search", "zebra", "--limit", "50")["results"] if r["session"]} == {
        *(f"session-{n}" for n in range(8)), "session-9",
    }  # fmt: skip
