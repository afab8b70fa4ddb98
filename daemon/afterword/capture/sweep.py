"""One look over all stores: which sources are there, which changed, and reading those that did.

Watcher events only say where to look first; this look is the truth. Absence is not deletion: a file that vanished
or cannot be read removes nothing. A file that appears with the content of one that vanished is that one, renamed.
"""

import logging
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import msgspec

from afterword.capture import linelog
from afterword.capture.harness import table
from afterword.capture.tail.compare import resume
from afterword.capture.tail.content import PACKED, log_name, opened
from afterword.domain.clock import Clock
from afterword.domain.events import Decoder, Found, Where
from afterword.redact.redactor import Redactor
from afterword.store.ledger import sources
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.sources import Source

_log = logging.getLogger(__name__)
_LOG_SUFFIXES = (".jsonl", PACKED)


class StoreView(msgspec.Struct, frozen=True):
    """What a harness has on this machine now. `files` counts what is read, `problems` what is not, by reason."""

    harness: str
    label: str
    roots: list[Path]
    present: list[Path]
    reads: bool
    found: list[Found]


class Progress(msgspec.Struct, frozen=True):
    """How far an ingest is: bytes of the files to be read, files done, items new so far."""

    bytes_done: int
    bytes_all: int
    files_done: int
    files_all: int
    new_items: int


class Sum(msgspec.Struct):
    """What a look brought."""

    files: int = 0
    new_items: int = 0
    problems: int = 0


def survey(where: Where) -> list[StoreView]:
    """Every harness with its roots and files, read or not."""
    return [_view(harness, where) for harness in table.HARNESSES]


def _view(harness: table.Harness, where: Where) -> StoreView:
    decoder = harness.load()
    roots = decoder.roots(where)
    present = [root for root in roots if root.is_dir()]
    found: list[Found] = []
    if harness.reads:
        for root in present:
            try:
                found += decoder.sources(root)
            except OSError as err:
                found.append(Found(root, "none", err.strerror or str(err)))
    return StoreView(harness.name, harness.label, roots, present, harness.reads, found)


