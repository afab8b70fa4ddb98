"""The composition root: builds the program from its parts, for a writer and for readers."""

import logging
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from afterword.app import forgetting, rescrub, setup
from afterword.app.articles import LedgerArticles
from afterword.app.compiling import Compiling, Tended
from afterword.app.config import Config, day_starts_at_min
from afterword.app.ended import ended
from afterword.app.engines import Engines
from afterword.app.indexing import Indexing
from afterword.app.lessons import Lessons
from afterword.app.reading import redactor, where
from afterword.app.ready import Ready
from afterword.app.spending import RUNNING
from afterword.app.underway import Note
from afterword.capture.database import Reach
from afterword.capture.parts import Limits
from afterword.capture.sweep import Capture, Progress, Sum
from afterword.compile.flush import Flush
from afterword.domain.clock import SECOND_US, Clock, Zones, clock_from
from afterword.domain.settings import duration_us, size_bytes
from afterword.domain.slugs import slug
from afterword.index.room import give_back
from afterword.redact.logs import install
from afterword.store import backup_file, hardware, preview, privacy
from afterword.store.article_notes import FOLDERS
from afterword.store.ledger import backups, restored, views
from afterword.store.ledger.ledger import Ledger, open_writer
from afterword.store.lock import writer_lock
from afterword.store.notes import DailyNotes
from afterword.store.textwriter import FullText
from afterword.store.vault_card import may_write, read_card

if TYPE_CHECKING:
    from afterword.app.passes import Tell

_WAIT_MAX_US = 120_000_000
"""How long an append waits for a person who is at work on the note."""
_log = logging.getLogger(__name__)

_INDEX_BYTES = 16 << 20
"""After how much of a long reading what was read is made searchable: each time costs a merge of the index."""
_CALM_US = 60_000_000
"""How long nothing was taken in before days are compiled."""


def machine_name(config: Config) -> str:
    """This machine's name in notes: a slug."""
    return slug(config.settings.machine.name or socket.gethostname().partition(".")[0], fallback="machine")


