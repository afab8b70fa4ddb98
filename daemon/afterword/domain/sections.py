"""One section of a daily note: its fixed shape, written and read back. `domain.daily` puts it into notes."""

import bisect
import re
from collections.abc import Container, Iterator
from typing import Final

import msgspec

from afterword.domain.digest import Digest, Point
from afterword.domain.escape import SafeMd, plain, prose, unescape
from afterword.domain.ids import SegmentKey

PARTS: Final = (
    ("exchanges", "Key Exchanges"),
    ("decisions", "Decisions Made"),
    ("lessons", "Lessons Learned"),
    ("actions", "Action Items"),
)
"""The parts after Context: field of `Texts`, label in the note."""

_SLUG = re.compile(r"[a-z0-9-]+")
_KEY = re.compile(r"s-[0-9a-f]{12}")
_TIME = re.compile(r"[0-2][0-9]:[0-5][0-9]")
_CONTEXT = re.compile(r" {0,3}\*\*Context(?::\*\*|\*\*:)[ \t]*(.*)")
_LABEL = re.compile(r" {0,3}\*\*(.+?)(?::\*\*|\*\*:)[ \t]*")
_POINT = re.compile(r" {0,3}[-*+](?:[ \t]+|$)(.*)")
_TASK = re.compile(r"\[(.)\](?:[ \t]+|$)(.*)")
_BLOCK_ID = re.compile(r"(?:^|[ \t]+)\^s-[0-9a-f]{12}(?:-r[0-9]+)?(?=[ \t]|$)")
_OUR_LINE = re.compile(r" {0,3}(?:%%[ \t]*/?afterword\b|###[ \t]+Session\b)")
_REPLACES = re.compile(r" {0,3}(?:_Goes on from |%%[ \t]*|)(?:replaces )?\[\[#\^s-[0-9a-f]{12}.*")
_BEFORE = re.compile(r" {0,3}_Continued from \[\[[^\]]*#\^s-[0-9a-f]{12}[^\]]*\]\]\._")
_LINK = re.compile(r"\[\[[^\[\]|#^]*#\^s-[0-9a-f]{12}(?:-r\d+)?\|[0-9: -]+\]\]")
_SHORTENED = re.compile(r"_Shortened: `afterword show s-[0-9a-f]{12}` has the rest\._")


class Texts(msgspec.Struct, frozen=True):
    """What a section says, as plain text. Context is always there, the other parts may be empty."""

    context: str
    exchanges: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()


class Section(msgspec.Struct, frozen=True):
    """A section to write. `time` is the vault's local start of the segment, `HH:MM`; the rest of its line are slugs.

    `replaces` is the revision of the same key that this one replaces: None is the one before, 0 none. Those of
    `texts.actions` that are in `done` are ticked. `before` is a link to the section its session went on from.
    """

    key: SegmentKey
    rev: int
    harness: str
    project: str
    origin: str
    time: str
    texts: Texts
    replaces: int | None = None
    done: tuple[str, ...] = ()
    before: str = ""


class Parsed(msgspec.Struct, frozen=True):
    """A section as it stands in a note, perhaps after a person's edits.

    `done` are the places in `texts.actions` that are ticked. `extra` are the lines a person added outside the parts,
    as Markdown. `shortened` tells that the section says less than the ledger, `goes_on` that it says only what an
    earlier revision of it does not.
    """

    texts: Texts
    done: tuple[int, ...] = ()
    extra: tuple[str, ...] = ()
    shortened: bool = False
    goes_on: bool = False


def texts_of(digest: Digest) -> Texts:
    """The texts of a digest, without what they are drawn from."""

    def said(points: tuple[Point, ...]) -> tuple[str, ...]:
        return tuple(point.text for point in points)

    return Texts(
        digest.context.text, said(digest.exchanges), said(digest.decisions), said(digest.lessons), said(digest.actions)
    )


def ref(key: SegmentKey, rev: int = 1) -> str:
    """The name of a revision in markers and, after `^`, as a block id: `s-…`, from the second on `s-…-r2`."""
    return key if rev == 1 else f"{key}-r{rev}"


def render(section: Section, max_bytes: int | None = None) -> str:
    """The block from `### Session (…)` to the end marker and a newline.

    Over `max_bytes` (UTF-8) very long texts are cut, then every part keeps only its first points, then all texts are
    cut, and a line says so. A bare section of some 350 bytes stays even when that is still too much.

    Raises:
        ValueError: a field would break the markers.
    """
    _check(section)
    whole = _block(section, section.texts, shortened=False)
    if max_bytes is None or len(whole.encode()) <= max_bytes:
        return whole
    shapes = list(_shapes(section.texts))

    def short(shape: tuple[int, int]) -> str:
        return _block(section, _cut(section.texts, *shape), shortened=True)

    # Lengths fall from shape to shape, give or take an ellipsis; what the search stops at was tried and fits.
    first = bisect.bisect_left(shapes, x=True, key=lambda shape: len(short(shape).encode()) <= max_bytes)
    return short(shapes[min(first, len(shapes) - 1)])


def withdrawn_line(key: SegmentKey, by: SegmentKey) -> str:
    """The line that takes a section's key out of the count: its items belong to segment `by` now."""
    return f"%% afterword {key} withdrawn {by} %%\n"


def link(note: str, name: str, shown: str) -> str | None:
    """A wikilink to the block of a section, `name` as `ref` gives it; None where the note's path cannot stand in one.

    `note` is the path without `.md`, empty for the same note; `shown` is a day and a time.
    """
    made = f"[[{note}#^{name}|{shown}]]"
    return made if _LINK.fullmatch(made) else None


