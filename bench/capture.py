"""Cold ingest of a made-up corpus: `python -m bench.capture [--size-mb 200] [--json]`.

Runs the real `afterword ingest` in a throw-away HOME, then checks that every needle is found with its exact count and
that no planted secret is in any byte written. CPU seconds are user + system of the whole process; the ratio is to one
`json.loads` pass over the same files in this run.

With several processes `wall_per_cpu` counts on free cores only. `busiest_per_cpu` does not: it is the CPU of the
process that used most against that of all, below which the wall cannot get however many cores there are.
"""

import contextlib
import itertools
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from bench import frame

ROOT = Path(__file__).parent
CACHE = Path(os.environ.get("AFTERWORD_BENCH") or Path(tempfile.gettempdir()) / "afterword-bench")
"""Corpora, and the stores made of them: kept, because they take minutes."""


def corpus(size_mb: int, seed: int) -> Path:
    """The corpus as a HOME, made once and kept."""
    home = CACHE / f"corpus-{size_mb}-{seed}"
    if not (home / "corpus.json").exists():
        words = ["--out", str(home), "--size-mb", str(size_mb), "--seed", str(seed), "--edge-cases"]
        subprocess.run([sys.executable, str(ROOT / "make_corpus.py"), *words], check=True, stdout=subprocess.DEVNULL)
    return home


