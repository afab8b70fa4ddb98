"""Reads one line log into the ledger: from its checkpoint on, or from its start when its past changed."""

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from afterword.capture.decoding import COMMIT_BYTES, SAID, Decoding, Fingerprints, own_words
from afterword.capture.gate import Passing, Shut
from afterword.capture.intake import Intake, Memory
from afterword.capture.tail.compare import resume
from afterword.capture.tail.content import Clipped, Content, opened
from afterword.capture.tail.prefix import PrefixHash
from afterword.domain.clock import Clock
from afterword.domain.events import Decoder, Fingerprint
from afterword.redact.redactor import Redactor
from afterword.redact.text import Redacted
from afterword.store.ledger import sources
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.sources import Checkpoint, Source

_OURS = {field.name for field in msgspec.structs.fields(Memory)}


@dataclass(frozen=True)
class Tools:
    """What a reading needs. `on_commit` is told after each transaction how many bytes it moved on; `stop` is asked
    then: what is left is read the next time."""

    ledger: Ledger
    redactor: Redactor
    clock: Clock
    quiet_us: int
    on_commit: Callable[[int], None] = lambda _bytes: None
    stop: Callable[[], bool] = lambda: False
    passing: Callable[[int], Passing] | None = None
    """Makes, for the row of a source, what its events pass before they are taken in."""
    shut: Callable[[os.stat_result, Shut], None] = lambda _found, _why: None
    """Told of a file that is not read further for now, as it looked then."""

    @functools.cached_property
    def fingerprint(self) -> Fingerprint:
        """The keyed hash that decoders keep in place of a text."""
        return Fingerprints(self.ledger)


class Kept(msgspec.Struct):
    """What is stored as a source's state: the decoder's own, and the intake's memory."""

    decoder: msgspec.Raw
    memory: Memory


def take(tools: Tools, decoder: Decoder, path: Path, source: Source, *, thorough: bool = False) -> int:
    """Read what is new in `path`.

    Items and the checkpoint commit together, about every 8 MiB; a file whose past changed is read again in a single
    transaction, so that nobody sees it half replaced. Memory is bounded by a chunk and a line, not by the file.
    `thorough` compares every byte before the position of a changed file (for one-pass runs, which have no later
    look when the file is quiet).

    Returns:
        How many items were new.

    Raises:
        OSError: the file cannot be opened or read, or is no regular file; nothing was changed.
    """
    with opened(path) as content:
        try:
            return _take(tools, decoder, content, path, source, thorough=thorough)
        except Shut as why:
            shut = why
        # What came before is in the ledger or was given up with its transaction: it is read up to there.
        before = sources.find(tools.ledger, source.path_key) or source
        new = _take(tools, decoder, Clipped(content, shut.pos), path, before, thorough=thorough)
        tools.shut(content.found, shut)
        return new


