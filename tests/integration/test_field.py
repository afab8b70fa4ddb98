"""What people and their stores really do, each seen to go wrong once."""

import json
import os
import random
import shutil
import signal
import sqlite3
import time
from datetime import datetime
from pathlib import Path

import pytest
from homes import Home
from transcripts import ClaudeSession, busy_session


def write(home: Home, *sessions: ClaudeSession, root: str = ".claude") -> None:
    for session in sessions:
        path = home.path / root / "projects/-srv-orchard-api" / f"{session.session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(session.lines))


def talk(seed: int, at: str = "2026-03-04T10:00:00+00:00", topic: str = "cache") -> ClaudeSession:
    session = ClaudeSession(random.Random(seed), session=f"session-{seed}")
    session.clock = datetime.fromisoformat(at)
    session.prompt(f"Please look into the {topic}, it fails since yesterday.")
    session.reply(f"The root cause of the {topic} was a missing lock. We decided to add one.")
    return session


def up(home: Home, **env: str) -> None:
    home.run("up", "--once", "--settle", "0", **env)


def prompts(home: Home, session: str, *, flag: str = "") -> list[str]:
    items = home.json("show", session)["messages"]
    return [m["text"] for m in items if m["kind"] == "prompt" and (m[flag] if flag else not m["abandoned"])]


@pytest.mark.parametrize(
    "when", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "1970-01-01T00:00:00Z", "2099-01-01T00:00:00Z"]
)
@pytest.mark.parametrize("zone", ["America/Chicago", "Asia/Tokyo"])
def test_an_absurd_time_files_a_session_somewhere_sane_and_blocks_nobody(when: str, zone: str, tmp_path: Path) -> None:
    home = Home(tmp_path)
    odd = talk(1)
    odd.lines = [line.replace(b"2026-03-04T10:00:00.000Z", when.encode()) for line in odd.lines]
    write(home, odd, talk(2, "2026-03-05T10:00:00+00:00", "socket"))
    home.run("init", "--zone", zone, "--yes")
    up(home)
    assert "socket" in home.daily()
    assert "cache" in home.daily()
    days = [path.stem for path in (home.vault / "daily").glob("*.md")]
    assert all("2026-01-01" < day < "2027-01-01" for day in days), days
    home.run("show", "session-1")
    assert home.json("search", "cache")["total"] == 2


def test_a_store_moved_by_copy_still_sees_a_rewind(tmp_path: Path) -> None:
    home = Home(tmp_path)
    session = ClaudeSession(random.Random(1), session="session-1")
    session.prompt("Look at the cache.")
    root = session.reply("The cache is cold.")
    session.prompt("WRONG way, delete it.")
    session.reply("Deleted.")
    write(home, session)
    roots = {"AFTERWORD_CLAUDE_ROOT": f"{tmp_path}/.claude:{tmp_path}/second"}
    up(home, **roots)
    shutil.copytree(tmp_path / ".claude", tmp_path / "second")
    up(home, **roots)
    shutil.rmtree(tmp_path / ".claude")
    session.prompt("Warm it instead.", parent=root)
    write(home, session, root="second")
    up(home, **roots)
    assert prompts(home, "session-1") == ["Look at the cache.", "Warm it instead."]
    assert prompts(home, "session-1", flag="abandoned") == ["WRONG way, delete it."]


def test_a_history_repeated_under_new_ids_is_shown_once(tmp_path: Path) -> None:
    for seed in range(6):  # the ids decide nothing: several of them
        home = Home(tmp_path / str(seed))
        rng = random.Random(seed)
        first = ClaudeSession(rng)
        for n in range(5):
            first.prompt(f"Question number {n} about the parser.")
            first.reply(f"Answer number {n} about the parser.")
        write(home, first)
        up(home)
        vault = home.vault_bytes()
        again, twice = ClaudeSession(rng), ClaudeSession(rng)
        again.lines = [line.replace(first.session.encode(), again.session.encode()) for line in first.lines]
        again.parent, again.clock = first.parent, first.clock
        again.prompt("A new question about the lexer.")
        again.reply("A new answer about the lexer.")
        part = [line.replace(first.session.encode(), twice.session.encode()) for line in first.lines[:5]]
        twice.lines = [line for line in part for _ in range(2)]
        write(home, again, twice)
        up(home)
        assert home.daily().count("Question number 0") == 1
        assert home.daily().startswith(vault[f"daily/{first.clock:%Y-%m-%d}.md"].decode())
        shown = home.json("show", again.session)
        assert shown["session"]["continued_from"] == first.session
        assert [m["text"] for m in shown["messages"] if not m["inherited"]] == [
            "A new question about the lexer.",
            "A new answer about the lexer.",
        ]
        assert all(m["inherited"] for m in home.json("show", twice.session)["messages"])


