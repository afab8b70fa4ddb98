"""A record: one numbered entry of a machine's log, and its one spelling in canonical JSON.

The same record always gives the same bytes (sorted keys, no white space, UTF-8), so batches can be compared by
hash. Fields a newer program added are kept and written back; a newer *version* is refused, because then known
fields may mean something else.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, TypeAlias, TypeVar

import msgspec

VERSION = 1
"""The newest record format this library reads, and the one it writes."""

MAX_RECORD_BYTES = 24 * 1024 * 1024
"""A record whose line is longer is refused: memory must not depend on what a peer sends."""


class RecordError(ValueError):
    """A record is not what it must be. The message names the field, never its value: that may be anybody's text."""


class NewerVersion(RecordError):
    """The record's format is newer than this library; upgrading helps."""

    def __init__(self, version: int) -> None:
        super().__init__(f"record format {version} is newer than {VERSION}, the newest known here")
        self.version = version


class Stub(StrEnum):
    """Why a number has no payload (any more)."""

    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"
    RESCRUBBED = "rescrubbed"
    WITHHELD = "withheld"


class Payload(msgspec.Struct, frozen=True):
    """A JSON object in canonical form. Its fields belong to the record's kind and mean nothing here."""

    json: bytes


Body: TypeAlias = Payload | Stub


class Record(msgspec.Struct, frozen=True):
    """One entry: number `n` of `origin`'s log says that `key` of this `kind` has revision `rev`.

    `extra` are fields this version does not know, by name, each in canonical JSON.
    """

    origin: str
    n: int
    kind: str
    key: str
    rev: int
    body: Body
    version: int = VERSION
    extra: tuple[tuple[str, bytes], ...] = ()


_Version = Annotated[int, msgspec.Meta(ge=1)]
_Number = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]
_Rev = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_ORIGIN = re.compile(r"[0-9a-f]{32}\Z")
_KIND = re.compile(r"[a-z][a-z0-9-]{0,39}\Z")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_MAX_KEY_CHARS = 1024
_KNOWN = frozenset({"version", "origin", "n", "kind", "key", "rev", "payload", "stub"})

T = TypeVar("T")


class _Wire(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A good record of this version, which nearly all are: read in one go. What does not fit is looked at by field."""

    version: _Version
    origin: str
    n: _Number
    kind: str
    key: str
    rev: _Rev
    payload: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    stub: Stub | msgspec.UnsetType = msgspec.UNSET


_wire = msgspec.json.Decoder(_Wire)
_sorted = msgspec.json.Encoder(order="sorted")


def payload(fields: Mapping[str, Any]) -> Payload:
    """The payload with these fields; raises `RecordError` for what JSON cannot hold."""
    try:
        written = msgspec.json.encode(dict(fields), order="sorted")
    except (TypeError, ValueError, RecursionError) as err:
        raise RecordError(f"payload: not JSON: {err}") from err
    return Payload(_canonical("payload", written))


def encode(record: Record) -> bytes:
    """The record in canonical JSON, without a newline. Raises `RecordError` when a field is out of range."""
    _check(record)
    fields: dict[str, Any] = {name: msgspec.Raw(value) for name, value in record.extra}
    fields |= {
        "version": record.version,
        "origin": record.origin,
        "n": record.n,
        "kind": record.kind,
        "key": record.key,
        "rev": record.rev,
    }
    if isinstance(record.body, Payload):
        fields["payload"] = msgspec.Raw(record.body.json)
    else:
        fields["stub"] = record.body.value
    line = msgspec.json.encode(fields, order="sorted")
    if len(line) > MAX_RECORD_BYTES:
        raise RecordError(f"a record of {len(line)} bytes; {MAX_RECORD_BYTES} are allowed")
    return line


def decode(line: bytes) -> Record:
    """The record in this line; white space and the order of its fields do not matter.

    Raises:
        NewerVersion: its format is newer than ours.
        RecordError: anything else that is wrong with it, with the name of the field.
    """
    if len(line) > MAX_RECORD_BYTES:
        raise RecordError(f"a record of {len(line)} bytes; {MAX_RECORD_BYTES} are allowed")
    record = _read_at_once(line) or _read_by_field(line)
    _check(record)
    return record


def _read_at_once(line: bytes) -> Record | None:
    try:
        wire = _wire.decode(line)
        if wire.version > VERSION or isinstance(wire.payload, dict) == isinstance(wire.stub, Stub):
            return None
        body = Payload(_sorted.encode(wire.payload)) if isinstance(wire.payload, dict) else wire.stub
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    if isinstance(body, msgspec.UnsetType):
        return None
    return Record(wire.origin, wire.n, wire.kind, wire.key, wire.rev, body, wire.version)


def _read_by_field(line: bytes) -> Record:
    try:
        fields = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise RecordError("not a JSON object") from err
    version = _field(fields, "version", _Version)
    if version > VERSION:
        raise NewerVersion(version)
    return Record(
        version=version,
        origin=_field(fields, "origin", str),
        n=_field(fields, "n", _Number),
        kind=_field(fields, "kind", str),
        key=_field(fields, "key", str),
        rev=_field(fields, "rev", _Rev),
        body=_body(fields),
        extra=tuple(sorted((name, _canonical(name, bytes(raw))) for name, raw in fields.items() if name not in _KNOWN)),
    )


def _field(fields: Mapping[str, msgspec.Raw], name: str, its_type: type[T]) -> T:
    if name not in fields:
        raise RecordError(f"{name}: missing")
    try:
        return msgspec.json.decode(fields[name], type=its_type)
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise RecordError(f"{name}: {err}") from err


def _body(fields: Mapping[str, msgspec.Raw]) -> Body:
    if ("payload" in fields) == ("stub" in fields):
        raise RecordError("exactly one of payload and stub must be there")
    if "payload" in fields:
        return Payload(_canonical("payload", bytes(fields["payload"])))
    reason = _field(fields, "stub", str)
    try:
        return Stub(reason)
    except ValueError as err:
        raise RecordError(f"stub: must be one of {', '.join(Stub)}") from err


def _canonical(name: str, json: bytes) -> bytes:
    """`json` with sorted keys and no white space; a payload must be an object."""
    try:
        value = msgspec.json.decode(json)
        written = msgspec.json.encode(value, order="sorted")
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise RecordError(f"{name}: {err}") from err
    except RecursionError as err:
        raise RecordError(f"{name}: nested too deeply") from err
    if name == "payload" and not isinstance(value, dict):
        raise RecordError("payload: must be an object")
    return written


def _check(record: Record) -> None:
    if not 1 <= record.version <= VERSION:
        raise RecordError(f"version: must be from 1 to {VERSION}")
    if not _ORIGIN.match(record.origin):
        raise RecordError("origin: must be 32 lower-case hex digits")
    if not 1 <= record.n < 2**63:
        raise RecordError("n: must be 1 or more, below 2^63")
    if not 0 <= record.rev < 2**63:
        raise RecordError("rev: must be 0 or more, below 2^63")
    if not _KIND.match(record.kind):
        raise RecordError("kind: must be a word of a-z, 0-9 and '-', at most 40 long")
    if not 0 < len(record.key) <= _MAX_KEY_CHARS or _CONTROL.search(record.key):
        raise RecordError(f"key: must be 1 to {_MAX_KEY_CHARS} characters, none of them a control character")
    clash = _KNOWN.intersection(name for name, _ in record.extra)
    if clash:
        raise RecordError(f"extra: {', '.join(sorted(clash))} is a known field")
