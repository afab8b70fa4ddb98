"""Reads what is new in a document or a database: the conversations in it that changed, each whole.

A conversation's items and the version they were read at commit in one transaction; the file's own stats are kept when
all of them are done, so that whatever is killed in between, the next look does the rest.
"""

import contextlib
import logging
import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias, TypeVar

import msgspec

from afterword.capture import database, document
from afterword.capture.gate import Gate, Shut
from afterword.capture.linelog import Tools
from afterword.capture.taking import Recall, Taking, print_of
from afterword.domain.events import Database, Facts, Found, Opened, Part, PartsReader, Unreadable
from afterword.redact.text import Redacted
from afterword.store.ledger import sources
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.sources import Checkpoint, Source

T = TypeVar("T")
_log = logging.getLogger(__name__)

_TRIES = 3
_YOUNG_US = 3_600_000_000


@dataclass(frozen=True)
class Limits:
    """What bounds the reading of whole files."""

    document_max_bytes: int
    reach: database.Reach


@dataclass(frozen=True)
class Taken:
    """How many items were new, and what is missing though all was read that could be."""

    new_items: int
    problem: str = ""


class _Changed(Exception):
    """The file changed while it was read."""


def seen(ledger: Ledger, found: Found) -> Checkpoint:
    """The stats by which a change of a document or database is seen: its own and those of what belongs to it.

    Raises:
        OSError: it is not there.
    """
    at = found.path.stat()
    whole = stat.S_ISREG(at.st_mode)
    words = database.signs(found.path) if found.reader == "sqlite" and whole else []
    for path in found.beside:
        words += _stats(path)
    return Checkpoint(
        device=at.st_dev,
        inode=at.st_ino,
        size=at.st_size,
        mtime_ns=at.st_mtime_ns,
        head=_hash(ledger, words),
        part=_rim(ledger, found)[0],
    )


def rests(ledger: Ledger, found: Found, then: Checkpoint, now_us: int) -> bool:
    """Whether no file was made, replaced or removed in a document's folders for an hour, nor its own one changed: then
    the many files in them need no look each time. (What is written in place is so while it is young.)

    Raises:
        OSError: it is not there.
    """
    if not found.beside or not then.part:
        return False
    rim, newest_ns = _rim(ledger, found)
    return rim == then.part and now_us - newest_ns // 1000 > _YOUNG_US


def _rim(ledger: Ledger, found: Found) -> tuple[bytes, int]:
    """A hash of the stats of a document and of the folders beside it, not of what lies in them, and the newest."""
    words = []
    newest_ns = 0
    for path in (found.path, *found.beside):
        try:
            at = path.stat()
        except OSError:
            words.append("-")
            continue
        words.append(f"{at.st_ino} {at.st_size} {at.st_mtime_ns}")
        newest_ns = max(newest_ns, at.st_mtime_ns)
    return _hash(ledger, words), newest_ns


def _hash(ledger: Ledger, words: list[str]) -> bytes:
    return ledger.keyed_hash("\0".join(words).encode("utf-8", "surrogateescape"), 16)


def changed(now: Checkpoint, then: Checkpoint) -> bool:
    """Whether a file looks otherwise than when it was last read."""
    return looks(now) != looks(then)


def looks(now: Checkpoint) -> tuple[object, ...]:
    """What a file's change is seen by."""
    return now.size, now.mtime_ns, now.inode, now.device, now.head


def same_file(ledger: Ledger, found: Found, at: os.stat_result, then: Checkpoint) -> bool:
    """Whether a file that was not there before is one that was read under a path where it is no more."""
    if then.size <= 0 or at.st_size != then.size:
        return False
    if found.reader == "sqlite":
        return (at.st_ino, at.st_dev, at.st_mtime_ns) == (then.inode, then.device, then.mtime_ns)
    try:
        return bool(then.tail) and ledger.keyed_hash(found.path.read_bytes(), 16) == then.tail
    except OSError:
        return False


def _stats(path: Path) -> Iterator[str]:
    try:
        at = path.stat()
        if not stat.S_ISDIR(at.st_mode):
            yield f"{path.name} {at.st_ino} {at.st_size} {at.st_mtime_ns}"
            return
        with os.scandir(path) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                at = entry.stat()
                if stat.S_ISREG(at.st_mode):
                    yield f"{entry.name} {at.st_ino} {at.st_size} {at.st_mtime_ns}"
    except OSError:
        yield f"{path.name} -"


