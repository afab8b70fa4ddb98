"""Sections in daily notes: where they stand, what to append, and what an append that nobody confirmed left behind.

A person's bytes are never changed: notes grow at their end, and the one removal there is (of a half-written section)
leaves a word of ours rather than take one of theirs.
"""

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Final, TypeAlias

import msgspec

from afterword.domain.frontmatter import Value, Word, coerced, emit
from afterword.domain.ids import SegmentKey
from afterword.domain.sections import ref

HEADING: Final = "## Sessions"
CAP_BYTES: Final = 256 * 1024
"""The size over which a note's next section is shortened."""

_NO_TYPES: Final[Mapping[str, str]] = {}
_BOM = b"\xef\xbb\xbf"
_NAME = rb"(s-[0-9a-f]{12})(?:-r([1-9][0-9]{0,8}))?"
_MARK = re.compile(rb" {0,3}(%%[ \t]*(/?)afterword[ \t]+" + _NAME + rb"((?:[ \t]+[a-z0-9-]+)*)[ \t]*%%)")
_BLOCK_ID = re.compile(rb"(?:^|[ \t])(\^" + _NAME + rb")[ \t]*$")
_FENCE = re.compile(rb" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")
_MATTER = re.compile(rb"(?s)(?:\xef\xbb\xbf)?---[ \t]*\r?\n(?:.*?\n)??---[ \t]*(?:\r?\n|\Z)")
_HEADING = re.compile(rb" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*")
_SETEXT = re.compile(rb" {0,3}(?:=+|-+)[ \t]*")
# A line that a setext underline below it would not make a heading of.
_NO_TEXT = re.compile(rb"[ \t]*$| {4}|\t| {0,3}(?:#{1,6}(?:[ \t]|$)|>|[-*+][ \t]|[0-9]{1,9}[.)][ \t]|\|)")
_SESSION = re.compile(rb" {0,3}###[ \t]+Session \([0-9]{2}:[0-9]{2}\)[ \t]*")


class Mark(StrEnum):
    """What was found: `START` and `END` are a section's markers, `BLOCK` its `^s-…`."""

    START = "start"
    END = "end"
    BLOCK = "block"
    WITHDRAWN = "withdrawn"
    FORGOTTEN = "forgotten"


class Found(msgspec.Struct, frozen=True):
    """A mark at the bytes `start` to `end` of a note (without spaces before it and the line end).

    `fields` are harness, project and origin of a start marker, as far as they are still there. `by` is the segment
    that a withdrawn one's items went to. `fenced` tells that it stands in a code block.
    """

    mark: Mark
    key: SegmentKey
    rev: int
    start: int
    end: int
    fields: tuple[str, ...] = ()
    by: SegmentKey | None = None
    fenced: bool = False


class Span(msgspec.Struct, frozen=True):
    """A section's bytes, from its heading to its end marker; `closed` is false when a person took that away."""

    key: SegmentKey
    rev: int
    start: int
    end: int
    closed: bool


class NotWritten(msgspec.Struct, frozen=True):
    """Nothing of the append is in the note, or nothing that could be told from a person's own text."""


class HalfWritten(msgspec.Struct, frozen=True):
    """The bytes `start` to `end` are ours and go; then the section is appended anew."""

    start: int
    end: int


class Written(msgspec.Struct, frozen=True):
    """The section is there, perhaps moved or edited since; `start` is its first byte, or of what is left of it."""

    start: int


Remains: TypeAlias = NotWritten | HalfWritten | Written


def new_note(day: str, types: Mapping[str, str] = _NO_TYPES) -> str:
    """The head of a daily note that we create; `day` is `YYYY-MM-DD`.

    `types` are the types that the vault gives to properties, where they are known.
    """
    values: tuple[tuple[str, Value], ...] = (
        ("type", Word("daily")), ("date", dt.date.fromisoformat(day)), ("tags", [Word("memory/daily")]),
    )  # fmt: skip
    head = emit((key, coerced(value, types.get(key, ""))) for key, value in values)
    return f"{head}# Daily Log: {day}\n\n{HEADING}\n"


