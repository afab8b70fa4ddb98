"""What the daemon costs while nobody asks: `python -m bench.idle [--files 2000] [--seconds 60] [--json]`. Linux only.

A made-up store of so many transcripts, taken in and written up; then the daemon at rest, with its sweeps, and under
so many appended lines a second. CPU as a share of one core, memory, open handles, and how often its threads were
woken. Also "nothing changed": one look over all files in process.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.daemons import calm, daemon, program
from bench.frame import Moment, look, options, run, show
from bench.sessions import Session, make
from bench.stores import env_of

_FOLDERS = 40
_CALM_S = 1800.0


def share(before: Moment, after: Moment) -> dict[str, float]:
    """What lay between two looks, a second."""
    took_s = after.at_s - before.at_s
    return {
        "cpu_percent": 100 * (after.cpu_s - before.cpu_s) / took_s,
        "woken_per_s": (after.woken - before.woken) / took_s,
        "rss_mb": after.rss_mb,
        "handles": after.handles,
        "threads": after.threads,
    }


def busy(sessions: list[Session], events_per_s: int, seconds: float) -> int:
    """Append lines, evenly, to many files by turns; how many."""
    began = time.monotonic()
    done = 0
    while (now := time.monotonic() - began) < seconds:
        while done < now * events_per_s:
            sessions[done % min(len(sessions), events_per_s)].append(f"still there, number {done}")
            done += 1
        time.sleep(1 / events_per_s)
    return done


def nothing_changed(env: dict[str, str], rounds: int) -> dict[str, float]:
    """Milliseconds, wall and CPU, of a look over all files that finds nothing, in a process of its own."""
    code = (
        "import os\nfrom afterword.app.config import load\nfrom afterword.app.program import writer\n"
        "from bench.frame import medians\n"
        "with writer(load(), os.environ, 'bench') as program:\n"
        "    program.ingest(thorough=False)\n"
        f"    print(*medians(lambda: program.ingest(thorough=False), {rounds}))"
    )
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    wall_ms, cpu_ms = map(float, done.stdout.split())
    return {"nothing_changed_ms": wall_ms, "nothing_changed_cpu_ms": cpu_ms}


def measure(files: int, seconds: float, events_per_s: int) -> dict[str, Any]:
    """All of it, in a throw-away place."""
    with tempfile.TemporaryDirectory(prefix="afterword-idle-") as name:
        root = Path(name)
        sessions = make(root / "home", files, _FOLDERS)
        env = env_of(root / "home", root)
        run(program("init", str(root / "vault"), "--zone", "UTC", "--yes"), env)
        run(program("up", "--once", "--settle", "0", "--json"), env)
        found: dict[str, Any] = {"files": files, "seconds": seconds}
        found |= nothing_changed(env, 9)
        with daemon(root / "state/afterword", env) as pid:
            if not calm(pid, _CALM_S):
                sys.exit("the daemon did not come to rest")
            before = look(pid)
            time.sleep(seconds)
            found |= {f"rest_{key}": value for key, value in share(before, look(pid)).items()}
            before = look(pid)
            found["events"] = busy(sessions, events_per_s, seconds)
            found |= {f"busy_{key}": value for key, value in share(before, look(pid)).items()}
    return found


def main(given: argparse.Namespace) -> None:
    show("idle", measure(given.files, given.seconds, given.events), as_json=given.json)


if __name__ == "__main__":
    parser = options(__doc__)
    parser.add_argument("--files", type=int, default=2000, help="transcripts in the store (default 2000)")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each measurement (default 60: one sweep)")
    parser.add_argument("--events", type=int, default=50, help="lines a second in the second one (default 50)")
    main(parser.parse_args())
