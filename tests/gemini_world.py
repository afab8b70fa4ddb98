"""The sample history read and written up in this process, with loopback Gemini for what comes after."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from gemini_server import GeminiServer
from knowledge import HISTORY

from afterword.app.compiling import Compiled
from afterword.app.config import load
from afterword.app.fingerprint import fingerprint
from afterword.app.program import Program, writer
from afterword.compile.build import DayResult
from afterword.store.ledger import model_calls

NOW = "2026-06-11T12:00:00Z"
DAYS = ("2026-06-08", "2026-06-09", "2026-06-10")


class World:
    """A program over a copy of the history. Waits between tries are noted in `slept`, not made."""

    def __init__(self, home: Path, program: Program, slept: list[float]) -> None:
        self.home = home
        self.program = program
        self.slept = slept

    def compile(self, *days: str, **more: Any) -> Compiled:
        return self.program.compiling.run(days, **more)

    def day(self, day: str, **more: Any) -> DayResult:
        return self.compile(day, **more).days[0]

    def files(self) -> dict[str, bytes]:
        vault = self.home / "Afterword"
        # What waits for a word is looked for by commands and at night, not at every compile.
        every = (path for path in vault.rglob("*") if path.is_file() and path.name != "review.md")
        return {str(path.relative_to(vault)): path.read_bytes() for path in every}

    def state(self) -> tuple[dict[str, bytes], str, list[str]]:
        """All that a failure must leave as it was."""
        return self.files(), fingerprint(self.program.ledger), self.program.compiling.days()

    def calls(self) -> list[tuple[str, str, str]]:
        """(step, state, why) of every call."""
        return self.program.ledger.db.execute("SELECT step, state, why FROM model_call ORDER BY row").fetchall()

    def spent(self) -> model_calls.Spend:
        return model_calls.spent(self.program.ledger)


def settled_home(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The history, read and written up by the extractive engine; nothing of it compiled."""
    shutil.copytree(HISTORY, path, dirs_exist_ok=True)
    with opened(path, monkeypatch) as world:
        world.program.ingest(thorough=True)
        world.program.write_up(settle_us=0)
    return path


@contextmanager
def opened(
    home: Path, monkeypatch: pytest.MonkeyPatch, server: GeminiServer | None = None, **env: str
) -> Iterator[World]:
    for name in list(os.environ):
        if name.startswith(("XDG_", "AFTERWORD_", "GEMINI_", "GOOGLE_")):
            monkeypatch.delenv(name)
    given = {"HOME": str(home), "TZ": "UTC", "AFTERWORD_NOW": NOW, "AFTERWORD_MACHINE_NAME": "box"}
    given |= {"AFTERWORD_INDEX_EMBEDDER": "off"} | (server.env if server else {}) | env
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    if not (home / ".config/afterword/config.toml").exists():
        from afterword.app import setup

        config = load()
        setup.apply(setup.plan(home / "Afterword", zone="UTC"), config.places, "box")
    slept: list[float] = []
    with writer(load(), dict(os.environ), "test", sleep=slept.append) as program:
        yield World(home, program, slept)