def append_text(existing: bytes | None, block: str, day: str, types: Mapping[str, str] = _NO_TYPES) -> bytes:
    """The bytes to append to a note so that `block` (a section, or a lone marker line) stands well at its end.

    A note that is missing or empty gets its head first. A missing final newline, a code block left open and a last
    heading (of the first two levels) other than `## Sessions` are seen to; a CRLF note gets CRLF.
    """
    if existing is None or existing in {b"", _BOM}:
        return f"{new_note(day, types)}\n{block}".encode()
    newline = b"\r\n" if existing.count(b"\r\n") * 2 > existing.count(b"\n") else b"\n"
    before: list[bytes] = []
    if not existing.endswith(b"\n"):
        before.append(newline)
    last = existing.removeprefix(_BOM).removesuffix(b"\n").rpartition(b"\n")[2]
    open_fence, heading = _state(existing)
    if open_fence:
        before += [open_fence, newline, newline]
    elif last.strip():
        before.append(newline)
    if block.startswith("### ") and heading != HEADING.encode():
        before += [HEADING.encode(), newline, newline]
    return b"".join(before) + block.encode().replace(b"\n", newline)


def find_markers(note: bytes, *, fenced: bool = False) -> list[Found]:
    """Every mark of ours in the note, in order, wherever it stands; those inside code blocks only if `fenced`.

    Whether a section is *present* is asked with `fenced`: a code block a person left open further up hides all that
    follows, and must not bring every section a second time.
    """
    found: list[Found] = []
    for start, line, in_fence, _ in _lines(note):
        if in_fence and not fenced:
            continue
        if mark := _MARK.match(line):
            found.append(_found(mark, start, in_fence))
        elif block := _BLOCK_ID.search(line):
            at, end = block.span(1)
            found.append(Found(Mark.BLOCK, *_named(block[2], block[3]), start + at, start + end, fenced=in_fence))
    return found


def spans(note: bytes) -> list[Span]:
    """The sections of the note that have a start marker, outside code blocks, in order.

    One without its end marker ends before the next heading of the first three levels, or the next start marker.
    """
    marks = find_markers(note)
    headings = [at for at, line, *_ in _lines(note, fenced=False) if (h := _HEADING.fullmatch(line)) and len(h[1]) <= 3]
    starts = [found for found in marks if found.mark is Mark.START]
    begins = [_heading_of(note, found.start, headings) for found in starts]
    result = []
    for found, begin, after in zip(starts, begins, [*begins[1:], len(note)], strict=False):
        ends = (m.end for m in marks if m.mark is Mark.END and found.end <= m.start < after and _same(m, found))
        if end := next(ends, None):
            result.append(Span(found.key, found.rev, begin, end, closed=True))
        else:
            end = min([after, *(at for at in headings if at > found.start)])
            result.append(Span(found.key, found.rev, begin, end, closed=False))
    return result


def without_doubles(note: bytes, untouched: Callable[[SegmentKey, bytes], bool]) -> bytes:
    """The note without the sections that stand in it a second time, as merging two copies leaves them.

    Of two that are alike, byte for byte, the first stays; of others goes what is `untouched` since we wrote it (asked
    with `\\n` at line ends). Of what stands around them only an empty line goes.
    """
    rows = [(span, note[span.start : span.end].replace(b"\r\n", b"\n")) for span in spans(note) if span.closed]
    texts: dict[tuple[SegmentKey, int], set[bytes]] = {}
    for span, block in rows:
        texts.setdefault((span.key, span.rev), set()).add(block)
    seen: set[bytes] = set()
    drop: list[tuple[int, int]] = []
    for span, block in rows:
        if block in seen or (len(texts[span.key, span.rev]) > 1 and untouched(span.key, block)):
            above = _EMPTY_ABOVE.search(note[: span.start])
            after = _LINE_END.match(note, span.end)
            drop.append((above.start(1) if above else span.start, after.end() if after else span.end))
        seen.add(block)
    for start, end in reversed(drop):
        note = note[:start] + note[end:]
    return note


_EMPTY_ABOVE = re.compile(rb"\n(\r?\n)\Z")
_LINE_END = re.compile(rb"\r?\n")


