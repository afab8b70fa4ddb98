import json
from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword_sync.batch import (
    MAX_BATCH_BYTES,
    MOST_BYTES,
    MOST_RECORDS,
    batches,
    check,
    check_early,
    early_batches,
    parse_name,
)
from afterword_sync.errors import Refused
from afterword_sync.record import Record, Stub, encode, payload

ORIGIN = "0123456789abcdef0123456789abcdef"
KINDS = frozenset({"thing", "tombstone"})


def record(n, text="x", **changes):
    fields = {"origin": ORIGIN, "n": n, "kind": "thing", "key": f"k{n}", "rev": 1, "body": payload({"text": text})}
    return Record(**(fields | changes))


def made(*records, rules="r1"):
    (batch,) = batches(records, rules)
    return batch


def forged(lines, **changes):
    """A batch of these lines whose header is right, but for `changes`."""
    rest = b"".join(line + b"\n" for line in lines)
    header = {
        "version": 1,
        "origin": ORIGIN,
        "first": 1,
        "last": len(lines),
        "count": len(lines),
        "hash": blake2b(rest, digest_size=32).hexdigest(),
        "state": {"rules": "r1", "stubs": blake2b(b"", digest_size=16).hexdigest()},
    } | changes
    return json.dumps(header).encode() + b"\n" + rest


def reason(data, kinds=KINDS):
    with pytest.raises(Refused) as refused:
        check(data, kinds)
    return refused.value.reason


def test_the_bytes_of_a_batch():
    batch = made(record(1, "Ł"), record(2, body=Stub.FORGOTTEN))
    header, first, second, end = batch.data.split(b"\n")
    assert batch.header.name == f"{ORIGIN}-1-2.jsonl"
    assert end == b""
    assert first == encode(record(1, "Ł"))
    assert second == encode(record(2, body=Stub.FORGOTTEN))
    assert json.loads(header) == {
        "version": 1,
        "origin": ORIGIN,
        "first": 1,
        "last": 2,
        "count": 2,
        "hash": blake2b(first + b"\n" + second + b"\n", digest_size=32).hexdigest(),
        "state": {"rules": "r1", "stubs": blake2b(b"2:forgotten", digest_size=16).hexdigest()},
    }
    assert check(batch.data, KINDS) == (batch.header, [record(1, "Ł"), record(2, body=Stub.FORGOTTEN)])


def test_a_batch_ends_after_a_thousand_records():
    cut = list(batches((record(n) for n in range(1, 2502)), "r1"))
    assert [(batch.header.first, batch.header.last) for batch in cut] == [(1, 1000), (1001, 2000), (2001, 2501)]


def test_a_batch_ends_before_it_is_too_long_and_a_long_record_stands_alone():
    third = "x" * (MOST_BYTES // 3)
    long = "x" * (MOST_BYTES + 1)
    texts = [third, third, third, third, long, "a", "b"]
    cut = list(batches((record(n, text) for n, text in enumerate(texts, 1)), "r1"))
    assert [(batch.header.first, batch.header.last) for batch in cut] == [(1, 2), (3, 4), (5, 5), (6, 7)]
    for batch in cut:
        assert check(batch.data, KINDS)[0] == batch.header


def test_the_borders_do_not_depend_on_how_much_comes_after():
    records = [record(n, "x" * (n % 7) * 9000) for n in range(1, 700)]
    whole = list(batches(records, "r1"))
    for length in (1, 100, 399, 650):
        assert list(batches(records[:length], "r1"))[:-1] == whole[: len(list(batches(records[:length], "r1"))) - 1]


def test_the_same_state_gives_the_same_bytes_and_another_one_does_not():
    assert made(record(1)).data == made(record(1)).data
    assert made(record(1), rules="r2").data != made(record(1)).data


LINES = [encode(record(1)), encode(record(2))]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "without a header line"),
        (b"x" * 5000, "without a header line"),
        (b"[]\n", "whose header is not one"),
        (b'{"version": 1}\n', "whose header is not one"),
        (b"[" * 4000 + b"\n", "whose header is not one"),
        (forged(LINES, version=2), "batch format 2 is newer than 1"),
        (forged(LINES, origin="../../etc/passwd"), "whose header is not one"),
        (forged(LINES, origin=ORIGIN + "\n"), "whose header is not one"),
        (forged(LINES, first=0), "whose header is not one"),
        (forged(LINES, hash="0" * 64), "does not have the hash"),
        (forged(LINES, count=3), "its header counts 3 records"),
        (forged(LINES, first=2, last=1, count=2), "its header counts 2 records"),
        (forged(LINES, first=1, last=3, count=3), "a batch of 2 records whose header counts 3"),
        (forged(LINES, last=5000, count=5000), "larger than a batch may be"),
        (forged(LINES, first=2, last=3), "record 1 is number 1 of 01234567, not 2"),
        (forged(LINES[:1] + LINES[:1]), "record 2 is number 1 of 01234567, not 2"),
        (forged([LINES[0], encode(record(3))]), "record 2 is number 3 of 01234567, not 2"),
        (forged([encode(record(1, origin="f" * 32))]), "number 1 of ffffffff, not 1 of 01234567"),
        (forged([b"{}"]), "record 1 of a batch: version: missing"),
        (forged([b""]), "not a JSON object"),
        (forged([b'{"a":' + b"[" * 100_000]), "record 1 of a batch: not a JSON object"),
        (forged([LINES[0].replace(b'"x"', b"[" * 3000 + b"]" * 3000)]), "not a JSON object"),
        (forged([LINES[0].replace(b'"version":1', b'"version":2')]), "record format 2 is newer than 1"),
        (forged([encode(record(1, kind="vision"))]), "kind 'vision' is not known here"),
        (forged([encode(record(1, body=Stub.FORGOTTEN))]), "the stubs are not those that the header tells of"),
    ],
)
def test_what_is_wrong_with_a_batch_is_said(data, words):
    assert words in reason(data)


