"""Writing commands beside a running daemon: its jobs, with the same words, JSON and exit codes as without one."""

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from homes import Home
from transcripts import ClaudeSession, CodexSession
from writer import REDACTOR

from afterword.store import doorfile, lock
from afterword.store.ledger import jobs
from afterword.store.ledger.ledger import open_reader, open_writer

QUIET = {"AFTERWORD_CAPTURE_SWEEP": "1h", "AFTERWORD_SEGMENT_SETTLE": "1h"}


def session(home: Home, number: int, text: str = "The cache is broken, look why.") -> Path:
    made = ClaudeSession(random.Random(number), session=f"session-{number}")
    made.prompt(text)
    made.reply("We decided to keep one lock a file. The cause was a missing lock.")
    path = made.path(home.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(made.lines))
    return path


def wait_for(what: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.05)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path)
    session(made, 1)
    made.run("init", "--yes")
    return made


def test_commands_are_the_same_beside_a_daemon_and_without(home: Home) -> None:
    with home.daemon(**QUIET):
        wait_for(lambda: home.run("search", "broken", code=None).returncode == 0)
        assert home.daily() == ""
        with_daemon = home.json("up", "--once", "--settle", "0")
        assert "missing lock" in home.daily()
        assert with_daemon["sections"] == {"made": 1, "appended": 1}
        assert home.json("ingest")["new"] == 0
        assert home.run("ingest").stdout == "Read 0 files: 0 new items.\n"
        wrong = home.json("ingest", "--harness", "nope", code=2)
        said = home.run("ingest", "--harness", "nope", code=2).stderr
        assert home.json("status")["daemon"]["running"] is True
    again = home.json("up", "--once", "--settle", "0")
    assert set(again) == set(with_daemon)
    assert again["sections"] == {"made": 0, "appended": 0}
    assert again["vault"] == with_daemon["vault"]
    assert home.json("ingest", "--harness", "nope", code=2) == wrong
    assert home.run("ingest", "--harness", "nope", code=2).stderr == said


def test_many_callers_at_once_are_all_served(home: Home) -> None:
    with home.daemon(**QUIET):
        callers = [home.start("up", "--once", "--settle", "0", "--json") for _ in range(4)]
        callers += [home.start("ingest", "--json") for _ in range(4)]
        for caller in callers:
            out, err = caller.communicate(timeout=120)
            assert caller.returncode == 0, (out, err)
            assert json.loads(out)["version"] == 1
    assert home.daily().count("### Session") == 1


def test_a_one_shot_command_takes_no_jobs(home: Home) -> None:
    with lock.writer_lock(home.state, "ingest"):
        for words in (("ingest",), ("up", "--once"), ("run",)):
            done = home.json(*words, code=75) if words != ("run",) else None
            if done is not None:
                assert done["error"]["kind"] == "busy"
                assert "afterword ingest" in done["error"]["message"]
        home.run("run", code=75)
        # A card that a killed daemon left changes nothing.
        doorfile.write(home.state, doorfile.DoorCard(1, 1, "t", 1, "0"))
        assert home.json("ingest", code=75)["error"]["kind"] == "busy"
        assert home.json("stop", code=75)["error"]["kind"] == "busy"


def test_after_a_kill_commands_do_their_work_themselves(home: Home) -> None:
    with home.daemon(**QUIET) as daemon:
        daemon.kill()
        daemon.wait()
    assert (home.state / "door.json").exists()
    assert home.json("up", "--once", "--settle", "0")["sections"]["made"] == 1
    home.run("stop", code=3)
    with home.daemon(**QUIET):
        assert home.json("ingest")["new"] == 0
    assert not (home.state / "door.json").exists()


def test_a_daemon_whose_door_does_not_answer_is_named(home: Home) -> None:
    with home.daemon(**QUIET) as daemon:
        card = doorfile.read(home.state)
        assert card is not None
        doorfile.write(home.state, doorfile.DoorCard(1, 1, "t", card.pid, "0"))
        said = home.json("ingest", code=75)["error"]
        assert f"pid {daemon.pid}" in said["message"]
        assert "does not answer" in said["message"]
        assert home.json("stop", code=75)["error"]["kind"] == "busy"
        assert home.run("search", "broken", code=None).returncode in (0, 3)


