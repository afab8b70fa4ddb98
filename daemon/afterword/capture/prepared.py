"""Events made ready for the ledger without asking it: texts and paths redacted, keyless ones hashed.

This is all that is costly about an event, and it needs nothing but the event: so a worker does it for a first reading,
and the intake for everything else. What is ready holds no raw text; ids and keys are what they were.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from afterword.capture.project import Looked, look
from afterword.capture.tail.prefix import Hasher
from afterword.domain.events import (
    BadLine,
    Decoded,
    Drop,
    Facts,
    Finish,
    Item,
    Message,
    Place,
    Revert,
    Rewind,
    Rollback,
    Row,
    Skipped,
    Window,
)
from afterword.domain.items import Kind, SaidBy
from afterword.redact.redactor import Redactor
from afterword.redact.text import Redacted
from afterword.store.ledger.body import Body

_SAID = ("cwd", "folder", "version", "branch", "model", "title")
"""What facts say in words; the others are ids, which things are found by."""
_REMEMBERED = 1000
_TYPE_MAX = 60


class ReadyItem(msgspec.Struct, frozen=True, gc=False):
    """An item whose `text` and `path` are these; those in `event` must not be looked at any more.

    `raw_print` is the keyed hash of an item without a key, None of all others.
    """

    event: Item
    body: Body
    path: Redacted | None
    raw_print: bytes | None


class ReadyFacts(msgspec.Struct, frozen=True, gc=False, array_like=True, tag=True):
    """Facts with everything in words redacted. `looked` says what was found on the disk at a `cwd` that cannot be
    looked at any more, because something in it was masked."""

    facts: Facts
    looked: Looked | None = None


Plain: TypeAlias = Message | Rewind | Window | Row | Place | Finish | Drop | Rollback | Revert | BadLine | Skipped
"""Events of ids and numbers, ready as they are."""
Ready: TypeAlias = ReadyItem | ReadyFacts | Plain


class Prepare:
    """Makes events ready. Remembers what facts said lately: most lines say the same again."""

    def __init__(self, redactor: Redactor, hasher: Hasher) -> None:
        self._redactor = redactor
        self._hasher = hasher
        self._known: dict[str, str] = {}
        self._looked: dict[str, Looked | None] = {}

    def events(self, decoded: Sequence[Decoded]) -> list[Ready]:
        """What one line gave, made ready."""
        return [self._event(event) for event in decoded]

    def oversized(self, session: str, size: int, head: bytes) -> ReadyItem:
        """The note that stands for a line too long to read, found again by a hash of its size and head."""
        note = Item(session, None, Kind.META, f"[left out: a line of {size:,} bytes]", None, SaidBy.MACHINE)
        return self._item(note, b"%d " % size + head)

    def _event(self, event: Decoded) -> Ready:
        if isinstance(event, Item):
            return self._item(event)
        if isinstance(event, Facts):
            return self._facts(event)
        if isinstance(event, Skipped):
            return Skipped(self._word(event.record_type[:_TYPE_MAX]))
        return event

    def _item(self, event: Item, raw: bytes | None = None) -> ReadyItem:
        raw_print = None
        if event.key is None:
            data = raw if raw is not None else event.text.encode("utf-8", "surrogatepass")
            head = f"{event.kind.word}|{event.time_us or 0}|{len(data)}|".encode()
            raw_print = self._hasher.keyed_hash(head + data, 16)
        path = self._redactor.redact(event.path) if event.path else None
        return ReadyItem(event, Body(self._redactor.redact(event.text)), path, raw_print)

    def _facts(self, event: Facts) -> ReadyFacts:
        said = {name: text for name in _SAID if (text := getattr(event, name))}
        clean = {name: self._word(text) for name, text in said.items()}
        if clean == said:
            return ReadyFacts(event)
        looked = None
        if event.cwd and clean["cwd"] != event.cwd:
            if event.cwd not in self._looked:
                self._looked[event.cwd] = look(self._redactor, event.cwd, Path.home())
            looked = self._looked[event.cwd]
        return ReadyFacts(msgspec.structs.replace(event, **clean), looked)

    def _word(self, text: str) -> str:
        found = self._known.get(text)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
                self._looked.clear()
            # Plain again: it goes into values that are encoded as they are, and redacted once more on their way out.
            found = self._known[text] = str(self._redactor.redact(text))
        return found
