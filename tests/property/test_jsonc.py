"""JSON with comments, changed in place: nothing else moves, and what was put in comes out again."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.domain import jsonc

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1000, 1000)
    | st.text(max_size=8)
    | st.floats(allow_nan=False, allow_infinity=False, width=16),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=4).filter(lambda key: key not in ("hooks", "ours")), VALUES, max_size=4)
INDENTS = st.sampled_from([None, 2, 4, "\t"])
NOISE = st.sampled_from(["", " ", "\n", '// a word, "quoted" {\n', "/* a { word */", "\r\n"])


@st.composite
def noisy(draw: st.DrawFn) -> str:
    """An object as text, with white space, comments and trailing commas where they may stand."""
    text = json.dumps(draw(OBJECTS), indent=draw(INDENTS), ensure_ascii=draw(st.booleans()))
    out = []
    for piece in re.findall(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^"\[\]{},:]+', text):
        closing = piece in ("}", "]")
        if closing and out and out[-1].strip() not in ("", "{", "[") and draw(st.integers(0, 3)) == 0:
            last = next(p for p in reversed(out) if p.strip() and not p.strip().startswith("/"))
            if last not in ("{", "[", ","):
                out.append(",")
        out += [piece, draw(NOISE)] if piece in ("{", "[", ",", ":") else [piece]
    return draw(NOISE) + "".join(out) + draw(NOISE)


@given(OBJECTS, INDENTS)
def test_plain_json_reads_as_json_does(value: object, indent: object) -> None:
    assert jsonc.parse(json.dumps(value, indent=indent)).value == value


@given(noisy(), VALUES)
def test_what_is_put_in_is_there_and_comes_out_again(text: str, value: object) -> None:
    before = jsonc.parse(text).value
    for path in (("ours",), ("hooks", "Start", "ours")):
        new, at, added = jsonc.put(text, path, value)
        found = jsonc.find(jsonc.parse(new), path)
        assert found is not None
        assert found.value == value
        assert new[:at] + new[at + len(added) :] == text
        assert {key: one for key, one in jsonc.parse(new).value.items() if key != path[0]} == before
        assert jsonc.parse(jsonc.remove(new, path[:1])).value == before


@given(noisy(), VALUES, VALUES)
def test_a_list_grows_and_shrinks_at_its_end(text: str, one: object, two: object) -> None:
    new, _, _ = jsonc.append(text, ("hooks", "Start"), one)
    newer, _, _ = jsonc.append(new, ("hooks", "Start"), two)
    list_of = jsonc.find(jsonc.parse(newer), ("hooks", "Start"))
    assert list_of is not None
    assert list_of.value == [one, two]
    less = jsonc.parse(jsonc.remove(newer, ("hooks", "Start"), list_of.parts[0])).value
    assert less["hooks"]["Start"] == [two]


@pytest.mark.parametrize(
    "text", ["", "{", '{"a"}', '{"a": }', "[1,,2]", '{"a": 1} x', "nul", '{"a": 01}', "/* a", '"a', "[" * 200]
)
def test_what_is_no_json_is_said_with_its_line(text: str) -> None:
    with pytest.raises(jsonc.Broken, match="line 1: "):
        jsonc.parse(text)


def test_an_entry_stands_as_the_others_do() -> None:
    text = '{\n    // servers\n    "servers": {\n        "a": {"x": 1}, // the first\n    },\n}\n'
    new, _, _ = jsonc.put(text, ("servers", "b"), {"y": [1]})
    assert '"a": {"x": 1},\n        "b": {\n            "y": [\n' in new
    assert "// the first" in new
    crlf = '{\r\n  "a": 1\r\n}\r\n'
    assert jsonc.put(crlf, ("b",), 2)[0] == '{\r\n  "a": 1,\r\n  "b": 2\r\n}\r\n'
    with pytest.raises(ValueError, match="a is no object"):
        jsonc.put('{"a": 1}', ("a", "b"), 2)
