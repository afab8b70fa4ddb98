"""What a hook costs an agent: each event against `python -c pass`, in one run. `python -m bench.hook [--json] [-n N]`.

The two take turns, so that a busy machine slows both; the ratio of their medians is what counts (target: 1.5).
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from afterword.hook import EVENTS
from afterword.store import contexts
from bench.frame import options, show


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
    parser = options(__doc__)
    parser.add_argument("-n", type=int, default=60, help="rounds (default 60)")
    given = parser.parse_args()
    found = measure(given.n)
    bare = found.pop("python -c pass")
    ratios = {f"{event}_ratio": took / bare for event, took in found.items()}
    shown = {"bare_ms": bare, **{f"{event}_ms": took for event, took in found.items()}, **ratios}
    show("hook", {**shown, "worst_ratio": max(ratios.values())}, as_json=given.json)


if __name__ == "__main__":
    main()
