"""Two to four machines make, revise, hold, forget, exchange in any order, are cut off, set back: all end equal."""

import os
import random
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from sync_world import THING, TOMBSTONE, machine, meet, talk

from afterword_sync.errors import Refused
from afterword_sync.folder import export_folder, import_folder

STEPS = int(os.environ.get("AFTERWORD_TEST_SYNC_STEPS", "0"))
KEYS = st.sampled_from([f"k{n}" for n in range(6)])
TEXTS = st.text("ab Ł\n", max_size=6)
WHO = st.integers(0, 3)
AT = st.integers(0, 6000)


class World:
    """The machines, the folders between them, and what every (origin, number) was."""

    def __init__(self, count, root):
        self.machines = [machine(f"m{n}") for n in range(count)]
        self.root = root
        self.was = {}
        self.forgotten = set()
        self.backups = []
        self.exchanges = 0

    def one(self, who):
        return self.machines[who % len(self.machines)]

    def pair(self, who, other):
        here = who % len(self.machines)
        there = other % (len(self.machines) - 1)
        return self.machines[here], self.machines[there + (there >= here)]

    def make(self, who, key, text):
        log = self.one(who)
        if (TOMBSTONE, key) not in log.values:
            log.make(THING, key, text=text)

    def forget(self, who, key):
        self.one(who).forget(key)
        self.forgotten.add(key)

    def hold(self, who, other, key):
        here, there = self.pair(who, other)
        here.hold(key, [there.origin])

    def set_back(self, who, log):
        """An older state of this machine; it takes a new origin at once, as a restore does."""
        place = who % len(self.machines)
        mints = self.machines[place].mints
        self.machines[place] = log.saved()
        self.machines[place].mints = mints
        self.machines[place].mint()

    def export(self, who, other):
        here, there = self.pair(who, other)
        folder = self.root / f"{here.name}-{there.name}"
        export_folder(folder, here, peer=there.origin)
        before = stamp(folder)
        export_folder(folder, here, peer=there.origin)
        assert stamp(folder) == before, "an unchanged folder was written"

    def take(self, who, other, rng=None):
        """What there is of a folder; with `rng` a copier has brought only some of it, halves too."""
        here, there = self.pair(who, other)
        folder = self.root / f"{there.name}-{here.name}"
        folder.mkdir(exist_ok=True)
        if rng is None:
            import_folder(folder, here)
            return
        with tempfile.TemporaryDirectory(dir=self.root) as name:
            for file in folder.iterdir():
                if rng.random() < 0.8:
                    data = file.read_bytes()
                    if rng.random() < 0.2:
                        data = data[: rng.randrange(len(data))]
                    (Path(name) / file.name).write_bytes(data)
            import_folder(Path(name), here)

    def check(self):
        """Each number is one thing for ever, wherever it is, and what is forgotten is nowhere it was heard of."""
        for log in self.machines:
            for place, row in log.rows.items():
                assert self.was.setdefault(place, row.id) == row.id
            for key in self.forgotten:
                if (TOMBSTONE, key) in log.values:
                    assert (THING, key) not in log.values

    def settle(self):
        """Let go of everything that is held, then exchange until nothing moves."""
        self._all()
        for log in self.machines:
            for key in log.held():
                log.lift(key)
        self._all()
        first, *others = self.machines
        for log in others:
            assert log.equal() == first.equal()
            assert {o: n for o, n in log.vector().items() if n} == {o: n for o, n in first.vector().items() if n}
        for log in self.machines:
            for key in self.forgotten:
                if (TOMBSTONE, key) in log.values:
                    assert (THING, key) not in log.values
        before = [log.rows.copy() for log in self.machines]
        for here in self.machines:
            for there in self.machines:
                if here is not there:
                    assert meet(here, there) == (0, 0), "something was echoed"
        assert [log.rows for log in self.machines] == before

    def _all(self):
        for _ in range(2):
            for there in self.machines[1:]:
                meet(self.machines[0], there)


def stamp(folder):
    return sorted((file.name, file.stat().st_ino, file.stat().st_mtime_ns) for file in folder.iterdir())


