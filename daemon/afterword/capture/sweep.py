"""One look over all stores: which sources are there, which changed, and reading those that did.

Watcher events only say where to look first; this look is the truth. Absence is not deletion: a file that vanished
or cannot be read removes nothing. A file that appears with the content of one that vanished is that one, renamed.
"""

import contextlib
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec

from afterword.capture import database, linelog, parts
from afterword.capture.ahead import Ahead
from afterword.capture.exclusion import Exclusions
from afterword.capture.gate import Gate, Passing, tells_of_others
from afterword.capture.harness import table
from afterword.capture.source_rows import SourceRows
from afterword.capture.stores import StoreView, is_there, survey
from afterword.capture.tail.content import PACKED
from afterword.capture.taking import Recall
from afterword.domain.clock import Clock
from afterword.domain.events import Agent, Decoder, Found, PartsReader, Unreadable, Where
from afterword.redact.redactor import Redactor
from afterword.store.ledger import left_out, sessions, sources
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.sources import Checkpoint, Source

if TYPE_CHECKING:
    from afterword.capture.cold.feed import Feed

_log = logging.getLogger(__name__)
_LOG_SUFFIXES = (".jsonl", PACKED)
_CLOSE_LOOKS = 10
"""At every so many-th look, each file is looked at that lies in a folder beside a document."""
_WHOLE_SUFFIXES = (".json", ".md", ".db", ".vscdb", "-wal")


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


class Folder(msgspec.Struct, frozen=True):
    """What reading a folder brought: `files` are there, `gone` were there before and are not any more."""

    files: int
    read: Sum
    gone: int


