"""Backups of the ledger, and putting one back: whole or absent, wherever they are cut off."""

import contextlib
import logging
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from afterword.app.config import Config
from afterword.app.program import machine_name
from afterword.domain.clock import Clock, format_rfc3339
from afterword.domain.errors import AfterwordError, Busy, DataError, UserError
from afterword.redact.redactor import Redactor
from afterword.store import backup_file, faults, lock
from afterword.store.backup_file import ASIDE, About, Progress, Written
from afterword.store.files import private_folder, sync_folder
from afterword.store.ledger import backups, rescrub, restored, schema, views
from afterword.store.ledger.backups import Backup
from afterword.store.ledger.ledger import FILE, Ledger, open_beside, open_reader, open_writer

_log = logging.getLogger(__name__)

_OURS: Final = re.compile(r"ledger-\d{8}T\d{6}Z(?:-\d+)?\.db\.zst")
VERSION: Final = 1


def remember(config: Config, redactor: Redactor, path: Path, made_us: int, written: Written | None = None) -> None:
    """Note a backup in the ledger, `written` or about to be. A daemon need not be asked: like a job that is queued this
    is one small row, and numbers nothing.

    Raises:
        Busy: somebody writes and does not let go.
    """
    with _beside(config) as ledger:
        size, sha256 = (written.bytes, written.sha256) if written else (0, "")
        row = Backup(str(path), made_us, size, sha256, ledger.origin[0])
        backups.remember(ledger, redactor.redact(str(path)), row)


@contextlib.contextmanager
def _beside(config: Config) -> Iterator[Ledger]:
    ledger = open_beside(config.places.state)
    try:
        yield ledger
    except sqlite3.OperationalError as err:
        raise Busy(f"the ledger is busy: {err}", "try again") from err
    finally:
        ledger.close()


def target_of(config: Config, clock: Clock, given: Path | None) -> Path:
    """Where a backup goes: the file that was named, or a new one in the folder for them."""
    if given is not None:
        path = Path(os.path.abspath(given.expanduser()))  # noqa: PTH100  # links stay: the name is the person's
        if not path.parent.is_dir():
            raise UserError(f"{path.parent} is not a folder", "make it first, or name another file")
        if path.is_dir():
            raise UserError(f"{path} is a folder", "name a file in it")
        return path
    folder = private_folder(config.places.state / backup_file.FOLDER)
    stamp = re.sub(r"[-:]|\.\d+", "", format_rfc3339(clock()))
    names = (f"ledger-{stamp}{f'-{n}' if n else ''}.db.zst" for n in range(10_000))
    return next(folder / name for name in names if not (folder / name).exists())


def make(config: Config, redactor: Redactor, clock: Clock, target: Path, tell: Progress, *, force: bool) -> Written:
    """Back the ledger up. Its place is remembered before anything is there, so that `forget` never misses it.

    Raises:
        NotSetUp: there is no ledger yet.
        UserError: `target` is there already.
        Busy: another backup or restore is at work.
        DataError: the ledger, or the copy, is damaged.
    """
    state = config.places.state
    open_reader(state).close()  # it is there, and no older than this program
    if not force and os.path.lexists(target):
        raise UserError(f"{target} is there already", "name another file, or use --force")
    made_us = clock()
    # A plain copy, and a packed one that is smaller, at worst as large.
    room_for(state, 2 * (state / FILE).stat().st_size)

    def about(db: sqlite3.Connection) -> About:
        ledger = Ledger(db, state / FILE)
        amounts = views.counts(ledger)
        its_id, name = ledger.origin
        return About(
            version=VERSION,
            schema=schema.check_version(db),
            rules=rescrub.stored_version(ledger),
            origin=its_id,
            machine=name,
            made=format_rfc3339(made_us),
            sessions=amounts.sessions,
            items=amounts.items,
            sections=amounts.sections,
            articles=amounts.articles,
        )

    with backup_file.workroom(state) as room:
        remember(config, redactor, target, made_us)
        plain, found = backup_file.copy(state, room, about, tell)
        done = backup_file.write(plain, found, target, tell, replace=force)
    remember(config, redactor, target, made_us, done)
    return done


