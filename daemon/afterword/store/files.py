"""Files of ours: private folders, whole replacement, and names from outside kept inside a root."""

import contextlib
import os
import re
from pathlib import Path
from typing import Final, TypeAlias

from afterword.domain.errors import UserError
from afterword.store import faults
from afterword.store.privacy import OTHERS

Stamp: TypeAlias = tuple[int, int, int]
SAVED_SINCE: Final[Stamp] = (-2, 0, 0)
"""The stamp that no file has: whoever compares with it looks at the file again."""


def private_folder(path: Path) -> Path:
    """Make a folder only its owner can enter (0700), with its parents, whatever the umask."""
    missing = []
    at = path
    while not at.exists():
        missing.append(at)
        at = at.parent
    for each in reversed(missing):
        # One by one: with `parents=True` those in between would get the modes of the day.
        with contextlib.suppress(FileExistsError):
            each.mkdir(mode=0o700)
    path.mkdir(exist_ok=True)
    return path


def sync_folder(path: Path) -> None:
    """Make renames and new files in this folder durable."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def replace(path: Path, data: bytes, mode: int = 0o600, *, keep: bool = True) -> None:
    """Replace a file whole: after a crash there is the old one or the new one, never a part.

    The mode of an existing file is kept, unless `keep` says otherwise; others get nothing of a new one. Symlinks are
    resolved first, so that the link stays a link.
    """
    path = path.resolve()
    mode &= ~OTHERS
    with contextlib.suppress(FileNotFoundError):
        mode = path.stat().st_mode & 0o7777 if keep else mode
    temporary = _beside(path, data, mode)
    try:
        faults.hit("atomic.rename")
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def create(path: Path, data: bytes, mode: int = 0o600) -> bool:
    """Make a new file whole; False when there is one already. After a crash there is all of it or nothing."""
    temporary = _beside(path, data, mode & ~OTHERS)
    try:
        faults.hit("atomic.rename")
        os.link(temporary, path)
    except FileExistsError:
        return False
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)
    return True


def swap(path: Path, old: bytes, new: bytes) -> bool:
    """Replace a file if it still holds `old`; False when somebody changed it meanwhile.

    The new one is on the disk before the old one is looked at, so that only the rename lies between the look and the
    change.
    """
    path = path.resolve()
    temporary = _beside(path, new, path.stat().st_mode & 0o7777)
    try:
        before = path.stat()
        same = path.read_bytes() == old
        after = path.stat()
        if not same or (before.st_mtime_ns, before.st_size, before.st_ino) != (
            after.st_mtime_ns,
            after.st_size,
            after.st_ino,
        ):
            return False
        faults.hit("atomic.rename")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)
    return True


def stamp(path: Path) -> Stamp:
    """What tells that a file was saved again: size in bytes, time in nanoseconds, inode."""
    at = path.stat()
    return at.st_size, at.st_mtime_ns, at.st_ino


def stamp_of(path: Path, data: bytes) -> Stamp:
    """The stamp of a file that was just written with `data`, or `SAVED_SINCE` if somebody saved it since.

    Taken before the bytes are looked at: what is saved after that has another one.
    """
    with contextlib.suppress(OSError):
        at = stamp(path)
        if path.read_bytes() == data:
            return at
    return SAVED_SINCE


def sweep_temporaries(folder: Path) -> None:
    """Remove what a kill left of `replace` and `create` in this folder. The caller is the only writer there."""
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if _TEMPORARY.fullmatch(entry.name):
                Path(entry.path).unlink(missing_ok=True)


_TEMPORARY = re.compile(r"\..+\.\d+\.afterword\.tmp")


def _beside(path: Path, data: bytes, mode: int) -> Path:
    """The data in a synced file beside `path`, whose name Obsidian and sync tools pass over."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.afterword.tmp")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        try:
            half = len(data) // 2
            os.write(fd, data[:half])
            faults.hit("atomic.write")
            _write_all(fd, data[half:])
            os.fchmod(fd, mode)
            faults.hit("atomic.fsync")
            os.fsync(fd)
        finally:
            os.close(fd)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def append(path: Path, data: bytes) -> None:
    """Append with one `O_APPEND` write and sync; nobody's concurrent bytes can be lost. Creates the file (0600)."""
    fresh = not path.exists()
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        faults.hit("note.append")
        if faults.armed("note.half"):
            half = max(1, len(data) // 2)
            os.write(fd, data[:half])
            faults.hit("note.half")
            data = data[half:]
        _write_all(fd, data)
        faults.hit("note.appended")
        os.fsync(fd)
    finally:
        os.close(fd)
    if fresh:
        sync_folder(path.parent)


_DATALESS = 0x40000000
"""macOS: the name is on the disk, the bytes are in the cloud (`SF_DATALESS`)."""


def placeholder(path: Path) -> bool:
    """Whether a cloud's client keeps only a stand-in for this file on the disk: neither missing nor to be written."""
    if path.with_name(f".{path.name}.icloud").exists():
        return True
    try:
        return bool(getattr(path.stat(), "st_flags", 0) & _DATALESS)
    except OSError:
        return False


def lies_inside(root: Path, name: str) -> bool:
    """Whether the path of `name` below `root`, with its links followed, is below `root` too."""
    return (root / name).resolve().is_relative_to(root.resolve())


def inside(root: Path, name: str) -> Path:
    """The path of `name` below `root`.

    Raises:
        UserError: the name would lead out of the root.
    """
    path = (root / name).resolve()
    if not path.is_relative_to(root.resolve()):
        raise UserError(f"{name!r} leads out of {root}", "use a name inside the vault")
    return path
