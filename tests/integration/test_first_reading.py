"""A first reading by several processes ends equal to one by a single process, whatever happens to files and workers."""

import os
import random
import shutil
from pathlib import Path

import histories
import pytest
from catalogue import CATALOGUE, at_rest
from homes import Home
from writer import REDACTOR, Reading

from afterword.app.fingerprint import lines
from afterword.capture.cold import wire
from afterword.capture.decoding import COMMIT_BYTES
from afterword.capture.prepared import Prepare, ReadyFacts, ReadyItem
from afterword.capture.sweep import Progress
from afterword.capture.tail.prefix import Keyed
from afterword.domain.events import Facts, Item
from afterword.domain.items import Kind, SaidBy
from afterword.redact.redactor import Redactor
from afterword.store.ledger import views
from afterword.store.ledger.ledger import Ledger

SEED = int(os.environ.get("AFTERWORD_TEST_SEED", "20261130"))
COLUMNS = "path, size, mtime_ns, offset, lines, generation, open_tail, verified_ns, bad, skipped, problem"


def kept(ledger: Ledger) -> list[tuple[object, ...]]:
    """What is remembered of every source; keyed hashes differ from ledger to ledger, so they are left out."""
    return sorted(ledger.db.execute(f"SELECT {COLUMNS} FROM source"), key=repr)


def read(
    home: Path, state: Path, jobs: int, env: dict[str, str] | None = None, exclude: tuple[str, ...] = ()
) -> Reading:
    """The stores of `home` read from nothing, with the state somewhere else."""
    shutil.rmtree(home / "state", ignore_errors=True)
    reading = Reading(home, jobs=jobs, env=env, exclude=exclude)
    reading.sweep(thorough=True)
    reading.close()
    shutil.move(home / "state", state)
    (home / "state").symlink_to(state)
    reading.restart()
    (home / "state").unlink()
    return reading


def compared(home: Path, exclude: tuple[str, ...] = ()) -> Reading:
    alone = read(home, home.with_name("alone"), 1, exclude=exclude)
    many = read(home, home.with_name("many"), 3, exclude=exclude)
    assert lines(many.ledger) == lines(alone.ledger)
    assert kept(many.ledger) == kept(alone.ledger)
    alone.close()
    return many