def half_written(note: bytes, offset: int, planned: bytes) -> Remains:
    """What an unconfirmed append of `planned` at `offset` left in the note.

    The note may have been edited since, before the offset or behind it. Where bytes could be ours or a person's
    (both may have begun with a newline, a dash, the same word) they stay; a torn head without its section as well
    if something follows it. The caller removes a half, reads `append_text` anew and appends.
    """
    unix = planned.replace(b"\r\n", b"\n")
    variants = [planned, *(v for v in (unix, unix.replace(b"\n", b"\r\n")) if v != planned)]
    outcomes = [_remains(note, offset, variant) for variant in variants]
    return next((outcome for outcome in outcomes if not isinstance(outcome, NotWritten)), NotWritten())


def _remains(note: bytes, offset: int, planned: bytes) -> Remains:
    plan = next(found for found in find_markers(planned, fenced=True) if found.mark is not Mark.BLOCK)
    section = plan.mark is Mark.START
    core_at = planned.rindex(b"### Session (", 0, plan.start) if section else plan.start
    if (at := note.find(planned[core_at:].rstrip(b"\r\n"))) >= 0:
        return Written(at)
    same = [found for found in find_markers(note, fenced=True) if _same(found, plan)]
    done = Mark.END if section else plan.mark
    if (at := next((found.start for found in same if found.mark is done), -1)) >= 0:
        return Written(at)
    if not section:
        return _at_end(note, offset, planned)
    lead = planned[core_at : plan.start]
    marker = planned[plan.start : plan.end].partition(plan.key.encode())[0] + ref(plan.key, plan.rev).encode()
    code = [(line_at, line_at + len(line)) for line_at, line, in_fence, _ in _lines(note) if in_fence]
    for match in re.finditer(re.escape(marker) + rb"(?![0-9a-z-])", note):
        at = match.start()
        if any(found.start == at and found.mark is not Mark.START for found in same):
            continue  # the key's withdrawn or forgotten line
        if at != offset + plan.start and any(begin <= at < end for begin, end in code):
            continue  # a person's quotation
        # The whole key stands here, so this is ours up to where it departs from the plan.
        stop = at + _common(note, at, planned, plan.start)
        if any(found.mark is Mark.BLOCK and found.start >= stop and not found.fenced for found in same):
            return Written(at)
        start = at - len(lead) if note[:at].endswith(lead) else at
        if isinstance(at_end := _at_end(note, offset, planned), HalfWritten) and at_end.end == stop:
            return at_end
        return HalfWritten(start, _leave_theirs(note, start, stop, planned, plan.start + stop - at))
    return _keyless(note, offset, planned, core_at)


def _at_end(note: bytes, offset: int, planned: bytes) -> Remains:
    """The half that stands at its offset with nothing behind it. Were it a person's, appending puts it back."""
    rest = note[offset:]
    return HalfWritten(offset, len(note)) if rest.strip() and planned.startswith(rest) else NotWritten()


def _keyless(note: bytes, offset: int, planned: bytes, core_at: int) -> Remains:
    """What is left of an append torn before its key was out."""
    lead = len(b"### Session (")
    if isinstance(at_end := _at_end(note, offset, planned), HalfWritten):
        return at_end
    length = _common(note, offset, planned, 0)
    if length > core_at + lead:
        stop = offset + length
        line = note[note.rfind(b"\n", 0, stop) + 1 :].partition(b"\n")[0].rstrip(b"\r")
        # Another section may begin like ours.
        if not _MARK.match(line) and not (_SESSION.fullmatch(line) and not planned[:length].endswith(line)):
            start = offset + core_at
            return HalfWritten(start, _leave_theirs(note, start, stop, planned, length))
    at = note.rfind(planned[core_at : core_at + lead])
    if at >= 0 and at + _common(note, at, planned, core_at) == len(note):
        return HalfWritten(at, len(note))
    return NotWritten()


