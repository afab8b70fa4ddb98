"""How well questions find what they are about.

    python -m bench.retrieval --own | --multilingual | --locomo FILE | --codes

Each conversation, note or story is written as a real transcript into a throw-away HOME and read by the real program;
each question is put verbatim to the real search. A hit is a session; several results of one session count once.
Negative controls are questions that nothing answers: the right answer to them is nothing. `--ablation` asks everything
again without each signal, `--misses FILE` says of each question that failed what was wanted, what came, and why.
"""

import argparse
import datetime as dt
import json
import os
import re
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from afterword.app.config import load
from afterword.app.program import writer
from afterword.app.reading import reader
from afterword.app.searching import Searcher
from afterword.index.narrowing import Filters
from afterword.index.scripts import is_english
from afterword.index.signals import DEFAULT
from bench import own_history
from bench.frame import show
from bench.questions import EMBEDDER, LIMIT, Question, Run, Score, Turn, Way, transcript
from bench.unanswerable import FAR, NEAR

_CATEGORIES = {1: "several sessions", 2: "time", 3: "inference", 4: "one session", 5: "wrong person"}
Set: TypeAlias = tuple[Run, Sequence[Question], Mapping[str, Sequence[str]]]
"""A history that is not read yet, questions, and questions that it does not answer, by kind."""


def own(folder: Path, part: str) -> Iterator[Set]:
    """The made-up coding history. What cannot be answered is split like what can: every other one."""
    run = Run(folder / "own", own_history.NOW)
    own_history.lay_out(run.home)
    at = {"dev": slice(0, None, 2), "held-out": slice(1, None, 2)}.get(part, slice(None))
    yield run, own_history.questions(part), {kind: asked[at] for kind, asked in own_history.unanswerable().items()}


def multilingual(folder: Path) -> Iterator[Set]:
    """Notes in four languages, each a session of its own; questions that share few words with them."""
    from bench.multilingual import load as load_set

    notes, asked = load_set()
    run = Run(folder / "multilingual")
    start = dt.datetime(2026, 3, 2, 9, tzinfo=dt.UTC)
    for number, (key, text) in enumerate(notes.items()):
        transcript(run.home, key, [("user", text)], start + dt.timedelta(hours=number), "notes")
    # One note is about Kafka.
    strange = {
        f"{kind}, not English": [t for t in own_history.unanswerable()[kind] if not is_english(t) and "Kafka" not in t]
        for kind in ("far", "near")
    }
    yield run, [Question(text, kind, [key]) for kind, text, key in asked], {"far": FAR, "near": NEAR} | strange


