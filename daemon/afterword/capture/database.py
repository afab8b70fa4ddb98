"""Opens a database of somebody else to read it: never a write to it, never a file beside it.

SQLite's own read-only mode makes a `-shm` file beside a database whose write-ahead log (`-wal`) has none, and its
immutable mode sees nothing that is still in that log. So what lies there decides: both files → in place; no log, or an
empty one → immutable; a log alone (its writer is gone, or keeps the index in memory) → a private copy of both.
"""

import contextlib
import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from afterword.domain.events import Database, Unreadable

BUSY_S = 5.0
PARTIAL = "the newest rows are in a write-ahead log too big to be copied; open the agent once"
CHANGED = "it changed while it was read; it is read again"

_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  # a fresh 0700 folder is made in it
_PREFIX = "afterword-copy-"
_SPARE = 16 << 20
_TRIES = 3
_INDEX_HEADER_BYTES = 48
_HOT_JOURNAL = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"

Stat = tuple[int, int, int]
"""(inode, size, mtime in ns) of a file; zeros when it is not there."""


@dataclass(frozen=True)
class Reach:
    """How much is copied at most (database and log together), and where to, when the shared memory has no room."""

    copy_max_bytes: int
    state: Path


@dataclass(frozen=True)
class Lease:
    """An open database. `stands` says whether what was read until now is what the file holds: asked before a commit."""

    database: Database
    stands: Callable[[], bool]


def beside(path: Path) -> Path:
    """The write-ahead log of a database; it lies where the file itself does, not where a link to it is."""
    return _with(Path(os.path.realpath(path)), "-wal")


def signs(path: Path) -> list[str]:
    """What changes, beside the file's own stats, when something is written to a database.

    A transaction's rows are in the log a moment before they count: what makes them count is the header of the index,
    which is written through memory and changes no stats.
    """
    log = beside(path)
    try:
        with log.with_name(log.name.removesuffix("-wal") + "-shm").open("rb") as index:
            header = index.read(_INDEX_HEADER_BYTES).hex()
    except OSError:
        header = ""
    return [" ".join(map(str, _stat(log))), header]


@contextlib.contextmanager
def opened(path: Path, reach: Reach) -> Iterator[Lease | None]:
    """The database, to be read; None when it is an empty file.

    Raises:
        OSError: it cannot be opened, is no regular file, kept changing, or its writer keeps it locked.
        Unreadable: it is no SQLite database, or damaged.
    """
    real = Path(os.path.realpath(path))
    found = real.stat()
    if not stat.S_ISREG(found.st_mode):
        raise OSError("not a regular file")
    if not found.st_size:
        yield None
        return
    with contextlib.ExitStack() as stack:
        lease = stack.enter_context(_lease(path, real, reach))
        with said_plainly():
            # The first look opens the files; from here on nothing but these is read.
            lease.database.db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        yield lease


@contextlib.contextmanager
def said_plainly() -> Iterator[None]:
    """SQLite's errors about a database that is not ours, as a sentence for the person.

    Raises:
        OSError, Unreadable: in the place of sqlite3.Error.
    """
    try:
        yield
    except sqlite3.Error as err:
        code = (getattr(err, "sqlite_errorcode", None) or 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise OSError("its writer keeps it locked") from err
        raise Unreadable(_SAID.get(code, "SQLite cannot read it")) from err


_SAID = {
    sqlite3.SQLITE_NOTADB: "it is no SQLite database, or encrypted",
    sqlite3.SQLITE_CORRUPT: "the database is damaged",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_PERM: "permission denied",
    sqlite3.SQLITE_IOERR: "an input or output error",
    sqlite3.SQLITE_FULL: "no room for a copy",
}


def _lease(path: Path, real: Path, reach: Reach) -> "contextlib.AbstractContextManager[Lease]":
    log, index = _with(real, "-wal"), _with(real, "-shm")
    size = _stat(log)[1]
    if size and index.exists():
        return _in_place(path, real)
    if not size:
        return _immutable(path, real, partial=False)
    if _stat(real)[1] + size > reach.copy_max_bytes:
        return _immutable(path, real, partial=True)
    return _copied(path, real, reach)


@contextlib.contextmanager
def _in_place(path: Path, real: Path) -> Iterator[Lease]:
    with contextlib.closing(_connect(real, "mode=ro")) as db:
        yield Lease(Database(path, db), lambda: True)


@contextlib.contextmanager
def _immutable(path: Path, real: Path, *, partial: bool) -> Iterator[Lease]:
    if _half_written(real):
        raise OSError("its writer is in the middle of a change, or stopped there; if this stays, open the agent once")
    before = _stat(real), (0, 0, 0) if partial else _stat(_with(real, "-wal"))
    with contextlib.closing(_connect(real, "immutable=1")) as db:
        yield Lease(
            Database(path, db, partial),
            lambda: before == (_stat(real), (0, 0, 0) if partial else _stat(_with(real, "-wal"))),
        )


def _half_written(real: Path) -> bool:
    """Whether a rollback journal says that the file is in the middle of a transaction."""
    try:
        with _with(real, "-journal").open("rb") as journal:
            return journal.read(8) == _HOT_JOURNAL
    except OSError:
        return False


@contextlib.contextmanager
def _copied(path: Path, real: Path, reach: Reach) -> Iterator[Lease]:
    log = _with(real, "-wal")
    for _ in range(_TRIES):
        before = _stat(real), _stat(log)
        folder = _fresh_folder(before[0][1] + before[1][1], reach.state)
        try:
            copy = folder / "copy.db"
            with contextlib.suppress(FileNotFoundError):  # the log may be gone now: then the stats differ
                shutil.copyfile(real, copy)
                shutil.copyfile(log, _with(copy, "-wal"))
            if before != (_stat(real), _stat(log)):
                continue
            with contextlib.closing(_connect(copy, "mode=rw")) as db:
                with said_plainly():
                    db.execute("SELECT count(*) FROM sqlite_master").fetchone()
                    db.execute("PRAGMA query_only = ON")
                # Open files are read on; nothing raw stays on the disk however this process ends.
                _clear(folder)
                yield Lease(Database(path, db), lambda: True)
                return
        finally:
            _clear(folder)
    raise OSError(CHANGED)


def _fresh_folder(size: int, state: Path) -> Path:
    """A new folder that only this user can look into, where there is room for the copy."""
    for parent in (_SHARED_MEMORY, state):
        _clear_left_behind(parent)
    room = _SHARED_MEMORY.is_dir() and os.access(_SHARED_MEMORY, os.W_OK)
    if room and shutil.disk_usage(_SHARED_MEMORY).free < 2 * size + _SPARE:
        room = False
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=_SHARED_MEMORY if room else state))


def _clear_left_behind(parent: Path) -> None:
    """Take away what a killed process left: it had no time to unlink its copy."""
    for folder in parent.glob(f"{_PREFIX}*"):
        pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
        with contextlib.suppress(OSError):
            if pid.isdigit() and folder.lstat().st_uid == os.getuid() and not _alive(int(pid)):
                _clear(folder)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _clear(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    with said_plainly():
        db = sqlite3.connect(f"{path.as_uri()}?{mode}", uri=True, timeout=BUSY_S, isolation_level=None)
        # What is sorted is raw text: it must not go into a temporary file.
        db.execute("PRAGMA temp_store = MEMORY")
    db.text_factory = _text
    return db


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _with(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _stat(path: Path) -> Stat:
    try:
        found = path.stat()
    except OSError:
        return 0, 0, 0
    return found.st_ino, found.st_size, found.st_mtime_ns
