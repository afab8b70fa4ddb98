"""Chroma as the index's writer has it: looked at when its files are not as they were left, opened when it is needed.

That takes seconds. An owner that cannot wait has it done by another thread.
"""

import contextlib
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TypeVar

import msgspec

from afterword.index import keeper
from afterword.index.keeper import Keeper
from afterword.index.manifest import Manifest
from afterword.index.place import Place

_T = TypeVar("_T")

_log = logging.getLogger(__name__)

_CLOSE_WAIT_S = 2.0
_SETTLE_S = 20.0

# How Chroma was left: what its files looked like when it was closed, or one of these.
_OPEN = "open"
_SUSPECT = "it failed"
_OPEN_AGAIN = "open, after it failed"
_CONDEMNED = "it failed twice"
_AFTER_FAILURE = {_OPEN: _SUSPECT, _OPEN_AGAIN: _CONDEMNED}


class Opened(msgspec.Struct, frozen=True):
    """An open store: `damaged` when what was there is put aside, `ids` of all that is in the collection."""

    keeper: Keeper
    damaged: bool
    ids: frozenset[str]


class Store:
    """Its owner holds the index's lock. Used from one thread; those that open and work touch nothing of it."""

    def __init__(self, folder: Path, lock_fd: int, manifest: Manifest, place: Place | None = None) -> None:
        self._folder = folder
        self._lock_fd = lock_fd
        self._manifest = manifest
        self._place = place
        self._opening: Future[Opened] | None = None
        self._work: Future[None] | None = None
        self._compared = False
        """Whether this process has seen what is on the server."""
        self.keeper: Keeper | None = None
        """The open store."""

    @property
    def strange(self) -> bool:
        """Whether it is not open and not as it was left, so that its ids must be compared. Nothing tells that of a
        server, so it is looked at once."""
        if self._opening is not None:
            return True
        if self.keeper is not None:
            return False
        return not self._compared if self._place else self._state() != self._manifest.meta("chroma")

    def open(self, name: str, embedder: str, wake: Callable[[], None] | None) -> frozenset[str] | None:
        """Have it open: every id in the collection `name`; None while another thread opens it, which calls `wake` at
        the end. Without `wake` it waits.

        Raises:
            StoreFailed: it cannot be opened; the next try looks at it first.
        """
        if self._opening is None:
            self._opening = self._begin(name, embedder, wake)
        if wake is not None and not self._opening.done():
            return None
        opening, self._opening = self._opening, None
        found = opening.result()
        self.keeper = found.keeper
        self._compared = True
        if found.damaged:
            _log.warning("the vector store was damaged, it is put aside and made again")
        return found.ids

    def _begin(self, name: str, embedder: str, wake: Callable[[], None] | None) -> "Future[Opened]":
        left = self._manifest.meta("chroma")
        found = self._state()
        if found and left == _CONDEMNED and not self._place:
            _log.warning("the vector store failed twice, it is put aside and made again")
            keeper.quarantine(self._folder)
            found = ""
        self._manifest.set_meta("chroma", _OPEN_AGAIN if left == _SUSPECT else _OPEN)
        check = bool(found) and found != left

        def work() -> Opened:
            held, damaged = keeper.opened(self._folder, self._lock_fd, check=check, place=self._place)
            try:
                return Opened(held, damaged, frozenset(held.ids(name, embedder)))
            except BaseException:
                held.close()
                raise

        return _beside(work, wake or _nobody)

    def begin(self, work: Callable[[Keeper], None], wake: Callable[[], None] | None) -> None:
        """Do something with the open store, in another thread, which calls `wake` at the end. Without `wake` it is
        done when this returns; what fails is raised by `ended`."""
        held = self.keeper
        assert held is not None
        assert self._work is None
        self._work = _beside(lambda: work(held), wake or _nobody)
        if wake is None:
            self._work.exception()

    def ended(self) -> bool:
        """Whether what was begun is done.

        Raises:
            StoreFailed: it was not: the store is closed, and looked at when it is opened again.
        """
        if self._work is None:
            return True
        if not self._work.done():
            return False
        work, self._work = self._work, None
        try:
            work.result()
        except keeper.StoreFailed:
            self.failed()
            raise
        return True

    def settle(self) -> bool:
        """Wait for what was begun, a while, and say whether it is done; else it is compared when it is opened again.

        Raises:
            StoreFailed: it was not done.
        """
        if self._work is not None:
            with contextlib.suppress(TimeoutError):
                self._work.exception(_SETTLE_S)
        return self.ended()

    def failed(self) -> None:
        """It refused or its process died: close it, and look at it before it is used again."""
        self._let_go()
        self._compared = False
        self._manifest.set_meta("chroma", _AFTER_FAILURE.get(self._manifest.meta("chroma"), _SUSPECT))

    def close(self) -> None:
        """Close it, and note how it is left."""
        if self._let_go():
            self._manifest.set_meta("chroma", self._state())

    def remove(self) -> None:
        """Delete it with every byte it kept; on a server our collections, whose bytes its own clean-up removes."""
        self._let_go()
        keeper.remove(self._folder)
        if self._place:
            self._compared = False
            clear(self._folder, self._place)

    def sweep_folder(self) -> None:
        """Where a server is used: delete what was kept in the folder before."""
        if self._place:
            keeper.remove(self._folder)

    def _state(self) -> str:
        return f"on {self._place.url}" if self._place else keeper.state_of(self._folder)

    def _let_go(self) -> bool:
        opening, self._opening = self._opening, None
        if opening is not None:
            try:
                self.keeper = opening.result(_CLOSE_WAIT_S).keeper
            except TimeoutError:
                opening.add_done_callback(_close)
            except (keeper.StoreFailed, OSError):
                pass  # it was not opened
        held, self.keeper = self.keeper, None
        work, self._work = self._work, None
        if held is None:
            return False
        if work is not None and not work.done():
            held.end()
            work.exception()
        held.close()
        return work is None  # what nobody took note of is compared again


def clear(folder: Path, place: Place) -> None:
    """Take all our collections from a server.

    Raises:
        StoreFailed: it does not answer, or refuses.
    """
    held = Keeper(folder, None, place)
    try:
        held.only()
    finally:
        held.close()


def _beside(work: Callable[[], _T], wake: Callable[[], None]) -> "Future[_T]":
    """Work in another thread, and then `wake`; what it raises is raised where the result is taken."""
    done: Future[_T] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as err:  # noqa: BLE001  # see above
            done.set_exception(err)
        wake()

    threading.Thread(target=run, name="chroma", daemon=True).start()
    return done


def _close(opening: "Future[Opened]") -> None:
    """Close what nobody waits for any more."""
    if opening.exception() is None:
        opening.result().keeper.close()


def _nobody() -> None:
    pass
