"""Where stores are and what lies in them: environment variables, folders, regular files only."""

import functools
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from afterword.domain.events import Found, Where

NOT_REGULAR = "not a regular file"
NOT_LISTED = "the folder cannot be listed"
SIDE_FILE_MAX = 1 << 20
"""Bytes. What a harness keeps beside its transcripts is small, or it is of no use to us."""


def overridden(where: Where, variable: str) -> list[Path]:
    """The folders our own `AFTERWORD_<variable>_ROOT` names; they replace every default."""
    return listed(where, f"AFTERWORD_{variable}_ROOT", ":")


def listed(where: Where, variable: str, separator: str = "\0") -> list[Path]:
    """The folders an environment variable names."""
    given = where.env.get(variable, "").split(separator)
    return [_expanded(where, name.strip()) for name in given if name.strip()]


def _expanded(where: Where, name: str) -> Path:
    if name == "~" or name.startswith("~/"):
        return where.home / name[2:]
    return Path(name)


def entries(folder: Path) -> list[os.DirEntry[str]]:
    """What lies in a folder, by name; nothing when it is not there.

    Raises:
        PermissionError: the folder is there but cannot be listed.
    """
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except PermissionError:
        raise
    except OSError:
        return []


def is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def oldest_first(found: list[os.DirEntry[str]]) -> list[os.DirEntry[str]]:
    """By the second of the last change, then by name: a copy comes after what it was copied from."""
    return sorted(found, key=lambda entry: (_changed_s(entry), entry.name))


def _changed_s(entry: os.DirEntry[str]) -> int:
    try:
        return int(entry.stat().st_mtime)
    except OSError:
        return 0


@functools.lru_cache(maxsize=50_000)
def _path(name: str) -> Path:
    """The path of this name, the same at every look: making and comparing paths was half of a look at all files."""
    return Path(name)


def line_log(entry: os.DirEntry[str], authority: int = 0) -> Found:
    """The file as a line log, or why it is none."""
    path = _path(entry.path)
    try:
        at = entry.stat()
    except OSError:
        return Found(path, "none", NOT_REGULAR)
    return Found(path, authority=authority, at=at) if stat.S_ISREG(at.st_mode) else Found(path, "none", NOT_REGULAR)


def side_file(path: Path, most_bytes: int = SIDE_FILE_MAX, *, cut: bool = False) -> bytes:
    """What a file beside the transcripts holds; b"" when there is none, or it cannot be read.

    Of one that is bigger than `most_bytes`, nothing, or with `cut` the beginning. Only a regular file is read: opening
    or reading another kind may never end.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return b""
    try:
        at = os.fstat(fd)
        if not stat.S_ISREG(at.st_mode) or (at.st_size > most_bytes and not cut):
            return b""
        with os.fdopen(fd, "rb", closefd=False) as file:
            return file.read(most_bytes)
    except OSError:
        return b""
    finally:
        os.close(fd)


def below(folder: Path, name: re.Pattern[str], depth: int) -> Iterator[os.DirEntry[str] | Found]:
    """Every entry at most `depth` folders down whose name matches; folders that cannot be listed as Found."""
    try:
        inside = entries(folder)
    except PermissionError:
        yield Found(folder, "none", NOT_LISTED)
        return
    for entry in inside:
        if name.fullmatch(entry.name):
            yield entry
        elif depth and is_folder(entry):
            yield from below(Path(entry.path), name, depth - 1)