def _leave_theirs(note: bytes, start: int, stop: int, planned: bytes, cut: int) -> int:
    """Where the removal of `note[start:stop]` (= the plan up to `cut`) ends so that nothing typed behind is hurt."""
    if stop == len(note):
        return stop
    char_at = cut
    while char_at and char_at < len(planned) and planned[char_at] & 0xC0 == 0x80:
        char_at -= 1
    if char_at < cut and note[stop] & 0xC0 != 0x80:
        return stop  # half a character is nobody's but ours
    if cut < len(planned) and planned[char_at] >= 0xC0 and note.startswith("\ufffd".encode(), stop - (cut - char_at)):
        return stop - (cut - char_at) + 3  # an editor has saved our half character as U+FFFD
    ours = note[start : stop - (cut - char_at)].decode("utf-8", "replace")
    unsure = _UNSURE.search(ours, max(0, len(ours) - 80))
    at = unsure.start() if unsure else len(ours)
    if (ours[at:].encode() + note[stop:]).count(b"%%") % 2 and "%%" in ours[at:]:
        at = ours.rindex("%%") + 2  # left alone it would hide all that follows; so it is ours
    return start + len(ours[:at].encode())


# What a person may have typed themselves: line ends and signs of any kind, the letters of one word.
_UNSURE = re.compile(r"\W*\w{0,24}\Z")


def _common(note: bytes, at: int, planned: bytes, begin: int) -> int:
    """How many bytes of `note` from `at` are those of `planned` from `begin`."""
    low, high = 0, min(len(note) - at, len(planned) - begin)
    while low < high:
        middle = (low + high + 1) // 2
        if note[at + low : at + middle] == planned[begin + low : begin + middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _lines(note: bytes, *, fenced: bool = True) -> Iterator[tuple[int, bytes, bool, bytes]]:
    """(offset, line without its end, whether it is part of a code block, the fence open behind it) of every line."""
    at = len(_BOM) if note.startswith(_BOM) else 0
    fence = b""
    while at < len(note):
        stop = note.find(b"\n", at)
        stop = len(note) if stop < 0 else stop
        line = note[at:stop].removesuffix(b"\r")
        tick = _FENCE.fullmatch(line)
        inside = bool(fence or tick)
        if not fence:
            fence = tick[1] if tick else b""
        elif tick and tick[1].startswith(fence) and not tick[2].strip():
            fence = b""
        if fenced or not inside:
            yield at, line, inside, fence
        at = stop + 1


def _state(note: bytes) -> tuple[bytes, bytes]:
    """(the fence that is still open at the end of the note, its last heading of the first two levels)."""
    fence = heading = above = b""
    matter = _MATTER.match(note)
    for at, line, inside, open_fence in _lines(note):
        fence = open_fence
        if inside or (matter and at < matter.end()):
            above = b""
            continue
        found = _HEADING.fullmatch(line)
        if found and len(found[1]) <= 2:
            heading = found[1] + b" " + (found[2] or b"")
        elif above and not _NO_TEXT.match(above) and _SETEXT.fullmatch(line):
            heading = above
        above = line
    return fence, heading


def _heading_of(note: bytes, marker_at: int, headings: list[int]) -> int:
    """Where the section with this start marker begins: at the heading right above, or at the marker itself."""
    above = max((at for at in headings if at < marker_at), default=-1)
    return above if above >= 0 and not note[above:marker_at].partition(b"\n")[2].strip() else marker_at


def _same(one: Found, other: Found) -> bool:
    return (one.key, one.rev) == (other.key, other.rev)


def _found(mark: re.Match[bytes], line_at: int, in_fence: bool) -> Found:
    key, rev = _named(mark[3], mark[4])
    fields = tuple(mark[5].decode().split())
    start, end = line_at + mark.start(1), line_at + mark.end(1)
    match fields:
        case _ if mark[2]:
            return Found(Mark.END, key, rev, start, end, fenced=in_fence)
        case ("forgotten",):
            return Found(Mark.FORGOTTEN, key, rev, start, end, fenced=in_fence)
        case ("withdrawn", by):
            return Found(Mark.WITHDRAWN, key, rev, start, end, by=SegmentKey(by), fenced=in_fence)
        case _:
            return Found(Mark.START, key, rev, start, end, fields, fenced=in_fence)


def _named(key: bytes, rev: bytes | None) -> tuple[SegmentKey, int]:
    return SegmentKey(key.decode()), int(rev or 1)
