"""The vector store behind a process of its own: Chroma runs in a child, we send it what to keep.

Not in our process, because Chroma writes memory it never set into its vector files: bytes of a transcript that was
not redacted yet, or of a text that was forgotten, would reach the disk. The child has only ever seen what it keeps.
It may also die of a damaged file without us, and its memory is given back when there is nothing to do. It holds our
lock too, so nobody opens the store while a child of a killed daemon still finishes its batch. A Chroma server is kept
by the same child: then it holds a connection instead of files.
"""

import contextlib
import fcntl
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from afterword.domain.errors import Busy, TransientError
from afterword.index.embedder import Matrix
from afterword.index.place import Place
from afterword.store import faults
from afterword.store.files import private_folder

FOLDER = "chroma"
LOCK = "index.lock"
BATCH = 500
_QUARANTINED = "chroma.damaged"
_LOCK_WAIT_S = 3.0
_SERVER_WAIT_S = 60.0
"""How long a server may take for one call; Chroma's client itself waits for ever."""


_TRIED_AGAIN = "it is looked at and tried again; exact words are found all the same"


class StoreFailed(TransientError):
    """The store refused, or its process died: it is looked at before it is used again."""

    kind = "index"


class Entry(msgspec.Struct, frozen=True):
    """A chunk as the store keeps it. `vector` is float32, little-endian."""

    id: str
    text: str
    facts: dict[str, str | int]
    vector: bytes = b""


class Request(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the child is asked to do."""

    do: str
    name: str = ""
    embedder: str = ""
    ids: list[str] = []
    entries: list[Entry] = []
    place: Place | None = None
    """In the first request only: the server to open; none means the folder."""


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """What it says: `error` is empty when it was done."""

    error: str = ""
    ids: list[str] = []


@contextlib.contextmanager
def lock(folder: Path) -> Iterator[int]:
    """Hold the index's lock while the block runs; gives its descriptor, for the child to hold it too.

    Raises:
        Busy: another process holds it.
    """
    private_folder(folder)
    fd = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        end = time.monotonic() + _LOCK_WAIT_S
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as err:
                # A child whose daemon was killed is about to end.
                if time.monotonic() >= end:
                    raise Busy("another afterword has the index open", "wait for it, or stop it") from err
                time.sleep(0.05)
        yield fd
    finally:
        os.close(fd)


class Keeper:
    """The child. Its owner holds `lock`."""

    def __init__(
        self, folder: Path, lock_fd: int | None, place: Place | None = None, wait_s: float = _SERVER_WAIT_S
    ) -> None:
        self._wait_s = wait_s if place else None
        command = [sys.executable, "-P", "-m", "afterword.index.keeping", str(folder / FOLDER)]
        if place is None:
            private_folder(folder / FOLDER)
        # A session of its own: Ctrl-C is for us, the child ends when we close its input.
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            # Its threads would each keep a heap of their own.
            env=os.environ | {"MALLOC_ARENA_MAX": "1"}, pass_fds=() if lock_fd is None else (lock_fd,),
            start_new_session=True,
        )  # fmt: skip
        try:
            self._call(Request("open", place=place))
        except StoreFailed:
            self.close()
            raise

    def check(self) -> None:
        """Ask every collection for what is in it.

        Raises:
            StoreFailed: one does not answer with that.
        """
        self._call(Request("check"))

    def names(self) -> list[str]:
        """The names of our collections."""
        return self._call(Request("names")).ids

    def only(self, name: str = "") -> None:
        """Take all our collections out but this one."""
        self._call(Request("only", name))

    def ids(self, name: str, embedder: str) -> set[str]:
        """Every id in a collection, which is made when there is none."""
        return set(self._call(Request("ids", name, embedder)).ids)

    def replace(self, name: str, embedder: str, gone: Sequence[str], entries: Sequence[Entry], matrix: Matrix) -> None:
        """Take ids out and put others in, with their vectors; in batches. Doing it again changes nothing."""
        for start in range(0, len(gone), BATCH):
            self._call(Request("delete", name, embedder, ids=list(gone[start : start + BATCH])))
        faults.hit("index.upsert")
        for start in range(0, len(entries), BATCH):
            batch = [
                msgspec.structs.replace(entry, vector=matrix[start + at].astype("<f4").tobytes())
                for at, entry in enumerate(entries[start : start + BATCH])
            ]
            self._call(Request("upsert", name, embedder, entries=batch))
            faults.hit("index.half")
        faults.hit("index.upserted")

    def end(self) -> None:
        """End it at once, whatever it is doing; another thread's call fails."""
        self._child.kill()

    def close(self) -> None:
        """Let it finish and end."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        with contextlib.suppress(OSError):
            self._child.stdin.close()
        try:
            self._child.wait(60)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._child.stdout.close()

    def _call(self, request: Request) -> Reply:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        try:
            write_frame(self._child.stdin, msgspec.msgpack.encode(request))
            if self._wait_s is not None and not select.select([self._child.stdout], [], [], self._wait_s)[0]:
                self._child.kill()
                raise StoreFailed(f"the Chroma server did not answer within {self._wait_s:g} s", _TRIED_AGAIN)
            data = read_frame(self._child.stdout)
        except OSError as err:
            raise StoreFailed("the vector store ended", _TRIED_AGAIN) from err
        if data is None:
            raise StoreFailed("the vector store ended", _TRIED_AGAIN)
        reply = msgspec.msgpack.decode(data, type=Reply)
        if reply.error:
            raise StoreFailed(reply.error, _TRIED_AGAIN)
        return reply


def write_frame(to: Any, data: bytes) -> None:
    """Four bytes of length, then the data."""
    to.write(len(data).to_bytes(4, "big") + data)
    to.flush()


def read_frame(source: Any) -> bytes | None:
    """The next frame; None at the end, or when it ends in the middle."""
    head = source.read(4)
    if len(head) < 4:
        return None
    size = int.from_bytes(head, "big")
    data: bytes = source.read(size)
    return data if len(data) == size else None


def state_of(folder: Path) -> str:
    """What the files look like from outside; another one than when we closed means: look before opening."""
    root = folder / FOLDER
    if not (root / "chroma.sqlite3").exists():
        return ""
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return ";".join(f"{path.relative_to(root)}:{path.stat().st_size}:{path.stat().st_mtime_ns}" for path in files)


def opened(folder: Path, lock_fd: int, *, check: bool, place: Place | None = None) -> tuple[Keeper, bool]:
    """The store, and whether what was there was damaged and is put aside.

    With `check` it is damaged when it cannot be opened, or a collection does not answer with what is in it. A server is
    somebody's own: nothing of it is put aside.

    Raises:
        StoreFailed: it cannot be opened, and was not to be checked, or not even anew.
    """
    if not check or place:
        return Keeper(folder, lock_fd, place), False
    try:
        keeper = Keeper(folder, lock_fd)
        try:
            keeper.check()
        except StoreFailed:
            keeper.close()
            raise
    except StoreFailed:
        quarantine(folder)
        return Keeper(folder, lock_fd), True
    return keeper, False


def quarantine(folder: Path) -> None:
    """Put a damaged store aside, in place of the one put aside before."""
    shutil.rmtree(folder / _QUARANTINED, ignore_errors=True)
    with contextlib.suppress(FileNotFoundError):
        (folder / FOLDER).rename(folder / _QUARANTINED)


def remove(folder: Path) -> None:
    """Delete the store with every byte it kept, also what Chroma keeps of deleted texts, and what was put aside."""
    for name in (FOLDER, _QUARANTINED):
        shutil.rmtree(folder / name, ignore_errors=True)
