"""Results on a terminal: wrapped to its width, what was looked for set off, places that can be clicked.

Loaded only where somebody looks at a terminal; pipes and scripts get plain lines.
"""

import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from afterword.cli.links import Place, link, uri
from afterword.cli.output import clean
from afterword.index.query import Term, parse
from afterword.index.stemming import STOP, stem
from afterword.store.fulltext import folded, parts_of, spaced

_BOLD, _DIM, _OFF = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_WORD = re.compile(r"\w+")
_WIDE = frozenset("WF")
_NARROWEST, _WIDEST = 30, 120


class Screen:
    """How wide a terminal is and what it can show; without colours nothing but text is written."""

    def __init__(self, env: Mapping[str, str], stream: TextIO, vault: str | None = None) -> None:
        """`vault` is the name of the vault that places lie in; None where there is none."""
        self.rich = stream.isatty() and env.get("TERM") != "dumb" and not env.get("NO_COLOR")
        self.width = max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size().columns))
        self._vault = vault

    def bold(self, text: str) -> str:
        return f"{_BOLD}{text}{_OFF}" if self.rich and text else text

    def dim(self, text: str) -> str:
        return f"{_DIM}{text}{_OFF}" if self.rich and text else text

    def place(self, path: str, block: str | None) -> str:
        """A place in the vault, clickable where the terminal can."""
        shown = clean(path + (f" (^{block})" if block else ""))
        if not self.rich or self._vault is None:
            return shown
        return link(clean(uri(self._vault, Place(path, block))), shown)

    def result(self, heading: str, row: Mapping[str, Any], terms: list[Term]) -> Iterator[str]:
        """The lines of a search result."""
        yield self.bold(clean(heading))
        yield from self.paragraph(clean(str(row["snippet"])), terms, indent=4)
        if row["path"]:
            yield "    → " + self.place(row["path"], row["block"])

    def paragraph(self, text: str, terms: list[Term], indent: int) -> Iterator[str]:
        """A clean text wrapped to the width, what was looked for set off."""
        marks = spans(text, terms) if self.rich else []
        for first, last in wrapped(text, self.width - indent):
            yield " " * indent + self._marked(text, first, last, marks)

    def _marked(self, text: str, first: int, last: int, marks: list[tuple[int, int]]) -> str:
        done, at = [], first
        for begin, end in marks:
            begin, end = max(begin, first), min(end, last)  # noqa: PLW2901
            if begin < end:
                done += [text[at:begin], _BOLD, text[begin:end], _OFF]
                at = end
        return "".join([*done, text[at:last]])


def screen(vault: str | None) -> Screen:
    """The terminal of this process."""
    return Screen(os.environ, sys.stdout, vault)


def terms_of(query: str) -> list[Term]:
    """The terms of a query; none of one that has no word."""
    from afterword.domain.errors import UsageError

    try:
        return parse(query)
    except UsageError:
        return []


def spans(text: str, terms: list[Term]) -> list[tuple[int, int]]:
    """Where a text holds what was looked for: words in any form, names as typed, signs of scripts without spaces."""
    tokens = {token for term in terms for token in term.tokens}
    telling = tokens - STOP or tokens
    roots = {stem(token) for token in telling}
    begun = tuple(term.tokens[-1] for term in terms if term.open)
    found = [m.span() for m in _WORD.finditer(text) if _held(m[0], telling, roots, begun)]
    flat, place = _folded(text)
    for term in terms:
        patterns = [r"\s+".join(map(re.escape, term.literal.split()))]
        if not " ".join(term.tokens).isascii():
            patterns.append(r"\s*".join(map(re.escape, term.tokens)))
        for pattern in filter(None, patterns):
            found += [(place[m.start()], place[m.end() - 1] + 1) for m in re.finditer(pattern, flat)]
    return _joined(found)


def _folded(text: str) -> tuple[str, list[int]]:
    """A text as it is compared, and of each of its characters the place of the one it was made of."""
    pieces = [folded(char) for char in text]
    return "".join(pieces), [at for at, piece in enumerate(pieces) for _ in piece]


def _held(word: str, telling: set[str], roots: set[str], begun: tuple[str, ...]) -> bool:
    tokens = spaced(folded(word)).split()
    if len(tokens) != 1:
        return False  # a run of signs: found as a whole
    token = tokens[0]
    return (
        token in telling
        or stem(token) in roots
        or (bool(begun) and token.startswith(begun))
        or any(part in telling for part in parts_of(word))
    )


def _joined(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(found):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif begin < end:
            joined.append((begin, end))
    return joined


def cells(char: str) -> int:
    """How many columns of a terminal a character takes."""
    if char.isascii():
        return 1
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in _WIDE else 1


def wrapped(text: str, width: int) -> Iterator[tuple[int, int]]:
    """(begin, end) of each line of a text of one paragraph; broken at spaces, else where the width ends."""
    start = 0
    while start < len(text):
        used, at, space = 0, start, -1
        while at < len(text) and text[at] != "\n" and used + cells(text[at]) <= width:
            if text[at] == " ":
                space = at
            used += cells(text[at])
            at += 1
        if at < len(text) and text[at] != "\n" and text[at] != " " and space > start:
            at = space
        at = max(at, start + 1) if at < len(text) and text[at] != "\n" else at
        yield start, at
        start = at
        while start < len(text) and text[start] in " \n":
            start += 1
