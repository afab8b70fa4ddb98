"""The jobs of the running daemon: a literal table, the thread that does them, and the lines that tell of them."""

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from afterword.app import backfill, lessons, linting, parting, passes, retract, review
from afterword.app.passes import Tell
from afterword.app.program import Program
from afterword.compile.engine import Waiting
from afterword.domain.errors import AfterwordError, Exit, UsageError
from afterword.store.ledger import jobs
from afterword.store.ledger.jobs import Job
from afterword.store.ledger.ledger import Ledger

_log = logging.getLogger(__name__)

TRIES_MAX: Final = 3
"""A job that was running so many times when the daemon died is given up."""
_LINE_EVERY_S: Final = 0.1
_STORE_EVERY_S: Final = 2.0
_LINES_MAX: Final = 5000
_BEAT_S: Final = 2.0


class Work(msgspec.Struct, frozen=True):
    """A kind of job. `again`: whether it may simply be run again after it was cut off."""

    arguments: type[Any]
    run: Callable[[Program, Any, Tell, Callable[[], bool]], dict[str, Any]]
    again: bool = True


BACKFILL: Final = "backfill"
JOBS: Final[dict[str, Work]] = {
    "ingest": Work(passes.Ingest, passes.ingest),
    "write-up": Work(passes.WriteUp, passes.write_up),
    "index": Work(passes.Reindex, passes.index),
    "compile": Work(passes.CompileDays, passes.compile_days),
    BACKFILL: Work(backfill.Backfill, backfill.run),
    "notes": Work(backfill.Notes, backfill.take_notes),
    "forget": Work(passes.Forget, passes.forget),
    "retract": Work(retract.Retract, retract.retract),
    "undo": Work(retract.Undo, retract.undo),
    "mend": Work(linting.Mend, linting.mend),
    "distill": Work(lessons.Distill, lessons.distill),
    "review": Work(review.Decide, review.decide),
    "unmerge": Work(parting.Part, parting.part),
}


def checked(name: str, arguments: Any) -> Any:
    """The typed arguments of a job that somebody asks for.

    Raises:
        UsageError: there is no such job, or it takes no such arguments.
    """
    work = JOBS.get(name)
    if work is None:
        raise UsageError(f"there is no job {name!r}", "the daemon may be of another version: restart it")
    try:
        return msgspec.convert(arguments, work.arguments)
    except msgspec.ValidationError as err:
        raise UsageError(f"{name}: {err}", "the daemon may be of another version: restart it") from err


class Lines:
    """What running jobs say, by number; written by the loop's thread, read by those of the door."""

    def __init__(self) -> None:
        self._told = threading.Condition()
        self._of: dict[str, list[dict[str, Any]]] = {}
        self._closed = False

    def add(self, job: str, line: dict[str, Any]) -> None:
        with self._told:
            kept = self._of.setdefault(job, [])
            kept.append({"n": len(kept), **line})
            for old in list(self._of)[:-20]:
                del self._of[old]
            self._told.notify_all()

    def room(self, job: str) -> bool:
        """Whether a job may tell more; its end always may."""
        return len(self._of.get(job, ())) < _LINES_MAX

    def pause_s(self, job: str) -> float:
        """How long a job waits between two lines: the longer, the more it has told, so that hours have room."""
        return _LINE_EVERY_S * (1 + len(self._of.get(job, ())) / 20)

    def since(self, job: str, start: int, timeout_s: float) -> list[dict[str, Any]]:
        """The lines from number `start` on; waits for one. Numbers of an earlier daemon's lines mean the first."""
        with self._told:
            if start > len(self._of.get(job, ())):
                start = 0
            self._told.wait_for(lambda: self._closed or len(self._of.get(job, ())) > start, timeout_s)
            return self._of.get(job, [])[start:]

    @property
    def closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """Wake everybody who waits: nothing more comes."""
        with self._told:
            self._closed = True
            self._told.notify_all()


