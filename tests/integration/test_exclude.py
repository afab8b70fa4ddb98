"""Projects that are left out: nothing of their sessions is stored, numbered or named; all of it is read when they are
let in again."""

import random
import shutil
import sqlite3
from pathlib import Path

import pytest
from catalogue import CATALOGUE, Entry, every_entry
from homes import Home
from transcripts import ClaudeSession, CodexSession
from writer import Reading

from afterword.app.fingerprint import lines
from afterword.domain.settings import Capture
from afterword.store.ledger import sources

YEARS_US = 3_000_000_000_000_000
"""A clock by which every file has been quiet for long."""


def reading(entry: Entry, home: Path, exclude: tuple[str, ...] = ()) -> Reading:
    return Reading(home, YEARS_US, env=entry.variables(home), exclude=exclude)


def folders(entry: Entry, home: Path) -> tuple[str, ...]:
    """Every folder the sample's sessions were held in."""
    whole = reading(entry, home)
    whole.sweep()
    found = {
        text
        for row in whole.ledger.db.execute(
            "SELECT DISTINCT coalesce(nullif(json_extract(facts, '$.cwd'), ''), json_extract(facts, '$.folder'))"
            " FROM session"
        )
        for text in row
        if text
    }
    whole.close()
    shutil.rmtree(home / "state")
    return tuple(sorted(name if "/" in name else name.lower() for name in found))


def homeless(read: Reading) -> list[str]:
    """The sessions of which nothing says where they were held."""
    facts = "coalesce(json_extract(facts, '$.cwd'), '') || coalesce(json_extract(facts, '$.folder'), '')"
    return [row[0] for row in read.ledger.db.execute(f"SELECT native FROM session WHERE {facts} = '' ORDER BY native")]


@every_entry
def test_a_project_left_out_leaves_no_trace_and_is_read_when_let_in(entry: Entry, tmp_path: Path) -> None:
    entry.lay_out(tmp_path)
    named = folders(entry, tmp_path)
    assert named, "the sample names its folder"
    plain = reading(entry, tmp_path)
    plain.sweep()
    wanted = lines(plain.ledger)
    nowhere = homeless(plain)
    plain.close()
    shutil.rmtree(tmp_path / "state")

    shut = reading(entry, tmp_path, named)
    for _ in range(3):
        shut.sweep()
    # A session of which nothing says where it was held stays; most samples have none.
    assert homeless(shut) == nowhere
    counts = [
        shut.ledger.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        for table in ("session", "item", "membership", "checkout", "text_pending")
    ]
    assert counts[0] == len(nowhere)
    head = shut.ledger.head(1)
    if not nowhere:
        assert counts == [0, 0, 0, 0, 0]
        assert head == 1  # this machine's own record
    # Files that hold sessions of many projects may be known, no conversation in them is.
    every = [part for file in sources.every(shut.ledger) for part in sources.parts(shut.ledger, file.row)]
    assert {part.name for part in every if not part.name.startswith(".")} <= set(nowhere)
    shut.restart()
    shut.sweep()
    assert shut.ledger.head(1) == head
    shut.ledger.checkpoint()
    shut.close()
    stored = b"".join(path.read_bytes() for path in (tmp_path / "state").iterdir())
    for name in named:
        if not nowhere and name not in " ".join(map(str, entry.variables(tmp_path).values())):
            at = stored.find(name.encode())
            assert at < 0, stored[max(0, at - 300) : at + 100]

    opened = reading(entry, tmp_path)
    opened.sweep()
    assert lines(opened.ledger) == wanted
    opened.close()


def claude(home: Path, session: ClaudeSession) -> Path:
    path = session.path(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(session.lines))
    return path


def test_a_session_that_goes_into_a_folder_left_out_ends_there(tmp_path: Path) -> None:
    session = ClaudeSession(random.Random(1))
    session.prompt("begin in the open")
    session.reply("so it begins")
    session.cwd = "/srv/secret/deep"
    session.prompt("the hidden plan")
    session.reply("it stays hidden")
    session.cwd = "/srv/orchard-api"
    session.prompt("back in the open")
    path = claude(tmp_path, session)

    shut = Reading(tmp_path, YEARS_US, exclude=("secret",))
    for _ in range(2):
        shut.sweep()
    assert shut.live(session.session) == ["begin in the open", "so it begins"]
    # It goes on after a restart, and nothing more is read of it.
    session.reply("still nothing of this")
    path.write_bytes(b"".join(session.lines))
    shut.restart()
    shut.sweep()
    assert shut.live(session.session) == ["begin in the open", "so it begins"]
    head = shut.ledger.head(1)
    shut.sweep()
    assert shut.ledger.head(1) == head
    stored = b"".join(file.read_bytes() for file in (tmp_path / "state").iterdir())
    assert b"secret" not in stored
    assert b"hidden plan" not in stored
    shut.close()

    opened = Reading(tmp_path, YEARS_US)
    opened.sweep()
    assert opened.live(session.session) == [
        "begin in the open", "so it begins", "the hidden plan", "it stays hidden", "back in the open",
        "still nothing of this",
    ]  # fmt: skip
    opened.close()


