"""Where a value ends: a rule finds its beginning, these find the rest of it, in linear time."""

from __future__ import annotations

import re
import sys

_BARE = re.compile(
    rb"(?:[^\s\"'`<>,;)}\]&|\\\[]|\[redacted:[a-z0-9-]{1,24}\]|\[|\\[^nrtu\"'\\/\s]"
    # A separator ends the value when a space or the next name follows; else it belongs to the value.
    rb"|[,;&](?![\s\"'`<>,;)}\]&|\\]|$|(?:amp;)?[A-Za-z0-9_.%\[\]-]{1,64}[=:]))*"
)
_SEPARATOR = re.compile(rb"[,;&]")
_LINE = re.compile(rb"(?:[^\s\"'`\\]|\\[^nrtu\"'\\/\s])*")
_USERINFO = re.compile(rb"(?:[^\s\"'`<>/@\\]*@)*")
_PEM_BODY = re.compile(
    rb"(?:[A-Za-z0-9+/=:,.\s-]|\\+[nrt]|\\u000[aAdD]|\\/|\\+(?=[\r\n])"
    # The seam between two string literals in code; compact JSON has none like it.
    rb"|\\?[\"'] ?(?:\+|\\?,?\\?\r?\n|\\n)[\s\\nr+]*\\?[\"'])*"
)
_PEM_END = re.compile(rb"-----END[A-Z0-9 ]{0,40}-----")
_PEM_BACK = re.compile(rb"[A-Za-z0-9+/=\r\n\t\\ ]*")
_PAIRS = {
    b"\xe2\x80\x9c": b"\xe2\x80\x9d",
    b"\xe2\x80\x98": b"\xe2\x80\x99",
    b"\xc2\xab": b"\xc2\xbb",
    b"\xe3\x80\x8c": b"\xe3\x80\x8d",
}
NEXT = re.compile(rb"\\{0,15}[\"'`]?(?:[ \t]{0,4},[ \t\r\n]{0,24}|[ \t]{1,4})(\\{0,15}[\"'`])?")
"""Between two values of a list."""
NAMED = re.compile(rb"[=:](?!=|[\s\"'`,;)\]}]|$)|[=:(]$")
"""What stands in a list of values is a name with its own value."""
LISTED = {"password": "strict", "env": "strict", "key": "mention", "weak": "mention"}
"""A rule's check → how strictly the values after the first are judged."""
_QUOTED_LIMIT = 4096
_NO_LIMIT = sys.maxsize
_PEM_LIMIT = 65536


def bare(data: bytes, at: int, limit: int = _NO_LIMIT) -> int:
    """The end of an unquoted value that is known to reach `at`, looked for up to `limit`."""
    end = _run(_BARE, data, at, limit)
    while end > at and data[end - 1] in b".:":
        end -= 1
    return end


def line(data: bytes, at: int, limit: int = _NO_LIMIT) -> int:
    """The end of an unquoted value that a space ends, whatever else is in it, looked for up to `limit`."""
    end = _run(_LINE, data, at, limit)
    return end - 1 if end > at and data[end - 1] in b";," else end


def cut(data: bytes, at: int, end: int) -> int:
    """Where an unquoted value that is known to reach `at` may end before `end`: at a separator in it, else -1."""
    found = _SEPARATOR.search(data, at, end)
    return found.start() if found else -1


def quoted(data: bytes, at: int, opener: bytes, bound: int = _NO_LIMIT) -> int:
    """The end of a value that began after `opener`: its closing quote, else the end of a bare value up to `bound`."""
    limit = min(len(data), at + _QUOTED_LIMIT)
    newline = data.find(b"\n", at, limit)
    if newline >= 0:
        limit = newline
    if opener in _PAIRS or opener == b"%22":
        end = data.find(_PAIRS.get(opener, opener), at, limit)
        return end if end >= 0 else bare(data, at, bound)
    quote, depth = opener[-1:], len(opener) - 1
    here = data.find(quote, at, limit)
    while here >= 0:
        slashes = _backslashes(data, at, here)
        # Inside an escaped string the closer has the opener's backslashes; more of them escape a quote in the value.
        if slashes <= depth or (depth == 0 and slashes % 2 == 0):
            return here - min(slashes, depth)
        here = data.find(quote, here + 1, limit)
    return bare(data, at, bound)


def _backslashes(data: bytes, start: int, here: int) -> int:
    count = 0
    while here - count > start and data[here - count - 1] == 0x5C:
        count += 1
    return count


def userinfo(data: bytes, at: int) -> int:
    """The end of a URL's password: the last `@` before the host ends."""
    end = _USERINFO.match(data, at + 1)
    return end.end() - 1 if end and end.end() > at + 1 else at


def pem(data: bytes, at: int, limit: int = _NO_LIMIT) -> int:
    """The end of a key block whose header ends at `at`; without a footer everything that looks like base64."""
    body = _PEM_BODY.match(data, at, min(limit, at + _PEM_LIMIT))
    end = body.end() if body else at
    footer = _PEM_END.search(data, max(at - 5, end - 64), end + 96)
    return footer.end() if footer else end


def pem_start(data: bytes, at: int) -> int:
    """The start of the base64 lines that lead up to a footer at `at`."""
    back = _PEM_BACK.match(data[max(0, at - _PEM_LIMIT) : at][::-1])
    return at - (back.end() if back else 0)


def _run(pattern: re.Pattern[bytes], data: bytes, at: int, limit: int) -> int:
    found = pattern.match(data, at, limit)
    return found.end() if found else at
