"""Rollouts that Codex compresses when they are a week old, and writes back when they are resumed: one session."""

import random
import tracemalloc
from pathlib import Path

import pytest
import zstandard
from transcripts import CodexSession
from writer import Reading

from afterword.app.fingerprint import lines
from afterword.capture.tail import content
from afterword.store.ledger import sources


def session(turns: int = 4) -> CodexSession:
    made = CodexSession(random.Random(5))
    for n in range(turns):
        made.prompt(f"Question {n} about the importer.")
        made.command(f"pytest -q tests/test_{n}.py", "1 failed", failed=True)
        made.reply(f"Answer {n} about the importer.")
    return made


def write(home: Path, made: CodexSession) -> Path:
    path = made.path(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(made.lines))
    return path


def compress(path: Path, frames: int = 1) -> Path:
    data, packed = path.read_bytes(), path.with_name(path.name + ".zst")
    size = -(-len(data) // frames)
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    packed.write_bytes(b"".join(zstandard.ZstdCompressor(level=3).compress(piece) for piece in pieces))
    return packed


def head(reading: Reading) -> int:
    found: int = reading.ledger.db.execute("SELECT count(*) FROM log").fetchone()[0]
    return found


@pytest.mark.parametrize("frames", [1, 3])
@pytest.mark.parametrize("restarts", [False, True])
def test_compressed_kept_beside_and_written_back_is_one_session(frames: int, restarts: bool, tmp_path: Path) -> None:
    made = session()
    path = write(tmp_path, made)
    reading = Reading(tmp_path)
    reading.sweep()
    calm, before = lines(reading.ledger), head(reading)

    def look() -> None:
        if restarts:
            reading.restart()
        assert reading.sweep().new_items == 0
        assert reading.sweep(thorough=True).problems == 0
        assert (lines(reading.ledger), head(reading)) == (calm, before)

    packed = compress(path, frames)
    look()
    path.unlink()
    look()
    compress_again = packed.read_bytes()
    path.write_bytes(b"".join(made.lines))
    look()
    packed.unlink()
    look()
    assert reading.ledger.db.execute("SELECT count(*) FROM source").fetchone() == (1,)

    made.prompt("Resumed: and the exporter?")
    made.reply("The exporter is fine.")
    with path.open("ab") as out:
        out.write(b"".join(made.lines[-5:]))
    assert reading.sweep().new_items == 2
    assert reading.live(made.session)[-2:] == ["Resumed: and the exporter?", "The exporter is fine."]
    packed.write_bytes(compress_again)
    path.unlink()
    # An old copy says less than what was read: it is believed, and nothing is lost.
    reading.sweep()
    assert [text for _, text, _ in reading.speech(made.session)].count("The exporter is fine.") == 1
    reading.close()


@pytest.mark.parametrize("archived", [False, True])
def test_met_compressed_for_the_first_time_it_equals_the_plain_one(archived: bool, tmp_path: Path) -> None:
    made = session()
    plain = Reading(tmp_path / "plain")
    write(tmp_path / "plain", made)
    plain.sweep()
    packed = compress(write(tmp_path / "packed", made))
    packed.with_suffix("").unlink()
    if archived:
        (tmp_path / "packed/.codex/archived_sessions").mkdir()
        packed = packed.rename(tmp_path / "packed/.codex/archived_sessions" / packed.name)
    reading = Reading(tmp_path / "packed")
    reading.sweep()
    assert lines(reading.ledger) == lines(plain.ledger)
    assert reading.sweep().files == 0
    plain.close()
    reading.close()


def test_a_rollout_that_is_archived_and_compressed_at_once_stays_the_same_source(tmp_path: Path) -> None:
    made = session()
    path = write(tmp_path, made)
    reading = Reading(tmp_path)
    reading.sweep()
    calm = lines(reading.ledger)
    packed = compress(path)
    path.unlink()
    (tmp_path / ".codex/archived_sessions").mkdir()
    packed.rename(tmp_path / ".codex/archived_sessions" / packed.name)
    reading.sweep()
    assert lines(reading.ledger) == calm
    assert reading.ledger.db.execute("SELECT count(*) FROM source").fetchone() == (1,)
    assert reading.ledger.db.execute("SELECT json_extract(facts, '$.archived') FROM session").fetchone() == (1,)
    reading.close()


@pytest.mark.parametrize("damage", ["short", "flipped", "empty", "no zstd"])
def test_a_damaged_one_is_named_and_stops_nobody(damage: str, tmp_path: Path) -> None:
    made, other = session(), CodexSession(random.Random(6))
    other.prompt("Somebody else's question.")
    packed = compress(write(tmp_path, made))
    packed.with_suffix("").unlink()
    data = packed.read_bytes()
    broken = {"short": data[:40], "flipped": data[:60] + b"\xff" * 400, "empty": b"", "no zstd": b"{}\n"}
    packed.write_bytes(broken[damage])
    write(tmp_path, other)
    reading = Reading(tmp_path)
    assert reading.sweep().problems >= 1  # a second look follows where new working folders came up
    assert [s.problem for s in sources.every(reading.ledger) if s.problem] == ["the compressed file is damaged"]
    assert reading.live(other.session) == ["Somebody else's question."]
    compress(write(tmp_path, made))
    made.path(tmp_path).unlink()
    reading.sweep()
    assert len(reading.live(made.session)) == 16
    assert not [s.problem for s in sources.every(reading.ledger) if s.problem]
    reading.close()


def test_one_that_grows_without_end_is_read_up_to_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "UNPACKED_MAX", 64 << 20)
    made = session(1)
    packed = compress(write(tmp_path, made))
    packed.with_suffix("").unlink()
    zeros = zstandard.ZstdCompressor(level=3).compress(bytes(512 << 20))
    packed.write_bytes(packed.read_bytes() + zeros)
    assert packed.stat().st_size < 1 << 20
    reading = Reading(tmp_path)
    tracemalloc.start()
    reading.sweep()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 48 << 20
    assert len(reading.live(made.session)) == 4
    reading.sweep()
    (source,) = sources.every(reading.ledger)
    assert (source.skipped, source.problem) == (1, "")
    assert [reason for _, _, reason in sources.troubles(reading.ledger)] == [
        "the rest of a compressed file was left out: too long"
    ]
    assert reading.sweep().files == 0
    reading.close()
