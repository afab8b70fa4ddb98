"""Chroma as the index's writer has it: looked at when its files are not as they were left, opened when it is needed.

That takes seconds. An owner that cannot wait has it done by another thread.
"""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

from afterword.index import keeper
from afterword.index.keeper import Keeper
from afterword.index.manifest import Manifest

_log = logging.getLogger(__name__)

_CLOSE_WAIT_S = 2.0

# How Chroma was left: what its files looked like when it was closed, or one of these.
_OPEN = "open"
_SUSPECT = "it failed"
_OPEN_AGAIN = "open, after it failed"
_CONDEMNED = "it failed twice"
_AFTER_FAILURE = {_OPEN: _SUSPECT, _OPEN_AGAIN: _CONDEMNED}


class Store:
    """Its owner holds the index's lock. Used from one thread; the one that opens touches nothing of it."""

    def __init__(self, folder: Path, lock_fd: int, manifest: Manifest) -> None:
        self._folder = folder
        self._lock_fd = lock_fd
        self._manifest = manifest
        self._opening: Future[tuple[Keeper, bool]] | None = None
        self.keeper: Keeper | None = None
        """The open store."""

    @property
    def strange(self) -> bool:
        """Whether it is not open and not as it was left, so that its ids must be compared."""
        return self._opening is not None or (
            self.keeper is None and keeper.state_of(self._folder) != self._manifest.meta("chroma")
        )

    def open(self, wake: Callable[[], None] | None) -> Keeper | None:
        """The open store; None while another thread opens it, which calls `wake` at the end. Without `wake` it waits.

        Raises:
            StoreFailed: it cannot be opened; the next try looks at it first.
        """
        if self.keeper is None:
            if self._opening is None:
                self._opening = self._begin(wake)
            if wake is not None and not self._opening.done():
                return None
            opening, self._opening = self._opening, None
            self.keeper, damaged = opening.result()
            if damaged:
                _log.warning("the vector store was damaged, it is put aside and made again")
        return self.keeper

    def _begin(self, wake: Callable[[], None] | None) -> "Future[tuple[Keeper, bool]]":
        left = self._manifest.meta("chroma")
        found = keeper.state_of(self._folder)
        if found and left == _CONDEMNED:
            _log.warning("the vector store failed twice, it is put aside and made again")
            keeper.quarantine(self._folder)
            found = ""
        self._manifest.set_meta("chroma", _OPEN_AGAIN if left == _SUSPECT else _OPEN)
        opening: Future[tuple[Keeper, bool]] = Future()
        check = bool(found) and found != left
        threading.Thread(
            target=_open, args=(opening, self._folder, self._lock_fd, check, wake or _nobody), daemon=True
        ).start()
        return opening

    def failed(self) -> None:
        """It refused or its process died: close it, and look at it before it is used again."""
        self._let_go()
        self._manifest.set_meta("chroma", _AFTER_FAILURE[self._manifest.meta("chroma")])

    def close(self) -> None:
        """Close it, and note how it is left."""
        if self._let_go():
            self._manifest.set_meta("chroma", keeper.state_of(self._folder))

    def remove(self) -> None:
        """Delete it with every byte it kept."""
        self._let_go()
        keeper.remove(self._folder)

    def _let_go(self) -> bool:
        opening, self._opening = self._opening, None
        if opening is not None:
            try:
                self.keeper, _ = opening.result(_CLOSE_WAIT_S)
            except TimeoutError:
                opening.add_done_callback(_close)
            except (keeper.StoreFailed, OSError):
                pass  # it was not opened
        held, self.keeper = self.keeper, None
        if held is not None:
            held.close()
        return held is not None


def _close(opening: "Future[tuple[Keeper, bool]]") -> None:
    """Close what nobody waits for any more."""
    if opening.exception() is None:
        opening.result()[0].close()


def _nobody() -> None:
    pass


def _open(
    opening: "Future[tuple[Keeper, bool]]", folder: Path, lock_fd: int, check: bool, wake: Callable[[], None]
) -> None:
    try:
        opening.set_result(keeper.opened(folder, lock_fd, check=check))
    except Exception as err:  # noqa: BLE001  # it is raised where the result is taken
        opening.set_exception(err)
    wake()
