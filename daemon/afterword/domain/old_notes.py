"""Dated Markdown notes that were not written by us: what day one is of, and the blocks of text in it."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

NAME: Final = "notes"
"""Where an agent's name stands: such a note is a session of this harness, and its section goes into no daily note."""

_DAY = re.compile(r"(?<!\d)(\d{4})[-_. ]?(0[1-9]|1[0-2])[-_. ]?(0[1-9]|[12]\d|3[01])(?!\d)")
_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*\r?\n", re.DOTALL | re.MULTILINE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_LIST = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+")
_COMMENT = re.compile(r"%%.*?%%|<!--.*?-->", re.DOTALL)


class Block(msgspec.Struct, frozen=True):
    """A heading, a list item with what belongs to it, a paragraph, or code."""

    text: str
    heading: bool = False
    code: bool = False


def day_of(name: str, matter: Mapping[str, object]) -> str | None:
    """The day `YYYY-MM-DD` that a note is of: by its file's name, else by `date` in its front matter."""
    stem = name.rpartition("/")[2].removesuffix(".md")
    for said in (stem, str(matter.get("date", "")), str(matter.get("created", ""))):
        found = _DAY.search(said)
        if found:
            return "-".join(found.groups())
    return None


def blocks(text: str) -> list[Block]:
    """The blocks of a note, in order, without front matter and comments."""
    body = _COMMENT.sub("", _MATTER.sub("", text.replace("\r\n", "\n"), count=1)).replace("\0", "")
    return [block for block in _blocks(body.split("\n")) if block.text.strip()]


def _blocks(lines: list[str]) -> Iterator[Block]:
    open_lines: list[str] = []
    fence = ""

    def closed(*, code: bool = False) -> Iterator[Block]:
        if open_lines:
            yield Block("\n".join(open_lines).strip(), code=code)
            open_lines.clear()

    for line in lines:
        marks = _FENCE.match(line)
        if fence:
            open_lines.append(line)
            if marks and marks[1].startswith(fence) and not line.strip(" `~"):
                yield from closed(code=True)
                fence = ""
        elif marks:
            yield from closed()
            open_lines.append(line)
            fence = marks[1]
        elif heading := _HEADING.match(line):
            yield from closed()
            yield Block(f"{heading[1]} {heading[2]}", heading=True)
        elif not line.strip():
            yield from closed()
        else:
            if _LIST.match(line) and not line.startswith((" ", "\t")):
                yield from closed()
            open_lines.append(line)
    yield from closed(code=bool(fence))
