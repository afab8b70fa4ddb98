"""The Markdown of an article: written whole once, changed later by splicing only what is still ours.

Every byte that is not a value or a section of ours, as we last wrote it, stays: a person's sections, their edits of
ours, unknown keys, line ends, the byte order mark.
"""

import datetime as dt
import hashlib
import re
from collections.abc import Container, Iterator, Mapping
from typing import Final, TypeAlias

import msgspec

from afterword.domain.frontmatter import Value, emit

HEAD: Final = "head"
"""The part from the H1 to the first H2."""
EVIDENCE: Final = "New evidence"
GENERATED: Final = ("Key Points", "Details", "Related Concepts", "Sources")
"""Our sections, in the order in which we write them."""
NO_MATTER: Final = "there is no front matter, or it is broken"

Fields: TypeAlias = dict[str, str | list[str]]
"""Front matter values for comparison: texts, or lists of them."""

_BOM: Final = b"\xef\xbb\xbf"
_FENCE = re.compile(rb" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")
_H = re.compile(rb"(#{1,2})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_KEY = re.compile(rb"([A-Za-z_][\w -]*?)[ \t]*:(?:[ \t].*)?")
_QUOTED = re.compile(rb'"(?:[^"\\]|\\.)*"')
_LINK = re.compile(r"\[\[[^\]|#]*")
_REVISION = re.compile(r"(\[\[#\^s-[0-9a-f]{12})-r\d+")
_LINKED: Final = {
    "sources": re.compile(r"\[\[[^\]|#]*#\^s-[0-9a-f]{12}(?:-r\d+)?\]\]"),
    "connects": re.compile(r"\[\[(?:[^\]|#]*/)?(?:concepts|connections)/[^\]|#]*\]\]"),
}
"""Values that are links of ours alone, and what such a link looks like, also an older one: a note that is saved from
an older copy must not keep links to what has moved since."""


class Wanted(msgspec.Struct, frozen=True):
    """What we would write: front matter in order, and parts by name (heading line included), in order."""

    front: tuple[tuple[str, Value], ...]
    parts: dict[str, str]


class Written(msgspec.Struct, frozen=True):
    """What we wrote last: values and the marks of parts."""

    fields: Fields = {}
    parts: dict[str, str] = {}


class Part(msgspec.Struct, frozen=True):
    """A stretch of a note from its heading to before the next; `end` leaves out empty lines at its end."""

    name: str
    start: int
    end: int


class Layout(msgspec.Struct, frozen=True):
    """Where things stand in a note. `keys` are spans of whole lines; matter ends before its closing line."""

    newline: bytes
    matter: tuple[int, int] | None
    keys: dict[str, tuple[int, int]]
    parts: tuple[Part, ...]

    def part(self, name: str) -> Part | None:
        """The first part with this heading."""
        return next((part for part in self.parts if part.name == name), None)


class Spliced(msgspec.Struct, frozen=True):
    """The new bytes, what of them is ours now, and which of our parts a person holds."""

    note: bytes
    written: Written
    edited: tuple[str, ...]


def whole(wanted: Wanted) -> bytes:
    """A new note."""
    return (emit(wanted.front) + "\n" + "\n".join(text for text in wanted.parts.values() if text.strip())).encode()


def written_of(wanted: Wanted, theirs: Container[str] = ()) -> Written:
    """What a new note holds of ours; parts in `theirs` carry a person's text."""
    return Written(
        fields_of(wanted), {name: "" if name in theirs else mark(text) for name, text in wanted.parts.items()}
    )


def fields_of(wanted: Wanted) -> Fields:
    return {key: comparable(value) for key, value in wanted.front}


def comparable(value: object) -> str | list[str]:
    """A front matter value as it is compared: however it is quoted or spread over lines."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return [str(item) for item in value if item is not None]
    if value is None:
        return ""
    if isinstance(value, dt.date):
        return value.isoformat()
    return str(value)


def mark(text: str) -> str:
    """The mark of a part: its text without link targets, line ends and white space at line ends.

    Obsidian rewrites the targets of links when a note is renamed; that is no edit. Nor is the revision of a section
    that is linked to.
    """
    return _hash(_REVISION.sub(r"\1", _without_targets(text)))


def same_part(text: str, its_mark: str | None) -> bool:
    """Whether a part is the one with this mark. Marks of earlier versions counted the revisions in links."""
    return its_mark is not None and its_mark in (mark(text), _hash(_without_targets(text)))


def _without_targets(text: str) -> str:
    plain = "\n".join(line.rstrip() for line in text.replace("\r\n", "\n").split("\n")).strip()
    return _LINK.sub("[[", plain)


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def text_of(note: bytes, part: Part) -> str:
    """A part's Markdown, with `\n` at line ends."""
    return note[part.start : part.end].decode("utf-8", "replace").replace("\r\n", "\n")


def layout(note: bytes) -> Layout:
    """Where front matter, keys and parts of a note stand; headings in code blocks are none."""
    newline = b"\r\n" if note.count(b"\r\n") * 2 > note.count(b"\n") else b"\n"
    matter, keys, at = _matter(note)
    starts: list[tuple[str, int]] = []
    for offset, line in _prose_lines(note, at):
        heading = _H.fullmatch(line)
        if heading:
            name = heading[2].decode("utf-8", "replace") if len(heading[1]) == 2 else HEAD
            starts.append((name, offset))
    ends = [*(start for _, start in starts[1:]), len(note)]
    parts = tuple(
        Part(name, start, start + len(note[start:end].rstrip()))
        for (name, start), end in zip(starts, ends, strict=False)
    )
    return Layout(newline, matter, keys, parts)


def _matter(note: bytes) -> tuple[tuple[int, int] | None, dict[str, tuple[int, int]], int]:
    begin = len(_BOM) if note.startswith(_BOM) else 0
    lines = list(_lines(note, begin))
    if not lines or lines[0][1].rstrip() != b"---":
        return None, {}, begin
    keys: dict[str, tuple[int, int]] = {}
    last = ""
    for offset, line, after in lines[1:]:
        if line.rstrip() == b"---":
            return (lines[0][2], offset), keys, after
        key = _KEY.fullmatch(line)
        if key:
            last = key[1].decode()
            keys.setdefault(last, (offset, after))
        elif last and (line[:1] in (b" ", b"\t", b"-")) and keys[last][1] == offset:
            keys[last] = (keys[last][0], after)
        else:
            last = ""
    return None, {}, begin


def _lines(note: bytes, at: int) -> Iterator[tuple[int, bytes, int]]:
    """(offset, line without its end, offset of the next line)."""
    while at < len(note):
        stop = note.find(b"\n", at)
        after = len(note) if stop < 0 else stop + 1
        yield at, note[at:after].rstrip(b"\r\n"), after
        at = after


def _prose_lines(note: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    fence = b""
    for offset, line, _ in _lines(note, at):
        tick = _FENCE.fullmatch(line)
        if fence:
            if tick and tick[1].startswith(fence) and not tick[2].strip():
                fence = b""
        elif tick:
            fence = tick[1]
        else:
            yield offset, line


def only_ours(note: bytes, values: Mapping[str, object] | None, written: Written) -> bool:
    """Whether a note holds nothing but what we wrote: no other value, section or comment, and nothing in between."""
    where = layout(note)
    if values is None or where.matter is None or not where.parts:
        return False
    start, end = where.matter
    spans = sorted(where.keys.values())
    gaps = [
        note[a:b]
        for a, b in zip((start, *(span[1] for span in spans)), (*(span[0] for span in spans), end), strict=True)
    ]
    body = note[end : where.parts[0].start].strip()
    return (
        not any(gap.strip() for gap in gaps)
        and body == b"---"
        and set(where.keys) == set(map(str, values))
        and all(comparable(value) == written.fields.get(str(key)) for key, value in values.items())
        and b"#" not in _QUOTED.sub(b"", note[start:end])
        and len({part.name for part in where.parts}) == len(where.parts)
        and all(same_part(text_of(note, part), written.parts.get(part.name)) for part in where.parts)
    )


def splice(
    note: bytes, values: Mapping[str, object], wanted: Wanted, last: Written, theirs: Container[str] = ()
) -> Spliced:
    """The note with our values and parts brought up to date where they are still as we wrote them.

    `values` is the parsed front matter. A value or part that a person changed or took away stays so, and so does every
    part named in `theirs`.
    """
    where = layout(note)
    changes: list[tuple[int, int, bytes]] = []
    parts, edited = _spliced_parts(note, where, wanted, last, theirs, changes)
    front = wanted.front + ((("edited", True),) if edited and "edited" not in dict(wanted.front) else ())
    fields = _spliced_fields(where, values, front, last, changes)
    for start, end, new in sorted(changes, reverse=True):
        note = note[:start] + new + note[end:]
    return Spliced(note, Written(fields, parts), tuple(edited))


def _spliced_fields(
    where: Layout,
    values: Mapping[str, object],
    front: tuple[tuple[str, Value], ...],
    last: Written,
    changes: list[tuple[int, int, bytes]],
) -> Fields:
    fields = dict(last.fields)
    if where.matter is None:
        return fields
    added: list[bytes] = []
    for key, value in front:
        want = comparable(value)
        line = _line(key, value, where)
        if key in where.keys:
            now = comparable(values.get(key))
            if key in _LINKED and isinstance(want, list) and isinstance(now, list):
                both = [*want, *(item for item in now if item not in want and not _LINKED[key].fullmatch(item))]
                if now != both:
                    changes.append((*where.keys[key], _line(key, both, where)))
                fields[key] = want
            elif now == want:
                fields[key] = want
            elif key in last.fields and now == last.fields[key]:
                changes.append((*where.keys[key], line))
                fields[key] = want
        elif key not in last.fields or (key in ("edited", *_COME_LATER) and last.fields[key] != want):
            added.append(line)
            fields[key] = want
    if added:
        changes.append((where.matter[1], where.matter[1], b"".join(added)))
    gone = [key for key in _COME_LATER if key in last.fields and key not in dict(front) and key in where.keys]
    for key in gone:
        if comparable(values.get(key)) == last.fields[key]:
            changes.append((*where.keys[key], b""))
            del fields[key]
    return fields


def _line(key: str, value: Value, where: Layout) -> bytes:
    return emit([(key, value)]).split("\n")[1].encode() + where.newline


_COME_LATER: Final = ("retract_reason", "retracted_on", "replaced_by")


def _spliced_parts(
    note: bytes,
    where: Layout,
    wanted: Wanted,
    last: Written,
    theirs: Container[str],
    changes: list[tuple[int, int, bytes]],
) -> tuple[dict[str, str], list[str]]:
    marks = dict(last.parts)
    edited: list[str] = []
    ours = {name: part for name in (*wanted.parts, *last.parts) if (part := where.part(name))}
    anchor = max((part.end for part in ours.values()), default=len(note.rstrip()))
    added = b""
    for name, text in wanted.parts.items():
        part = ours.get(name)
        new = text.rstrip("\n").replace("\n", where.newline.decode()).encode()
        if name in theirs:
            edited.append(name)
        elif part is None:
            if name not in last.parts:
                added += where.newline * 2 + new
                marks[name] = mark(text)
            elif name != EVIDENCE:
                edited.append(name)
        elif mark(text_of(note, part)) == mark(text):
            # Only link targets may differ: an Obsidian that followed a rename knows better than an old path of ours.
            if (
                name in last.parts
                and note[part.start : part.end] != new
                and _targets(text_of(note, part)) != _targets(text)
            ):
                changes.append((part.start, part.end, new))
            marks[name] = mark(text)
        elif same_part(text_of(note, part), last.parts.get(name)):
            changes.append((part.start, part.end, new))
            marks[name] = mark(text)
        else:
            edited.append(name)
    for name in [name for name in last.parts if name not in wanted.parts]:
        part = ours.get(name)
        if part and same_part(text_of(note, part), last.parts[name]):
            changes.append((part.start, min(len(note), part.end + len(where.newline)), b""))
        marks.pop(name)
    if added:
        changes.append((anchor, anchor, added if note[:anchor].strip() else added.lstrip()))
    return marks, edited


def _targets(text: str) -> list[str]:
    return re.findall(r"\[\[([^\]|]*)", text)
