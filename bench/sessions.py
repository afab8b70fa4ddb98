"""Small made-up sessions of Claude Code, by the thousand, that can go on while a daemon watches."""

import json
import os
import random
import uuid
from pathlib import Path

_START_S = 1_767_000_000
_SAID = (
    "the build fails after we move the cache to the shared folder so look into the lock and write a test for it "
    "first then rename the queue and keep the old name as an alias until everything reads the new one"
)


class Session:
    """One transcript. `append` adds a line as the agent would, at once."""

    def __init__(self, path: Path, cwd: str, rng: random.Random, start_s: int) -> None:
        self.path = path
        self._cwd = cwd
        self._rng = rng
        self._at_s = start_s
        self._parent: str | None = None

    def line(self, role: str, text: str) -> bytes:
        """The next line of it."""
        its_id = str(uuid.UUID(int=self._rng.getrandbits(128), version=4))
        self._at_s += 15
        at = _rfc3339(self._at_s)
        message: dict[str, object] = {"role": role, "content": text}
        if role == "assistant":
            content = [{"type": "text", "text": text}]
            message = {"role": role, "id": f"msg_{its_id}", "type": "message", "model": "made-up", "content": content}
        row = {
            "parentUuid": self._parent, "isSidechain": False, "userType": "external", "cwd": self._cwd,
            "sessionId": self.path.stem, "version": "2.1.250", "uuid": its_id, "timestamp": at, "type": role,
            "message": message,
        }  # fmt: skip
        self._parent = its_id
        return json.dumps(row).encode() + b"\n"

    def append(self, text: str) -> None:
        """A person says something more."""
        with self.path.open("ab", buffering=0) as file:
            file.write(self.line("user", text))


def _rfc3339(at_s: int) -> str:
    import datetime as dt

    return dt.datetime.fromtimestamp(at_s, dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def make(home: Path, files: int, folders: int, seed: int = 7) -> list[Session]:
    """So many sessions of a prompt and a reply each, over so many projects and a hundred days. With a seed that a store
    has met they are nothing new to it."""
    rng = random.Random(seed)
    words = _SAID.split()
    made = []
    for number in range(files):
        project = f"project-{number % folders:02d}"
        session = str(uuid.UUID(int=rng.getrandbits(128), version=4))
        path = home / ".claude/projects" / f"-srv-{project}" / f"{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        start_s = _START_S + number * 100 * 86_400 // files
        one = Session(path, f"/srv/{project}", rng, start_s)
        said = [" ".join(rng.choices(words, k=30)) for _ in range(2)]
        path.write_bytes(one.line("user", said[0]) + one.line("assistant", said[1]))
        os.utime(path, (start_s + 60, start_s + 60))
        made.append(one)
    return made
