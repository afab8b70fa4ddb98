"""A glance at a file before it is read: what people and agents said in it, and nothing else.

Good enough to be found by, not to be kept: lines of tools are passed over unread, a tree of turns is not followed. What
is seen here is seen again when the file is read.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from afterword.capture.cold import wire
from afterword.capture.cold.orders import MARK, MASKED, Orders
from afterword.capture.cold.outbox import Outbox
from afterword.capture.decoding import Fingerprints
from afterword.capture.harness import table
from afterword.capture.prepared import Prepare, ReadyFacts
from afterword.capture.tail.content import Content, opened
from afterword.capture.tail.lines import CHUNK, LINE_MAX
from afterword.capture.tail.prefix import Keyed
from afterword.domain.events import Decoded, Decoder, Facts, Item
from afterword.domain.items import PROSE_KINDS
from afterword.redact.redactor import Redactor

_MUTE = {"claude-code": b'"tool_result"', "codex": b'_call_output"'}
"""What stands in the beginning of a line that only tools speak in. Within a text its quotes would be escaped."""
_MUTE_BYTES = 2048
_SEND_BYTES = 256 << 10


class Glance:
    """Looks through one file and sends what was said in it."""

    def __init__(self, orders: Orders, redactor: Redactor, keyed: Keyed, outbox: Outbox) -> None:
        self._orders = orders
        self._keyed = keyed
        self._outbox = outbox
        self._prepare = Prepare(redactor, keyed)
        self._facts: dict[str, Facts] = {}
        self._events: list[wire.SentEvent] = []
        self._size = 0

    def take(self, number: int) -> None:
        """Look through the file of a task.

        Raises:
            OSError, ValueError: it cannot be read, or not by a worker.
        """
        task = self._orders.tasks[number]
        decoder = cast("Decoder", table.BY_NAME[task.harness].load())
        if hasattr(decoder, "decode_unit"):
            return  # its lines say nothing one by one
        path = Path(os.fsdecode(task.path))
        fingerprint = Fingerprints(self._keyed)
        mute = _MUTE.get(task.harness)
        with opened(path) as content:
            state = decoder.start(path)
            for line in _lines(content):
                if not (mute and mute in line[:_MUTE_BYTES]) and line and not line.isspace():
                    self._notice(decoder.decode(line, state, fingerprint))
        self._send()

    def _notice(self, decoded: list[Decoded]) -> None:
        for event in decoded:
            match event:
                case Item() if event.kind in PROSE_KINDS and event.text and not event.abandoned:
                    self._add(event, 2 * len(event.text))
                case Facts() if self._facts.get(event.session) != event:
                    self._facts[event.session] = event
                    self._add(event, 0)
                case _:
                    pass

    def _add(self, event: Decoded, size: int) -> None:
        (ready,) = self._prepare.events([event])
        if isinstance(ready, ReadyFacts) and ready.facts.cwd and MARK in ready.facts.cwd:
            raise ValueError(MASKED)
        self._events.append(wire.sent(ready))
        self._size += size + 128
        if self._size >= _SEND_BYTES:
            self._send()

    def _send(self) -> None:
        if self._events:
            self._outbox.put(wire.encode(wire.Said(self._events)))
            self._events, self._size = [], 0


def _lines(content: Content) -> Iterator[bytes]:
    """The complete lines of a file, up to one that is too long to read."""
    content.seek(0)
    pending = b""
    while (chunk := content.read(CHUNK)) and len(pending) <= LINE_MAX:
        *whole, pending = (pending + chunk).split(b"\n")
        yield from whole
