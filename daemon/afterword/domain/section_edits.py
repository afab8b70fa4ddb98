"""What a person changed inside a section of a daily note: read off the note, laid over the digest.

Only texts are compared, part by part: a point of ours that is gone, a point that is not ours. So the edits hold for a
later revision of the section too, and without the note.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from afterword.domain.digest import Digest, Point
from afterword.domain.escape import plain
from afterword.domain.sections import PARTS, Parsed, Texts

CONTEXT: Final = "context"
EXTRA_PART: Final = "lessons"
"""Lines a person wrote outside the parts are taken as something to be learned."""
_FIELDS: Final = tuple(field for field, _ in PARTS)
_ELLIPSIS: Final = "…"


class SectionEdits(msgspec.Struct, frozen=True, omit_defaults=True):
    """Part → texts of ours a person took out, and texts they wrote. `rev` is the revision it was read off."""

    rev: int
    removed: dict[str, tuple[str, ...]] = {}
    added: dict[str, tuple[str, ...]] = {}

    @property
    def empty(self) -> bool:
        return not self.removed and not self.added


def edits_of(now: Parsed, ours: Texts, rev: int, old: SectionEdits, *, whole: bool) -> SectionEdits:
    """The edits that a section shows; those read off an earlier revision stay.

    `ours` are the texts as they were written. Unless the section is `whole` (it may be cut short), nothing counts as
    taken out.
    """
    before = old if old.rev < rev else SectionEdits(rev)
    removed = {part: list(row) for part, row in before.removed.items()}
    added = {part: list(row) for part, row in before.added.items()}
    for part in (CONTEXT, *_FIELDS):
        mine, theirs = _row(ours, part), _row(now.texts, part)
        if whole and not now.shortened:
            removed.setdefault(part, []).extend(text for text in mine if text not in theirs)
        new = [text for text in theirs if text not in mine and not (now.shortened and _cut_of(text, mine))]
        added.setdefault(part, []).extend(new)
    added.setdefault(EXTRA_PART, []).extend(text for line in now.extra if (text := _sentence(line)))
    return SectionEdits(rev, _kept(removed), _kept(added))


def laid_over(digest: Digest, edits: SectionEdits) -> tuple[Digest, tuple[str, ...]]:
    """The digest as the person left it, and the texts in it that are theirs. Such a point is its own quote."""
    gone = {part: {plain(text) for text in row} for part, row in edits.removed.items()}
    parts: dict[str, tuple[Point, ...]] = {}
    for part in _FIELDS:
        kept = [point for point in getattr(digest, part) if plain(point.text) not in gone.get(part, ())]
        there = {plain(point.text) for point in kept}
        kept += [Point(text, (), text) for text in edits.added.get(part, ()) if text not in there]
        parts[part] = tuple(kept)
    context = digest.context
    if plain(context.text) in gone.get(CONTEXT, ()):
        said = " ".join(edits.added.get(CONTEXT, ()))
        context = Point(said, (), said)
    written = dict.fromkeys(text for row in edits.added.values() for text in row)
    return Digest(context, **parts), tuple(written)


def _row(texts: Texts, part: str) -> tuple[str, ...]:
    if part == CONTEXT:
        return (texts.context,) if texts.context else ()
    found: tuple[str, ...] = getattr(texts, part)
    return found


def _cut_of(text: str, mine: tuple[str, ...]) -> bool:
    return text.endswith(_ELLIPSIS) and any(other.startswith(text.removesuffix(_ELLIPSIS)) for other in mine)


def _sentence(line: str) -> str:
    """A line of prose; nothing for a table, an embed, a comment, a rule."""
    text = plain(line.strip().lstrip("-*+> ").strip())
    letters = sum(map(str.isalpha, text))
    return text if letters * 2 > len(text) and not text.startswith(("|", "!", "%%", "[[", "#", "<")) else ""


def _kept(row: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {part: tuple(dict.fromkeys(filter(None, texts))) for part, texts in sorted(row.items()) if any(texts)}
