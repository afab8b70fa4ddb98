"""The daemon: lines arrive while agents work, readers read, one writes, and a signal ends it cleanly."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from homes import Home

SESSION = "4b1f0c2e-0000-4000-8000-0000000000b0"


def row(n: int, text: str) -> bytes:
    record = {
        "parentUuid": f"u{n - 1}" if n else None,
        "sessionId": SESSION,
        "cwd": "/srv/orchard-api",
        "uuid": f"u{n}",
        "timestamp": f"2026-03-04T10:{n:02d}:00.000Z",
        "type": "user",
        "message": {"role": "user", "content": text},
    }
    return json.dumps(record).encode() + b"\n"


def transcript(home: Home) -> Path:
    path = home.path / ".claude/projects/-srv-orchard-api" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def wait_for(what: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.1)


@contextmanager
def daemon(home: Home, *words: str, **env: str) -> Iterator["subprocess.Popen[str]"]:
    """A running `up` that has done its first look and watches."""
    process = home.start("up", *words, **env)
    try:
        assert process.stderr is not None
        for said in process.stderr:
            if said.startswith("Watching"):
                break
        wait_for(
            lambda: (
                any(root["mode"] == "watched" for root in home.json("status")["roots"])
                or not home.json("status")["roots"]
            )
        )
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        _, rest = process.communicate(timeout=30)
        assert process.returncode == 0, rest
        assert "Traceback" not in rest


def found(home: Home, word: str) -> bool:
    return home.run("search", word, code=None).returncode == 0


def test_an_appended_line_is_found_and_written_up_without_a_sweep(tmp_path: Path) -> None:
    home = Home(tmp_path)
    transcript(home).write_bytes(row(0, "zebracrossing is broken, please look"))
    with daemon(home, "--settle", "1s", AFTERWORD_CAPTURE_SWEEP="1h"):
        assert found(home, "zebracrossing")
        with transcript(home).open("ab") as out:
            out.write(row(1, "now quaggafix it and tell me why it broke"))
        wait_for(lambda: found(home, "quaggafix"))
        wait_for(lambda: "quaggafix" in home.daily())
        # A file in a folder made just now, where its own event may come too early.
        other = home.path / ".claude/projects/-srv-new" / "deep.jsonl"
        other.parent.mkdir()
        other.write_bytes(row(5, "okapitime in a new project").replace(SESSION.encode(), b"other-session"))
        wait_for(lambda: found(home, "okapitime"))


def test_a_store_that_appears_later_is_found_by_the_sweep(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with daemon(home, "--settle", "1s", AFTERWORD_CAPTURE_SWEEP="1s"):
        transcript(home).write_bytes(row(0, "gnuarrival"))
        wait_for(lambda: found(home, "gnuarrival"))


def test_one_writes_and_others_read(tmp_path: Path) -> None:
    home = Home(tmp_path)
    transcript(home).write_bytes(row(0, "elandword"))
    with daemon(home) as process:
        for words in (("up",), ("run",)):
            busy = home.run(*words, code=75)
            assert f"pid {process.pid}" in busy.stderr
        said = home.json("up", code=75)["error"]
        assert said["kind"] == "busy"
        status = home.json("status")
        assert status["daemon"] == {"running": True, "pid": process.pid, "command": "up"}
        assert found(home, "elandword")
        assert home.json("show", SESSION)["messages"]
    assert home.json("status")["daemon"] == {"running": False}
    home.run("ingest")


def test_a_kill_leaves_no_lock_behind(tmp_path: Path) -> None:
    home = Home(tmp_path)
    transcript(home).write_bytes(row(0, "kuduword"))
    process = home.start("up")
    wait_for((home.state / "writer.lock").exists)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    home.run("up", "--once", "--settle", "0")
    assert found(home, "kuduword")
