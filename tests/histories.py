"""A made-up history large enough for several pieces a file: forks, sub-agents, torn tails, a file of many megabytes."""

import json
import os
import random
from pathlib import Path

from transcripts import ClaudeSession, CodexSession, busy_session, sentence

SECRET = "AKIA" + "Q3EGRZV7LKPWX2MD"  # made up
PLANTED = (
    f"export AWS_ACCESS_KEY_ID={SECRET}",
    "password = 'Tr0ub4dor-and-3-made-up'",
)


def long_session(rng: random.Random, size_mb: int) -> ClaudeSession:
    """A session of so many megabytes, mostly of what tools said."""
    session = ClaudeSession(rng, cwd="/srv/long-haul")
    size = 0
    while size < size_mb << 20:
        session.prompt(f"{sentence(rng)} {rng.choice(PLANTED)}")
        session.command("make all", "\n".join(sentence(rng, 12) for _ in range(1500)))
        session.reply(f"Decided: {sentence(rng, 14)} marker{rng.getrandbits(32):08x}")
        size = sum(map(len, session.lines[-4:])) + size
    return session


def write(home: Path, session: ClaudeSession | CodexSession, torn: bytes = b"") -> Path:
    path = session.path(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(session.lines) + torn)
    return path


def fork(session: ClaudeSession, rng: random.Random) -> ClaudeSession:
    """The session gone on with under a new id: its rows are copied, as a resume does."""
    made = ClaudeSession(rng, cwd=session.cwd)
    for line in session.lines[:-2]:
        row = json.loads(line)
        made.lines.append(json.dumps({**row, "sessionId": made.session}).encode() + b"\n")
        made.parent = row["uuid"]
    made.prompt(sentence(rng))
    made.reply(sentence(rng))
    return made


def sub_agent(home: Path, session: ClaudeSession, rng: random.Random) -> None:
    """A transcript of an agent that the session spawned."""
    agent = ClaudeSession(rng, session=session.session, cwd=session.cwd)
    name = f"{rng.getrandbits(32):08x}"
    agent.prompt(sentence(rng), isSidechain=True, agentId=name)
    agent.reply(sentence(rng), isSidechain=True, agentId=name)
    path = session.path(home).with_suffix("") / "subagents" / f"agent-{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(agent.lines))


def lay_out(home: Path, seed: int, *, files: int = 14, long_mb: int = 20) -> None:
    """The whole history; every file was last written long ago."""
    rng = random.Random(seed)
    for n in range(files):
        session = busy_session(rng, parts=rng.randrange(1, 5))
        torn = b'{"type": "user", "half": "' if n % 3 == 0 else b""
        write(home, session, torn)
        if isinstance(session, ClaudeSession):
            if n % 2:
                write(home, fork(session, rng))
            sub_agent(home, session, rng)
    if long_mb:
        write(home, long_session(rng, long_mb))
    rest(home)


def rest(home: Path) -> None:
    """Give every file a time of its own long ago."""
    for n, path in enumerate(sorted(home.rglob("*.jsonl"))):
        os.utime(path, (1_772_700_000 + n, 1_772_700_000 + n))
