"""The writer's side of a first reading: workers read files ahead, and what they send goes in as if it were read here.

The files go in one after the other in the order they would be read in without workers, piece by piece with their
positions, by the same code; so the result, and what a kill leaves, is the same. A worker that dies, or cannot read a
file, costs time only: the file is then read here, from where it stands.
"""

import contextlib
import fcntl
import logging
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from afterword import __version__
from afterword.capture.cold import wire
from afterword.capture.cold.orders import Orders, Task
from afterword.capture.gate import Shut
from afterword.capture.intake import Intake
from afterword.capture.linelog import Reading
from afterword.capture.prepared import ReadyItem
from afterword.redact.redactor import Redactor
from afterword.redact.text import received
from afterword.store.ledger.sources import Source

_log = logging.getLogger(__name__)

Outcome: TypeAlias = Literal["all", "rest", "stopped"]
"""All of the file went in; the rest of it, or all, is still to be read; somebody said stop."""

WORKERS_MAX = 4
"""More cannot be fed from: the writer is busy then."""
_AHEAD = 2048
"""So many numbers of tasks are in the pipe at most; it holds four times as many."""
_PIPE_BYTES = 1 << 20
_WAIT_S = 0.1
_END_S = 1.0
_READ_BYTES = 1 << 20


class _Stopped(Exception):
    """Somebody said stop while a worker was waited for."""


