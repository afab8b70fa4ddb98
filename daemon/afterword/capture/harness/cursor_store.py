"""Cursor's store of one agent session (`store.db`): a tree of content-addressed blobs below a root that moves.

Only what the root reaches counts, in the order of the walk; everything else was taken back or is a copy.
"""

import contextlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from afterword.capture.harness import cursor_kv as kv
from afterword.capture.harness import cursor_messages as messages
from afterword.capture.harness import cursor_places as places
from afterword.capture.harness import cursor_tools as tools
from afterword.capture.harness.cursor_speech import spoken
from afterword.capture.harness.lenient import part as piece
from afterword.capture.harness.times import moment
from afterword.domain.events import (
    BadLine,
    Database,
    Decoded,
    Facts,
    Fingerprint,
    Finish,
    Item,
    Key,
    Part,
    Skipped,
    Unreadable,
)
from afterword.domain.items import ExitStatus, Kind, SaidBy

_META_MAX = 1 << 20
_BLOBS_WALKED = 200_000
_DEPTH = 64
_UNNAMED = frozenset({"", "New Agent", "New Chat"})
_MISSING = BadLine("a message of the conversation is not there, or in a shape nobody knows")


class Meta(msgspec.Struct, gc=False, rename="camel"):
    """What the store says of its session. (It holds a key as well, which nobody reads.)"""

    agent_id: str | None = None
    latest_root_blob_id: str | None = None
    name: str | None = None
    created_at: int | float | str | None = None
    last_used_model: str | None = None


_META = msgspec.json.Decoder(Meta)


class Field(NamedTuple):
    number: int
    data: bytes


def parts(opened: Database, known: Mapping[str, str], fingerprint: Fingerprint) -> Iterator[Part]:
    """The one session of the store; its version is the root, and what is said of it."""
    del known
    meta = _meta(opened)
    side = places.side(opened.path.parent)
    if meta.latest_root_blob_id:
        said = fingerprint("\0".join((meta.name or "", meta.last_used_model or "", side.cwd or "")))
        yield Part(_session(opened, meta), f"{meta.latest_root_blob_id[:64]}|{said}")


def _session(opened: Database, meta: Meta) -> str:
    return meta.agent_id or opened.path.parent.name


def _meta(opened: Database) -> Meta:
    db = opened.db
    for table, columns in (("meta", {"key", "value"}), ("blobs", {"id", "data"})):
        found = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
        if not found >= columns:
            raise Unreadable(f"an unknown schema: no columns `{'`, `'.join(sorted(columns))}` in `{table}`")
    row = db.execute("SELECT rowid, typeof(value) FROM meta WHERE key = '0'").fetchone()
    raw = kv.cell(db, "meta", "value", row[0], _META_MAX) if row and row[1] in ("text", "blob") else None
    if not isinstance(raw, bytes):
        raise Unreadable("the store does not say which session it holds")
    with contextlib.suppress(ValueError):  # not in hexadecimal: then it is the JSON itself
        raw = bytes.fromhex(raw.decode("ascii"))
    meta = piece(raw, _META)
    if meta is None:
        raise Unreadable("what the store says of its session is in a shape nobody knows")
    return meta


def events(opened: Database, part: Part, fingerprint: Fingerprint) -> Iterator[list[Decoded]]:
    """The conversation the root reaches, message by message."""
    del fingerprint
    meta = _meta(opened)
    side = places.side(opened.path.parent)
    reading = _Reading(part.name, SaidBy.AGENT if side.is_subagent else SaidBy.PERSON)
    title = (meta.name or "").strip()
    facts = Facts(
        part.name,
        cwd=side.cwd,
        model=meta.last_used_model,
        title=None if title in _UNNAMED else title[:300],
        title_rank=3,
        started_us=moment(meta.created_at or side.created_at),
    )
    begun = False
    missing = 0
    for leaf, raw in _walk(opened, meta.latest_root_blob_id or ""):
        out: list[Decoded] = [] if begun else [facts]
        if isinstance(raw, kv.Oversized):
            out.append(reading.oversized(leaf, raw.size))
        elif raw is None or (message := piece(raw, messages.MESSAGES)) is None:
            missing += 1
            continue
        else:
            out += reading.message(leaf, message)
        begun = True
        yield out
    if begun and side.cwd is None:
        cwd = places.hashed(reading.paths, opened.path.parent.parent.name)
        yield [Facts(part.name, cwd=cwd)] if cwd else []
    if missing:
        yield [_MISSING]


