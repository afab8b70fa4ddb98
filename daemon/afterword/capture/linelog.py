"""Reads one line log into the ledger: from its checkpoint on, or from its start when its past changed."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import msgspec

from afterword.capture.gate import Passing, Shut
from afterword.capture.intake import Intake, Memory
from afterword.capture.tail.compare import edges, resume
from afterword.capture.tail.content import Clipped, Content, opened
from afterword.capture.tail.lines import Batch, Line, read
from afterword.capture.tail.prefix import Mark, PrefixHash
from afterword.capture.tail.units import Held, Units
from afterword.domain.clock import Clock
from afterword.domain.events import Assembler, BadLine, Decoded, Decoder
from afterword.redact.redactor import Redactor
from afterword.store.ledger import sources
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.sources import Checkpoint, Source

COMMIT_BYTES = 8 << 20
_SHORT = 200
_LATELY = 64
SAID = {"cwd", "folder", "branch", "model", "agent_type"}
"""What a transcript says that a decoder's state holds; the rest of a state is ours."""


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

    _lately: dict[str, str] = field(default_factory=dict)

    def fingerprint(self, text: str) -> str:
        found = self._lately.get(text)
        if found is None:
            found = self.ledger.keyed_hash(text.encode("utf-8", "surrogatepass"), 8).hex()
            if len(text) <= _SHORT:  # folders and branches, which stand in every line
                if len(self._lately) >= _LATELY:
                    self._lately.clear()
                self._lately[text] = found
        return found


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
    reading = _Reading(tools, decoder, content, path, source)
    return reading.run(prefix or PrefixHash(tools.ledger.hash_key), quiet=quiet, again=again)


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


