"""The lessons' use case: take in what was said, distil it into facts, bring topics and agents' files up to date.

Runs under the writer's lock, so there is one distiller; what it produces comes from a known set of entries, and more
that come meanwhile are the next run's. Facts are written in one transaction: a run that fails leaves everything as it
was.
"""

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from afterword.app import retract_facts, retract_spread
from afterword.app.alike import Words, topic_of
from afterword.app.config import Config
from afterword.app.engines import Engines
from afterword.compile.engine import Waiting
from afterword.domain.clock import Clock, Zones
from afterword.domain.errors import AfterwordError
from afterword.domain.lessons import DEFAULT_AGENT, agent_name
from afterword.domain.settings import period_us
from afterword.memory.engine import Distiller, Extractive
from afterword.memory.folding import AT_ONCE, Fold, Folded
from afterword.memory.gleaning import Auto, glean
from afterword.memory.journal import FOLDER, Journal, Seen
from afterword.memory.page_watch import PageWatch, Taken
from afterword.memory.pages import AGENTS, TOPICS, Pages
from afterword.redact.redactor import Redactor
from afterword.store import faults
from afterword.store.ledger import compile_on, lessons, sessions
from afterword.store.ledger.ledger import Ledger

if TYPE_CHECKING:
    from afterword.app.passes import Tell
    from afterword.app.program import Program

_LOOK_AGAIN_S: Final = 2.0
_QUIET_US: Final = 60_000_000
_ENTRIES_AT_ONCE: Final = 100
_AT_ONCE_FILES: Final = 200
"""The daemon writes so many entries, then looks after the stores before the next."""
_log = logging.getLogger(__name__)
_DISTILLED: Final = "distilled_us"
_STAMP: Final = "distilled_at"
"""The small fact of what entries and facts were like after the last distilling."""


