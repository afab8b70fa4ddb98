"""Forgotten sections and articles out of the vault: our lines go, a stub marker stays, a person's lines stay.

Every change reads the note, takes ours out and replaces it only if it still holds what was read.
"""

import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Final

from afterword.domain.article_note import Wanted, comparable, layout, only_ours, splice
from afterword.domain.daily import Mark, find_markers, spans
from afterword.domain.escape import plain, unescape
from afterword.domain.ids import ArticleUid, SegmentKey
from afterword.domain.note_names import NOTES
from afterword.domain.sections import PARTS, forgotten_line
from afterword.store import faults, files
from afterword.store.ledger.article_files import ArticleFile, Stat
from afterword.store.matter import read_matter

_POINT: Final = re.compile(r" {0,3}[-*+](?:[ \t]+|$)(?:\[.\](?:[ \t]+|$))?(.*)")
_CONTEXT: Final = re.compile(r" {0,3}\*\*Context(?::\*\*|\*\*:)[ \t]*(.*)")
_BLOCK_ID: Final = re.compile(r"(?:^|[ \t]+)\^s-[0-9a-f]{12}(?:-r[0-9]+)?(?=[ \t]|$)")
_SHAPE: Final = re.compile(
    r" {0,3}(?:%%[ \t]*/?afterword\b.*|###[ \t]+Session \(\d\d:\d\d\)|replaces \[\[#\^s-.*"
    r"|_Goes on from \[\[#\^s-[0-9a-f]{12}.*|_Continued from \[\[[^\]]*#\^s-[0-9a-f]{12}[^\]]*\]\]\._|\*\*(?:"
    + "|".join(label for _, label in PARTS)
    + r")(?::\*\*|\*\*:)|_Shortened: `afterword show s-[0-9a-f]{12}` has the rest\._|)[ \t]*"
)
_ENTRY: Final = re.compile(rb"(- (?:created|updated|added to): )(.*) \((a-[0-9a-f]{12})\)(\r?)")

Theirs = Callable[[SegmentKey, str], bool]
"""Whether a text in a section, by the section's key, was written by a person."""


def stub_note(note: bytes, keys: Collection[str], theirs: Theirs) -> bytes:
    """A daily note with the sections of these keys taken out, each revision of them, and a stub in their place.

    What a person wrote inside one stays where it stood, behind the stub.
    """
    blocks = [(span.key, span.start, span.end) for span in spans(note)]
    known = {key for key, *_ in blocks}
    # Behind a code block that was left open nothing is a section; those stand between their own markers alone.
    marks = [found for found in find_markers(note, fenced=True) if found.fenced and found.key in keys]
    for start in [found for found in marks if found.mark is Mark.START and found.key not in known]:
        ends = [m.end for m in marks if m.mark is Mark.END and (m.key, m.rev) == (start.key, start.rev)]
        end = next((end for end in ends if end > start.start), None)
        if end:
            blocks.append((start.key, _begin(note, start.start), end))
    for key, begin, end in sorted(blocks, key=lambda block: block[1], reverse=True):
        if key in keys:
            note = note[:begin] + _stub(note[begin:end], key, theirs) + note[end:]
    return _once(note, keys)


def _begin(note: bytes, marker: int) -> int:
    """Where the block of a marker begins: at its heading's line, if that stands right above."""
    line = note.rfind(b"\n", 0, marker) + 1
    above = note.rfind(b"\n", 0, max(0, line - 1)) + 1
    return above if note[above:line].lstrip(b" ").startswith(b"### Session (") else line


def _stub(block: bytes, key: SegmentKey, theirs: Theirs) -> bytes:
    newline = b"\r\n" if b"\r\n" in block else b"\n"
    kept = _persons(block.decode("utf-8", "surrogateescape").replace("\r\n", "\n").split("\n"), key, theirs)
    ended = block.endswith(b"\n")
    lines = [forgotten_line(key).rstrip("\n"), *(["", *kept] if kept else [])]
    return newline.join(line.encode("utf-8", "surrogateescape") for line in lines) + (newline if ended else b"")


def _persons(lines: list[str], key: SegmentKey, theirs: Theirs) -> list[str]:
    """The lines of a section that a person wrote: what is no line of its shape, and points and contexts of theirs."""
    kept: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if _SHAPE.fullmatch(line.rstrip()):
            continue
        found = _CONTEXT.fullmatch(line.rstrip()) or _POINT.fullmatch(line.rstrip())
        if not found:
            kept.append(line)
            continue
        more = []
        # Lines that go on from a point or the context: nobody but a person writes those.
        while at < len(lines) and lines[at].strip() and _goes_on(line, lines[at]):
            more.append(lines[at])
            at += 1
        text = " ".join([_BLOCK_ID.sub("", found[1]), *(row.strip() for row in more)])
        if more or theirs(key, plain(unescape(text))):
            kept += [line, *more]
    return kept


def _goes_on(first: str, line: str) -> bool:
    if _SHAPE.fullmatch(line.rstrip()) or _POINT.fullmatch(line.rstrip()):
        return False
    return line[:1] in {" ", "\t"} or bool(_CONTEXT.fullmatch(first.rstrip()))