class _Reading:
    """One reading of one file: position, decoder state and counters, across its transactions."""

    def __init__(self, tools: Tools, decoder: Decoder, content: Content, path: Path, source: Source) -> None:
        self._tools = tools
        self._decoder = decoder
        self._content = content
        self._found = content.found
        self._source = source
        self._mark = Mark(source.at.offset, source.at.chain, source.at.part)
        self._lines = source.at.lines
        self._open_tail, self._open_hash = source.at.open_tail, source.at.open_hash
        self._assembler = cast("Assembler", decoder) if hasattr(decoder, "decode_unit") else None
        self._units: Units | None = None
        if source.at.state:
            self._load(source.at.state)
        else:
            self._state: Any = decoder.start(path)
            self._memory = Memory()

    def _load(self, stored: str) -> None:
        kept = msgspec.json.decode(stored.encode(), type=Kept)
        self._state = msgspec.json.decode(kept.decoder, type=self._decoder.state_type)
        self._memory = kept.memory

    def run(self, prefix: PrefixHash, *, quiet: bool, again: bool) -> int:
        """Read to the end; returns how many items were new."""
        if self._assembler:
            self._units = Units(self._content, prefix.copy(), self._assembler.ends_unit)
        batches = read(self._content, prefix)
        new, done, first = 0, False, self._mark.offset
        while not done:
            start = self._mark.offset
            with self._tools.ledger.transaction():
                intake = self._intake()
                if again:
                    intake.start_over()
                for batch in batches:
                    if isinstance(batch, Batch):
                        self._take_batch(intake, batch)
                        if not again and self._mark.offset - start >= COMMIT_BYTES:
                            break
                    else:
                        self._take_rest(intake, batch.data, quiet=quiet)
                        if self._content.cut() and self._mark.offset > first:
                            intake.left_out(self._lines + 1, "the rest of a compressed file was left out: too long")
                        done = True
                intake.close(whole=again)
                self._save(done=done)
            new += intake.new_items
            self._tools.on_commit(self._mark.offset - start)
            if self._tools.stop():
                break
        return new

    def _intake(self) -> Intake:
        now_us = self._tools.clock()
        return Intake(
            self._tools.ledger,
            self._tools.redactor,
            self._source,
            changed_us=min(self._found.st_mtime_ns // 1000, now_us),
            now_us=now_us,
            memory=self._memory,
            passing=self._tools.passing(self._source.row) if self._tools.passing else None,
        )

    def _take_batch(self, intake: Intake, batch: Batch) -> None:
        if self._units:
            self._hold(intake, batch, self._units)
            return
        for line in batch.lines:
            self._lines += 1
            if not isinstance(line, Line):
                session = self._decoder.session_of(self._state)
                intake.oversized(session, line.size, line.head, line.pos, self._lines)
            elif line.data and not line.data.isspace():
                decoded = self._decoder.decode(line.data, self._state, self._tools.fingerprint)
                intake.line(decoded, line.pos, self._lines)
        self._mark = batch.mark

    def _hold(self, intake: Intake, batch: Batch, units: Units) -> None:
        """Take the units that end in a batch; the last one stays open."""
        for line in batch.lines:
            number = units.held[-1].number + 1 if units.held else self._lines + 1
            if isinstance(line, Line) and not units.ended_by(line):
                units.hold(number, line)
                continue
            self._take_unit(intake, units.held, self._state)
            self._mark, self._lines = units.pass_to(line.pos), number - 1
            if isinstance(line, Line):
                units.hold(number, line)
            else:
                intake.oversized(self._decoder.session_of(self._state), line.size, line.head, line.pos, number)
                self._mark, self._lines = units.pass_to(line.pos + line.size + 1), number

    def _take_unit(self, intake: Intake, held: Sequence[Held], state: Any) -> None:
        assert self._assembler is not None
        lines = [entry.line.data for entry in held]
        for index, decoded in self._assembler.decode_unit(lines, state, self._tools.fingerprint):
            intake.line(decoded, held[index].line.pos, held[index].number)

    def _take_open(self, intake: Intake, rest: bytes | None, units: Units, *, quiet: bool) -> None:
        """Take the open unit for what it holds so far. The position stays before it: when it has grown it is decoded
        again and finds its rows."""
        held = list(units.held)
        end = held[-1].line.pos + len(held[-1].line.data) + 1 if held else self._mark.offset
        if quiet and rest and rest.strip():
            last = Held(held[-1].number + 1 if held else self._lines + 1, Line(end, rest))
            if not any(isinstance(event, BadLine) for event in self._alone(rest)):
                held.append(last)
                end += len(rest)
        if not held:
            return
        remembered = msgspec.json.encode(self._memory)
        intake.open_unit()
        self._take_unit(intake, held, self._twin())
        counted = self._memory.counted
        self._memory = msgspec.json.decode(remembered, type=Memory)
        self._memory.counted = counted
        self._open_tail = end
        self._open_hash = self._tools.ledger.keyed_hash(self._content.pread(end - self._mark.offset, self._mark.offset))

    def _alone(self, line: bytes) -> list[Decoded]:
        return self._decoder.decode(line, self._twin(), self._tools.fingerprint)

    def _twin(self) -> Any:
        return msgspec.json.decode(msgspec.json.encode(self._state), type=self._decoder.state_type)

    def _take_rest(self, intake: Intake, data: bytes | None, *, quiet: bool) -> None:
        """Take a last object that has no newline, once the file is quiet. The position does not move: when the
        newline comes, the line is decoded again and finds its row."""
        if self._units:
            self._take_open(intake, data, self._units, quiet=quiet)
            return
        if not (quiet and data and data.strip()):
            return
        decoded = self._decoder.decode(data, self._twin(), self._tools.fingerprint)
        if decoded and not any(isinstance(event, BadLine) for event in decoded):
            intake.line(decoded, self._mark.offset, self._lines + 1)
            self._open_tail = self._mark.offset + len(data)
            self._open_hash = self._tools.ledger.keyed_hash(data)

    def _save(self, *, done: bool) -> None:
        tools, at = self._tools, self._source.at
        kept = {"decoder": msgspec.to_builtins(self._state), "memory": msgspec.to_builtins(self._memory)}
        # A state holds ids, counters and fingerprints of ours, beside the few things a transcript says.
        plain = {field.name for field in msgspec.structs.fields(self._decoder.state_type)} - SAID
        state = tools.redactor.document(kept, plain={"memory", *plain})
        head, tail = edges(self._content, self._mark.offset, tools.ledger)
        now = Checkpoint(
            device=self._found.st_dev,
            inode=self._found.st_ino,
            # Not the end yet: the next look must not take the file for unchanged.
            size=self._found.st_size if done and not isinstance(self._content, Clipped) else -1,
            mtime_ns=self._found.st_mtime_ns,
            offset=self._mark.offset,
            lines=self._lines,
            head=head,
            tail=tail,
            chain=self._mark.chain,
            part=self._mark.part,
            generation=at.generation,
            open_tail=self._open_tail,
            open_hash=self._open_hash,
            verified_ns=at.verified_ns,
            first_us=at.first_us,
        )
        sources.save(tools.ledger, self._source.row, now, state)
        # Go on from what is stored, so that a restart here changes nothing.
        self._load(state)
