"""The reading of one line log that needs no ledger: lines, units, decoder state, and the position they lead to.

Whoever takes in what is decoded says where a transaction ends; `checkpoint` and `state` then say what to keep.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, cast

import msgspec

from afterword.capture.tail.compare import edges
from afterword.capture.tail.content import Clipped, Content
from afterword.capture.tail.lines import Batch, Line, read
from afterword.capture.tail.prefix import Hasher, Mark, PrefixHash
from afterword.capture.tail.units import Held, Units
from afterword.domain.events import Assembler, BadLine, Decoded, Decoder, Fingerprint
from afterword.redact.redactor import Redactor
from afterword.redact.text import Redacted
from afterword.store.ledger.sources import Checkpoint

COMMIT_BYTES = 8 << 20
"""About so much of a file goes into one transaction."""
SAID = {"cwd", "folder", "branch", "model", "agent_type"}
"""What a transcript says that a decoder's state holds; the rest of a state is ours."""
_SHORT = 200
_LATELY = 64
_CUT = "the rest of a compressed file was left out: too long"


class Sink(Protocol):
    """Who takes in what is decoded: the intake, or a worker that hands it on."""

    def line(self, decoded: Sequence[Decoded], pos: int, line_number: int) -> None:
        """What one line gave."""

    def oversized(self, session: str, size: int, head: bytes, pos: int, line_number: int) -> None:
        """A line that was too long to read."""

    def left_out(self, line_number: int, reason: str) -> None:
        """Something that was not read."""

    def open_unit(self) -> None:
        """What comes now is decoded again, with what follows, when the file has grown."""


def own_words(decoder: Decoder) -> set[str]:
    """The fields of a decoder's state that hold ids, counters and fingerprints of ours."""
    return {field.name for field in msgspec.structs.fields(decoder.state_type)} - SAID


class Fingerprints:
    """The keyed hash of texts, for decoders; it knows those of the folders and branches that stand in every line."""

    def __init__(self, hasher: Hasher) -> None:
        self._hasher = hasher
        self._lately: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        found = self._lately.get(text)
        if found is None:
            found = self._hasher.keyed_hash(text.encode("utf-8", "surrogatepass"), 8).hex()
            if len(text) <= _SHORT:
                if len(self._lately) >= _LATELY:
                    self._lately.clear()
                self._lately[text] = found
        return found