def listed(config: Config) -> list[dict[str, Any]]:
    """Every backup there is or was, the newest first: those the ledger remembers, and others in the folder for them."""
    ledger = open_reader(config.places.state)
    try:
        known = backups.every(ledger)
    finally:
        ledger.close()
    rows = [
        {
            "path": one.path,
            "made": format_rfc3339(one.made_us),
            "bytes": one.bytes,
            "sha256": one.sha256 or None,
            "there": Path(one.path).is_file(),
        }
        for one in known
        if one.sha256 or Path(one.path).is_file()
    ]
    named = {one.path for one in known}
    others = [path for path in _in_folder(config) if str(path) not in named]
    for path in others:
        at = path.stat()
        made = format_rfc3339(at.st_mtime_ns // 1000)
        rows.append({"path": str(path), "made": made, "bytes": at.st_size, "sha256": None, "there": True})
    return rows


def prune(config: Config, redactor: Redactor, keep: int) -> list[Path]:
    """Remove the backups in the folder for them beyond the newest `keep`; those that were removed."""
    gone = _in_folder(config)[keep:]
    for path in gone:
        path.unlink(missing_ok=True)
        with _beside(config) as ledger:
            backups.drop(ledger, redactor.redact(str(path)))
    return gone


def _in_folder(config: Config) -> list[Path]:
    folder = config.places.state / backup_file.FOLDER
    try:
        found = [path for path in folder.iterdir() if _OURS.fullmatch(path.name) and path.is_file()]
    except FileNotFoundError:
        return []
    return sorted(found, key=lambda path: path.name.removesuffix(".db.zst"), reverse=True)


@contextlib.contextmanager
def opened(config: Config, path: Path, tell: Progress) -> Iterator[tuple[Path, About, dict[str, int] | None]]:
    """A backup, unpacked and read to its end: (copy, what it is, counts of the present ledger if that can be read).

    Raises:
        UserError: there is no such file.
        DataError: it is no backup, is damaged, or was made by a newer afterword.
    """
    if not path.is_file():
        raise UserError(f"there is no file {path}", "`afterword backup --list` names those that were made")
    with backup_file.workroom(config.places.state) as room:
        plain, about = backup_file.unpack(path, room, tell)
        yield plain, about, _present(config)


def _present(config: Config) -> dict[str, int] | None:
    with contextlib.suppress(AfterwordError, sqlite3.Error):
        ledger = open_reader(config.places.state)
        try:
            amounts = views.counts(ledger)
            return {"sessions": amounts.sessions, "items": amounts.items}
        finally:
            ledger.close()
    return None


def put_back(config: Config, plain: Path, tell: Progress) -> str:
    """Put an unpacked backup in the place of the ledger; the machine's new origin. The caller holds no lock.

    The present ledger stays, whole and in its place, until the very instant the other one takes it; then it keeps a
    second name until the new one could be opened. A machine that was set back gets a new origin.

    Raises:
        Busy: a daemon or another command writes, or a reader holds the present ledger open.
    """
    state = config.places.state
    with lock.writer_lock(state, "restore"):
        origin = restored.renew(plain, lambda done, all_: tell("renew", done, all_))
        present = state / FILE
        if present.exists() and _still(config, present):
            try:
                restored.take_over(plain, present)
            except sqlite3.DatabaseError as err:
                _log.warning("the ledger that is replaced is damaged, nothing was taken over from it: %s", err)
        for suffix in ("-wal", "-shm"):
            present.with_name(FILE + suffix).unlink(missing_ok=True)
        faults.hit("restore.ready")
        (state / ASIDE).unlink(missing_ok=True)
        with contextlib.suppress(FileNotFoundError):
            os.link(present, state / ASIDE)
        faults.hit("restore.aside")
        plain.replace(present)
        sync_folder(state)
        faults.hit("restore.placed")
        open_writer(state, machine_name(config)).close()
        (state / ASIDE).unlink(missing_ok=True)
    return origin


def _still(config: Config, present: Path) -> bool:
    """Bring the present ledger to rest: no log beside it. False when it is damaged, and nothing can be taken of it.

    Raises:
        Busy: a reader has it open.
    """
    try:
        ledger = open_writer(present.parent, machine_name(config))
    except (sqlite3.DatabaseError, DataError):
        return False
    try:
        ledger.db.execute("PRAGMA busy_timeout = 5000")
        mode = ledger.db.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
    except sqlite3.OperationalError as err:
        raise _held() from err
    except sqlite3.DatabaseError:
        return False
    finally:
        ledger.close()
    if mode != "delete":
        raise _held()
    return True


def _held() -> Busy:
    return Busy("another command has the ledger open", "close it (an agent's `afterword mcp` too), then try again")


def room_for(state: Path, size: int) -> None:
    """Raise UserError when the disk has less than `size` bytes to spare for what is about to be written there."""
    free = shutil.disk_usage(state).free
    if free < size:
        raise UserError(f"only {free >> 20:,} MiB are free for {state}, {size >> 20:,} are needed", "make room")
