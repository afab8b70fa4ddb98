"""Backup and restore, rehearsed on the real program: one moment of the ledger, a new origin, nothing doubled."""

import contextlib
import json
import os
import random
import shutil
import sqlite3
import stat
import subprocess
import threading
from pathlib import Path

import pytest
import zstandard
from homes import Home
from transcripts import ClaudeSession, busy_session

import afterword

HISTORY = Path(afterword.__file__).parent / "demo" / "history"
NOW = {"AFTERWORD_NOW": "2026-06-11T12:00:00Z"}
UP = ("up", "--once", "--settle", "0")


def demo(path: Path) -> Home:
    home = Home(path)
    shutil.copytree(HISTORY, home.path, dirs_exist_ok=True)
    home.run(*UP, **NOW)
    return home


def talk(home: Home, seed: int, *prompts: str) -> ClaudeSession:
    session = ClaudeSession(random.Random(seed))
    for prompt in prompts:
        session.prompt(prompt)
        session.reply(f"We decided to answer {prompt!r} with a queue, because it survives a crash.")
    path = session.path(home.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(session.lines))
    return session


def ledger(home: Home, query: str) -> list[tuple[object, ...]]:
    with contextlib.closing(sqlite3.connect(home.state / "ledger.db")) as db:
        return db.execute(query).fetchall()


def test_a_backup_is_private_named_listed_and_kept_by_number(tmp_path: Path) -> None:
    home = demo(tmp_path / "home")
    made = []
    for n in range(4):
        said = home.json("backup", "--keep", "3", AFTERWORD_NOW=f"2026-06-1{n}T12:00:00Z")
        made.append(Path(said["file"]))
    assert said["pruned"] == [str(made[0])]
    assert said["manifest"]["items"] == home.json("status")["ledger"]["items"]
    assert said["manifest"]["made"].startswith("2026-06-13T12:00:00")
    assert [path.exists() for path in made] == [False, True, True, True]
    assert made[-1].parent == home.state / "backups"
    assert stat.S_IMODE(made[-1].stat().st_mode) == 0o600
    assert stat.S_IMODE(made[-1].parent.stat().st_mode) == 0o700
    rows = home.json("backup", "--list")["backups"]
    assert [row["path"] for row in rows] == [str(path) for path in reversed(made[1:])]
    assert all(row["there"] and len(row["sha256"]) == 64 for row in rows)
    assert ledger(home, "SELECT count(*) FROM backup") == [(3,)]
    # It is an ordinary zstd file with an ordinary ledger in it.
    with made[-1].open("rb") as packed, (tmp_path / "plain.db").open("wb") as plain:
        zstandard.ZstdDecompressor().copy_stream(packed, plain)
    with sqlite3.connect(tmp_path / "plain.db") as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    left = [path.name for path in home.state.iterdir() if path.name.startswith((".copy-", ".backup"))]
    assert left == []


def test_a_named_file_is_not_overwritten(tmp_path: Path) -> None:
    home = demo(tmp_path / "home")
    target = tmp_path / "stick/afterword.db"
    said = home.json("backup", str(target), code=1)
    assert "not a folder" in said["error"]["message"]
    target.parent.mkdir()
    target.write_text("mine")
    assert "--force" in home.json("backup", str(target), code=1)["error"]["hint"]
    assert target.read_text() == "mine"
    target.chmod(0o644)
    home.run("backup", str(target), "--force")
    assert target.read_bytes().startswith(b"SQLite format 3")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert home.json("backup", "--list")["backups"][0]["path"] == str(target)
    home.run("backup", str(target), "--keep", "2", code=2)
    home.run("backup", "--list", "--force", code=2)
    assert home.json("restore", str(target))["restored"] is False


