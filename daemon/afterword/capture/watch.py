"""File events of the stores, as hints. The sweep is the truth; this only says where to look at once."""

import contextlib
import heapq
import logging
import os
import queue
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from afterword.capture.stores import StoreView
from afterword.domain.events import Found

if TYPE_CHECKING:
    from watchdog.observers.api import BaseObserver

_log = logging.getLogger(__name__)


_TREES = 4
_FOLDERS = 16
"""Of documents that lie among many folders, only the last few are watched, and of their folders the last: a tree of
10,000 folders would take all the watches there are. What happens elsewhere in it the sweep sees."""


class Watcher:
    """Watches the folders that hold sources, and says which roots it cannot watch.

    watchdog needs an event filter: its default mask livelocks after one overflow of the kernel's queue. At the
    kernel's limit of watches it silently sees only a part, so the watches are counted against the folders.
    """

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Path | None] = queue.SimpleQueue()
        self._observer: BaseObserver | None = None
        self._watched: dict[Path, bool] = {}
        self.modes: dict[Path, str] = {}
        """Root → "watched", or "polled: " and why."""

    def arm(self, views: list[StoreView], beside: Sequence[Path] = ()) -> bool:
        """Watch what is there now, and the folders `beside` the stores; folders watched before stay watched.

        Returns:
            Whether a folder is watched that was not before: what happened in it since the look was not seen.
        """
        before = len(self._watched)
        if self._observer is None or not self._alive():
            self._restart()
            before = 0
        assert self._observer is not None
        for view in views:
            if not view.reads:
                continue
            for root in view.present:
                self.modes[root] = self._arm_root(root, view)
        for folder in beside:
            if folder not in self._watched and folder.is_dir():
                with contextlib.suppress(OSError):  # without it, what comes there waits for the next turn
                    self._schedule(folder, recursive=False)
        return len(self._watched) > before

    @property
    def folders(self) -> list[Path]:
        """What is watched; some of it with everything below."""
        return list(self._watched)

    def _restart(self) -> None:
        from watchdog.observers import Observer  # noqa: PLC0415  # 60 ms that only the daemon pays

        self.stop()
        self._watched.clear()
        self._observer = Observer()
        self._observer.start()

    def _arm_root(self, root: Path, view: StoreView) -> str:
        try:
            folders = {root if root.is_dir() else root.parent: False}
        except OSError as err:
            return f"polled: {err.strerror or err}"
        trees = []
        for found in view.found:
            if found.path.parent in view.present:
                continue  # watched as a root of its own; what else lies around it is nobody's store
            if found.beside and found.reader == "document":
                trees.append(found)
            elif found.path.is_relative_to(root) and len(parts := found.path.relative_to(root).parts) > 1:
                folders[root / parts[0]] = True
        for found in heapq.nlargest(_TREES, trees, key=_changed_s):
            near = (found.path.parent, found.beside[0], *found.beside[-_FOLDERS:])
            folders.update(dict.fromkeys([*near, *(folder.parent for folder in near[1:])], False))
        try:
            for folder, recursive in folders.items():
                if folder not in self._watched and folder.is_dir():
                    self._schedule(folder, recursive=recursive)
        except OSError as err:
            return f"polled: {err.strerror or err}"
        seen, wanted = self._counts()
        return "watched" if seen is None or seen >= wanted else f"polled: the kernel watches {seen} of {wanted} folders"

    def _schedule(self, folder: Path, *, recursive: bool) -> None:
        from watchdog.events import (  # noqa: PLC0415
            DirCreatedEvent,
            FileCreatedEvent,
            FileModifiedEvent,
            FileMovedEvent,
        )

        assert self._observer is not None
        wanted: list[type[Any]] = [FileModifiedEvent, FileCreatedEvent, FileMovedEvent, DirCreatedEvent]
        self._observer.schedule(
            _Handler(self._queue),  # type: ignore[arg-type]  # all that watchdog calls is `dispatch`
            str(folder),
            recursive=recursive,
            event_filter=wanted,
        )
        self._watched[folder] = recursive

    def _counts(self) -> tuple[int | None, int]:
        """(watches the kernel holds for us, folders that should have one); None where it cannot be told."""
        wanted = 0
        for folder, recursive in self._watched.items():
            wanted += 1 + (sum(len(names) for _, names, _ in os.walk(folder)) if recursive else 0)
        seen = 0
        try:
            for entry in os.scandir("/proc/self/fdinfo"):
                with open(entry.path, encoding="ascii", errors="replace") as info:
                    seen += sum(line.startswith("inotify wd:") for line in info)
        except OSError:
            return None, wanted
        return seen, wanted

    def _alive(self) -> bool:
        """Whether the observer and every emitter thread still run; one may die without a word."""
        observer = self._observer
        return observer is not None and observer.is_alive() and all(emitter.is_alive() for emitter in observer.emitters)

    def take(self, timeout_s: float) -> list[Path]:
        """The paths that changed, each once; waits up to `timeout_s` for the first."""
        found: dict[Path, None] = {}
        try:
            first = self._queue.get(timeout=max(0.0, timeout_s))
            while True:
                if first is not None:
                    found[first] = None
                first = self._queue.get_nowait()
        except queue.Empty:
            return list(found)

    def wake(self) -> None:
        """Make `take` return now; safe in a signal handler."""
        self._queue.put(None)

    def stop(self) -> None:
        if self._observer is not None:
            self._observer.stop()
            self._observer.join(timeout=2)
            self._observer = None


def _changed_s(found: Found) -> float:
    try:
        return found.path.stat().st_mtime
    except OSError:
        return 0.0


class _Handler:
    """What watchdog calls in its own threads: only a queue is touched here."""

    def __init__(self, into: "queue.SimpleQueue[Path | None]") -> None:
        self._into = into

    def dispatch(self, event: Any) -> None:
        for name in (event.src_path, event.dest_path):
            if name:
                self._into.put(Path(os.fsdecode(name)))
