"""The daemon's loop: one thread that captures, writes up and indexes, and never stops for one broken thing."""

import logging
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType

from afterword.app.program import Program
from afterword.capture.watch import Watcher
from afterword.domain.errors import AfterwordError
from afterword.domain.settings import duration_us, period_us
from afterword.index.room import give_back
from afterword.serve.desk import Desk

_log = logging.getLogger(__name__)

_MERGE_S = 0.3
_RESTS = 5
"""At most a fifth of the time goes into one file that changes all the time."""
_RETRY_S = 2.0
"""After how long a file that could not be read is tried once more; then it is the next look's."""
_SAVED_S = 2.0
"""How long after somebody saved a note it is looked at: editors save while one types."""
_TYPING_S = 5.0
"""After how long it is looked again whether a person has done with the note that something is to be written into."""
_SLICE_S = 0.1
_REST_S = 10.0
"""Memory is given back when there is nothing to do, at most so often."""
_BACK_OFF_MAX_S = 300.0


class Daemon:
    """Watches until it is told to stop. Events are hints; every `capture.sweep` all stores are looked at."""

    def __init__(self, program: Program, on_event: Callable[[str], None] = lambda _what: None) -> None:
        self._program = program
        self._on_event = on_event
        self._watcher = Watcher()
        self._stopping = False
        settings = program.config.settings
        self._sweep_s = max(1.0, duration_us(settings.capture.sweep) / 1e6)
        every_us = period_us(settings.compile.every)
        self._every_s = every_us / 1e6 if every_us else float("inf")
        self._next_compile = 0.0 if every_us else float("inf")
        self._days_left = False
        """Whether days wait that were due at the last look."""
        self._compiled = False
        """Whether days were compiled since the last slice of the index: the two take turns."""
        self._captured = False
        """Whether something was read in the midst of a compile, so that it is written up after it."""
        self._handled: dict[Path, tuple[float, float]] = {}
        """When a path was handled last, and how long that took."""
        self._trailing: dict[Path, float] = {}
        self._fresh: set[Path] = set()
        """Paths with an event that was not followed by a second look yet, where one is due."""
        self._failures = 0
        self._indexing = False
        """Whether there may be something for the index."""
        self._due_again = 0.0
        """In how long the path just handled is to be looked at a second time; 0 when it is not."""
        self._loaded = threading.Event()
        self._vault_folders: frozenset[Path] = frozenset()
        self._vault_due = float("inf")
        """When the vault is looked at because somebody saved a note in it."""
        self._answered = threading.Event()
        """Set by another thread: a model answered."""
        self._model_waits = ""
        """What waits for a model: days, those of a compile by `compile.every`, or nothing."""
        self._look_soon = False
        self._looked = self._look_took = 0.0
        self._rests = 0.0
        """When memory is given back again, at the soonest."""
        self._desk = Desk(program, os.environ, self._watcher.wake, self._asked)
        program.begin_in_background(self._model_answered)

    def stop(self, _signal: int = 0, _frame: FrameType | None = None) -> None:
        """Finish the transaction at hand and leave; also the handler of SIGTERM and SIGINT."""
        self._stopping = True
        self._watcher.wake()

    def _asked(self) -> bool:
        """Whether to stop; long steps ask it between two pieces, which is also their sign of life."""
        self._desk.alive()
        return self._stopping

    def _between(self) -> bool:
        """The same between two pieces of a compile, which takes seconds in all: what agents wrote meanwhile is read."""
        self._captured |= self._events(self._watcher.take(0.0))
        return self._asked()

    def run(self, first: Callable[[Callable[[], bool]], None] = lambda _stop: None) -> None:
        """Watch, until `stop`. `first` is done with the door open, before the first look; it is told when to stop."""
        signal.signal(signal.SIGTERM, self.stop)
        signal.signal(signal.SIGINT, self.stop)
        next_sweep = 0.0
        next_write_up = 0.0
        try:
            self._desk.open()
            self._guard(partial(self._do_first, first))
            while not self._stopping:
                if self._program.capture.views and self._guard(self._desk.turn):
                    next_write_up = 0.0
                now = time.monotonic()
                if self._loaded.is_set():
                    self._loaded.clear()
                    self._indexing = True
                if self._answered.is_set():
                    self._answered.clear()
                    self._guard(self._take_answers)
                    next_write_up = 0.0
                if self._captured:
                    self._captured = False
                    next_write_up = 0.0
                if self._look_soon:
                    # Under a storm of new files the looks take at most a part of the time.
                    next_sweep = min(next_sweep, max(now, self._looked + 5 * self._look_took))
                if now >= self._vault_due:
                    self._vault_due = float("inf")
                    self._guard(self._tend)
                    next_write_up = 0.0
                if now >= next_sweep:
                    self._look_soon = False
                    self._guard(self._sweep)
                    self._looked = time.monotonic()
                    self._look_took = self._looked - now
                    next_sweep = self._looked + self._pause()
                    next_write_up = min(next_write_up, self._looked)
                elif now >= next_write_up:
                    self._guard(self._write_up)
                    next_write_up = time.monotonic() + self._due_in()
                    self._indexing = True
                else:
                    times = [next_sweep, next_write_up, self._vault_due, self._next_compile, now + self._desk.pause_s]
                    wait = max(0.0, min([*times, *self._trailing.values()]) - now)
                    # Whatever happens in a store comes before the next days and the next slice of the index.
                    if self._events(self._watcher.take(0.0 if self._indexing or self._days_left else wait)):
                        next_write_up = 0.0
                    elif (self._days_left or now >= self._next_compile) and not (self._indexing and self._compiled):
                        self._indexing |= self._guard(self._compile)
                        self._compiled = True
                    elif self._indexing:
                        self._indexing = self._guard(self._index)
                        self._compiled = False
        finally:
            self._desk.close()
            self._watcher.stop()

    def _do_first(self, first: Callable[[Callable[[], bool]], None]) -> bool:
        first(self._asked)
        return False

    def _pause(self, plain_s: float | None = None) -> float:
        """Until the next look at everything, or after `plain_s`: longer after failures, so that a full disk is no busy
        loop."""
        plain_s = self._sweep_s if plain_s is None else plain_s
        return min(_BACK_OFF_MAX_S, plain_s * 2**self._failures) if self._failures else plain_s

    def _due_in(self) -> float:
        due_us = self._program.flush.next_due_us()
        latest = _TYPING_S if self._program.notes and self._program.notes.waiting else self._sweep_s
        if due_us is None:
            return latest
        soonest = 0.05 if not self._failures else self._pause() / 4
        return min(latest, max(soonest, (due_us - self._program.clock()) / 1e6))

    def _events(self, paths: list[Path]) -> bool:
        """Read files that changed: the first event of a file at once, further ones within 300 ms in one pass. What
        takes long to look at (a big database) rests longer in between."""
        now = time.monotonic()
        self._fresh.update(paths)
        for path in paths:
            handled, took = self._handled.get(path, (-_MERGE_S, 0.0))
            again = handled + max(_MERGE_S, _RESTS * took)
            if now >= again:
                self._trailing[path] = now
            else:
                self._trailing.setdefault(path, again)
        ready = [path for path, at in self._trailing.items() if at <= now]
        captured = False
        for path in ready:
            del self._trailing[path]
            begun = time.monotonic()
            captured |= self._guard(partial(self._read, path))
            took = time.monotonic() - begun
            self._handled[path] = (begun, took)
            if path in self._fresh and self._due_again:
                self._trailing.setdefault(path, begun + max(self._due_again, _RESTS * took))
            self._fresh.discard(path)
        if len(self._handled) > 10_000:
            self._handled.clear()
        return captured

    def _read(self, path: Path) -> bool:
        self._due_again = 0.0
        if path.parent in self._vault_folders:
            # A hint to look, and to read only: what is to be written waits until the note rests.
            if not path.name.startswith("."):
                self._vault_due = min(self._vault_due, time.monotonic() + _SAVED_S)
            return False
        found = self._program.capture.belongs(path)
        if found is None:
            # A new file, or a folder made just now that may hold files whose events came before it was watched:
            # one look finds all there is, however many there are.
            self._look_soon |= path.is_dir() or self._program.capture.may_be_new(path)
            return False
        new = self._program.capture.read(*found)
        if new is None:
            self._due_again = _RETRY_S
        elif self._program.capture.lags(found):
            self._due_again = _MERGE_S
            # Its rows mostly grow in place: there may be more to index where nothing is new.
            self._program.text.catch_up()
        if new:
            self._program.text.catch_up()
            self._program.note_capture()
        return bool(new)

    def _sweep(self) -> bool:
        done = self._program.ingest(thorough=False, stop=self._asked)
        # What came between the look and the watching of a folder made no event.
        self._vault_folders = frozenset(self._program.vault_folders())
        beside = [self._desk.spool, *self._vault_folders]
        self._look_soon |= self._watcher.arm(self._program.capture.views, beside)
        self._tend()
        self._program.note_watching({str(root): mode for root, mode in self._watcher.modes.items()})
        return done.new_items > 0

    def _compile(self) -> bool:
        """Compile what is due by `compile.every`, and go on with what a night's look began; whether files changed."""
        often = time.monotonic() >= self._next_compile
        try:
            return self._tend(today=often)
        finally:
            if often and not self._days_left:
                self._next_compile = time.monotonic() + self._pause(self._every_s)

    def _tend(self, *, today: bool = False) -> bool:
        self._days_left = False  # what breaks is not tried again at once
        done = self._program.tend(today=today, stop=self._between)
        self._days_left = done.more
        self._model_waits = ("often" if today else "nightly") if done.waits else ""
        if done.files:
            self._on_event("articles brought up to date")
        if self._program.lessons.tend(stop=self._between):
            self._on_event("lessons brought up to date")
        self._program.ready.sync()
        return done.files > 0

    def _take_answers(self) -> bool:
        """What waited for a model goes on."""
        if not self._program.take_answers():
            return False
        self._desk.answered()
        if self._model_waits == "often":
            self._next_compile = 0.0
        self._days_left |= bool(self._model_waits)
        self._model_waits = ""
        return True

    def _model_answered(self) -> None:
        """Called by another thread."""
        self._answered.set()
        self._watcher.wake()

    def _write_up(self) -> bool:
        made, appended = self._program.write_up(patient=True, stop=self._asked)
        if made or appended:
            give_back()  # a first write-up of a long history leaves as much behind as everything else takes
            self._on_event(f"{appended} {'section' if appended == 1 else 'sections'} written")
        return appended > 0

    def _index(self) -> bool:
        more = self._program.index.step(_SLICE_S, self._index_loaded)
        if not more and time.monotonic() >= self._rests:
            self._program.rest()
            self._rests = time.monotonic() + _REST_S
        return more

    def _index_loaded(self) -> None:
        """Called by another thread: what the index waited for is there."""
        self._loaded.set()
        self._watcher.wake()

    def _guard(self, step: Callable[[], bool]) -> bool:
        """Do a step; what breaks is logged and tried again at the next look, everything else goes on."""
        try:
            result = step()
        except BrokenPipeError:
            raise  # whoever read our output is gone
        except (OSError, sqlite3.Error, AfterwordError) as err:
            self._failures = min(self._failures + 1, 8)
            _log.error("a step failed, it is tried again: %s", err)
            return False
        except Exception:  # noqa: BLE001  # the daemon outlives its bugs; the traceback is in the log
            self._failures = min(self._failures + 1, 8)
            _log.exception("a step failed unexpectedly, it is tried again")
            return False
        self._failures = 0
        return result


def watch(
    program: Program,
    on_event: Callable[[str], None],
    first: Callable[[Callable[[], bool]], None] = lambda _stop: None,
) -> None:
    """Watch with this program until a signal says stop; `on_event` is told in a sentence what was done."""
    Daemon(program, on_event).run(first)
