"""Two homes that exchange by the real program: a laptop with a history, and a mini behind a real SSH server."""

import random
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from homes import Home
from knowledge import HISTORY, NOW
from sshd import Client, Sshd
from transcripts import CodexSession, sentence

from afterword.domain.errors import Exit


def home(path: Path, name: str) -> Home:
    made = Home(path)
    made.env["AFTERWORD_MACHINE_NAME"] = name
    return made


def told(made: Home, seed: int, question: str = "Why does the tide page lag?") -> CodexSession:
    """A session on this machine, written up."""
    rng = random.Random(seed)
    session = CodexSession(rng, cwd="/srv/orchard-web")
    session.prompt(f"{question} {sentence(rng)}")
    session.reply("The root cause is a cache keyed by the day of the server. Decision: key it by the harbour's zone.")
    path = session.path(made.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(session.lines))
    for _ in range(100):
        # Whoever answered a machine that was killed holds the lock until it has noticed.
        done = made.run("up", "--once", "--settle", "0", code=None, **NOW)
        if done.returncode != Exit.BUSY:
            break
        time.sleep(0.1)
    assert done.returncode == 0, done.stderr
    return session


def fingerprint(made: Home) -> str:
    return str(made.json("doctor", "--fingerprint")["fingerprint"])


def a_laptop(path: Path) -> Home:
    """With the sample history, written up."""
    made = home(path, "laptop")
    shutil.copytree(HISTORY / ".claude", made.path / ".claude")
    made.run("up", "--once", "--settle", "0", **NOW)
    return made


def a_mini(path: Path) -> Home:
    """With one session."""
    made = home(path, "mini")
    told(made, 5)
    return made


@contextmanager
def served(folder: Path, laptop: Home, mini: Home, **env: str) -> Iterator[Sshd]:
    """An SSH server at `folder`, whose home is the mini's, `folder/home`; the laptop calls it `mini`."""
    bin_ = mini.path / ".local/bin"
    bin_.mkdir(parents=True, exist_ok=True)
    script = bin_ / "afterword"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m afterword "$@"\n')
    script.chmod(0o755)
    given = {name: value for name, value in mini.env.items() if name.startswith("AFTERWORD_") or name == "TZ"}
    with Sshd(folder, environment=given | NOW | env) as started:
        client = Client(laptop.path)
        client.config.unlink(missing_ok=True)  # a server before this one had another port
        client.host("mini", started)
        client.knows(started)
        yield started


def moved(said: dict[str, object]) -> int:
    """How many records went, by what `sync --json` says."""
    peers = said["peers"]
    assert isinstance(peers, list)
    return sum(origin["records"] for peer in peers for origin in peer["origins"])