def test_without_a_ledger_there_is_nothing_to_back_up(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.run("backup", code=4)
    home.run("restore", str(tmp_path / "none"), code=1)


def test_set_back_it_ends_equal_and_gives_no_number_twice(tmp_path: Path) -> None:
    home = demo(tmp_path / "home")
    talk(home, 1, "first thing before the backup was made")
    home.run(*UP, **NOW)
    backup = home.json("backup", **NOW)["file"]
    before = ledger(home, "SELECT id FROM origin WHERE row = 1")[0][0]
    numbers = ledger(home, "SELECT max(n) FROM log WHERE origin = 1")[0][0]
    talk(home, 1, "first thing before the backup was made", "second thing said after it")
    talk(home, 2, "a whole session after the backup")
    home.run(*UP, **NOW)
    fingerprint, notes = home.run("doctor", "--fingerprint").stdout, home.vault_bytes()

    dry = home.json("restore", backup)
    assert dry["restored"] is False
    assert dry["manifest"]["sessions"] < dry["replaced"]["sessions"]
    assert home.run("doctor", "--fingerprint").stdout == fingerprint

    said = home.json("restore", backup, "--yes", **NOW)
    assert said["restored"] is True
    assert said["problem"] is None
    assert home.run("doctor", "--fingerprint").stdout != fingerprint
    assert ledger(home, "SELECT id FROM origin WHERE row = 1") == [(said["origin"],)]
    assert said["origin"] != before
    # Everything numbered before is another origin's now, its own log begins at 1.
    assert ledger(
        home, f"SELECT max(n), count(*) FROM log JOIN origin o ON o.row = origin WHERE o.id = '{before}'"
    ) == [(numbers, numbers)]
    assert ledger(home, "SELECT min(n) FROM log WHERE origin = 1") == [(1,)]
    assert ledger(home, "SELECT kind, count(*) FROM log WHERE kind = 1 GROUP BY origin") == [(1, 1), (1, 1)]
    home.run("search", "export", "--exact")

    home.run(*UP, **NOW)
    assert home.run("doctor", "--fingerprint").stdout == fingerprint
    assert home.vault_bytes() == notes
    home.run(*UP, **NOW)
    assert home.run("doctor", "--fingerprint").stdout == fingerprint
    assert not list(home.state.glob("*before-restore*"))
    # The backup is still known, for `forget`.
    assert [row["path"] for row in home.json("backup", "--list")["backups"]] == [backup]


def test_on_a_new_disk_only_the_backup_and_the_stores_are_needed(tmp_path: Path) -> None:
    home = demo(tmp_path / "home")
    backup = Path(home.json("backup", str(tmp_path / "kept.db.zst"), **NOW)["file"])
    fingerprint, notes = home.run("doctor", "--fingerprint").stdout, home.vault_bytes()
    shutil.rmtree(home.state)
    home.run("restore", str(backup), "--yes", **NOW)
    assert home.run("doctor", "--fingerprint").stdout == fingerprint
    home.run(*UP, **NOW)
    assert home.run("doctor", "--fingerprint").stdout == fingerprint
    assert home.vault_bytes() == notes
    # And without the vault and the stores it is all there as well.
    shutil.rmtree(home.state)
    shutil.rmtree(home.path / ".claude")
    for path in (home.vault / "daily").glob("*.md"):
        path.unlink()
    home.run("restore", str(backup), "--yes", **NOW)
    home.run(*UP, **NOW)
    assert home.run("doctor", "--fingerprint").stdout == fingerprint
    assert {name for name in home.vault_bytes() if name.startswith("daily/")} == {
        name for name in notes if name.startswith("daily/")
    }


def test_what_is_no_whole_backup_is_refused(tmp_path: Path) -> None:
    home = demo(tmp_path / "home")
    whole = Path(home.json("backup", **NOW)["file"]).read_bytes()
    fingerprint = home.run("doctor", "--fingerprint").stdout
    bad = tmp_path / "bad.db.zst"
    rng = random.Random(7)
    flipped = [rng.randrange(20, len(whole)) for _ in range(4)]
    cases = [b"", b"hello", whole[:-1], whole[: len(whole) // 2], whole[:-40], whole + b"x"]
    cases += [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in flipped]
    for data in cases:
        bad.write_bytes(data)
        said = home.json("restore", str(bad), "--yes", code=1)
        assert said["error"]["kind"] == "data"
    plain = tmp_path / "plain.db"
    home.run("backup", str(plain))
    with sqlite3.connect(plain) as db:
        db.execute("PRAGMA user_version = 999")
    said = home.json("restore", str(plain), "--yes", code=1)
    assert "999" in said["error"]["message"]
    assert "upgrade" in said["error"]["hint"]
    # A ledger that somebody copied by hand does not say what it is.
    shutil.copy(home.state / "ledger.db", plain)
    home.json("restore", str(plain), "--yes", code=1)
    assert home.run("doctor", "--fingerprint").stdout == fingerprint


def test_a_damaged_ledger_gives_no_backup_and_can_be_replaced(tmp_path: Path) -> None:
    home = demo(tmp_path / "home")
    backup = home.json("backup", **NOW)["file"]
    fingerprint = home.run("doctor", "--fingerprint").stdout
    path = home.state / "ledger.db"
    data = bytearray(path.read_bytes())
    for page in range(3, len(data) // 4096, 3):
        data[page * 4096 : page * 4096 + 200] = b"\xff" * 200
    path.write_bytes(data)
    assert home.json("backup", code=1)["error"]["kind"] in ("data", "system")
    home.run("restore", backup, "--yes", **NOW)
    home.run(*UP, **NOW)
    assert home.run("doctor", "--fingerprint").stdout == fingerprint


def test_while_a_daemon_writes_it_is_one_moment_and_cannot_be_put_back(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.run("up", "--once")
    rng = random.Random(3)
    done = threading.Event()

    def feed() -> None:
        while not done.is_set():
            session = busy_session(rng, parts=3)
            path = session.path(home.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            for line in session.lines:
                with path.open("ab") as out:
                    out.write(line)
                if done.wait(0.01):
                    return

    with home.daemon(AFTERWORD_CAPTURE_SWEEP="1s"):
        feeder = threading.Thread(target=feed)
        feeder.start()
        try:
            for n in range(4):
                target = tmp_path / f"{n}.db"
                said = home.json("backup", str(target))
                with sqlite3.connect(target) as db:
                    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
                    assert db.execute("SELECT count(*) FROM item").fetchone() == (said["manifest"]["items"],)
                    # Nothing half: every item of it stands in a session, every number is there.
                    assert db.execute(
                        "SELECT count(*) FROM item WHERE row NOT IN (SELECT item FROM membership)"
                    ).fetchone() == (0,)
                    assert db.execute("SELECT max(n) - count(*) FROM log").fetchone() == (0,)
        finally:
            done.set()
            feeder.join()
        refused = home.json("restore", str(target), "--yes", code=75)
        assert "stop" in refused["error"]["hint"]
        assert len(home.json("backup", "--list")["backups"]) == 4
    home.run("restore", str(target), "--yes")
    home.run("doctor", "--fingerprint")


def test_a_reader_that_holds_the_ledger_is_waited_for_and_named(tmp_path: Path) -> None:
    home = demo(tmp_path / "home")
    backup = home.json("backup", **NOW)["file"]
    fingerprint = home.run("doctor", "--fingerprint").stdout
    with sqlite3.connect(home.state / "ledger.db", isolation_level=None) as db:
        db.execute("BEGIN")
        db.execute("SELECT count(*) FROM item").fetchone()
        said = home.json("restore", backup, "--yes", code=75)
        assert "open" in said["error"]["message"]
    db.close()
    assert home.run("doctor", "--fingerprint").stdout == fingerprint


def test_two_at_once(tmp_path: Path) -> None:
    home = demo(tmp_path / "home")
    running = [home.start("backup", str(tmp_path / f"{n}.db.zst"), "--json") for n in range(3)]
    said = [json.loads(process.communicate(timeout=60)[0]) for process in running]
    codes = [process.returncode for process in running]
    assert 0 in codes
    assert set(codes) <= {0, 75}, said
    assert {f"{n}.db.zst" for n, code in enumerate(codes) if code == 0} == {p.name for p in tmp_path.glob("*.zst")}


def test_what_a_restored_job_table_asked_for_is_not_done(tmp_path: Path) -> None:
    home = demo(tmp_path / "home")
    with contextlib.closing(sqlite3.connect(home.state / "ledger.db")) as db, db:
        db.execute("INSERT INTO job (id, name, arguments, created_us) VALUES ('x', 'ingest', '{}', 1)")
    backup = home.json("backup", **NOW)["file"]
    home.run("restore", backup, "--yes", **NOW)
    assert ledger(home, "SELECT count(*) FROM job") == [(0,)]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a small file system of its own")
def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    home = demo(tmp_path / "home")
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small], check=False)
    if mounted.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        home.json("backup", str(small / "b.db.zst"), code=1)
        assert list(small.iterdir()) == []
    finally:
        subprocess.run(["umount", small], check=True)