def test_in_pieces_and_at_once_it_ends_at_the_same_line(tmp_path: Path) -> None:
    session = ClaudeSession(random.Random(2))
    for n in range(6):
        session.cwd = "/srv/secret" if n in (3, 4) else "/srv/orchard-api"
        session.prompt(f"prompt number {n}")
        session.reply(f"reply number {n}")
    whole = b"".join(session.lines)
    (tmp_path / "at-once").mkdir()
    claude(tmp_path / "at-once", session)
    once = Reading(tmp_path / "at-once", YEARS_US, exclude=("secret",))
    once.sweep()
    pieces = Reading(tmp_path / "pieces", YEARS_US, exclude=("secret",))
    path = session.path(tmp_path / "pieces")
    path.parent.mkdir(parents=True)
    for end in range(0, len(whole) + 300, 300):
        path.write_bytes(whole[:end])
        pieces.sweep()
    assert lines(pieces.ledger) == lines(once.ledger)
    assert once.live(session.session)[-1] == "reply number 2"
    once.close()
    pieces.close()


def test_a_first_line_without_a_folder_waits_for_it(tmp_path: Path) -> None:
    session = ClaudeSession(random.Random(3), cwd="/srv/secret")
    path = session.path(tmp_path)
    path.parent.mkdir(parents=True)
    queued = (
        b'{"type":"queue-operation","operation":"enqueue","timestamp":"2026-03-02T09:00:00.000Z",'
        b'"sessionId":"%s","content":"the hidden plan"}\n' % session.session.encode()
    )
    path.write_bytes(queued)
    now_us = path.stat().st_mtime_ns // 1000 + 1_000_000
    shut = Reading(tmp_path, now_us, exclude=("/srv/secret",))
    shut.sweep()
    assert shut.ledger.head(1) == 1
    session.prompt("the hidden plan")
    path.write_bytes(queued + b"".join(session.lines))
    shut.sweep()
    assert shut.ledger.head(1) == 1
    assert list(sources.every(shut.ledger)) == []
    shut.close()


def test_a_sub_agent_and_a_fork_are_left_out_with_their_session(tmp_path: Path) -> None:
    session = ClaudeSession(random.Random(4), cwd="/srv/secret")
    session.prompt("the hidden plan")
    claude(tmp_path, session)
    agent = ClaudeSession(random.Random(5), session=session.session, cwd="/srv/elsewhere")
    agent.prompt("look at the hidden plan", agentId="a1", isSidechain=True)
    path = session.path(tmp_path).with_suffix("") / "subagents/agent-a1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(agent.lines))
    fork = ClaudeSession(random.Random(6), cwd="/srv/elsewhere")
    fork.prompt("the hidden plan, forked", forkedFrom={"sessionId": session.session, "messageUuid": "x"})
    claude(tmp_path, fork)
    shut = Reading(tmp_path, YEARS_US, exclude=("/srv/secret",))
    shut.sweep()
    assert shut.ledger.head(1) == 1
    shut.close()


def test_switched_on_later_what_is_there_stays_and_nothing_comes_to_it(tmp_path: Path) -> None:
    session = ClaudeSession(random.Random(7))
    session.prompt("before")
    path = claude(tmp_path, session)
    first = Reading(tmp_path, YEARS_US)
    first.sweep()
    first.close()
    session.reply("after")
    path.write_bytes(b"".join(session.lines))
    shut = Reading(tmp_path, YEARS_US, exclude=("orchard-*",))
    shut.sweep()
    assert shut.live(session.session) == ["before"]
    shut.close()
    opened = Reading(tmp_path, YEARS_US)
    opened.sweep()
    assert opened.live(session.session) == ["before", "after"]
    opened.close()


