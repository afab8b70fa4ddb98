"""The writing half of the program in this process, on a state folder and stores of the test's own."""

from pathlib import Path

from afterword.capture.database import Reach
from afterword.capture.parts import Limits
from afterword.capture.sweep import Capture, Sum
from afterword.domain.events import Where
from afterword.redact.redactor import Redactor
from afterword.store.ledger import sessions, views
from afterword.store.ledger.items import State
from afterword.store.ledger.ledger import Ledger, open_writer
from afterword.store.textwriter import FullText

REDACTOR = Redactor()
NOW_US = 1_790_000_000_000_000


class Reading:
    """A ledger that reads the stores below `root`; `restart` is a new process's view of it."""

    def __init__(
        self,
        root: Path,
        now_us: int = NOW_US,
        quiet_us: int = 600_000_000,
        copy_max: int = 1 << 30,
        env: dict[str, str] | None = None,
        jobs: int = 1,
        exclude: tuple[str, ...] = (),
    ) -> None:
        self._jobs = jobs
        self.exclude = exclude
        self.copy_max = copy_max
        self._env = env or {}
        self.root = root
        self.now_us = now_us
        self._quiet_us = quiet_us
        self.ledger: Ledger
        self.restart()

    def restart(self) -> None:
        if hasattr(self, "ledger"):
            self.ledger.close()
        self.ledger = open_writer(self.root / "state", "box")
        where = Where(self._env, self.root, "linux")
        self.capture = Capture(
            self.ledger,
            REDACTOR,
            lambda: self.now_us,
            where,
            quiet_us=self._quiet_us,
            limits=Limits(256 << 20, Reach(self.copy_max, self.root / "state")),
            jobs=self._jobs,
            preview=(self.root / "state", 0),
            exclude=self.exclude,
        )

    def sweep(self, *, thorough: bool = False) -> Sum:
        return self.capture.sweep(thorough=thorough)

    def speech(self, native: str) -> list[tuple[str, str, str]]:
        """(kind, text, live | abandoned | hidden) of a session in order."""
        found = sessions.load(self.ledger, "WHERE s.native = ?", (native,))
        if not found:
            return []
        return [
            (item.kind.word, str(item.text), State(item.state).name.lower())
            for item in views.in_order(self.ledger, found[0].row)
        ]

    def live(self, native: str) -> list[str]:
        return [text for _, text, state in self.speech(native) if state == "live"]

    def full_text(self) -> FullText:
        return FullText(self.root / "state", self.ledger, jobs=self._jobs)

    def close(self) -> None:
        self.ledger.close()
