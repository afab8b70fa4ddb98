"""Cold ingest of a made-up corpus: `python -m bench.capture [--size-mb 200] [--json]`.

Runs the real `afterword ingest` in a throw-away HOME, then checks that every needle is found with its exact count and
that no planted secret is in any byte written. CPU seconds are user + system of the whole process; the ratio is to one
`json.loads` pass over the same files in this run.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent
CACHE = Path(tempfile.gettempdir()) / "afterword-bench"


def corpus(size_mb: int, seed: int) -> Path:
    """The corpus as a HOME, made once and kept."""
    home = CACHE / f"corpus-{size_mb}-{seed}"
    if not (home / "corpus.json").exists():
        words = ["--out", str(home), "--size-mb", str(size_mb), "--seed", str(seed), "--edge-cases"]
        subprocess.run([sys.executable, str(ROOT / "make_corpus.py"), *words], check=True, stdout=subprocess.DEVNULL)
    return home


def timed(words: list[str], env: dict[str, str]) -> dict[str, float]:
    """CPU and wall seconds and peak memory (MB) of a program run to its end."""
    began = time.monotonic()
    child = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{words} ended with {child.returncode}")
    scale = 1024 if sys.platform == "linux" else 1024 * 1024
    return {
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "wall_s": time.monotonic() - began,
        "peak_mb": usage.ru_maxrss / scale,
    }


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
    texts = "\0".join(text for _, _, _, text, _, _ in views.all_items(ledger))
    ledger.close()
    raw = b"\0".join(path.read_bytes() for path in state.rglob("*") if path.is_file())
    leaked = sum(value in texts or value.encode() in raw for value in values)
    return {"needles": len(made["needles"]), "needles_wrong": wrong, "secrets": len(values), "secrets_left": leaked}


def run(size_mb: int, seed: int) -> dict[str, Any]:
    home = corpus(size_mb, seed)
    with tempfile.TemporaryDirectory(prefix="afterword-bench-") as scratch:
        env = {"PATH": os.environ["PATH"], "HOME": str(home)}
        env |= {f"XDG_{kind}_HOME": f"{scratch}/{kind.lower()}" for kind in ("STATE", "CONFIG", "CACHE", "DATA")}
        base = loads_pass(home)
        cold = timed([sys.executable, "-m", "afterword", "ingest"], env)
        again = timed([sys.executable, "-m", "afterword", "ingest"], env)
        bare = timed([sys.executable, "-c", "pass"], env)
        totals = json.loads((home / "corpus.json").read_text())["totals"]
        stored = sum(path.stat().st_size for path in Path(f"{scratch}/state").rglob("*") if path.is_file())
        return {
            "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
            "corpus_mb": totals["bytes"] / 1e6,
            "files": totals["files"],
            "json_loads_cpu_s": base,
            **cold,
            "cpu_ratio_to_json_loads": cold["cpu_s"] / base,
            "nothing_changed_cpu_s": again["cpu_s"] - bare["cpu_s"],
            "store_mb": stored / 1e6,
            "store_per_text_char": stored / (totals["text_chars"] + totals["tool_chars"]),
            **check(home, env),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--size-mb", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = run(given.size_mb, given.seed)
    if given.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:26}{value:,.2f}" if isinstance(value, float) else f"{name:26}{value}")


if __name__ == "__main__":
    main()
