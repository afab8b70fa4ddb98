"""Which backups of the ledger still hold the text of items: they are named, and pruned when somebody asks for it."""

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

import zstandard

from afterword.store.ledger.ledger import Ledger

FOLDER: Final = "backups"
_SQLITE: Final = b"SQLite format 3\0"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_AT_ONCE: Final = 500
_WORK: Final = ".look-"


def candidates(ledger: Ledger, state: Path) -> list[Path]:
    """The backups there are: in the folder for them, and at the places the ledger remembers."""
    found = {path for path in (state / FOLDER).glob("*") if path.is_file()} if (state / FOLDER).is_dir() else set()
    if ledger.db.execute("SELECT 1 FROM sqlite_master WHERE name = 'backup' AND type = 'table'").fetchone():
        found |= {Path(path) for (path,) in ledger.db.execute("SELECT path FROM backup") if Path(path).is_file()}
    return sorted(found)


def holding(paths: Collection[Path], state: Path, ids: Collection[bytes]) -> list[Path]:
    """Those in which one of these items still has a text; one that cannot be read counts as holding it."""
    return [path for path in paths if _holds(path, state, ids)]


def sweep(state: Path) -> None:
    """Take away what a killed look left unpacked."""
    for left in state.glob(f"{_WORK}*"):
        shutil.rmtree(left, ignore_errors=True)


def _holds(path: Path, state: Path, ids: Collection[bytes]) -> bool:
    try:
        with _opened(path, state) as db:
            if db is None:
                return False
            wanted = sorted(ids)
            for at in range(0, len(wanted), _AT_ONCE):
                some = wanted[at : at + _AT_ONCE]
                marks = ",".join("?" * len(some))
                if db.execute(
                    f"SELECT 1 FROM item WHERE length(text) > 0 AND id IN ({marks}) LIMIT 1", some
                ).fetchone():
                    return True
            return False
    except (OSError, sqlite3.Error, zstandard.ZstdError):
        return True


@contextlib.contextmanager
def _opened(path: Path, state: Path) -> Iterator[sqlite3.Connection | None]:
    """The ledger in a backup, plain or compressed; None when the file is no backup of one."""
    with path.open("rb") as file:
        head = file.read(16)
        file.seek(0)
        if head.startswith(_ZSTD):
            with tempfile.TemporaryDirectory(dir=state, prefix=_WORK) as folder:
                plain = Path(folder) / "ledger.db"
                with plain.open("wb") as out:
                    zstandard.ZstdDecompressor().copy_stream(file, out)
                with contextlib.closing(_connect(plain)) as db:
                    yield db
            return
    if not head.startswith(_SQLITE):
        yield None
        return
    with contextlib.closing(_connect(path)) as db:
        yield db


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path.as_uri() + "?immutable=1", uri=True)
