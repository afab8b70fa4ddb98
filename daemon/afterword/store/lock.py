"""The writer's lock: one process writes, held by the kernel, so it cannot outlive its owner."""

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from afterword.domain.errors import Busy
from afterword.store.files import private_folder

_TRIES = 5
_PAUSE_S = 0.04
"""Who only asks for the holder has the lock for an instant: that must not look like a writer."""


@contextlib.contextmanager
def writer_lock(state: Path, command: str) -> Iterator[None]:
    """Hold the lock of this state folder while the block runs.

    Raises:
        Busy: another process holds it; the message names its pid and command.
    """
    private_folder(state)
    fd = os.open(state / "writer.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _take(fd)
        os.ftruncate(fd, 0)
        os.pwrite(fd, json.dumps({"pid": os.getpid(), "command": command}).encode(), 0)
        yield
    finally:
        os.close(fd)


def _take(fd: int) -> None:
    for left in reversed(range(_TRIES)):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as err:
            if not left:
                raise Busy(
                    f"another afterword is writing ({_owner(fd)})", "wait for it, or stop it with `afterword stop`"
                ) from err
            time.sleep(_PAUSE_S)
        else:
            return


def holder(state: Path) -> dict[str, object] | None:
    """Who holds the lock, or None when nobody does. Never waits, never keeps it."""
    try:
        fd = os.open(state / "writer.lock", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _read(fd)
    finally:
        os.close(fd)
    return None


def _read(fd: int) -> dict[str, object]:
    try:
        said = json.loads(os.pread(fd, 4096, 0))
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _owner(fd: int) -> str:
    said = _read(fd)
    return f"pid {said.get('pid', 'unknown')}, `afterword {said.get('command', '?')}`"
