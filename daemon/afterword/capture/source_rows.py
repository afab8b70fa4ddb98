"""The rows of sources in the ledger, as the one writer knows them: which file is which.

A file that appears with the content of one that vanished is that one, renamed.
"""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from afterword.capture import parts
from afterword.capture.tail.compare import resume
from afterword.capture.tail.content import PACKED, log_name, opened
from afterword.domain.clock import Clock
from afterword.domain.events import Found
from afterword.redact.redactor import Redactor
from afterword.store.ledger import sources
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.sources import Checkpoint, Source


class SourceRows:
    """Path → source."""

    def __init__(
        self, ledger: Ledger, redactor: Redactor, clock: Clock, there: Callable[[str], Iterable[Path]]
    ) -> None:
        """`there`: the files of a harness that the last look showed and that are still there."""
        self._ledger = ledger
        self._redactor = redactor
        self._clock = clock
        self._there = there
        self._known: dict[tuple[str, Path], Source] = {}
        self._missing: dict[str, list[Source]] = {}

    def look(self, *, afresh: bool) -> None:
        """Another look begins: what is missing is found again, and with `afresh` every row."""
        self._missing.clear()
        if afresh:
            self._known.clear()

    def knows(self, harness: str, path: Path) -> bool:
        """Whether a path is a source that was looked up before."""
        return (harness, log_name(path)) in self._known

    def lookup(self, harness: str, path: Path) -> Source | None:
        """The source of a file; None when nobody has read it."""
        known = self._known.get((harness, log_name(path)))
        if known is None:
            known = sources.find(self._ledger, sources.path_key(self._ledger, harness, log_name(path)))
            if known:
                self._known[harness, log_name(path)] = known
        return known

    def of(self, harness: str, found: Found) -> Source:
        """The source of a file that is there, made or moved when it is new.

        Raises:
            OSError: it cannot be looked at.
        """
        path = found.path
        known = self.lookup(harness, path)
        if known is None:
            at = path.stat()
            moved = self._renamed(harness, found, at)
            key = sources.path_key(self._ledger, harness, log_name(path))
            shown = self._redactor.redact(str(path))
            with self._ledger.transaction():
                if moved:
                    sources.move(self._ledger, moved.row, key, shown)
                    self._missing[harness].remove(moved)
                else:
                    first_us = min(at.st_mtime_ns // 1000, self._clock())
                    sources.add(self._ledger, harness, key, shown, first_us, found.authority)
            known = self._known[harness, log_name(path)] = self.must_find(key)
        if known.authority != found.authority:
            # What it shows is another kind of source from now on: it is read from its start once more.
            with self._ledger.transaction():
                sources.set_authority(self._ledger, known.row, found.authority)
                sources.rewind(self._ledger, known.row)
            known = self._known[harness, log_name(path)] = self.must_find(known.path_key)
        return known

    def refresh(self, harness: str, path: Path, source: Source) -> None:
        """See a source's row again after it was read."""
        self._known[harness, log_name(path)] = self.must_find(source.path_key)

    def must_find(self, key: bytes) -> Source:
        """The source with this key, which is there."""
        found = sources.find(self._ledger, key)
        assert found is not None
        return found

    def _renamed(self, harness: str, found: Found, at: os.stat_result) -> Source | None:
        """The source that this new file is, when its bytes are those of one whose file is gone."""
        for source in self.absent(harness):
            if found.reader != "lines":
                if parts.same_file(self._ledger, found, at, source.at):
                    return source
                continue
            if source.at.offset == 0 or (found.path.suffix != PACKED and source.at.offset > at.st_size):
                continue
            with opened(found.path) as content:
                if resume(content, source.at, self._ledger, whole=True) is not None:
                    return source
        return None

    def absent(self, harness: str) -> list[Source]:
        """Sources of a harness whose file is not where it was; found once a look, since most looks need none."""
        if harness not in self._missing:
            here = {sources.path_key(self._ledger, harness, log_name(path)) for path in self._there(harness)}
            self._missing[harness] = [s for s in sources.every(self._ledger, harness) if s.path_key not in here]
        return self._missing[harness]

    def trouble(self, harness: str, found: Found, reason: str) -> None:
        """Note why a source could not be read."""
        key = sources.path_key(self._ledger, harness, log_name(found.path))
        with self._ledger.transaction():
            source = sources.find(self._ledger, key)
            if source is None:
                source = sources.add(self._ledger, harness, key, self._redactor.redact(str(found.path)), self._clock())
            sources.set_problem(self._ledger, source.row, self._redactor.redact(reason))
            if found.reader != "lines":
                # It is tried again at the next look, whether its stats change or not.
                sources.set_seen(self._ledger, source.row, Checkpoint())
        self._known[harness, log_name(found.path)] = self.must_find(key)
