"""How quickly the loopback API answers eight callers while capture runs: `python -m bench.api [--seconds 10] [--json]`.

Callers that were paired search by exact words and ask for the pulse, each on its own connection, as fast as the limit
on paired programs lets them; beside them lines are appended to transcripts that the daemon watches, and each is looked
for until it is found. The load is on the same machine, so the times hold the callers' own work, too.
"""

import argparse
import http.client
import json
import random
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from afterword.index import search as exact
from afterword.index.narrowing import Filters
from afterword.store import doorfile
from afterword.store.ledger.ledger import open_reader
from bench.daemons import calm, daemon, program
from bench.frame import look, options, run, show
from bench.sessions import make
from bench.stores import env_of

CALLERS = 8
_EVERY_S = 0.06
"""Below 20 a second, which is what a paired program may ask."""
_LOST_S = 30.0


class Caller(threading.Thread):
    """Somebody who was paired, and asks until told to stop."""

    def __init__(self, state: Path, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        card = doorfile.read(state)
        assert card is not None
        self._stop_asking = stop
        self._link = http.client.HTTPConnection("127.0.0.1", card.port, timeout=30)
        owner = {"Authorization": f"Bearer {card.token}"}
        code = self._ask("/v1/pair/codes", {}, owner)["code"]
        self._headers = {
            "Authorization": f"Bearer {self._ask('/v1/pair', {'code': code, 'name': 'bench'}, {})['token']}"
        }
        self.took_ms: dict[str, list[float]] = {"search": [], "pulse": []}

    def run(self) -> None:
        rng = random.Random(self.name)
        while not self._stop_asking.is_set():
            for name, path, body in (
                ("search", "/v1/search", {"query": rng.choice(("latency", "error", "look")), "mode": "exact"}),
                ("pulse", "/v1/pulse", None),
            ):
                began = time.perf_counter()
                self._ask(path, body, self._headers)
                took = time.perf_counter() - began
                self.took_ms[name].append(took * 1000)
                time.sleep(max(0.0, _EVERY_S - took))

    def _ask(self, path: str, body: dict[str, Any] | None, headers: dict[str, str]) -> Any:
        if body is None:
            self._link.request("GET", path, headers=headers)
        else:
            self._link.request("POST", path, json.dumps(body), headers | {"Content-Type": "application/json"})
        answer = self._link.getresponse()
        said = answer.read()
        if answer.status != 200:
            sys.exit(f"{path}: {answer.status} {said[:200]!r}")
        return json.loads(said)


def measure(files: int, seconds: float) -> dict[str, Any]:
    """Milliseconds of answers, and of lines until they are found meanwhile."""
    with tempfile.TemporaryDirectory(prefix="afterword-api-") as name:
        root = Path(name)
        sessions = make(root / "home", files, 40)
        env = env_of(root / "home", root) | {"AFTERWORD_INDEX_EMBEDDER": "off"}
        state = root / "state/afterword"
        run(program("init", str(root / "vault"), "--zone", "UTC", "--yes"), env)
        run(program("up", "--once", "--settle", "0", "--json"), env)
        rng = random.Random(11)
        found_ms: list[float] = []
        stop = threading.Event()
        with daemon(state, env) as pid:
            if sys.platform == "linux":
                calm(pid, 600)
            callers = [Caller(state, stop) for _ in range(CALLERS)]
            for each in callers:
                each.start()
            ledger = open_reader(state)
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                word = f"api{len(found_ms)}x{rng.getrandbits(40):x}"
                rng.choice(sessions).append(f"please look at {word} as well")
                began = time.perf_counter()
                while not exact.search(ledger, state, word, Filters(), limit=1, now_us=0).hits:
                    if time.perf_counter() - began > _LOST_S:
                        sys.exit(f"{word} was not found within {_LOST_S:g} s")
                    time.sleep(0.002)
                found_ms.append((time.perf_counter() - began) * 1000)
                time.sleep(0.2)
            stop.set()
            for each in callers:
                each.join(30)
            ledger.close()
            memory_mb = look(pid).rss_mb
    search = sorted(ms for each in callers for ms in each.took_ms["search"])
    pulse = sorted(ms for each in callers for ms in each.took_ms["pulse"])
    found_ms.sort()
    return {
        "files": files,
        "callers": CALLERS,
        "answers": len(search) + len(pulse),
        "search_median_ms": search[len(search) // 2],
        "search_p95_ms": search[len(search) * 95 // 100],
        "pulse_median_ms": pulse[len(pulse) // 2],
        "pulse_p95_ms": pulse[len(pulse) * 95 // 100],
        "captured_median_ms": found_ms[len(found_ms) // 2],
        "memory_mb": memory_mb,
    }


def main(given: argparse.Namespace) -> None:
    show("api", measure(given.files, given.seconds), as_json=given.json)


if __name__ == "__main__":
    parser = options(__doc__)
    parser.add_argument("--files", type=int, default=500, help="transcripts in the store (default 500)")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long is asked (default 10)")
    main(parser.parse_args())