def test_a_job_of_a_killed_daemon_is_done_by_the_next(home: Home) -> None:
    ledger = open_writer(home.state, "box")
    cut_off, queued = (jobs.submit(ledger, name, REDACTOR.document({}), 1) for name in ("write-up", "ingest"))
    odd = jobs.submit(ledger, "of-another-version", REDACTOR.document({}), 1)
    for its_id in (cut_off, odd):
        job = jobs.get(ledger, its_id)
        assert job is not None
        jobs.begin(ledger, job, 1)
    ledger.close()
    with home.daemon(**QUIET):

        def of(its_id: str) -> Any:
            reader = open_reader(home.state)
            found = jobs.get(reader, its_id)
            reader.close()
            return found

        wait_for(lambda: of(queued).state == "done")
        assert of(cut_off).state == "done"
        assert of(cut_off).tries == 2
        assert json.loads(of(cut_off).result)["new"] == 0
        assert of(odd).state == "failed"
        assert json.loads(of(odd).error)["kind"] == "interrupted"
        told = home.json("status")["jobs"]
        assert told["waiting"] == 0
        assert [job["name"] for job in told["failed"]] == ["of-another-version"]


def test_a_job_that_ends_every_daemon_is_given_up(home: Home) -> None:
    ledger = open_writer(home.state, "box")
    its_id = jobs.submit(ledger, "ingest", REDACTOR.document({}), 1)
    for _ in range(3):
        job = jobs.get(ledger, its_id)
        assert job is not None
        jobs.begin(ledger, job, 1)
    ledger.close()
    with home.daemon(**QUIET):
        wait_for(lambda: any(job.id == its_id for job in jobs.failures(open_reader(home.state))))
        assert home.json("ingest")["files"] == 0


def test_a_caller_follows_its_job_into_the_next_daemon(home: Home) -> None:
    """The daemon is killed in the middle of the job, and comes back."""
    with home.daemon(**QUIET, AFTERWORD_FAULT="kill@note.append#1") as daemon:
        wait_for(lambda: home.run("search", "broken", code=None).returncode == 0)
        caller = home.start("up", "--once", "--settle", "0", "--json")
        assert daemon.wait(timeout=60) == -signal.SIGKILL
    with home.daemon(**QUIET):
        out, err = caller.communicate(timeout=60)
    assert (caller.returncode, err) == (0, "")
    assert json.loads(out)["command"] == "up"
    assert home.daily().count("### Session") == 1


def test_a_caller_is_told_when_the_daemon_went_away_for_good(home: Home) -> None:
    with home.daemon(**QUIET, AFTERWORD_FAULT="kill@note.append#1"):
        wait_for(lambda: home.run("search", "broken", code=None).returncode == 0)
        said = home.json("up", "--once", "--settle", "0", code=75)["error"]
    assert "went away" in said["message"]
    assert "the job is kept" in said["hint"]


def test_a_note_that_cannot_be_written_is_named_and_written_later(home: Home) -> None:
    with home.daemon(**QUIET, AFTERWORD_FAULT="fail@note.append#1"):
        wait_for(lambda: home.run("search", "broken", code=None).returncode == 0)
        said = home.json("up", "--once", "--settle", "0")
        assert "daily/" in said["vault_problem"]
        assert said["pending"]["sections"] == 1
        assert home.json("up", "--once", "--settle", "0")["vault_problem"] is None
    assert home.daily().count("### Session") == 1


def test_stop_ends_the_daemon_and_says_when_there_is_none(home: Home) -> None:
    with home.daemon(**QUIET) as daemon:
        assert home.json("stop") == {"version": 1, "command": "stop", "pid": daemon.pid, "stopped": True}
        assert daemon.wait(timeout=10) == 0
    home.run("stop", code=3)
    assert not (home.state / "door.json").exists()


def test_up_has_a_door_too(tmp_path: Path) -> None:
    home = Home(tmp_path)
    session(home, 1)
    process = home.start("up", "--settle", "1h")
    try:
        wait_for((home.state / "door.json").exists)
        assert home.json("up", "--once", "--settle", "0")["sections"]["made"] == 1
        assert home.json("stop")["stopped"] is True
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 0, err
    assert "Took in 1 session " in out


