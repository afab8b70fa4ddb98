"""From an appended line to its being found, with a running daemon: `python -m bench.latency [-n 40] [--json]`.

Lines with a word of their own are appended to transcripts that the daemon watches; the word is searched for until it
is found. The time is from the end of the write to the answer that has it.
"""

import argparse
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from afterword.index import search as exact
from afterword.index.narrowing import Filters
from afterword.store.ledger.ledger import open_reader
from bench.daemons import calm, daemon, program
from bench.frame import options, run, show
from bench.sessions import make
from bench.stores import env_of

_LOST_S = 30.0
_LOOK_S = 0.002


def measure(files: int, rounds: int) -> dict[str, Any]:
    """Milliseconds of many lines."""
    with tempfile.TemporaryDirectory(prefix="afterword-latency-") as name:
        root = Path(name)
        sessions = make(root / "home", files, 40)
        env = env_of(root / "home", root) | {"AFTERWORD_INDEX_EMBEDDER": "off"}
        state = root / "state/afterword"
        run(program("init", str(root / "vault"), "--zone", "UTC", "--yes"), env)
        run(program("up", "--once", "--settle", "0", "--json"), env)
        rng = random.Random(11)
        took_ms: list[float] = []
        with daemon(state, env) as pid:
            if sys.platform == "linux":
                calm(pid, 600)
            ledger = open_reader(state)
            for number in range(rounds):
                word = f"latency{number}x{rng.getrandbits(40):x}"
                rng.choice(sessions).append(f"please look at {word} as well")
                began = time.perf_counter()
                while not exact.search(ledger, state, word, Filters(), limit=1, now_us=0).hits:
                    if time.perf_counter() - began > _LOST_S:
                        sys.exit(f"{word} was not found within {_LOST_S:g} s")
                    time.sleep(_LOOK_S)
                took_ms.append((time.perf_counter() - began) * 1000)
                time.sleep(0.3 + rng.random() * 0.4)
            ledger.close()
    took_ms.sort()
    return {
        "files": files,
        "lines": rounds,
        "median_ms": statistics.median(took_ms),
        "p90_ms": took_ms[len(took_ms) * 9 // 10],
        "worst_ms": took_ms[-1],
    }


def main(given: argparse.Namespace) -> None:
    show("latency", measure(given.files, given.n), as_json=given.json)


if __name__ == "__main__":
    parser = options(__doc__)
    parser.add_argument("--files", type=int, default=2000, help="transcripts in the store (default 2000)")
    parser.add_argument("-n", type=int, default=40, help="lines (default 40)")
    main(parser.parse_args())
