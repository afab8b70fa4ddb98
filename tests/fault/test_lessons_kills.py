"""Eight processes learn while the distiller runs slowly and is killed, and a person edits what it wrote."""

import hashlib
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from learners import texts
from lessons import MINUTE_US, Notebook

from afterword.app import retract as retracting
from afterword.app.retract import Retract
from afterword.memory.agent_file import BUDGET_BYTES
from afterword.store import faults

COUNT = int(os.environ.get("AFTERWORD_TEST_LESSONS", "12"))
KILLS = int(os.environ.get("AFTERWORD_TEST_LESSON_KILLS", "4"))
SEED = int(os.environ.get("AFTERWORD_TEST_SEED", "20260813"))
WORKERS = 8
SCRIPT = Path(__file__).parents[1] / "learners.py"
POINTS = (
    ("lesson.facts", 1),
    ("lesson.plan", 5),
    ("lesson.placed", 5),
    ("lesson.written", 2),
    ("lesson.drained", 1),
    ("atomic.write", 6),
    ("atomic.rename", 6),
    ("ledger.commit", 30),
    ("ledger.committed", 30),
)


def start(*words: str, **env: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), *words],
        env=os.environ | env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


class Person:
    """Writes into the files that are made: notes of their own, points, lines into an agent's file."""

    def __init__(self, book: Notebook, rng: random.Random) -> None:
        self._folder = book.vault / "lessons"
        self._rng = rng
        self.notes: list[str] = []
        self.points: list[str] = []

    def edit(self) -> None:
        paths = sorted(self._folder.glob("topics/*.md")) + sorted(self._folder.glob("agents/*.md"))
        if not paths:
            return
        path = self._rng.choice(paths)
        name = hashlib.sha256(str(len(self.notes) + len(self.points)).encode()).hexdigest()
        try:
            text = path.read_text()
        except OSError:
            return
        if path.parent.name == "agents":
            self.points.append(f"Agent wrote {name[:10]} about {name[10:20]} itself")
            text += f"\n- {self.points[-1]}\n"
        else:
            self.notes.append(f"A note {name[:12]} of mine")
            text = text if "## My notes" in text else f"{text}\n## My notes\n"
            text += f"\n{self.notes[-1]}\n"
        # As an editor saves: whole, without asking who else was here.
        beside = path.with_suffix(".tmp")
        beside.write_text(text)
        beside.replace(path)


def test_every_point_of_a_distilling_is_killed_at() -> None:
    assert {point for point in faults.POINTS if point.startswith("lesson.")} <= {point for point, _ in POINTS}


def test_nothing_learned_is_lost_and_nothing_written_by_hand(
    tmp_path: Path, record_testsuite_property: Callable[[str, object], None]
) -> None:
    record_testsuite_property("seed of lesson kills", SEED)
    rng = random.Random(SEED)
    book = Notebook(tmp_path)
    book.learn("The NAS is a Synology DS920", topic="nas")
    book.make_vault()
    book.distil()
    with book.program() as program:
        asked = Retract((book.fact_id("Synology"),), "it runs fnos", None)
        retracting.retract(program, asked, lambda *_: None, lambda: False)
    person = Person(book, rng)
    learners = [start("learn", str(tmp_path), str(worker), str(COUNT)) for worker in range(WORKERS)]
    killed = 0
    try:
        while killed < KILLS or any(each.poll() is None for each in learners):
            point, most = rng.choice(POINTS)
            spec = f"kill@{point}#{rng.randrange(1, most + 1)}" if killed < KILLS else ""
            distiller = start("distil", str(tmp_path), AFTERWORD_FAULT=spec)
            while distiller.poll() is None:
                time.sleep(0.25)
                person.edit()
            _, said = distiller.communicate()
            assert distiller.returncode in (0, -signal.SIGKILL), said
            killed += distiller.returncode == -signal.SIGKILL
            if killed < KILLS and not any(each.poll() is None for each in learners):
                book.learn(f"One more, number {rng.getrandbits(40):x}, so that there is something to do")
    finally:
        told = [each.communicate() for each in learners]
    assert [each.returncode for each in learners] == [0] * WORKERS, told
    book.now_us = time.time_ns() // 1000 + 20 * MINUTE_US
    for _ in range(2):
        book.distil()
    check(book, person, [row.split() for out, _ in told for row in out.splitlines()])
    before = book.bytes()
    book.distil()
    assert book.bytes() == before


def check(book: Notebook, person: Person, made: list[list[str]]) -> None:
    """Every entry is whole and as it was written, every fact is told once, and what a person wrote is there."""
    assert len(made) == WORKERS * (COUNT + 1)
    for path, digest in made:
        data = Path(path).read_bytes()
        if b"Synology" not in data:
            assert hashlib.sha256(data).hexdigest() == digest, path
    facts = book.facts()
    learned = [text for worker in range(WORKERS) for text in texts(worker, COUNT)]
    assert [text for text in learned if facts.get(text) != "active"] == []
    assert [text for text in person.points if facts.get(text) != "active"] == []
    topics = "".join(book.files("topics").values())
    assert [text for text in learned if topics.count(text) != 1] == []
    assert [text for text in person.notes if text not in topics] == []
    ids = re.findall(r" \^(f-[0-9a-f]{12})$", topics, re.MULTILINE)
    assert len(ids) == len(set(ids))
    for text in book.files("agents").values():
        assert text.count("\n") <= 200
        assert len(text.encode()) <= BUDGET_BYTES
    assert "Synology" not in book.told()
    assert not list((book.vault / "lessons").rglob("*.afterword.tmp"))
