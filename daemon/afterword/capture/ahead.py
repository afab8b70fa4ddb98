"""Workers that read ahead where there is much that nobody has read yet: whether, which files, and what first."""

import contextlib
import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from afterword.capture.exclusion import Exclusions
from afterword.capture.gate import Gate
from afterword.domain.clock import Clock
from afterword.domain.events import Found
from afterword.redact.redactor import Redactor
from afterword.store.ledger import tombstones
from afterword.store.ledger.ledger import Ledger

if TYPE_CHECKING:
    from afterword.capture.cold.feed import Feed
    from afterword.capture.cold.orders import Task

_log = logging.getLogger(__name__)
Fresh: TypeAlias = Sequence[tuple[str, Found]]
"""(harness, file) of logs that nobody has read yet."""


class Ahead:
    """The first reading's helpers. `jobs` of them at most, from `jobs_from` bytes on; `preview`: the state folder, and
    from how many bytes on what was said is looked through first."""

    def __init__(
        self,
        ledger: Ledger,
        redactor: Redactor,
        clock: Clock,
        gate: Gate,
        exclusions: Exclusions,
        quiet_us: int,
        jobs: int,
        jobs_from: int,
        preview: tuple[Path, int] | None,
    ) -> None:
        self._ledger = ledger
        self._redactor = redactor
        self._clock = clock
        self._gate = gate
        self._exclusions = exclusions
        self._quiet_us = quiet_us
        self._jobs = jobs
        self._jobs_from = jobs_from
        self._preview = preview

    @contextlib.contextmanager
    def feeding(
        self,
        fresh: Fresh,
        size: int,
        stop: Callable[[], bool],
        on_large: Callable[[], None],
        on_preview: Callable[[int, int], None],
    ) -> Iterator["Feed | None"]:
        """Have workers read ahead, while the block runs, if `size` bytes are worth it; None where they are not."""
        if self._jobs < 2 or not fresh or size < self._jobs_from:
            yield None
            return
        from afterword.capture.cold.feed import Feed  # noqa: PLC0415  # what only looks at stores starts no process
        from afterword.capture.cold.orders import Orders, Task  # noqa: PLC0415

        on_large()
        previewed = self._previewed(fresh, size)
        orders = Orders(
            self._ledger.hash_key,
            *self._redactor.rules,
            quiet_before_us=self._clock() - self._quiet_us,
            tasks=[Task(harness, bytes(found.path)) for harness, found in fresh],
        )
        feed: Feed | None = None
        try:
            feed = Feed(orders, self._jobs, self._redactor, stop, previewed)
        except OSError as err:
            _log.warning("a first reading goes on without workers: %s", err)
        try:
            if feed and previewed and self._preview:
                self._look_through(feed, self._preview[0], orders.tasks, lambda n: on_preview(n, len(previewed)))
            yield feed
        finally:
            if feed:
                feed.close()

    def _previewed(self, fresh: Fresh, size: int) -> list[int]:
        """The numbers of the files that are looked through before any is read, the newest first: where there is much,
        and nothing of it is left out or was forgotten."""
        harnesses = {harness for harness, _ in fresh}
        if (
            self._preview is None
            or size < self._preview[1]
            or tombstones.count(self._ledger)
            or any(map(self._gate.knows_any_out, harnesses))
        ):
            return []
        times = {}
        for number, (_, found) in enumerate(fresh):
            with contextlib.suppress(OSError):  # it went away just now
                times[number] = found.path.stat().st_mtime_ns
        return sorted(times, key=lambda number: -times[number])

    def _look_through(self, feed: "Feed", state: Path, tasks: "list[Task]", told: Callable[[int], None]) -> None:
        """Have what was said found before it is read. That is a help, no more: where it breaks, as on a full disk, the
        reading goes on without."""
        from afterword.capture.cold.previewing import Previewing  # noqa: PLC0415
        from afterword.store import preview  # noqa: PLC0415

        try:
            Previewing(state, tasks, self._redactor, self._clock(), self._exclusions.excludes).run(feed, told)
        except (OSError, sqlite3.Error) as err:
            preview.remove(state)
            _log.warning("a first reading goes on without a preview: %s", err)