def take(
    tools: Tools,
    limits: Limits,
    reader: PartsReader,
    found: Found,
    source: Source,
    recall: Recall | None = None,
    gate: Gate | None = None,
) -> Taken:
    """Read every conversation of a file that changed since it was read.

    Raises:
        OSError, Unreadable: it cannot be read now; conversations that were done before that stay. (One that cannot
            be read while others can is a problem of the whole.)
    """
    for _ in range(_TRIES):
        with contextlib.suppress(_Changed):
            return _take(tools, limits, reader, found, source, recall or Recall(), gate)
    raise OSError(database.CHANGED)


def _take(
    tools: Tools,
    limits: Limits,
    reader: PartsReader,
    found: Found,
    source: Source,
    recall: Recall,
    gate: Gate | None,
) -> Taken:
    now = seen(tools.ledger, found)
    if not changed(now, source.at):
        return Taken(0, source.problem)
    new = 0
    problem = ""
    shut: list[Callable[[], bool]] = []
    with _opened(tools.ledger, limits, found, source, now) as lease:
        if lease is not None:
            plain, stands, now = lease
            opened = _equipped(tools, plain, source)
            reading = _Reading(tools, reader, found, source, opened, stands, recall, gate)
            problem = database.PARTIAL if isinstance(opened, Database) and opened.partial else ""
            known = {part.name: part.version for part in sources.parts(tools.ledger, source.row)}
            parts = list(_theirs(reader.parts(opened, known)))
            odd: list[str] = []
            for n, part in enumerate(parts):
                try:
                    new += reading.part(part, now)
                except Unreadable as err:
                    odd.append(str(err))
                tools.on_commit(now.size * (n + 1) // len(parts) - now.size * n // len(parts))
                if tools.stop():
                    return Taken(new, problem)
            shut = reading.shut
            if odd:
                problem = f"{len(odd):,} of {len(parts):,} conversations cannot be read: {odd[0]}"
    if shut and gate:
        gate.shut(source.harness, found.path, looks(now), shut)
        # Another process does not know why, and looks again.
        now = msgspec.structs.replace(now, head=b"")
    with tools.ledger.transaction():
        sources.set_seen(tools.ledger, source.row, now)
    return Taken(new, problem)


_Lease: TypeAlias = tuple[Opened, Callable[[], bool], Checkpoint]


@contextlib.contextmanager
def _opened(ledger: Ledger, limits: Limits, found: Found, source: Source, now: Checkpoint) -> Iterator[_Lease | None]:
    """The open file and whether it still stands; None when it holds what it held before."""
    if found.reader == "sqlite":
        with database.opened(found.path, limits.reach) as lease:
            yield (lease.database, lease.stands, now) if lease else None
        return
    read = document.opened(found.path, limits.document_max_bytes)
    now = msgspec.structs.replace(now, tail=ledger.keyed_hash(read.data, 16))
    same = not found.beside and now.tail == source.at.tail and source.authority == found.authority
    yield None if same else (read, lambda: True, now)


def _equipped(tools: Tools, opened: Opened, source: Source) -> Opened:
    """The open file with what its reader may ask of the capture."""
    if isinstance(opened, Database):
        return replace(opened, fingerprint=tools.fingerprint)
    return replace(
        opened,
        fingerprint=tools.fingerprint,
        elsewhere=lambda name: sources.versions(tools.ledger, source.harness, name, source.row),
    )


def _theirs(given: Iterator[T]) -> Iterator[T]:
    """What a reader gives. Its errors, and those of the database it reads, are told from those of the ledger: one
    odd conversation must not keep the others from being read.

    Raises:
        OSError, Unreadable
    """
    try:
        with database.said_plainly():
            yield from given
    except (OSError, Unreadable, GeneratorExit):
        raise
    except Exception as err:
        _log.exception("a conversation could not be read")
        raise Unreadable(f"internal error: {type(err).__name__}") from err


@dataclass(frozen=True)
class _Reading:
    """One open file, whose conversations are read one after the other."""

    tools: Tools
    reader: PartsReader
    found: Found
    source: Source
    opened: Opened
    stands: Callable[[], bool]
    recall: Recall
    gate: Gate | None = None
    shut: list[Callable[[], bool]] = field(default_factory=list)
    """Why conversations were left out."""

    def part(self, part: Part, now: Checkpoint) -> int:
        """Read a conversation if it changed; returns how many items were new."""
        key = sources.part_key(self.tools.ledger, self.source.row, part.name)
        known = sources.find(self.tools.ledger, key)
        authority = self.found.authority if part.authority is None else part.authority
        if known and part.version and known.version == part.version and known.authority == authority:
            return 0
        gate = self.gate
        if gate is None:
            return self._changed(part, known, authority, key, now)
        still = gate.part_rests(self.source.harness, self.found.path, part.name, part.version)
        if still is None:
            try:
                return self._changed(part, known, authority, key, now)
            except Shut as why:
                # Given up with its transaction: nothing of it is known here, not even its name.
                still = why.still
                gate.leave_out(self.source.harness, part.name, still)
                gate.shut_part(self.source.harness, self.found.path, part.name, part.version, still)
        self.shut.append(still)
        return 0

    def _changed(self, part: Part, known: Source | None, authority: int, key: bytes, now: Checkpoint) -> int:
        with self._snapshot():
            if known and not part.version and known.authority == authority and known.version == self._print(part):
                return 0
            return self._read(part, authority, key, now)

    def _read(self, part: Part, authority: int, key: bytes, now: Checkpoint) -> int:
        tools = self.tools
        name = self._plain(part.name)
        with tools.ledger.transaction():
            at = sources.find(tools.ledger, key) or sources.add_part(
                tools.ledger, self.source, key, name, self.source.at.first_us
            )
            known = b""
            if at.authority != authority:
                sources.set_authority(tools.ledger, at.row, authority)
            elif not sources.shares(tools.ledger, at.row):
                known = self.recall.of(at.row, at.at.generation)
            at = msgspec.structs.replace(at, authority=authority)
            taking = Taking(
                tools, at, known, changed_us=now.mtime_ns // 1000 if part.changed_us is None else part.changed_us
            )
            placed = False
            for record in _theirs(self.reader.events(self.opened, part, tools.fingerprint)):
                placed = placed or any(isinstance(event, Facts) and (event.cwd or event.folder) for event in record)
                taking.record(record)
            if not placed and self._may_say_more(part, now):
                raise Shut(lambda: False, waiting=True)
            new = taking.close()
            version = self._plain(part.version or self._version(taking.prints))
            sources.save_part(tools.ledger, at.row, version, taking.generation)
            if not self.stands():
                raise _Changed
        self.recall.keep(at.row, taking.generation, bytes(taking.prints))
        return new

    def _may_say_more(self, part: Part, now: Checkpoint) -> bool:
        """Whether a conversation that does not say where it is held is so young that it may do so yet, where anything
        is left out at all."""
        changed_us = now.mtime_ns // 1000 if part.changed_us is None else part.changed_us
        young = self.tools.clock() - changed_us < self.tools.quiet_us
        talk = not part.name.startswith(".")
        return talk and young and self.gate is not None and self.gate.exclusions.active

    def _print(self, part: Part) -> str:
        """What stands for the version of a conversation that its reader gives none: all that its reading gives."""
        tools = self.tools
        records = _theirs(self.reader.events(self.opened, part, tools.fingerprint))
        return self._version(b"".join(print_of(tools.ledger, record) for record in records))

    def _version(self, prints: bytes | bytearray) -> str:
        return f"={self.tools.ledger.keyed_hash(bytes(prints), 16).hex()}"

    def _plain(self, text: str) -> Redacted:
        """A name or version of the reader's, found again by it: a person's own patterns must not change it."""
        kept = self.tools.redactor.tree({"kept": text}, plain=("kept",))
        assert isinstance(kept, dict)
        own = kept["kept"]
        assert isinstance(own, Redacted)
        return own

    @contextlib.contextmanager
    def _snapshot(self) -> Iterator[None]:
        """One state of the database for all steps of a conversation; short, so that its writer can tidy up."""
        if not isinstance(self.opened, Database):
            yield
            return
        with database.said_plainly():
            self.opened.db.execute("BEGIN")
        try:
            yield
        finally:
            with contextlib.suppress(sqlite3.Error):
                self.opened.db.execute("ROLLBACK")
