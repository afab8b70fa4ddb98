"""Front matter for new notes: flat YAML that 1.1 and 1.2 readers and Obsidian read alike."""

import datetime as dt
import json
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Self, TypeAlias

_KEY = re.compile(r"[a-z][a-z0-9_]*")
_WORD = re.compile(r"[a-z][a-z0-9]*(?:[-_/][a-z0-9]+)*")
# What a reader takes for something else than a word; YAML 1.1 has more of them than 1.2.
_NO_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
# json leaves these as they are; `<%` would start a Templater command, the rest is not printable in YAML.
_RAW = re.compile("(?<=<)%|[\x7f-\x9f\u2028\u2029\ufeff\ufdd0-\ufdef\ufffe\uffff]")


class Word(str):
    """A word that stands bare: one of a fixed set (a type, a status) or a tag."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        if not _WORD.fullmatch(text) or text in _NO_WORDS:
            raise ValueError(f"not a word that can stand without quotes: {text!r}")
        return str.__new__(cls, text)


Scalar: TypeAlias = str | int | float | Decimal | dt.date
Value: TypeAlias = Scalar | Sequence[str]


def emit(pairs: Iterable[tuple[str, Value]]) -> str:
    """The front matter block of `pairs`, in their order, from `---` to `---` and a newline.

    Words, numbers, truth values and dates stand bare, every other string in double quotes on one line.

    Raises:
        ValueError: a key is odd or doubled, or a number is not finite.
    """
    lines: dict[str, str] = {}
    for key, value in pairs:
        if not _KEY.fullmatch(key) or key in _NO_WORDS or key in lines:
            raise ValueError(f"not a key, or a second one: {key!r}")
        lines[key] = f"{key}: {_value(value)}\n"
    return f"---\n{''.join(lines.values())}---\n"


def coerced(value: Value, kind: str) -> Value:
    """A value as a property of an Obsidian type of this name shows it without complaint, where that loses nothing."""
    scalar = isinstance(value, str | int | float | Decimal | dt.date) and not isinstance(value, bool)
    if kind in ("multitext", "tags", "aliases") and scalar:
        return [_text(value)]
    if kind == "text":
        if not scalar and isinstance(value, Sequence) and len(value) == 1:
            return value[0]
        return _text(value) if scalar else value
    if kind == "datetime" and isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return f"{value.isoformat()}T00:00:00"
    return value


def _text(value: Value) -> str:
    if isinstance(value, str):
        return value  # a word stays one
    return value.isoformat() if isinstance(value, dt.date) else str(value)


def _value(value: Value) -> str:
    if isinstance(value, str):
        return value if isinstance(value, Word) else quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return value.isoformat()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float | Decimal):
        number = Decimal(repr(value)) if isinstance(value, float) else value
        if not number.is_finite():
            raise ValueError("not a finite number")
        return f"{number:f}"
    if isinstance(value, Sequence):
        return f"[{', '.join(_value(item) for item in value)}]"
    raise TypeError(f"front matter holds no {type(value).__name__}")


def quoted(text: str) -> str:
    """`text` as a double-quoted YAML scalar on one line; a lone surrogate becomes U+FFFD."""
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _RAW.sub(lambda m: f"\\u{ord(m[0]):04x}", json.dumps(whole, ensure_ascii=False))
