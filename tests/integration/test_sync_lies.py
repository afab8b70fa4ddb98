"""A peer that lies is refused whole, with the reason, and nothing of what it brought is kept."""

import json
import os
import struct
import threading
from hashlib import blake2b

import pytest
import zstandard
from sync_world import FAST, HOLD, THING, TOMBSTONE, Liar, against, channels, head, machine, meet, talk

from afterword_sync.batch import MAX_BATCH_BYTES, MOST_BYTES, batches, early_batches
from afterword_sync.conversation import exchange
from afterword_sync.errors import LinkBroken, NeverGreeted, PeerRefused, Refused
from afterword_sync.frame import MAGIC, Kind
from afterword_sync.link import WINDOW_BYTES, Deadlines
from afterword_sync.record import Record, Stub, payload

PEER, OTHER = "f" * 32, "e" * 32


@pytest.fixture
def log():
    made = machine("mini")
    for n in range(5):
        made.make(THING, f"k{n}", text="kept")
    return made


def record(n, origin=PEER, **changes):
    fields = {"kind": THING, "key": f"p{n}", "rev": 1, "body": payload({"text": "new"})}
    return Record(origin=origin, n=n, **(fields | changes))


def batch(*records):
    return next(batches(records, "r1")).data


def resealed(data, change, **header):
    """A batch whose lines are changed and whose header fits them again, but for `header`."""
    first, rest = data.split(b"\n", 1)
    rest = change(rest)
    fields = json.loads(first) | {"hash": blake2b(rest, digest_size=32).hexdigest()} | header
    return json.dumps(fields).encode() + b"\n" + rest


def lie(log, *frames, **hello):
    """What a machine says to these frames; nothing may be different there afterwards."""
    before = log.saved()

    def told(liar):
        liar.begin(**({"vector": {PEER: 9}} | hello))
        for kind, body in frames:
            liar.say(kind, body)

    got, said = against(log, told)
    assert (log.rows, log.values, log.origin) == (before.rows, before.values, before.origin)
    assert isinstance(got, Refused)
    assert said == {"reason": got.reason, "hint": got.hint}
    return got


GOOD = batch(record(1), record(2))