def test_a_side_log_of_prompts_and_titles_keeps_those_of_other_projects_only(tmp_path: Path) -> None:
    rng = random.Random(8)
    sessions = {name: CodexSession(rng, cwd=f"/srv/{name}") for name in ("secret", "orchard")}
    for name, session in sessions.items():
        session.prompt(f"work on {name}")
        path = session.path(tmp_path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(session.lines))
    log = tmp_path / ".codex/history.jsonl"
    log.write_text(
        "".join(f'{{"session_id":"{s.session}","ts":1772442000,"text":"asked in {n}"}}\n' for n, s in sessions.items())
    )
    index = tmp_path / ".codex/session_index.jsonl"
    index.write_text("".join(f'{{"id":"{s.session}","thread_name":"titled {n}"}}\n' for n, s in sessions.items()))
    plain = Reading(tmp_path, YEARS_US)
    plain.sweep()
    wanted = lines(plain.ledger)
    plain.close()
    shutil.rmtree(tmp_path / "state")
    shut = Reading(tmp_path, YEARS_US, exclude=("secret",))
    shut.sweep()
    titles = [row[0] for row in shut.ledger.db.execute("SELECT json_extract(facts, '$.title') FROM session")]
    assert titles == ["titled orchard"]
    shut.ledger.checkpoint()
    stored = b"".join(file.read_bytes() for file in (tmp_path / "state").iterdir())
    assert b"secret" not in stored
    shut.close()
    opened = Reading(tmp_path, YEARS_US)
    opened.sweep()
    assert lines(opened.ledger) == wanted
    opened.close()


def test_a_side_log_waits_for_a_session_nobody_has_seen(tmp_path: Path) -> None:
    session = CodexSession(random.Random(9), cwd="/srv/secret")
    session.prompt("work")
    log = tmp_path / ".codex/history.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text(f'{{"session_id":"{session.session}","ts":1772442000,"text":"the hidden plan"}}\n')
    now_us = log.stat().st_mtime_ns // 1000 + 1_000_000
    shut = Reading(tmp_path, now_us, exclude=("secret",))
    shut.sweep()
    assert shut.ledger.head(1) == 1
    path = session.path(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(session.lines))
    shut.sweep()
    assert shut.ledger.head(1) == 1
    shut.close()


