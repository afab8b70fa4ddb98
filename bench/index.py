"""What search by meaning costs: `python -m bench.index [--size-mb 200] [--chunks 5000] [--hybrid-mb 0] [--json]`.

First index: the newest prompts and replies of a corpus, up to so many chunks, by the real command; exact questions are
asked meanwhile. One paragraph of an article is edited: so many chunks are embedded. With `--hybrid-mb`: a whole index
of a large corpus, questions through a running daemon's door, and the daemon's memory with Chroma and the model open.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from afterword.app.client import ask_door
from afterword.index.narrowing import Filters
from afterword.store.ledger.ledger import open_reader
from bench.daemons import calm, daemon, program, set_up
from bench.frame import children, look, options, run, show
from bench.query import ask, needles
from bench.sessions import make
from bench.stores import Store, env_of, store

_ASKED = 60
_OPENS_S = 60.0
_TALK = 12_300
"""Chunks of talk in the index that questions are put to: with those of the diary of a gigabyte they are 20,000."""
_QUESTIONS = (
    "why did the {} fail after the {} was moved",
    "what was decided about the {} and the {}",
    "how do we test the {} without the {}",
    "where is the {} of the {} written down",
)
_THINGS = "cache queue build session migration retry limit index token schema connection pool handler worker".split()  # noqa: SIM905


def first(made: Store, chunks: int) -> dict[str, Any]:
    """The first index of so many chunks, in a copy of the store; exact search while it is made."""
    with tempfile.TemporaryDirectory(prefix="afterword-index-") as name:
        root = Path(name)
        shutil.copytree(made.state, root / "state/afterword", ignore=shutil.ignore_patterns("index*", "chroma*"))
        env = env_of(made.home, root) | {"AFTERWORD_INDEX_MAX_CHUNKS": str(chunks)}
        began, before = time.monotonic(), os.times()
        child = subprocess.Popen(program("index", "--json"), env=env, stdout=subprocess.PIPE)
        copy = Store(made.home, root, env, made.made)
        ledger = open_reader(copy.state)
        took_ms: list[float] = []
        words = needles(made)
        while child.poll() is None:
            asked = time.perf_counter()
            ask(ledger, copy, words[len(took_ms) % len(words)], Filters())
            took_ms.append((time.perf_counter() - asked) * 1000)
            time.sleep(0.5)
        ledger.close()
        assert child.stdout is not None
        said = json.loads(child.stdout.read())
        used = os.times()  # of children that were waited for
        return {
            "first_chunks": said["done"]["embedded"],
            "first_wall_min": (time.monotonic() - began) / 60,
            "first_cpu_min": _children_s(used, before) / 60,
            "exact_meanwhile_ms": statistics.median(took_ms),
            "exact_meanwhile_worst_ms": max(took_ms),
        }


def _children_s(now: os.times_result, before: os.times_result) -> float:
    return now.children_user + now.children_system - before.children_user - before.children_system


def edited() -> dict[str, Any]:
    """One word in one paragraph of an article: how many chunks are embedded, of how many there are."""
    with tempfile.TemporaryDirectory(prefix="afterword-index-") as name:
        env = env_of(Path(name), Path(name)) | {"TMPDIR": name}
        home = Path(said(program("up", "--demo", "--json"), env)["home"])
        env = env_of(home, home / "xdg") | {"TMPDIR": name}
        env = {key: value for key, value in env.items() if not key.startswith("XDG_")}
        article = max((home / "Afterword/knowledge/concepts").glob("*.md"), key=lambda path: path.stat().st_size)
        text = article.read_text()
        head, _, rest = text.partition("## Details\n")
        paragraph, _, others = rest.partition("\n\n")
        words = paragraph.split(" ")
        words[len(words) // 2] = "harbour"
        article.write_text(f"{head}## Details\n{' '.join(words)}\n\n{others}")
        said(program("compile", "--json"), env)
        done = said(program("index", "--json"), env)["done"]
        return {"edited_embedded": done["embedded"], "edited_of": done["chunks"]}


def said(words: list[str], env: dict[str, str]) -> dict[str, Any]:
    """What a command prints with `--json`."""
    found: dict[str, Any] = json.loads(subprocess.run(words, env=env, capture_output=True, check=True).stdout)
    return found


def hybrid(size_mb: int, seed: int) -> dict[str, Any]:
    """Questions through the door of a daemon with a whole index open, and what it then holds."""
    made = store(size_mb, seed)
    env = {**made.env, "AFTERWORD_INDEX_MAX_CHUNKS": str(_TALK)}
    run(program("index"), env)
    set_up(made.root, env)
    rng = random.Random(5)
    with tempfile.TemporaryDirectory(prefix="afterword-index-") as name:
        beside = make(Path(name), 1, 1, seed=time.time_ns())[0]
        roots = f"{made.home / '.claude'}:{Path(name) / '.claude'}"
        took_ms: list[float] = []
        with daemon(made.state, env | {"AFTERWORD_CLAUDE_ROOT": roots}) as pid:
            calm(pid, 1800)
            beside.append("and now something new, so that the vector store is opened")
            time.sleep(2)
            calm(pid, 600)
            for number in range(_ASKED):
                question = rng.choice(_QUESTIONS).format(*rng.sample(_THINGS, 2))
                began = time.perf_counter()
                answer = ask_door(made.state, "/v1/search", {"query": question}, timeout_s=120.0)
                if answer is None or answer["semantic"] != "ready":
                    sys.exit("the daemon does not search by meaning")
                if number >= 5:  # the first one loads the model and the index
                    took_ms.append((time.perf_counter() - began) * 1000)
            # Chroma is closed when there is nothing to do: something new opens it again.
            beside.append("and something more")
            now = look(pid)
            while len(children(pid)) == 0 and time.monotonic() < began + _OPENS_S:
                time.sleep(0.2)
            for _ in range(20):
                time.sleep(0.2)
                now = max(now, look(pid), key=lambda moment: moment.rss_mb)
        status = said(program("status", "--json"), env)["index"]
    return {
        "hybrid_corpus_mb": made.mb,
        "hybrid_chunks": status["chunks"],
        "hybrid_ms": statistics.median(took_ms),
        "hybrid_worst_ms": max(took_ms),
        "daemon_mb": now.rss_mb,
    }


def main(given: argparse.Namespace) -> None:
    made = store(given.size_mb, given.seed)
    found: dict[str, Any] = {"corpus_mb": made.mb, **first(made, given.chunks), **edited()}
    if given.hybrid_mb:
        found |= hybrid(given.hybrid_mb, given.seed)
    show("index", found, as_json=given.json)


if __name__ == "__main__":
    parser = options(__doc__, size_mb=200)
    parser.add_argument("--chunks", type=int, default=5000, help="of the first index (default 5000)")
    parser.add_argument("--hybrid-mb", type=int, default=0, help="corpus for questions through a daemon (0: none)")
    main(parser.parse_args())
