"""Killed at random points while transcripts grow, the program ends up equal to a run nobody disturbed."""

import os
import random
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from homes import Home
from transcripts import ClaudeSession, CodexSession, busy_session

KILLS = int(os.environ.get("AFTERWORD_TEST_KILLS", "40"))
SEED = int(os.environ.get("AFTERWORD_TEST_SEED", "20260301"))

LEDGER = ("ledger.begin", "ledger.inside", "ledger.commit", "ledger.committed")
NOTE = ("note.append", "note.half", "note.appended")
OTHER = ("text.commit", "text.committed", "atomic.write", "atomic.fsync", "atomic.rename")


class Feed:
    """Appends the bytes of several files in random pieces, cut anywhere, also inside a character."""

    def __init__(self, rng: random.Random, home: Path) -> None:
        self._rng = rng
        self._home = home
        self._rest: dict[Path, bytes] = {}
        self.sessions: list[ClaudeSession | CodexSession] = []

    def give(self, *, more: bool) -> bool:
        """Append a piece; with `more`, new sessions begin when few are left. Whether anything was appended."""
        if more and len(self._rest) < 3:
            session = busy_session(self._rng, parts=5)
            self.sessions.append(session)
            self._rest[session.path(self._home)] = b"".join(session.lines)
        if not self._rest:
            return False
        path = self._rng.choice(sorted(self._rest))
        size = self._rng.randrange(1, 4000)
        data, rest = self._rest[path][:size], self._rest[path][size:]
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as out:
            out.write(data)
        if rest:
            self._rest[path] = rest
        else:
            del self._rest[path]
        return True


def fault(rng: random.Random, done: Counter[str]) -> tuple[str, str]:
    """(kind of kill, value of AFTERWORD_FAULT): what there were too few of comes first."""
    wanted = {"ledger": KILLS // 4, "note": KILLS // 4, "other": KILLS // 10, "signal": KILLS // 4}
    short = [kind for kind, count in wanted.items() if done[kind] < count] or list(wanted)
    kind = rng.choice(short)
    if kind == "signal":
        return kind, ""
    point = rng.choice({"ledger": LEDGER, "note": NOTE, "other": OTHER}[kind])
    # ledger.inside is reached once a record, the others once a transaction or append.
    nth = {"ledger.inside": rng.randrange(1, 60)}.get(point, rng.randrange(1, 5 if kind == "ledger" else 3))
    return kind, f"kill@{point}#{nth}"


def test_kills_at_random_points_leave_no_difference(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    rng = random.Random(SEED)
    home, calm = Home(tmp_path / "disturbed"), Home(tmp_path / "calm")
    feed = Feed(rng, home.path)
    home.run("init", "--yes")

    done: Counter[str] = Counter()
    while sum(done.values()) < KILLS or min(done["ledger"], done["note"]) < KILLS // 5:
        kind, spec = fault(rng, done)
        daemon = home.start("up", "--settle", "2s", **({"AFTERWORD_FAULT": spec} if spec else {}))
        killed = disturb(daemon, feed, rng, wait_s=rng.uniform(0.5, 2.0) if kind == "signal" else 12.0)
        done[kind if killed == "fault" else "signal"] += 1
        assert sum(done.values()) < KILLS * 3, done
    while feed.give(more=False):
        pass
    record_property("kills", f"seed {SEED}: {sum(done.values())} kills, {dict(done)}, {len(feed.sessions)} sessions")
    assert len(re.findall(r"^%% afterword s-", home.daily(), re.MULTILINE)) >= min(30, KILLS)
    home.run("up", "--once", "--settle", "0")

    for session in feed.sessions:
        path = session.path(calm.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(session.lines))
    calm.run("init", "--yes")
    calm.run("up", "--once", "--settle", "0")

    explain = ("doctor", "--fingerprint", "--explain")
    assert home.run(*explain).stdout.splitlines() == calm.run(*explain).stdout.splitlines()
    check_notes(home, calm)
    first = home.vault_bytes()
    home.run("up", "--once", "--settle", "0")
    assert home.vault_bytes() == first


def disturb(daemon: "subprocess.Popen[str]", feed: Feed, rng: random.Random, wait_s: float) -> str:
    """Feed while the daemon runs, until the fault has killed it or the time is up; then kill it."""
    end = time.monotonic() + wait_s
    while daemon.poll() is None and time.monotonic() < end:
        for _ in range(rng.randrange(1, 4)):
            feed.give(more=True)
        time.sleep(rng.uniform(0.05, 0.4))
    by_fault = daemon.poll() is not None
    if not by_fault:
        daemon.send_signal(signal.SIGKILL)
    out, err = daemon.communicate(timeout=30)
    assert daemon.returncode == -signal.SIGKILL, (daemon.returncode, out, err)
    assert "Traceback" not in err, err
    return "fault" if by_fault else "signal"


SECTION = re.compile(r"^### Session .*?^%% /afterword (\S+) %%$", re.MULTILINE | re.DOTALL)


def check_notes(home: Home, calm: Home) -> None:
    """Every section stands whole and once; the newest revision of each says what the calm run's says."""
    assert newest(home) == newest(calm)


def newest(home: Home) -> dict[str, str]:
    text = home.daily()
    starts = re.findall(r"^%% afterword (s-[0-9a-f]{12}(?:-r\d+)?) (?!withdrawn)", text, re.MULTILINE)
    ends = re.findall(r"^%% /afterword (\S+) %%$", text, re.MULTILINE)
    assert starts == ends
    assert len(starts) == len(set(starts))
    found: dict[str, tuple[int, str]] = {}
    for match in SECTION.finditer(text):
        key, _, rev = match[1].partition("-r")
        body = re.sub(r"\^?s-[0-9a-f]{12}(-r\d+)?|^replaces .*\n", "", match[0], flags=re.MULTILINE)
        found[key] = max(found.get(key, (0, "")), (int(rev or 1), body))
    return {key: body for key, (_, body) in found.items()}
