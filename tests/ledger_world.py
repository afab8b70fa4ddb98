"""A few machines that live side by side: what can happen to them, and what must hold in the end."""

import random
from pathlib import Path

from machines import Machine, cut, fails, settle, talk

from afterword.store.ledger import entries
from afterword.store.vault_card import may_write

STEPS = (
    *("talk", "talk", "talk", "rewind", "compile", "edit", "edit section", "retract", "undo"),
    *("forget session", "forget item", "withhold", "lift", "stream", "stream", "folder", "old batches", "restart"),
    *("restore", "clone", "rename", "same store", "torn folder", "cut", "clock", "learn", "correct", "forget lesson"),
    *("fails in an import",),
)


class World:
    """Machines below a folder. One of them compiles; folders of batches are kept and read again when they are old."""

    def __init__(self, folder: Path, count: int, seed: int) -> None:
        self.folder = folder
        self.rng = random.Random(seed)
        self.seed = seed
        self.machines = [Machine(folder / f"m{n}", f"m{n}", seed * 31 + n) for n in range(count)]
        self.made = count
        self.kept: list[Path] = []
        self.copies: list[tuple[Machine, Path]] = []
        self.forgotten_sessions: set[str] = set()
        self.forgotten_items: set[bytes] = set()
        self.forgotten_lessons: set[str] = set()
        self.forgotten_texts: set[str] = set()
        self.forgotten_words: set[str] = set()
        self.names: dict[tuple[str, int], tuple[str, str, int]] = {}

    def close(self) -> None:
        for machine in self.machines:
            machine.close()

    def one(self) -> Machine:
        return self.rng.choice(self.machines)

    def two(self) -> tuple[Machine, Machine]:
        one, other = self.rng.sample(self.machines, 2)
        return one, other

    def do(self, step: str) -> None:
        machine = self.one()
        if step == "talk":
            machine.talk()
        elif step == "rewind":
            machine.rewind()
        elif step == "compile":
            machine.work()
            if machine.compiles_here():
                machine.compile()
        elif step == "edit":
            machine.edit()
        elif step == "edit section":
            machine.edit_section()
        elif step == "retract":
            machine.retract()
        elif step == "undo":
            machine.undo()
        elif step == "forget session":
            self.forgotten_sessions.add(machine.forget_session(self.forgotten_texts))
        elif step == "forget item":
            self.forgotten_items.add(machine.forget_item(self.forgotten_texts))
        elif step == "withhold":
            one, other = self.two()
            one.withheld[other.ledger.origin[0]] = ("orchard-api",)
            one.set_holds(other.ledger.origin[0])
        elif step == "lift":
            for peer in list(machine.withheld):
                machine.withheld[peer] = ()
                machine.set_holds(peer)
        elif step == "stream":
            talk(*self.two())
        elif step == "folder":
            one, other = self.two()
            folder = self.rng.choice(self.kept) if self.kept and self.rng.random() < 0.5 else self._new_folder()
            one.export(folder)
            other.take(folder)
        elif step == "old batches":
            if self.kept:
                machine.take(self.rng.choice(self.kept))
        elif step == "restart":
            machine.restart()
        elif step == "restore":
            self._restore(machine)
        elif step == "rename":
            self.made += 1
            machine.rename(f"m{self.made}")
        elif step == "same store":
            one, other = self.two()
            one.same_store_as(other)
        elif step == "torn folder":
            one, other = self.two()
            self._torn(one, other)
        elif step == "cut":
            one, other = self.two()
            cut(one, other, self.rng.randrange(20_000))
        elif step == "fails in an import":
            one, other = self.two()
            fails(one, other, self.rng.randrange(1, 4))
        elif step == "clock":
            machine.year(self.rng.choice((1999, 2019, 2026, 2039)))
        elif step == "learn":
            machine.learn()
        elif step == "correct":
            machine.correct()
        elif step == "forget lesson":
            self.forgotten_lessons.add(machine.forget_lesson(self.forgotten_words))
        elif step == "clone" and len(self.machines) < 4:
            self.made += 1
            name = f"m{self.made}"
            self.machines.append(machine.clone(self.folder / name, name, self.seed + self.made))
        self._numbers()

    def _new_folder(self) -> Path:
        self.kept.append(self.folder / f"batches{len(self.kept)}")
        return self.kept[-1]

    def _torn(self, one: Machine, other: Machine) -> None:
        """A copier has brought some files of a folder, some in halves, some under the names of copies in conflict."""
        whole = self._new_folder()
        one.export(whole)
        part = self.folder / f"{whole.name}-torn"
        part.mkdir()
        for path in sorted(whole.iterdir(), key=lambda _path: self.rng.random()):
            data = path.read_bytes()
            name = path.name
            chance = self.rng.random()
            if chance < 0.2:
                continue
            if chance < 0.4:
                data = data[: self.rng.randrange(len(data))]
            elif chance < 0.6:
                name = f"{path.stem} (one's conflicted copy 2026-06-08){path.suffix}"
            elif chance < 0.7:
                (part / f"{path.stem}.sync-conflict-20260608-120000-ABCDEFG.jsonl").write_bytes(data[::-1])
            (part / name).write_bytes(data)
        other.take(part)

    def _restore(self, machine: Machine) -> None:
        """Keep a copy of the ledger's file, or put an earlier one back as a tool that knows nothing of us would."""
        mine = [copy for owner, copy in self.copies if owner is machine]
        machine.close()
        state = machine.path / "state"
        if mine and self.rng.random() < 0.6:
            (state / "ledger.db").unlink()
            (state / "ledger.db").write_bytes(mine[-1].read_bytes())
        else:
            copy = self.folder / f"copy{len(self.copies)}.db"
            copy.write_bytes((state / "ledger.db").read_bytes())
            self.copies.append((machine, copy))
        machine.open()
        machine.work()

    def _numbers(self) -> None:
        """Each (origin, number) names one thing for ever."""
        for machine in self.machines:
            ledger = machine.ledger
            for row, (its_id, _) in ledger.origins().items():
                for entry in entries.read(ledger, row, 1, ledger.head(row)):
                    if not entry.key.startswith("forgotten:"):
                        name = (entry.kind, entry.key, entry.rev)
                        before = self.names.setdefault((its_id, entry.n), name)
                        assert before == name, (its_id, entry.n)

    def end(self) -> None:
        """Nothing is held back any more, everybody talks to everybody: all know the same, and nothing forgotten."""
        for machine in self.machines:
            for peer in list(machine.withheld):
                machine.withheld[peer] = ()
                machine.set_holds(peer)
        for _ in range(6):
            settle(self.machines)
            before = [machine.knows() for machine in self.machines]
            for machine in self.machines:
                machine.work()
                machine.compile() if machine.compiles_here() else None
            settle(self.machines)
            if [machine.knows() for machine in self.machines] == before:
                break
        first = self.machines[0]
        wanted = first.lines(), first.registers()
        for machine in self.machines[1:]:
            for lines, said in zip(wanted, (machine.lines(), machine.registers()), strict=True):
                assert said == lines, (first.name, machine.name, sorted(set(lines) ^ set(said)))
        vaults = [machine.vault_bytes() for machine in self.machines]
        settle(self.machines, rounds=1)
        assert vaults == [machine.vault_bytes() for machine in self.machines]
        self._numbers()
        for machine in self.machines:
            self._nothing_back(machine)

    def _nothing_back(self, machine: Machine) -> None:
        db = machine.ledger.db
        for its_id in self.forgotten_items - {b""}:
            assert db.execute("SELECT 1 FROM item WHERE id = ? AND chars > 0", (its_id,)).fetchone() is None
        for its_id in self.forgotten_sessions - {""}:
            found = db.execute(
                "SELECT count(*) FROM membership m JOIN session s ON s.row = m.session JOIN item i ON i.row = m.item"
                " WHERE s.id = ? AND i.chars > 0 AND m.state < 3",
                (its_id,),
            ).fetchone()
            assert found == (0,)
        said = "\n".join([*machine.texts(), *machine.learned()])
        gone = [text.encode() for text in self.forgotten_texts if len(text) > 20 and text not in said]
        # An entry that is forgotten may stand in the section that it was drawn from.
        said += "\n".join(machine.sections())
        gone += [text.encode() for text in self.forgotten_words if len(text) > 20 and text not in said]
        # A vault that another machine writes is that one's to change.
        ours = machine.path if may_write(machine.vault, machine.ledger) else machine.path / "state"
        for path in ours.rglob("*"):
            data = path.read_bytes() if path.is_file() and ".claude" not in path.parts else b""
            theirs = path.stem.startswith("kept-from") or b"My own words" in data or b"- I saw that" in data
            assert theirs or [text for text in gone if text in data] == [], path
        for uid in self.forgotten_lessons - {""}:
            rows = db.execute("SELECT value FROM register WHERE key IN (?, ? || '/edits')", (uid, uid)).fetchall()
            assert all(value == "{}" for (value,) in rows), uid
