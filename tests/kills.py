"""What tests that kill the program have in common: transcripts that grow, and a daemon that dies meanwhile."""

import contextlib
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from homes import Home
from transcripts import ClaudeSession, CodexSession

LEDGER = ("ledger.begin", "ledger.inside", "ledger.commit", "ledger.committed")
NOTE = ("note.append", "note.half", "note.appended")

Make = Callable[[random.Random], ClaudeSession | CodexSession]


class Feed:
    """Appends the bytes of several files in random pieces, cut anywhere, also inside a character."""

    def __init__(self, rng: random.Random, home: Path, make: Make, most_bytes: int = 4000) -> None:
        self._rng = rng
        self._home = home
        self._make = make
        self._most_bytes = most_bytes
        self.room = 1_000_000
        """How many sessions may still begin."""
        self._rest: dict[Path, bytes] = {}
        self.sessions: list[ClaudeSession | CodexSession] = []

    def give(self, *, more: bool) -> bool:
        """Append a piece; with `more`, new sessions begin when few are left. Whether anything was appended."""
        if more and self.room and len(self._rest) < 3:
            self.room -= 1
            session = self._make(self._rng)
            self.sessions.append(session)
            self._rest[session.path(self._home)] = b"".join(session.lines)
        if not self._rest:
            return False
        path = self._rng.choice(sorted(self._rest))
        size = self._rng.randrange(1, self._most_bytes)
        data, rest = self._rest[path][:size], self._rest[path][size:]
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as out:
            out.write(data)
        if rest:
            self._rest[path] = rest
        else:
            del self._rest[path]
        return True

    def all_into(self, home: Home) -> None:
        """Every session that was begun, whole, in another home."""
        for session in self.sessions:
            path = session.path(home.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"".join(session.lines))


def disturb(
    daemon: "subprocess.Popen[str]", feed: Feed, rng: random.Random, wait_s: float, *, family: bool = False
) -> str:
    """Feed while the daemon runs, until the fault has killed it or the time is up; then kill it, with `family` the
    processes it started, too. Says which of the two it was: fault or signal."""
    end = time.monotonic() + wait_s
    while daemon.poll() is None and time.monotonic() < end:
        for _ in range(rng.randrange(1, 4)):
            feed.give(more=True)
        time.sleep(rng.uniform(0.05, 0.4))
    by_fault = daemon.poll() is not None
    if not by_fault:
        children = children_of(daemon.pid) if family else []
        daemon.send_signal(signal.SIGKILL)
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
    out, err = daemon.communicate(timeout=30)
    assert daemon.returncode == -signal.SIGKILL, (daemon.returncode, out, err)
    assert "Traceback" not in err, err
    return "fault" if by_fault else "signal"


def children_of(pid: int) -> list[int]:
    """The processes this one started; none where the system does not say."""
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, path.read_text().split())
    return found


SECTION = re.compile(r"^### Session .*?^%% /afterword (\S+) %%$", re.MULTILINE | re.DOTALL)


def said(home: Home) -> dict[str, set[str]]:
    """What the revisions of every section in the daily notes say together, line by line, but of withdrawn ones; each
    must stand there whole and once."""
    text = home.daily()
    starts = re.findall(r"^%% afterword (s-[0-9a-f]{12}(?:-r\d+)?) (?!withdrawn)", text, re.MULTILINE)
    ends = re.findall(r"^%% /afterword (\S+) %%$", text, re.MULTILINE)
    assert starts == ends
    assert len(starts) == len(set(starts))
    found: dict[str, set[str]] = {}
    last: dict[str, int] = {}
    for match in SECTION.finditer(text):
        key = match[1].partition("-r")[0]
        body = re.sub(r"\^?s-[0-9a-f]{12}(-r\d+)?|^_(Goes on|Continued) from .*\n", "", match[0], flags=re.MULTILINE)
        found.setdefault(key, set()).update(body.splitlines())
        last[key] = match.start()
    for gone in re.finditer(r"^%% afterword (s-[0-9a-f]{12}) withdrawn ", text, re.MULTILINE):
        if last[gone[1]] < gone.start():
            del found[gone[1]]
    return found


def missing(home: Home, calm: Home) -> dict[str, set[str]]:
    """What a run nobody disturbed says and this one does not, by section; sections that only one has are whole.

    An earlier revision may have said more: a later one leaves it where it stands.
    """
    here, there = said(home), said(calm)
    gone = {key: lines - here.get(key, set()) for key, lines in there.items()}
    return {key: lines for key, lines in gone.items() if lines} | {key: here[key] for key in here.keys() - there.keys()}
