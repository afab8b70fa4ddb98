"""What a worker has made and the writer has not fetched yet: bounded, so that memory is, whatever the history."""

import os
import threading
from collections import deque

_HELD_BYTES = 48 << 20


class Outbox:
    """Sends frames over a pipe by a thread of its own, while the next ones are made.

    Who reads the pipe decides how fast it goes; when nobody reads it any more, the process ends.
    """

    def __init__(self, fd: int, held_bytes: int = _HELD_BYTES) -> None:
        self._fd = fd
        self._held_bytes = held_bytes
        self._frames: deque[bytes] = deque()
        self._size = 0
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._send, name="outbox", daemon=True)
        self._thread.start()

    def put(self, frame: bytes) -> None:
        """Hand a frame over; waits while too much is held already."""
        with self._changed:
            self._changed.wait_for(lambda: not self._frames or self._size + len(frame) <= self._held_bytes)
            self._frames.append(frame)
            self._size += len(frame)
            self._changed.notify_all()

    def close(self) -> None:
        """Send what is held, then close the pipe."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()
        os.close(self._fd)

    def _send(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._frames or self._closed)
                if not self._frames:
                    return
                frame = self._frames[0]
            rest = memoryview(frame)
            try:
                while rest:
                    rest = rest[os.write(self._fd, rest) :]
            except OSError:
                os._exit(1)  # the writer is gone
            with self._changed:
                self._frames.popleft()
                self._size -= len(frame)
                self._changed.notify_all()
