"""Every harness with line logs against a model: whatever happens to its sample on the way, in the end the ledger equals
one undisturbed pass over it, and of what was taken away in between only abandoned rows are left."""

import functools
import os
import shutil
import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest
from catalogue import CATALOGUE, Entry
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from writer import NOW_US, Reading

from afterword.store import faults
from afterword.store.ledger import sessions, views
from afterword.store.ledger.items import State
from afterword.store.ledger.ledger import Ledger

LOGS = {entry.name: entry for entry in CATALOGUE if entry.logs}
POINTS = ("ledger.begin", "ledger.inside", "ledger.commit", "ledger.committed")
EXAMPLES = settings().max_examples ** 2 // 2000

Told = tuple[dict[str, Any], dict[str, list[tuple[str, State, bool]]]]


def told(ledger: Ledger) -> Told:
    """(item → what it says, session → its items in order with their flags)."""
    names: dict[int, str] = {}
    items: dict[str, Any] = {}
    for row, its_id, kind, text, path, exit_status in views.all_items(ledger):
        names[row] = its_id.hex()
        items[its_id.hex()] = (kind, str(text), path, exit_status)
    held = {}
    for session in sessions.load(ledger, ""):
        inherited = sessions.inherited_items(ledger, session.row)
        held[session.native] = [
            (names[item.row], item.state, item.row in inherited) for item in views.in_order(ledger, session.row)
        ]
    return items, held


@functools.cache
def calm(name: str) -> tuple[dict[str, bytes], Told]:
    """The logs of a sample by their paths, and what one pass over it gives."""
    folder = Path(tempfile.mkdtemp())
    entry = LOGS[name]
    entry.lay_out(folder)
    logs = {str(path.relative_to(folder)): path.read_bytes() for path in entry.files(folder) if path.suffix == ".jsonl"}
    for n, path in enumerate(logs):
        _stamp(folder / path, n)
    reading = Reading(folder, env=entry.variables(folder))
    reading.sweep(thorough=True)
    found = told(reading.ledger)
    reading.close()
    shutil.rmtree(folder)
    return {path: data for path, data in logs.items() if data}, found


def _stamp(path: Path, tick: int) -> None:
    """Every change has a time of its own, and all lie too near to the clock for the file to be quiet."""
    at = (NOW_US - 10_000_000 + tick) * 1000
    os.utime(path, ns=(at, at))


