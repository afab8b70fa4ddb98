"""The sample stores fed in every way give the same ledger as one pass: line by line, in byte pieces, with restarts,
torn, replaced, renamed, copied; one bad line costs nothing else."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from catalogue import CATALOGUE, Entry, every_entry, every_log
from writer import Reading

from afterword.app.fingerprint import lines
from afterword.store.ledger import sources

BY_NAME = {entry.name: entry for entry in CATALOGUE}


def reading_of(entry: Entry, home: Path, quiet_us: int = 600_000_000) -> Reading:
    return Reading(home, quiet_us=quiet_us, env=entry.variables(home))


def one_pass(entry: Entry, home: Path) -> list[str]:
    entry.lay_out(home)
    reading = reading_of(entry, home)
    reading.sweep(thorough=True)
    found = lines(reading.ledger)
    reading.close()
    assert any(line.startswith("item") for line in found)
    return found


def same(found: list[str], calm: list[str]) -> None:
    assert sorted(set(found) - set(calm)) == []
    assert sorted(set(calm) - set(found)) == []


def pieces(data: bytes, how: str, rng: random.Random) -> Iterator[bytes]:
    if how == "lines":
        yield from data.splitlines(keepends=True)
        return
    at = 0
    while at < len(data):
        size = {"7 bytes": 7, "random": rng.randrange(1, 900)}[how]
        yield data[at : at + size]
        at += size


@every_log
@pytest.mark.parametrize("how", ["lines", "7 bytes", "random"])
@pytest.mark.parametrize("restarts", [False, True])
def test_step(entry: Entry, how: str, restarts: bool, tmp_path: Path) -> None:
    home = tmp_path / "fed"
    calm = one_pass(entry, tmp_path / "calm")
    rng = random.Random(7)
    entry.lay_out(home)
    whole = {path: path.read_bytes() for path in entry.files(home)}
    for path in whole:
        path.unlink()
    reading = reading_of(entry, home)
    for path, data in whole.items():
        with path.open("wb", buffering=0) as out:
            for n, piece in enumerate(pieces(data, how, rng)):
                out.write(piece)
                if how != "7 bytes" or n % 9 == 0:
                    reading.sweep()
                if restarts and n % 5 == 0:
                    reading.restart()
    reading.sweep()
    same(lines(reading.ledger), calm)
    reading.close()


@every_log
@pytest.mark.parametrize("cut", [20, "inside a character"])
def test_torn(entry: Entry, cut: int | str, tmp_path: Path) -> None:
    home = tmp_path / "torn"
    calm = one_pass(entry, tmp_path / "calm")
    entry.lay_out(home)
    whole = {path: path.read_bytes() for path in entry.files(home)}
    for path, data in whole.items():
        wide = max((n for n, byte in enumerate(data) if byte >= 0xC0), default=len(data) - 20)
        path.write_bytes(data[: wide + 1] if isinstance(cut, str) else data[:-cut])
    reading = reading_of(entry, home)
    reading.sweep()
    for path, data in whole.items():
        path.write_bytes(data)
    reading.sweep()
    same(lines(reading.ledger), calm)
    reading.close()


@every_log
def test_quiet_without_a_last_newline_then_with_one(entry: Entry, tmp_path: Path) -> None:
    home = tmp_path / "open"
    calm = one_pass(entry, tmp_path / "calm")
    entry.lay_out(home)
    logs = [path for path in entry.files(home) if path.suffix == ".jsonl"]
    for path in logs:
        path.write_bytes(path.read_bytes().rstrip(b"\n"))
    reading = reading_of(entry, home, quiet_us=-(10**18))
    reading.sweep()
    same(lines(reading.ledger), calm)
    for path in logs:
        with path.open("ab") as out:
            out.write(b"\n")
    reading.sweep()
    same(lines(reading.ledger), calm)
    assert reading.sweep().new_items == 0
    reading.close()


@every_log
def test_corrupt(entry: Entry, tmp_path: Path) -> None:
    calm = one_pass(entry, tmp_path / "calm")
    home = tmp_path / "bad"
    entry.lay_out(home)
    logs = [path for path in entry.files(home) if path.suffix == ".jsonl" and path.stat().st_size]
    for path in logs:
        rows = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(
            b"".join([*rows[: len(rows) // 2], b'{"type": "user", broken \xff\n', *rows[len(rows) // 2 :]])
        )
    reading = reading_of(entry, home)
    reading.sweep()
    said = [line for line in lines(reading.ledger) if line.startswith("item")]
    same(said, [line for line in calm if line.startswith("item")])
    assert sum(source.bad for source in sources.every(reading.ledger)) == len(logs)
    reading.close()


@every_entry
def test_twice_with_a_restart_between(entry: Entry, tmp_path: Path) -> None:
    home = tmp_path / "home"
    calm = one_pass(entry, home)
    reading = reading_of(entry, home)
    head = reading.ledger.db.execute("SELECT count(*) FROM log").fetchone()
    for _ in range(2):
        assert reading.sweep(thorough=True).new_items == 0
        reading.restart()
    assert reading.ledger.db.execute("SELECT count(*) FROM log").fetchone() == head
    same(lines(reading.ledger), calm)
    reading.close()


@every_log
@pytest.mark.parametrize("how", ["renamed over", "truncated and regrown", "same size", "touched"])
def test_replace(entry: Entry, how: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    calm = one_pass(entry, home)
    reading = reading_of(entry, home)
    for n, path in enumerate(entry.files(home)):
        data = path.read_bytes()
        match how:
            case "renamed over":
                other = path.with_name("other.tmp")
                other.write_bytes(data)
                other.replace(path)
            case "truncated and regrown":
                path.write_bytes(data[: len(data) // 3])
                reading.sweep(thorough=True)
                path.write_bytes(data)
            case "same size" if path.suffix == ".jsonl":
                # Another text of the same length stands there for a while.
                path.write_bytes(data.replace(b"the", b"teh"))
                reading.sweep(thorough=True)
                path.write_bytes(data)
            case "touched":
                path.touch()
        if n % 2:
            reading.restart()
    reading.sweep(thorough=True)
    found = lines(reading.ledger)
    # What stood there for a while stays, abandoned; what was there is there once, as it was.
    items = {line for line in calm if line.startswith("item")}
    assert items <= set(found)
    if how in ("renamed over", "touched", "truncated and regrown"):
        same(found, calm)
    reading.close()


@every_log
def test_renamed(entry: Entry, tmp_path: Path) -> None:
    home = tmp_path / "home"
    calm = one_pass(entry, home)
    reading = reading_of(entry, home)
    count = reading.ledger.db.execute("SELECT count(*) FROM source").fetchone()
    for path in {path for glob in entry.renames for path in home.glob(glob)}:
        path.rename(path.with_name(path.name.replace(".jsonl", "x.jsonl")))
    reading.sweep(thorough=True)
    reading.restart()
    reading.sweep(thorough=True)
    assert reading.ledger.db.execute("SELECT count(*) FROM source").fetchone() == count
    same(lines(reading.ledger), calm)
    reading.close()


@pytest.mark.parametrize("entry", [e for e in CATALOGUE if e.copy], ids=lambda entry: entry.name)
def test_copy_under_a_new_id_adds_its_own_turn_only(entry: Entry, tmp_path: Path) -> None:
    assert entry.copy is not None
    home = tmp_path / "home"
    calm = one_pass(entry, home)
    reading = reading_of(entry, home)
    new, said = entry.copy(home)
    assert reading.sweep(thorough=True).new_items == len(said)
    assert reading.live(new)[-len(said) :] == said
    items = {line for line in calm if line.startswith("item")}
    assert items <= set(lines(reading.ledger))
    reading.close()


def test_a_roll_back_that_waits_for_its_newline_rolls_back_once(tmp_path: Path) -> None:
    entry = BY_NAME["codex"]
    calm = one_pass(entry, tmp_path / "calm")
    home = tmp_path / "home"
    entry.lay_out(home)
    path = next(home.rglob("*00a1.jsonl"))
    whole = path.read_bytes()
    assert b"thread_rolled_back" in whole.splitlines()[-2]
    path.write_bytes(b"\n".join(whole.splitlines()[:-1]))
    reading = reading_of(entry, home, quiet_us=-(10**18))
    reading.sweep()
    abandoned = [text for _, text, state in reading.speech(path.stem[-36:]) if state == "abandoned"]
    assert abandoned == ["Delete the old importer.", "Deleted."]
    path.write_bytes(whole)
    reading.sweep()
    same(lines(reading.ledger), calm)
    reading.close()


@every_log
def test_four_snapshots_each_a_prefix_of_the_next_equal_the_last(entry: Entry, tmp_path: Path) -> None:
    calm = one_pass(entry, tmp_path / "calm")
    home = tmp_path / "snapshots"
    entry.lay_out(home)
    whole = {path: path.read_bytes() for path in entry.files(home)}
    shutil.rmtree(home / "state", ignore_errors=True)
    reading = reading_of(entry, home)
    for share in (0.3, 0.5, 0.8, 1.0):
        for path, data in whole.items():
            rows = data.splitlines(keepends=True)
            path.unlink(missing_ok=True)
            path.write_bytes(b"".join(rows[: round(len(rows) * share)]) if path.suffix == ".jsonl" else data)
        reading.sweep()
    same(lines(reading.ledger), calm)
    reading.close()
