import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword_sync.record import (
    MAX_RECORD_BYTES,
    VERSION,
    NewerVersion,
    Payload,
    Record,
    RecordError,
    Stub,
    decode,
    encode,
    payload,
)

ORIGIN = "0123456789abcdef0123456789abcdef"


def wire(**changes):
    """A good record's fields with `changes`; None takes a field out."""
    fields = {
        "version": 1,
        "origin": ORIGIN,
        "n": 7,
        "kind": "item",
        "key": "i-1",
        "rev": 1,
        "payload": {"text": "run the tests"},
    }
    fields |= changes
    return json.dumps({k: v for k, v in fields.items() if v is not None}).encode()


def test_the_bytes_are_canonical():
    record = Record(ORIGIN, 7, "item", "i-1", 1, payload({"zone": "Ł", "at": {"b": 1, "a": [True, None, 2.5]}}))
    assert encode(record).decode() == (
        '{"key":"i-1","kind":"item","n":7,"origin":"0123456789abcdef0123456789abcdef",'
        '"payload":{"at":{"a":[true,null,2.5],"b":1},"zone":"Ł"},"rev":1,"version":1}'
    )


@pytest.mark.parametrize("reason", list(Stub))
def test_a_stub_says_why(reason):
    record = Record(ORIGIN, 7, "digest", "s-9f2c41d07a3b", 2, reason)
    assert f'"stub":"{reason.value}"'.encode() in encode(record)
    assert decode(encode(record)) == record


def test_order_and_white_space_of_what_arrives_do_not_matter():
    fields = json.loads(wire())
    turned = json.dumps(dict(reversed(fields.items())), indent=2).encode()
    assert decode(turned) == decode(wire())
    assert encode(decode(turned)) == encode(decode(wire()))


def test_fields_of_a_newer_program_are_kept():
    record = decode(wire(seal={"b": 2, "a": 1}, hint="x"))
    assert dict(record.extra) == {"seal": b'{"a":1,"b":2}', "hint": b'"x"'}
    again = json.loads(encode(record))
    assert (again["seal"], again["hint"]) == ({"a": 1, "b": 2}, "x")


def test_a_kind_nobody_knows_is_kept():
    assert decode(wire(kind="next-years-kind")).kind == "next-years-kind"


def test_a_newer_format_is_refused_by_its_version_whatever_else_it_holds():
    with pytest.raises(NewerVersion) as caught:
        decode(wire(version=VERSION + 1, n="seven"))
    assert caught.value.version == VERSION + 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"version": None}, "version: missing"),
        ({"version": 0}, "version: "),
        ({"version": "1"}, "version: "),
        ({"origin": None}, "origin: missing"),
        ({"origin": "0123"}, "origin: must be 32"),
        ({"origin": ORIGIN.upper()}, "origin: must be 32"),
        ({"origin": ORIGIN + "\n"}, "origin: must be 32"),
        ({"n": None}, "n: missing"),
        ({"n": 0}, "n: "),
        ({"n": True}, "n: "),
        ({"n": 1.5}, "n: "),
        ({"n": 2**63}, "n: "),
        ({"rev": -1}, "rev: "),
        ({"kind": ""}, "kind: "),
        ({"kind": "Item"}, "kind: "),
        ({"kind": "x" * 41}, "kind: "),
        ({"key": ""}, "key: "),
        ({"key": "a\nb"}, "key: "),
        ({"key": "k" * 1025}, "key: "),
        ({"payload": None}, "exactly one of payload and stub"),
        ({"stub": "forgotten"}, "exactly one of payload and stub"),
        ({"payload": [1]}, "payload: must be an object"),
        ({"payload": None, "stub": "lost"}, "stub: must be one of superseded, forgotten, rescrubbed, withheld"),
        ({"payload": None, "stub": 3}, "stub: "),
    ],
)
def test_what_is_wrong_is_named(changes, said):
    with pytest.raises(RecordError, match=said):
        decode(wire(**changes))


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        wire()[:-1],
        wire() + b"x",
        b'{"version":1,"key":"\xff"}',
        b'{"version":1,"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
def test_bytes_that_are_no_record(line):
    with pytest.raises(RecordError):
        decode(line)


def test_deep_nesting_in_an_unknown_field_is_refused():
    with pytest.raises(RecordError):
        decode(wire()[:-1] + b',"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}")


def test_an_oversized_record_is_refused_both_ways():
    big = Record(ORIGIN, 1, "item", "k", 1, payload({"text": "x" * MAX_RECORD_BYTES}))
    with pytest.raises(RecordError, match="a record of"):
        encode(big)
    with pytest.raises(RecordError, match="a record of"):
        decode(b" " * (MAX_RECORD_BYTES + 1))


def test_errors_hold_no_text_of_the_record():
    for changes in ({"key": "hunter2\n"}, {"stub": "hunter2", "payload": None}, {"n": "hunter2"}, {"kind": "hunter2!"}):
        with pytest.raises(RecordError) as caught:
            decode(wire(**changes))
        assert "hunter2" not in str(caught.value)


def test_a_record_made_here_is_checked_before_it_is_written():
    with pytest.raises(RecordError, match="origin"):
        encode(Record("me", 1, "item", "k", 1, Stub.FORGOTTEN))
    with pytest.raises(RecordError, match="extra"):
        encode(Record(ORIGIN, 1, "item", "k", 1, Stub.FORGOTTEN, extra=(("payload", b"{}"),)))


def test_a_payload_must_be_json():
    with pytest.raises(RecordError, match="payload"):
        payload({"when": object()})


texts = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
records = st.builds(
    Record,
    origin=st.from_regex(r"[0-9a-f]{32}", fullmatch=True),
    n=st.integers(1, 2**63 - 1),
    kind=st.from_regex(r"[a-z][a-z0-9-]{0,39}", fullmatch=True),
    key=st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60),
    rev=st.integers(0, 2**63 - 1),
    body=st.sampled_from(Stub) | st.builds(payload, st.dictionaries(texts, values, max_size=4)),
)


@given(records)
def test_there_and_back(record):
    line = encode(record)
    assert decode(line) == record
    assert encode(decode(line)) == line
    assert b"\n" not in line


@given(records)
def test_another_json_writer_reads_the_same(record):
    if isinstance(record.body, Payload):
        spelled = json.dumps(json.loads(encode(record)), indent=1).encode()
        assert encode(decode(spelled)) == encode(record)
