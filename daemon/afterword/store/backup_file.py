"""A backup: a consistent copy of the ledger in one file, `*.db.zst` (or plain, `*.db`), whole or absent.

The copy is an ordinary ledger; what it is (schema, rules, origin, date, counts) stands in it as the small fact
`backup`. A compressed one ends with a skippable zstd frame that holds the SHA-256 of everything before it.
"""

import contextlib
import fcntl
import glob
import hashlib
import os
import shutil
import sqlite3
import struct
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec
import zstandard

from afterword.domain.errors import Busy, DataError, UserError
from afterword.store import faults
from afterword.store.files import private_folder, sweep_temporaries, sync_folder
from afterword.store.ledger import schema
from afterword.store.ledger.ledger import FILE

FOLDER: Final = "backups"
FACT: Final = "backup"
ASIDE: Final = f"{FILE}.before-restore"
"""The second name of the ledger that a restore replaces, until the new one could be opened."""
_LOCK: Final = "backup.lock"
_WORK: Final = ".copy-"
_PAGES: Final = 2048
_CHUNK: Final = 1 << 20
_SQLITE: Final = b"SQLite format 3\0"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_SKIPPED: Final = struct.Struct("<II32s")
_SKIPPED_MAGIC: Final = 0x184D2A5B
_UNPACKED_MAX: Final = 1 << 40

Progress = Callable[[str, int, int], None]
"""Told what is done (`copy`, `check`, `pack`, `read`), and how many bytes of how many."""


class About(msgspec.Struct, frozen=True):
    """What a backup is. `made` is RFC 3339; `rules` names the redaction rules its texts went through."""

    version: int
    schema: int
    rules: str
    origin: str
    machine: str
    made: str
    sessions: int
    items: int
    sections: int
    articles: int


class Written(msgspec.Struct, frozen=True):
    """A backup that was written and read back."""

    path: Path
    bytes: int
    sha256: str
    about: About


@contextlib.contextmanager
def workroom(state: Path) -> Iterator[Path]:
    """A private folder for the copies of one backup or restore; what killed ones left is taken away first.

    Raises:
        Busy: another backup or restore is at work.
    """
    with _alone(state):
        _sweep(state)
        with tempfile.TemporaryDirectory(dir=state, prefix=_WORK) as folder:
            yield Path(folder)


def sweep(state: Path, unfinished: Iterable[Path]) -> None:
    """Take away what killed backups and restores left, which may hold what is to be forgotten: copies in the state
    folder, and halves beside the places of `unfinished` ones. Not while one is at work. The caller holds the writer's
    lock."""
    (state / ASIDE).unlink(missing_ok=True)
    with contextlib.suppress(Busy), _alone(state):
        _sweep(state)
        for path in unfinished:
            for half in path.parent.glob(f".{glob.escape(path.name)}.*.afterword.tmp"):
                half.unlink(missing_ok=True)


def _sweep(state: Path) -> None:
    for left in state.glob(f"{_WORK}*"):
        shutil.rmtree(left, ignore_errors=True)
    sweep_temporaries(state / FOLDER)


