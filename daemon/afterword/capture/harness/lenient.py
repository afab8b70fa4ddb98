"""Records out of a line of bytes: typed and fast when the line is whole, repaired or parted when it is not."""

import json
import math
import re
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from afterword.domain.events import BadLine

R = TypeVar("R")

NOT_JSON = BadLine("not JSON")
NOT_OBJECT = BadLine("not an object")
HALF = BadLine("half a record before a whole one")
DEEP = BadLine("nested too deeply")
SHAPE = BadLine("fields of an unknown shape")

_RECORD_START = re.compile(
    r'\{\s*"(?:timestamp|type|parentUuid|logicalParentUuid|uuid|sessionId|isSidechain|messageId|cwd|summary|ordinal|'
    r'operation|id|session_id|role|\$set|\$rewindTo|step_index|method)"\s*:'
)
_AT = re.compile(r"at `\$([^`]*)`")
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_PRUNES = 32
_TRIES = 200


def records(line: bytes, decoder: msgspec.json.Decoder[R], whole: Callable[[R], bool]) -> list[R | BadLine]:
    """The records of one complete line, in order, and a BadLine for every part that was lost.

    `whole` says whether what was found after a broken half looks like a record, not like a piece of one.
    """
    try:
        return [decoder.decode(line)]
    except (ValueError, RecursionError):
        return _repaired(line, decoder, whole)


def part(raw: bytes | str, decoder: msgspec.json.Decoder[R]) -> R | None:
    """A piece of JSON inside a record (a tool's arguments); None when it is none."""
    try:
        return decoder.decode(raw)
    except (ValueError, RecursionError):
        pass
    text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw
    try:
        value, _ = _SCANNER.raw_decode(text.strip())
        if not isinstance(value, dict):
            return None
        found: R | BadLine = _typed(_scrub(value), decoder)
    except (ValueError, RecursionError):
        return None
    return None if isinstance(found, BadLine) else found


def _whole_number(digits: str) -> int | None:
    return int(digits) if len(digits) < 400 else None


_SCANNER = json.JSONDecoder(strict=False, parse_constant=lambda _: None, parse_int=_whole_number)


def _repaired(line: bytes, decoder: msgspec.json.Decoder[R], whole: Callable[[R], bool]) -> list[R | BadLine]:
    text = line.decode("utf-8", "replace").replace("\0", "").lstrip("\ufeff \t\r\n").rstrip()
    if not text:
        return [NOT_JSON] if b"\0" in line else []
    found: list[R | BadLine] = []
    position = 0
    while position < len(text):
        try:
            value, end = _SCANNER.raw_decode(text, position)
            record: R | BadLine = NOT_OBJECT
            if isinstance(value, dict):
                record = _typed(_scrub(value), decoder)
            found.append(record)
        except RecursionError:
            found.append(DEEP)
            break
        except ValueError:
            start = _later_record(text, position + 1, decoder, whole)
            found.append(NOT_JSON if start is None else HALF)
            if start is None:
                break
            position = start
            continue
        position = _skip_space(text, end)
    return found


def _later_record(text: str, position: int, decoder: msgspec.json.Decoder[R], whole: Callable[[R], bool]) -> int | None:
    """Where a whole record starts after a half one: it must reach the end of the line or another record."""
    effort = 8 * len(text)
    for tries, mark in enumerate(_RECORD_START.finditer(text, position)):
        if tries == _TRIES or effort < 0:
            return None
        start = mark.start()
        try:
            value, end = _SCANNER.raw_decode(text, start)
        except json.JSONDecodeError as err:
            effort -= err.pos - start
            continue
        except (ValueError, RecursionError):
            return None
        effort -= end - start
        rest = _skip_space(text, end)
        if rest == len(text) or text[rest] == "{":
            record = _typed(_scrub(value), decoder)
            if not isinstance(record, BadLine) and whole(record):
                return start
    return None


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n\ufeff":
        position += 1
    return position


def _scrub(value: Any) -> Any:
    """The value without lone surrogates and numbers JSON does not have."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_scrub(key): _scrub(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_scrub(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _typed(value: dict[str, Any], decoder: msgspec.json.Decoder[R]) -> R | BadLine:
    """`value` in the decoder's type, without the fields whose shape is not the one it knows."""
    for _ in range(_PRUNES):
        try:
            return decoder.decode(json.dumps(value))
        except msgspec.ValidationError as err:
            at = _AT.search(str(err))
            if at is None or not _prune(value, at[1]):
                return NOT_OBJECT if at is None else SHAPE
        except (ValueError, RecursionError):
            return SHAPE
    return SHAPE


def _prune(value: Any, path: str) -> bool:
    """Take the value at `path` (`.message.content[0]`) out of `value`; a `[...]` stands for its parent."""
    steps: list[str | int] = []
    for name, index in _STEP.findall(path):
        if index == "...":
            break
        steps.append(name or int(index))
    if not steps:
        return False
    try:
        for step in steps[:-1]:
            value = value[step]
        del value[steps[-1]]
    except (KeyError, IndexError, TypeError):
        return False
    return True