@pytest.mark.parametrize(
    "rest", [b'{"type":"user","uuid":"x9","sessionId":"s","message":{"role":"user","content":"other"}}\n', b"\n", b""]
)
def test_an_open_last_object_that_is_replaced_is_abandoned(rest: bytes, tmp_path: Path) -> None:
    home = Home(tmp_path)
    first = {"type": "user", "uuid": "x0", "sessionId": "s", "message": {"role": "user", "content": "kept"}}
    last = {"type": "user", "uuid": "x1", "sessionId": "s", "message": {"role": "user", "content": "taken back"}}
    path = tmp_path / ".claude/projects/p/s.jsonl"
    path.parent.mkdir(parents=True)
    head = json.dumps(first).encode() + b"\n"
    path.write_bytes(head + json.dumps(last).encode())
    up(home, AFTERWORD_CAPTURE_QUIET="0")
    assert prompts(home, "s") == ["kept", "taken back"]
    path.write_bytes(head + rest)
    up(home, AFTERWORD_CAPTURE_QUIET="0")
    assert prompts(home, "s") == (["kept", "other"] if b"other" in rest else ["kept"])
    assert prompts(home, "s", flag="abandoned") == ["taken back"]


def test_a_source_that_says_less_now_is_believed(tmp_path: Path) -> None:
    home = Home(tmp_path)
    session = talk(1)
    write(home, session)
    up(home)
    session.lines[0] = session.lines[0].replace(b", it fails since yesterday.", b"")
    write(home, session)
    up(home)
    assert prompts(home, "session-1") == ["Please look into the cache"]


@pytest.mark.parametrize("broken", ["{broken", "", None, "folder"])
def test_a_broken_vault_stops_no_capture(broken: str | None, tmp_path: Path) -> None:
    home = Home(tmp_path)
    write(home, talk(1))
    up(home)
    card = home.vault / ".afterword/vault.json"
    if broken is None:
        shutil.rmtree(home.vault)
        home.vault.write_text("a file now")
    elif broken == "folder":
        card.unlink()
        card.mkdir()
    else:
        card.write_text(broken)
    write(home, talk(2, topic="socket"))
    done = home.run("up", "--once", "--settle", "0")
    assert "vault" in done.stderr.lower()
    assert home.json("search", "socket")["total"] == 2
    assert home.json("status")["pending"]["sections"] == 1
    checks = {check["name"]: check for check in home.json("doctor", code=1)["checks"]}
    assert checks["vault"]["level"] == "trouble"


def test_one_day_that_cannot_be_written_blocks_no_other(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.run("init", "--yes")
    (home.vault / "daily/2026-03-04.md").mkdir()
    write(home, talk(1), talk(2, "2026-03-05T10:00:00+00:00", "socket"), talk(3, "2026-03-06T10:00:00+00:00", "queue"))
    done = home.run("up", "--once", "--settle", "0")
    assert "daily/2026-03-04.md" in done.stderr
    assert "socket" in (home.vault / "daily/2026-03-05.md").read_text()
    assert "queue" in (home.vault / "daily/2026-03-06.md").read_text()
    (home.vault / "daily/2026-03-04.md").rmdir()
    up(home)
    assert "cache" in (home.vault / "daily/2026-03-04.md").read_text()


@pytest.mark.parametrize(
    "config",
    [
        '[vault] # mine\ndaily = "d"\n',
        'vault.daily = "d"\n',
        'vault = {daily = "d"}\n',
        '["vault"]\ndaily = "d"\n',
        '[ vault ]\ndaily = "d"\n',
        '[vault]\n"path" = ""\ndaily = "d"\n',
        '# nothing\r\n[segment]\r\ngap = "40m"\r\n',
        '[machine]\nname = "x"',
    ],
)
def test_init_sets_its_key_in_a_config_of_any_form(config: str, tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = tmp_path / ".config/afterword/config.toml"
    path.parent.mkdir(parents=True)
    path.write_bytes(config.encode())
    write(home, talk(1))
    up(home)
    up(home)
    settings = home.json("config", "show")["settings"]
    assert settings["vault"]["path"] == str(home.vault)
    if "daily" in config:
        assert settings["vault"]["daily"] == "d"
    kept = [line for line in config.splitlines(keepends=True) if "daily" not in line and '"path"' not in line]
    assert all(line.rstrip("\r\n") in path.read_bytes().decode() for line in kept)
    if "\r\n" in config:
        assert path.read_bytes().startswith(config.encode())
    home.run("config", "set", "segment.settle", "5m")
    assert home.json("config", "show")["settings"]["segment"]["settle"] == "5m"
    assert "settle" in home.run("config", "set", "segment.settel", "5m", code=2).stderr
    home.run("config", "set", "segment.settle", "soon", code=2)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('[segment]\nsettle = "soon"\n', "config.toml:2: segment.settle"),
        ('[vault]\n\nday_starts_at = "25:00"\n', "config.toml:3: vault.day_starts_at"),
        ("[vualt]\n", 'config.toml:1: unknown section "vualt"; did you mean "vault"?'),
        ('[capture]\nsweep = "0"\n', "config.toml:2: capture.sweep"),
        ("[segment\n", "config.toml:"),
    ],
)
def test_a_bad_config_is_named_with_its_line(text: str, where: str, tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = tmp_path / ".config/afterword/config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert where in home.run("status", code=None).stderr
    path.unlink()
    said = home.run("status", code=2, AFTERWORD_SEGMENT_SETTEL="5m").stderr
    assert "AFTERWORD_SEGMENT_SETTLE" in said
    assert "not a time" in home.run("up", "--once", code=2, AFTERWORD_NOW="yesterday").stderr


def test_a_damaged_full_text_is_noticed_and_made_again(tmp_path: Path) -> None:
    home = Home(tmp_path)
    write(home, talk(1))
    up(home)
    path = home.state / "text-0.db"
    whole = path.read_bytes()

    def drop_a_table() -> None:
        db = sqlite3.connect(path)
        db.execute("DROP TABLE prose")
        db.commit()
        db.close()

    for damage in (
        lambda: path.write_bytes(b""),
        lambda: path.write_bytes(whole[:5000]),
        lambda: path.write_bytes(b"garbage" * 9000),
        lambda: path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096)),
        drop_a_table,
    ):
        damage()
        for sidecar in home.state.glob("text-0.db-*"):
            sidecar.unlink()
        said = home.run("search", "cache", code=None)
        assert "Traceback" not in said.stderr
        assert home.json("doctor", code=1)["ok"] is False
        up(home)
        assert home.json("search", "cache")["total"] == 2
        home.run("doctor")