@contextlib.contextmanager
def _alone(state: Path) -> Iterator[None]:
    private_folder(state)
    fd = os.open(state / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as err:
            raise Busy("another backup or restore is at work", "wait for it") from err
        yield
    finally:
        os.close(fd)


def copy(state: Path, room: Path, about: Callable[[sqlite3.Connection], About], tell: Progress) -> tuple[Path, About]:
    """A copy of the ledger as it stands at one moment, whoever writes meanwhile; checked, and told what it is."""
    target = _empty(room / FILE)
    with contextlib.closing(_connect(f"{(state / FILE).as_uri()}?mode=ro")) as source:
        # One snapshot for all steps: without it every write of the daemon would begin the copy again.
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM meta").fetchone()
        page: int = source.execute("PRAGMA page_size").fetchone()[0]
        with contextlib.closing(_connect(target.as_uri())) as db:

            def progress(_status: int, left: int, pages: int) -> None:
                faults.hit("backup.copy")
                tell("copy", (pages - left) * page, pages * page)

            source.backup(db, pages=_PAGES, progress=progress)
            db.execute("PRAGMA journal_mode = DELETE")
            found = about(db)
            db.execute(
                "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                (FACT, msgspec.json.encode(found).decode()),
            )
            tell("check", 0, 1)
            check(db)
    return target, found


def check(db: sqlite3.Connection) -> None:
    """Read all of an open ledger.

    Raises:
        DataError: it is damaged.
    """
    try:
        said = db.execute("PRAGMA integrity_check(1)").fetchone()[0]
    except sqlite3.DatabaseError as err:
        said = str(err)
    if said != "ok":
        raise DataError(f"the copy of the ledger is damaged: {said}", "see `afterword doctor`")


def write(plain: Path, about: About, target: Path, tell: Progress, *, replace: bool) -> Written:
    """Put a checked copy in its place, packed unless the name ends in `.db`, and read it back.

    Raises:
        UserError: there is something already, and it is not to be replaced.
        DataError: what was read back is not what was written.
    """
    temporary = target.with_name(f".{target.name}.{os.getpid()}.afterword.tmp")
    fd = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            os.fchmod(fd, 0o600)
            _pack(plain, fd, tell, packed=target.suffix != ".db")
            os.fsync(fd)
        finally:
            os.close(fd)
        faults.hit("backup.written")
        if _hash_of_plain(temporary) != _file_hash(plain):
            raise DataError(f"{target} could not be read back as it was written", "check the disk")
        sha256 = _file_hash(temporary)
        size = temporary.stat().st_size
        if replace:
            temporary.replace(target)
        else:
            try:
                os.link(temporary, target)
            except FileExistsError as err:
                raise UserError(f"{target} is there already", "name another file, or use --force") from err
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(target.parent)
    faults.hit("backup.placed")
    return Written(target, size, sha256, about)


def unpack(path: Path, room: Path, tell: Progress) -> tuple[Path, About]:
    """The ledger in a backup, as a private copy that was read to its end.

    Raises:
        DataError: it is no backup, is damaged, or was made by a newer afterword.
        OSError: it cannot be read.
    """
    target = _empty(room / FILE)
    size = path.stat().st_size
    with path.open("rb") as source, target.open("r+b") as out:
        head = source.read(len(_SQLITE))
        source.seek(0)
        if not head.startswith((_ZSTD, _SQLITE)):
            raise DataError(f"{path} is no backup of afterword", "name a file that `afterword backup` made")
        try:
            if head.startswith(_ZSTD):
                _check_seal(path)
            for data in _pieces(source, packed=head.startswith(_ZSTD)):
                out.write(data)
                tell("read", min(source.tell(), size), size)
        except zstandard.ZstdError as err:
            raise DataError(f"{path} is damaged: {err}", "take another backup") from err
    with contextlib.closing(_connect(target.as_uri())) as db:
        try:
            found = db.execute("SELECT value FROM meta WHERE key = ?", (FACT,)).fetchone()
            about = msgspec.json.decode(found[0], type=About) if found else None
        except (sqlite3.DatabaseError, msgspec.MsgspecError, TypeError) as err:
            raise DataError(f"{path} is damaged: {err}", "take another backup") from err
        if about is None:
            raise DataError(f"{path} does not say that it is a backup", "name a file that `afterword backup` made")
        schema.check_version(db)
        tell("check", 0, 1)
        check(db)
    return target, about


def _pack(plain: Path, fd: int, tell: Progress, *, packed: bool) -> None:
    size = plain.stat().st_size
    digest = hashlib.sha256()
    done = 0
    with plain.open("rb") as source, os.fdopen(fd, "r+b", closefd=False) as out:
        packer = zstandard.ZstdCompressor(level=3, write_checksum=True).compressobj(size) if packed else None
        while data := source.read(_CHUNK):
            done += len(data)
            piece = packer.compress(data) if packer else data
            digest.update(piece)
            out.write(piece)
            faults.hit("backup.pack")
            tell("pack", done, size)
        if packer:
            piece = packer.flush()
            digest.update(piece)
            out.write(piece)
            out.write(_SKIPPED.pack(_SKIPPED_MAGIC, 32, digest.digest()))


def _check_seal(path: Path) -> None:
    size = path.stat().st_size - _SKIPPED.size
    with path.open("rb") as file:
        digest = hashlib.sha256()
        left = max(0, size)
        while left and (data := file.read(min(_CHUNK, left))):
            digest.update(data)
            left -= len(data)
        seal = file.read()
    if size < 0 or seal != _SKIPPED.pack(_SKIPPED_MAGIC, 32, digest.digest()):
        raise DataError(f"{path} is damaged: it is not what was written", "take another backup")


def _pieces(source: object, *, packed: bool) -> Iterator[bytes]:
    reader = zstandard.ZstdDecompressor().stream_reader(source) if packed else source  # type: ignore[arg-type]  # a file
    done = 0
    while data := reader.read(_CHUNK):  # type: ignore[attr-defined]  # both are files
        done += len(data)
        if done > _UNPACKED_MAX:
            raise DataError("the backup is larger than a ledger can be", "take another backup")
        yield data


def _hash_of_plain(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as source:
        packed = source.read(4) == _ZSTD
        source.seek(0)
        for data in _pieces(source, packed=packed):
            digest.update(data)
    return digest.hexdigest()


def _file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _empty(path: Path) -> Path:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    return path


def _connect(uri: str) -> sqlite3.Connection:
    db = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=30)
    db.execute("PRAGMA secure_delete = FAST")
    return db