def _once(note: bytes, keys: Collection[str]) -> bytes:
    """One stub a key: several revisions of a section leave the first."""
    seen: set[str] = set()
    for found in [m for m in find_markers(note, fenced=True) if m.mark is Mark.FORGOTTEN and m.key in keys]:
        if found.key in seen:
            line = forgotten_line(found.key).rstrip("\n").encode()
            at = note.rfind(line)
            end = note.find(b"\n", at)
            note = note[:at] + note[len(note) if end < 0 else end + 1 :]
        seen.add(found.key)
    return note


def ours_in(note: bytes, theirs: Theirs) -> list[tuple[int, int]]:
    """Where our lines of sections stand in a daily note: (start, end) in bytes."""
    found = []
    for span in spans(note):
        lines = note[span.start : span.end].split(b"\n")
        text = [line.decode("utf-8", "surrogateescape").rstrip("\r") for line in lines]
        kept = _persons(text, span.key, theirs)
        at = span.start
        for line, said in zip(lines, text, strict=True):
            if kept and said == kept[0]:
                kept.pop(0)
            else:
                found.append((at, at + len(line)))
            at += len(line) + 1
    return found


def relieve_notes(vault: Path, daily: str, keys: Collection[str], theirs: Theirs) -> list[str]:
    """Take sections out of all daily notes.

    Returns:
        The notes that could not be changed, because somebody saved them at that moment.
    """
    folder = files.inside(vault, daily)
    left = []
    # Notes may lie in folders by month, and copies of them beside them.
    for path in sorted(folder.rglob(NOTES)) if folder.is_dir() else []:
        name = path.relative_to(folder).as_posix()
        if any(part.startswith(".") for part in name.split("/")):
            continue
        if not _change(path, lambda note: stub_note(note, keys, theirs)):
            left.append(f"{daily}/{name}")
        faults.hit("forget.note")
    return left


def relieve_log(vault: Path, knowledge: str, titles: Mapping[ArticleUid, str], uids: Collection[str]) -> bool:
    """Take the titles of articles out of the build log, where they are called otherwise by now or are no more;
    whether it could be done."""

    def bare(found: re.Match[bytes]) -> bytes:
        uid = ArticleUid(found[3].decode())
        said = plain(unescape(found[2].decode("utf-8", "replace")))
        if uid not in uids or plain(titles.get(uid, "")) == said:
            return found[0]
        return found[1] + b"(forgotten)" + found[4]

    def change(note: bytes) -> bytes:
        return b"\n".join(_ENTRY.sub(bare, line) for line in note.split(b"\n"))

    return _change(files.inside(vault, f"{knowledge}/log.md"), change)


_KEPT: Final = "kept-from-a-forgotten-article"


def relieve_article(vault: Path, file: ArticleFile, slug: str) -> bool:
    """Take an article that is no more out of the vault: the file, or what of it is still as we wrote it, its name too;
    whether it could be done."""
    if not files.lies_inside(vault, file.path):
        return True
    path = files.inside(vault, file.path)
    if not path.is_file():
        return True
    note = path.read_bytes()
    values = read_matter(note)
    if only_ours(note, values, file.written):
        path.unlink()
        files.sync_folder(path.parent)
        return True
    if values is None:
        return True  # not to be read as one of ours any more: all of it is a person's
    if not files.swap(path, note, _without_ours(note, values, file)):
        return False
    if path.stem in (slug, f"{slug}-{file.uid[2:6]}"):
        names = (path.with_name(f"{_KEPT}{n}.md") for n in ("", *(f"-{n}" for n in range(2, 1000))))
        path.rename(next(name for name in names if not name.exists()))
        files.sync_folder(path.parent)
    return True


def renamed(vault: Path, file: ArticleFile, old: str, new: str) -> tuple[str, Stat] | None:
    """Rename an article's file from the slug it had to the one it has; where it is now, None where that is not ours to
    do: a person called it otherwise, or nothing changed."""
    if not files.lies_inside(vault, file.path):
        return None
    path = files.inside(vault, file.path)
    if old == new or not path.is_file() or path.stem not in (old, f"{old}-{file.uid[2:6]}"):
        return None
    free = (path.with_name(f"{name}.md") for name in (new, f"{new}-{file.uid[2:6]}", file.uid))
    target = next((name for name in free if not name.exists()), None)
    if target is None:
        return None
    path.rename(target)
    files.sync_folder(path.parent)
    # As it was last seen: a name is no other stamp, and what a person saved meanwhile has one.
    return target.relative_to(vault.resolve()).as_posix(), file.at


def _without_ours(note: bytes, values: Mapping[str, object], file: ArticleFile) -> bytes:
    bare = splice(note, values, Wanted((), {}), file.written).note
    where = layout(bare)
    ours = [
        span
        for name, span in where.keys.items()
        if name in file.written.fields and comparable(values.get(name)) == file.written.fields[name]
    ]
    for start, end in sorted(ours, reverse=True):
        bare = bare[:start] + bare[end:]
    return bare


def _change(path: Path, change: Callable[[bytes], bytes]) -> bool:
    if not path.is_file():
        return True
    files.sweep_temporaries(path.parent)
    for _ in range(3):
        old = path.read_bytes()
        new = change(old)
        if new == old or files.swap(path, old, new):
            return True
    return False