class Capture:
    """Reads stores into the ledger. One per writer process; remembers which path is which source."""

    def __init__(
        self,
        ledger: Ledger,
        redactor: Redactor,
        clock: Clock,
        where: Where,
        *,
        quiet_us: int,
        limits: parts.Limits,
        jobs: int = 1,
        jobs_from: int = 0,
        preview: tuple[Path, int] | None = None,
        exclude: Sequence[str] = (),
    ) -> None:
        """With `jobs` over 1, logs that nobody has read yet are read by several processes, if they have `jobs_from`
        bytes or more together; `preview`: where the preview is made, and from how many bytes on. `exclude`: folders and
        names of projects whose sessions are left out (`[capture] exclude_projects`)."""
        self._ledger = ledger
        self._redactor = redactor
        self._clock = clock
        self._where = where
        self._quiet_us = quiet_us
        self._limits = limits
        self._feed: Feed | None = None
        self._recall = Recall()
        folders = left_out.Folders(ledger)
        self.exclusions = Exclusions(exclude, where.home, folders)
        self._gate = Gate(ledger, self.exclusions, folders, limits.document_max_bytes)
        self._ahead = Ahead(ledger, redactor, clock, self._gate, self.exclusions, quiet_us, jobs, jobs_from, preview)
        self._looks = 0
        self._on_preview: Callable[[int, int], None] = lambda _done, _all: None
        self._rows = SourceRows(ledger, redactor, clock, self._paths)
        self._agents: dict[str, Agent] = {h.name: h.load() for h in table.HARNESSES if h.reads}
        self._found: dict[tuple[str, Path], Found] = {}
        """What the last look showed to be a source."""
        self._beside: dict[Path, tuple[str, Path]] = {}
        """Files and folders that belong to a source → that source."""
        self._whole_roots: list[Path] = []
        """Stores in which documents or databases are read."""
        self.views: list[StoreView] = []

    @property
    def harnesses(self) -> list[str]:
        """The agents that are read, by name."""
        return list(self._agents)

    def sweep(
        self,
        *,
        thorough: bool = False,
        on_progress: Callable[[Progress], None] = lambda _progress: None,
        stop: Callable[[], bool] = lambda: False,
        only: str | None = None,
        on_large: Callable[[], None] = lambda: None,
        on_preview: Callable[[int, int], None] = lambda _done, _all: None,
    ) -> Sum:
        """Look at every store and read what changed. `stop` is asked between files; `on_large` is told before so much
        is read that several processes are worth it, `on_preview` how many files are looked through ahead of that."""
        total = Sum()
        self._on_preview = on_preview
        self._pass(total, thorough, on_progress, stop, only, on_large)
        if not stop() and (self._folders() != self._where.folders or self._gate.rewound):
            # Some agents keep their store in the folder they work in: what was read has named new ones. And what was
            # let in may have been passed over elsewhere.
            self._pass(total, thorough, on_progress, stop, only, on_large)
        return total

    def _pass(
        self,
        total: Sum,
        thorough: bool,
        on_progress: Callable[[Progress], None],
        stop: Callable[[], bool],
        only: str | None,
        on_large: Callable[[], None],
    ) -> None:
        self._look()
        todo: list[tuple[str, Found]] = []
        for view in self.views:
            if not view.reads or (only and view.harness != only):
                continue
            for found in view.found:
                if found.problem or found.reader == "none":
                    continue
                try:
                    if self._wants(view.harness, found, thorough=thorough):
                        todo.append((view.harness, found))
                except FileNotFoundError:
                    continue  # it went away since it was listed
                except OSError as err:
                    self._trouble(view.harness, found, err.strerror or str(err))
                    total.problems += 1
        self._gate.survey([(harness, self._agents[harness], found) for harness, found in todo], self._fingerprint)
        bytes_all = sum(self._new_bytes(harness, found) for harness, found in todo)
        bytes_done = 0

        def committed(moved: int) -> None:
            nonlocal bytes_done
            bytes_done += moved
            on_progress(Progress(bytes_done, bytes_all, total.files, len(todo), total.new_items))

        committed(0)
        fresh = [
            (harness, found)
            for harness, found in todo
            if found.reader == "lines" and self._rows.lookup(harness, found.path) is None
        ]
        sizes = [self._new_bytes(*each) for each in fresh]
        with self._ahead.feeding(fresh, sum(sizes), stop, on_large, self._on_preview) as feed, self._fed(feed):
            for harness, found in todo:
                if stop():
                    break
                new = self.read(harness, found.path, thorough=thorough, on_commit=committed, stop=stop)
                if new is None:
                    total.problems += 1
                else:
                    total.new_items += new
                total.files += 1
                committed(0)

    @contextlib.contextmanager
    def _fed(self, feed: "Feed | None") -> Iterator[None]:
        """Take what workers have read, while the block runs."""
        self._feed = feed
        try:
            yield
        finally:
            self._feed = None

    def take_in(
        self,
        reader: PartsReader,
        root: Path,
        *,
        on_progress: Callable[[Progress], None] = lambda _progress: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Folder:
        """Read a folder of documents once, that is no agent's store and that nobody watches.

        Raises:
            OSError: it cannot be listed.
        """
        self._look()
        view = StoreView(reader.name, reader.label, [root], [root], True, list(reader.sources(root)))
        self.views.append(view)
        self._agents[reader.name] = reader
        total = Sum()
        readable = [found for found in view.found if not found.problem]
        total.problems = len(view.found) - len(readable)
        try:
            self._found.update({(reader.name, found.path): found for found in readable})
            todo = [found for found in readable if self._wants(reader.name, found, thorough=True)]
            for n, found in enumerate(todo):
                if stop():
                    break
                on_progress(Progress(n, len(todo), n, len(todo), total.new_items))
                new = self.read(reader.name, found.path, stop=stop)
                total.files += 1
                total.new_items += new or 0
                total.problems += new is None
            here = f"{self._redactor.redact(str(root))}/"
            gone = sum(source.path.startswith(here) for source in self._rows.absent(reader.name))
        finally:
            self.views.remove(view)
            self._agents.pop(reader.name)
            self._rows.look(afresh=False)
        return Folder(len(readable), total, gone)

    def _folders(self) -> tuple[Path, ...]:
        return tuple(map(Path, sessions.worked_in(self._ledger)))

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
        found = self._found.get((harness, path), Found(path))
        tools = linelog.Tools(
            self._ledger,
            self._redactor,
            self._clock,
            self._quiet_us,
            on_commit,
            stop,
            passing=partial(self._passing, harness, found),
            shut=lambda at, why: self._gate.shut(harness, path, linelog.looks(at), [why.still]),
        )
        try:
            if not self._gate.admits(harness, self._agents[harness], found, tools.fingerprint, quiet=self._rests(path)):
                return 0
            source = self._rows.of(harness, found)
            taken = self._take(tools, harness, found, source, thorough=thorough)
        except (OSError, Unreadable) as err:
            if isinstance(err, FileNotFoundError) and not os.path.lexists(path):
                return 0  # it went away: that removes nothing, and is no problem
            said = getattr(err, "strerror", None) or str(err)
            self._trouble(harness, found, said)
            return None
        except sqlite3.Error:
            raise  # the ledger, not this file
        except Exception as err:  # noqa: BLE001  # one file that breaks the reader must not keep the others from being read
            _log.exception("a transcript could not be read", extra={"harness": harness})
            self._trouble(harness, found, f"internal error: {type(err).__name__}")
            return None
        if source.problem != taken.problem:
            with self._ledger.transaction():
                sources.set_problem(self._ledger, source.row, taken.problem)
        self._rows.refresh(harness, path, source)
        return taken.new_items

    def _take(self, tools: linelog.Tools, harness: str, found: Found, source: Source, *, thorough: bool) -> parts.Taken:
        agent = self._agents[harness]
        if found.reader != "lines":
            reader = cast("PartsReader", agent)
            return parts.take(tools, self._limits, reader, found, source, self._recall, self._gate)
        decoder = cast("Decoder", agent)
        new = 0
        if self._feed and source.at == Checkpoint(first_us=source.at.first_us):
            reading = linelog.Reading(tools, decoder, source)
            outcome = self._feed.take(harness, found.path, reading, source, tools.on_commit)
            new = reading.new_items
            if outcome != "rest":
                return parts.Taken(new)
            source = self._rows.must_find(source.path_key)
        return parts.Taken(new + linelog.take(tools, decoder, found.path, source, thorough=thorough))

    def _fingerprint(self, text: str) -> str:
        return self._ledger.keyed_hash(text.encode("utf-8", "surrogatepass"), 8).hex()

    def _passing(self, harness: str, found: Found, row: int) -> Passing:
        elsewhere = found.reader == "lines" and tells_of_others(self._agents[harness], found.path)
        return Passing(self._gate, harness, row, patient=elsewhere, wait=elsewhere and not self._rests(found.path))

    def _rests(self, path: Path) -> bool:
        """Whether a file has been quiet for so long that nothing more is expected of it."""
        return self._clock() - path.stat().st_mtime_ns // 1000 >= self._quiet_us

    def belongs(self, path: Path) -> tuple[str, Path] | None:
        """(harness, path) of the source that a changed path is, or is a part of (a write-ahead log, a file in a
        folder that is read with a document); None for a path that no look has shown to belong to one."""
        for harness in self._agents:
            if self._rows.knows(harness, path) or self._gate.knows(harness, path):
                return harness, path
        return self._beside.get(path) or self._beside.get(path.parent)

    def lags(self, source: tuple[str, Path]) -> bool:
        """Whether what a change is about may count a moment after the change (a database's log)."""
        found = self._found.get(source)
        return found is not None and found.reader == "sqlite"

    def may_be_new(self, path: Path) -> bool:
        """Whether an unknown path could be a source, so that a look at the stores is worth its cost."""
        if path.suffix in _LOG_SUFFIXES:
            return True
        return path.name.endswith(_WHOLE_SUFFIXES) and any(path.is_relative_to(root) for root in self._whole_roots)

    def _look(self) -> None:
        """See what is in the stores now."""
        self._looks += 1
        self._gate.refresh()
        self._rows.look(afresh=self._gate.rewound)
        self._gate.rewound = False
        self._where = msgspec.structs.replace(self._where, folders=self._folders())
        self.views = survey(self._where)
        self._found.clear()
        self._beside.clear()
        self._whole_roots = []
        for view in self.views:
            for found in view.found:
                if found.problem or found.reader == "none":
                    continue
                self._found[view.harness, found.path] = found
                beside = found.beside
                if found.reader == "sqlite":
                    beside = (*beside, database.beside(found.path))
                self._beside.update(dict.fromkeys(beside, (view.harness, found.path)))
            if view.reads and hasattr(self._agents[view.harness], "parts"):
                self._whole_roots += view.present

    def _paths(self, harness: str) -> Iterator[Path]:
        """The files of a harness that the last look showed and that are still there."""
        for view in self.views:
            if view.harness == harness:
                yield from (found.path for found in view.found if is_there(found.path))

    def _wants(self, harness: str, found: Found, *, thorough: bool) -> bool:
        if self._gate.keeps_out(harness, found.path):
            return False
        known = self._rows.lookup(harness, found.path)
        if found.reader != "lines":
            if known is None or known.authority != found.authority:
                return True
            if (
                not thorough
                and self._looks % _CLOSE_LOOKS
                and parts.rests(self._ledger, found, known.at, self._clock())
            ):
                return False
            now = parts.seen(self._ledger, found)
            return parts.changed(now, known.at) and not self._gate.rests(harness, found.path, parts.looks(now))
        at = found.at or found.path.stat()
        if self._gate.rests(harness, found.path, linelog.looks(at)):
            return False
        if known is None or known.problem or known.authority != found.authority:
            return True
        quiet = self._clock() - at.st_mtime_ns // 1000 >= self._quiet_us
        return not linelog.unchanged(at, known.at) or (quiet and linelog.owes_a_look(at, known.at))

    def _new_bytes(self, harness: str, found: Found) -> int:
        known = self._rows.lookup(harness, found.path)
        try:
            return max(0, found.path.stat().st_size - (known.at.offset if known else 0))
        except OSError:
            return 0

    def _trouble(self, harness: str, found: Found, reason: str) -> None:
        if self._gate.keeps_out(harness, found.path) or self.exclusions.looks_excluded(found.path):
            return  # not even that it is there
        self._rows.trouble(harness, found, reason)
