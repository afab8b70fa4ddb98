"""The spool: one small file for each event a hook saw, until the daemon has acted on it.

A file goes only when what it asks for is done, so a kill in between means that it is done again.
"""

import contextlib
import os
import stat
from pathlib import Path
from typing import Final, Literal

import msgspec

FOLDER: Final = "spool"
_FILE_MAX_BYTES: Final = 64 << 10
_STALE_US: Final = 60_000_000


class Spooled(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a hook saw. Raw words of an agent: to look things up with, never to be stored as they are."""

    event: Literal["session-start", "session-end", "pre-compact"]
    session: str
    transcript: str
    cwd: str


class Spool(msgspec.Struct, frozen=True):
    """One look into the folder: events by the name of their file, oldest first, and files that hold none."""

    events: dict[str, Spooled]
    malformed: tuple[str, ...]


def names(state: Path) -> set[str]:
    """The names of the files that wait. One cheap look, for every turn of the loop."""
    try:
        return {name for name in os.listdir(state / FOLDER) if not name.startswith(".")}
    except OSError:
        return set()


def read(state: Path, now_us: int) -> Spool:
    """What waits. Halves of files that a hook left a minute ago or earlier count as malformed."""
    folder = state / FOLDER
    events: dict[str, Spooled] = {}
    malformed = []
    try:
        found = sorted(os.listdir(folder))
    except OSError:
        found = []
    for name in found:
        if name.startswith("."):
            if _age_us(folder / name, now_us) > _STALE_US:
                malformed.append(name)
            continue
        event = _event(folder / name)
        if event is None:
            malformed.append(name)
        else:
            events[name] = event
    return Spool(events, tuple(malformed))


def remove(state: Path, done: "list[str] | tuple[str, ...]") -> None:
    """Take away files that were acted on, or hold nothing."""
    for name in done:
        with contextlib.suppress(OSError):
            (state / FOLDER / name).unlink()


def _event(path: Path) -> Spooled | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        at = os.fstat(fd)
        if not stat.S_ISREG(at.st_mode) or at.st_size > _FILE_MAX_BYTES:
            return None
        return msgspec.json.decode(os.read(fd, _FILE_MAX_BYTES), type=Spooled)
    except (OSError, msgspec.MsgspecError, UnicodeError):
        return None
    finally:
        os.close(fd)


def _age_us(path: Path, now_us: int) -> int:
    try:
        return now_us - path.lstat().st_mtime_ns // 1000
    except OSError:
        return 0