class Runner:
    """Does queued jobs, one at a time, in the loop's thread. What breaks is the job's failure, never the loop's."""

    def __init__(self, program: Program, lines: Lines, stop: Callable[[], bool]) -> None:
        self._program = program
        self._ledger = program.ledger
        self._redactor = program.redactor
        self._clock = program.clock
        self._lines = lines
        self._stop = stop
        self._parked: set[str] = set()
        """Jobs that wait for a model."""
        self._told: tuple[str, float] = ("", 0.0)
        """The job that told a line last, and when: one that waits for a model begins again with every answer."""

    def answered(self) -> None:
        """A model answered: the jobs that wait for one have their turn again."""
        self._parked.clear()

    def recover(self) -> None:
        """Queue again what a killed daemon was at, or say that it was cut off."""
        for job in jobs.running(self._ledger):
            work = JOBS.get(job.name)
            if work is not None and work.again and job.tries < TRIES_MAX:
                jobs.put_back(self._ledger, job, counts=True)
            else:
                self._fail(job, {"kind": "interrupted", "message": "the daemon ended while this job ran", "hint": ""})

    def step(self) -> bool:
        """Do the next queued job, if there is one."""
        job = jobs.first_queued(self._ledger, self._parked)
        if job is None or self._stop():
            self._go_on()
            return False
        jobs.begin(self._ledger, job, self._clock())
        self._lines.add(job.id, {"state": "running"})
        try:
            arguments = checked(job.name, msgspec.json.decode(job.arguments.encode()))
            result = JOBS[job.name].run(self._program, arguments, self._teller(job), self._stop)
        except Waiting:
            # Nothing else waits for the model: the job is begun again when it has answered, and what came is kept.
            jobs.put_back(self._ledger, job, counts=False)
            self._parked.add(job.id)
        except AfterwordError as err:
            self._fail(job, {"kind": err.kind, "message": err.message, "hint": err.hint, "code": int(err.code)})
        except (OSError, sqlite3.Error) as err:
            _log.error("a job failed: %s", err, extra={"job": job.name})
            self._fail(job, {"kind": "system", "message": str(err), "hint": "check the disk and the permissions"})
        except Exception as err:  # noqa: BLE001  # a job that is broken must not end the daemon
            _log.exception("a job failed unexpectedly", extra={"job": job.name})
            self._fail(job, {"kind": "bug", "message": f"internal error: {type(err).__name__}", "hint": "see the log"})
        else:
            if self._stop():
                jobs.put_back(self._ledger, job, counts=False)
            else:
                said = self._redactor.document(result)
                jobs.finish(self._ledger, job, "done", said, self._clock())
                self._lines.add(job.id, {"state": "done", "result": msgspec.json.decode(said.encode())})
        return True

    def _go_on(self) -> None:
        """Queue what a person asked for once and what a day's tokens, a server or a kill stopped."""
        if not self._stop() and backfill.due(self._program) and not jobs.unfinished(self._ledger, BACKFILL):
            arguments = self._redactor.document(msgspec.to_builtins(backfill.Backfill()))
            jobs.submit(self._ledger, BACKFILL, arguments, self._clock())

    def _fail(self, job: Job, error: dict[str, Any]) -> None:
        error.setdefault("code", int(Exit.FAILED))
        said = self._redactor.document(error)
        jobs.finish(self._ledger, job, "failed", said, self._clock())
        self._lines.add(job.id, {"state": "failed", "error": msgspec.json.decode(said.encode())})

    def _teller(self, job: Job) -> Tell:
        stored_s = 0.0
        phase_told = ""

        def tell(phase: str, unit: str, done: int, total: int, word: str) -> None:
            nonlocal stored_s, phase_told
            now = time.monotonic()
            before, told_s = self._told
            fresh = job.id != before or (phase_told not in ("", phase))
            if not fresh and done < total and now - told_s < self._lines.pause_s(job.id):
                return
            line: dict[str, Any] = {"phase": phase, "unit": unit, "done": done, "all": total, "word": word}
            if self._lines.room(job.id):
                self._lines.add(job.id, {"state": "running", **line})
            if now - stored_s >= _STORE_EVERY_S:
                jobs.advance(self._ledger, job, self._redactor.document(line))
                stored_s = now
            self._told = job.id, now
            phase_told = phase

        return tell


def follow(open_ledger: Callable[[], Ledger], lines: Lines, job: str, start: int) -> Iterator[dict[str, Any]]:
    """The lines of a job from number `start` on, until it ends; a `beat` every two seconds of silence.

    What this daemon has not seen itself (an earlier one did the job) is told by one line from the ledger.
    """
    at = start
    while True:
        found = lines.since(job, at, 0.0)
        if not found:
            ended = _ended(open_ledger, job)
            if ended is not None:
                # Looked at again: it may have ended between the two looks.
                found = lines.since(job, at, 0.0) or [{"n": at, **ended}]
        if not found:
            found = lines.since(job, at, _BEAT_S)
        for line in found:
            at = line["n"] + 1
            yield line
            if line["state"] in ("done", "failed"):
                return
        if not found:
            if lines.closed:
                return
            yield {"beat": True}


def _ended(open_ledger: Callable[[], Ledger], job: str) -> dict[str, Any] | None:
    ledger = open_ledger()
    try:
        found = jobs.get(ledger, job)
    finally:
        ledger.close()
    if found is None or found.state not in ("done", "failed"):
        return None
    key, said = ("result", found.result) if found.state == "done" else ("error", found.error)
    return {"state": found.state, key: msgspec.json.decode(said.encode())}
