"""A folder of batches: written whole, read with distrust, carried by whatever copies files."""

import os
import random
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sync_world import HOLD, THING, TOMBSTONE, machine, meet

from afterword_sync import batch
from afterword_sync import folder as module
from afterword_sync.batch import check
from afterword_sync.folder import export_folder, import_folder
from afterword_sync.record import Payload, Stub


@pytest.fixture
def mini():
    log = machine("mini")
    for n in range(2300):
        log.make(THING, f"k{n}", rev=1, text=f"text {n}")
    return log


def names(folder):
    return sorted(file.name for file in folder.iterdir())


def stamps(folder):
    return {file.name: (file.stat().st_ino, file.stat().st_mtime_ns) for file in folder.iterdir()}


def stored(folder, log):
    """Every record in the folder by number."""
    return {record.n: record for file in sorted(folder.iterdir()) for record in check(file.read_bytes(), log.kinds)[1]}


def test_what_an_export_writes(mini, tmp_path):
    done = export_folder(tmp_path / "out", mini)
    folder = tmp_path / "out"
    assert names(folder) == [
        f"{mini.origin}-{first}-{last}.jsonl" for first, last in ((1, 1000), (1001, 2000), (2001, 2300))
    ]
    assert [(one.first, one.last, one.records, one.new) for one in done.origins] == [(1, 2300, 2300, 2300)]
    assert (done.written, done.removed) == (3, 0)
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in folder.iterdir())
    assert folder.stat().st_mode & 0o777 == 0o700
    before = stamps(folder)
    done = export_folder(folder, mini)
    assert (done.written, done.removed, done.origins[0].new) == (0, 0, 0)
    assert stamps(folder) == before
    # Only the last batch is open: its longer successor takes its place.
    mini.make(THING, "one more", text="x")
    assert export_folder(folder, mini).origins[0].new == 1
    after = stamps(folder)
    assert names(folder)[2:] == [f"{mini.origin}-2001-2301.jsonl"]
    assert {name: after[name] for name in names(folder)[:2]} == {name: before[name] for name in names(folder)[:2]}


