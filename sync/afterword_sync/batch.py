"""A batch: a header line and records, one a line; as a file, as a message, always the same bytes for the same state.

Where one batch ends and the next begins is a greedy function of the records from number 1 on, so two machines in the
same state cut alike. Whoever reads one checks all of it before any record of it is used.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Annotated, TypeVar

import msgspec

from afterword_sync.errors import Refused
from afterword_sync.record import MAX_RECORD_BYTES, NewerVersion, Record, RecordError, Stub, decode, encode

VERSION = 1
"""The newest batch format this library reads, and the one it writes."""

MOST_RECORDS = 1000
MOST_BYTES = 4 * 1024 * 1024
"""A batch is closed before its lines would be longer; a longer record is a batch of its own."""

MAX_HEADER_BYTES = 4096
MAX_BATCH_BYTES = MAX_HEADER_BYTES + MAX_RECORD_BYTES + 1
UPGRADE_HERE = "upgrade afterword on this machine"

_NAME = re.compile(r"([0-9a-f]{32})-([1-9][0-9]{0,18})-([1-9][0-9]{0,18})\.jsonl")
_ORIGIN = r"^[0-9a-f]{32}\Z"
_HASH_BYTES = 32
_STUBS_BYTES = 16

H = TypeVar("H", bound=msgspec.Struct)
_Number = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]


class State(msgspec.Struct, frozen=True):
    """What a batch's bytes depend on besides its records' numbers."""

    rules: Annotated[str, msgspec.Meta(max_length=64)]  # version of the redaction rules the writer has
    stubs: str  # BLAKE2b of which numbers have no payload, and why


class Header(msgspec.Struct, frozen=True):
    """The first line of a batch."""

    version: Annotated[int, msgspec.Meta(ge=1)]
    origin: Annotated[str, msgspec.Meta(pattern=_ORIGIN)]
    first: _Number
    last: _Number
    count: _Number
    hash: str  # BLAKE2b of all that follows the header line
    state: State

    @property
    def name(self) -> str:
        """What a file with this batch is called."""
        return f"{self.origin}-{self.first}-{self.last}.jsonl"


class EarlyHeader(msgspec.Struct, frozen=True):
    """The first line of a message with records that go first: of several origins, with gaps."""

    version: Annotated[int, msgspec.Meta(ge=1)]
    count: _Number
    hash: str


class Batch(msgspec.Struct, frozen=True):
    """A header and the bytes of the whole batch, the header's line included."""

    header: Header
    data: bytes


class _Version(msgspec.Struct):
    version: Annotated[int, msgspec.Meta(ge=1)]


