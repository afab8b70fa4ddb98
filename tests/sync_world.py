"""A ledger that is a dictionary, and links that can be cut: what the exchange library is tested on."""

import copy
import json
import os
import socket
import struct
import threading
from dataclasses import dataclass, field
from hashlib import blake2b

from afterword_sync.batch import identity
from afterword_sync.channel import Pipes
from afterword_sync.conversation import exchange, serve
from afterword_sync.errors import Refused, SyncError
from afterword_sync.frame import MAGIC, Frame, Kind, Packer, Unpacker
from afterword_sync.link import Deadlines
from afterword_sync.log import Inserted
from afterword_sync.record import Payload, Record, Stub, payload

THING, HOLD, TOMBSTONE = "thing", "hold", "tombstone"
FAST = Deadlines(hello_s=5, idle_s=5, ping_s=2, end_s=1)


@dataclass
class Row:
    kind: str
    key: str
    rev: int
    mark: str | None  # hash of the payload that came with it; None when it came as a stub
    stub: Stub | None  # what it came as

    @property
    def id(self):
        return (self.kind, self.key, self.rev)


@dataclass
class MemoryLog:
    """Things with revisions, holds and tombstones; the merge rule is (revision, payload), the higher one wins."""

    name: str
    origin: str
    rows: dict = field(default_factory=dict)  # (origin, n) -> Row
    values: dict = field(default_factory=dict)  # (kind, key) -> (rev, payload bytes)
    mints: int = 0
    crash_after: int | None = None  # batches until an insert dies, for tests of crashes
    tops: dict = field(default_factory=dict)  # origin -> what `vector` says

    kinds = frozenset({THING, HOLD, TOMBSTONE})
    early = frozenset({TOMBSTONE})

    # ---- what a machine does by itself

    def make(self, kind, key, rev=None, **fields):
        """Number a new revision of our own."""
        if rev is None:
            rev = 1 + max((row.rev for row in self.rows.values() if (row.kind, row.key) == (kind, key)), default=0)
        self._add(self.origin, self.vector()[self.origin] + 1, kind, key, rev, payload(fields))

    def forget(self, key):
        self.make(TOMBSTONE, key, rev=1, at="ever")

    def hold(self, key, origins):
        self.make(HOLD, key, origins=sorted(origins))

    def lift(self, key):
        """Let go, and issue the content again: whoever had a stub gets it by the new number."""
        self.hold(key, [])
        if (THING, key) in self.values:
            rev, json_bytes = self.values[THING, key]
            self._add(self.origin, self.vector()[self.origin] + 1, THING, key, rev, Payload(json_bytes))

    def held(self):
        return sorted({row.key for row in self.rows.values() if row.kind == HOLD})

    def mint(self):
        self.mints += 1
        self.origin = blake2b(f"{self.name} {self.origin} {self.mints}".encode(), digest_size=16).hexdigest()

    def saved(self):
        return copy.deepcopy(self)

    def equal(self):
        """What *equal* compares: no numbers, no origins, no revisions that lost."""
        return {
            key: value
            for (kind, key), (_, value) in self.values.items()
            if kind == THING and (TOMBSTONE, key) not in self.values
        }, sorted(key for kind, key in self.values if kind == TOMBSTONE)

    # ---- the protocol

    def vector(self):
        return {self.origin: 0} | self.tops

    def machines(self):
        return {self.origin: self.name}

    def rules(self):
        return "rules-1"

    def read(self, origin, first, last, peer):
        for n in range(first, last + 1):
            yield self._record(origin, n, peer)

    def priority(self, have, peer):
        top = self.vector()
        for origin, n in sorted(self.rows):
            if have.get(origin, 0) < n <= top[origin] and self.rows[origin, n].kind in self.early:
                yield self._record(origin, n, peer)

    def withheld(self, peer, vector):
        found = {}
        for origin, n in sorted(self.rows):
            row = self.rows[origin, n]
            if row.stub is Stub.WITHHELD and row.mark is None and (TOMBSTONE, row.key) not in self.values:
                found.setdefault(origin, []).append((n, n))
        return found

    def insert(self, records, sender):
        first = records[0]
        assert [record.n for record in records] == list(range(first.n, first.n + len(records)))
        assert first.n <= self.vector().get(first.origin, 0) + 1, "the library lets no gap through"
        return self._insert(records)

    def insert_early(self, records, sender):
        assert all(record.kind in self.early for record in records)
        return self._insert(records)

    def reborn(self, known):
        if known > self.vector()[self.origin]:
            self.mint()
        return self.origin

    # ---- inside

    def _insert(self, records):
        if self.crash_after is not None:
            if self.crash_after == 0:
                raise MemoryError("the machine dies here")
            self.crash_after -= 1
        own = self.vector()[self.origin]
        for record in records:
            row = self.rows.get((record.origin, record.n))
            if row is not None and row.id != (record.kind, record.key, record.rev):
                raise Refused(f"two machines share origin {record.origin[:8]}")
            if record.origin == self.origin and record.n > own:
                raise Refused(f"number {record.n} is ours, and we never made it")
        new = filled = 0
        for record in records:
            row = self.rows.get((record.origin, record.n))
            if row is None:
                new += 1
                self._add(record.origin, record.n, record.kind, record.key, record.rev, record.body)
            elif isinstance(record.body, Payload) and row.mark is None and (TOMBSTONE, row.key) not in self.values:
                filled += 1
                self._add(record.origin, record.n, record.kind, record.key, record.rev, record.body)
        return Inserted(new=new, known=len(records) - new - filled, filled=filled)

    def _add(self, origin, n, kind, key, rev, body):
        here = isinstance(body, Payload)
        mark = blake2b(body.json).hexdigest() if here else None
        self.rows[origin, n] = Row(kind, key, rev, mark, None if here else body)
        top = self.tops.get(origin, 0)
        while (origin, top + 1) in self.rows:
            top += 1
        self.tops[origin] = top
        if here and not (kind == THING and (TOMBSTONE, key) in self.values):
            self.values[kind, key] = max(self.values.get((kind, key), (0, b"")), (rev, body.json))
        if kind == TOMBSTONE:
            self.values.pop((THING, key), None)

    def _record(self, origin, n, peer):
        row = self.rows[origin, n]
        return Record(origin, n, row.kind, row.key, row.rev, self._body(row, peer))

    def _body(self, row, peer):
        if row.kind == THING and (TOMBSTONE, row.key) in self.values:
            return Stub.FORGOTTEN
        value = self.values.get((row.kind, row.key))
        if value is None or row.rev > value[0] or (row.rev == value[0] and row.mark is None):
            return row.stub or Stub.SUPERSEDED
        if (row.rev, row.mark) != (value[0], blake2b(value[1]).hexdigest()):
            return Stub.SUPERSEDED
        if row.kind == THING and (HOLD, row.key) in self.values:
            origins = json.loads(self.values[HOLD, row.key][1])["origins"]
            if (origins and peer is None) or peer in origins:
                return Stub.WITHHELD
        return Payload(value[1])


