"""A vault with lessons, in this process: the real program on a home of the test's own."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from afterword.app import learning, setup
from afterword.app.config import Config, Places, load
from afterword.app.lessons import Distilled
from afterword.app.program import Program, writer
from afterword.domain.clock import parse_rfc3339
from afterword.domain.ids import LessonUid
from afterword.store.ledger import lessons
from afterword.store.ledger.ledger import open_reader

START_US = parse_rfc3339("2026-08-13T14:20:00Z") or 0
MINUTE_US = 60_000_000


class Notebook:
    """A home with a vault; the clock stands where it is put."""

    def __init__(self, home: Path, name: str = "box", **settings: str) -> None:
        self.home = home
        home.mkdir(parents=True, exist_ok=True)
        (home / "c.toml").touch()
        self.vault = home / "Afterword"
        self.now_us = START_US
        self.name = name
        self.env = {
            "HOME": str(home), "AFTERWORD_MACHINE_NAME": name, "AFTERWORD_INDEX_EMBEDDER": "off",
            "AFTERWORD_VAULT_PATH": str(self.vault), **settings,
        }  # fmt: skip

    @property
    def config(self) -> Config:
        file = self.home / "c.toml"
        return Config(load(file, self.env).settings, Places(self.home, file, self.home / "state"), {})

    def make_vault(self) -> None:
        setup.apply(setup.plan(self.vault, "UTC"), self.config.places, self.name)

    @contextmanager
    def program(self) -> Iterator[Program]:
        """The program, with the writer's lock; its clock is this one's."""
        with writer(self.config, self.env | {"AFTERWORD_NOW": _rfc(self.now_us)}, "test") as program:
            yield program

    def learn(self, text: str, **said: Any) -> LessonUid:
        """A minute later somebody learned something."""
        self.now_us += MINUTE_US
        given = {"source": "learn", "everywhere": True, **said}
        return learning.learn(self.config, learning.Said(text=text, **given), lambda: self.now_us, self.name).uid

    def distil(self) -> Distilled:
        self.now_us += MINUTE_US
        with self.program() as program:
            return program.lessons.distil()

    def facts(self) -> dict[str, str]:
        """Text → status of every fact."""
        ledger = open_reader(self.config.places.state)
        try:
            return {each.fact.text: each.fact.status for each in lessons.facts(ledger)}
        finally:
            ledger.close()

    def fact_id(self, part: str) -> str:
        ledger = open_reader(self.config.places.state)
        try:
            return next(each.id for each in lessons.facts(ledger) if part in each.fact.text)
        finally:
            ledger.close()

    def files(self, folder: str) -> dict[str, str]:
        """The notes of a lessons' folder."""
        where = self.vault / "lessons" / folder
        return {path.name: path.read_text() for path in sorted(where.glob("*.md"))}

    def told(self) -> str:
        """All that topics and agents' files say."""
        return json.dumps([self.files("topics"), self.files("agents")], ensure_ascii=False)

    def bytes(self) -> dict[str, bytes]:
        return {str(p.relative_to(self.vault)): p.read_bytes() for p in (self.vault / "lessons").rglob("*.md")}


def _rfc(at_us: int) -> str:
    from afterword.domain.clock import format_rfc3339

    return format_rfc3339(at_us)