class Decoding:
    """One reading of one file: position, decoder state and counters."""

    def __init__(
        self,
        decoder: Decoder,
        content: Content,
        path: Path,
        at: Checkpoint,
        state: Any,
        prefix: PrefixHash,
        *,
        redactor: Redactor,
        hasher: Hasher,
        fingerprint: Fingerprint,
        quiet: bool,
    ) -> None:
        """`state` is what `load` made of the state kept at `at`; None before the first line."""
        self._decoder = decoder
        self._content = content
        self._found = content.found
        self._at = at
        self._redactor = redactor
        self._hasher = hasher
        self._fingerprint = fingerprint
        self._quiet = quiet
        self._mark = Mark(at.offset, at.chain, at.part)
        self._first = at.offset
        self._lines = at.lines
        self._open_tail, self._open_hash = at.open_tail, at.open_hash
        self._state: Any = decoder.start(path) if state is None else state
        self._assembler = cast("Assembler", decoder) if hasattr(decoder, "decode_unit") else None
        self._units = Units(content, prefix.copy(), self._assembler.ends_unit) if self._assembler else None
        self._batches = read(content, prefix)

    @property
    def offset(self) -> int:
        """The byte behind the last line that was taken for good."""
        return self._mark.offset

    def advance(self, sink: Sink, bound_bytes: int | None) -> bool:
        """Decode on, to the end or over about so many bytes; whether the end is reached."""
        start = self._mark.offset
        for batch in self._batches:
            if not isinstance(batch, Batch):
                self._take_rest(sink, batch.data)
                if self._content.cut() and self._mark.offset > self._first:
                    sink.left_out(self._lines + 1, _CUT)
                return True
            self._take_batch(sink, batch)
            if bound_bytes is not None and self._mark.offset - start >= bound_bytes:
                return False
        raise AssertionError("a reading ends with its rest")

    def checkpoint(self, *, done: bool) -> Checkpoint:
        """The position to keep with what was decoded so far."""
        head, tail = edges(self._content, self._mark.offset, self._hasher)
        return Checkpoint(
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
            generation=self._at.generation,
            open_tail=self._open_tail,
            open_hash=self._open_hash,
            verified_ns=self._at.verified_ns,
            first_us=self._at.first_us,
        )

    def state(self) -> Redacted:
        """The decoder's state as it is kept. It goes on from that, so that a restart changes nothing."""
        kept = self._redactor.document(msgspec.to_builtins(self._state), plain=own_words(self._decoder))
        self._state = msgspec.json.decode(kept.encode(), type=self._decoder.state_type)
        return kept

    def _take_batch(self, sink: Sink, batch: Batch) -> None:
        if self._units:
            self._hold(sink, batch, self._units)
            return
        for line in batch.lines:
            self._lines += 1
            if not isinstance(line, Line):
                session = self._decoder.session_of(self._state)
                sink.oversized(session, line.size, line.head, line.pos, self._lines)
            elif line.data and not line.data.isspace():
                decoded = self._decoder.decode(line.data, self._state, self._fingerprint)
                sink.line(decoded, line.pos, self._lines)
        self._mark = batch.mark

    def _hold(self, sink: Sink, batch: Batch, units: Units) -> None:
        """Take the units that end in a batch; the last one stays open."""
        for line in batch.lines:
            number = units.held[-1].number + 1 if units.held else self._lines + 1
            if isinstance(line, Line) and not units.ended_by(line):
                units.hold(number, line)
                continue
            self._take_unit(sink, units.held, self._state)
            self._mark, self._lines = units.pass_to(line.pos), number - 1
            if isinstance(line, Line):
                units.hold(number, line)
            else:
                sink.oversized(self._decoder.session_of(self._state), line.size, line.head, line.pos, number)
                self._mark, self._lines = units.pass_to(line.pos + line.size + 1), number

    def _take_unit(self, sink: Sink, held: Sequence[Held], state: Any) -> None:
        assert self._assembler is not None
        lines = [entry.line.data for entry in held]
        for index, decoded in self._assembler.decode_unit(lines, state, self._fingerprint):
            sink.line(decoded, held[index].line.pos, held[index].number)

    def _take_open(self, sink: Sink, rest: bytes | None, units: Units) -> None:
        """Take the open unit for what it holds so far. The position stays before it: when it has grown it is decoded
        again and finds its rows."""
        held = list(units.held)
        end = held[-1].line.pos + len(held[-1].line.data) + 1 if held else self._mark.offset
        if self._quiet and rest and rest.strip():
            last = Held(held[-1].number + 1 if held else self._lines + 1, Line(end, rest))
            if not any(isinstance(event, BadLine) for event in self._alone(rest)):
                held.append(last)
                end += len(rest)
        if not held:
            return
        sink.open_unit()
        self._take_unit(sink, held, self._twin())
        self._open_tail = end
        self._open_hash = self._hasher.keyed_hash(self._content.pread(end - self._mark.offset, self._mark.offset))

    def _alone(self, line: bytes) -> list[Decoded]:
        return self._decoder.decode(line, self._twin(), self._fingerprint)

    def _twin(self) -> Any:
        return msgspec.json.decode(msgspec.json.encode(self._state), type=self._decoder.state_type)

    def _take_rest(self, sink: Sink, data: bytes | None) -> None:
        """Take a last object that has no newline, once the file is quiet. The position does not move: when the
        newline comes, the line is decoded again and finds its row."""
        if self._units:
            self._take_open(sink, data, self._units)
            return
        if not (self._quiet and data and data.strip()):
            return
        decoded = self._decoder.decode(data, self._twin(), self._fingerprint)
        if decoded and not any(isinstance(event, BadLine) for event in decoded):
            sink.line(decoded, self._mark.offset, self._lines + 1)
            self._open_tail = self._mark.offset + len(data)
            self._open_hash = self._hasher.keyed_hash(data)