def test_a_taken_port_stops_no_capture(home: Home) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        daemon = home.start("run", **QUIET, AFTERWORD_DOOR_PORT=str(taken.getsockname()[1]))
        try:
            wait_for(lambda: home.run("search", "broken", code=None).returncode == 0)
            assert "takes no jobs" in home.json("ingest", code=75)["error"]["message"]
        finally:
            daemon.send_signal(signal.SIGTERM)
            _, err = daemon.communicate(timeout=30)
    assert daemon.returncode == 0
    assert "the door could not be opened" in err


def hook(home: Home, event: str, **said: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "afterword.hook", event],
        input=json.dumps(said), env=home.env, text=True, check=True, timeout=30,
    )  # fmt: skip


@pytest.mark.parametrize("event", ["session-end", "pre-compact"])
def test_what_ended_is_written_up_at_once(home: Home, event: str) -> None:
    with home.daemon(**QUIET):
        wait_for(lambda: home.run("search", "broken", code=None).returncode == 0)
        path = session(home, 2, "The socket is slow, look why.")
        hook(home, "session-start", session_id="session-1", transcript_path=str(path), cwd="/srv")
        hook(home, event, session_id="session-2", transcript_path=str(path), cwd="/srv")
        # The settings would have it wait an hour.
        wait_for(lambda: "socket is slow" in home.daily())
        assert "cache is broken" not in home.daily()
        wait_for(lambda: not list((home.state / "spool").iterdir()))


def test_what_ended_before_its_file_was_seen_is_written_up(home: Home) -> None:
    """The hook is faster than the look that would find the file: here in a store that is not watched yet."""
    made = CodexSession(random.Random(7))
    made.prompt("The socket is slow, look why.")
    made.reply("We decided to keep one buffer a socket. The cause was a shared buffer.")
    path = made.path(home.path)
    with home.daemon(**QUIET):
        wait_for(lambda: home.run("search", "broken", code=None).returncode == 0)
        path.parent.mkdir(parents=True)
        path.write_bytes(b"".join(made.lines))
        hook(home, "session-end", session_id=made.session, transcript_path=str(path), cwd="/srv")
        wait_for(lambda: "socket is slow" in home.daily())


def test_what_ended_without_a_daemon_is_written_up_when_it_starts(home: Home) -> None:
    path = session(home, 2, "The socket is slow, look why.")
    hook(home, "session-end", session_id="session-2", transcript_path=str(path), cwd="/srv")
    (home.state / "spool/junk.json").write_text("{")
    with home.daemon(**QUIET):
        wait_for(lambda: "socket is slow" in home.daily())
        assert "cache is broken" not in home.daily()
        wait_for(lambda: not list((home.state / "spool").iterdir()))
        reader = open_reader(home.state)
        assert reader.meta("hooks_malformed") == 1
        reader.close()


def test_a_kill_before_the_write_up_loses_no_end_of_a_session(home: Home) -> None:
    path = session(home, 2, "The socket is slow, look why.")
    hook(home, "session-end", session_id="session-2", transcript_path=str(path), cwd="/srv")
    with home.daemon(**QUIET, AFTERWORD_FAULT="kill@note.append#1") as daemon:
        assert daemon.wait(timeout=60) == -signal.SIGKILL
    with home.daemon(**QUIET):
        wait_for(lambda: "socket is slow" in home.daily())
    assert home.daily().count("### Session") == 1


def test_an_end_nobody_knows_is_no_trouble(home: Home) -> None:
    with home.daemon(**QUIET):
        hook(home, "session-end", session_id="unknown", transcript_path="/nowhere/x.jsonl", cwd="/srv")
        hook(home, "session-end", session_id="", transcript_path="", cwd="")
        wait_for(lambda: not list((home.state / "spool").iterdir()))
        assert home.json("ingest")["new"] == 0
    assert home.daily() == ""


def test_the_service_manager_is_told(home: Home) -> None:
    import socket

    address = str(home.path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        manager.settimeout(60)
        said = []
        with home.daemon(**QUIET, NOTIFY_SOCKET=address, WATCHDOG_USEC="600000"):
            while said.count("WATCHDOG=1") < 4:
                said.append(manager.recv(1000).decode())
        while said[-1] != "STOPPING=1":
            said.append(manager.recv(1000).decode())
    assert said[0].startswith("READY=1\n")