def machine(name):
    return MemoryLog(name, blake2b(name.encode(), digest_size=16).hexdigest())


class Cut:
    """A channel that dies after so many bytes were written on it; counts what it wrote."""

    def __init__(self, inner, after=None):
        self._inner = inner
        self._left = after
        self.written = 0

    def read(self, size, timeout_s):
        return self._inner.read(size, timeout_s)

    def write(self, data, timeout_s):
        if self._left is not None and self._left < len(data):
            head, self._left = data[: self._left], 0
            if head:
                self._inner.write(head, timeout_s)
                self.written += len(head)
            self._inner.close()
            raise BrokenPipeError
        if self._left is not None:
            self._left -= len(data)
        self._inner.write(data, timeout_s)
        self.written += len(data)

    def close(self):
        self._inner.close()


def channels():
    """Two ends of a stream."""
    ends = socket.socketpair()
    made = tuple(Pipes(*_two(end)) for end in ends)
    for end in ends:
        end.close()
    return made


def _two(end):
    return os.dup(end.fileno()), os.dup(end.fileno())


def talk(here, there, cut_here=None, cut_there=None, deadlines=FAST, **options):
    """An exchange of two logs; what either side returned or raised, and the bytes each wrote."""
    one, other = channels()
    one, other = Cut(one, cut_here), Cut(other, cut_there)
    answers = {}

    def side(name, call, channel, log, **extra):
        try:
            answers[name] = call(channel, log, deadlines=deadlines, **extra)
        except (SyncError, MemoryError) as err:
            answers[name] = err

    thread = threading.Thread(target=side, args=("there", serve, other, there))
    thread.start()
    side("here", exchange, one, here, **options)
    thread.join()
    answers["bytes"] = (one.written, other.written)
    return answers


def meet(here, there):
    """An exchange that must go well: how many records went out and came in."""
    answers = talk(here, there)
    for side in ("here", "there"):
        if isinstance(answers[side], Exception):
            raise answers[side]
    return (
        sum(moved.records for moved in answers["here"].sent),
        sum(moved.records for moved in answers["here"].received),
    )


class Liar:
    """The other end of a conversation, played by hand: frames go out as they are told."""

    def __init__(self, channel):
        self._channel = channel
        self.patience_s = 5
        self._packer = Packer()
        self._unpacker = Unpacker(lambda size: channel.read(size, 5))

    def begin(self, **hello):
        """Say hello, with what a good one has unless told otherwise."""
        said = {
            "protocols": [1],
            "program": "9",
            "origin": "f" * 32,
            "name": "liar",
            "vector": {},
            "heads": {},
        } | hello
        self.raw(MAGIC)
        self.say(Kind.HELLO, json.dumps(said).encode())
        self._unpacker.skip_to_magic()
        return json.loads(self.hear(Kind.HELLO).body)

    def raw(self, data):
        self._channel.write(data, self.patience_s)

    def say(self, kind, body=b""):
        self.raw(self._packer.pack(Frame(kind, body)))

    def frame(self, kind, wire_bytes, body_bytes, body=b""):
        """A frame whose lengths are what is told."""
        self.raw(struct.pack(">cII", kind, wire_bytes, body_bytes) + body)

    def hear(self, kind):
        """The next frame of this kind."""
        while True:
            frame = self._unpacker.next()
            if frame.kind is kind:
                return frame

    def close(self):
        self._channel.close()


def against(log, lie, **options):
    """Let `lie(liar)` talk with a machine; what the machine said to it, and the log must be as it was."""
    one, other = channels()
    answer = {}

    def run():
        try:
            answer["got"] = serve(one, log, deadlines=FAST, **options)
        except SyncError as err:
            answer["got"] = err

    thread = threading.Thread(target=run)
    thread.start()
    liar = Liar(other)
    told = None
    try:
        lie(liar)
        told = json.loads(liar.hear(Kind.REFUSED).body)
    except (SyncError, OSError) as err:
        told = err
    finally:
        liar.close()
        thread.join()
    return answer["got"], told


def head(log, origin, n):
    return identity(next(log.read(origin, n, n, None)))
