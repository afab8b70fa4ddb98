"""What callers at the door have the loop's thread do at once and wait for: steps that write, and are no jobs."""

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from afterword.app.program import Program
from afterword.domain.errors import Busy

_WAIT_S = 600.0


class _Errand:
    def __init__(self, work: Callable[[Program], dict[str, Any]]) -> None:
        self.work = work
        self.done = threading.Event()
        self.result: dict[str, Any] = {}
        self.error: Exception | None = None


class Hand:
    """A queue between the door's threads and the loop's. What breaks is the caller's error, never the loop's."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._waiting: deque[_Errand] = deque()
        self._closed = False

    def do(self, work: Callable[[Program], dict[str, Any]]) -> dict[str, Any]:
        """Have it done by the loop's thread, and wait.

        Raises:
            Busy: the daemon ends, or is at something that takes too long.
            Exception: what the work raised.
        """
        errand = _Errand(work)
        self._waiting.append(errand)
        if self._closed:
            self.close()
        self._wake()
        if not errand.done.wait(_WAIT_S):
            raise Busy("the daemon is at something else", "try again later")
        if errand.error is not None:
            raise errand.error
        return errand.result

    def turn(self, program: Program) -> bool:
        """Do what waits; whether there was anything."""
        worked = False
        while self._waiting:
            errand = self._waiting.popleft()
            worked = True
            try:
                errand.result = errand.work(program)
            except Exception as err:  # noqa: BLE001  # the caller gets it
                errand.error = err
            errand.done.set()
        return worked

    def close(self) -> None:
        """Nothing is done any more: whoever waits is told."""
        self._closed = True
        while self._waiting:
            errand = self._waiting.popleft()
            errand.error = Busy("the daemon ends", "try again")
            errand.done.set()
