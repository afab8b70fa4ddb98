"""The sample stores fed in every way give the same ledger as one pass: line by line, in byte pieces, with restarts,
compacted copies and renames in between."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import FIXTURES
from writer import Reading

from afterword.app.fingerprint import lines

HARNESSES = ["claude-code", "codex", "gemini-cli", "antigravity", "grok-build"]


def stores(harness: str) -> list[Path]:
    """The sample's files relative to its home, parents before forks."""
    root = FIXTURES / "harness" / harness
    files = (p for p in root.rglob("*") if p.is_file() and p.parent != root)
    return sorted(p.relative_to(root) for p in files)


def one_pass(harness: str, folder: Path) -> list[str]:
    shutil.copytree(FIXTURES / "harness" / harness, folder, dirs_exist_ok=True)
    reading = Reading(folder)
    reading.sweep(thorough=True)
    found = lines(reading.ledger)
    reading.close()
    assert any(line.startswith("item") for line in found)
    return found


def pieces(data: bytes, how: str, rng: random.Random) -> Iterator[bytes]:
    if how == "lines":
        yield from data.splitlines(keepends=True)
        return
    at = 0
    while at < len(data):
        size = {"7 bytes": 7, "random": rng.randrange(1, 900)}[how]
        yield data[at : at + size]
        at += size


@pytest.mark.parametrize("harness", HARNESSES)
@pytest.mark.parametrize("how", ["lines", "7 bytes", "random"])
@pytest.mark.parametrize("restarts", [False, True])
def test_fed_in_pieces(harness: str, how: str, restarts: bool, tmp_path: Path) -> None:
    calm = one_pass(harness, tmp_path / "calm")
    rng = random.Random(7)
    reading = Reading(tmp_path / "fed")
    for name in stores(harness):
        source, target = FIXTURES / "harness" / harness / name, tmp_path / "fed" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb", buffering=0) as out:
            for n, piece in enumerate(pieces(source.read_bytes(), how, rng)):
                out.write(piece)
                if how != "7 bytes" or n % 9 == 0:
                    reading.sweep()
                if restarts and n % 5 == 0:
                    reading.restart()
    reading.sweep()
    assert lines(reading.ledger) == calm
    reading.close()


@pytest.mark.parametrize("harness", HARNESSES)
def test_torn_twenty_bytes_short_then_whole(harness: str, tmp_path: Path) -> None:
    calm = one_pass(harness, tmp_path / "calm")
    home = tmp_path / "torn"
    shutil.copytree(FIXTURES / "harness" / harness, home)
    whole = {name: (home / name).read_bytes() for name in stores(harness)}
    for name, data in whole.items():
        (home / name).write_bytes(data[:-20])
    reading = Reading(home)
    reading.sweep()
    for name, data in whole.items():
        (home / name).write_bytes(data)
    reading.sweep()
    assert lines(reading.ledger) == calm
    reading.close()


@pytest.mark.parametrize("harness", HARNESSES)
def test_quiet_file_without_a_last_newline_then_with_one(harness: str, tmp_path: Path) -> None:
    calm = one_pass(harness, tmp_path / "calm")
    home = tmp_path / "open"
    shutil.copytree(FIXTURES / "harness" / harness, home)
    for name in stores(harness):
        data = (home / name).read_bytes()
        (home / name).write_bytes(data.rstrip(b"\n"))
    reading = Reading(home, quiet_us=-(10**18))
    reading.sweep()
    assert lines(reading.ledger) == calm
    for name in stores(harness):
        with (home / name).open("ab") as out:
            out.write(b"\n")
    reading.sweep()
    assert lines(reading.ledger) == calm
    assert reading.sweep().new_items == 0
    reading.close()


@pytest.mark.parametrize("harness", HARNESSES)
def test_twice_after_a_rename_of_every_file(harness: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    calm = one_pass(harness, home)
    reading = Reading(home)
    sources = reading.ledger.db.execute("SELECT count(*) FROM source").fetchone()
    for name in stores(harness):
        if "rollout" in name.name or name.parent.name.startswith("-srv"):
            (home / name).rename((home / name).with_name(name.name.replace(".jsonl", "x.jsonl")))
    reading.sweep(thorough=True)
    reading.restart()
    reading.sweep(thorough=True)
    if harness == "claude-code":
        assert reading.ledger.db.execute("SELECT count(*) FROM source").fetchone() == sources
    assert lines(reading.ledger) == calm
    reading.close()


def test_a_roll_back_that_waits_for_its_newline_rolls_back_once(tmp_path: Path) -> None:
    calm = one_pass("codex", tmp_path / "calm")
    home = tmp_path / "home"
    shutil.copytree(FIXTURES / "harness/codex", home)
    path = next(home.rglob("*00a1.jsonl"))
    whole = path.read_bytes()
    assert b"thread_rolled_back" in whole.splitlines()[-2]
    path.write_bytes(b"\n".join(whole.splitlines()[:-1]))
    reading = Reading(home, quiet_us=-(10**18))
    reading.sweep()
    abandoned = [text for _, text, state in reading.speech(path.stem[-36:]) if state == "abandoned"]
    assert abandoned == ["Delete the old importer.", "Deleted."]
    path.write_bytes(whole)
    reading.sweep()
    assert lines(reading.ledger) == calm
    reading.close()


def test_four_snapshots_each_a_prefix_of_the_next_equal_the_last(tmp_path: Path) -> None:
    calm = one_pass("claude-code", tmp_path / "calm")
    home = tmp_path / "snapshots"
    reading = Reading(home)
    for share in (0.3, 0.5, 0.8, 1.0):
        for name in stores("claude-code"):
            data = (FIXTURES / "harness/claude-code" / name).read_bytes().splitlines(keepends=True)
            target = home / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            target.write_bytes(b"".join(data[: round(len(data) * share)]))
        reading.sweep()
    assert lines(reading.ledger) == calm
    reading.close()
