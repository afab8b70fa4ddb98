"""Machines that share what they know: real ledgers, vaults and stores in this process, one of each a machine."""

import contextlib
import datetime as dt
import json
import random
import shutil
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from transcripts import ClaudeSession, sentence, telling_session

from afterword.app import fingerprint, learning, retract, setup
from afterword.app import forgetting as forgetting_app
from afterword.app.config import Config, Places
from afterword.app.program import Program, writer
from afterword.app.sync_log import LedgerLog
from afterword.domain.ids import SessionId
from afterword.domain.settings import Settings
from afterword.store import faults
from afterword.store.ledger import articles, compile_on, forgetting, holds, lessons, registers, views
from afterword.store.ledger.ledger import RecordKind, unpack
from afterword_sync.channel import Pipes
from afterword_sync.conversation import exchange, serve
from afterword_sync.errors import SyncError
from afterword_sync.folder import export_folder, import_folder


def _silent(*_told: Any) -> None:
    pass


def _on() -> bool:
    return False


class Machine:
    """One of them. Everything is done as the program does it; `env` is its environment."""

    def __init__(self, path: Path, name: str, seed: int) -> None:
        self.path = path
        self.name = name
        self.rng = random.Random(seed)
        self.sessions: list[ClaudeSession] = []
        self.env = {"HOME": str(path), "AFTERWORD_NOW": "2026-08-01T12:00:00Z"}
        self.withheld: dict[str, tuple[str, ...]] = {}
        self._open: AbstractContextManager[Program] | None = None
        self.program: Program
        path.mkdir(parents=True, exist_ok=True)
        self._configure()
        setup.apply(setup.plan(self.vault, zone="UTC"), self.config.places, name, self.config)
        self.open()

    def _configure(self) -> None:
        settings = msgspec.convert(
            {
                "vault": {"path": str(self.path / "Afterword")},
                "machine": {"name": self.name},
                "index": {"embedder": "off"},
                "segment": {"settle": "0"},
                "compile": {"min_words": 10},
                "capture": {"quiet": "0", "jobs": 1},
            },
            Settings,
        )
        self.config = Config(settings, Places(self.path, self.path / "config.toml", self.path / "state"), {})

    @property
    def vault(self) -> Path:
        return self.path / "Afterword"

    def open(self) -> None:
        self._open = writer(self.config, self.env, "test", sleep=_silent)
        self.program = self._open.__enter__()

    def close(self) -> None:
        if self._open is not None:
            self._open.__exit__(None, None, None)
            self._open = None

    def restart(self) -> None:
        self.close()
        self.open()

    @property
    def ledger(self) -> Any:
        return self.program.ledger

    def log(self) -> LedgerLog:
        """What an exchange begins with."""
        compile_on.claim(self.ledger, self.program.redactor)
        return LedgerLog(self.program.ledger, self.program.redactor)

    # What happens on it.

    def talk(self) -> None:
        """An agent says something: in a new session, or further in one."""
        if self.sessions and self.rng.random() < 0.5:
            session = self.rng.choice(self.sessions)
            session.pause(self.rng.choice((1, 40)))
            session.prompt(f"Go on with it. {sentence(self.rng)}")
            session.reply(f"Decision: the {sentence(self.rng, 8)} stays as it is.")
        else:
            made = telling_session(self.rng, dt.datetime(2026, 6, 1, tzinfo=dt.UTC), 4)
            while not isinstance(made, ClaudeSession):
                made = telling_session(self.rng, dt.datetime(2026, 6, 1, tzinfo=dt.UTC), 4)
            session = made
            self.sessions.append(session)
        self._save(session)

    def rewind(self) -> None:
        """Somebody goes back in a conversation and asks otherwise."""
        if self.sessions:
            session = self.rng.choice(self.sessions)
            fork = session.parent
            session.prompt(sentence(self.rng), parent=fork)
            session.prompt(sentence(self.rng), parent=fork)
            self._save(session)

    def _save(self, session: ClaudeSession) -> None:
        path = session.path(self.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(session.lines))
        self.work()

    def work(self) -> None:
        """What a pass of the daemon does."""
        program = self.program
        program.ingest(thorough=True)
        program.write_up(settle_us=0)
        if program.compiling.owed():
            program.compiling.render()
        program.lessons.take_in()
        if program.lessons.owed():
            program.lessons.render()

    def compile(self) -> None:
        self.work()
        self.program.compiling.run()

    def edit(self) -> None:
        """A person changes an article in Obsidian."""
        notes = sorted((self.vault / "knowledge").rglob("*.md"))
        notes = [note for note in notes if note.name not in ("index.md", "log.md")]
        if notes:
            note = self.rng.choice(notes)
            text = note.read_text()
            note.write_text(text + f"\nMy own words: {sentence(self.rng)}\n")
        self.program.compiling.look()

    def edit_section(self) -> None:
        """A person adds a line to a section of a daily note."""
        for note in sorted((self.vault / "daily").glob("*.md")):
            lines = note.read_text().split("\n")
            at = [n for n, line in enumerate(lines) if line.startswith("- ")]
            if at:
                lines.insert(self.rng.choice(at), f"- I saw that {sentence(self.rng, 5)}")
                note.write_text("\n".join(lines))
                break
        self.program.compiling.look_at_sections()

    def retract(self) -> None:
        live = sorted(each.uid for each in articles.current(self.ledger) if each.live)
        if live:
            retract.retract(self.program, retract.Retract((self.rng.choice(live),), "it is wrong"), _silent, _on)

    def undo(self) -> None:
        gone = sorted(each.uid for each in articles.current(self.ledger) if each.edits.status == "retracted")
        if gone:
            retract.undo(self.program, retract.Undo(self.rng.choice(gone)), _silent, _on)

    def forget_session(self, texts: set[str]) -> str:
        """Forget a session, whoever's it is; its id. Its words go into `texts`."""
        ids = [its_id for (its_id,) in self.ledger.db.execute("SELECT id FROM session ORDER BY id")]
        if not ids:
            return ""
        its_id = self.rng.choice(ids)
        rows = self.ledger.db.execute(
            "SELECT i.text, i.packed FROM membership m JOIN session s ON s.row = m.session"
            " JOIN item i ON i.row = m.item WHERE s.id = ?",
            (its_id,),
        )
        texts |= {str(unpack(*row))[:60] for row in rows}
        self.forget(forgetting.Wanted(sessions=(SessionId(its_id),)))
        return str(its_id)

    def forget_item(self, texts: set[str]) -> bytes:
        """Forget one thing that was said; its id."""
        rows = self.ledger.db.execute(
            "SELECT row, id, text, packed FROM item WHERE kind IN (1, 2) AND chars > 0 ORDER BY id"
        ).fetchall()
        if not rows:
            return b""
        row, its_id, *text = self.rng.choice(rows)
        texts.add(str(unpack(*text))[:60])
        self.forget(forgetting.Wanted(items=(row,)))
        return bytes(its_id)

    def learn(self) -> None:
        """Somebody says what they learned."""
        self.learn_only(f"Never trust the {sentence(self.rng, 5)}")
        self.distil()

    def learn_only(self, text: str) -> None:
        """The same, and nothing is made of it yet."""
        said = learning.Said(text, source="learn", everywhere=True)
        learning.learn(self.config, said, self.program.clock, self.name)
        self.program.lessons.take_in()

    def distil(self) -> None:
        """What comes of the journal, on the machine that does that."""
        self.program.lessons.take_in()
        if self.compiles_here():
            self.program.lessons.distil()

    def correct(self) -> None:
        """A fact is wrong, and something else is right."""
        ids = sorted(each.id for each in lessons.facts(self.ledger) if each.live)
        if ids:
            given = retract.Retract((self.rng.choice(ids),), "it is wrong", f"It is the {sentence(self.rng, 4)}")
            retract.retract(self.program, given, _silent, _on)

    def forget_lesson(self, texts: set[str]) -> str:
        """Forget an entry of the journal; its id."""
        entries = sorted(lessons.lessons(self.ledger), key=lambda each: each.uid)
        if not entries:
            return ""
        chosen = self.rng.choice(entries)
        uid = chosen.uid
        texts.add(chosen.lesson.text[:60])
        self.forget(forgetting.Wanted(lessons=(uid,)))
        return str(uid)

    def learned(self) -> list[str]:
        """What entries of the journal and facts say, and what articles do."""
        found = [each.lesson.text for each in lessons.lessons(self.ledger)]
        found += [each.fact.text for each in lessons.facts(self.ledger)]
        return found + [claim.text for each in articles.current(self.ledger) for claim in each.article.points]

    def sections(self) -> list[str]:
        """What sections say, as stored."""
        return [str(register.value) for register in registers.every(self.ledger, RecordKind.SECTION)]

    def same_store_as(self, other: "Machine") -> None:
        """A session of another machine's agent is in the store of this one's, too."""
        if other.sessions:
            session = self.rng.choice(other.sessions)
            if session not in self.sessions:
                self.sessions.append(session)
            self._save(session)

    def rename(self, name: str) -> None:
        """Somebody calls the machine otherwise."""
        self.close()
        self.name = name
        self._configure()
        self.open()

    def year(self, year: int) -> None:
        """The clock goes wrong, or right again."""
        self.close()
        self.env["AFTERWORD_NOW"] = f"{year}-08-01T12:00:00Z"
        self.open()
        self.work()

    def forget(self, wanted: forgetting.Wanted) -> None:
        with self.ledger.transaction():
            forgetting.ask(self.ledger, wanted)
        forgetting_app.run(self.program, _silent)

    def set_holds(self, peer: str) -> None:
        holds.settle(self.ledger, self.program.redactor, peer, self.withheld.get(peer, ()))

    # Exchange.

    def export(self, folder: Path, peer: str | None = None) -> None:
        export_folder(folder, self.log(), peer=peer)

    def take(self, folder: Path) -> int:
        """Import a folder; how many numbers were new."""
        log = self.log()
        import_folder(folder, log)
        self.after(log.news)
        return log.news

    def after(self, news: int) -> None:
        """What follows from an exchange here."""
        if forgetting_app.due(self.program):
            forgetting_app.run(self.program, _silent)
        if news:
            self.work()

    def knows(self) -> dict[str, int]:
        return dict(LedgerLog(self.ledger, self.program.redactor).vector())

    def fingerprint(self) -> str:
        return fingerprint.fingerprint(self.ledger)

    def vault_bytes(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.vault)): path.read_bytes() for path in self.vault.rglob("*") if path.is_file()
        }

    def lines(self) -> list[str]:
        return fingerprint.lines(self.ledger)

    def registers(self) -> list[str]:
        """What lessons, facts and settings say, whoever said it when. Not how often something was used
        here, nor what may be out of date, which each machine sees for itself."""
        kinds = (RecordKind.LESSON, RecordKind.FACT, RecordKind.SETTING)
        rows = self.ledger.db.execute(
            f"SELECT kind, key, value FROM register WHERE forgotten = 0 AND kind IN {tuple(map(int, kinds))}"
            " AND key NOT LIKE 'use/%' AND key NOT LIKE 'stale/%'"
        )
        return sorted(
            f"{RecordKind(kind).name} {key} {json.dumps(json.loads(value), sort_keys=True)}"
            for kind, key, value in rows
        )

    def texts(self) -> list[str]:
        return [str(text) for _, _, _, text, _, _ in views.all_items(self.ledger)]

    def compiles_here(self) -> bool:
        return compile_on.here(self.ledger)

    def compile_here(self) -> None:
        with self.ledger.transaction():
            registers.put(
                self.ledger,
                RecordKind.SETTING,
                compile_on.KEY,
                self.program.redactor.document(self.ledger.origin[0], plain=("",)),
            )

    def clone(self, path: Path, name: str, seed: int) -> "Machine":
        """`cp -a` of all of it, and another name."""
        self.close()
        shutil.copytree(self.path, path)
        self.open()
        other = Machine.__new__(Machine)
        other.__dict__ |= self.__dict__
        other.path, other.name, other.rng = path, name, random.Random(seed)
        other.sessions = []
        other.withheld = {}
        other.env = self.env | {"HOME": str(path)}
        other._configure()
        other.open()
        return other