def loads_pass(home: Path) -> float:
    """CPU seconds of one `json.loads` pass over the transcripts."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    for path in sorted(home.glob(".c*/**/*.jsonl")):
        with path.open("rb") as lines:
            for line in lines:
                if line.endswith(b"\n"):
                    json.loads(line)
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def check(home: Path, env: dict[str, str]) -> dict[str, int]:
    """Needles that were not found with their exact count, and planted secrets in any byte that was written."""
    from afterword.store.ledger import views
    from afterword.store.ledger.ledger import open_reader

    made = json.loads((home / "corpus.json").read_text())
    wrong = 0
    for needle, count in made["needles"].items():
        words = [sys.executable, "-m", "afterword", "search", needle, "--json", "-n", "100000"]
        found = json.loads(subprocess.run(words, env=env, capture_output=True, check=False).stdout)
        wrong += found["total"] != count or len(found["results"]) != count
    values = [part for _, value in made["secrets"] for part in value.split("\n")]
    state = Path(env["XDG_STATE_HOME"]) / "afterword"
    ledger = open_reader(state)
    texts = (text.encode() for _, _, _, text, _, _ in views.all_items(ledger))
    files = (path.read_bytes() for path in state.rglob("*") if path.is_file())
    leaked = len(_found(values, itertools.chain(texts, files)))
    ledger.close()
    return {"needles": len(made["needles"]), "needles_wrong": wrong, "secrets": len(values), "secrets_left": leaked}


def _found(values: list[str], texts: Iterable[bytes]) -> set[bytes]:
    """Those of the values that stand in a text; all are looked for in one pass."""
    import re

    wanted = b"|".join(re.escape(value.encode()) for value in sorted(values, key=len, reverse=True))
    try:
        import re2

        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.max_mem = 1 << 30
        search = re2.compile(wanted, options).finditer
    except ImportError:
        search = re.compile(wanted).finditer
    return {match.group() for text in texts for match in search(text)}


class Prose:
    """When the last prose of a first ingest was found: looked at from outside, all the while.

    That is when the preview was whole, if there was one, else when the full text had taken in the last of it.
    """

    def __init__(self, state: Path) -> None:
        self._state = state
        self._upto = -1
        self._previewed_s = 0.0
        self._at_s = 0.0
        self.previewed = 0
        """How many pieces of prose the preview held when it was whole."""

    @property
    def at_s(self) -> float:
        return self._previewed_s or self._at_s

    def look(self, now_s: float) -> None:
        found = self._ask("preview.db", "SELECT count(*) FROM said")
        if found is not None and found > self.previewed:
            self.previewed, self._previewed_s = found, now_s
        found = self._ask("text-0.db", "SELECT value FROM meta WHERE key = 'prose.upto'")
        if found is not None and found != self._upto:
            self._upto, self._at_s = found, now_s

    def _ask(self, file: str, query: str) -> int | None:
        path = self._state / file
        try:
            with contextlib.closing(sqlite3.connect(path.as_uri() + "?mode=ro", uri=True)) as db:
                return int(db.execute(query).fetchone()[0])
        except (sqlite3.Error, TypeError):
            return None


def prose_missed(state: Path, previewed: int) -> int:
    """How many pieces of prose were not in the preview; 0 when there was none."""
    from afterword.domain.items import PROSE_KINDS
    from afterword.store.ledger.ledger import open_reader

    ledger = open_reader(state)
    kinds = ",".join(str(int(kind)) for kind in PROSE_KINDS)
    count: int = ledger.db.execute(f"SELECT count(*) FROM item WHERE kind IN ({kinds}) AND chars > 0").fetchone()[0]
    ledger.close()
    return count - previewed if previewed else 0


def redaction_s(state: Path) -> float:
    """CPU seconds to redact every stored text once more, with the engine made for it: what they cost in the ingest."""
    from afterword.redact.redactor import Redactor
    from afterword.store.ledger import views
    from afterword.store.ledger.ledger import open_reader

    ledger = open_reader(state)
    texts = (text for _, _, _, text, _, _ in views.all_items(ledger))
    redactor = Redactor()
    took_s = 0.0
    while some := list(itertools.islice(texts, 1000)):
        before = frame.own_cpu_s()
        for text in some:
            redactor.redact(text)
        took_s += frame.own_cpu_s() - before
    ledger.close()
    return took_s


def run(size_mb: int, seed: int, jobs: int) -> dict[str, Any]:
    home = corpus(size_mb, seed)
    with tempfile.TemporaryDirectory(prefix="afterword-bench-") as scratch:
        env = {"PATH": os.environ["PATH"], "HOME": str(home)}
        env |= {f"XDG_{kind}_HOME": f"{scratch}/{kind.lower()}" for kind in ("STATE", "CONFIG", "CACHE", "DATA")}
        base = loads_pass(home)
        words = [sys.executable, "-m", "afterword", "ingest", *(["--jobs", str(jobs)] if jobs else [])]
        prose = Prose(Path(env["XDG_STATE_HOME"]) / "afterword")
        cold, each = frame.watched(words, env, 0.05, prose.look)
        again = frame.run([sys.executable, "-m", "afterword", "ingest"], env)
        bare = frame.run([sys.executable, "-c", "pass"], env)
        totals = json.loads((home / "corpus.json").read_text())["totals"]
        stored = sum(path.stat().st_size for path in Path(f"{scratch}/state").rglob("*") if path.is_file())
        return {
            "corpus_mb": totals["bytes"] / 1e6,
            "files": totals["files"],
            "json_loads_cpu_s": base,
            **msgspec.structs.asdict(cold),
            "cpu_ratio_to_json_loads": cold.cpu_s / base,
            "wall_per_cpu": cold.wall_s / cold.cpu_s,
            "busiest_per_cpu": max((one.cpu_s for one in each), default=cold.cpu_s) / cold.cpu_s,
            "prose_after": prose.at_s / cold.wall_s,
            "prose_missed_ahead": prose_missed(Path(f"{scratch}/state/afterword"), prose.previewed),
            "processes": "; ".join(f"{one.what} {one.cpu_s:.1f} s {one.peak_mb:.0f} MB" for one in each),
            "redaction_percent": 100 * redaction_s(Path(f"{scratch}/state/afterword")) / cold.cpu_s,
            "nothing_changed_cpu_s": again.cpu_s - bare.cpu_s,
            "store_mb": stored / 1e6,
            "store_per_text_char": stored / (totals["text_chars"] + totals["tool_chars"]),
            **check(home, env),
        }


def main() -> None:
    parser = frame.options(__doc__, size_mb=200)
    parser.add_argument("--jobs", type=int, default=0, help="how many processes read (default: one for each core)")
    given = parser.parse_args()
    frame.show("capture", run(given.size_mb, given.seed, given.jobs), as_json=given.json)


if __name__ == "__main__":
    main()
