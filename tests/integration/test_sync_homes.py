"""Two homes that share what they know, by the real program: over a real SSH server, by a folder, through a daemon."""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import Home
from knowledge import NOW
from peers import a_laptop, a_mini, fingerprint, home, moved, served
from sshd import Sshd


@pytest.fixture
def laptop(tmp_path: Path) -> Home:
    return a_laptop(tmp_path / "laptop")


@pytest.fixture
def mini(tmp_path: Path) -> Home:
    return a_mini(tmp_path / "server" / "home")


@pytest.fixture
def server(tmp_path: Path, laptop: Home, mini: Home) -> Iterator[Sshd]:
    """An SSH server whose home is the mini's."""
    with served(tmp_path / "server", laptop, mini) as started:
        yield started


def doctor(made: Home) -> tuple[str, str]:
    """What the check of peers finds."""
    (found,) = [one for one in made.json("doctor", code=None, **NOW)["checks"] if one["name"] == "peers"]
    return found["level"], found["message"]


def test_the_five_lines(laptop: Home, mini: Home, server: Sshd) -> None:
    laptop.run("sync", "peers", "add", "mini", "--every", "15m")
    dry = laptop.json("sync", "mini", "--dry-run", **NOW)
    assert dry["dry_run"]
    assert {peer["direction"] for peer in dry["peers"] if peer["origins"]} == {"in", "out"}
    before = fingerprint(laptop), fingerprint(mini)
    assert before[0] != before[1]
    done = laptop.json("sync", "mini", **NOW)
    ways = {peer["direction"]: peer for peer in done["peers"]}
    assert ways["out"]["peer"] == "mini"
    assert all(sum(origin["new"] for origin in way["origins"]) > 10 for way in ways.values())
    assert fingerprint(laptop) == fingerprint(mini)
    assert moved(laptop.json("sync", "mini", **NOW)) == 0
    assert moved(laptop.json("sync", "mini", **NOW)) == 0
    found = laptop.json("search", "tide page lag", **NOW)["results"]
    assert {one["origin"] for one in found} == {"mini"}
    assert "tide page lag" in laptop.daily() or "harbour" in laptop.daily()
    assert doctor(laptop) == ("ok", "mini: met 2026-06-11 12:00 UTC")
    status = laptop.json("sync", "status", **NOW)
    assert [(peer["peer"], peer["lag"], peer["problem"]) for peer in status["peers"]] == [("mini", 0, None)]
    assert laptop.json("status", **NOW)["peers"][0]["peer"] == "mini"
    on = status["compiles_on"]
    other = mini if on == "laptop" else laptop
    assert on in other.run("compile", code=1, **NOW).stderr


def test_a_machine_that_sleeps(laptop: Home, tmp_path: Path) -> None:
    laptop.run("sync", "peers", "add", "mini", "--host", "nobody.invalid")
    failed = laptop.json("sync", "mini", code=1, **NOW)
    assert failed["error"]["kind"] == "sync"
    [peer] = laptop.json("sync", "status", **NOW)["peers"]
    assert peer["failures"] == 1
    assert "nobody.invalid" in peer["problem"]
    level, said = doctor(laptop)
    assert level == "trouble"
    assert said.startswith("mini: never met, ")
    assert "nobody.invalid" in said
    laptop.run("sync", "peers", "remove", "mini")
    assert laptop.json("sync", "peers")["peers"] == []


def test_through_both_daemons(laptop: Home, mini: Home, server: Sshd) -> None:
    with laptop.daemon(**NOW), mini.daemon(**NOW):
        laptop.json("sync", "mini", **NOW)
    assert fingerprint(laptop) == fingerprint(mini)


def test_by_a_folder_and_forgetting_in_both(laptop: Home, mini: Home, tmp_path: Path) -> None:
    batches = tmp_path / "batches"
    laptop.json("sync", "export", str(batches), **NOW)
    taken = mini.json("sync", "import", str(batches), **NOW)
    assert taken["peers"][0]["peer"] == "dir"
    assert "nothing new from dir" in mini.run("sync", "import", str(batches), **NOW).stdout
    # One of the two compiles from here on, and both know which.
    on = mini.json("sync", "status", **NOW)["compiles_on"]
    mini.json("sync", "export", str(batches), **NOW)
    laptop.json("sync", "import", str(batches), **NOW)
    assert laptop.json("sync", "status", **NOW)["compiles_on"] == on
    assert fingerprint(laptop) == fingerprint(mini)
    old = tmp_path / "old"
    shutil.copytree(batches, old)
    assert "tide page" in "".join(path.read_text() for path in old.iterdir())
    native = mini.json("search", "tide page lag", **NOW)["results"][0]["session"]
    laptop.json("forget", native, "--yes", **NOW)
    # Its own folder was written anew by that.
    assert "tide page" not in "".join(path.read_text() for path in batches.iterdir())
    mini.json("sync", "import", str(batches), **NOW)
    mini.json("sync", "export", str(batches), **NOW)
    laptop.json("sync", "import", str(batches), **NOW)
    for made in (laptop, mini):
        made.json("sync", "import", str(old), **NOW)
        assert made.json("search", "tide page lag", code=3, **NOW)["results"] == []
        assert "tide page" not in made.daily()
        for path in made.state.rglob("*"):
            assert not path.is_file() or b"tide page" not in path.read_bytes(), path
    mini.json("sync", "export", str(batches), **NOW)
    assert "tide page" not in "".join(path.read_text() for path in batches.iterdir())
    assert fingerprint(laptop) == fingerprint(mini)


def test_the_daemon_does_it_by_itself(laptop: Home, mini: Home, server: Sshd) -> None:
    laptop.run("sync", "peers", "add", "mini", "--every", "1h")
    wanted = None
    with laptop.daemon():
        end = time.monotonic() + 60
        while wanted is None and time.monotonic() < end:
            wanted = next((peer for peer in laptop.json("sync", "status")["peers"] if peer["last"]), None)
            time.sleep(0.2)
    assert wanted is not None
    assert wanted["lag"] == 0
    assert laptop.json("search", "tide page lag")["results"][0]["from"] == "mini"
    assert "from mini" in laptop.run("search", "tide page lag").stdout


def test_serve_says_what_is_missing(tmp_path: Path) -> None:
    bare = home(tmp_path / "bare", "bare")
    done = subprocess.run(
        [sys.executable, "-m", "afterword", "sync", "serve"],
        env=bare.env,
        input=b"",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 4
    assert done.stdout == b""
    assert b"afterword up" in done.stderr
