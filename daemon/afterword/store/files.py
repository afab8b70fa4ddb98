"""Files of ours: private folders, whole replacement, and names from outside kept inside a root."""

import contextlib
import glob
import os
from pathlib import Path

from afterword.domain.errors import UserError
from afterword.store import faults


def private_folder(path: Path) -> Path:
    """Make a folder only its owner can enter (0700), with its parents."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    return path


def sync_folder(path: Path) -> None:
    """Make renames and new files in this folder durable."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def replace(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replace a file whole: after a crash there is the old one or the new one, never a part.

    The mode of an existing file is kept. Symlinks are resolved first, so that the link stays a link.
    """
    path = path.resolve()
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        left.unlink(missing_ok=True)  # a kill left it; there is only one writer
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        try:
            half = len(data) // 2
            os.write(fd, data[:half])
            faults.hit("atomic.write")
            _write_all(fd, data[half:])
            with contextlib.suppress(FileNotFoundError):
                mode = path.stat().st_mode & 0o7777
            os.fchmod(fd, mode)
            faults.hit("atomic.fsync")
            os.fsync(fd)
        finally:
            os.close(fd)
        faults.hit("atomic.rename")
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def append(path: Path, data: bytes) -> None:
    """Append with one `O_APPEND` write and sync; nobody's concurrent bytes can be lost. Creates the file (0644)."""
    fresh = not path.exists()
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
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


def inside(root: Path, name: str) -> Path:
    """The path of `name` below `root`.

    Raises:
        UserError: the name would lead out of the root.
    """
    path = (root / name).resolve()
    if not path.is_relative_to(root.resolve()):
        raise UserError(f"{name!r} leads out of {root}", "use a name inside the vault")
    return path
