"""Two machines talk: each says what it has, sends what the other lacks, and commits what comes, batch by batch.

Both sides do the same, at once. What was acknowledged is committed, so a cut at any byte loses nothing: the next
conversation begins with the vectors as they are then. Nothing that the other side says is believed.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Annotated, NoReturn, TypeVar

import msgspec

from afterword_sync.batch import MOST_RECORDS as MOST_AT_ONCE
from afterword_sync.batch import UPGRADE_HERE, Header, batches, check, check_early, early_batches, identity
from afterword_sync.channel import Channel
from afterword_sync.errors import LinkBroken, PeerRefused, Refused, SyncError, plain
from afterword_sync.frame import Frame, Kind
from afterword_sync.link import WINDOW_BYTES, Deadlines, Link
from afterword_sync.log import MOST_ASKED, Log, reading
from afterword_sync.plan import Range, lacking
from afterword_sync.record import Payload, Record
from afterword_sync.report import Exchanged, Progress, Step, Tally, Way, silent

PROTOCOLS = (1,)
"""The versions of this conversation that we can hold."""

_Origin = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}\Z")]
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_Number = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]


class Hello(msgspec.Struct, frozen=True, kw_only=True):
    """What each side says first."""

    protocols: list[int]
    program: Annotated[str, msgspec.Meta(max_length=64)]  # afterword's version, for people
    origin: _Origin
    name: Annotated[str, msgspec.Meta(max_length=256)]
    vector: dict[_Origin, _Count]
    heads: dict[_Origin, str]  # the `identity` of each origin's highest record
    dry: bool = False  # only wants to know
    asks: bool = False  # a `_Want` follows, unless either only wants to know


class _Protocols(msgspec.Struct):
    protocols: list[int]


class _Want(msgspec.Struct, frozen=True):
    """Numbers that are held without their payload, because a machine that passed them on had to hold it back: whoever
    has the payload, and need not, sends them once more."""

    origins: dict[_Origin, list[tuple[_Number, _Number]]]


class _Ack(msgspec.Struct, frozen=True):
    """`last` of `origin` is committed; for a message of early records, origin "" and how many they were."""

    origin: str
    last: int
    new: _Count


class _Done(msgspec.Struct, frozen=True):
    records: int
    early: int


class _No(msgspec.Struct, frozen=True):
    reason: str
    hint: str = ""


class _Sent(msgspec.Struct, frozen=True):
    origin: str
    first: int
    last: int
    size_bytes: int


_Told = TypeVar("_Told", bound=msgspec.Struct)


def exchange(
    channel: Channel,
    log: Log,
    *,
    program: str = "",
    progress: Progress = silent,
    deadlines: Deadlines | None = None,
    dry_run: bool = False,
) -> Exchanged:
    """Talk with the machine at the other end until both have what either has; the channel is closed afterwards.

    Returns:
        What moved; with `dry_run` what would.

    Raises:
        Refused: the other side's word was not taken. It is told why.
        PeerRefused: ours was not.
        LinkBroken: the connection ended. What was committed stays (`done` of the error tells), on both sides.
    """
    with Link(channel, deadlines or Deadlines()) as link:
        talk = _Talk(link, log, program, progress, dry=dry_run)
        try:
            return talk.run()
        except PeerRefused as err:
            err.done = talk.so_far
            raise
        except SyncError as err:
            err.done = talk.so_far
            if not isinstance(err, LinkBroken):
                _refuse(link, err.reason, err.hint)
            raise
        except Exception:
            _refuse(link, "the other machine met an error of its own", "see what it says there")
            raise


def serve(
    channel: Channel, log: Log, *, program: str = "", progress: Progress = silent, deadlines: Deadlines | None = None
) -> Exchanged:
    """The other end of `exchange`, for whoever was called. Both sides do the same; see there."""
    return exchange(channel, log, program=program, progress=progress, deadlines=deadlines)


def _refuse(link: Link, reason: str, hint: str) -> None:
    link.send(Kind.REFUSED, msgspec.json.encode(_No(reason, hint)))
    link.flush()
    link.drain()


class _Talk:
    def __init__(self, link: Link, log: Log, program: str, progress: Progress, *, dry: bool) -> None:
        self._link = link
        self._log = log
        self._program = program
        self._progress = progress
        self._dry = dry
        self._peer = Hello(protocols=[], program="", origin="0" * 32, name="", vector={}, heads={})
        self._peer_known = False
        self._have: dict[str, int] = {}  # ours, with what this conversation brought
        self._may_send: dict[str, int] = {}
        self._asked: Mapping[str, Sequence[tuple[int, int]]] = {}
        self._sent = Tally()
        self._received = Tally()
        self._early_sent = self._early_received = 0
        self._unacknowledged: deque[_Sent] = deque()
        self._unacknowledged_bytes = 0
        self._total = {Way.IN: 0, Way.OUT: 0}

    @property
    def so_far(self) -> Exchanged:
        """What is committed by now."""
        return Exchanged(
            self._peer.origin if self._peer_known else "",
            plain(self._peer.name, 100),
            self._sent.moved,
            self._received.moved,
            self._early_received,
        )

    def run(self) -> Exchanged:
        ours = self._greet()
        out, wanted = lacking(ours, self._peer.vector), lacking(self._peer.vector, self._have)
        asked = [] if self._dry or self._peer.dry or not self._peer.asks else self._ask(ours)
        if self._dry:
            self._talk(iter(()))
            return self._planned(out, wanted)
        if self._peer.dry:
            out, wanted = [], []
        self._may_send = {part.origin: part.last for part in wanted}
        self._total = {Way.OUT: sum(part.records for part in out), Way.IN: sum(part.records for part in wanted)}
        self._talk(chain(self._outgoing(out), self._again(asked)))
        return self.so_far

    # ---- the beginning -----------------------------------------------------------------------------------------------

    def _greet(self) -> Mapping[str, int]:
        """Say what we have and hear what they have. Returns the vector that we said."""
        ours = {origin: last for origin, last in self._log.vector().items() if last > 0}
        heads = {origin: head for origin, last in ours.items() if (head := self._identity(origin, last))}
        me = self._log.origin
        hello = Hello(
            protocols=list(PROTOCOLS),
            program=self._program[:64],
            origin=me,
            name=self._log.machines().get(me, "")[:256],
            vector=ours,
            heads=heads,
            dry=self._dry,
            asks=True,
        )
        self._link.send(Kind.HELLO, msgspec.json.encode(hello, order="sorted"))
        self._peer = self._heard()
        self._peer_known = True
        self._have = ours
        self._check_heads(ours)
        if (claimed := self._peer.vector.get(me, 0)) > ours.get(me, 0) and not self._dry:
            self._log.reborn(claimed)
        return ours

    def _heard(self) -> Hello:
        frame = self._take()
        if frame.kind is not Kind.HELLO:
            raise Refused("the other side did not say hello first")
        spoken = _decoded(frame.body, _Protocols).protocols
        if not set(spoken) & set(PROTOCOLS):
            newer = min(spoken, default=0) > max(PROTOCOLS)
            raise Refused(
                f"the other machine speaks version {max(spoken, default=0)} of the exchange, this one {max(PROTOCOLS)}",
                UPGRADE_HERE if newer else "upgrade afterword on the other machine",
            )
        peer = _decoded(frame.body, Hello)
        if peer.origin == self._log.origin:
            raise Refused(
                f"both machines are {peer.origin[:8]}: it is this machine itself, or one is a copy of the other",
                "give the copy an origin of its own before it makes anything new",
            )
        return peer

    def _check_heads(self, ours: Mapping[str, int]) -> None:
        for origin, last in self._peer.vector.items():
            if 0 < last <= ours.get(origin, 0) and origin in self._peer.heads:
                mine = self._identity(origin, last)
                if mine is not None and mine != self._peer.heads[origin]:
                    raise Refused(
                        f"two machines share origin {origin[:8]}: number {last} is one thing here and another there",
                        "one of them is a copy of the other; give the copy an origin of its own",
                    )

    def _identity(self, origin: str, n: int) -> str | None:
        with reading(self._log.read(origin, n, n, None)) as records:
            record = next(records, None)
        return identity(record) if record is not None else None

    def _ask(self, ours: Mapping[str, int]) -> list[Range]:
        """Say what is here without its payload, and hear what is there. Returns what may be sent once more."""
        self._asked = self._log.withheld(self._peer.origin, self._peer.vector)
        said = {origin: list(ranges) for origin, ranges in self._asked.items()}
        self._link.send(Kind.WANT, msgspec.json.encode(_Want(said), order="sorted"))
        frame = self._take()
        if frame.kind is not Kind.WANT:
            raise Refused("the other side did not say what it lacks")
        found = []
        count = 0
        for origin, ranges in sorted(_decoded(frame.body, _Want).origins.items()):
            before = 0
            known = min(ours.get(origin, 0), self._peer.vector.get(origin, 0))
            for first, last in ranges:
                count += 1
                if not before < first <= last or count > MOST_ASKED:
                    raise Refused("the other side asks for what cannot be")
                before = last
                if first <= known:
                    found.append(Range(origin, first, min(last, known)))
        return found

    def _planned(self, out: list[Range], wanted: list[Range]) -> Exchanged:
        moved = (Tally(), Tally())
        for tally, parts in zip(moved, (out, wanted), strict=True):
            for part in parts:
                tally.add(part.origin, part.first, part.last, part.records)
        return Exchanged(self._peer.origin, plain(self._peer.name, 100), moved[0].moved, moved[1].moved)

    # ---- the middle --------------------------------------------------------------------------------------------------

    def _talk(self, outgoing: Iterator[tuple[Kind, bytes, _Sent]]) -> None:
        """Send and commit, whichever can be done, until both are through."""
        ready: tuple[Kind, bytes, _Sent] | None = None
        said_done = heard_done = said_bye = heard_bye = False
        while not (said_bye and heard_bye):
            if ready is None and not said_done:
                ready = next(outgoing, None)
                if ready is None:
                    done = _Done(self._sent.records + self._in_flight(), self._early_sent)
                    self._link.send(Kind.DONE, msgspec.json.encode(done))
                    said_done = True
            if ready is not None and self._fits(ready[2]):
                self._send(*ready)
                ready = None
            if said_done and heard_done and not self._unacknowledged and not said_bye:
                self._link.send(Kind.BYE)
                said_bye = True
                continue
            can_send = (ready is None and not said_done) or (ready is not None and self._fits(ready[2]))
            try:
                frame = self._link.take(wait=not can_send)
            except LinkBroken:
                if said_bye:  # all is committed and acknowledged; only their goodbye is missing
                    return
                raise
            if frame is None:
                continue
            heard_done = heard_done or frame.kind is Kind.DONE
            heard_bye = heard_bye or frame.kind is Kind.BYE
            self._handle(frame, after_done=heard_done and frame.kind is not Kind.DONE)
        self._link.flush()

    def _in_flight(self) -> int:
        return sum(sent.last - sent.first + 1 for sent in self._unacknowledged if sent.origin)

    def _fits(self, sent: _Sent) -> bool:
        return not self._unacknowledged or self._unacknowledged_bytes + sent.size_bytes <= WINDOW_BYTES

    def _send(self, kind: Kind, body: bytes, sent: _Sent) -> None:
        self._unacknowledged.append(sent)
        self._unacknowledged_bytes += sent.size_bytes
        self._link.send(kind, body)

    def _outgoing(self, out: list[Range]) -> Iterator[tuple[Kind, bytes, _Sent]]:
        """The messages to send. No reading of the log stays open between two of them: what comes is written there."""
        if out:
            yield from self._tombstones()
        for part in out:
            first = part.first
            while first <= part.last:
                until = min(part.last, first + MOST_AT_ONCE - 1)
                with reading(self._log.read(part.origin, first, until, self._peer.origin)) as records:
                    batch = next(batches(records, self._log.rules()), None)
                if batch is None or batch.header.first != first:
                    raise Refused(f"number {first} of {part.origin[:8]} is missing in this ledger")
                yield Kind.BATCH, batch.data, _Sent(part.origin, first, batch.header.last, len(batch.data))
                first = batch.header.last + 1

    def _again(self, asked: list[Range]) -> Iterator[tuple[Kind, bytes, _Sent]]:
        """Of numbers that the other side has without their payload, those that have one for it here."""
        for part in asked:
            first = part.first
            while first <= part.last:
                until = min(part.last, first + MOST_AT_ONCE - 1)
                with reading(self._log.read(part.origin, first, until, self._peer.origin)) as records:
                    told = _Payloads(records)
                    batch = next(batches(told, self._log.rules()), None)
                if batch is None or batch.header.first != first:
                    raise Refused(f"number {first} of {part.origin[:8]} is missing in this ledger")
                if told.any:
                    yield Kind.BATCH, batch.data, _Sent(part.origin, first, batch.header.last, len(batch.data))
                first = batch.header.last + 1

    def _tombstones(self) -> Iterator[tuple[Kind, bytes, _Sent]]:
        told = dict(self._peer.vector)
        while True:
            with reading(self._log.priority(told, self._peer.origin)) as records:
                message = next(early_batches(records), None)
            if message is None:
                return
            told |= message.highest
            self._early_sent += message.count
            yield Kind.EARLY, message.data, _Sent("", 1, message.count, len(message.data))

    def _handle(self, frame: Frame, *, after_done: bool) -> None:
        match frame.kind:
            case Kind.BATCH | Kind.EARLY if after_done:
                raise Refused("the other side sends more after it said that it was done")
            case Kind.BATCH:
                self._commit(frame.body)
            case Kind.EARLY:
                self._commit_early(frame.body)
            case Kind.ACK:
                self._acknowledged(_decoded(frame.body, _Ack))
            case Kind.DONE:
                done = _decoded(frame.body, _Done)
                if (done.records, done.early) != (self._received.records, self._early_received):
                    raise Refused(
                        f"the other side counts {done.records} records that it sent; {self._received.records} came"
                    )
            case Kind.BYE:
                if self._unacknowledged:
                    raise Refused("the other side says goodbye before it has acknowledged everything")
            case Kind.HELLO | Kind.WANT | Kind.PING:
                raise Refused("the other side says hello again")
            case Kind.REFUSED:
                _refused(frame)

    def _commit(self, data: bytes) -> None:
        header, records = check(data, self._log.kinds)
        if self._answers(header):
            done = self._log.insert(records, self._peer.origin)
            self._took(header, done.new + done.filled)
            return
        expected = self._have.get(header.origin, 0) + 1
        if header.last > self._may_send.get(header.origin, 0):
            raise Refused(f"batch {header.name}: the other side never said that it has these numbers")
        if header.first != expected:
            raise Refused(f"batch {header.name}: number {expected} was to come")
        done = self._log.insert(records, self._peer.origin)
        self._have[header.origin] = header.last
        self._took(header, done.new)

    def _answers(self, header: Header) -> bool:
        """Whether a batch has numbers that we asked for."""
        ranges = self._asked.get(header.origin, ())
        at = bisect_right(ranges, header.first, key=_first) - 1
        return at >= 0 and header.last <= ranges[at][1]

    def _took(self, header: Header, new: int) -> None:
        self._received.add(header.origin, header.first, header.last, new)
        self._link.send(Kind.ACK, msgspec.json.encode(_Ack(header.origin, header.last, new)))
        done = self._received.records
        self._progress(Step(Way.IN, header.origin, done, max(done, self._total[Way.IN])))

    def _commit_early(self, data: bytes) -> None:
        records = check_early(data, self._log.kinds)
        for record in records:
            if record.kind not in self._log.early:
                raise Refused(f"early records: kind {record.kind!r} does not go first")
            if not self._have.get(record.origin, 0) < record.n <= self._may_send.get(record.origin, 0):
                raise Refused(f"early records: number {record.n} of {record.origin[:8]} is not one that is lacking")
        done = self._log.insert_early(records, self._peer.origin)
        self._early_received += len(records)
        self._link.send(Kind.ACK, msgspec.json.encode(_Ack("", len(records), done.new)))

    def _acknowledged(self, ack: _Ack) -> None:
        if not self._unacknowledged or (self._unacknowledged[0].origin, self._unacknowledged[0].last) != (
            ack.origin,
            ack.last,
        ):
            raise Refused("the other side acknowledges what was not sent")
        sent = self._unacknowledged.popleft()
        self._unacknowledged_bytes -= sent.size_bytes
        if sent.origin:
            self._sent.add(sent.origin, sent.first, sent.last, min(ack.new, sent.last - sent.first + 1))
            done = self._sent.records
            self._progress(Step(Way.OUT, sent.origin, done, max(done, self._total[Way.OUT])))

    def _take(self) -> Frame:
        frame = self._link.take(wait=True)
        assert frame is not None
        if frame.kind is Kind.REFUSED:
            _refused(frame)
        return frame


class _Payloads:
    """Records on their way, and whether one of them had a payload."""

    def __init__(self, records: Iterator[Record]) -> None:
        self._records = records
        self.any = False

    def __iter__(self) -> Iterator[Record]:
        for record in self._records:
            self.any = self.any or isinstance(record.body, Payload)
            yield record


def _first(part: tuple[int, int]) -> int:
    return part[0]


def _refused(frame: Frame) -> NoReturn:
    told = _decoded(frame.body, _No)
    raise PeerRefused(plain(told.reason), plain(told.hint))


def _decoded(body: bytes, kind: type[_Told]) -> _Told:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise Refused(f"the other side's {kind.__name__.strip('_').lower()} is not one") from err