class Capture:
    """Reads stores into the ledger. One per writer process; remembers which path is which source."""

    def __init__(self, ledger: Ledger, redactor: Redactor, clock: Clock, where: Where, *, quiet_us: int) -> None:
        self._ledger = ledger
        self._redactor = redactor
        self._clock = clock
        self._where = where
        self._quiet_us = quiet_us
        self._known: dict[tuple[str, Path], Source] = {}
        self._decoders: dict[str, Decoder] = {h.name: h.load() for h in table.HARNESSES if h.reads}
        self._missing: dict[str, list[Source]] = {}
        self.views: list[StoreView] = []

    @property
    def harnesses(self) -> list[str]:
        """The agents that are read, by name."""
        return list(self._decoders)

    def sweep(
        self,
        *,
        thorough: bool = False,
        on_progress: Callable[[Progress], None] = lambda _progress: None,
        stop: Callable[[], bool] = lambda: False,
        only: str | None = None,
    ) -> Sum:
        """Look at every store and read what changed. `stop` is asked between files."""
        self.views = survey(self._where)
        self._missing.clear()
        todo: list[tuple[str, Found, os.stat_result]] = []
        total = Sum()
        for view in self.views:
            if not view.reads or (only and view.harness != only):
                continue
            for found in view.found:
                if found.problem or found.reader != "lines":
                    continue
                try:
                    todo.append((view.harness, found, found.path.stat()))
                except OSError as err:
                    self._trouble(view.harness, found.path, err)
                    total.problems += 1
        todo = [entry for entry in todo if self._wants(*entry)]
        bytes_all = sum(self._new_bytes(harness, found.path, at) for harness, found, at in todo)
        bytes_done = 0

        def committed(moved: int) -> None:
            nonlocal bytes_done
            bytes_done += moved
            on_progress(Progress(bytes_done, bytes_all, total.files, len(todo), total.new_items))

        committed(0)
        for harness, found, _ in todo:
            if stop():
                break
            new = self.read(harness, found.path, thorough=thorough, on_commit=committed, stop=stop)
            if new is None:
                total.problems += 1
            else:
                total.new_items += new
            total.files += 1
            committed(0)
        return total

    def read(
        self,
        harness: str,
        path: Path,
        *,
        thorough: bool = False,
        on_commit: Callable[[int], None] = lambda _bytes: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> int | None:
        """Read what is new in one file; None when it could not be read (its source says why)."""
        decoder = self._decoders[harness]
        tools = linelog.Tools(self._ledger, self._redactor, self._clock, self._quiet_us, on_commit, stop)
        try:
            source = self._source(harness, path)
            new = linelog.take(tools, decoder, path, source, thorough=thorough)
        except OSError as err:
            self._trouble(harness, path, err)
            return None
        except sqlite3.Error:
            raise  # the ledger, not this file
        except Exception as err:  # noqa: BLE001  # one file that breaks the reader must not keep the others from being read
            _log.exception("a transcript could not be read", extra={"harness": harness})
            self._trouble(harness, path, OSError(f"internal error: {type(err).__name__}"))
            return None
        if source.problem:
            with self._ledger.transaction():
                sources.set_problem(self._ledger, source.row, "")
        self._refresh(harness, path, source)
        return new

    def belongs(self, path: Path) -> str | None:
        """The harness a known source belongs to; None for a path that no look has shown to be one."""
        return next((harness for harness in self._decoders if (harness, log_name(path)) in self._known), None)

    def may_be_new(self, path: Path) -> bool:
        """Whether an unknown path could be a source, so that a look at the stores is worth its cost."""
        return path.suffix in _LOG_SUFFIXES

    def _wants(self, harness: str, found: Found, at: os.stat_result) -> bool:
        known = self._lookup(harness, found.path)
        if known is None or known.problem:
            return True
        quiet = self._clock() - at.st_mtime_ns // 1000 >= self._quiet_us
        return not linelog.unchanged(at, known.at) or (quiet and linelog.owes_a_look(at, known.at))

    def _new_bytes(self, harness: str, path: Path, at: os.stat_result) -> int:
        known = self._lookup(harness, path)
        return max(0, at.st_size - (known.at.offset if known else 0))

    def _lookup(self, harness: str, path: Path) -> Source | None:
        known = self._known.get((harness, log_name(path)))
        if known is None:
            known = sources.find(self._ledger, sources.path_key(self._ledger, harness, log_name(path)))
            if known:
                self._known[harness, log_name(path)] = known
        return known

    def _source(self, harness: str, path: Path) -> Source:
        known = self._lookup(harness, path)
        if known is None:
            at = path.stat()
            moved = self._renamed(harness, path, at)
            key = sources.path_key(self._ledger, harness, log_name(path))
            shown = self._redactor.redact(str(path))
            with self._ledger.transaction():
                if moved:
                    sources.move(self._ledger, moved.row, key, shown)
                    self._missing[harness].remove(moved)
                else:
                    sources.add(self._ledger, harness, key, shown, min(at.st_mtime_ns // 1000, self._clock()))
            known = self._known[harness, log_name(path)] = self._must_find(key)
        return known

    def _refresh(self, harness: str, path: Path, source: Source) -> None:
        self._known[harness, log_name(path)] = self._must_find(source.path_key)

    def _must_find(self, key: bytes) -> Source:
        found = sources.find(self._ledger, key)
        assert found is not None
        return found

    def _renamed(self, harness: str, path: Path, at: os.stat_result) -> Source | None:
        """The source that this new file is, when its bytes are those of one whose file is gone."""
        for source in self._absent(harness):
            if source.at.offset == 0 or (path.suffix != PACKED and source.at.offset > at.st_size):
                continue
            with opened(path) as content:
                if resume(content, source.at, self._ledger, whole=True) is not None:
                    return source
        return None

    def _absent(self, harness: str) -> list[Source]:
        """Sources of a harness whose file is not where it was; found once a look, since most looks need none."""
        if harness not in self._missing:
            here = {
                sources.path_key(self._ledger, harness, log_name(found.path))
                for view in self.views
                if view.harness == harness
                for found in view.found
                if found.path.exists()
            }
            self._missing[harness] = [s for s in sources.every(self._ledger, harness) if s.path_key not in here]
        return self._missing[harness]

    def _trouble(self, harness: str, path: Path, err: OSError) -> None:
        reason = err.strerror or str(err)
        key = sources.path_key(self._ledger, harness, log_name(path))
        with self._ledger.transaction():
            found = sources.find(self._ledger, key)
            if found is None:
                found = sources.add(self._ledger, harness, key, self._redactor.redact(str(path)), self._clock())
            sources.set_problem(self._ledger, found.row, self._redactor.redact(reason))
        self._known[harness, log_name(path)] = self._must_find(key)