class _Stream:
    """What one worker, or the process they come from, sends."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.head: int | None = None
        """The task whose frames come next; None while that is not known, or after the end."""
        self.ended = False
        self._data = bytearray()

    def frame(self) -> memoryview | None:
        """The bytes of the next frame, if all of it is here. Good until the next call."""
        if len(self._data) < wire.LENGTH:
            return None
        end = wire.LENGTH + int.from_bytes(self._data[: wire.LENGTH], "big")
        if len(self._data) < end:
            return None
        whole = bytes(memoryview(self._data)[wire.LENGTH : end])
        del self._data[:end]
        return memoryview(whole)

    def fetch(self) -> None:
        """Read what is there."""
        data = os.read(self.fd, _READ_BYTES)
        self._data += data
        self.ended = not data

    def close(self) -> None:
        os.close(self.fd)


class Feed:
    """Workers that read the tasks of `orders` ahead. Files are asked for in their order; any may be left out."""

    def __init__(
        self,
        orders: Orders,
        workers: int,
        redactor: Redactor,
        stop: Callable[[], bool],
        previewed: Sequence[int] = (),
    ) -> None:
        """`redactor` is this process's, made as the orders say. `stop` is asked while a worker is waited for.
        `previewed` are numbers of tasks that are looked through before any is read; `preview` then takes what is found.

        Raises:
            OSError: no process can be started.
        """
        self._redactor = redactor
        self._stop = stop
        self._numbers = {task: number for number, task in enumerate(orders.tasks)}
        self._sequence = [number | wire.PREVIEW for number in previewed] + list(range(len(orders.tasks)))
        self._previews = len(previewed)
        self._told = 0
        self._ready = False
        self._streams: list[_Stream] = []
        with contextlib.ExitStack() as given:
            orders_fd, orders_out = _pipe(given)
            tasks_fd, self._tasks_out = _pipe(given)
            self._hello, hello_fd = _pipe(given)
            pairs = [_pipe(given) for _ in range(max(1, min(workers, WORKERS_MAX)))]
            theirs = [orders_fd, tasks_fd, hello_fd, *(out for _, out in pairs)]
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "afterword.capture.cold.worker", *map(str, theirs)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=theirs,
                process_group=0,
            )
            given.pop_all()
        for fd in theirs:
            os.close(fd)
        self._streams = [_Stream(ours) for ours, _ in pairs]
        for stream in self._streams:
            with contextlib.suppress(OSError, AttributeError):
                fcntl.fcntl(stream.fd, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)  # Linux; elsewhere it is what it is
        with contextlib.suppress(BrokenPipeError), open(orders_out, "wb") as out:
            out.write(msgspec.msgpack.encode(orders))
        self._tell()

    def preview(self, notice: Callable[[int, Sequence[wire.SentEvent]], None], on_file: Callable[[int], None]) -> None:
        """Hand over what was said in the tasks that are previewed, as it comes: the number of the task and events, in
        their order. `on_file` is told how many files were begun. When somebody says stop, or a worker dies, what it
        would have said is missing."""
        with contextlib.suppress(_Stopped, msgspec.MsgspecError):
            if self._previews and (self._ready or self._greeted()):
                self._look_through(notice, on_file)

    def _look_through(
        self, notice: Callable[[int, Sequence[wire.SentEvent]], None], on_file: Callable[[int], None]
    ) -> None:
        begun = 0
        left = list(self._streams)
        while left:
            for stream in list(left):
                while (data := stream.frame()) is not None:
                    frame = wire.decode(data)
                    if isinstance(frame, wire.Begin):
                        stream.head = frame.task
                        if not frame.task & wire.PREVIEW:
                            break
                        begun += 1
                        on_file(begun)
                    elif isinstance(frame, wire.Said) and stream.head is not None:
                        notice(stream.head & ~wire.PREVIEW, frame.events)
                if stream.ended or not (stream.head is None or stream.head & wire.PREVIEW):
                    left.remove(stream)
            while self._told < min(len(self._sequence), begun + _AHEAD):
                self._tell()
            if left:
                self._wait(left)

    def take(
        self, harness: str, path: Path, reading: Reading, source: Source, on_commit: Callable[[int], None]
    ) -> Outcome:
        """Put in what the workers read of this file; each piece with its position in a transaction of its own."""
        number = self._numbers.get(Task(harness, bytes(path)))
        if number is None:
            return "rest"
        try:
            stream = self._find(number)
            if stream is None:
                return "rest"
            return self._put(stream, reading, source, on_commit)
        except _Stopped:
            return "stopped"
        except Shut:
            return "rest"  # whoever reads the file in the ordinary way sees to it
        except msgspec.MsgspecError:
            _log.warning("what a worker sent cannot be read")
            return "rest"

    def _put(self, stream: _Stream, reading: Reading, source: Source, on_commit: Callable[[int], None]) -> Outcome:
        pieces: list[wire.Steps] = []
        for frame in self._frames(stream):
            match frame:
                case wire.Steps():
                    pieces.append(frame)
                case wire.Commit(at, state, moved, done):
                    at = msgspec.structs.replace(at, first_us=source.at.first_us)
                    with reading.transaction(at.mtime_ns // 1000) as intake:
                        for piece in pieces:
                            _replay(piece, intake)
                        intake.close(whole=False)
                        reading.save(intake, at, received(state))
                    pieces = []
                    on_commit(moved)
                    if done:
                        return "all"
                    if self._stop():
                        return "stopped"
                case _:
                    return "rest"
        return "rest"

    def _frames(self, stream: _Stream) -> Iterator[wire.Frame]:
        """The frames of the file at the head of a stream; none after the worker's end."""
        while (data := self._next(stream)) is not None:
            frame = wire.decode(data)
            if isinstance(frame, wire.Begin):
                stream.head = frame.task
                return
            yield frame
        stream.head = None

    def _find(self, number: int) -> _Stream | None:
        """The stream that has this task next; None when a worker died over it."""
        if not self._ready and not self._greeted():
            return None
        while self._told < min(len(self._sequence), self._previews + number + _AHEAD):
            self._tell()
        while True:
            waited = []
            for stream in self._streams:
                # What is left of a file that was given up stands before the next one's.
                while _is_before(stream.head, number) and (data := stream.frame()) is not None:
                    frame = wire.decode(data)
                    stream.head = frame.task if isinstance(frame, wire.Begin) else stream.head
                if stream.head == number:
                    return stream
                if _is_before(stream.head, number) and not stream.ended:
                    waited.append(stream)
            if not waited:
                return None
            self._wait(waited)

    def _greeted(self) -> bool:
        """Whether the workers are of this very program, with its rules; then what they compiled is ours as well."""
        hello = _Stream(self._hello)
        data = self._next(hello)
        self._ready = True
        frame = wire.decode(data) if data is not None else None
        if isinstance(frame, wire.Hello) and (frame.program, frame.rules) == (__version__, self._redactor.version):
            if frame.engine is not None:
                self._redactor.warm(frame.engine)
            return True
        _log.warning("the workers of a first reading did not start; it is read without them")
        self._end()
        return False

    def _next(self, stream: _Stream) -> memoryview | None:
        """The next frame, waited for; None at the end."""
        while (data := stream.frame()) is None:
            if stream.ended:
                return None
            self._wait([stream])
        return data

    def _wait(self, streams: Sequence[_Stream]) -> None:
        """Until one of the streams has something.

        Raises:
            _Stopped
        """
        while True:
            if self._stop():
                raise _Stopped
            readable, _, _ = select.select([stream.fd for stream in streams], [], [], _WAIT_S)
            if readable:
                for stream in streams:
                    if stream.fd in readable:
                        stream.fetch()
                return

    def _tell(self) -> None:
        """Put the numbers of the next tasks into the pipe."""
        end = min(len(self._sequence), self._told + _AHEAD)
        numbers = b"".join(number.to_bytes(4, "big") for number in self._sequence[self._told : end])
        with contextlib.suppress(BrokenPipeError):
            os.write(self._tasks_out, numbers)
        self._told = end
        if end == len(self._sequence) and self._tasks_out >= 0:
            os.close(self._tasks_out)
            self._tasks_out = -1

    def _end(self) -> None:
        """End the workers, whatever they do: nothing that they made is needed any more."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def close(self) -> None:
        """End the workers; when there is nothing left to do they end by themselves."""
        if self._tasks_out < 0 and not self._stop():
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_S)
        self._end()
        for stream in self._streams:
            stream.close()
        os.close(self._hello)
        if self._tasks_out >= 0:
            os.close(self._tasks_out)


def _replay(piece: wire.Steps, intake: Intake) -> None:
    for step in piece.steps:
        match step:
            case wire.Line(pos, number, events):
                intake.take(wire.all_arrived(events), pos, number)
            case wire.Long(pos, number, size, note):
                ready = wire.arrived(note)
                assert isinstance(ready, ReadyItem)
                intake.take_oversized(ready, size, pos, number)
            case wire.LeftOut(number, reason):
                intake.left_out(number, reason)
            case wire.OpenUnit():
                intake.open_unit()


def _is_before(head: int | None, number: int) -> bool:
    """Whether what a stream has next comes before the task with this number: what is previewed comes before all."""
    return head is None or bool(head & wire.PREVIEW) or head < number


def _pipe(given: contextlib.ExitStack) -> tuple[int, int]:
    """A pipe, closed again when the process cannot be started."""
    ends = os.pipe()
    for fd in ends:
        given.callback(os.close, fd)
    return ends
