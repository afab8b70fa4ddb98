"""Jobs as rows of the ledger, and ledgers of every earlier version brought up to them."""

import sqlite3
from pathlib import Path

import pytest
from writer import REDACTOR

from afterword.domain.errors import Busy
from afterword.serve.jobs import Lines
from afterword.store.ledger import jobs, schema
from afterword.store.ledger.ledger import FILE, Ledger, open_beside, open_reader, open_writer


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return open_writer(tmp_path, "box")


def ask(ledger: Ledger, name: str = "ingest") -> str:
    return jobs.submit(ledger, name, REDACTOR.document({}), 1)


def test_jobs_are_done_in_the_order_they_came(tmp_path: Path, ledger: Ledger) -> None:
    beside = open_beside(tmp_path)
    first, second = ask(beside), ask(beside)
    job = jobs.first_queued(ledger)
    assert job is not None
    assert (job.id, job.state, job.tries) == (first, "queued", 0)
    jobs.begin(ledger, job, 2)
    assert [found.id for found in jobs.running(ledger)] == [first]
    jobs.advance(ledger, job, REDACTOR.document({"done": 1}))
    jobs.finish(ledger, job, "done", REDACTOR.document({"new": 3}), 5)
    done = jobs.get(open_reader(tmp_path), first)
    assert done is not None
    assert (done.state, done.result, done.progress, done.started_us, done.finished_us, done.tries) == (
        "done", '{"new":3}', '{"done":1}', 2, 5, 1
    )  # fmt: skip
    following = jobs.first_queued(ledger)
    assert following is not None
    assert following.id == second
    assert jobs.waiting(ledger) == 1


def test_a_job_put_back_waits_again(ledger: Ledger) -> None:
    its_id = ask(ledger)
    for counts, tries in ((True, 1), (False, 1), (True, 2)):
        job = jobs.first_queued(ledger)
        assert job is not None
        jobs.begin(ledger, job, 1)
        jobs.put_back(ledger, job, counts=counts)
        again = jobs.get(ledger, its_id)
        assert again is not None
        assert (again.state, again.tries) == ("queued", tries)


def test_failures_keep_their_reason(ledger: Ledger) -> None:
    ask(ledger)
    job = jobs.first_queued(ledger)
    assert job is not None
    jobs.finish(ledger, job, "failed", REDACTOR.document({"message": "the disk is full"}), 9)
    assert [found.error for found in jobs.failures(ledger)] == ['{"message":"the disk is full"}']
    assert jobs.first_queued(ledger) is None


def test_callers_in_a_loop_fill_nothing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "WAITING_MAX", 3)
    for _ in range(3):
        ask(ledger)
    with pytest.raises(Busy):
        ask(ledger)
    monkeypatch.setattr(jobs, "_KEPT", 5)
    for _ in range(20):
        job = jobs.first_queued(ledger)
        if job is not None:
            jobs.finish(ledger, job, "done", REDACTOR.document({}), 1)
        ask(ledger)
    assert ledger.db.execute("SELECT count(*) FROM job").fetchone()[0] <= 9


@pytest.mark.parametrize("version", range(1, len(schema.MIGRATIONS)))
def test_a_ledger_of_an_earlier_version_is_brought_up(tmp_path: Path, version: int) -> None:
    db = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    for step in schema.MIGRATIONS[:version]:
        step(db)
    db.execute(f"PRAGMA user_version = {version}")
    db.execute("INSERT INTO meta VALUES ('hash_key', ?)", (b"k" * 32,))
    db.execute("INSERT INTO origin (row, id, name) VALUES (1, 'aa', 'box')")
    db.execute("INSERT INTO session (id, harness, native, origin) VALUES ('s', 'codex', 'n', 1)")
    db.close()
    ledger = open_writer(tmp_path, "other name")
    assert ledger.origin == ("aa", "box")
    assert ledger.hash_key == b"k" * 32
    assert ledger.db.execute("SELECT native FROM session").fetchall() == [("n",)]
    assert ask(ledger)
    ledger.close()
    fresh = open_writer(tmp_path / "fresh", "box")
    shape = "SELECT type, name, sql FROM sqlite_master ORDER BY type, name"
    old = sqlite3.connect(tmp_path / FILE)
    assert old.execute(shape).fetchall() == fresh.db.execute(shape).fetchall()


def test_a_job_of_hours_tells_less_often_and_never_runs_out_of_lines() -> None:
    lines = Lines()
    told_s = 0.0
    told = 0
    while told_s < 12 * 3600:
        assert lines.room("j")
        told_s += lines.pause_s("j")
        lines.add("j", {"state": "running"})
        told += 1
    assert Lines().pause_s("j") <= 0.1
    assert told > 1_000
