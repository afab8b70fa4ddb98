"""A running daemon for measurements: the real `afterword run`, with a vault, in a throw-away place."""

import contextlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.frame import look, run

_START_S = 120.0
_CALM_LOOK_S = 2.0
_CALM_SHARE = 0.03


def program(*words: str) -> list[str]:
    """The command line of the installed program."""
    return [str(Path(sys.executable).parent / "afterword"), *words]


def set_up(root: Path, env: Mapping[str, str]) -> None:
    """Make a vault, once."""
    if not (root / "vault").exists():
        run(program("init", str(root / "vault"), "--zone", "UTC", "--yes"), env)


@contextlib.contextmanager
def daemon(state: Path, env: Mapping[str, str]) -> Iterator[int]:
    """A daemon with an open door while the block runs; its pid.

    Raises:
        SystemExit: it ended, or opened no door.
    """
    process = subprocess.Popen(program("run"), env=dict(env), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + _START_S
        while _card(state).get("pid") != process.pid:
            if process.poll() is not None or time.monotonic() > end:
                sys.exit(f"the daemon opened no door ({process.returncode})")
            time.sleep(0.05)
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def calm(pid: int, patience_s: float) -> bool:
    """Wait until a daemon has nothing to do any more; False when it was busy all the time."""
    end = time.monotonic() + patience_s
    quiet = 0
    before = look(pid)
    while quiet < 3:
        if time.monotonic() > end:
            return False
        time.sleep(_CALM_LOOK_S)
        now = look(pid)
        quiet = quiet + 1 if (now.cpu_s - before.cpu_s) / (now.at_s - before.at_s) < _CALM_SHARE else 0
        before = now
    return True


def _card(state: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads((state / "door.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return found
