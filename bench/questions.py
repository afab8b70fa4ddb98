"""What all measurements of retrieval share: a HOME that is read by the real program, questions, and the scores.

A hit is a session; several results of one session count once. Negative controls are questions that nothing answers:
the right answer to them is nothing.
"""

import datetime as dt
import json
import os
import statistics
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from afterword.app.config import load
from afterword.app.program import writer
from afterword.app.reading import reader
from afterword.app.searching import Searcher
from afterword.index.hybrid import Mode
from afterword.index.narrowing import Filters
from afterword.index.signals import DEFAULT, Signals

LIMIT = 10
EMBEDDER = "AFTERWORD_INDEX_EMBEDDER"
"""The one variable that a measurement keeps."""
Turn: TypeAlias = tuple[str, str]
"""(user, assistant, command, output or edit; what is said, run, printed, or the path)."""


class Question:
    """A question, its category, and the sessions that answer it."""

    def __init__(self, text: str, category: str, answers: Iterable[str]) -> None:
        self.text = text
        self.category = category
        self.answers = set(answers)


class Found(msgspec.Struct, frozen=True):
    """A session that came, by its best result."""

    session: str
    title: str
    why: tuple[str, ...]
    score: float
    snippet: str


class Way(msgspec.Struct, frozen=True):
    """A way to search: a row of an ablation."""

    mode: Mode = "both"
    signals: Signals = DEFAULT


def transcript(home: Path, session: str, turns: Sequence[Turn], start: dt.datetime, project: str) -> None:
    """Write turns as a Claude Code session."""
    path = home / ".claude/projects" / f"-srv-{project}" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    parent = None
    rows = []
    for number, (role, text) in enumerate(turns):
        at = (start + dt.timedelta(seconds=20 * number)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        its_id = f"{session}-{number:04d}"
        who, content = _content(role, text, f"tool-{session}-{number}", f"tool-{session}-{number - 1}", project)
        message: dict[str, Any] = {"role": who, "content": content}
        if who == "assistant":
            message |= {"id": f"msg_{its_id}", "type": "message", "model": "made-up"}
        rows.append(
            {"parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": f"/srv/{project}",
             "sessionId": session, "version": "2.1.250", "uuid": its_id, "timestamp": at, "type": who,
             "message": message}
        )  # fmt: skip
        parent = its_id
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def _content(role: str, text: str, tool: str, before: str, project: str) -> tuple[str, Any]:
    match role:
        case "user":
            return "user", text
        case "command":
            return "assistant", [{"type": "tool_use", "id": tool, "name": "Bash", "input": {"command": text}}]
        case "output":
            return "user", [{"type": "tool_result", "tool_use_id": before, "content": text}]
        case "edit":
            asked = {"file_path": f"/srv/{project}/{text}", "old_string": "before", "new_string": "after"}
            return "assistant", [{"type": "tool_use", "id": tool, "name": "Edit", "input": asked}]
        case _:
            return "assistant", [{"type": "text", "text": text}]


class Run:
    """One throw-away HOME: transcripts in, questions out."""

    def __init__(self, home: Path, now: str = "") -> None:
        self.home = home
        embedder = os.environ.get(EMBEDDER, "local")
        for name in [n for n in os.environ if n.startswith(("XDG_", "AFTERWORD_", "CLAUDE_", "CODEX_"))]:
            del os.environ[name]
        os.environ |= {"HOME": str(home), "TZ": "UTC", EMBEDDER: embedder} | ({"AFTERWORD_NOW": now} if now else {})
        self._config = load()
        self.index_cpu_s = 0.0
        self.chunks = 0

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

    def ask(self, questions: Sequence[str], way: Way) -> list[tuple[list[Found], float]]:
        """What each question finds in the real search, sessions in order, and the milliseconds it took."""
        searcher = Searcher(self._config, os.environ, signals=way.signals)
        answers = []
        with reader(self._config) as ledger:
            searcher.search(ledger, "warm up", Filters(), limit=1)
            for question in questions:
                began = time.perf_counter()
                answer = searcher.search(ledger, question, Filters(), limit=LIMIT, mode=way.mode)
                took_ms = (time.perf_counter() - began) * 1000
                assert way.mode == "exact" or answer.semantic == "ready", answer.semantic
                found: dict[str, Found] = {}
                for r in answer.results:
                    session = r.session.native if r.session else r.id
                    found.setdefault(session, Found(session, r.title, r.why, r.score, r.snippet))
                answers.append((list(found.values()), took_ms))
        searcher.close()
        return answers


class Score:
    """hit@1, hit@5 and MRR by category, negative controls, times, and what was missed."""

    def __init__(self) -> None:
        self.ranks: dict[str, list[int]] = defaultdict(list)
        self.empty: dict[str, list[bool]] = defaultdict(list)
        self.times: list[float] = []
        self.misses: list[dict[str, Any]] = []
        self.chunks = 0
        self.index_cpu_s = 0.0

    def ask(self, run: Run, way: Way, questions: Sequence[Question], negatives: Mapping[str, Sequence[str]]) -> None:
        """Put questions to what was taken in."""
        self.chunks += run.chunks
        self.index_cpu_s += run.index_cpu_s
        asked = run.ask([question.text for question in questions], way)
        for question, (found, took_ms) in zip(questions, asked, strict=True):
            rank = next((n for n, one in enumerate(found, 1) if one.session in question.answers), 0)
            self.ranks[question.category].append(rank)
            self.times.append(took_ms)
            if rank != 1:
                self._missed(question.category, question.text, sorted(question.answers), rank, found)
        for name, texts in negatives.items():
            for text, (found, _) in zip(texts, run.ask(texts, way), strict=True):
                self.empty[name].append(not found)
                if found:
                    self._missed(f"nothing ({name})", text, [], 0, found)

    def _missed(self, category: str, question: str, wanted: list[str], rank: int, found: Sequence[Found]) -> None:
        came = [msgspec.to_builtins(one) for one in found[:3]]
        self.misses.append(
            {"category": category, "question": question, "wanted": wanted, "rank": rank or None, "came": came}
        )

    def table(self) -> dict[str, Any]:
        """What is printed."""

        def of(ranks: list[int]) -> dict[str, float]:
            return {
                "questions": len(ranks),
                "hit@1": round(sum(r == 1 for r in ranks) / len(ranks), 3),
                "hit@5": round(sum(0 < r <= 5 for r in ranks) / len(ranks), 3),
                "mrr": round(sum(1 / r for r in ranks if r) / len(ranks), 3),
            }

        every = [held for kind in self.empty.values() for held in kind]
        return {
            "all": of([rank for ranks in self.ranks.values() for rank in ranks]),
            "categories": {name: of(ranks) for name, ranks in sorted(self.ranks.items())},
            "negatives_empty": {name: round(sum(e) / len(e), 3) for name, e in self.empty.items()},
            "nothing": round(sum(every) / len(every), 3) if every else None,
            "median_ms": round(statistics.median(self.times), 1),
            "chunks": self.chunks,
            "index_cpu_s": round(self.index_cpu_s, 1),
        }
