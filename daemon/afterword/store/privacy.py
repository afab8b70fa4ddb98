"""What is ours is for its owner alone: finds files and folders that others may read, and mends them."""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

OTHERS = 0o077


def private_file(path: Path) -> Path:
    """Make an empty file only its owner can read, if there is none: what opens it next (SQLite) cannot make it with
    the modes of the day, and gives the files beside it the same."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    return path


def loose(folder: Path) -> list[Path]:
    """The files and folders at and below `folder` that others may read, write or enter. Links are not followed, what
    belongs to somebody else is passed over."""
    return [path for path in _below(folder) if _is_loose(path)]


def mend(paths: list[Path]) -> int:
    """Take away what others may do with these; how many that worked for. Never makes anything readable."""
    count = 0
    for path in paths:
        with contextlib.suppress(OSError):
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                os.fchmod(fd, stat.S_IMODE(os.fstat(fd).st_mode) & ~OTHERS)
            finally:
                os.close(fd)
            count += 1
    return count


def _below(folder: Path) -> Iterator[Path]:
    yield folder
    for parent, folders, files in os.walk(folder):
        yield from (Path(parent, name) for name in (*folders, *files))


def _is_loose(path: Path) -> bool:
    try:
        at = path.lstat()
    except OSError:
        return False
    kind = stat.S_ISREG(at.st_mode) or stat.S_ISDIR(at.st_mode) or stat.S_ISSOCK(at.st_mode)
    return kind and bool(at.st_mode & OTHERS) and at.st_uid == os.getuid()