def _plain(end: int) -> Pipes:
    return Pipes(end, end)


def talk(one: Machine, other: Machine, channel: Callable[[int], Pipes] = _plain) -> int:
    """Exchange by a stream in both directions; how many numbers moved."""
    ends = [end.detach() for end in socket.socketpair()]
    logs = one.log(), other.log()
    failed: list[Exception] = []

    def answer() -> None:
        try:
            serve(Pipes(ends[1], ends[1]), logs[1])
        except Exception as err:  # noqa: BLE001  # told to the other thread
            failed.append(err)

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        exchange(channel(ends[0]), logs[0])
    finally:
        thread.join()
        for machine, log in zip((one, other), logs, strict=True):
            if sys.exception() is not None or failed:
                machine.after(log.news)
    if failed:
        raise failed[0]
    one.after(logs[0].news)
    other.after(logs[1].news)
    return logs[0].news + logs[1].news


class _Cut(Pipes):
    """A channel that breaks after so many bytes have come."""

    def __init__(self, incoming: int, outgoing: int, after: int) -> None:
        super().__init__(incoming, outgoing)
        self._left = after

    def read(self, size: int, timeout_s: float) -> bytes:
        data = super().read(size, timeout_s)
        self._left -= len(data)
        if self._left < 0:
            self.close()
            raise ConnectionResetError
        return data


def cut(one: Machine, other: Machine, after: int) -> None:
    """The same, and the link breaks after so many bytes."""
    with contextlib.suppress(SyncError):
        talk(one, other, lambda end: _Cut(end, end, after))


def fails(one: Machine, other: Machine, at: int) -> None:
    """An exchange, and the n-th batch meets a disk that is full."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(faults, "_wanted", {"arrivals.commit": [("fail", at)]})
        patch.setattr(faults, "_reached", {})
        with contextlib.suppress(SyncError, OSError):
            talk(one, other)


def settle(machines: list[Machine], rounds: int = 12) -> None:
    """Exchange until nothing moves."""
    for _ in range(rounds):
        moved = 0
        for one in machines:
            for other in machines:
                if one is not other and one.name < other.name:
                    moved += talk(one, other)
        if not moved:
            return
    raise AssertionError("the exchange does not come to an end")