def test_too_large_is_refused_before_anything_is_read():
    assert str(MAX_BATCH_BYTES) in reason(b"x" * (MAX_BATCH_BYTES + 1))


def test_what_a_newer_machine_wrote_is_refused_with_what_helps():
    for data in (forged(LINES, version=2), forged([LINES[0].replace(b'"version":1', b'"version":2')])):
        with pytest.raises(Refused) as refused:
            check(data, KINDS)
        assert refused.value.hint == "upgrade afterword on this machine"


def test_no_text_of_a_record_gets_into_the_reason():
    for line in (LINES[0].replace(b'"rev":1', b'"rev":"hunter2"'), LINES[0].replace(b'"thing"', b'"Hunter2"')):
        assert "unter2" not in reason(forged([line]))


def test_unknown_fields_are_kept():
    line = LINES[0].replace(b'"version":1', b'"version":1,"weather":"fine"')
    _, (kept,) = check(forged([line]), KINDS)
    assert kept.extra == (("weather", b'"fine"'),)


@given(st.data())
def test_a_batch_cut_off_or_changed_anywhere_is_refused(data):
    batch = made(*(record(n, "text " * (n % 5)) for n in range(1, data.draw(st.integers(2, 40))))).data
    at = data.draw(st.integers(0, len(batch) - 1))
    with pytest.raises(Refused):
        check(batch[:at], KINDS)
    changed = bytearray(batch)
    changed[at] ^= 1 << data.draw(st.integers(0, 7))
    try:
        header, records = check(bytes(changed), KINDS)
    except Refused:
        return
    # Only what the header says of itself may differ: never a record.
    assert records == check(batch, KINDS)[1]
    assert header.first == 1


@given(st.lists(st.integers(1, 10**6), unique=True, min_size=1, max_size=2500))
def test_early_records_travel_with_gaps(numbers):
    records = [record(n, kind="tombstone") for n in sorted(numbers)]
    messages = list(early_batches(records))
    assert [one for message in messages for one in check_early(message.data, KINDS)] == records
    assert all(message.count <= MOST_RECORDS for message in messages)
    assert messages[-1].highest == {ORIGIN: max(numbers)}


@pytest.mark.parametrize(
    "name",
    [
        f"{ORIGIN}-1-2.jsonl.part",
        f"{ORIGIN}-1-2 (conflicted copy).jsonl",
        f"{ORIGIN}-1-2.sync-conflict-20260101.jsonl",
        f"{ORIGIN}-0-2.jsonl",
        f"{ORIGIN}-2-1.jsonl",
        f"{ORIGIN}-01-2.jsonl",
        f"{ORIGIN}-1-2.jsonl\n",
        f"{ORIGIN.upper()}-1-2.jsonl",
        f"../{ORIGIN}-1-2.jsonl",
        f"{ORIGIN}-1-9999999999999999999.jsonl",
        f"{ORIGIN}-1-²2.jsonl",
    ],
)
def test_names_that_only_look_like_batches(name):
    assert parse_name(name) is None


def test_the_name_of_a_batch():
    assert parse_name(f"{ORIGIN}-1001-2000.jsonl") == (ORIGIN, 1001, 2000)
