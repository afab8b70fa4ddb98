"""`docs/benchmarks.md` and its plots, from kept measurements.

    python -m bench.query --size-mb 1000 --json | python -m bench.report --keep     keep one
    python -m bench.report                                                          write the page

Kept are the newest of each command and size, in `docs/benchmarks.json`, each with the machine it ran on.
"""

import argparse
import datetime as dt
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.plot import curve
from bench.report_found import finding
from bench.targets import TARGETS, Target

DOCS = Path(__file__).parent.parent / "docs"
KEPT = DOCS / "benchmarks.json"
SIZES = (200, 1000, 3300)


def keep(said: str) -> None:
    """Take the JSON that a command printed."""
    found: dict[str, Any] = json.loads(said)
    kept = load()
    found["day"] = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d")  # noqa: TID251  # of the measurement, not of the program
    words = ["git", "rev-parse", "--short", "HEAD"]
    found["commit"] = subprocess.run(words, cwd=DOCS, capture_output=True, text=True, check=False).stdout.strip()
    kept[named(found)] = found
    KEPT.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")


def named(found: dict[str, Any]) -> str:
    """The command, and the nominal size of the corpus where it has one."""
    if "corpus_mb" not in found:
        return str(found["bench"])
    size = min(SIZES, key=lambda nominal: abs(nominal - found["corpus_mb"]))
    return f"{found['bench']}@{size}"


def load() -> dict[str, dict[str, Any]]:
    """What is kept, by name."""
    kept: dict[str, dict[str, Any]] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    return kept