def test_two_machines_in_the_same_state_write_the_same_bytes(mini, tmp_path):
    other = machine("other")
    other.make(THING, "k5", text="revised", rev=7)
    meet(mini, other)
    for log in (mini, other):
        export_folder(tmp_path / log.name, log)
    assert names(tmp_path / "mini") == names(tmp_path / "other")
    for name in names(tmp_path / "mini"):
        assert (tmp_path / "mini" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_an_import_takes_all_of_it_once(mini, tmp_path):
    export_folder(tmp_path, mini)
    other, steps = machine("other"), []
    done = import_folder(tmp_path, other, steps.append)
    assert [(one.first, one.last, one.records, one.new) for one in done.origins] == [(1, 2300, 2300, 2300)]
    assert (done.pending, done.left) == ((), ())
    assert [(step.done, step.total) for step in steps] == [(1000, 2300), (2000, 2300), (2300, 2300)]
    assert other.equal() == mini.equal()
    before = dict(other.rows)
    assert [one.new for one in import_folder(tmp_path, other).origins] == [0]
    assert other.rows == before


def test_a_gap_waits_and_is_named(mini, tmp_path):
    export_folder(tmp_path, mini)
    middle = tmp_path / f"{mini.origin}-1001-2000.jsonl"
    held = tmp_path / ".held"
    middle.rename(held)
    other = machine("other")
    done = import_folder(tmp_path, other)
    assert other.vector()[mini.origin] == 1000
    (pending,) = done.pending
    assert pending.file == f"{mini.origin}-2001-2300.jsonl"
    assert pending.reason == f"numbers 1001 to 2000 of {mini.origin[:8]} did not come yet"
    assert pending.waits
    held.rename(middle)
    assert import_folder(tmp_path, other).pending == ()
    assert other.equal() == mini.equal()


def test_copies_and_halves_are_named_and_left(mini, tmp_path):
    export_folder(tmp_path, mini)
    first = tmp_path / f"{mini.origin}-1-1000.jsonl"
    whole = first.read_bytes()
    first.write_bytes(whole[: len(whole) // 2])
    copies = [
        f"{mini.origin}-1-1000 (conflicted copy 2026-01-01).jsonl",
        f"{mini.origin}-1-1000.sync-conflict-20260101-120000-ABCDEF.jsonl",
        f"{mini.origin}-1-1000.jsonl.part",
        "some\nother.jsonl",
    ]
    for name in copies:
        (tmp_path / name).write_bytes(whole)
    (tmp_path / "README.md").write_text("mine")
    (tmp_path / ".stfolder").mkdir()
    before = stamps(tmp_path)
    other = machine("other")
    done = import_folder(tmp_path, other)
    assert other.rows == {}
    assert sorted(done.left) == sorted([*copies[:3], "some other.jsonl"])
    assert "cut off, or changed" in done.pending[0].reason
    assert not done.pending[0].waits
    assert [one.waits for one in done.pending[1:]] == [True, True]
    assert stamps(tmp_path) == before
    first.write_bytes(whole)
    assert import_folder(tmp_path, other).pending == ()
    assert other.equal() == mini.equal()


def test_what_is_no_plain_file_or_lies_about_its_name(mini, tmp_path):
    export_folder(tmp_path / "good", mini)
    folder = tmp_path / "bad"
    folder.mkdir()
    secret = tmp_path / "secret"
    secret.write_bytes((tmp_path / "good" / f"{mini.origin}-1-1000.jsonl").read_bytes())
    (folder / f"{mini.origin}-1-1000.jsonl").symlink_to(secret)
    (folder / f"{mini.origin}-1-900.jsonl").mkdir()
    os.mkfifo(folder / f"{mini.origin}-1-800.jsonl")
    shutil.copy(secret, folder / f"{mini.origin}-1-999.jsonl")
    shutil.copy(secret, folder / f"{'e' * 32}-1-1000.jsonl")
    with (folder / f"{mini.origin}-1-700.jsonl").open("wb") as file:
        file.truncate(2**31)
    other = machine("other")
    done = import_folder(folder, other)
    assert other.rows == {}
    reasons = {one.file.split("-", 1)[1]: one.reason for one in done.pending if one.file.startswith(mini.origin)}
    assert reasons.keys() == {f"1-{last}.jsonl" for last in (700, 800, 900, 999, 1000)}
    assert all("not a file that can be read" in reasons[f"1-{last}.jsonl"] for last in (700, 800, 900, 1000))
    assert "its header is of another batch" in reasons["1-999.jsonl"]
    # A pipe or a link under the name of a batch to write is replaced, never written through.
    (folder / f"{mini.origin}-1-900.jsonl").rmdir()
    export_folder(folder, mini)
    assert secret.read_bytes() == (folder / f"{mini.origin}-1-1000.jsonl").read_bytes()
    assert not (folder / f"{mini.origin}-1-1000.jsonl").is_symlink()
    assert [one.file[:4] for one in import_folder(folder, machine("third")).pending] == ["eeee"]


def test_what_a_newer_machine_wrote_waits_for_an_upgrade(mini, tmp_path):
    export_folder(tmp_path, mini)
    last = tmp_path / f"{mini.origin}-2001-2300.jsonl"
    last.write_bytes(last.read_bytes().replace(b'"version":1', b'"version":2', 1).replace(b'"rules"', b'"rules"', 1))
    other = machine("other")
    header = last.read_bytes().split(b"\n", 1)[0]
    assert b'"version":2' in header
    (pending,) = import_folder(tmp_path, other).pending
    assert "batch format 2 is newer than 1" in pending.reason
    assert pending.hint == "upgrade afterword on this machine"
    assert other.vector()[mini.origin] == 2000


def test_forgetting_reaches_the_folder_and_what_was_written_before_stays_forgotten(mini, tmp_path):
    export_folder(tmp_path / "now", mini)
    shutil.copytree(tmp_path / "now", tmp_path / "old")
    other = machine("other")
    import_folder(tmp_path / "now", other)
    mini.forget("k7")
    done = export_folder(tmp_path / "now", mini)
    assert done.written == 2  # the batch with it, and the last one, which has the tombstone
    assert not any(b'text 7"' in file.read_bytes() for file in (tmp_path / "now").iterdir())
    import_folder(tmp_path / "now", other)
    import_folder(tmp_path / "old", other)
    assert (THING, "k7") not in other.values
    fresh = machine("fresh")
    import_folder(tmp_path / "old", fresh)  # forgotten afterwards
    import_folder(tmp_path / "now", fresh)
    import_folder(tmp_path / "old", fresh)
    assert fresh.equal() == other.equal() == mini.equal()


def test_tombstones_out_of_a_folder_go_first(mini, tmp_path):
    mini.make(HOLD, "k9", origins=[])
    mini.forget("k2000")
    export_folder(tmp_path, mini)
    other, order = machine("other"), []
    early, insert = other.insert_early, other.insert
    other.insert_early = lambda records, sender: order.append([r.key for r in records]) or early(records, sender)
    other.insert = lambda records, sender: order.append(len(records)) or insert(records, sender)
    import_folder(tmp_path, other)
    assert order == [["k2000"], 1000, 1000, 302]
    # What it forbids is behind a gap: it holds all the same.
    fresh = machine("fresh")
    (tmp_path / f"{mini.origin}-1-1000.jsonl").unlink()
    import_folder(tmp_path, fresh)
    assert [key for kind, key in fresh.values if kind == TOMBSTONE] == ["k2000"]
    assert fresh.vector().get(mini.origin, 0) == 0


def test_borders_move_when_what_was_long_is_forgotten(tmp_path):
    log = machine("mini")
    for n in range(30):
        log.make(THING, f"k{n}", text="x" * 700_000)
    export_folder(tmp_path, log)
    assert len(names(tmp_path)) > 4
    for n in range(30):
        log.forget(f"k{n}")
    done = export_folder(tmp_path, log)
    assert names(tmp_path) == [f"{log.origin}-1-60.jsonl"]
    assert done.removed >= 5
    fresh = machine("fresh")
    import_folder(tmp_path, fresh)
    assert fresh.equal() == log.equal()


def test_two_machines_use_one_folder(tmp_path):
    mini, laptop = machine("mini"), machine("laptop")
    for n in range(1200):
        mini.make(THING, f"m{n}", rev=1, text="m")
        laptop.make(THING, f"l{n}", rev=1, text="l")
    for log in (mini, laptop, mini, laptop):
        import_folder(tmp_path, log)
        export_folder(tmp_path, log)
    assert mini.equal() == laptop.equal()
    before = stamps(tmp_path)
    # Other rules of redaction there: its own origin's files are as it writes them, ours stay as we write them.
    laptop.rules = lambda: "rules-2"
    export_folder(tmp_path, laptop)
    changed = [name for name, stamp in stamps(tmp_path).items() if before.get(name) != stamp]
    assert changed
    assert all(name.startswith(laptop.origin) for name in changed)
    settled = stamps(tmp_path)
    export_folder(tmp_path, mini)
    assert stamps(tmp_path) == settled
    # One that is behind shortens nothing.
    mini.make(THING, "new", text="n")
    export_folder(tmp_path, mini)
    export_folder(tmp_path, laptop)
    assert f"{mini.origin}-1001-1201.jsonl" in names(tmp_path)
    import_folder(tmp_path, laptop)
    # What is forgotten here is gone from the other's files as well.
    laptop.forget("m3")
    export_folder(tmp_path, laptop)
    assert stored_of(tmp_path, mini)[4].body is Stub.FORGOTTEN
    before = stamps(tmp_path)
    export_folder(tmp_path, mini)  # does not know it yet: its own origin it writes as it is there
    assert isinstance(stored_of(tmp_path, mini)[4].body, Payload)
    for log in (mini, laptop, mini):
        import_folder(tmp_path, log)
        export_folder(tmp_path, log)
    assert stored_of(tmp_path, mini)[4].body is Stub.FORGOTTEN


def stored_of(folder, log):
    return {
        record.n: record
        for file in folder.glob(f"{log.origin}-*.jsonl")
        for record in check(file.read_bytes(), log.kinds)[1]
    }


def test_a_folder_for_anybody_has_nothing_that_is_held_from_somebody(mini, tmp_path):
    mini.hold("k3", ["e" * 32])
    export_folder(tmp_path / "anybody", mini)
    assert stored(tmp_path / "anybody", mini)[4].body is Stub.WITHHELD
    export_folder(tmp_path / "one", mini, peer="d" * 32)
    assert isinstance(stored(tmp_path / "one", mini)[4].body, Payload)
    export_folder(tmp_path / "other", mini, peer="e" * 32)
    assert stored(tmp_path / "other", mini)[4].body is Stub.WITHHELD
    other = machine("other")
    import_folder(tmp_path / "anybody", other)
    assert (THING, "k3") not in other.values
    # The same folder again, whole by now: the payload fills the stub.
    import_folder(tmp_path / "one", other)
    assert (THING, "k3") in other.values


def test_a_run_that_is_killed_leaves_whole_files_and_the_next_one_clears_up(mini, tmp_path, monkeypatch):
    class Killed(BaseException):
        pass

    real, calls = os.fsync, []

    def dies(descriptor):
        calls.append(1)
        if len(calls) == at:
            raise Killed
        real(descriptor)

    monkeypatch.setattr(module.os, "fsync", dies)
    monkeypatch.setattr(Path, "unlink", lambda self, missing_ok=False: None)  # a killed process cleans up nothing
    for at in range(1, 7):
        calls.clear()
        folder = tmp_path / str(at)
        with pytest.raises(Killed):
            export_folder(folder, mini)
        for file in folder.iterdir():
            if not file.name.startswith("."):
                check(file.read_bytes(), mini.kinds)
        import_folder(folder, machine("other"))
    monkeypatch.undo()
    for at in range(1, 7):
        export_folder(tmp_path / str(at), mini)
        assert len(names(tmp_path / str(at))) == 3
        assert not any(name.startswith(".") for name in names(tmp_path / str(at)))


@given(seed=st.integers(0, 2**32))
@settings(max_examples=15)
def test_any_order_twice_and_cut_off_at_any_byte(tmp_path_factory, seed):
    """A dumb copier brings the files in any order, some twice, halves first: the same ledger in the end."""
    rng = random.Random(seed)
    root = tmp_path_factory.mktemp("carried")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch, "MOST_RECORDS", 5)
        _carry(rng, root)
    shutil.rmtree(root)


def _carry(rng, root):
    logs = [machine("mini"), machine("laptop")]
    for log in logs:
        for _ in range(rng.randint(1, 30)):
            log.make(THING, f"k{rng.randrange(9)}", text="x" * rng.randrange(50))
            if rng.random() < 0.1:
                log.forget(f"k{rng.randrange(9)}")
    for log in logs:
        export_folder(root / log.name, log)
    files = [file for log in logs for file in (root / log.name).iterdir()]
    there, carried = machine("there"), root / "carried"
    carried.mkdir()
    arrivals = [*files, *rng.sample(files, len(files) // 2)]
    rng.shuffle(arrivals)
    for file in arrivals:
        data = file.read_bytes()
        if rng.random() < 0.5:
            (carried / file.name).write_bytes(data[: rng.randrange(len(data))])
            import_folder(carried, there)
        (carried / file.name).write_bytes(data)
        import_folder(carried, there)
    meet(*logs)
    assert there.equal() == logs[0].equal() == logs[1].equal()
