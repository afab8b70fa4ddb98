"""A folder of batches, carried by whatever copies files: written whole, read with distrust.

The folder's listing is the only index there is. A file is one batch and is called after it; it appears under its name
when it is whole and on the disk. Files that are not batches are left where they are.
"""

import contextlib
import os
import stat
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path

import msgspec

from afterword_sync.batch import MAX_BATCH_BYTES, Batch, batches, check, open_batch, parse_name
from afterword_sync.errors import Refused, plain
from afterword_sync.log import Log, reading
from afterword_sync.record import Payload, Record, Stub
from afterword_sync.report import Moved, Progress, Step, Tally, Way, silent

SENDER = "dir"
"""Who handed records over that came out of a folder."""

_ORIGIN_CHARS = frozenset("0123456789abcdef")


class Pending(msgspec.Struct, frozen=True):
    """A file that was not taken, and why. `waits`: it will be, once what is missing before it has come."""

    file: str
    reason: str
    hint: str = ""
    waits: bool = False


class Exported(msgspec.Struct, frozen=True):
    """What a folder holds after an export. `new` in `origins`: numbers that were in no file of it before."""

    origins: tuple[Moved, ...]
    written: int  # files
    removed: int  # files that others have taken the place of


class Imported(msgspec.Struct, frozen=True):
    """What came out of a folder. `left`: names that look like batches and are not (copies of a sync tool, halves)."""

    origins: tuple[Moved, ...]
    pending: tuple[Pending, ...]
    left: tuple[str, ...]


class _File(msgspec.Struct, frozen=True, order=True):
    origin: str
    first: int
    last: int

    @property
    def name(self) -> str:
        return f"{self.origin}-{self.first}-{self.last}.jsonl"


# ---- out -------------------------------------------------------------------------------------------------------------


def export_folder(folder: Path, log: Log, progress: Progress = silent, *, peer: str | None = None) -> Exported:
    """Bring the folder up to the ledger: every origin we know, in batches; what is right already is not written again.

    `peer` is the origin that will read it, when only one will: others' withheld records are in it then.
    The files of another machine's origin are left alone as long as they hold no payload that is a stub here, since
    that machine may use the same folder; a file that reaches beyond what we have is never touched.

    Raises:
        OSError: the folder cannot be written; what is there is whole files, older or newer.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    mark = f".{log.origin[:8]}.tmp"
    for name in _names(folder):
        if name.startswith(".") and name.endswith(mark) and parse_name(name[1 : -len(mark)]):
            (folder / name).unlink(missing_ok=True)  # ours, from a run that was killed
    there: dict[str, list[_File]] = {}
    for file in _files(folder)[0]:
        there.setdefault(file.origin, []).append(file)
    vector = {origin: last for origin, last in log.vector().items() if last > 0}
    tally = Tally()
    written = removed = done = 0
    for origin, last in sorted(vector.items()):
        theirs = there.get(origin, [])
        had = max((file.last for file in theirs), default=0)
        if origin == log.origin or not _covers(folder, log, theirs, last, peer):
            now = _write(folder, log, origin, last, peer, mark)
            written += now.written
            stale = [file for file in theirs if file.last <= last and file not in now.wanted]
            removed += sum(_remove(folder / file.name) for file in stale)
            if stale:
                _sync_folder(folder)
        tally.add(origin, 1, last, max(0, last - had))
        done += last
        progress(Step(Way.OUT, origin, done, sum(vector.values())))
    return Exported(tally.moved, written, removed)


class _Written(msgspec.Struct):
    written: int
    wanted: set[_File]


def _write(folder: Path, log: Log, origin: str, last: int, peer: str | None, mark: str) -> _Written:
    made = _Written(0, set())
    with contextlib.closing(_batches(log, origin, last, peer)) as cut:
        for batch in cut:
            made.wanted.add(_File(origin, batch.header.first, batch.header.last))
            if _read(folder / batch.header.name) != batch.data:
                _replace(folder, batch.header.name, batch.data, mark)
                made.written += 1
    return made


def _batches(log: Log, origin: str, last: int, peer: str | None) -> Generator[Batch]:
    with reading(log.read(origin, 1, last, peer)) as records:
        yield from batches(records, log.rules())


def _covers(folder: Path, log: Log, files: list[_File], last: int, peer: str | None) -> bool:
    """Whether these files of another machine's origin are whole, have all up to `last`, and tell nothing we may not."""
    reached = 0
    for file in sorted(files):
        if file.first > reached + 1:
            return False
        try:
            _, records = check(_read(folder / file.name) or b"", _Anything())
        except Refused:
            return False
        if file.first <= last:
            with reading(log.read(file.origin, file.first, min(file.last, last), peer)) as ours:
                if _tells_more(records, ours):
                    return False
        reached = max(reached, file.last)
    return reached >= last


def _tells_more(theirs: list[Record], ours: Iterator[Record]) -> bool:
    stubs = {record.n for record in ours if isinstance(record.body, Stub)}
    return any(record.n in stubs for record in theirs if isinstance(record.body, Payload))


