"""What exact search costs: in this process and as a command. `python -m bench.query [--size-mb 200] [--json]`.

In process: rare words, common ones, phrases, the median of several rounds. Completeness: every needle of the corpus
with its exact count. As a command: `afterword search` against `python -c pass` by turns, without and with a daemon.
"""

import argparse
import os
import statistics
import sys
from typing import Any

from afterword.index import search as exact
from afterword.index.narrowing import Filters
from afterword.index.search import Answer
from afterword.store.ledger.ledger import Ledger, open_reader
from bench.daemons import calm, daemon, program, set_up
from bench.frame import Cost, medians, options, peak_mb, run, show
from bench.stores import Store, store

NOW_US = 1_780_000_000_000_000
TWO_COMMON = "connection timeout"
QUESTIONS = {
    "two_common": TWO_COMMON,
    "one_common": "timeout",
    "three_common": "check cache index",
    "stop_words": "the error",
    "only_prompts": TWO_COMMON,
    "phrase": '"retry timeout"',
    "flag": "--force-with-lease",
    "miss": "zzzznothing",
}


def needles(made: Store) -> list[str]:
    """The needles, rarest first."""
    counts: dict[str, int] = dict(made.made["needles"])
    return sorted(counts, key=lambda needle: (counts[needle], needle))


def in_process(made: Store, rounds: int) -> dict[str, Any]:
    """Milliseconds of each kind of question, wall and CPU, and whether every needle is found."""
    ledger = open_reader(made.state)
    found: dict[str, Any] = {}
    rarest = needles(made)
    questions = {"rare": rarest[0], "many": rarest[-1], **QUESTIONS}
    for name, question in questions.items():
        filters = Filters(kind="prompt") if name == "only_prompts" else Filters()
        wall_ms, cpu_ms = medians(lambda q=question, f=filters: ask(ledger, made, q, f), rounds)  # type: ignore[misc]
        answer = ask(ledger, made, question, filters)
        found |= {f"{name}_ms": wall_ms, f"{name}_cpu_ms": cpu_ms, f"{name}_hits": answer.total}
    wrong = 0
    for needle, count in made.made["needles"].items():
        answer = ask(ledger, made, needle, Filters(), limit=count + 1)
        wrong += not (answer.total == count == len(answer.hits) and all(needle in hit.text for hit in answer.hits))
    ledger.close()
    return found | {"needles": len(rarest), "needles_wrong": wrong}


def ask(ledger: Ledger, made: Store, question: str, filters: Filters, *, limit: int = 10) -> Answer:
    """One question to the exact search."""
    return exact.search(ledger, made.state, question, filters, limit=limit, now_us=NOW_US)


def as_command(made: Store, rounds: int, name: str) -> dict[str, Any]:
    """The whole process against bare Python, by turns."""
    rare = needles(made)[0]
    bare: list[Cost] = []
    whole: list[Cost] = []
    for _ in range(rounds):
        bare.append(run([sys.executable, "-c", "pass"], made.env))
        whole.append(run(program("search", rare), made.env))
    middle = {
        "bare_ms": statistics.median(cost.wall_s for cost in bare) * 1000,
        "bare_cpu_ms": statistics.median(cost.cpu_s for cost in bare) * 1000,
        f"{name}_ms": statistics.median(cost.wall_s for cost in whole) * 1000,
        f"{name}_cpu_ms": statistics.median(cost.cpu_s for cost in whole) * 1000,
    }
    ratios = {
        f"{name}_ratio": middle[f"{name}_cpu_ms"] / middle["bare_cpu_ms"],
        f"{name}_wall_ratio": middle[f"{name}_ms"] / middle["bare_ms"],
    }
    return middle | ratios


def measure(size_mb: int, seed: int, rounds: int, patience_s: float) -> dict[str, Any]:
    """All of it."""
    made = store(size_mb, seed)
    found: dict[str, Any] = {"corpus_mb": made.mb, **in_process(made, rounds)}
    if sys.platform == "linux":
        found["peak_mb"] = peak_mb(os.getpid())
    found |= as_command(made, rounds, "cli")
    set_up(made.root, made.env)
    with daemon(made.state, made.env | {"AFTERWORD_INDEX_EMBEDDER": "off"}) as pid:
        if sys.platform == "linux":
            found["daemon_at_rest"] = calm(pid, patience_s)
        found |= as_command(made, rounds, "cli_daemon")
    return found


def main(given: argparse.Namespace) -> None:
    show("query", measure(given.size_mb, given.seed, given.rounds, given.patience), as_json=given.json)


if __name__ == "__main__":
    parser = options(__doc__, size_mb=200)
    parser.add_argument("--rounds", type=int, default=15, help="of which the median is taken (default 15)")
    parser.add_argument("--patience", type=float, default=600.0, help="seconds for the daemon to come to rest")
    main(parser.parse_args())
