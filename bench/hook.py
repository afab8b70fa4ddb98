"""What a hook costs an agent: each event against `python -c pass`, in one run. `python -m bench.hook [--json] [-n N]`.

The two take turns, so that a busy machine slows both; the ratio of their medians is what counts (target: 1.5).
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from afterword.hook import EVENTS
from afterword.store import contexts

TARGET = 1.5


def took_ms(command: list[str], env: dict[str, str], said: bytes) -> float:
    start = time.perf_counter()
    subprocess.run(command, env=env, input=said, stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - start) * 1000


def measure(rounds: int) -> dict[str, float]:
    """Median milliseconds of bare Python and of each event."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name).resolve()
        work = home / "src/orchard-api/deep/inside"
        work.mkdir(parents=True)
        (home / "src/orchard-api/.git").mkdir()
        ready = contexts.path_of(home / ".local/state/afterword", home / "src/orchard-api", "claude")
        ready.parent.mkdir(parents=True)
        ready.write_bytes(b"Tests run with `make test`.\n" * 100)
        said = json.dumps({"session_id": "s", "transcript_path": str(home / "s.jsonl"), "cwd": str(work)}).encode()
        env = {"HOME": str(home), "PATH": os.environ["PATH"]}
        script = Path(sys.executable).parent / "afterword-hook"
        commands = {"python -c pass": [sys.executable, "-c", "pass"]}
        commands |= {event: [sys.executable, str(script), event] for event in EVENTS}
        times: dict[str, list[float]] = {what: [] for what in commands}
        for _ in range(rounds):
            for what, command in commands.items():
                times[what].append(took_ms(command, env, said))
        return {what: statistics.median(found) for what, found in times.items()}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", action="store_true")
    options.add_argument("-n", type=int, default=60, help="rounds (default 60)")
    given = options.parse_args()
    found = measure(given.n)
    bare = found["python -c pass"]
    ratios = {what: took / bare for what, took in found.items()}
    if given.json:
        machine = {"python": platform.python_version(), "system": platform.platform(), "cpus": os.cpu_count()}
        print(json.dumps({"ms": found, "ratio": ratios, "target": TARGET, "on": machine}))
        return
    for what, took in found.items():
        print(f"{what:16}{took:8.1f} ms{ratios[what]:8.2f}x" + ("" if ratios[what] <= TARGET else "  over the target"))


if __name__ == "__main__":
    main()