class _Anything(frozenset[str]):
    """Every kind there may be: a newer machine's file is not ours to judge when we only look whether to keep it."""

    def __contains__(self, item: object) -> bool:
        return True


def _replace(folder: Path, name: str, data: bytes, mark: str) -> None:
    half = folder / f".{name}{mark}"
    descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        with open(descriptor, "wb", closefd=True) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        half.replace(folder / name)
    except BaseException:
        half.unlink(missing_ok=True)
        raise
    _sync_folder(folder)


def _remove(path: Path) -> bool:
    if path.is_dir() and not path.is_symlink():
        return False  # somebody's, whatever it is called
    path.unlink(missing_ok=True)
    return True


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# ---- in --------------------------------------------------------------------------------------------------------------


def import_folder(folder: Path, log: Log, progress: Progress = silent) -> Imported:
    """Take what the folder has, as far as it is contiguous, tombstones first; a batch is taken whole or not at all.

    A file that is not right holds nobody else's records back; it is named in the answer and stays where it is. A file
    with numbers of our own above ours says that this ledger was set back: it takes a new origin, and they come home.

    Raises:
        OSError: the folder cannot be read.
    """
    files, left = _files(folder)
    bad: dict[_File, Pending] = {}
    _take_early(folder, log, files, bad)
    have = dict(log.vector())
    total = sum(file.last - file.first + 1 for file in files)
    tally = Tally()
    waiting = sorted(file for file in files if file not in bad)
    moved = True
    while moved:
        moved = False
        for file in list(waiting):
            if file.first > have.get(file.origin, 0) + 1:
                continue
            waiting.remove(file)
            try:
                new = _take(folder, log, file)
            except Refused as err:
                bad[file] = Pending(file.name, err.reason, err.hint)
                continue
            moved = moved or file.last > have.get(file.origin, 0)
            have[file.origin] = max(file.last, have.get(file.origin, 0))
            tally.add(file.origin, file.first, file.last, new)
            progress(Step(Way.IN, file.origin, tally.records, total))
    pending = [*bad.values(), *(_gap(file, have) for file in waiting)]
    return Imported(tally.moved, tuple(sorted(pending, key=lambda one: one.file)), tuple(left))


def _gap(file: _File, have: Mapping[str, int]) -> Pending:
    missing = have.get(file.origin, 0) + 1
    numbers = f"number {missing}" if missing == file.first - 1 else f"numbers {missing} to {file.first - 1}"
    return Pending(file.name, f"{numbers} of {file.origin[:8]} did not come yet", waits=True)


def _take(folder: Path, log: Log, file: _File) -> int:
    header, records = check(_data(folder, file), log.kinds)
    _named(file, (header.origin, header.first, header.last))
    if file.origin == log.origin and file.last > log.vector().get(file.origin, 0):
        log.reborn(file.last)
    return log.insert(records, SENDER).new


def _take_early(folder: Path, log: Log, files: list[_File], bad: dict[_File, Pending]) -> None:
    """First of all what forbids other records; which files are bad is found on the way."""
    have = log.vector()
    marks = [b'"kind":"' + kind.encode() + b'"' for kind in log.early]
    for file in files:
        if file.last <= have.get(file.origin, 0) or file.origin == log.origin:
            continue  # what is known forbids already; our own comes in turn
        try:
            data = _data(folder, file)
            header, lines = open_batch(data)
            _named(file, (header.origin, header.first, header.last))
            # In canonical JSON the kind is spelt like this. A batch in another spelling comes in its turn.
            if not any(mark in lines for mark in marks):
                continue
            records = check(data, log.kinds)[1]
            early = [record for record in records if record.kind in log.early and record.n > have.get(record.origin, 0)]
            if early:
                log.insert_early(early, SENDER)
        except Refused as err:
            bad[file] = Pending(file.name, err.reason, err.hint)


def _named(file: _File, header: tuple[str, int, int]) -> None:
    if header != (file.origin, file.first, file.last):
        raise Refused(f"{file.name}: its header is of another batch")


def _data(folder: Path, file: _File) -> bytes:
    data = _read(folder / file.name)
    if data is None:
        raise Refused(f"{file.name}: not a file that can be read, or larger than a batch may be")
    return data


# ---- both ------------------------------------------------------------------------------------------------------------


def _files(folder: Path) -> tuple[list[_File], list[str]]:
    """The batches by their names, and the names that only look like batches."""
    files: list[_File] = []
    left: list[str] = []
    for name in _names(folder):
        parsed = parse_name(name)
        if parsed is not None:
            files.append(_File(*parsed))
        elif not name.startswith(".") and (name.endswith(".jsonl") or _ORIGIN_CHARS.issuperset(name[:32].lower())):
            left.append(plain(name))
    return sorted(files), left


def _names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def _read(path: Path) -> bytes | None:
    """The bytes of a plain file of a size that a batch can have; None for anything else, links too."""
    try:
        # Not blocking: a pipe under this name must not hold us up.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BATCH_BYTES:
            return None
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(MAX_BATCH_BYTES + 1)
    finally:
        os.close(descriptor)
    return data if len(data) <= MAX_BATCH_BYTES else None