class Program:
    """The parts a writer works with. Make it with `writer`; everything in it is used from one thread."""

    def __init__(
        self,
        config: Config,
        env: Mapping[str, str],
        ledger: Ledger,
        *,
        settle_us: int | None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`sleep` waits between two tries of a call to a model."""
        self.config = config
        self.clock: Clock = clock_from(dict(env))
        self.ledger = ledger
        self.redactor = redactor(config)
        settings = config.settings
        install(self.redactor)
        jobs = settings.capture.jobs or cores()
        jobs_from = size_bytes(settings.capture.jobs_from)
        self.text = FullText(config.places.state, ledger, jobs=jobs, spread_bytes=jobs_from)
        self.settle_us = duration_us(settings.segment.settle) if settle_us is None else settle_us
        self.capture = Capture(
            ledger,
            self.redactor,
            self.clock,
            where(config, env),
            quiet_us=duration_us(settings.capture.quiet),
            limits=Limits(
                size_bytes(settings.capture.document_max),
                Reach(size_bytes(settings.capture.copy_max), config.places.state),
            ),
            jobs=jobs,
            jobs_from=jobs_from,
            preview=(config.places.state, size_bytes(settings.capture.preview_from)),
            exclude=settings.capture.exclude_projects,
        )
        self.vault = config.vault
        self._at_work: dict[Path, int] = {}
        """Notes somebody was at work on when something was to be written into them, and since when."""
        card = read_card(self.vault) if self.vault else None
        setup.settle_vault(ledger, card)
        self.zones = Zones(setup.settle_zone(ledger, self.redactor, card), day_starts_at_min(settings))
        self.engines = Engines(config, env, ledger, self.redactor, self.clock, self.zones, sleep=sleep)
        self.flush = Flush(
            ledger,
            self.redactor,
            self.engines.extractive,
            self.zones,
            choose=self.engines.choose,
            gap_us=duration_us(settings.segment.gap),
            settle_us=self.settle_us,
        )
        self.notes = DailyNotes(self.vault, config.days, ledger, self.redactor) if self.vault else None
        self.ready = Ready(config, ledger, self.redactor, self.zones, self.clock, self.capture.exclusions.excludes)
        self.index = Indexing(
            config, env, ledger, self.redactor, self.clock, self.zones, LedgerArticles(ledger, self.zones)
        )
        self.nearness = self.index.nearness()
        self.compiling = Compiling(
            config, ledger, self.redactor, self.engines, self.zones, self.clock, nearness=self.nearness
        )

        self.lessons = Lessons(config, ledger, self.redactor, self.engines, self.zones, self.clock)

    def ingest(
        self,
        *,
        thorough: bool,
        only: str | None = None,
        on_progress: Callable[[Progress], None] = lambda _progress: None,
        on_text: Callable[[int, int], None] = lambda _done, _all: None,
        on_preview: Callable[[int, int], None] = lambda _done, _all: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Sum:
        """Read everything that is new in all stores, and index it. `on_preview` is told files, done and all, while much
        is looked through before it is read; `on_text` rows, when tool text is indexed after all is read."""
        self.text.catch_up(stop, on_text)
        note = Note(self.ledger, size_bytes(self.config.settings.capture.jobs_from))
        indexed = 0

        def progress(now: Progress) -> None:
            nonlocal indexed
            if now.bytes_done - indexed >= _INDEX_BYTES:
                indexed = now.bytes_done
                self.text.catch_up(stop)
            note.reading(now.bytes_done, now.bytes_all)
            on_progress(now)

        def indexing(done: int, every: int) -> None:
            note.indexing(done, every)
            on_text(done, every)

        def previewing(files: int, every: int) -> None:
            note.previewing(files, every)
            on_preview(files, every)

        try:
            done = self.capture.sweep(
                thorough=thorough,
                only=only,
                on_progress=progress,
                stop=stop,
                on_large=self.text.spread,
                on_preview=previewing,
            )
            if not stop():
                self.text.gather()
            self.text.catch_up(stop, indexing)
        finally:
            # Also where the reading broke: the daemon goes on, and what is forgotten then must not be found in it.
            preview.remove(self.config.places.state)
        note.over()
        if done.new_items:
            self.note_capture()
        return done

    def note_capture(self) -> None:
        """Remember when something new was taken in, for `status`."""
        with self.ledger.transaction():
            self.ledger.set_meta("last_capture_us", self.clock())

    def note_watching(self, modes: Mapping[str, str]) -> None:
        """Remember how each root is watched, for `status`."""
        changed = {
            f"watch:{self.redactor.redact(root)}": self.redactor.redact(mode)
            for root, mode in modes.items()
            if not self.capture.exclusions.excludes(root)
        }
        if all(self.ledger.meta(key) == mode for key, mode in changed.items()):
            return
        with self.ledger.transaction():
            for key, mode in changed.items():
                self.ledger.set_meta(key, mode)

    def write_up(
        self,
        *,
        settle_us: int | None = None,
        patient: bool = False,
        on_progress: Callable[[str, int, int], None] = lambda _what, _done, _all: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> tuple[int, int]:
        """Digest what is due and put it into the vault; (sections made, sections appended).

        What hooks said ended is due at once; `settle_us` is for this pass alone. `patient`: notes somebody saved just
        now are left for the next pass, as the daemon does.
        """
        self.engines.begin(stop)
        with ended(self, stop) as rows:
            made = self.flush.run(
                self.clock(),
                settle_us=settle_us,
                ended=rows,
                on_progress=lambda done, all_: on_progress("digest", done, all_),
                stop=stop,
            )
        if made:
            self.lessons.glean()
        if self.notes is None:
            return made, 0
        # What a person changed comes first: a section that is written again says it their way.
        self.compiling.look_at_sections()
        busy = self._busy if patient else (lambda _path, _rest_s: False)
        return made, self.notes.sync(lambda done, all_: on_progress("notes", done, all_), stop, busy)

    def _busy(self, path: Path, rest_s: float) -> bool:
        """Whether somebody is at work on a note; for two minutes at most, then what is due is written anyway."""
        now_us = self.clock()
        saved_us = path.stat().st_mtime_ns // 1000
        if not 0 <= now_us - saved_us < rest_s * SECOND_US:
            self._at_work.pop(path, None)
            return False
        return now_us - self._at_work.setdefault(path, now_us) < _WAIT_MAX_US

    def tend(self, *, today: bool = False, stop: Callable[[], bool] = lambda: False) -> Tended:
        """Take in what people did to the articles, and compile when it is time. For the daemon: what was just saved is
        left alone.

        At night the days that are over are compiled, while no session waits or comes in. With `today`, whatever is new
        or changed by now.
        """
        if today or (self.compiling.nightly_due() and self._calm()):
            return self.compiling.some(today=today, stop=stop)
        return Tended(self.compiling.refresh(), more=False)

    def vault_folders(self) -> list[Path]:
        """The folders of the vault in which people change what we wrote."""
        if self.vault is None or not may_write(self.vault, self.ledger):
            return []
        today = self.vault / self.config.days.name(self.zones.day(self.clock()))
        knowledge = self.vault / self.config.settings.vault.knowledge
        articles = [knowledge / name for name in FOLDERS.values()]
        return [self.vault / self.config.days.folder, today.parent, *articles, *self.lessons.folders()]

    def begin_in_background(self, wake: Callable[[], None]) -> None:
        """From now on nobody here waits for a model; `wake` is called by another thread when one answered."""
        self.engines.in_background(wake)
        with self.ledger.transaction():
            self.ledger.set_meta(RUNNING, self.engines.name)

    def take_answers(self) -> bool:
        """Put what a model answered into the ledger; whether there was anything."""
        if not self.engines.take():
            return False
        self.flush.answered()
        self.lessons.answered()
        return True

    def _calm(self) -> bool:
        last_us = self.ledger.meta("last_capture_us")
        busy = isinstance(last_us, int) and self.clock() - last_us < _CALM_US
        return not busy and views.pending(self.ledger).sessions <= self.flush.held_up()

    def rest(self) -> None:
        """There is nothing to do for now: let go of the memory that only makes work quicker."""
        self.ledger.let_go()
        self.text.let_go()
        give_back()

    def close(self) -> None:
        restored.keep_reached(self.ledger)
        self.index.close()
        if self.nearness:
            self.nearness.close()
        self.text.close()
        self.ledger.close()


def cores() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        return os.cpu_count() or 1


@contextmanager
def _untold() -> "Iterator[Tell]":
    yield lambda _phase, _unit, _done, _all, _word: None


@contextmanager
def writer(
    config: Config,
    env: Mapping[str, str],
    command: str,
    *,
    settle_us: int | None = None,
    sleep: Callable[[float], None] = time.sleep,
    telling: "Callable[[], AbstractContextManager[Tell]]" = _untold,
) -> Iterator[Program]:
    """The program with the writer's lock held, every text under the rules of now, and a forgetting that was cut off
    finished.

    `telling` is entered where it takes a while before anything else can be done.

    Raises:
        Busy: another process writes.
    """
    with writer_lock(config.places.state, command):
        mended = privacy.mend(privacy.loose(config.places.state))
        if mended:
            _log.warning("files of ours could be read by others and were mended", extra={"count": mended})
        ledger = open_writer(config.places.state, machine_name(config))
        if restored.settle_place(ledger, hardware.machine_id()):
            _log.warning("this ledger was copied or set back: its machine numbers under a new origin from now on")
        restored.settle_name(ledger, machine_name(config))
        backup_file.sweep(config.places.state, [Path(one.path) for one in backups.every(ledger) if not one.sha256])
        preview.remove(config.places.state)  # what a killed reading left
        program = Program(config, env, ledger, settle_us=settle_us, sleep=sleep)
        try:
            if rescrub.due(program):
                with telling() as tell:
                    rescrub.run(program, tell)
            if forgetting.due(program):
                with telling() as tell:
                    forgetting.run(program, tell)
            yield program
        finally:
            program.close()
