"""Where the secrets of a text are: each rule's matches, judged and followed to their ends, in linear time."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, TypeAlias

from afterword.redact import extent
from afterword.redact.judge import CHECKS
from afterword.redact.looks import LOOK, MARKER, Value
from afterword.redact.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from afterword.redact.engines import Search
    from afterword.redact.rule import Rule

Span: TypeAlias = tuple[int, int, int]
"""Start, end (bytes), the rule's number; a smaller number names the kind."""

_CHECKS = [CHECKS[rule.check] for rule in RULES]
_NEAR_BYTES = 400
_TOKEN_BYTES = 256
_PROBE_BYTES = 768
_PROBE_SLACK = 128
"""So much nearer than `_PROBE_BYTES` a probe may end without having found the end."""


def rule_spans(number: int, search: Search, data: bytes, found: list[Span]) -> None:
    """Add what a rule finds in the data to `found`."""
    rule, check = RULES[number], _CHECKS[number]
    # `re` keeps what it compiled: only rules that hit something need it.
    near = re.compile(rule.near.encode()) if rule.near else None
    at = 0
    size = len(data)
    while at < size:
        match = search(data, at)
        if match is None:
            return
        first, last = match.span()
        start, end = match.span(rule.group)
        if near and not near.search(data, _line_start(data, first), first):
            at = max(start, first + 1)
            continue
        opener = b""
        if rule.opener:
            opened, opened_end = match.span(rule.opener)
            opener = data[opened:opened_end] if opened >= 0 else b""
        least = end
        # A value is judged by its beginning. Only one that is found is followed to its end: in a long run of keys
        # that are none, following each would take the square of its length.
        start, end = _extended(rule, data, start, least, opener, start + _PROBE_BYTES)
        good = not rule.check or _judged(check, data, start, end, opener)
        if not good and rule.until in ("value", "line") and not opener:
            shorter = extent.cut(data, least, min(end, start + LOOK))
            good = shorter >= 0 and _judged(check, data, start, shorter, opener)
            end = shorter if good else end
        if not good:
            # Go on behind the key, not behind the value: the next key may lie in it. A long token is left behind
            # whole, since to try all that may begin in it would take the square of its length.
            at = max(start, at + 1) if rule.until else first + 1 if last - first <= _TOKEN_BYTES else last
            continue
        if end - start >= _PROBE_BYTES - _PROBE_SLACK:
            _, end = _extended(rule, data, start, least, opener, size)
        if end > start:
            found.append((start, end, number))
            if rule.until == "value" and rule.check in extent.LISTED:
                end = _listed(number, data, end, found)
        at = max(end, at + 1)


def _judged(check: Callable[[Value], bool], data: bytes, start: int, end: int, opener: bytes) -> bool:
    text = MARKER.sub("", data[start : min(end, start + LOOK)].decode(errors="replace"))
    rest = data[end : end + 4].decode("latin-1")
    tight = start > len(opener) and data[start - len(opener) - 1] in b"=:"
    return bool(text) and check(Value(text, bool(opener), rest[:1], tight, rest))


def _line_start(data: bytes, at: int) -> int:
    """Where the line of `at` begins, or a bounded way before it; a backslash at its end continues a line."""
    least = max(0, at - _NEAR_BYTES)
    here = data.rfind(b"\n", least, at)
    while here > least and data[least:here].rstrip(b"\r").endswith(b"\\"):
        here = data.rfind(b"\n", least, here)
    return max(least, here + 1)


def _listed(number: int, data: bytes, end: int, found: list[Span]) -> int:
    """Add the values that follow one that was found, as in `keys: a, b`; where the last of them ends."""
    check = CHECKS[extent.LISTED[RULES[number].check]]
    while True:
        between = extent.NEXT.match(data, end)
        if not between:
            return end
        start = between.end()
        opener = between.group(1) or b""
        bound = start + _PROBE_BYTES
        until = extent.quoted(data, start, opener, bound) if opener else extent.bare(data, start, bound)
        if (
            until - start < 8
            or extent.NAMED.search(data, start, until + 1)
            or not _judged(check, data, start, until, opener)
        ):
            return end
        if until - start >= _PROBE_BYTES - _PROBE_SLACK:
            until = extent.quoted(data, start, opener) if opener else extent.bare(data, start)
        found.append((start, until, number))
        end = until


def _extended(rule: Rule, data: bytes, start: int, end: int, opener: bytes, bound: int) -> tuple[int, int]:
    """Start and end of a value of which `end` was reached, looked for up to about `bound`."""
    bound = max(bound, end)
    match rule.until:
        case "":
            return start, end
        case "value":
            return start, extent.quoted(data, start, opener, bound) if opener else extent.bare(data, end, bound)
        case "line":
            return start, extent.quoted(data, start, opener, bound) if opener else extent.line(data, end, bound)
        case "userinfo":
            return start, extent.userinfo(data, end)
        case "pem":
            return start, extent.pem(data, end, bound)
        case "pem-tail":
            return extent.pem_start(data, start), end


def byte_spans(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Where the pattern matches, in bytes of UTF-8."""
    at = at_bytes = 0
    for match in pattern.finditer(text):
        start = at_bytes + len(text[at : match.start()].encode())
        at, at_bytes = match.end(), start + len(match.group().encode())
        yield start, at_bytes


def widened(span: Span, markers: Sequence[tuple[int, int]]) -> Span | None:
    """The span, grown so that it cuts no marker; None when a marker is all it covers."""
    start, end, number = span
    for edge in (start, end - 1):
        place = bisect_right(markers, (edge, 1 << 62)) - 1
        if place >= 0 and markers[place][0] <= edge < markers[place][1]:
            start, end = min(start, markers[place][0]), max(end, markers[place][1])
            if span[0] >= markers[place][0] and span[1] <= markers[place][1]:
                return None
    return start, end, number


def merged(spans: list[Span]) -> list[Span]:
    """Overlapping spans as one, with the kind of the row that stands first."""
    result: list[Span] = []
    for start, end, number in sorted(spans):
        if result and start < result[-1][1]:
            last = result.pop()
            result.append((last[0], max(end, last[1]), min(number, last[2])))
        else:
            result.append((start, end, number))
    return result
