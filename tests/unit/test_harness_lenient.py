"""Lines that are not one clean record: repaired, parted or counted, by both decoders; and none ever raises."""

import json
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterword.capture.harness.table import HARNESSES
from afterword.capture.harness.texts import tidy, without_blocks
from afterword.domain.events import BadLine, Decoded, Event, Item, Skipped
from afterword.domain.ids import item_id

from .harness_model import FIXTURES, fingerprint, load, read_lines

S = "s"


def claude(text: str, n: int = 1) -> bytes:
    message = {"role": "user", "content": text}
    return json.dumps(
        {"parentUuid": None, "sessionId": S, "type": "user", "uuid": f"u{n}", "message": message},
        separators=(",", ":"),
        ensure_ascii=False,
    ).encode("utf-8", "surrogatepass")


def codex(text: str, n: int = 1) -> bytes:
    payload = {"type": "user_message", "message": text, "images": []}
    return json.dumps(
        {"timestamp": f"2026-03-04T10:00:0{n}.000Z", "type": "event_msg", "payload": payload},
        separators=(",", ":"),
        ensure_ascii=False,
    ).encode("utf-8", "surrogatepass")


MAKERS = {"claude_code": claude, "codex": codex}
both = pytest.mark.parametrize("module", MAKERS)

REPAIRED = {
    "byte order mark": (lambda make: b"\xef\xbb\xbf" + make("zebra"), "zebra"),
    "carriage return": (lambda make: make("zebra") + b"\r", "zebra"),
    "nul bytes before": (lambda make: b"\0" * 600 + make("zebra"), "zebra"),
    "nul byte in a text": (lambda make: make("ze@bra").replace(b"@", b"\0"), "zebra"),
    "invalid utf-8": (lambda make: make("ze@bra").replace(b"@", b"\xff"), "ze\ufffdbra"),
    "raw control character": (lambda make: make("ze@bra").replace(b"@", b"\x01\t"), "ze\x01\tbra"),
    "lone surrogate escaped": (lambda make: make("ze@bra").replace(b"@", b"\\ud83d"), "ze\ufffdbra"),
    "lone low surrogate escaped": (lambda make: make("ze@bra").replace(b"@", b"\\udc00"), "ze\ufffdbra"),
    "lone surrogate raw": (lambda make: make("ze\ud83dbra"), "ze\ufffd\ufffd\ufffdbra"),
    "NaN in a field": (lambda make: make("zebra")[:-1] + b',"x":NaN}', "zebra"),
    "spaces around": (lambda make: b"  " + make("zebra") + b" \t", "zebra"),
}


def said(module: str, *lines: bytes) -> tuple[list[str], list[str]]:
    model = read_lines(module, lines)
    return [item.text for item in model.items.values()], model.bad


@both
@pytest.mark.parametrize("name", REPAIRED)
def test_a_damaged_line_is_read_and_is_not_bad(module: str, name: str) -> None:
    damage, text = REPAIRED[name]
    assert said(module, damage(MAKERS[module])) == ([text], [])


@both
def test_glued_records_are_parted(module: str) -> None:
    make = MAKERS[module]
    assert said(module, make("one") + make("two", 2) + b" " + make("three", 3)) == (["one", "two", "three"], [])


@both
@pytest.mark.parametrize("cut", range(5, 60, 5))
def test_half_a_record_before_a_whole_one(module: str, cut: int) -> None:
    make = MAKERS[module]
    texts, bad = said(module, make("lost")[:cut] + make("kept", 2))
    assert texts == ["kept"]
    assert bad == ["half a record before a whole one"]


@both
def test_half_a_record_after_a_whole_one(module: str) -> None:
    make = MAKERS[module]
    assert said(module, make("kept") + make("lost", 2)[:40]) == (["kept"], ["not JSON"])


def test_a_piece_of_a_half_record_is_no_record() -> None:
    half = b'{"type":"user","uuid":"u1","message":{"content":[{"type":"text","text":"lost"}'
    assert said("claude_code", half) == ([], ["not JSON"])
    half = b'{"timestamp":"x","type":"response_item","payload":{"content":[{"type":"input_text","text":"lost"}'
    assert said("codex", half) == ([], ["not JSON"])


@both
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"[1,2]", "not an object"),
        (b'"text"', "not an object"),
        (b"5", "not an object"),
        (b"null", "not an object"),
        (b"garbage", "not JSON"),
        (b"{", "not JSON"),
        (b"\0\0\0", "not JSON"),
        (b"\xff\xfe\xfd", "not JSON"),
        (b'{"a":' * 50_000, "nested too deeply"),
        (b"1" * 10_000, "not an object"),
    ],
)
def test_bad_lines_are_counted_by_a_constant_reason(module: str, line: bytes, reason: str) -> None:
    assert said(module, line) == ([], [reason])


@both
@pytest.mark.parametrize("line", [b"", b"\r", b"   "])
def test_blank_lines_are_nothing(module: str, line: bytes) -> None:
    assert said(module, line) == ([], [])


@both
def test_a_bad_line_does_not_stop_the_file(module: str) -> None:
    make = MAKERS[module]
    assert said(module, make("one"), b"garbage", make("two", 2)) == (["one", "two"], ["not JSON"])


