"""JSON as people keep it: comments and trailing commas are read, and one member is put in or taken out in place.

Every byte that is not concerned stays as it was written. Source of the grammar: RFC 8259, with the two additions that
editors and coding agents accept.
"""

import json
import re
from typing import Any, Final, Literal

import msgspec

_SPACE: Final = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR: Final = re.compile(r"-?\d[\d.eE+-]*|true|false|null")
_INDENTED: Final = re.compile(r"^([ \t]+)\S", re.MULTILINE)
_DEEPEST: Final = 100


class Broken(ValueError):
    """A text is no JSON, not even with comments; the message has the line."""


class Node(msgspec.Struct):
    """A value and where it stands: `text[start:end]`. `parts` are an array's elements or an object's members."""

    kind: Literal["object", "array", "scalar"]
    start: int
    end: int
    value: Any
    parts: "list[Part]"


class Part(msgspec.Struct):
    """An element of an array, or a member of an object, which has a `key`; `start` is where the key begins."""

    key: str | None
    start: int
    node: Node


def parse(text: str) -> Node:
    """The value of a whole text.

    Raises:
        Broken: it is none.
    """
    node = _value(text, _skip(text, 0), 0)
    if (rest := _skip(text, node.end)) != len(text):
        raise _broken(text, rest, "something stands behind the end")
    return node


def find(node: Node, path: tuple[str, ...]) -> Node | None:
    """The value at a path of keys; the last of several members of one name counts, as for every reader."""
    for key in path:
        node_at = next((part.node for part in reversed(node.parts) if part.key == key), None)
        if node_at is None:
            return None
        node = node_at
    return node


def put(text: str, path: tuple[str, ...], value: Any) -> tuple[str, int, str]:
    """The text with `value` at a path of keys where nothing stands yet; the objects on the way are made.

    Returns:
        (the text, the offset of what was put in, what was put in).

    Raises:
        Broken: the text is no JSON.
        ValueError: what stands on the way is no object.
    """
    root = parse(text)
    for depth in range(len(path) - 1, -1, -1):
        holder = find(root, path[:depth])
        if holder is None:
            value = {path[depth]: value}
            continue
        if holder.kind != "object":
            name = ".".join(path[:depth]) or "the file"
            raise ValueError(f"{name} is no object")
        return _add(text, holder, path[depth], value)
    raise ValueError("the path is empty")


def append(text: str, path: tuple[str, ...], value: Any) -> tuple[str, int, str]:
    """The text with `value` behind the elements of the array at a path, which is made where there is none."""
    holder = find(parse(text), path)
    if holder is None:
        return put(text, path, [value])
    if holder.kind != "array":
        raise ValueError(f"{'.'.join(path)} is no list")
    return _add(text, holder, None, value)


def remove(text: str, path: tuple[str, ...], part: Part | None = None) -> str:
    """The text without the member at a path, or without one part of what stands there."""
    root = parse(text)
    holder = find(root, path if part else path[:-1])
    if holder is None:
        return text
    at = next(
        (n for n, one in enumerate(holder.parts) if (one.start == part.start if part else one.key == path[-1])), None
    )
    if at is None:
        return text
    one = holder.parts[at]
    if at:
        return text[: holder.parts[at - 1].node.end] + text[one.node.end :]
    if len(holder.parts) > 1:
        return text[: one.start] + text[holder.parts[1].start :]
    end = one.node.end
    comma = _skip(text, end)
    end = comma + 1 if text[comma : comma + 1] == "," else end
    return text[: holder.start + 1] + text[end:].lstrip(" \t\r\n")


def _add(text: str, holder: Node, key: str | None, value: Any) -> tuple[str, int, str]:
    inner = text[holder.start + 1 : holder.end - 1]
    flat = "\n" not in inner and (bool(holder.parts) or holder.start > 0)
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = found.group(1) if (found := _INDENTED.search(text)) else "  "
    unit = "\t" if unit[0] == "\t" else unit
    outer = _indent_of(text, holder.start)
    indent = _indent_of(text, holder.parts[0].start) if holder.parts and not flat else outer + unit
    written = json.dumps(value, ensure_ascii=False, indent=None if flat else unit)
    written = written.replace("\n", newline + indent)
    member = (f"{json.dumps(key, ensure_ascii=False)}: " if key is not None else "") + written
    if not holder.parts:
        at = holder.start + 1
        added = member if flat else newline + indent + member + ("" if "\n" in inner else newline + outer)
        return text[:at] + added + text[at:], at, added
    at = holder.parts[-1].node.end
    comma = _skip(text, at)
    if text[comma] == ",":
        at, lead = comma + 1, ""
    else:
        lead = ","
    added = lead + (" " if flat else newline + indent) + member
    return text[:at] + added + text[at:], at, added


def _indent_of(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _value(text: str, at: int, depth: int) -> Node:
    if depth > _DEEPEST:
        raise _broken(text, at, "it is nested too deeply")
    match text[at : at + 1]:
        case "{":
            return _object(text, at, depth)
        case "[":
            return _array(text, at, depth)
        case '"':
            return Node("scalar", at, (end := _string_end(text, at)), json.loads(text[at:end]), [])
        case _:
            found = _SCALAR.match(text, at)
            try:
                value = json.loads(found.group()) if found else None
            except ValueError:
                found = None
            if found is None:
                raise _broken(text, at, "a value is missing")
            return Node("scalar", at, found.end(), value, [])


def _object(text: str, start: int, depth: int) -> Node:
    node = Node("object", start, start, {}, [])
    at = _skip(text, start + 1)
    while text[at : at + 1] != "}":
        begin, end = at, _string_end(text, at)
        key = json.loads(text[at:end])
        at = _skip(text, end)
        if text[at : at + 1] != ":":
            raise _broken(text, at, "a colon is missing")
        inner = _value(text, _skip(text, at + 1), depth + 1)
        node.parts.append(Part(key, begin, inner))
        node.value[key] = inner.value
        at = _behind(text, inner.end, "}")
    node.end = at + 1
    return node


def _array(text: str, start: int, depth: int) -> Node:
    node = Node("array", start, start, [], [])
    at = _skip(text, start + 1)
    while text[at : at + 1] != "]":
        inner = _value(text, at, depth + 1)
        node.parts.append(Part(None, inner.start, inner))
        node.value.append(inner.value)
        at = _behind(text, inner.end, "]")
    node.end = at + 1
    return node


def _behind(text: str, at: int, closing: str) -> int:
    """Where the next part begins, or the closing bracket stands."""
    at = _skip(text, at)
    if text[at : at + 1] == ",":
        return _skip(text, at + 1)
    if text[at : at + 1] != closing:
        raise _broken(text, at, f"a comma or {closing} is missing")
    return at


def _string_end(text: str, at: int) -> int:
    found = _STRING.match(text, at)
    if found is None:
        raise _broken(text, at, "a text in quotes is missing")
    return found.end()


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _broken(text: str, at: int, reason: str) -> Broken:
    return Broken(f"line {text.count(chr(10), 0, at) + 1}: {reason}")
