"""What a worker of a first reading sends to the writer: events made ready, positions, and where a file begins.

Redacted texts, ids and numbers only. A frame is its length in 4 bytes and a msgpack list that begins with its name.
"""

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from afterword.capture.prepared import Plain, Ready, ReadyFacts, ReadyItem
from afterword.domain.events import Item
from afterword.redact.text import received
from afterword.store.ledger.body import Body, Packed
from afterword.store.ledger.sources import Checkpoint


class _Frame(msgspec.Struct, frozen=True, gc=False, array_like=True, tag=True):
    pass


class Sent(_Frame, frozen=True):
    """A ReadyItem. `event` has neither text nor path."""

    event: Item
    packed: Packed
    path: str | None
    raw_print: bytes | None


SentEvent: TypeAlias = Sent | ReadyFacts | Plain


class Line(_Frame, frozen=True):
    """What one line gave."""

    pos: int
    number: int
    events: list[SentEvent]


class Long(_Frame, frozen=True):
    """A line that was too long to read."""

    pos: int
    number: int
    size: int
    note: Sent


class LeftOut(_Frame, frozen=True):
    """Something that was not read."""

    number: int
    reason: str


class OpenUnit(_Frame, frozen=True):
    """What comes now is decoded again when the file has grown."""


Step: TypeAlias = Line | Long | LeftOut | OpenUnit
"""A call of the sink that a reading decodes into."""


class Hello(_Frame, frozen=True):
    """The first frame of all: the worker's version and rules, and the engine's compiled form, if it has one."""

    program: str
    rules: int
    engine: bytes | None


class Begin(_Frame, frozen=True):
    """Frames up to the next one of these are about the task with this number."""

    task: int


class Said(_Frame, frozen=True):
    """What people and agents said in the file of a task that is previewed, and facts of its sessions; in its order."""

    events: list[SentEvent]


class Steps(_Frame, frozen=True):
    """Some steps; what follows up to a Commit belongs to the same transaction."""

    steps: list[Step]


class Commit(_Frame, frozen=True):
    """The position after the steps since the last one, the decoder's state there, and how many bytes it moved on."""

    at: Checkpoint
    state: str
    moved: int
    done: bool


class Failed(_Frame, frozen=True):
    """The rest of this file is not read by the worker."""


Frame: TypeAlias = Hello | Begin | Said | Steps | Commit | Failed

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Frame)
LENGTH = 4
PREVIEW = 1 << 31
"""In the number of a task: only what was said is wanted of it, for the preview."""


def encode(frame: Frame) -> bytes:
    """The bytes of a frame, its length before it.

    Raises:
        UnicodeEncodeError: an id holds a lone surrogate.
    """
    data = _ENCODER.encode(frame)
    return len(data).to_bytes(LENGTH, "big") + data


def decode(data: bytes | memoryview) -> Frame:
    """The frame in these bytes, which are without the length.

    Raises:
        msgspec.MsgspecError: it is none.
    """
    return _DECODER.decode(data)


def sent(ready: Ready) -> SentEvent:
    """An event as it is sent: a redacted text packed, a raw one left out."""
    if not isinstance(ready, ReadyItem):
        return ready
    bare = msgspec.structs.replace(ready.event, text="", path=None)
    path = None if ready.path is None else str(ready.path)
    return Sent(bare, ready.body.packed(), path, ready.raw_print)


def arrived(event: SentEvent) -> Ready:
    """The other way round."""
    if not isinstance(event, Sent):
        return event
    path = None if event.path is None else received(event.path)
    return ReadyItem(event.event, Body(packed=event.packed), path, event.raw_print)


def body_of(event: Sent) -> Body:
    """The text of an event that was sent."""
    return Body(packed=event.packed)


def all_arrived(events: Sequence[SentEvent]) -> list[Ready]:
    return [arrived(event) for event in events]
