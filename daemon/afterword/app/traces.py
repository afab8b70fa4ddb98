"""Lines of a person's own text in the vault that hold what is to be forgotten: by file and line, and struck on request.

A person's text is never changed without being told to; ours is not looked at here, it goes by itself.
"""

import bisect
import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Final

import msgspec

from afterword.domain.article_note import comparable, layout, same_part, text_of
from afterword.domain.articles import Edits
from afterword.domain.ids import SegmentKey
from afterword.domain.note_names import NOTES
from afterword.store import files, forgotten_notes
from afterword.store.ledger import article_files, articles, lesson_files, lessons, section_edits
from afterword.store.ledger.article_files import ArticleFile
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.lesson_files import LessonFile
from afterword.store.matter import read_matter

Find = Callable[[str], list[tuple[int, int]]]
_MAX_BYTES: Final = 8 << 20
_CATALOGUE: Final = re.compile(rb"(?s)%% afterword index %%.*?%% /afterword index %%")
_REVIEW: Final = re.compile(rb"(?s)%% afterword review %%.*?%% /afterword review %%")
_ENTRY: Final = re.compile(rb"(?m)^- (?:created|updated|added to): .*$")
STRUCK: Final = "[forgotten]"


class Line(msgspec.Struct, frozen=True):
    """A line, counted from 1, and where in it something stands, in characters. `path` is relative to the vault."""

    path: str
    line: int
    spans: tuple[tuple[int, int], ...]


def lines(vault: Path, daily: str, knowledge: str, ledger: Ledger, find: Find) -> list[Line]:
    """The person's lines that hold it."""
    edits = section_edits.every(ledger)
    written = {key: {text for row in each.added.values() for text in row} for key, each in edits.items()}
    by_path = {file.path: file for file in article_files.every(ledger).values()}
    edited = {each.uid: each.edits for each in articles.current(ledger)}

    def theirs(key: SegmentKey, text: str) -> bool:
        return text in written.get(key, ())

    lesson_rows = {file.path: file for file in lesson_files.every(ledger).values()}
    own = {each.uid for each in lessons.lessons(ledger) if each.lesson.source == "file" or each.edits.text is not None}
    found = []
    for path in sorted(_notes(vault)):
        name = path.relative_to(vault).as_posix()
        try:
            note = path.read_bytes()
        except OSError:
            continue
        file = by_path.get(name)
        held = _held(edited[file.uid]) if file and file.uid in edited else frozenset()
        if name in lesson_rows:
            ours = _our_lines(ledger, note, lesson_rows[name], own)
        else:
            ours = _ours(name, note, daily, knowledge, file, held, theirs)
        found += [Line(name, number, spans) for number, spans in _matching(note, ours, find)]
    return found


def _our_lines(ledger: Ledger, note: bytes, file: LessonFile, own: Collection[str]) -> list[tuple[int, int]]:
    """Our lines of an entry, a topic or an agent's file: of an entry all, unless a person wrote or changed it."""
    if file.key.startswith("l-"):
        return [] if file.key in own else [(0, len(note))]
    known = lesson_files.hashes(file)
    found = []
    at = 0
    for line in note.split(b"\n"):
        if lesson_files.line_hash(ledger, line.decode("utf-8", "surrogateescape").rstrip("\r")) in known:
            found.append((at, at + len(line)))
        at += len(line) + 1
    return found


def _held(edits: Edits) -> frozenset[str]:
    """The front matter of an article that is a person's, whoever typed it into the note: reasons given to `retract`."""
    return frozenset(name for name in _THEIRS if getattr(edits, name) is not None)


_THEIRS: Final = ("title", "aliases", "tags", "projects", "retract_reason", "replaced_by")


def _notes(vault: Path) -> Iterator[Path]:
    for path in vault.rglob(NOTES):
        inside = path.relative_to(vault).parts[:-1]
        hidden = any(part.startswith(".") and part != ".trash" for part in inside)
        if not hidden and path.is_file() and path.stat().st_size <= _MAX_BYTES:
            yield path


def _ours(
    name: str,
    note: bytes,
    daily: str,
    knowledge: str,
    file: ArticleFile | None,
    held: Collection[str],
    theirs: Callable[[SegmentKey, str], bool],
) -> list[tuple[int, int]]:
    if name.startswith(f"{daily}/"):
        return forgotten_notes.ours_in(note, theirs)
    if name == f"{knowledge}/index.md":
        return [found.span() for found in _CATALOGUE.finditer(note)]
    if name == f"{knowledge}/review.md":
        return [found.span() for found in _REVIEW.finditer(note)]
    if name == f"{knowledge}/log.md":
        return [found.span() for found in _ENTRY.finditer(note)]
    if file is None:
        return []
    where, values = layout(note), read_matter(note) or {}
    fields = [
        span
        for key, span in where.keys.items()
        if key not in held and comparable(values.get(key)) == file.written.fields.get(key)
    ]
    parts = [(p.start, p.end) for p in where.parts if same_part(text_of(note, p), file.written.parts.get(p.name))]
    return fields + parts


def _matching(
    note: bytes, ours: list[tuple[int, int]], find: Find
) -> Iterator[tuple[int, tuple[tuple[int, int], ...]]]:
    row = sorted(ours)
    at = 0
    for number, line in enumerate(note.split(b"\n"), 1):
        before = bisect.bisect_right(row, (at, len(note))) - 1
        if before < 0 or row[before][1] < at + len(line.rstrip(b"\r")):
            spans = find(line.decode("utf-8", "surrogateescape").rstrip("\r"))
            if spans:
                yield number, tuple(spans)
        at += len(line) + 1


def strike(vault: Path, found: list[Line], find: Find) -> list[Line]:
    """Put a word of ours in the place of what these lines hold; those that could not be changed.

    A note may have been saved since it was looked at: a line that does not read as it did is left alone.
    """
    left = []
    by_path: dict[str, list[Line]] = {}
    for line in found:
        by_path.setdefault(line.path, []).append(line)
    for name, row in by_path.items():
        path = files.inside(vault, name)
        try:
            old = path.read_bytes()
        except OSError:
            left += row
            continue
        rows = old.split(b"\n")
        moved: list[Line] = []
        for line in row:
            text = rows[line.line - 1].decode("utf-8", "surrogateescape") if line.line <= len(rows) else ""
            if tuple(find(text.rstrip("\r"))) != line.spans:
                moved.append(line)
                continue
            for start, end in sorted(line.spans, reverse=True):
                text = text[:start] + STRUCK + text[end:]
            rows[line.line - 1] = text.encode("utf-8", "surrogateescape")
        left += moved if files.swap(path, old, b"\n".join(rows)) else row
    return left
