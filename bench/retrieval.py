"""How well questions find what they are about: `python -m bench.retrieval --multilingual | --locomo FILE | --codes`.

Each conversation or note is written as a real transcript into a throw-away HOME and read by the real program; each
question is put verbatim to the real search. A hit is a session; several results of one session count once. Negative
controls are questions that nothing answers: the right answer to them is nothing.
"""

import argparse
import datetime as dt
import json
import os
import platform
import re
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from afterword.app.config import load
from afterword.app.program import writer
from afterword.app.reading import reader
from afterword.app.searching import Searcher
from afterword.index.search import Filters
from bench.unanswerable import FAR, NEAR

LIMIT = 10
_CATEGORIES = {1: "several sessions", 2: "time", 3: "inference", 4: "one session", 5: "wrong person"}


class Question:
    """A question, its category, and the sessions that answer it."""

    def __init__(self, text: str, category: str, answers: Iterable[str]) -> None:
        self.text = text
        self.category = category
        self.answers = set(answers)


def transcript(home: Path, session: str, turns: Sequence[tuple[str, str]], start: dt.datetime, project: str) -> None:
    """Write (role, text) turns as a Claude Code session."""
    path = home / ".claude/projects" / f"-srv-{project}" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    parent = None
    rows = []
    for number, (role, text) in enumerate(turns):
        at = (start + dt.timedelta(seconds=20 * number)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        its_id = f"{session}-{number:04d}"
        content: Any = text if role == "user" else [{"type": "text", "text": text}]
        message = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg_{its_id}", "type": "message", "model": "made-up"}
        rows.append(
            {"parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": f"/srv/{project}",
             "sessionId": session, "version": "2.1.250", "uuid": its_id, "timestamp": at, "type": role,
             "message": message}
        )  # fmt: skip
        parent = its_id
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


class Run:
    """One throw-away HOME: transcripts in, questions out."""

    def __init__(self, home: Path) -> None:
        self.home = home
        for name in [n for n in os.environ if n.startswith(("XDG_", "AFTERWORD_", "CLAUDE_", "CODEX_"))]:
            del os.environ[name]
        os.environ["HOME"] = str(home)
        os.environ["TZ"] = "UTC"
        self._config = load()
        self.index_cpu_s = 0.0

    def take_in(self) -> None:
        """Read, write up, index."""
        with writer(self._config, os.environ, "bench", settle_us=0) as program:
            program.ingest(thorough=True)
            program.write_up()
            before = time.process_time()
            done = program.index.catch_up()
            assert done is not None
            self.chunks = done.chunks
            self.index_cpu_s = time.process_time() - before

    def ask(self, questions: Sequence[str], told: Callable[[str, list[str], float], None]) -> None:
        """Put every question to the search: (question, sessions found in order, milliseconds)."""
        searcher = Searcher(self._config, os.environ)
        with reader(self._config) as ledger:
            searcher.search(ledger, "warm up", Filters(), limit=1)
            for question in questions:
                began = time.perf_counter()
                answer = searcher.search(ledger, question, Filters(), limit=LIMIT)
                took_ms = (time.perf_counter() - began) * 1000
                assert answer.semantic == "ready", answer.semantic
                found = dict.fromkeys(r.session.native if r.session else r.id for r in answer.results)
                told(question, list(found), took_ms)
        searcher.close()


class Score:
    """hit@1, hit@5 and MRR by category, negative controls, times."""

    def __init__(self) -> None:
        self.ranks: dict[str, list[int]] = defaultdict(list)
        self.empty: dict[str, list[bool]] = defaultdict(list)
        self.times: list[float] = []
        self.chunks = 0
        self.index_cpu_s = 0.0

    def run(self, run: Run, questions: Sequence[Question], negatives: dict[str, Sequence[str]]) -> None:
        """Take in and ask."""
        run.take_in()
        self.chunks += run.chunks
        self.index_cpu_s += run.index_cpu_s
        places = iter(questions)

        def told(_text: str, found: list[str], took_ms: float) -> None:
            question = next(places)
            rank = next((n for n, session in enumerate(found, 1) if session in question.answers), 0)
            self.ranks[question.category].append(rank)
            self.times.append(took_ms)

        run.ask([question.text for question in questions], told)
        for name, asked in negatives.items():
            run.ask(asked, lambda _text, found, _ms, name=name: self.empty[name].append(not found))  # type: ignore[misc]

    def table(self) -> dict[str, Any]:
        """What is printed."""

        def of(ranks: list[int]) -> dict[str, float]:
            return {
                "questions": len(ranks),
                "hit@1": round(sum(r == 1 for r in ranks) / len(ranks), 3),
                "hit@5": round(sum(0 < r <= 5 for r in ranks) / len(ranks), 3),
                "mrr": round(sum(1 / r for r in ranks if r) / len(ranks), 3),
            }

        return {
            "all": of([rank for ranks in self.ranks.values() for rank in ranks]),
            "categories": {name: of(ranks) for name, ranks in sorted(self.ranks.items())},
            "negatives_empty": {name: round(sum(e) / len(e), 3) for name, e in self.empty.items()},
            "median_ms": round(statistics.median(self.times), 1),
            "chunks": self.chunks,
            "index_cpu_s": round(self.index_cpu_s, 1),
        }


def multilingual(folder: Path) -> Score:
    """Notes in four languages, each a session of its own; questions that share few words with them."""
    from bench.multilingual import load as load_set

    notes, asked = load_set()
    run = Run(folder / "multilingual")
    start = dt.datetime(2026, 3, 2, 9, tzinfo=dt.UTC)
    for number, (key, text) in enumerate(notes.items()):
        transcript(run.home, key, [("user", text)], start + dt.timedelta(hours=number), "notes")
    score = Score()
    score.run(run, [Question(text, kind, [key]) for kind, text, key in asked], {"far": FAR, "near": NEAR})
    return score


def locomo(folder: Path, file: Path) -> Score:
    """Long conversations between two people; each in a ledger of its own, each of its sessions a session."""
    score = Score()
    conversations = json.loads(file.read_text())
    for conversation in conversations:
        name = conversation["sample_id"]
        talk = conversation["conversation"]
        run = Run(folder / name)
        for key in [k for k in talk if re.fullmatch(r"session_\d+", k)]:
            start = dt.datetime.strptime(talk[f"{key}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=dt.UTC)
            turns = [
                ("user" if turn["speaker"] == talk["speaker_a"] else "assistant", _said(turn)) for turn in talk[key]
            ]
            transcript(run.home, f"{name}-{key}", turns, start, name)
        questions = [
            Question(qa["question"], _CATEGORIES[qa["category"]], sessions)
            for qa in conversation["qa"]
            if (sessions := {f"{name}-session_{n}" for e in qa["evidence"] for n in re.findall(r"D(\d+):", e)})
        ]
        score.run(run, questions, {"far": FAR, "near": NEAR})
    return score


def _said(turn: dict[str, str]) -> str:
    photo = f" [photo: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return f"{turn['speaker']}: {turn['text']}{photo}"


def codes(folder: Path, size_mb: int) -> dict[str, Any]:
    """Every needle of the made-up corpus: rank 1 holds it, and the count is exact."""
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
        "needles": needles,
        "rank 1": round(first / needles, 4),
        "exact count": round(counted / needles, 4),
        "median_ms": round(statistics.median(times), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--multilingual", action="store_true", help="notes in English, Polish, Russian, Hebrew")
    what.add_argument("--locomo", type=Path, metavar="FILE", help="LoCoMo conversations with questions and evidence")
    what.add_argument("--codes", action="store_true", help="the needles of the made-up corpus")
    parser.add_argument("--size-mb", type=int, default=200, help="size of the corpus for --codes")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="afterword-retrieval-") as folder:
        if given.codes:
            found = codes(Path(folder), given.size_mb)
        else:
            score = multilingual(Path(folder)) if given.multilingual else locomo(Path(folder), given.locomo)
            found = score.table()
    ran_on = {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count()}
    if given.json:
        sys.stdout.write(json.dumps({**found, "ran_on": ran_on}, indent=1) + "\n")
        return
    if given.codes:
        print("  ".join(f"{name} {value}" for name, value in found.items()))
        return
    print(f"{'':18}{'n':>5}{'hit@1':>8}{'hit@5':>8}{'mrr':>8}")
    for name, row in {**found["categories"], "all": found["all"]}.items():
        print(f"{name:18}{row['questions']:5}{row['hit@1']:8.3f}{row['hit@5']:8.3f}{row['mrr']:8.3f}")
    print("nothing returned for questions without an answer: ", found["negatives_empty"])
    print(
        f"median {found['median_ms']} ms a question; {found['chunks']} chunks in {found['index_cpu_s']} CPU s; {ran_on}"
    )


if __name__ == "__main__":
    main()