LIES = [
    ("does not have the hash", [(Kind.BATCH, GOOD[:-1] + b" ")]),
    ("does not have the hash", [(Kind.BATCH, GOOD[: len(GOOD) // 2])]),
    ("its header counts 3 records", [(Kind.BATCH, resealed(GOOD, bytes, count=3))]),
    ("a batch of 2 records whose header counts 3", [(Kind.BATCH, resealed(GOOD, bytes, count=3, last=3))]),
    ("number 1 was to come", [(Kind.BATCH, batch(record(2)))]),
    ("never said that it has these numbers", [(Kind.BATCH, batch(*(record(n) for n in range(1, 11))))]),
    ("never said that it has these numbers", [(Kind.BATCH, batch(record(1, OTHER)))]),
    (
        "number 1 of eeeeeeee, not 1 of ffffffff",
        [(Kind.BATCH, resealed(GOOD, lambda d: d.replace(b"f" * 32, b"e" * 32)))],
    ),
    ("kind 'spell' is not known here", [(Kind.BATCH, batch(record(1, kind="spell")))]),
    ("record format 2 is newer", [(Kind.BATCH, resealed(GOOD, lambda d: d.replace(b'"version":1', b'"version":2')))]),
    ("batch format 9 is newer", [(Kind.BATCH, resealed(GOOD, bytes, version=9))]),
    ("not a JSON object", [(Kind.BATCH, resealed(GOOD, lambda d: d.replace(b'"new"', b"[" * 60_000, 1)))]),
    ("whose header is not one", [(Kind.BATCH, resealed(GOOD, bytes, origin="../" * 10 + "ab"))]),
    ("key: must be 1 to 1024", [(Kind.BATCH, resealed(GOOD, lambda d: d.replace(b'"p1"', b'"\\u0000"')))]),
    ("without a header line", [(Kind.BATCH, b"{}" * 5000)]),
    ("kind 'thing' does not go first", [(Kind.EARLY, next(early_batches([record(3)])).data)]),
    ("number 10 of ffffffff is not one", [(Kind.EARLY, next(early_batches([record(10, kind=TOMBSTONE)])).data)]),
    ("acknowledges what was not sent", [(Kind.ACK, b'{"origin":"","last":1,"new":1}')]),
    ("ack is not one", [(Kind.ACK, b"[]")]),
    ("counts 5 records that it sent; 0 came", [(Kind.DONE, b'{"records":5,"early":0}')]),
    ("after it said that it was done", [(Kind.DONE, b'{"records":0,"early":0}'), (Kind.BATCH, GOOD)]),
    ("says hello again", [(Kind.HELLO, b"{}")]),
    ("goodbye before", [(Kind.BYE, b"")]),
]


@pytest.mark.parametrize(("words", "frames"), LIES, ids=[f"{n}-{words}" for n, (words, _) in enumerate(LIES)])
def test_a_lie_is_refused(log, words, frames):
    assert words in lie(log, *frames).reason


def test_a_batch_played_again(log):
    def told(liar):
        liar.begin(vector={PEER: 9})
        liar.say(Kind.BATCH, GOOD)
        liar.hear(Kind.ACK)
        liar.say(Kind.BATCH, GOOD)

    got, _ = against(log, told)
    assert "number 3 was to come" in got.reason
    # The first time it was true, committed and acknowledged: that stays.
    assert log.vector()[PEER] == 2
    assert [(moved.records, moved.new) for moved in got.done.received] == [(2, 2)]


def test_records_of_our_own_that_we_never_made(log):
    forged = batch(*(record(n, log.origin) for n in range(6, 9)))
    assert "never said that it has these numbers" in lie(log, (Kind.BATCH, forged)).reason
    # A peer that says that it has them is believed as far as this: the numbers are not used again.
    before = log.origin
    against(log, lambda liar: (liar.begin(vector={log.origin: 8}), liar.close()))
    assert log.origin != before
    assert log.vector()[before] == 5


def test_a_peer_that_is_us_or_a_copy_of_us(log):
    assert "it is this machine itself" in lie(log, origin=log.origin).reason
    heads = {log.origin: head(log, log.origin, 3)}
    assert "two machines share origin" in lie(log, vector={log.origin: 4}, heads=heads).reason
    assert (
        "number 1 was to come"
        in lie(log, (Kind.BATCH, batch(record(2))), vector={log.origin: 3, PEER: 2}, heads=heads).reason
    )


@pytest.mark.parametrize(
    ("hello", "words", "hint"),
    [
        ({"protocols": [7, 8]}, "speaks version 8 of the exchange, this one 1", "upgrade afterword on this machine"),
        ({"protocols": [0]}, "speaks version 0 of the exchange, this one 1", "upgrade afterword on the other machine"),
        ({"protocols": []}, "speaks version 0", "upgrade afterword on the other machine"),
        ({"protocols": "1"}, "protocols is not one", ""),
        ({"origin": "../../x"}, "hello is not one", ""),
        ({"vector": {"nobody": 3}}, "hello is not one", ""),
        ({"vector": {PEER: -1}}, "hello is not one", ""),
        ({"vector": {PEER: 2**63}}, "hello is not one", ""),
        ({"name": "x" * 300}, "hello is not one", ""),
    ],
)
def test_a_hello_that_is_none(log, hello, words, hint):
    refused = lie(log, **hello)
    assert words in refused.reason
    assert refused.hint == hint


def test_a_newer_peer_that_also_speaks_our_version(log):
    def told(liar):
        liar.begin(protocols=[1, 2], weather="fine")
        liar.say(Kind.DONE, b'{"records":0,"early":0,"mood":"good"}')
        sent = liar.hear(Kind.BATCH)
        assert sent.body.count(b"\n") == 6
        liar.say(Kind.ACK, json.dumps({"origin": log.origin, "last": 5, "new": 5}).encode())
        liar.hear(Kind.BYE)
        liar.say(Kind.BYE)

    got, _ = against(log, told)
    assert [(moved.records, moved.new) for moved in got.sent] == [(5, 5)]


def bomb(size):
    return zstandard.ZstdCompressor().compress(bytes(size))


FRAMES = [
    ("a frame of a kind that is not known here", struct.pack(">cII", b"?", 0, 0)),
    ("bytes; 25169921 are allowed", struct.pack(">cII", b"B", 10, 2**32 - 1)),
    ("bytes; 25169921 are allowed", struct.pack(">cII", b"B", 2**31, 10)),
    ("bytes; 1048576 are allowed", struct.pack(">cII", b"A", 2**21, 2**21)),
    ("bytes; 1048576 are allowed", struct.pack(">cII", b"A", 3, 4)),
    ("cannot be unpacked", struct.pack(">cII", b"B", 4, 4) + b"text"),
    ("another size than it tells", struct.pack(">cII", b"B", len(bomb(2**26)), 10) + bomb(2**26)),
    ("an empty frame", struct.pack(">cII", b"B", len(bomb(0)), 0) + bomb(0)),
    ("cannot be unpacked", struct.pack(">cII", b"B", len(bomb(9) * 2), 9) + bomb(9) * 2),
]


@pytest.mark.parametrize(("words", "data"), FRAMES)
def test_a_frame_that_is_none(log, words, data):
    def told(liar):
        liar.begin(vector={PEER: 9})
        liar.raw(data)

    got, said = against(log, told)
    assert words in got.reason
    assert said["reason"] == got.reason
    assert len(log.rows) == 5


def test_the_largest_record_passes_and_a_larger_one_cannot_be_made(log):
    room = (
        MAX_BATCH_BYTES
        - 4096
        - 1
        - len(b'{"key":"big","kind":"thing","n":6,"origin":"","payload":{"text":""},"rev":1,"version":1}')
        - 32
    )
    log.make(THING, "big", text="x" * room)
    other = machine("other")
    assert meet(other, log) == (0, 6)
    assert other.equal() == log.equal()


def test_more_than_was_acknowledged_is_not_taken():
    log, sent = machine("busy"), threading.Event()
    text = os.urandom(2_000_000).hex()
    insert = log.insert_early
    log.insert_early = lambda records, sender: sent.wait(20) and insert(records, sender)

    def told(liar):
        liar.begin(vector={PEER: 40})
        liar.patience_s = 0.5
        try:
            for n in range(1, 40):
                early = record(n, kind=TOMBSTONE, body=payload({"text": text}))
                liar.say(Kind.EARLY, next(early_batches([early])).data)
        finally:
            sent.set()

    got, _ = against(log, told)
    assert got.reason == "the other side sends more than was acknowledged"
    assert len(log.rows) < 12


def test_no_more_is_read_than_may_be_under_way():
    """A first exchange of any size takes the memory of some batches."""
    log, read = machine("here"), []
    text = os.urandom(100_000).hex()
    for n in range(200):
        log.make(THING, f"k{n}", rev=1, text=text)
    reader = log.read
    log.read = lambda *words: (read.append(record.n) or record for record in reader(*words))

    def told(liar):
        liar.begin()
        for _ in range(2):
            liar.hear(Kind.BATCH)
        read_until_now = max(read[1:])
        assert read_until_now * 200_000 < WINDOW_BYTES + 2 * MOST_BYTES
        liar.say(Kind.REFUSED, b'{"reason":"enough"}')

    got, _ = against(log, told)
    assert got.reason == "enough"
    assert max(read[1:]) < 70


def test_noise_before_the_greeting_is_skipped_and_not_endless():
    here, there = machine("here"), machine("there")
    there.make(THING, "a", text="x")
    one, other = channels()
    other.write(b"Welcome!\r\n" + MAGIC[:-3] + b"\x00" * 70_000, 5)
    answers = {}

    thread = threading.Thread(target=lambda: answers.update(got=exchange(other, there, deadlines=FAST)))
    thread.start()
    assert exchange(one, here, deadlines=FAST).received[0].new == 1
    thread.join()

    one, other = channels()
    noise = threading.Thread(target=_pour, args=(other,))
    noise.start()
    with pytest.raises(Refused) as refused:
        exchange(one, here, deadlines=FAST)
    assert "not what afterword says" in refused.value.reason
    noise.join()
    other.close()


def _pour(channel):
    try:
        while True:
            channel.write(b"tick " * 10_000, 5)
    except (OSError, LinkBroken):
        pass


def test_silence_ends_with_a_deadline_and_a_slow_ledger_does_not():
    deadlines = Deadlines(hello_s=0.3, idle_s=0.3, ping_s=0.05, end_s=0.2)
    one, other = channels()
    with pytest.raises(NeverGreeted) as silent:
        exchange(one, machine("here"), deadlines=deadlines)
    assert "said nothing for 0.3 s" in silent.value.reason
    other.close()

    log = machine("here")
    one, other = channels()
    liar = Liar(other)
    thread = threading.Thread(target=liar.begin)
    thread.start()
    with pytest.raises(LinkBroken) as silent:
        exchange(one, log, deadlines=deadlines)
    thread.join()
    liar.close()
    assert silent.value.reason == "nothing was heard from the other side for 0.3 s"

    slow, quick = machine("slow"), machine("quick")
    quick.make(THING, "a", text="x")
    insert = slow.insert

    def take_your_time(records, sender):
        threading.Event().wait(1)
        return insert(records, sender)

    slow.insert = take_your_time
    answers = talk(quick, slow, deadlines=deadlines)
    assert answers["here"].sent[0].new == 1


def test_both_hear_why(log):
    other = machine("other")
    other.make("spell", "a", text="x")
    answers = talk(log, other)
    assert answers["here"].reason == "record 1 of a batch: kind 'spell' is not known here"
    assert isinstance(answers["there"], PeerRefused)
    assert answers["there"].reason == answers["here"].reason
    assert answers["there"].hint == "upgrade afterword on this machine"


def test_what_a_peer_says_is_shown_on_one_line_without_control_characters(log):
    def told(liar):
        liar.begin(name="mini\x1b[31m\nsecond")
        liar.say(Kind.REFUSED, json.dumps({"reason": "no\x1b]0;title\x07\nmore " + "x" * 5000}).encode())

    got, _ = against(log, told)
    assert got.reason.startswith("no ]0;title more xxx")
    assert len(got.reason) == 300
    assert got.done.name == "mini [31m second"


def test_tombstones_go_before_everything_else():
    here, there = machine("here"), machine("there")
    for n in range(2500):
        here.make(THING, f"k{n}", text="x")
    there.rows |= {}
    here.make(HOLD, "k1", origins=[])
    here.forget("k7")
    order = []
    early, insert = there.insert_early, there.insert
    there.insert_early = lambda records, sender: order.append([r.kind for r in records]) or early(records, sender)
    there.insert = lambda records, sender: order.append(len(records)) or insert(records, sender)
    meet(here, there)
    assert order == [[TOMBSTONE], 1000, 1000, 502]
    assert there.equal() == here.equal()
    assert next(row for row in there.rows.values() if row.key == "k7" and row.kind == THING).stub is Stub.FORGOTTEN


def test_a_link_cut_at_every_frame_goes_on_where_it_stopped():
    """Every border between frames, and inside every frame, on both sides."""
    here, there = machine("here"), machine("there")
    for n in range(30):
        here.make(THING, f"h{n}", text="x" * 50)
        there.make(THING, f"t{n}", text="y" * 50)
    here.forget("h3")
    whole = talk(here.saved(), there.saved())["bytes"]
    for side, total in zip(("cut_here", "cut_there"), whole, strict=True):
        for at in range(0, total, 23):
            one, other = here.saved(), there.saved()
            talk(one, other, **{side: at})
            for log in (one, other):
                assert len(log.rows) in (30, 31, 32, 60, 61)
            meet(one, other)
            assert one.equal() == other.equal()
            assert meet(one, other) == (0, 0)