def _take(tools: Tools, decoder: Decoder, content: Content, path: Path, source: Source, *, thorough: bool) -> int:
    at, found = source.at, content.found
    quiet = tools.clock() - found.st_mtime_ns // 1000 >= tools.quiet_us
    unverified = at.verified_ns != found.st_mtime_ns
    if unchanged(found, at) and not (quiet and owes_a_look(found, at)):
        return 0
    whole = thorough or quiet or found.st_size == at.size
    prefix = resume(content, at, tools.ledger, whole=whole and unverified)
    if prefix is not None and not _open_object_stands(content, at, tools.ledger):
        prefix = None
    # A renamed file is read from its start once more, as a reading of its own that was counted when it was found.
    again = prefix is None or (at.offset == 0 and at.generation > 1)
    if prefix is None:
        at = Checkpoint(generation=at.generation + 1, verified_ns=found.st_mtime_ns, first_us=at.first_us)
    elif whole or at.offset == 0:
        at = msgspec.structs.replace(at, verified_ns=found.st_mtime_ns)
    source = msgspec.structs.replace(source, at=at)
    reading = Reading(tools, decoder, source)
    decoding = Decoding(
        decoder,
        content,
        path,
        at,
        reading.state,
        prefix or PrefixHash(tools.ledger.hash_key),
        redactor=tools.redactor,
        hasher=tools.ledger,
        fingerprint=tools.fingerprint,
        quiet=quiet,
    )
    reading.run(decoding, changed_us=found.st_mtime_ns // 1000, again=again)
    return reading.new_items


def unchanged(found: os.stat_result, at: Checkpoint) -> bool:
    """Whether a file looks as it did when it was last read."""
    return looks(found) == (at.size, at.mtime_ns, at.inode, at.device)


def looks(found: os.stat_result) -> tuple[object, ...]:
    """What a file's change is seen by."""
    return found.st_size, found.st_mtime_ns, found.st_ino, found.st_dev


def owes_a_look(found: os.stat_result, at: Checkpoint) -> bool:
    """Whether an unchanged file must be looked at once it is quiet: all its bytes compared, or its last object, that
    has no newline, taken."""
    open_tail = found.st_size > at.offset and at.open_tail != found.st_size
    return at.verified_ns != found.st_mtime_ns or open_tail


def _open_object_stands(content: Content, at: Checkpoint, ledger: Ledger) -> bool:
    """Whether a last object that was taken without its newline still stands behind the position."""
    if at.open_tail <= at.offset:
        return True
    return ledger.keyed_hash(content.pread(at.open_tail - at.offset, at.offset)) == at.open_hash


class Reading:
    """What one reading of one file puts into the ledger, transaction by transaction."""

    def __init__(self, tools: Tools, decoder: Decoder, source: Source) -> None:
        self._tools = tools
        self._decoder = decoder
        self._source = source
        self._memory = Memory()
        self.state: Any = None
        """The decoder's, as it is kept; None before the first line."""
        self.new_items = 0
        if source.at.state:
            self._load(source.at.state)

    def _load(self, stored: str) -> None:
        kept = msgspec.json.decode(stored.encode(), type=Kept)
        self.state = msgspec.json.decode(kept.decoder, type=self._decoder.state_type)
        self._memory = kept.memory

    def run(self, decoding: Decoding, *, changed_us: int, again: bool) -> None:
        """Read to the end, or until somebody says stop."""
        done = False
        while not done:
            start = decoding.offset
            with self.transaction(changed_us) as intake:
                if again:
                    intake.start_over()
                done = decoding.advance(intake, None if again else COMMIT_BYTES)
                intake.close(whole=again)
                self.save(intake, decoding.checkpoint(done=done), decoding.state())
            self._tools.on_commit(decoding.offset - start)
            if self._tools.stop():
                break

    @contextlib.contextmanager
    def transaction(self, changed_us: int) -> Iterator[Intake]:
        """One transaction; the caller closes the intake and calls `save` before it ends. `changed_us` is when the file
        was last written to."""
        now_us = self._tools.clock()
        with self._tools.ledger.transaction():
            intake = Intake(
                self._tools.ledger,
                self._tools.redactor,
                self._source,
                changed_us=min(changed_us, now_us),
                now_us=now_us,
                memory=self._memory,
                passing=self._tools.passing(self._source.row) if self._tools.passing else None,
            )
            yield intake
        self.new_items += intake.new_items

    def save(self, intake: Intake, at: Checkpoint, state: Redacted) -> None:
        """Move the position, with the decoder's state there."""
        tools = self._tools
        if intake.bare:
            # It was forgotten where these sessions were held: the decoder's state must not bring it back.
            bare: Any = sources.without(msgspec.json.decode(state.encode()), SAID)
            state = tools.redactor.document(bare, plain=own_words(self._decoder))
        memory = tools.redactor.document(msgspec.to_builtins(intake.memory), plain=_OURS)
        plain = {"memory", *own_words(self._decoder)}
        document = tools.redactor.joined({"decoder": state, "memory": memory}, plain)
        sources.save(self._tools.ledger, self._source.row, at, document)
        # Go on from what is stored, so that a restart here changes nothing.
        self._load(document)