class Distill(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the job can be told: which engine, where a person named one."""

    engine: str | None = None


class Distilled(msgspec.Struct, frozen=True):
    """What a run did."""

    seen: Seen
    taken: Taken
    gleaned: int
    folded: Folded | None
    files: int
    elsewhere: str = ""
    """The machine that distils, where it is not this one."""


class Lessons:
    """The lessons of one program. Used from the thread that writes."""

    def __init__(
        self, config: Config, ledger: Ledger, redactor: Redactor, engines: Engines, zones: Zones, clock: Clock
    ) -> None:
        self._ledger = ledger
        self._redactor = redactor
        self._engines = engines
        self._zones = zones
        self._clock = clock
        self._vault = config.vault
        self._folder = config.lessons
        self._auto: Auto = config.settings.lessons.auto
        self._every_us = period_us(config.settings.lessons.every)
        self._again_us = 0
        self.journal = Journal(config.vault, config.lessons, config.places.state, ledger, redactor, zones, clock)
        self.pages: Pages | None = None
        self._watch: PageWatch | None = None
        if config.vault:
            self.pages = Pages(config.vault, config.lessons, ledger, redactor, self.agents)
            self._watch = PageWatch(config.vault, config.lessons, ledger, redactor, zones, clock)

    def agents(self) -> list[str]:
        """The agents that facts are written for: those whose sessions are known, and those that a fact is for."""
        found = {agent_name(harness) for harness in sessions.harnesses(self._ledger)}
        for each in lessons.facts(self._ledger):
            found.update(each.fact.agents)
        found.discard("")
        return sorted(found - {"notes"}) or [DEFAULT_AGENT]

    def folders(self) -> list[Path]:
        """The folders in which people and agents change what we wrote, or drop entries."""
        if self._vault is None:
            return []
        return [self._vault / self._folder / name for name in (FOLDER, TOPICS, AGENTS)]

    def take_in(self, *, again: bool = False, sleep: Callable[[float], None] = time.sleep) -> tuple[Seen, Taken, int]:
        """Take in the spool, the journal, direct edits, and what sessions' write-ups learned. With `again`, what
        vanished is looked for once more."""
        gleaned = glean(self._ledger, self._redactor, self._auto)
        taken = self._watch.look() if self._watch else Taken()
        seen = self.journal.look()
        if seen.waiting and again:
            sleep(_LOOK_AGAIN_S)
            later = self.journal.look()
            seen = msgspec.structs.replace(later, new=seen.new + later.new, edited=seen.edited + later.edited)
        return seen, taken, gleaned

    def glean(self) -> int:
        """What sessions' write-ups learned, into the journal, so that it is there when a session is over."""
        found = glean(self._ledger, self._redactor, self._auto)
        return self.journal.render(_AT_ONCE_FILES)[0] if found else 0

    def render(self, *, patient: bool = False) -> int:
        """Bring the vault's files up to date with the ledger; how many were written."""
        files, every = self.journal.render(_AT_ONCE_FILES if patient else 0)
        if self.pages is None:
            return files
        left = not every

        def busy(path: Path) -> bool:
            nonlocal left
            found = patient and 0 <= self._clock() - path.stat().st_mtime_ns // 1000 < _QUIET_US
            left = left or found
            return found

        files += self.pages.render(quiet=busy)
        if self.owed() and not left and not self.pages.problems:
            with self._ledger.transaction():
                self._ledger.set_meta(lessons.OWED, 0)
        return files

    def owed(self) -> bool:
        """Whether the vault is behind the ledger."""
        return self._ledger.meta(lessons.OWED) == 1

    def distil(
        self,
        engine: str | None = None,
        *,
        patient: bool = False,
        on_progress: Callable[[int, int], None] = lambda _done, _all: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Distilled:
        """Take everything in, make facts of it and bring the files up to date.

        Raises:
            Waiting: a model was asked and has not answered yet; nothing was changed but what was taken in.
            AfterwordError: the engine cannot say now.
        """
        seen, taken, gleaned = self.take_in(again=not patient)
        if not compile_on.here(self._ledger):
            return Distilled(seen, taken, gleaned, None, self.render(patient=patient), self._machine())
        folded = self.fold(engine, on_progress=on_progress, stop=stop)
        if folded.left:
            return Distilled(seen, taken, gleaned, folded, 0)  # stopped: what stands stands
        # What says again what an article was retracted for goes with it.
        retract_spread.spread(self._ledger, self._redactor)
        files = self.render(patient=patient)
        with self._ledger.transaction():
            self._ledger.set_meta(_DISTILLED, self._clock())
            self._ledger.set_meta(_STAMP, self._stamp())
        return Distilled(seen, taken, gleaned, folded, files)

    def fold(
        self,
        engine: str | None = None,
        *,
        on_progress: Callable[[int, int], None] = lambda _done, _all: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Folded:
        """Place what is new in the journal among the facts. Raises as `distil`."""
        self._engines.begin(stop)
        chosen = self._engine(engine)
        found = Folded({}, 0)
        if chosen.paid and engine is None:
            # What was learned before a model came into force is not paid for unasked.
            old = Extractive(Words(), topic_of)
            found = self._placed(found, old, self._engines.since(), on_progress, stop)
        return self._placed(found, chosen, "", on_progress, stop)

    def _placed(
        self,
        found: Folded,
        engine: Distiller,
        before: str,
        on_progress: Callable[[int, int], None],
        stop: Callable[[], bool],
    ) -> Folded:
        """What was found with what this engine makes of the entries of days before `before`, or of all."""
        ledger = self._ledger
        left = 1
        while left:
            if stop():
                return msgspec.structs.replace(found, left=left)
            entries, facts = lessons.lessons(ledger), lessons.facts(ledger)
            fold = Fold(entries, facts, lessons.stored_facts(ledger), Words(), engine)
            # What a model was paid for is kept at once; the files are brought up to date when all of it is there.
            some = fold.run(AT_ONCE if engine.paid else _ENTRIES_AT_ONCE, before, on_progress)
            if some.changed:
                with ledger.transaction(durable=True):
                    for its_id, fact in sorted(some.changed.items()):
                        lessons.put_fact(ledger, self._redactor, its_id, fact)
                    retract_facts.follow(ledger, self._redactor, some.changed)
                    faults.hit("lesson.facts")
            left = some.left
            found = Folded(
                found.changed | some.changed,
                found.placed + some.placed,
                left,
                found.created + some.created,
                found.joined + some.joined,
                found.superseded + some.superseded,
            )
        return found

    def _engine(self, name: str | None) -> Distiller:
        found = self._engines.distiller(name)
        return found or Extractive(Words(), topic_of)

    def _machine(self) -> str:
        wanted = compile_on.runs_on(self._ledger)
        return next((name for its_id, name in self._ledger.origins().values() if its_id == wanted), wanted)

    def settled(self, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Bring facts and files in line with what a person just said of some; how many files were written. Where a
        model would have to be asked first, that waits for the next distilling."""
        if compile_on.here(self._ledger):
            self.fold("extractive", stop=stop)
        return self.render()

    def masked(self) -> int:
        """Under newer redaction rules: entries of ours as the ledger has them now, topics and agents' files made again;
        how many files were written."""
        return self.journal.mask() + self.render()

    # The daemon

    def tend(self, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Take in what is new, and distil where it is time; how many files were written."""
        seen, taken, gleaned = self.take_in()
        if self.due():
            try:
                return self.distil(patient=True, stop=stop).files
            except AfterwordError as err:
                # What stands stands. What was asked is answered some time, and anything else is tried again later.
                self._again_us = self._clock() + 10 * _QUIET_US
                if not isinstance(err, Waiting):
                    _log.warning("the journal could not be distilled, it is tried again: %s", err.message)
        return self.render(patient=True) if seen.anything or taken.anything or gleaned or self.owed() else 0

    def due(self) -> bool:
        """Whether something is new since the last distilling, and that is long enough ago."""
        if self._every_us is None or not compile_on.here(self._ledger):
            return False
        last = self._ledger.meta(_DISTILLED)
        now_us = self._clock()
        if now_us < self._again_us or (isinstance(last, int) and 0 <= now_us - last < self._every_us):
            return False
        return self._ledger.meta(_STAMP) != self._stamp()

    def answered(self) -> None:
        """A model answered: what waits for one may be tried at once."""
        self._again_us = 0

    def _stamp(self) -> str:
        return "{} {}".format(*lessons.stamp(self._ledger))


def whole(program: "Program", tell: "Tell", stop: Callable[[], bool]) -> str:
    """The part of a whole pass; why it could not be done, or nothing.

    Raises:
        Waiting: a model was asked and has not answered yet.
    """
    try:
        program.lessons.distil(
            on_progress=lambda n, all_: tell("Distilling", "entries", n, all_, "") if all_ else None, stop=stop
        )
    except Waiting:
        raise
    except AfterwordError as err:
        return err.message
    return ""


def distill(program: "Program", given: Distill, tell: "Tell", stop: Callable[[], bool]) -> dict[str, Any]:
    """Distil the journal; the fields of `distill --json`."""
    done = program.lessons.distil(
        given.engine, on_progress=lambda n, all_: tell("Distilling", "entries", n, all_, ""), stop=stop
    )
    program.ready.sync()
    return as_fields(program, done)


def as_fields(program: "Program", done: Distilled) -> dict[str, Any]:
    """What `distill --json` says of a run."""
    folded = done.folded
    facts = lessons.facts(program.ledger)
    pages = program.lessons.pages
    return {
        "entries": {
            "new": done.seen.new + done.gleaned + done.taken.entries,
            "edited": done.seen.edited + done.taken.edited,
            "gone": done.seen.gone + done.taken.removed,
            "question": done.seen.question + done.taken.question,
        },
        "placed": folded.placed if folded else 0,
        "created": list(folded.created) if folded else [],
        "joined": list(folded.joined) if folded else [],
        "superseded": list(folded.superseded) if folded else [],
        "facts": sum(each.live for each in facts),
        "files": done.files,
        "bad": [{"path": path, "problem": problem} for path, problem in sorted(program.lessons.journal.bad.items())],
        "problems": dict(pages.problems) if pages else {},
        "runs_on": done.elsewhere or None,
    }
