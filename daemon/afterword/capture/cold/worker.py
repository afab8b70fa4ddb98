"""The processes that read files ahead of the writer: `python -m afterword.capture.cold.worker`, started by `feed`.

One process compiles the redaction rules, then becomes as many as there are pipes; each takes the next file from a pipe
they share. They see the files, the writer's key and the user's patterns; they open no ledger and write no file. What
cannot be read here is left to the writer, which then reads it itself.
"""

import contextlib
import gc
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import msgspec

from afterword import __version__
from afterword.capture.cold import wire
from afterword.capture.cold.glance import Glance
from afterword.capture.cold.orders import MARK, MASKED, Orders, Task
from afterword.capture.cold.outbox import Outbox
from afterword.capture.decoding import COMMIT_BYTES, Decoding, Fingerprints
from afterword.capture.harness import table
from afterword.capture.prepared import Prepare, ReadyFacts
from afterword.capture.tail.content import opened
from afterword.capture.tail.prefix import Keyed, PrefixHash
from afterword.domain.events import Decoded, Decoder
from afterword.redact.redactor import Redactor
from afterword.store import faults
from afterword.store.ledger.sources import Checkpoint

_STEPS_BYTES = 256 << 10
_NICE = 5


class Recorder:
    """The sink that sends what a decoder gave, made ready."""

    def __init__(self, prepare: Prepare, outbox: Outbox) -> None:
        self._prepare = prepare
        self._outbox = outbox
        self._steps: list[wire.Step] = []
        self._size = 0

    def line(self, decoded: Sequence[Decoded], pos: int, line_number: int) -> None:
        ready = self._prepare.events(decoded)
        if any(isinstance(event, ReadyFacts) and event.facts.cwd and MARK in event.facts.cwd for event in ready):
            # Whether a session of this folder is left out cannot be told any more: the writer reads on from here.
            raise ValueError(MASKED)
        events = [wire.sent(event) for event in ready]
        self._add(wire.Line(pos, line_number, events), sum(_size(event) for event in events))

    def oversized(self, session: str, size: int, head: bytes, pos: int, line_number: int) -> None:
        note = wire.sent(self._prepare.oversized(session, size, head))
        assert isinstance(note, wire.Sent)
        self._add(wire.Long(pos, line_number, size, note), _size(note))

    def left_out(self, line_number: int, reason: str) -> None:
        self._add(wire.LeftOut(line_number, reason), 0)

    def open_unit(self) -> None:
        self._add(wire.OpenUnit(), 0)

    def flush(self) -> None:
        """Send what is left."""
        if self._steps:
            self._outbox.put(wire.encode(wire.Steps(self._steps)))
            self._steps, self._size = [], 0

    def _add(self, step: wire.Step, size: int) -> None:
        self._steps.append(step)
        self._size += size + 64
        if self._size >= _STEPS_BYTES:
            self.flush()


def _size(event: wire.SentEvent) -> int:
    return len(event.packed.blob) + 128 if isinstance(event, wire.Sent) else 128


class Worker:
    """Reads files and sends what is in them."""

    def __init__(self, orders: Orders, redactor: Redactor, outbox: Outbox) -> None:
        self._orders = orders
        self._redactor = redactor
        self._keyed = Keyed(orders.hash_key)
        self._outbox = outbox

    def run(self, tasks_fd: int) -> None:
        """Take numbers of tasks from the pipe until it is closed."""
        while number := os.read(tasks_fd, 4):
            task = int.from_bytes(number, "big")
            self._outbox.put(wire.encode(wire.Begin(task)))
            try:
                if task & wire.PREVIEW:
                    Glance(self._orders, self._redactor, self._keyed, self._outbox).take(task & ~wire.PREVIEW)
                else:
                    self._read(self._orders.tasks[task])
            except Exception:  # noqa: BLE001  # whatever it is: the writer meets it again, and says so
                self._outbox.put(wire.encode(wire.Failed()))
        self._outbox.close()

    def _read(self, task: Task) -> None:
        decoder = cast("Decoder", table.BY_NAME[task.harness].load())
        path = Path(os.fsdecode(task.path))
        with opened(path) as content:
            found = content.found
            decoding = Decoding(
                decoder,
                content,
                path,
                Checkpoint(verified_ns=found.st_mtime_ns),
                None,
                PrefixHash(self._keyed.hash_key),
                redactor=self._redactor,
                hasher=self._keyed,
                fingerprint=Fingerprints(self._keyed),
                quiet=found.st_mtime_ns // 1000 <= self._orders.quiet_before_us,
            )
            recorder = Recorder(Prepare(self._redactor, self._keyed), self._outbox)
            done = False
            while not done:
                start = decoding.offset
                done = decoding.advance(recorder, COMMIT_BYTES)
                recorder.flush()
                at, state = decoding.checkpoint(done=done), str(decoding.state())
                faults.hit("cold.commit")
                self._outbox.put(wire.encode(wire.Commit(at, state, decoding.offset - start, done)))


def main(arguments: Sequence[str]) -> None:
    """Given descriptors: of the orders, of the numbers of tasks, of the hello, and of one pipe for each worker."""
    orders_fd, tasks_fd, hello_fd, *data_fds = map(int, arguments)
    with contextlib.suppress(OSError):
        os.nice(_NICE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the writer decides
    with open(orders_fd, "rb") as told:
        orders = msgspec.msgpack.decode(told.read(), type=Orders)
    redactor = Redactor(orders.engine, orders.extra, orders.allow)
    hello = wire.encode(wire.Hello(__version__, redactor.version, redactor.warm()))
    with open(hello_fd, "wb") as out, contextlib.suppress(BrokenPipeError):
        out.write(hello)
    for harness in {task.harness for task in orders.tasks}:
        table.BY_NAME[harness].load()
    gc.freeze()
    children = []
    for fd in data_fds:
        child = os.fork()
        if not child:
            for other in data_fds:
                if other != fd:
                    os.close(other)
            Worker(orders, redactor, Outbox(fd)).run(tasks_fd)
            os._exit(0)
        children.append(child)
    for fd in (tasks_fd, *data_fds):
        os.close(fd)
    for child in children:
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(sys.argv[1:])
