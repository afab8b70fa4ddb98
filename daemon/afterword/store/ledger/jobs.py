"""Rows of the `job` table: what callers asked the running daemon for, and what became of it."""

import secrets
from collections.abc import Collection
from typing import Final, Literal, TypeAlias

import msgspec

from afterword.domain.errors import Busy
from afterword.redact.text import Redacted, stored
from afterword.store.ledger.ledger import Ledger

State: TypeAlias = Literal["queued", "running", "done", "failed"]

WAITING_MAX: Final = 100
"""More waiting jobs than this are refused: a loop of callers must not fill the ledger."""
_KEPT: Final = 200


class Job(msgspec.Struct, frozen=True):
    """A job. `arguments`, `progress`, `result` and `error` are JSON, empty while there is none."""

    row: int
    id: str
    name: str
    arguments: Redacted
    state: State
    progress: Redacted
    result: Redacted
    error: Redacted
    tries: int
    created_us: int
    started_us: int | None
    finished_us: int | None


_COLUMNS = "row, id, name, arguments, state, progress, result, error, tries, created_us, started_us, finished_us"


def submit(ledger: Ledger, name: str, arguments: Redacted, now_us: int) -> str:
    """Queue a job in a transaction of its own; returns its id. Finished ones beyond the last 200 go.

    Raises:
        Busy: too many wait already.
    """
    its_id = secrets.token_hex(8)
    with ledger.transaction():
        waiting = ledger.db.execute("SELECT count(*) FROM job WHERE state IN ('queued', 'running')").fetchone()[0]
        if waiting >= WAITING_MAX:
            raise Busy(f"{waiting} jobs wait already", "try again when some are done")
        ledger.db.execute(
            "DELETE FROM job WHERE state IN ('done', 'failed') AND row <= (SELECT max(row) FROM job) - ?", (_KEPT,)
        )
        ledger.db.execute(
            "INSERT INTO job (id, name, arguments, created_us) VALUES (?, ?, ?, ?)", (its_id, name, arguments, now_us)
        )
    return its_id


def get(ledger: Ledger, its_id: str) -> Job | None:
    """The job with this id."""
    return _one(ledger, "id = ?", its_id)


def first_queued(ledger: Ledger, but: Collection[str] = ()) -> Job | None:
    """The job whose turn it is, of all `but` these."""
    others = f"state = 'queued' AND id NOT IN ({', '.join('?' * len(but))})"
    return _one(ledger, f"{others} ORDER BY row LIMIT 1", *but)


def running(ledger: Ledger) -> list[Job]:
    """Jobs that were begun and not ended: at the start of a daemon, those the last one left."""
    rows = ledger.db.execute(f"SELECT {_COLUMNS} FROM job WHERE state = 'running' ORDER BY row")
    return [_job(row) for row in rows]


def waiting(ledger: Ledger) -> int:
    """How many jobs are queued or running."""
    found: int = ledger.db.execute("SELECT count(*) FROM job WHERE state IN ('queued', 'running')").fetchone()[0]
    return found


def unfinished(ledger: Ledger, name: str) -> bool:
    """Whether a job of this name is queued or running."""
    found = ledger.db.execute("SELECT 1 FROM job WHERE state IN ('queued', 'running') AND name = ?", (name,)).fetchone()
    return found is not None


def failures(ledger: Ledger, limit: int = 5) -> list[Job]:
    """The last jobs that failed, newest first."""
    rows = ledger.db.execute(
        f"SELECT {_COLUMNS} FROM job WHERE state = 'failed' ORDER BY finished_us DESC LIMIT ?", (limit,)
    )
    return [_job(row) for row in rows]


def begin(ledger: Ledger, job: Job, now_us: int) -> None:
    """Mark a queued job as running."""
    with ledger.transaction():
        ledger.db.execute(
            "UPDATE job SET state = 'running', tries = tries + 1, started_us = ? WHERE row = ?", (now_us, job.row)
        )


def advance(ledger: Ledger, job: Job, progress: Redacted) -> None:
    """Store how far a running job is."""
    with ledger.transaction():
        ledger.db.execute("UPDATE job SET progress = ? WHERE row = ?", (progress, job.row))


def put_back(ledger: Ledger, job: Job, *, counts: bool) -> None:
    """Queue a job again that was begun; `counts` says whether that start counts as a try."""
    with ledger.transaction():
        ledger.db.execute(
            "UPDATE job SET state = 'queued', tries = tries - ? WHERE row = ?", (0 if counts else 1, job.row)
        )


def finish(ledger: Ledger, job: Job, state: State, said: Redacted, now_us: int) -> None:
    """End a job: `said` is its result when it is done, its error when it failed."""
    column = "result" if state == "done" else "error"
    with ledger.transaction():
        ledger.db.execute(
            f"UPDATE job SET state = ?, {column} = ?, finished_us = ? WHERE row = ?", (state, said, now_us, job.row)
        )


def _one(ledger: Ledger, where: str, *values: object) -> Job | None:
    found = ledger.db.execute(f"SELECT {_COLUMNS} FROM job WHERE {where}", values).fetchone()
    return _job(found) if found else None


def _job(found: tuple[int, str, str, str, State, str, str, str, int, int, int | None, int | None]) -> Job:
    row, its_id, name, arguments, state, progress, result, error, tries, created_us, started_us, finished_us = found
    return Job(
        row=row,
        id=its_id,
        name=name,
        arguments=stored(arguments),
        state=state,
        progress=stored(progress),
        result=stored(result),
        error=stored(error),
        tries=tries,
        created_us=created_us,
        started_us=started_us,
        finished_us=finished_us,
    )