def page(kept: dict[str, dict[str, Any]]) -> str:
    """The page as Markdown."""
    machines = sorted({_machine(found["on"]) for found in kept.values()})
    lines = [
        "# What it costs",
        "",
        "Made by `python -m bench.report` from measurements that `make bench-full` keeps in `benchmarks.json`. Each",
        "row stands beside its target. CPU seconds are user + system of a process and its children; ratios are taken",
        "within one run. The histories are made up (`bench.make_corpus`), with more text in them than real ones have.",
        "",
        *(f"Measured on: {machine}." for machine in machines),
        "Where the load was above the number of cores, wall times are upper bounds.",
        "",
        "| what | measured | target | stretch | reached | history | command | load |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for target in TARGETS:
        lines += [_row(target, found) for found in _of(kept, target)]
    for title, bench, rows in _DETAILS:
        if any(each["bench"] == bench for each in kept.values()):
            lines += ["", f"## {title}", "", *_table(kept, bench, rows)]
    lines += finding(kept)
    lines += ["", "## Cost over the size of the history", ""]
    lines += [f"![{title}](benchmarks/{name}.svg)" for name, title, _ in plots(kept)]
    return "\n".join(lines) + "\n"


def _machine(on: dict[str, Any]) -> str:
    return ", ".join(
        (on["cpu"], f"{on['cores']} cores", f"{on['memory_gb']} GB", on["system"], f"Python {on['python']}",
         f"SQLite {on['sqlite']}")
    )  # fmt: skip


def _of(kept: dict[str, dict[str, Any]], target: Target) -> list[dict[str, Any]]:
    """The measurements that a target speaks of: the largest history where it names none. A daemon that was still busy
    with a history says nothing of one that runs beside."""
    found = [each for each in kept.values() if each["bench"] == target.bench and target.field in each]
    if "daemon" in target.field:
        found = [each for each in found if each.get("daemon_at_rest", True)]
    if target.from_mb:
        return [each for each in found if target.counts(each)]
    return sorted(found, key=lambda each: float(each.get("corpus_mb", 0)))[-1:]


def _row(target: Target, found: dict[str, Any]) -> str:
    value = found[target.field]
    best = target.stretch is not None and value <= target.stretch
    reached = "yes, stretch" if best else "yes" if value <= target.goal else "**no**"
    stretch = "" if target.stretch is None else f"{target.stretch:g}{target.unit}"
    size = f"{found['corpus_mb']:,.0f} MB" if "corpus_mb" in found else ""
    cells = (target.what, f"{_shown(value)}{target.unit}", f"{target.goal:g}{target.unit}", stretch, reached, size,
             f"`bench.{target.bench}`", str(found["on"]["load"]))  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _shown(value: float) -> str:
    if isinstance(value, int) or value == int(value):
        return f"{int(value):,}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


_DETAILS: tuple[tuple[str, str, dict[str, str]], ...] = (
    (
        "Taking a history in",
        "capture",
        {
            "cpu_s": "CPU s", "wall_s": "wall s", "json_loads_cpu_s": "one `json.loads` pass, CPU s",
            "cpu_ratio_to_json_loads": "ratio", "peak_mb": "peak memory, MB", "store_mb": "store, MB",
            "store_per_text_char": "store per character", "needles": "needles", "needles_wrong": "wrong",
            "secrets": "secrets planted", "secrets_left": "left",
        },
    ),
    (
        "Exact questions in process, CPU ms (hits)",
        "query",
        {
            "rare_cpu_ms:rare_hits": "one rare word", "many_cpu_ms:many_hits": "the most frequent needle",
            "two_common_cpu_ms:two_common_hits": "two common words",
            "one_common_cpu_ms:one_common_hits": "one common word",
            "three_common_cpu_ms:three_common_hits": "three common words",
            "stop_words_cpu_ms:stop_words_hits": "`the error`", "only_prompts_cpu_ms:only_prompts_hits": "prompts only",
            "phrase_cpu_ms:phrase_hits": "phrase of common words", "flag_cpu_ms:flag_hits": "`--force-with-lease`",
            "miss_cpu_ms:miss_hits": "nothing found",
        },
    ),
    (
        "A whole `afterword search`",
        "query",
        {
            "bare_cpu_ms": "`python -c pass`, CPU ms", "cli_cpu_ms": "search, CPU ms", "cli_ratio": "ratio",
            "cli_wall_ratio": "wall ratio", "cli_daemon_cpu_ms": "with a daemon, CPU ms", "cli_daemon_ratio": "ratio",
            "cli_daemon_wall_ratio": "wall ratio",
        },
    ),
    (
        "The daemon at rest, and under 50 lines a second",
        "idle",
        {
            "files": "files", "seconds": "s each", "rest_cpu_percent": "at rest, % of a core",
            "rest_woken_per_s": "woken/s",
            "rest_rss_mb": "MB", "rest_handles": "handles", "busy_cpu_percent": "busy, % of a core",
            "busy_woken_per_s": "woken/s", "busy_rss_mb": "MB, with the model and Chroma", "busy_handles": "handles",
        },
    ),
    (
        "From an appended line to its being found",
        "latency",
        {"files": "files", "lines": "lines", "median_ms": "median ms", "p90_ms": "p90 ms", "worst_ms": "worst ms"},
    ),
    (
        "The loopback API, eight callers, while capture runs",
        "api",
        {
            "files": "files", "callers": "callers", "answers": "answers", "search_median_ms": "exact search, median ms",
            "search_p95_ms": "p95 ms", "pulse_median_ms": "pulse, median ms", "pulse_p95_ms": "p95 ms",
            "captured_median_ms": "line → found meanwhile, median ms", "memory_mb": "daemon, MB",
        },
    ),
    (
        "The index for search by meaning",
        "index",
        {
            "first_chunks": "chunks", "first_cpu_min": "CPU min", "first_wall_min": "wall min",
            "exact_meanwhile_ms": "exact search meanwhile, ms", "edited_embedded": "embedded after an edit",
            "hybrid_chunks": "chunks", "hybrid_ms": "hybrid question, ms", "daemon_mb": "daemon, MB",
        },
    ),
    (
        "An exchange over SSH on loopback, start and connect taken off",
        "sync",
        {
            "mb": "MB", "records": "records", "cat_mb_per_s": "`ssh cat`, MB/s", "stream_mb_per_s": "stream, MB/s",
            "push_mb_per_s": "exchange, MB/s", "connect_s": "connect, s", "nothing_new_s": "nothing new, s",
        },
    ),
    (
        "A hook, against `python -c pass`",
        "hook",
        {
            "bare_ms": "bare, ms", "session-start_ratio": "session start", "session-end_ratio": "session end",
            "pre-compact_ratio": "compaction",
        },
    ),
)  # fmt: skip


def _table(kept: dict[str, dict[str, Any]], bench: str, fields: dict[str, str]) -> Sequence[str]:
    found = sorted((e for e in kept.values() if e["bench"] == bench), key=lambda each: float(each.get("corpus_mb", 0)))
    sized = any("corpus_mb" in each for each in found)
    names = {key: name for key, name in fields.items() if any(key.split(":")[0] in each for each in found)}
    head = [*(["history"] if sized else []), *names.values()]
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    for each in found:
        cells = [f"{each['corpus_mb']:,.0f} MB"] if sized else []
        for key in names:
            value, _, hits = key.partition(":")
            shown = _shown(each[value]) if value in each else "–"
            cells.append(f"{shown} ({each[hits]:,})" if hits and hits in each else shown)
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def plots(kept: dict[str, dict[str, Any]]) -> list[tuple[str, str, str]]:
    """(name of the file, title, SVG) of each cost curve that has two sizes or more."""

    def line(bench: str, field: str) -> list[tuple[float, float]]:
        found = [(e["corpus_mb"], e[field]) for e in kept.values() if e["bench"] == bench and e.get(field, 0) > 0]
        return sorted(found)

    wanted = (
        (
            "ingest", "Taking a history in", "CPU s",
            {"ingest": ("capture", "cpu_s"), "json.loads": ("capture", "json_loads_cpu_s")},
        ),
        (
            "query", "Exact questions in process", "CPU ms",
            {"two common words": ("query", "two_common_cpu_ms"), "one common word": ("query", "one_common_cpu_ms"),
             "one rare word": ("query", "rare_cpu_ms"), "nothing found": ("query", "miss_cpu_ms")},
        ),
        ("store", "Size of the store", "MB", {"ledger and full text": ("capture", "store_mb")}),
        ("memory", "Peak memory", "MB", {"ingest": ("capture", "peak_mb"), "exact search": ("query", "peak_mb")}),
    )  # fmt: skip
    found = []
    for name, title, unit, fields in wanted:
        lines = {what: line(*where) for what, where in fields.items()}
        lines = {what: points for what, points in lines.items() if len(points) >= 2}
        if lines:
            found.append((name, title, curve(title, "history, MB", unit, lines)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--keep", action="store_true", help="keep the measurement that is given on standard input")
    if parser.parse_args().keep:
        said = sys.stdin.read()
        keep(said)
        print(said, end="")
        return
    kept = load()
    (DOCS / "benchmarks").mkdir(exist_ok=True)
    for name, _, svg in plots(kept):
        (DOCS / "benchmarks" / f"{name}.svg").write_text(svg)
    (DOCS / "benchmarks.md").write_text(page(kept))


if __name__ == "__main__":
    main()
