"""The part of `docs/benchmarks.md` about what search finds: figures beside their targets, and what its parts do."""

from collections.abc import Iterator, Mapping
from typing import Any

_SETS = {
    "retrieval-locomo": "conversations of two people (LoCoMo, development half)",
    "retrieval-multilingual": "notes in four languages, questions that avoid their words",
    "retrieval-own": "our made-up coding history, held-out half",
}
_SETS |= {f"{name}-minilm": f'{said}; `embedder = "minilm"`' for name, said in _SETS.items()}
_TARGETS: dict[str, tuple[float, float, float] | None] = {
    "retrieval-locomo": (0.78, 0.94, 0.85),
    "retrieval-multilingual": (0.55, 0.75, 0.0),
    "retrieval-own": None,
}
_TARGETS |= {f"{name}-minilm": goal for name, goal in _TARGETS.items()}
_NOTHING = 0.9


def finding(kept: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The lines of the part; none where nothing was measured."""
    there = {name: kept[name] for name in _SETS if name in kept}
    if not there:
        return
    yield from (
        "", "## Finding it", "",
        "Each history is read by the real program, each question put verbatim to the real search; a hit is a session.",
        "`nothing`: the share of questions without an answer for which nothing came (target 0.9). Weights were chosen",
        "on LoCoMo's development half and on the development half of our own history, which the table does not show;",
        "what is near enough for questions that are not English, and with MiniLM, also on the notes in four languages:",
        "there, and on LoCoMo's half, the figures are not of questions kept apart.",
        "", "| questions about | n | hit@1 | hit@5 | MRR | targets | nothing | median ms | command |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    )  # fmt: skip
    for name, each in there.items():
        row, goal = each["all"], _TARGETS[name]
        wanted = "" if goal is None else " / ".join(f"{value:g}" for value in goal if value)
        reached = goal is None or all(
            row[key] >= value for key, value in zip(("hit@1", "hit@5", "mrr"), goal, strict=True)
        )
        nothing = f"{each['nothing']:g}{'' if each['nothing'] >= _NOTHING else ' **no**'}"
        cells = (
            _SETS[name], row["questions"], row["hit@1"], row["hit@5"], row["mrr"],
            wanted + ("" if reached else " **no**"), nothing, each["median_ms"],
            f"`bench.retrieval --{name.partition('-')[2].replace('-', ' --embedder ')}`",
        )  # fmt: skip
        yield f"| {' | '.join(map(str, cells))} |"
    for name, each in there.items():
        yield from ("", f"### By kind: {_SETS[name]}", "", "| kind | n | hit@1 | hit@5 | MRR |",
                    "| --- | --- | --- | --- | --- |")  # fmt: skip
        for kind, row in each["categories"].items():
            yield f"| {kind} | {row['questions']} | {row['hit@1']} | {row['hit@5']} | {row['mrr']} |"
        empty = ", ".join(f"{kind} {share:g}" for kind, share in each["negatives_empty"].items())
        yield from ("", f"Nothing came for what has no answer: {empty}.")
    yield from _ablation({name: each["ablation"] for name, each in there.items() if "ablation" in each})
    codes = next((each for name, each in kept.items() if name.startswith("retrieval-codes")), None)
    if codes:
        yield ""
        yield (
            f"Identifiers, error strings, flags and paths in a history of {codes['corpus_mb']:,} MB: of"
            f" {codes['needles']} needles the first result holds {codes['rank_1']:.1%}, and {codes['exact_count']:.1%}"
            " are counted exactly (`bench.retrieval --codes --no-index`)."
        )


def _ablation(tables: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Iterator[str]:
    if not tables:
        return
    names = list(tables)
    yield from (
        "", "### Without its parts", "", "hit@1 / hit@5 / nothing, all of it from one index a set.", "",
        f"| search | {' | '.join(name.partition('-')[2] for name in names)} |", f"| --- |{' --- |' * len(names)}",
    )  # fmt: skip
    for way in next(iter(tables.values())):
        rows = [tables[name].get(way) for name in names]
        cells = [f"{row['hit@1']:.3f} / {row['hit@5']:.3f} / {row['nothing']:.3f}" if row else "–" for row in rows]
        yield f"| {way} | {' | '.join(cells)} |"