def test_fields_of_another_shape_are_left_out() -> None:
    row = json.loads(claude("zebra"))
    odd = row | {"cwd": 5, "isMeta": {"x": 1}, "forkedFrom": "abc", "timestamp": [1], "toolUseResult": True}
    assert said("claude_code", json.dumps(odd).encode()) == (["zebra"], [])
    odd = row | {"message": {"content": [5, None, {"type": "text", "text": "zebra"}, {"type": "text", "text": {}}]}}
    assert said("claude_code", json.dumps(odd).encode()) == (["zebra"], [])
    made = json.loads(codex("zebra"))
    made["payload"] |= {"turn_id": 5, "output": 7, "images": "x", "item": [], "changes": "x"}
    assert said("codex", json.dumps(made).encode()) == (["zebra"], [])


def test_damage_inside_a_tools_arguments() -> None:
    line = (
        b'{"type":"assistant","uuid":"a","sessionId":"s","message":{"id":"m","content":[{"type":"tool_use","id":"t",'
        b'"name":"Bash","input":{"command":"ls \xff \\ud800"}}]}}'
    )
    assert said("claude_code", line) == (["ls \ufffd \ufffd"], [])


# Texts


@pytest.mark.parametrize(
    ("text", "tidied"),
    [
        ("x" * 4000, "x" * 4000),
        ("a-b " * 5000, "a-b " * 5000),
        ("QUJD" * 1024, "[base64: 3,072 bytes]"),
        ("see " + "QUJD" * 1024 + "QQ== end", "see [base64: 3,073 bytes] end"),
        ("\n".join(["QUJD" * 1024] * 2), "[base64: 3,072 bytes]\n[base64: 3,072 bytes]"),
        ("é " * 3000 + "QUJD" * 1500 + "\n" + "z" * 100, "é " * 3000 + "[base64: 4,500 bytes]\n" + "z" * 100),
        ("url(data:image/svg+xml;base64," + "QUJD" * 1100 + ")", "url([base64: 3,300 bytes])"),
    ],
)
def test_blobs_become_size_notes(text: str, tidied: str) -> None:
    assert tidy(text) == tidied


@given(st.integers(0, 6000), st.integers(4096, 9000), st.integers(0, 3000))
@settings(max_examples=60, deadline=None)
def test_a_blob_is_found_wherever_it_lies(before: int, length: int, after: int) -> None:
    text = "- " * (before // 2) + "Q" * length + " -" * (after // 2)
    assert "Q" * 100 not in tidy(text)


@given(st.lists(st.sampled_from(["<b>", "</b>", "<b x='1'>", "text", "\n", "<b", ">", "</a>"]), max_size=30))
def test_text_outside_blocks_survives(parts: list[str]) -> None:
    text = "".join(parts)
    left = without_blocks(text, ["b"])
    assert len(left) <= len(text)
    if "</b>" not in text:
        assert left == text


# Never raises


def _lines() -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for one in HARNESSES:
        if not hasattr(one.load(), "decode"):
            continue
        module, folder = one.module, one.name
        for path in sorted((FIXTURES / folder).rglob("*.jsonl")):
            found += [(module, line) for line in path.read_bytes().splitlines()]
    return found


LINES = _lines()


def _check(events: list[Decoded], harness: str) -> None:
    for event in events:
        assert isinstance(event, (*get_args(Event), BadLine, Skipped))
        msgspec.json.encode(event)
        if isinstance(event, Item) and event.key is not None:
            assert item_id(harness, event.kind.word, event.key)


@given(st.lists(st.binary(max_size=200), max_size=5))
@settings(max_examples=200, deadline=None)
def test_arbitrary_bytes_never_raise(lines: list[bytes]) -> None:
    for module in sorted({module for module, _ in LINES}):
        decoder = load(module)
        state = decoder.start(Path("/x/rollout.jsonl"))
        for line in lines:
            _check(decoder.decode(line, state, fingerprint), decoder.name)


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def _mutated(value: Any, at: list[int], new: Any) -> Any:
    """`value` with the part that `at` leads to replaced by `new`."""
    if not at or not isinstance(value, (dict, list)) or not value:
        return new
    if isinstance(value, dict):
        name = list(value)[at[0] % len(value)]
        return value | {name: _mutated(value[name], at[1:], new)}
    n = at[0] % len(value)
    return [*value[:n], _mutated(value[n], at[1:], new), *value[n + 1 :]]


@given(st.data())
@settings(max_examples=400, deadline=None)
def test_mutated_lines_never_raise(data: st.DataObject) -> None:
    states: dict[str, Any] = {}
    for _ in range(4):
        module, line = data.draw(st.sampled_from(LINES))
        decoder = load(module)
        state = states.setdefault(module, decoder.start(Path("/x/rollout.jsonl")))
        if data.draw(st.booleans()):
            at = data.draw(st.lists(st.integers(0, 20), min_size=1, max_size=6))
            first, _ = json.JSONDecoder().raw_decode(line.decode())  # two may be glued on one line
            line = json.dumps(_mutated(first, at, data.draw(json_values))).encode()
        else:
            cut = data.draw(st.integers(0, len(line)))
            line = line[:cut] + data.draw(st.binary(max_size=4)) + line[cut + data.draw(st.integers(0, 3)) :]
        _check(decoder.decode(line, state, fingerprint), decoder.name)
        kept = msgspec.json.encode(state)
        assert msgspec.json.encode(msgspec.json.decode(kept, type=decoder.state_type)) == kept