def parse_name(name: str) -> tuple[str, int, int] | None:
    """(origin, first, last) of a batch file's name, or None when it is not the name of one."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    first, last = int(match[2]), int(match[3])
    return (match[1], first, last) if first <= last < 2**63 else None


def batches(records: Iterable[Record], rules: str) -> Iterator[Batch]:
    """The records of one origin, in order and without a gap, cut into batches. Holds one batch at a time."""
    lines: list[bytes] = []
    held: list[Record] = []
    size_bytes = 0
    for record in records:
        line = encode(record)
        if lines and (len(lines) == MOST_RECORDS or size_bytes + len(line) + 1 > MOST_BYTES):
            yield _made(held, lines, rules)
            lines, held, size_bytes = [], [], 0
        lines.append(line)
        held.append(record)
        size_bytes += len(line) + 1
    if lines:
        yield _made(held, lines, rules)


class Early(msgspec.Struct, frozen=True):
    """A message of records that go first."""

    count: int
    highest: dict[str, int]  # number, of each origin in it
    data: bytes


def early_batches(records: Iterable[Record]) -> Iterator[Early]:
    """Records that go first, in messages within the bounds of a batch."""
    lines: list[bytes] = []
    highest: dict[str, int] = {}
    size_bytes = 0
    for record in records:
        line = encode(record)
        if lines and (len(lines) == MOST_RECORDS or size_bytes + len(line) + 1 > MOST_BYTES):
            yield Early(len(lines), highest, _early(lines))
            lines, highest, size_bytes = [], {}, 0
        lines.append(line)
        highest[record.origin] = max(record.n, highest.get(record.origin, 0))
        size_bytes += len(line) + 1
    if lines:
        yield Early(len(lines), highest, _early(lines))


def check(data: bytes, kinds: Collection[str]) -> tuple[Header, list[Record]]:
    """The header and the records of a whole batch; `kinds` are the kinds of record that can be kept here.

    Raises:
        Refused: anything about it is not as it must be, with what, and what helps.
    """
    header, rest = open_batch(data)
    records = _records(rest, header.count, kinds)
    for place, record in enumerate(records):
        if record.origin != header.origin or record.n != header.first + place:
            raise Refused(
                f"batch {header.name}: record {place + 1} is number {record.n} of {record.origin[:8]}, "
                f"not {header.first + place} of {header.origin[:8]}"
            )
    if _stubs_hash(records) != header.state.stubs:
        raise Refused(f"batch {header.name}: the stubs are not those that the header tells of")
    return header, records


def open_batch(data: bytes) -> tuple[Header, bytes]:
    """The header and the lines after it, once size, version, count and hash are found right; the lines are not read.

    Raises:
        Refused: as `check`.
    """
    line, rest = _header_line(data)
    header = _parsed(line, Header)
    if header.first > header.last or header.count != header.last - header.first + 1:
        raise Refused(f"batch {header.name}: its header counts {header.count} records")
    if header.count > MOST_RECORDS or (header.count > 1 and len(rest) > MOST_BYTES):
        raise Refused(f"batch {header.name}: larger than a batch may be")
    _check_rest(f"batch {header.name}", header.hash, rest)
    return header, rest


def check_early(data: bytes, kinds: Collection[str]) -> list[Record]:
    """The records of a message of records that go first. Raises `Refused` as `check`."""
    line, rest = _header_line(data)
    header = _parsed(line, EarlyHeader)
    if header.count > MOST_RECORDS:
        raise Refused(f"early records: {header.count} at once; {MOST_RECORDS} are allowed")
    _check_rest("early records", header.hash, rest)
    return _records(rest, header.count, kinds)


def identity(record: Record) -> str:
    """What stays of a record for ever, hashed: its origin, number, kind, key and revision, whatever its payload."""
    fields = msgspec.json.encode([record.origin, record.n, record.kind, record.key, record.rev])
    return blake2b(fields, digest_size=_STUBS_BYTES).hexdigest()


def _made(records: Sequence[Record], lines: list[bytes], rules: str) -> Batch:
    rest = b"\n".join([*lines, b""])
    header = Header(
        version=VERSION,
        origin=records[0].origin,
        first=records[0].n,
        last=records[-1].n,
        count=len(lines),
        hash=_hash(rest),
        state=State(rules=rules, stubs=_stubs_hash(records)),
    )
    return Batch(header, msgspec.json.encode(header, order="sorted") + b"\n" + rest)


def _early(lines: list[bytes]) -> bytes:
    rest = b"\n".join([*lines, b""])
    header = EarlyHeader(version=VERSION, count=len(lines), hash=_hash(rest))
    return msgspec.json.encode(header, order="sorted") + b"\n" + rest


def _header_line(data: bytes) -> tuple[bytes, bytes]:
    if len(data) > MAX_BATCH_BYTES:
        raise Refused(f"a batch of {len(data)} bytes; {MAX_BATCH_BYTES} are allowed")
    end = data.find(b"\n", 0, MAX_HEADER_BYTES)
    if end < 0:
        raise Refused("a batch without a header line")
    return data[:end], data[end + 1 :]


def _parsed(line: bytes, kind: type[H]) -> H:
    try:
        version = msgspec.json.decode(line, type=_Version).version
        if version > VERSION:
            raise Refused(f"batch format {version} is newer than {VERSION}, the newest known here", UPGRADE_HERE)
        return msgspec.json.decode(line, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise Refused("a batch whose header is not one") from err


def _check_rest(what: str, expected: str, rest: bytes) -> None:
    if _hash(rest) != expected:
        raise Refused(f"{what}: what follows the header does not have the hash it tells (cut off, or changed)")
    if not rest.endswith(b"\n"):
        raise Refused(f"{what}: the last line has no end")


def _records(rest: bytes, count: int, kinds: Collection[str]) -> list[Record]:
    lines = rest.split(b"\n")
    lines.pop()
    if len(lines) != count:
        raise Refused(f"a batch of {len(lines)} records whose header counts {count}")
    records: list[Record] = []
    for place, line in enumerate(lines, 1):
        try:
            record = decode(line)
        except NewerVersion as err:
            raise Refused(str(err), UPGRADE_HERE) from err
        except RecordError as err:
            raise Refused(f"record {place} of a batch: {err}") from err
        if record.kind not in kinds:
            raise Refused(f"record {place} of a batch: kind {record.kind!r} is not known here", UPGRADE_HERE)
        records.append(record)
    return records


def _hash(rest: bytes) -> str:
    return blake2b(rest, digest_size=_HASH_BYTES).hexdigest()


def _stubs_hash(records: Sequence[Record]) -> str:
    stubs = "\n".join(f"{record.n}:{record.body.value}" for record in records if isinstance(record.body, Stub))
    return blake2b(stubs.encode(), digest_size=_STUBS_BYTES).hexdigest()