def goes_on_line(key: SegmentKey, by: SegmentKey, time: str, to: str) -> str:
    """The line that leads from a section to the one in another note with which its session went on."""
    return f"%% afterword-link {key} {by} %%\n_The session of {time} went on: {to}._\n"


def forgotten_line(key: SegmentKey) -> str:
    """The line that `forget` leaves in a section's place."""
    return f"%% afterword {key} forgotten %%\n"


def parse_section(block: bytes) -> Parsed:
    """What a section says now, its escapes undone; markers and the heading may be in `block` or not.

    On a block of `render` it gives back the texts (as `plain` has them). Emphasis or links a person wrote stay as
    Markdown; lines indented under a point belong to it.
    """
    context: list[str] | None = None
    parts: dict[str, list[str]] = {field: [] for field, _ in PARTS}
    done: list[int] = []
    extra: list[str] = []
    shortened = goes_on = False
    fields = {label.casefold(): field for field, label in PARTS}
    here: str | None = None
    open_context = False
    for raw in block.decode("utf-8", "replace").split("\n"):
        line = raw.rstrip()
        began = _CONTEXT.fullmatch(line) if context is None else None
        label = _LABEL.fullmatch(line)
        point = _POINT.fullmatch(line)
        if not line:
            open_context = False
        elif began:
            context, open_context, here = [began[1]], True, None
        elif _SHORTENED.fullmatch(line):
            shortened, open_context = True, False
        elif context is None and _BEFORE.fullmatch(line):
            pass
        elif context is None and _REPLACES.fullmatch(line):
            # Older versions wrote the whole section again.
            goes_on = line.lstrip().startswith("_Goes on from ")
        elif _OUR_LINE.match(line):
            open_context = False
        elif label and (field := fields.get(label[1].casefold())):
            here, open_context = field, False
        elif here and point:
            text = point[1]
            if here == "actions" and (task := _TASK.fullmatch(text)):
                if task[1] in "xX":
                    done.append(len(parts[here]))
                text = task[2]
            parts[here].append(text)
        elif here and parts[here] and raw[:1] in {" ", "\t"}:
            parts[here][-1] += " " + line.strip()
        elif open_context and context is not None and not line.startswith("#"):
            context.append(line)
        else:
            here = None if line.startswith("#") else here
            extra.append(line)
    return Parsed(
        Texts(
            context=_text(_BLOCK_ID.sub("", " ".join(context or []))),
            **{field: tuple(_text(text) for text in texts) for field, texts in parts.items()},
        ),
        tuple(done),
        tuple(extra),
        shortened,
        goes_on,
    )


def _check(section: Section) -> None:
    slugs = (section.harness, section.project, section.origin)
    if not _KEY.fullmatch(section.key) or section.rev < 1 or not all(_SLUG.fullmatch(slug) for slug in slugs):
        raise ValueError(f"not the fields of a section marker: {section.key!r}, {section.rev}, {slugs!r}")
    if section.before and not _LINK.fullmatch(section.before):
        raise ValueError(f"not a link to a section: {section.before!r}")
    if not _TIME.fullmatch(section.time):
        raise ValueError(f"not a time of day: {section.time!r}")


def _block(section: Section, texts: Texts, *, shortened: bool) -> str:
    name = ref(section.key, section.rev)
    replaces = section.rev - 1 if section.replaces is None else section.replaces
    lines = [
        f"### Session ({section.time})",
        f"%% afterword {name} {section.harness} {section.project} {section.origin} %%",
    ]
    if replaces:
        old = ref(section.key, replaces)
        said = f"_Goes on from [[#^{old}|the section above]]; where they differ, this one holds._"
        lines.append(f"{said} %% replaces [[#^{old}]] %%")
    elif section.before:
        lines.append(f"_Continued from {section.before}._")
    context = prose(texts.context)
    done = set(map(prose, section.done))
    lines += ["", f"**Context:** {context} ^{name}" if context else f"**Context:** ^{name}", ""]
    for field, label in PARTS:
        points = [safe for text in getattr(texts, field) if (safe := prose(text))]
        if points:
            lines += [f"**{label}:**", *(_line(field, safe, done) for safe in points), ""]
    if shortened:
        lines += [f"_Shortened: `afterword show {section.key}` has the rest._", ""]
    lines += [f"%% /afterword {name} %%", ""]
    return "\n".join(lines)


def _line(field: str, safe: SafeMd, done: Container[str]) -> str:
    if field != "actions":
        return f"- {safe}"
    return f"- [x] {safe}" if safe in done else f"- [ ] {safe}"


def _shapes(texts: Texts) -> Iterator[tuple[int, int]]:
    """(points a part keeps, characters a text keeps), from long to short."""
    most = max(len(getattr(texts, field)) for field, _ in PARTS)
    yield from ((points, 2000) for points in range(most, 0, -1))
    yield from ((min(most, 1), characters) for characters in (500, 200, 80))
    yield from ((0, characters) for characters in (80, 20, 0))


def _cut(texts: Texts, points: int, characters: int) -> Texts:
    def short(text: str) -> str:
        text = plain(text)
        return text if len(text) <= characters else text[: max(characters - 1, 0)].rstrip() + "…" * min(characters, 1)

    return Texts(
        short(texts.context),
        **{field: tuple(short(text) for text in getattr(texts, field)[:points]) for field, _ in PARTS},
    )


def _text(markdown: str) -> str:
    return plain(unescape(markdown))
