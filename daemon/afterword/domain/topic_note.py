"""The Markdown of a topic, and how it is brought up to date line by line.

A line of ours carries the id of its fact. Such a line is replaced or taken out; every other byte stays: what a person
wrote between our lines, their sections, and a line of ours they changed, as long as it says what the fact says.
"""

import re
from collections.abc import Collection, Iterator
from typing import Final

import msgspec

from afterword.domain.article_note import Layout, layout
from afterword.domain.escape import plain, unescape
from afterword.domain.ids import FactId

SECTIONS: Final = ("Facts", "Dead ends", "On one machine", "No longer held")
"""Ours, in the order in which we write them."""
_LINE: Final = re.compile(r"[ \t]{0,3}[-*+][ \t]+(?P<said>.*?)[ \t]+\^(?P<id>f-[0-9a-f]{12})[ \t]*")
_BULLET: Final = re.compile(r"[ \t]{0,3}[-*+][ \t]+(?P<said>\S.*)")
_META: Final = re.compile(r"[ \t]+\(\[\[[^\]]*\]\][^()]*\)\Z")
_OTHER_ID: Final = re.compile(r"\^[A-Za-z0-9-]+[ \t]*\Z")


class FactLine(msgspec.Struct, frozen=True):
    """A fact as a line, without its newline, and its text as that line shows it; empty where it shows another."""

    id: FactId
    line: str
    text: str


class TopicView(msgspec.Struct, frozen=True):
    """What a topic's note is to show. `head` is all above the first section, from the H1 on; `lines` are by section."""

    head: str
    lines: dict[str, tuple[FactLine, ...]]


class Shown(msgspec.Struct, frozen=True):
    """A line with a fact's id as it stands in a note."""

    section: str
    id: FactId
    line: str
    text: str


def fact_line(its_id: FactId, markdown: str, meta: str) -> str:
    """The line of a fact: its text as Markdown, and where it comes from in parentheses."""
    return f"- {markdown}{f' ({meta})' if meta else ''} ^{its_id}"


def text_of(said: str) -> str:
    """What a line says, without what stands behind it in parentheses and without escapes."""
    return plain(unescape(_META.sub("", said)))


def shown(note: bytes) -> Iterator[Shown]:
    """The lines of our sections that carry a fact's id."""
    for section, line in _ours(note):
        found = _LINE.fullmatch(line)
        if found:
            yield Shown(section, FactId(found["id"]), line, text_of(found["said"]))


def added(note: bytes) -> Iterator[tuple[str, str]]:
    """(section, text) of the points in our sections that carry no id: a person's."""
    for section, line in _ours(note):
        found = _BULLET.fullmatch(line)
        if found and not _LINE.fullmatch(line) and not _OTHER_ID.search(line):
            text = text_of(found["said"])
            if text:
                yield section, text


def _ours(note: bytes) -> Iterator[tuple[str, str]]:
    """(section, line) of the lines in our sections, headings left out."""
    for part in layout(note).parts:
        if part.name in SECTIONS:
            for line in note[part.start : part.end].decode("utf-8", "surrogateescape").split("\n")[1:]:
                yield part.name, line.rstrip("\r")


def new_note(matter: str, view: TopicView) -> bytes:
    """A new note; `matter` is its front matter block."""
    rows = [f"## {name}\n\n" + "".join(f"{line.line}\n" for line in view.lines[name]) for name in _filled(view)]
    return f"{matter}\n{view.head}\n".encode() + "\n".join(rows).encode()


def _filled(view: TopicView) -> list[str]:
    return [name for name in SECTIONS if view.lines.get(name)]


def merged(note: bytes, view: TopicView, known: Collection[str], is_ours: Collection[str]) -> bytes:
    """The note with our lines brought up to date.

    `known` are ids of all facts there are or were: a line with another id is a person's. `is_ours` are lines, as text
    without white space at their ends, that stand as we wrote them.
    """
    newline = layout(note).newline.decode()
    for name in reversed(SECTIONS):
        where = layout(note)
        part = where.part(name)
        wanted = view.lines.get(name, ())
        if part is None:
            note = _with_section(note, where, name, wanted, newline)
            continue
        body = note[part.start : part.end].decode("utf-8", "surrogateescape")
        rows = _section(body.split("\n"), wanted, known, is_ours, newline)
        text = "\n".join(rows)
        if not wanted and all(not row.strip() for row in rows[1:]) and rows[0].strip() == f"## {name}":
            end = part.end
            while note[end : end + 1] in (b"\n", b"\r"):
                end += 1
            note = note[: part.start] + note[end:]
        else:
            note = note[: part.start] + text.encode("utf-8", "surrogateescape") + note[part.end :]
    return note


def _section(
    rows: list[str], wanted: tuple[FactLine, ...], known: Collection[str], is_ours: Collection[str], newline: str
) -> list[str]:
    """A section's lines, the heading first, brought up to date."""
    ending = "\r" if newline == "\r\n" else ""
    by_id = {each.id: each for each in wanted}
    left = dict(by_id)
    kept: list[str] = []
    last = 0
    for n, row in enumerate(rows):
        bare = row.rstrip("\r")
        found = _LINE.fullmatch(bare)
        if n == 0 or found is None:
            point = _BULLET.fullmatch(bare) if n else None
            if point and not _OTHER_ID.search(bare):
                # A person's point that became a fact gets its id, and stays as they wrote it.
                mine = next((each for each in left.values() if each.text == text_of(point["said"])), None)
                if mine:
                    del left[mine.id]
                    row = f"{bare.rstrip()} ^{mine.id}{row[len(bare) :]}"  # noqa: PLW2901
                    last = len(kept)
            kept.append(row)
            continue
        each = by_id.get(FactId(found["id"]))
        if each is None or each.id not in left:
            if found["id"] not in known:
                kept.append(row)
            continue
        del left[each.id]
        stands = bare.rstrip() not in is_ours and each.text in ("", text_of(found["said"]))
        last = len(kept)
        kept.append(row if stands else each.line + row[len(bare) :])
    if left:
        fresh = [each.line + ending for each in wanted if each.id in left]
        if last:
            at = last + 1
        else:
            at = 1
            while at < len(kept) and not kept[at].strip():
                at += 1
            if at == 1:
                fresh.insert(0, ending)
        if at == len(kept) and kept and ending and not kept[-1].endswith("\r"):
            kept[-1] += ending
        kept[at:at] = fresh
        if ending and at + len(fresh) == len(kept):
            kept[-1] = kept[-1].removesuffix("\r")
    return kept


def _with_section(note: bytes, where: Layout, name: str, wanted: tuple[FactLine, ...], newline: str) -> bytes:
    """The note with a section that is not there yet: before our next one, else behind our last one, else at the end."""
    if not wanted:
        return note
    text = f"## {name}{newline}{newline}" + newline.join(each.line for each in wanted)
    later = [part for later in SECTIONS[SECTIONS.index(name) + 1 :] if (part := where.part(later))]
    if later:
        at = min(part.start for part in later)
        return note[:at] + f"{text}{newline}{newline}".encode() + note[at:]
    before = [part for each in ("head", *SECTIONS) if (part := where.part(each))]
    at = max((part.end for part in before), default=len(note.rstrip()))
    tail = note[at:] if note[at:].strip() else newline.encode()
    return note[:at] + f"{newline}{newline}{text}".encode() + tail