@pytest.mark.parametrize("data", [b"", b"garbage" * 3000, None])
def test_a_damaged_ledger_is_named_by_doctor_with_its_other_checks(data: bytes | None, tmp_path: Path) -> None:
    home = Home(tmp_path)
    write(home, talk(1))
    up(home)
    path = home.state / "ledger.db"
    for sidecar in home.state.glob("ledger.db-*"):
        sidecar.unlink()
    path.write_bytes(path.read_bytes()[:6000] if data is None else data)
    checks = {check["name"]: check["level"] for check in home.json("doctor", code=1)["checks"]}
    assert checks["ledger"] == "trouble"
    assert checks["vault"] == "ok"
    for words in (("search", "cache"), ("status",), ("show", "session-1")):
        said = home.run(*words, code=None)
        assert "Traceback" not in said.stderr
        assert said.returncode == 1


def test_a_signal_ends_a_long_first_reading_soon(tmp_path: Path) -> None:
    home = Home(tmp_path)
    session = busy_session(random.Random(3), parts=3)
    path = session.path(home.path)
    path.parent.mkdir(parents=True)
    with path.open("wb") as out:
        for n in range(120):
            for line in session.lines:
                out.write(line.replace(b'"uuid":"', b'"uuid":"%d' % n).replace(b'"uuid": "', b'"uuid": "%d' % n))
    process = home.start("up")
    end = time.monotonic() + 30
    wal = home.state / "ledger.db-wal"
    while not (wal.exists() and wal.stat().st_size > 1_000_000) and time.monotonic() < end:
        time.sleep(0.02)
    assert process.poll() is None
    os.kill(process.pid, signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 0
    up(home)
    assert home.json("status")["pending"]["texts"] == 0


def test_more_matches_than_are_ranked_are_still_filtered_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from writer import Reading

    from afterword.index import search

    home = Home(tmp_path)
    old = talk(1)
    old.lines = [line.replace(b"/srv/orchard-api", b"/srv/old-project") for line in old.lines]
    write(home, old)
    reading = Reading(tmp_path)
    reading.sweep()
    write(home, *(talk(n, "2026-03-05T10:00:00+00:00") for n in range(2, 12)))
    reading.sweep()
    reading.full_text().catch_up()
    monkeypatch.setattr(search, "CANDIDATES_MAX", 4)
    narrow, wide = search.Filters(project="old-project"), search.Filters()
    found = search.search(reading.ledger, tmp_path / "state", "cache", narrow, limit=9, now_us=0)
    assert (found.total, found.cut) == (2, False)
    monkeypatch.setattr(search, "RANKED_MAX", 4)
    everything = search.search(reading.ledger, tmp_path / "state", "cache", wide, limit=4, now_us=0)
    assert (everything.total, everything.cut) == (22, True)
    reading.close()


@pytest.mark.parametrize(
    "extra", [r"\d{4}-\d{2}-\d{2}", r"\b\d+\b", "(?i)session", "(?i)harness", "UTC", "(?i)claude", "a"]
)
def test_a_persons_own_pattern_redacts_texts_and_breaks_no_record(extra: str, tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = tmp_path / ".config/afterword/config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(f"[redact]\nextra = ['{extra}']\n")
    session = talk(1)
    session.prompt("Born 1980-01-02, 41 sessions in UTC with claude, said the harness.")
    write(home, session)
    up(home)
    (note,) = (home.vault / "daily").glob("*.md")
    assert note.name == "2026-03-04.md"
    assert "### Session (10:00)" in note.read_text()
    session.reply("More came later.")
    write(home, session)
    up(home)
    home.run("search", "look", code=None)
    shown = home.json("show", "session-1")
    assert len(shown["messages"]) == 4
    assert any("[redacted:extra]" in item["text"] for item in shown["messages"])
