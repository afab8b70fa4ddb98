"""Homes for tests that run the program as a person does: a HOME of its own, the real command line, real files."""

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from warm import Warm, fits

FIXTURES = Path(__file__).parent / "fixtures"
WARM = Warm()


class Home:
    """A throw-away HOME. `run` starts the real program in it; `json` gives what its `--json` prints."""

    def __init__(self, path: Path, *, meaning: bool = False) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        kept = ("PATH", "LANG", "LC_ALL", "TMPDIR", "COVERAGE_PROCESS_START")
        self.env = {name: value for name, value in os.environ.items() if name in kept}
        self.env |= {"HOME": str(path), "TZ": "UTC", "AFTERWORD_MACHINE_NAME": "box", "PYTHONHASHSEED": "random"}
        if not meaning:
            # Loading the model costs each command two seconds; what tests search by meaning asks for it.
            self.env["AFTERWORD_INDEX_EMBEDDER"] = "off"

    @property
    def vault(self) -> Path:
        return self.path / "Afterword"

    @property
    def state(self) -> Path:
        return self.path / ".local/state/afterword"

    def sample(self, harness: str) -> None:
        """Lay a harness's sample store out in this home."""
        shutil.copytree(FIXTURES / "harness" / harness, self.path, dirs_exist_ok=True)

    def run(self, *words: str, code: int | None = 0, **env: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end and hold it to an exit code."""
        env = self.env | env
        if fits(env):
            done = WARM.run(words, env)
        else:
            done = subprocess.run(
                [sys.executable, "-m", "afterword", *words],
                env=env,
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
        said = (words, done.returncode, done.stdout[-2000:], done.stderr[-4000:])
        assert code is None or done.returncode == code, said
        return done

    def json(self, *words: str, code: int | None = 0, **env: str) -> dict[str, Any]:
        """What a command prints with `--json`."""
        found: dict[str, Any] = json.loads(self.run(*words, "--json", code=code, **env).stdout)
        return found

    def start(self, *words: str, **env: str) -> "subprocess.Popen[str]":
        """Start a command and leave it running."""
        return subprocess.Popen(
            [sys.executable, "-m", "afterword", *words],
            env=self.env | env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @contextmanager
    def daemon(self, *words: str, **env: str) -> Iterator["subprocess.Popen[str]"]:
        """A running `run` with an open door; stopped by a signal at the end, which must be a clean one."""
        process = self.start("run", *words, **env)
        try:
            end = time.monotonic() + 60
            while not (self.state / "door.json").exists() or self._card().get("pid") != process.pid:
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < end, "no door was opened"
                time.sleep(0.05)
            yield process
        finally:
            ended = process.poll()
            if ended is None:
                process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=60)
            if ended is None:
                assert process.returncode == 0, said
                assert "Traceback" not in said, said

    def _card(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads((self.state / "door.json").read_bytes())
        except (OSError, ValueError):
            return {}
        return found

    def vault_bytes(self) -> dict[str, bytes]:
        """Every file of the vault with its bytes."""
        return {
            str(path.relative_to(self.vault)): path.read_bytes() for path in self.vault.rglob("*") if path.is_file()
        }

    def daily(self) -> str:
        """All daily notes, one after the other."""
        return "".join(path.read_text() for path in sorted((self.vault / "daily").glob("*.md")))


def drop_override() -> None:
    """In a child, as root: give up the power to read what the mode forbids."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            assert libc.prctl(24, capability, 0, 0, 0) == 0


def differences(shown: dict[str, Any], wanted: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What `show --json` gave otherwise than a session of an `expected.json` says: (found, wanted) by its word."""
    session, items = shown["session"], shown["messages"]
    own = [item for item in items if not item["inherited"]]
    speech = [item for item in own if item["kind"] in ("prompt", "reply")]
    found = session | {
        "id": session["native_id"],
        "messages": [[item["role"], item["text"]] for item in speech if not item["abandoned"]],
        "abandoned": [[item["role"], item["text"]] for item in speech if item["abandoned"]],
        "commands": [[item["text"], item["exit_status"]] for item in own if item["kind"] == "command"],
        "edited": list(dict.fromkeys(item["path"] for item in items if item["kind"] == "edit")),
        "read": list(dict.fromkeys(item["path"] for item in items if item["kind"] == "read")),
    }
    return {name: (found[name], value) for name, value in wanted.items() if found.get(name, value) != value}