class _Reading:
    """The messages of one session so far."""

    def __init__(self, session: str, asking: SaidBy) -> None:
        self._session = session
        self._asking = asking
        self._used: dict[tuple[str, Kind], int] = {}
        self._calls: dict[str, list[tuple[Key, Kind]]] = {}
        self.paths: list[str] = []

    def oversized(self, leaf: str, size: int) -> Item:
        note = f"[left out: a message of {size:,} bytes]"
        return Item(self._session, self._key(leaf, Kind.META), Kind.META, note, None, SaidBy.MACHINE)

    def message(self, leaf: str, message: messages.Message) -> Iterator[Decoded]:
        found = messages.blocks(message)
        match message.role:
            case "user":
                text, at = messages.asked(found)
                if text:
                    yield self._item(leaf, Kind.PROMPT, text, self._asking, time_us=at)
            case "assistant" | "tool":
                for block in found:
                    yield from self._block(leaf, block)
            case "system":
                pass
            case other:
                yield Skipped(f"message/{other}")

    def _block(self, leaf: str, block: messages.Block) -> Iterator[Decoded]:
        match block.type:
            case "text":
                text = spoken(block.text or "")
                if text:
                    yield self._item(leaf, Kind.REPLY, text, SaidBy.AGENT)
            case "reasoning":
                text = spoken(block.text or "")
                if text:
                    yield self._item(leaf, Kind.THINKING, text, SaidBy.AGENT)
            case "tool-call":
                yield from self._call(leaf, block)
            case "tool-result":
                yield from self._result(leaf, block)
            case "redacted-reasoning" | "image" | "file":
                pass
            case other:
                yield Skipped(f"block/{other}")

    def _call(self, leaf: str, block: messages.Block) -> Iterator[Decoded]:
        calls = messages.call(block)
        self.paths += tools.paths(calls)
        for call in calls:
            item = self._item(leaf, call.kind, call.text, SaidBy.AGENT, call.path)
            if block.tool_call_id and item.key:
                self._calls.setdefault(block.tool_call_id, []).append((item.key, call.kind))
            yield item

    def _result(self, leaf: str, block: messages.Block) -> Iterator[Decoded]:
        ended = messages.result(block)
        for key, kind in self._calls.pop(block.tool_call_id or "", []):
            if ended.exit_status is not None:
                yield Finish(self._session, key, kind, ended.exit_status)
        if ended.text:
            yield self._item(leaf, Kind.OUTPUT, ended.text, SaidBy.MACHINE)

    def _item(
        self,
        leaf: str,
        kind: Kind,
        text: str,
        said_by: SaidBy,
        path: str | None = None,
        status: ExitStatus = None,
        time_us: int | None = None,
    ) -> Item:
        return Item(self._session, self._key(leaf, kind), kind, text, time_us, said_by, path, status)

    def _key(self, leaf: str, kind: Kind) -> Key:
        """A leaf may be reached more than once, and hold several items of a kind: they are counted together."""
        n = self._used.get((leaf, kind), 0)
        self._used[leaf, kind] = n + 1
        return (self._session, leaf, n)


_Leaf = tuple[str, bytes | kv.Oversized | None]


def _walk(opened: Database, root: str) -> Iterator[_Leaf]:
    """(leaf id, its JSON) in the order of the tree; None for one that is not there or cannot be understood."""
    left = [_BLOBS_WALKED]
    yield from _node(opened, root, (), left)


def _node(opened: Database, node: str, above: tuple[str, ...], left: list[int]) -> Iterator[_Leaf]:
    if node in above or len(above) > _DEPTH:
        return
    raw = _blob(opened, node)
    if not isinstance(raw, bytes):
        yield node, raw
        return
    if _json(raw) is not None:
        yield node, _json(raw)
        return
    for field in _fields(raw):
        left[0] -= 1
        if left[0] < 0:
            yield node, None
            return
        child = field.data.hex()
        if field.number == 1:
            yield from _leaf(opened, child, (*above, node), left)
        else:
            yield from _node(opened, child, (*above, node), left)


def _leaf(opened: Database, leaf: str, above: tuple[str, ...], left: list[int]) -> Iterator[_Leaf]:
    raw = _blob(opened, leaf)
    if not isinstance(raw, bytes):
        yield leaf, raw
        return
    text = _json(raw)
    if text is None and _fields(raw):
        yield from _node(opened, leaf, above, left)
    else:
        yield leaf, text


def _blob(opened: Database, its_id: str) -> bytes | kv.Oversized | None:
    row = opened.db.execute("SELECT rowid, typeof(data) FROM blobs WHERE id = ?", (its_id,)).fetchone()
    if row is None or row[1] not in ("text", "blob"):
        return None
    return kv.cell(opened.db, "blobs", "data", row[0], kv.VALUE_MAX)


def _json(raw: bytes) -> bytes | None:
    """The JSON of a leaf: it is one, or its field 4 holds one."""
    if raw.startswith(b"{"):
        return raw
    return next((field.data for field in _wire(raw) or [] if field.number == 4 and field.data.startswith(b"{")), None)


def _fields(raw: bytes) -> list[Field]:
    """The references of a node: fields 1 (a message) and 2 (a node) of 32 bytes each, in order.

    Where the blob is not whole protobuf, the two bytes that begin a reference are looked for.
    """
    found = _wire(raw)
    if found is not None:
        return [field for field in found if field.number in (1, 2) and len(field.data) == 32]
    out: list[Field] = []
    at = 0
    while at + 34 <= len(raw):
        if raw[at] in (0x0A, 0x12) and raw[at + 1] == 0x20:
            out.append(Field(raw[at] >> 3, raw[at + 2 : at + 34]))
            at += 34
        else:
            at += 1
    return out


def _wire(raw: bytes) -> list[Field] | None:
    """The length-delimited fields of a protobuf message; None when it is none."""
    found: list[Field] = []
    at = 0
    while at < len(raw):
        tag, at = _varint(raw, at)
        if tag < 8:
            return None
        match tag & 7:
            case 0:
                _, at = _varint(raw, at)
            case 1:
                at += 8
            case 2:
                size, at = _varint(raw, at)
                if size < 0 or at + size > len(raw):
                    return None
                found.append(Field(tag >> 3, raw[at : at + size]))
                at += size
            case 5:
                at += 4
            case _:
                return None
        if at < 0:
            return None
    return found if at == len(raw) else None


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    """(value, where it ends); (-1, -1) when it is cut off or too long."""
    if at < 0:
        return -1, -1
    value = shift = 0
    while at < len(raw) and shift < 70:
        byte = raw[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    return -1, -1