class Machine(RuleBasedStateMachine):
    """Appends, torn writes, truncations, rewrites in place, renames, copies, vanishing, restarts and kills."""

    entry: Entry

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.whole, self.wanted = calm(self.entry.name)
        self.paths: dict[str, Path] = {}
        self.bent: set[str] = set()
        self.tick = 100
        self.entry.lay_out(self.folder)
        for name in self.whole:
            self.paths[name] = self.folder / name
            self.paths[name].unlink()
        self.reading = Reading(self.folder, env=self.entry.variables(self.folder))

    @initialize()
    def begin(self) -> None:
        self.reading.sweep(thorough=True)

    def _pick(self, which: int) -> str:
        return sorted(self.whole)[which % len(self.whole)]

    def _write(self, name: str, data: bytes) -> None:
        self.paths[name].write_bytes(data)
        self.tick += 1
        _stamp(self.paths[name], self.tick)

    def _have(self, name: str) -> bytes:
        return self.paths[name].read_bytes() if self.paths[name].exists() else b""

    @rule(which=st.integers(0, 9), part=st.floats(0.05, 1), whole_lines=st.booleans())
    def append(self, which: int, part: float, whole_lines: bool) -> None:
        name = self._pick(which)
        have, whole = self._have(name), self.whole[name]
        end = len(have) + max(1, round((len(whole) - len(have)) * part))
        if whole_lines:
            end = whole.find(b"\n", min(end, len(whole)) - 1) + 1 or len(whole)
        self._write(name, have + whole[len(have) : end])

    @rule(which=st.integers(0, 9), keep=st.floats(0, 1))
    def truncate(self, which: int, keep: float) -> None:
        name = self._pick(which)
        if self.paths[name].exists():
            self._write(name, self._have(name)[: round(len(self._have(name)) * keep)])

    @rule(which=st.integers(0, 9), letters=st.sampled_from([(b"the", b"teh"), (b" a", b" e"), (b"test", b"tset")]))
    def rewrite_in_place(self, which: int, letters: tuple[bytes, bytes]) -> None:
        """Another text of the same length, until the file is written anew."""
        name = self._pick(which)
        have = self._have(name)
        if letters[0] in have:
            # A key that counts places names the words that were met there first.
            self.reading.sweep(thorough=True)
            self._write(name, have.replace(*letters))
            self.bent.add(name)

    @rule(which=st.integers(0, 9))
    def write_anew(self, which: int) -> None:
        """A new file of the same name, as long as the old one."""
        name = self._pick(which)
        length = len(self._have(name))
        self.paths[name].unlink(missing_ok=True)
        self._write(name, self.whole[name][:length])
        self.bent.discard(name)

    @precondition(lambda self: self.entry.renames)
    @rule(which=st.integers(0, 9))
    def rename(self, which: int) -> None:
        name = self._pick(which)
        if not self.paths[name].exists() or not self._free_of_name(name):
            return
        self.reading.sweep(thorough=True)
        self.tick += 1
        new = self.paths[name].with_name(self.paths[name].stem + "x.jsonl")
        self.paths[name] = self.paths[name].rename(new)
        # Renamed and rewritten between two looks, it would be another file: nothing tells that it is not.
        self.reading.sweep(thorough=True)

    @precondition(lambda self: self.entry.renames)
    @rule(which=st.integers(0, 9))
    def copy_and_take_away(self, which: int) -> None:
        name = self._pick(which)
        if name in self.bent or not self._have(name) or not self._free_of_name(name):
            return
        self.reading.sweep(thorough=True)
        copy = self.paths[name].with_name(self.paths[name].stem + f"copy{self.tick}.jsonl")
        shutil.copy2(self.paths[name], copy)
        assert self.reading.sweep(thorough=True).new_items == 0
        copy.unlink()

    def _free_of_name(self, name: str) -> bool:
        return any(self.folder.joinpath(name) in self.folder.glob(glob) or Path(name).match(glob.removeprefix("."))
                   for glob in self.entry.renames)  # fmt: skip

    @rule(which=st.integers(0, 9))
    def vanish_for_a_while(self, which: int) -> None:
        name = self._pick(which)
        if self.paths[name].exists():
            away = self.folder / "away"
            self.paths[name].rename(away)
            self.reading.sweep(thorough=True)
            away.rename(self.paths[name])

    @rule()
    def sweep(self) -> None:
        self.reading.sweep(thorough=True)

    @rule()
    def restart(self) -> None:
        self.reading.restart()

    @rule(point=st.sampled_from(POINTS), nth=st.integers(1, 12))
    def kill(self, point: str, nth: int) -> None:
        """Another process takes what is there and is killed on the way."""
        self.reading.close()
        child = os.fork()
        if not child:
            try:
                faults._wanted = {point: [("kill", nth)]}
                self.reading.restart()
                self.reading.sweep(thorough=True)
            finally:
                os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(child, 0)
        self.reading = Reading(self.folder, env=self.entry.variables(self.folder))

    def teardown(self) -> None:
        for name, whole in self.whole.items():
            if self._have(name) != whole:
                self._write(name, whole)
        self.reading.sweep(thorough=True)
        found = told(self.reading.ledger)
        self._check(found)
        self.reading.restart()
        assert self.reading.sweep(thorough=True).new_items == 0
        assert told(self.reading.ledger) == found
        self.reading.close()
        shutil.rmtree(self.folder)

    def _check(self, found: Told) -> None:
        items, held = self.wanted
        assert {its_id: found[0].get(its_id) for its_id in items} == items
        for native, wanted in held.items():
            ids = {its_id for its_id, _, _ in wanted}
            now = found[1].get(native, [])
            assert [each for each in now if each[0] in ids] == wanted, native
        left = [
            (native, found[0][its_id])
            for native, row in found[1].items()
            for its_id, state, _ in row
            if state is State.LIVE and its_id not in {each[0] for each in held.get(native, [])}
        ]
        assert left == []


@pytest.mark.parametrize("name", LOGS)
def test_whatever_happens_on_the_way_the_end_equals_one_pass(name: str) -> None:
    machine = type("Machine", (Machine,), {"entry": LOGS[name]})
    run_state_machine_as_test(
        machine, settings=settings(max_examples=EXAMPLES, stateful_step_count=15, deadline=None, print_blob=False)
    )