def test_the_real_program_with_an_ignore_file(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    project = tmp_path / "work/plans"
    project.mkdir(parents=True)
    (project / ".afterwordignore").touch()
    hidden = ClaudeSession(random.Random(10), cwd=str(project))
    hidden.prompt("the hidden plan of plans")
    claude(home.path, hidden)
    shown = ClaudeSession(random.Random(11), cwd=str(tmp_path / "work/other"))
    shown.prompt("nothing to hide in here at all")
    shown.reply("We decided to use sqlite for the queue because it survives a crash.")
    claude(home.path, shown)
    home.run("up", "--once", "--settle", "0")
    assert home.json("status")["ledger"]["sessions"] == 1
    assert home.json("status")["excluded"] == []
    # The project and its ignore file are gone, its transcripts are not: they stay out.
    shutil.rmtree(project)
    home.run("up", "--once", "--settle", "0")
    assert home.json("status")["ledger"]["sessions"] == 1
    home.json("search", "hidden", "--exact", code=3)
    everything = b"".join(p.read_bytes() for root in (home.state, home.vault) for p in root.rglob("*") if p.is_file())
    assert b"hidden plan" not in everything
    assert str(project).encode() not in everything


def test_the_daemon_and_a_hook(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.env["AFTERWORD_CAPTURE_EXCLUDE_PROJECTS"] = "/srv/secret"
    home.run("up", "--once")
    hidden = ClaudeSession(random.Random(12), cwd="/srv/secret/api")
    shown = ClaudeSession(random.Random(13), cwd="/srv/orchard-api")
    with home.daemon(AFTERWORD_CAPTURE_SWEEP="1s"):
        for session in (hidden, shown):
            session.prompt(f"work in {session.cwd} on the thing")
            path = claude(home.path, session)
            said = f'{{"session_id":"{session.session}","transcript_path":"{path}","cwd":"{session.cwd}"}}'
            spool(home, said)
        import time

        end = time.monotonic() + 60
        while home.json("status")["ledger"]["sessions"] < 1 or list((home.state / "spool").glob("*.json")):
            assert time.monotonic() < end
            time.sleep(0.2)
        hidden.reply("more of it")
        claude(home.path, hidden)
        assert home.json("search", "orchard-api", "--exact")["total"] >= 1
    with sqlite3.connect(home.state / "ledger.db") as db:
        assert db.execute("SELECT native FROM session").fetchall() == [(shown.session,)]
        assert db.execute("SELECT count(*) FROM source").fetchone() == (1,)
    stored = b"".join(p.read_bytes() for p in home.state.rglob("*") if p.is_file())
    assert b"srv/secret" not in stored
    assert hidden.session.encode() not in stored


def spool(home: Home, said: str) -> None:
    import subprocess
    import sys

    subprocess.run(
        [sys.executable, "-m", "afterword.hook", "session-end"], input=said.encode(), env=home.env, check=True
    )


def test_what_was_stored_before_is_named(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    session = ClaudeSession(random.Random(14))
    session.prompt("work on the thing that is to be left out later")
    claude(home.path, session)
    home.run("up", "--once", "--settle", "0")
    later = {"AFTERWORD_CAPTURE_EXCLUDE_PROJECTS": "orchard-*"}
    called = {"project": "orchard-api", "sessions": 1, "forget": ["orchard-api"]}
    assert home.json("status", **later)["excluded"] == [called]
    assert "forget --project orchard-api" in home.run("status", **later).stdout
    checks = {check["name"]: check for check in home.json("doctor", code=None, **later)["checks"]}
    assert checks["excluded"]["level"] == "note"
    assert "forget --project orchard-api" in checks["excluded"]["hint"]
    assert "forget --project orchard-api" in home.run("up", "--once", **later).stderr
    assert home.json("status")["excluded"] == []


def test_what_is_told_to_forget_an_excluded_project_means_no_other(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    for number, folder in enumerate(("client/api", "mine/api", "mono/secret", "mono")):
        (home.path / folder / ("" if folder == "mono/secret" else ".git")).mkdir(parents=True, exist_ok=True)
        session = ClaudeSession(random.Random(number), cwd=str(home.path / folder))
        session.prompt(f"work in {folder} that nobody else should lose")
        claude(home.path, session)
    home.run("up", "--once", "--settle", "0")
    (home.path / "client/.afterwordignore").write_text("*\n")
    (home.path / "mono/.afterwordignore").write_text("secret\n")
    home.run("ingest")
    told = {row["project"]: row["forget"] for row in home.json("status")["excluded"]}
    assert told == {"api": [str(home.path / "client/api")], "mono": [str(home.path / "mono/secret")]}
    for words in told.values():
        assert f"forget --project {words[0]}" in home.run("status").stdout
        home.run("forget", "--project", words[0], "--yes")
    assert home.json("status")["excluded"] == []
    assert home.json("search", "nobody else should lose")["total"] == 2


def test_no_setting_leaves_nothing_out() -> None:
    assert Capture().exclude_projects == ()
    assert len(CATALOGUE) > 10


@pytest.mark.parametrize("value", ["~/clients/*", "secret-*"])
def test_the_setting_can_be_set(tmp_path: Path, value: str) -> None:
    home = Home(tmp_path)
    home.run("config", "set", "capture.exclude_projects", value)
    assert home.json("config", "show")["settings"]["capture"]["exclude_projects"] == [value]


def test_a_conversation_in_a_database_waits_for_its_folder(tmp_path: Path) -> None:
    (entry,) = [each for each in CATALOGUE if each.name == "cursor"]
    entry.lay_out(tmp_path)
    young = Reading(tmp_path, 1_745_000_001_000_000, env=entry.variables(tmp_path), exclude=("elsewhere",))
    for _ in range(2):
        young.sweep()
    natives = {row[0] for row in young.ledger.db.execute("SELECT native FROM session")}
    assert "7e100000-0000-4000-8000-000000000001" in natives  # it says where it is held
    assert "7e100000-0000-4000-8000-000000000009" not in natives  # may still say it
    young.now_us = YEARS_US
    young.sweep()
    assert "7e100000-0000-4000-8000-000000000009" in {
        row[0] for row in young.ledger.db.execute("SELECT native FROM session")
    }
    young.close()
    # Where nothing is left out, nothing waits.
    plain = Reading(tmp_path / "again", 1_745_000_001_000_000, env=entry.variables(tmp_path / "again"))
    entry.lay_out(tmp_path / "again")
    plain.sweep()
    assert "7e100000-0000-4000-8000-000000000009" in {
        row[0] for row in plain.ledger.db.execute("SELECT native FROM session")
    }
    plain.close()


@pytest.mark.parametrize("given", ["secret-lab, client-*", '["secret-lab", "client-*"]'])
def test_several_patterns_in_one_text_are_several(tmp_path: Path, given: str) -> None:
    home = Home(tmp_path)
    shown = home.json("config", "show", AFTERWORD_CAPTURE_EXCLUDE_PROJECTS=given)
    assert shown["settings"]["capture"]["exclude_projects"] == ["secret-lab", "client-*"]
    home.run("config", "set", "capture.exclude_projects", given)
    assert home.json("config", "show")["settings"]["capture"]["exclude_projects"] == ["secret-lab", "client-*"]
    assert "is no list" in home.run("config", "show", code=1, AFTERWORD_CAPTURE_EXCLUDE_PROJECTS='["a"; "b"]').stderr
