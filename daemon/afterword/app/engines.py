"""Who writes up: the extractive engine, or Gemini from the day on which there was a way to it."""

import time
from collections.abc import Callable, Mapping
from typing import Final

from afterword.app.config import Config
from afterword.app.spending import KEY_FILE, VARIABLES, Name, in_force, way
from afterword.compile.engine import Engine
from afterword.compile.extractive import Extractive
from afterword.compile.gemini import articles as article_step
from afterword.compile.gemini.answers import Answers
from afterword.compile.gemini.engine import Gemini
from afterword.compile.gemini.facts import DistilGemini
from afterword.compile.gemini.transport import Transport, Way
from afterword.domain.clock import DAY_US, Clock, Zones
from afterword.domain.errors import UsageError, UserError
from afterword.domain.settings import duration_us, size_bytes
from afterword.redact.redactor import Redactor
from afterword.store.ledger import model_calls
from afterword.store.ledger.ledger import Ledger

_SINCE: Final = "gemini_since"
_LARGEST: Final = article_step.MAX_OUTPUT


class Engines:
    """Both engines over one ledger, and who writes what. Used from the thread that writes."""

    def __init__(
        self,
        config: Config,
        env: Mapping[str, str],
        ledger: Ledger,
        redactor: Redactor,
        clock: Clock,
        zones: Zones,
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._config = config
        self._ledger = ledger
        self._redactor = redactor
        self._clock = clock
        self._zones = zones
        self.extractive = Extractive()
        self.found = way(config, env)
        self.name: Name = in_force(config, self.found)
        self._answers: Answers | None = None
        self._gemini: Gemini | None = None
        if self.found.there:
            wanted = config.settings.gemini
            place = Way(self.found.key, self.found.base_url, self.found.project, self.found.location)
            self._answers = Answers(
                ledger,
                redactor,
                Transport(place, duration_us(wanted.deadline) / 1e6, sleep),
                clock,
                zones,
                daily_tokens=wanted.daily_tokens,
                keep_us=config.settings.compile.keep_builds * DAY_US,
            )
            self._gemini = Gemini(self._answers, wanted.model, size_bytes(wanted.prompt_max))

    def choose(self, day: str, before: str) -> Engine:
        """Who writes a day's segments and articles up: Gemini from the day on from which it is in force, and what it
        wrote before, unless the settings name the extractive engine.

        Raises:
            UserError: it is Gemini, and there is no way to it.
        """
        theirs = before == "gemini" and self._config.settings.compile.engine != "extractive"
        if not theirs and (self.name == "extractive" or day < self.since()):
            return self.extractive
        return self._with_gemini(before)

    def gemini(self) -> Engine:
        """Gemini and nobody in its place.

        Raises:
            UserError: there is no way to it.
        """
        return self._needed()[0]

    def distiller(self, name: str | None) -> DistilGemini | None:
        """Who makes facts of the journal's entries, where a model does; None for the extractive engine. `name` is what
        a person named.

        Raises:
            UsageError: there is no engine of this name.
            UserError: Gemini is wanted, and there is no way to it.
        """
        if name not in (None, "gemini", "extractive"):
            raise UsageError(f"there is no engine {name!r}", "use gemini or extractive")
        wanted = name or self.name
        if wanted == "extractive":
            return None
        _, answers = self._needed()
        settings = self._config.settings.gemini
        if name is None and settings.beyond == "extractive" and not answers.room(size_bytes(settings.prompt_max) // 2):
            return None
        return DistilGemini(answers, settings.model)

    def chooser(self, name: str | None) -> Callable[[str, str], Engine] | None:
        """For a run in which a person named who writes; None where nobody did.

        Raises:
            UserError: Gemini is wanted, and there is no way to it.
        """
        match name:
            case None:
                return None
            case "extractive":
                return lambda _day, _before: self.extractive
            case "gemini":
                self._needed()
                return lambda _day, before: self._with_gemini(before)
            case _:
                raise UsageError(f"there is no engine {name!r}", "use gemini or extractive")

    def since(self) -> str:
        """The first day that Gemini writes up: the one on which it came into force."""
        found = self._ledger.meta(_SINCE)
        if isinstance(found, str):
            return found
        today = self._zones.day(self._clock())
        with self._ledger.transaction():
            self._ledger.set_meta(_SINCE, today)
        return today

    def in_background(self, wake: Callable[[], None]) -> None:
        """From now on nobody waits for an answer; `wake` is called by another thread when one came."""
        if self._answers:
            self._answers.wake = wake

    def take(self) -> int:
        """Put the answers that came into the ledger; how many."""
        return self._answers.take() if self._answers else 0

    def begin(self, stop: Callable[[], bool]) -> None:
        """A run begins; `stop` is asked while an answer is waited for."""
        if self._answers:
            self._answers.begin(stop)

    def empty_old(self) -> None:
        """Empty what models were asked and answered longer ago than it is to be kept; also where none is asked now."""
        keep_us = self._config.settings.compile.keep_builds * DAY_US
        model_calls.empty_old(self._ledger, self._clock() - keep_us)

    def next_tries_us(self) -> list[int]:
        """When days that could not be compiled may be asked about again."""
        failing = model_calls.failing(self._ledger, self._clock() - 2 * DAY_US)
        return [call.again_us for call in failing if call.step == article_step.STEP]

    def _with_gemini(self, before: str) -> Engine:
        """Gemini, or what is to go on beyond the cap; that never takes the place of what Gemini wrote."""
        gemini, answers = self._needed()
        wanted = self._config.settings.gemini
        if (
            before != gemini.name
            and wanted.beyond == "extractive"
            and not answers.room(size_bytes(wanted.prompt_max) // 2 + _LARGEST)
        ):
            return self.extractive
        return gemini

    def _needed(self) -> tuple[Gemini, Answers]:
        if self._gemini is None or self._answers is None:
            why = f" ({self.found.problem})" if self.found.problem else ""
            raise UserError(
                f"there is no key for Gemini{why}",
                f"set {VARIABLES[0]}, or write the key alone into "
                f"{self._config.places.config_file.parent / KEY_FILE} with mode 600",
            )
        return self._gemini, self._answers
