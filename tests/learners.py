"""Processes that learn and distil, for tests that kill them: `python learners.py learn|distil HOME …`."""

import hashlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from lessons import Notebook

from afterword.app import learning, lessons
from afterword.app.program import writer
from afterword.domain.clock import system_clock
from afterword.domain.ids import LessonUid
from afterword.domain.lessons import Known, Lesson, Placing
from afterword.memory.engine import Extractive


class Slow(Extractive):
    """An engine that takes its time, as a model does."""

    def place(self, row: Sequence[tuple[LessonUid, Lesson]], known: Sequence[Known]) -> list[Placing]:
        time.sleep(0.003)
        return super().place(row, known)


def texts(worker: int, count: int) -> list[str]:
    """What a worker learns: nothing of it is like anything else."""
    made = []
    for n in range(count):
        name = hashlib.sha256(f"{worker}/{n}".encode()).hexdigest()
        made.append(f"Bucket {name[:8]} of worker {worker} holds {name[8:20]} and wants {name[20:30]}")
    return made


def learn(home: Path, worker: int, count: int) -> None:
    """Learn them all; each file's name and the hash of its bytes are printed."""
    book = Notebook(home)
    config = book.config
    for text in [*texts(worker, count), "The NAS is a Synology DS920"]:
        said = learning.Said(text=text, source="remember", everywhere=True, topic=f"buckets-{worker % 4}")
        done = learning.learn(config, said, system_clock, "box")
        sys.stdout.write(f"{done.path} {hashlib.sha256(done.path.read_bytes()).hexdigest()}\n")


def distil(home: Path) -> None:
    """Distil once, slowly."""
    book = Notebook(home)
    lessons.Extractive = Slow  # type: ignore[misc]  # the engine is what varies
    with writer(book.config, book.env, "distill") as program:
        program.lessons.distil()


if __name__ == "__main__":
    what, where, *more = sys.argv[1:]
    if what == "learn":
        learn(Path(where), int(more[0]), int(more[1]))
    else:
        distil(Path(where))