def locomo(folder: Path, file: Path) -> Iterator[Set]:
    """Long conversations between two people; each in a ledger of its own, each of its sessions a session."""
    for conversation in json.loads(file.read_text()):
        name = conversation["sample_id"]
        talk = conversation["conversation"]
        run = Run(folder / name)
        for key in [k for k in talk if re.fullmatch(r"session_\d+", k)]:
            start = dt.datetime.strptime(talk[f"{key}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=dt.UTC)
            turns: list[Turn] = [
                ("user" if turn["speaker"] == talk["speaker_a"] else "assistant", _said(turn)) for turn in talk[key]
            ]
            transcript(run.home, f"{name}-{key}", turns, start, name)
        questions = [
            Question(qa["question"], _CATEGORIES[qa["category"]], sessions)
            for qa in conversation["qa"]
            if (sessions := {f"{name}-session_{n}" for e in qa["evidence"] for n in re.findall(r"D(\d+):", e)})
        ]
        yield run, questions, {"far": FAR, "near": NEAR}


def _said(turn: dict[str, str]) -> str:
    photo = f" [photo: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return f"{turn['speaker']}: {turn['text']}{photo}"


def ways() -> dict[str, Way]:
    """The rows of an ablation: each half of the search alone, and all of it without one signal at a time."""
    off = {
        "words of a passage": {"words": 0.0},
        "words of a session": {"words_of_group": 0.0},
        "nearness": {"near": 0.0},
        "times": {"time": 0.0},
        "kinds": {"article": 0.0, "diary": 0.0},
        "decisions": {"decisions": 0.0},
        "names of projects": {"project": 0.0},
        "recency": {"recency": 0.0},
    }
    found = {"joined": Way(), "exact only": Way("exact"), "meaning only": Way("semantic")}
    for name, fields in off.items():
        found[f"joined without {name}"] = Way(signals=msgspec.structs.replace(DEFAULT, **fields))
    return found


def measure(sets: Iterator[Set], asked: Mapping[str, Way]) -> dict[str, Score]:
    """Take each set in once, and put its questions in every way."""
    scores = {name: Score() for name in asked}
    for run, questions, negatives in sets:
        run.take_in()
        for name, way in asked.items():
            scores[name].ask(run, way, questions, negatives)
    return scores


def codes(folder: Path, size_mb: int, *, index: bool) -> dict[str, Any]:
    """Every needle of the made-up corpus: rank 1 holds it, and the count is exact. Names are answered by exact search
    alone, so the index may be left out."""
    from bench.capture import corpus

    home = corpus(size_mb, seed=1)
    made = json.loads((home / "corpus.json").read_text())
    for store in (".claude", ".codex"):
        if (home / store).exists():
            (folder / store).symlink_to(home / store)
    Run(folder)
    config = load()
    with writer(config, os.environ, "bench", settle_us=0) as program:
        program.ingest(thorough=True)
        if index:
            program.index.catch_up()
    first = counted = 0
    times = []
    searcher = Searcher(config, os.environ)
    with reader(config) as ledger:
        for needle, count in made["needles"].items():
            began = time.perf_counter()
            answer = searcher.search(ledger, needle, Filters(), limit=LIMIT)
            times.append((time.perf_counter() - began) * 1000)
            first += bool(answer.results) and needle in answer.results[0].snippet
            counted += answer.total == count
    needles = len(made["needles"])
    return {
        "corpus_mb": size_mb,
        "needles": needles,
        "rank_1": round(first / needles, 4),
        "exact_count": round(counted / needles, 4),
        "median_ms": round(statistics.median(times), 2),
    }


def _print(found: Mapping[str, Any]) -> None:
    print(f"{'':20}{'n':>5}{'hit@1':>8}{'hit@5':>8}{'mrr':>8}")
    for name, row in {**found["categories"], "all": found["all"]}.items():
        print(f"{name:20}{row['questions']:5}{row['hit@1']:8.3f}{row['hit@5']:8.3f}{row['mrr']:8.3f}")
    print(f"nothing returned for what has no answer: {found['nothing']}  {found['negatives_empty']}")
    print(f"median {found['median_ms']} ms a question; {found['chunks']} chunks in {found['index_cpu_s']} CPU s")
    if "ablation" in found:
        print(f"\n{'':36}{'hit@1':>8}{'hit@5':>8}{'mrr':>8}{'nothing':>9}")
        for name, row in found["ablation"].items():
            print(f"{name:36}{row['hit@1']:8.3f}{row['hit@5']:8.3f}{row['mrr']:8.3f}{row['nothing']:9.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--own", action="store_true", help="the made-up coding history of our own")
    what.add_argument("--multilingual", action="store_true", help="notes in English, Polish, Russian, Hebrew")
    what.add_argument("--locomo", type=Path, metavar="FILE", help="LoCoMo conversations with questions and evidence")
    what.add_argument("--codes", action="store_true", help="the needles of the made-up corpus")
    parser.add_argument("--part", choices=("dev", "held-out", "all"), default="held-out", help="of --own")
    parser.add_argument("--size-mb", type=int, default=200, help="size of the corpus for --codes")
    parser.add_argument("--no-index", action="store_true", help="--codes without an index by meaning")
    parser.add_argument("--embedder", choices=("local", "minilm"), default="local", help="what the index is made with")
    parser.add_argument("--ablation", action="store_true", help="also without each signal, and each half alone")
    parser.add_argument("--misses", type=Path, metavar="FILE", help="write every question that failed, a line of JSON")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    os.environ[EMBEDDER] = given.embedder
    with tempfile.TemporaryDirectory(prefix="afterword-retrieval-") as name:
        folder = Path(name)
        if given.codes:
            show("retrieval-codes", codes(folder, given.size_mb, index=not given.no_index), as_json=given.json)
            return
        if given.own:
            bench, sets = "retrieval-own", own(folder, given.part)
        elif given.multilingual:
            bench, sets = "retrieval-multilingual", multilingual(folder)
        else:
            bench, sets = "retrieval-locomo", locomo(folder, given.locomo)
        if given.embedder != "local":
            bench += f"-{given.embedder}"
        scores = measure(sets, ways() if given.ablation else {"joined": Way()})
    found = scores["joined"].table()
    if given.own:
        found["part"] = given.part
    if given.ablation:
        tables = {way: score.table() for way, score in scores.items()}
        found["ablation"] = {way: {**table["all"], "nothing": table["nothing"]} for way, table in tables.items()}
    if given.misses:
        lines = [json.dumps(miss, ensure_ascii=False) for miss in scores["joined"].misses]
        given.misses.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    if given.json:
        show(bench, found, as_json=True)
    else:
        _print(found)


if __name__ == "__main__":
    main()
