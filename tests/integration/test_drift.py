"""Formats that change: what nobody knows is counted by the agent's version, once, and named."""

import json
import random
import sqlite3
from pathlib import Path
from typing import Any

from homes import Home
from transcripts import ClaudeSession
from writer import Reading

from afterword.store.ledger import drift, schema


def write(home: Path, session: ClaudeSession, *, cut: int = 0) -> Path:
    path = session.path(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    data = b"".join(session.lines)
    path.write_bytes(data[: len(data) - cut])
    return path


def talk(seed: int, version: str = "2.1.250") -> ClaudeSession:
    session = ClaudeSession(random.Random(seed), session=f"session-{seed}")
    session.prompt("Look at the cache.")
    session.reply("It is cold.")
    session.lines = [line.replace(b"2.1.250", version.encode()) for line in session.lines]
    return session


def told(reading: Reading) -> list[tuple[str, dict[str, int], int]]:
    return [(one.version, one.unknown, one.silent) for one in drift.report(reading.ledger)]


def test_unknown_types_are_counted_once_by_version_however_often_a_file_is_read(tmp_path: Path) -> None:
    old, new = talk(1, "2.1.250"), talk(2, "3.0.0")
    for session, count in ((old, 1), (new, 3)):
        version = "2.1.250" if session is old else "3.0.0"
        for n in range(count):
            row: dict[str, Any] = {"type": "hologram", "version": version, "sessionId": session.session, "n": n}
            session.lines.append(json.dumps(row).encode() + b"\n")
    reading = Reading(tmp_path, quiet_us=-(10**18))
    write(tmp_path, old)
    path = write(tmp_path, new, cut=1)
    reading.sweep()
    write(tmp_path, new)
    reading.sweep()
    expected = [("2.1.250", {"hologram": 1}, 0), ("3.0.0", {"hologram": 3}, 0)]
    assert told(reading) == expected
    path.write_bytes(path.read_bytes().replace(b"cold", b"warm"))
    reading.restart()
    reading.sweep(thorough=True)
    assert told(reading) == expected
    path.rename(path.with_name("moved.jsonl"))
    reading.sweep(thorough=True)
    assert told(reading) == expected
    # The next version of afterword may know the type: what is not there any more is not counted.
    path.with_name("moved.jsonl").write_bytes(b"".join(talk(2, "3.0.0").lines))
    reading.sweep(thorough=True)
    assert told(reading) == expected[:1]
    reading.close()


def test_a_version_of_which_no_message_was_read_is_named_while_others_are_fine(tmp_path: Path) -> None:
    home = Home(tmp_path)
    write(tmp_path, talk(1))
    silent = ClaudeSession(random.Random(2))
    for n in range(12):
        silent.row("utterance", text=f"The shape of speech in version three, {n}.")
    silent.lines = [line.replace(b"2.1.250", b"3.0.0") for line in silent.lines]
    write(tmp_path, silent)
    home.run("up", "--once", "--settle", "0")
    (claude,) = [one for one in home.json("sources")["sources"] if one["harness"] == "claude-code"]
    assert claude["drift"] == [
        {"harness": "claude-code", "version": "3.0.0", "unknown": {"utterance": 12}, "silent": 1}
    ]
    assert "version 3.0.0: one file, but no message in them could be read" in claude["problem"]
    checks = {check["name"]: check for check in home.json("doctor")["checks"]}
    assert checks["formats"]["level"] == "note"
    assert "utterance (12)" in checks["formats"]["message"]
    assert "version 3.0.0" in home.run("sources").stdout


def test_an_agent_that_was_only_started_is_no_alarm(tmp_path: Path) -> None:
    session = ClaudeSession(random.Random(3))
    session.prompt("<command-name>/clear</command-name>")
    reading = Reading(tmp_path)
    write(tmp_path, session)
    reading.sweep()
    assert told(reading) == []
    reading.close()


def test_an_older_ledger_is_brought_up_to_date_and_counts_from_then_on(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    db = sqlite3.connect(path, isolation_level=None)
    for step in schema.MIGRATIONS[:5]:
        step(db)
    db.execute("PRAGMA user_version = 5")
    db.execute("INSERT INTO drift VALUES ('claude-code', 'hologram', 7)")
    schema.migrate(db)
    assert db.execute("SELECT count(*) FROM drift").fetchone() == (0,)
    assert db.execute("SELECT count(*) FROM checkout").fetchone() == (0,)
    db.close()