class Machines(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.world = World(2, Path(self._folder.name))

    @initialize(count=st.integers(2, 4))
    def begin(self, count):
        self.world = World(count, Path(self._folder.name))

    @rule(who=WHO, key=KEYS, text=TEXTS, many=st.sampled_from([1, 1, 1, 40]))
    def make(self, who, key, text, many):
        for _ in range(many):
            self.world.make(who, key, text)

    @rule(who=WHO, key=KEYS)
    def forget(self, who, key):
        self.world.forget(who, key)

    @rule(who=WHO, other=WHO, key=KEYS)
    def hold(self, who, other, key):
        self.world.hold(who, other, key)

    @rule(who=WHO, key=KEYS)
    def lift(self, who, key):
        if key in self.world.one(who).held():
            self.world.one(who).lift(key)

    @rule(who=WHO, other=WHO)
    def exchange(self, who, other):
        here, there = self.world.pair(who, other)
        meet(here, there)
        assert meet(here, there) == (0, 0)
        self.world.check()

    @rule(who=WHO, other=WHO, at=AT, there=st.booleans())
    def cut(self, who, other, at, there):
        talk(*self.world.pair(who, other), **{"cut_there" if there else "cut_here": at})
        self.world.check()

    @rule(who=WHO, other=WHO, batches=st.integers(0, 3))
    def crash(self, who, other, batches):
        here, there = self.world.pair(who, other)
        there.crash_after = batches
        talk(here, there)
        there.crash_after = None
        self.world.check()

    @rule(who=WHO, other=WHO)
    def export(self, who, other):
        self.world.export(who, other)

    @rule(who=WHO, other=WHO, seed=st.integers(0, 2**32) | st.none())
    def take(self, who, other, seed):
        self.world.take(who, other, None if seed is None else random.Random(seed))
        self.world.check()

    @rule(who=WHO)
    def back_up(self, who):
        self.world.backups.append((who, self.world.one(who).saved()))

    @rule(data=st.data())
    def restore(self, data):
        if self.world.backups:
            self.world.set_back(*data.draw(st.sampled_from(self.world.backups)))

    def teardown(self):
        try:
            self.world.settle()
        finally:
            self._folder.cleanup()


Machines.TestCase.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
TestMachines = Machines.TestCase


@pytest.mark.skipif(not STEPS, reason="AFTERWORD_TEST_SYNC_STEPS says how many")
def test_many_steps_at_random(tmp_path, record_property):
    """The same world, long: as many steps as are asked for, in runs of a hundred."""
    seed = int(os.environ.get("AFTERWORD_TEST_SEED", "12"))
    rng = random.Random(seed)
    done = Counter()
    for run in range(STEPS // 100):
        root = tmp_path / str(run)
        root.mkdir()
        world = World(rng.randint(2, 4), root)
        for _ in range(100):
            who, other, key = rng.randrange(4), rng.randrange(4), f"k{rng.randrange(6)}"
            what = rng.choice(
                ("make", "make", "make", "forget", "hold", "lift", "meet", "cut", "export", "take", "old")
            )
            done[what] += 1
            match what:
                case "make":
                    for _ in range(rng.choice((1, 1, 30))):
                        world.make(who, key, str(rng.random()))
                case "forget" if rng.random() < 0.3:
                    world.forget(who, key)
                case "hold":
                    world.hold(who, other, key)
                case "lift" if key in world.one(who).held():
                    world.one(who).lift(key)
                case "meet":
                    meet(*world.pair(who, other))
                case "cut":
                    talk(*world.pair(who, other), **{rng.choice(("cut_here", "cut_there")): rng.randrange(6000)})
                case "export":
                    world.export(who, other)
                case "take":
                    world.take(who, other, rng if rng.random() < 0.5 else None)
                case "old" if world.backups and rng.random() < 0.3:
                    world.set_back(*rng.choice(world.backups))
                case "old":
                    world.backups.append((who, world.one(who).saved()))
            world.check()
        world.settle()
    counted = ", ".join(f"{count} {what}" for what, count in sorted(done.items()))
    record_property("seed", f"seed {seed}, {STEPS} steps: {counted}")


def test_a_machine_set_back_unnoticed_takes_a_new_origin_from_a_peer_that_knows_more(tmp_path):
    mini, laptop = machine("mini"), machine("laptop")
    mini.make(THING, "a", text="kept")
    old = mini.saved()
    mini.make(THING, "b", text="made after the snapshot")
    meet(laptop, mini)
    mini = old
    before = mini.origin
    assert meet(mini, laptop) == (0, 1)
    assert mini.origin != before
    assert mini.equal() == laptop.equal()
    mini.make(THING, "c", text="new")
    assert meet(laptop, mini) == (0, 1)
    assert meet(laptop, mini) == (0, 0)
    assert mini.equal() == laptop.equal()


def test_the_same_out_of_a_folder(tmp_path):
    mini = machine("mini")
    mini.make(THING, "a", text="kept")
    old = mini.saved()
    mini.make(THING, "b", text="made after the snapshot")
    export_folder(tmp_path, mini)
    before = old.origin
    imported = import_folder(tmp_path, old)
    assert imported.pending == ()
    assert old.origin != before
    assert old.equal() == mini.equal()


def test_two_machines_that_share_an_origin_are_told(tmp_path):
    mini = machine("mini")
    mini.make(THING, "a", text="one")
    clone, other = mini.saved(), machine("other")
    mini.make(THING, "b", text="on the mini")
    clone.make(THING, "c", text="on its copy")
    both = talk(mini, clone)["here"]
    assert isinstance(both, Refused)
    assert "copy of the other" in both.reason
    meet(mini, other)
    for answer in (talk(clone, other)["here"], talk(other, clone)["there"]):
        assert "two machines share origin" in answer.reason
    export_folder(tmp_path, clone)
    (pending,) = import_folder(tmp_path, other).pending
    assert "two machines share origin" in pending.reason
    assert not pending.waits


def test_what_is_held_back_comes_when_it_is_let_go_also_through_another_machine():
    mini, relay, phone = machine("mini"), machine("relay"), machine("phone")
    mini.make(THING, "a", text="for everybody")
    mini.hold("b", [phone.origin])
    mini.make(THING, "b", text="not for the phone")
    meet(mini, relay)
    for there in (relay, mini):
        meet(there, phone)
        assert (THING, "b") not in phone.values
    assert relay.equal() == mini.equal()
    assert phone.vector()[mini.origin] == 3  # it has the numbers, and is not sent them again
    mini.lift("b")
    meet(mini, relay)
    assert meet(relay, phone) == (3, 0)  # the hold, the same by its new number, and for the old one
    assert phone.equal() == mini.equal()
    assert meet(mini, phone) == (0, 0)


def test_what_came_by_a_folder_for_anybody_without_its_payload_comes_when_they_meet(tmp_path):
    mini, laptop, phone = machine("mini"), machine("laptop"), machine("phone")
    mini.hold("b", [phone.origin])
    for key in "abcb":
        mini.make(THING, key, text=f"not for the phone: {key}")
    export_folder(tmp_path, mini)
    import_folder(tmp_path, laptop)
    assert laptop.vector() == mini.vector() | {laptop.origin: 0}
    assert (THING, "b") not in laptop.values
    assert meet(laptop, mini) == (0, 1)
    assert laptop.equal() == mini.equal()
    assert meet(laptop, mini) == meet(mini, laptop) == (0, 0)
    import_folder(tmp_path, phone)
    assert meet(phone, mini) == meet(phone, laptop) == (0, 0)
    assert (THING, "b") not in phone.values


def test_a_relay_from_which_something_is_held_back_hides_it_from_nobody():
    mini, phone, laptop = machine("mini"), machine("phone"), machine("laptop")
    mini.hold("b", [phone.origin])
    mini.make(THING, "b", text="not for the phone")
    meet(mini, phone)
    meet(phone, laptop)
    assert (THING, "b") not in laptop.values
    assert meet(mini, laptop) == (1, 0)
    assert laptop.equal() == mini.equal()
    assert meet(phone, laptop) == meet(phone, mini) == meet(mini, laptop) == (0, 0)


def test_what_is_forgotten_does_not_come_back_in_any_order():
    laptop, mini = machine("laptop"), machine("mini")
    laptop.make(THING, "s", text="a secret")
    meet(laptop, mini)
    old = mini.saved()
    laptop.forget("s")
    mini.make(THING, "s", text="a secret, changed meanwhile")
    for here, there in ((mini, laptop), (laptop, mini), (old, laptop), (mini, old), (laptop, old)):
        meet(here, there)
        meet(here, there)
    for log in (laptop, mini, old):
        assert (THING, "s") not in log.values
        assert log.equal() == laptop.equal()