def test_every_harness_reads_the_same(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for entry in CATALOGUE:
        if entry.logs:
            entry.lay_out(home)
            if entry.copy:
                entry.copy(home)
    at_rest(home)
    many = compared(home)
    assert len({line for line in lines(many.ledger) if line.startswith("session")}) > 15
    many.close()


def test_a_history_with_forks_agents_torn_tails_and_a_long_file(tmp_path: Path) -> None:
    home = tmp_path / "home"
    histories.lay_out(home, SEED)
    many = compared(home)
    longest = many.ledger.db.execute("SELECT max(offset) FROM source").fetchone()[0]
    assert longest > 2 * COMMIT_BYTES
    many.close()


def test_a_project_that_is_left_out_is_left_out_by_workers_too(tmp_path: Path) -> None:
    home = tmp_path / "home"
    secret_folder = f"/srv/{histories.SECRET}/cellar"
    histories.lay_out(home, SEED, files=6, long_mb=9)
    moved = histories.ClaudeSession(random.Random(1), cwd="/srv/orchard-api")
    moved.prompt("Before it moved.")
    moved.cwd = "/srv/long-haul"
    moved.prompt("What must stay out.")
    odd = histories.ClaudeSession(random.Random(2), cwd=secret_folder)
    odd.prompt("In a folder whose name is masked.")
    for session in (moved, odd):
        histories.write(home, session)
    histories.rest(home)
    many = compared(home, ("long-haul", secret_folder))
    texts = [str(text) for _, _, _, text, _, _ in views.all_items(many.ledger)]
    assert "Before it moved." in texts
    assert not {"What must stay out.", "In a folder whose name is masked."} & set(texts)
    assert not any("marker" in text for text in texts)
    many.close()


@pytest.mark.parametrize("nth", [1, 2, 3])
def test_a_killed_worker_costs_time_only(nth: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    histories.lay_out(home, SEED + nth, files=6)
    monkeypatch.setenv("AFTERWORD_FAULT", f"kill@cold.commit#{nth}")  # this process has read it already
    compared(home).close()


def test_without_workers_it_is_read_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    home = tmp_path / "home"
    histories.lay_out(home, SEED, files=3, long_mb=0)
    monkeypatch.setattr("sys.executable", "/bin/false")
    compared(home).close()
    assert "did not start" in caplog.text


def test_files_that_change_while_they_are_read_ahead(tmp_path: Path) -> None:
    home = tmp_path / "home"
    histories.lay_out(home, SEED)
    rng = random.Random(SEED)
    paths = sorted(path for path in home.rglob("*.jsonl"))
    reading = Reading(home, jobs=3)
    changed: set[Path] = set()

    def change(_now: Progress) -> None:
        if len(changed) < 8:
            path = rng.choice([path for path in paths if path not in changed])
            data = path.read_bytes()
            cut = data[: data.rfind(b"\n") + 1]
            if len(changed) % 3 == 0:
                path.write_bytes(cut + cut.splitlines(keepends=True)[-1])  # grown
            elif len(changed) % 3 == 1:
                path.write_bytes(cut[: len(cut) // 2])  # cut off
            else:
                path.rename(path.with_name(f"{path.stem}0.jsonl"))
            changed.add(path)

    reading.capture.sweep(thorough=True, on_progress=change)
    assert len(changed) == 8
    reading.sweep(thorough=True)
    found = lines(reading.ledger)
    reading.close()
    shutil.rmtree(home / "state")
    later = Reading(home)
    later.sweep(thorough=True)
    live = {line for line in lines(later.ledger) if line.startswith("item")}
    # What a file showed before it was cut off stays, abandoned; everything else is as if it had been read now.
    assert live <= set(found)
    later.close()


def test_stop_is_heard_and_the_rest_read_later(tmp_path: Path) -> None:
    home = tmp_path / "home"
    histories.lay_out(home, SEED)
    alone = read(home, tmp_path / "alone", 1)
    wanted = lines(alone.ledger)
    alone.close()
    reading = Reading(home, jobs=3)
    for pieces in (1, 3, 9):
        told: list[Progress] = []
        reading.capture.sweep(thorough=True, on_progress=told.append, stop=lambda: len(told) > pieces)  # noqa: B023
        reading.restart()
    reading.sweep(thorough=True)
    assert lines(reading.ledger) == wanted
    reading.close()


def test_a_daemon_answers_while_it_reads_and_says_how_far_it_is(tmp_path: Path) -> None:
    home = Home(tmp_path)
    histories.lay_out(tmp_path, SEED, files=3, long_mb=30)
    home.run("init", "--yes")
    with home.daemon(AFTERWORD_CAPTURE_JOBS="2", AFTERWORD_CAPTURE_JOBS_FROM="1M"):
        said = []
        while not said or said[-1]["underway"] or not said[-1]["last_capture"]:
            said.append(home.json("status"))
            assert len(said) < 500
    told = [one["underway"] for one in said if one["underway"]]
    assert told
    assert all(0 <= one["done"] <= one["of"] for one in told)
    assert home.json("status")["underway"] is None


def test_what_a_worker_sends_holds_no_raw_text() -> None:
    secret = histories.SECRET
    prepare = Prepare(REDACTOR, Keyed(b"k" * 32))
    item = Item("s", None, Kind.OUTPUT, f"key {secret} " * 200, 5, SaidBy.MACHINE, path=f"/srv/{secret}/x")
    facts = Facts("s", cwd=f"/srv/{secret}", title=f"Use {secret}", branch=secret, folder=secret)
    ready = prepare.events([item, facts])
    sent = [wire.sent(event) for event in ready]
    frame = wire.encode(wire.Steps([wire.Line(0, 1, sent)]))
    assert secret.encode() not in frame
    packed = sent[0]
    assert isinstance(packed, wire.Sent)
    assert packed.packed.packed == 1
    back = wire.decode(frame[wire.LENGTH :])
    assert isinstance(back, wire.Steps)
    line = back.steps[0]
    assert isinstance(line, wire.Line)
    first, second = wire.all_arrived(line.events)
    assert isinstance(first, ReadyItem)
    assert isinstance(second, ReadyFacts)
    assert isinstance(ready[0], ReadyItem)
    assert first.body.text == REDACTOR.redact(item.text) == ready[0].body.text
    assert first.body.kinds == {"aws-access-key": 200}
    assert first.raw_print == ready[0].raw_print is not None
    assert (first.event.text, first.event.path) == ("", None)
    assert isinstance(ready[1], ReadyFacts)
    assert second.facts == ready[1].facts
    assert second.looked is not None
    assert list(second.looked.above) == ["/srv/[redacted:aws-access-key]", "/srv", "/"]


def test_an_engine_taken_over_finds_the_same() -> None:
    made = Redactor()
    compiled = made.warm()
    taken = Redactor()
    assert taken.warm(compiled) == compiled
    for text in (*histories.PLANTED, "nothing here", "x" * 100_000 + histories.PLANTED[0]):
        assert taken.redact(text) == made.redact(text) == Redactor("python").redact(text)
