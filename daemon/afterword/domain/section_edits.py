"""What a person changed inside a section of a daily note: read off the note, laid over the digest.

Only texts are compared, part by part: a point of ours that is gone, a point that is not ours. So the edits hold for a
later revision of the section too, and without the note.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

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
    """Part → texts of ours a person took out, and texts they wrote; the actions they ticked.

    `rev` is the revision it was read off.
    """

    rev: int
    removed: dict[str, tuple[str, ...]] = {}
    added: dict[str, tuple[str, ...]] = {}
    done: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        return not self.removed and not self.added and not self.done


Told: TypeAlias = Callable[[str, str], bool]
"""Whether a revision of a section said a text in a part, when it was written."""


class Standing(msgspec.Struct, frozen=True):
    """A revision of a section as it stands in a note. `closed` tells that its end is there.

    `told` is None where it is not known any more what was written.
    """

    rev: int
    parsed: Parsed
    closed: bool
    told: Told | None


def edits_of(
    standing: Sequence[Standing], ours: Texts, rev: int, old: SectionEdits, earlier: Iterable[int]
) -> SectionEdits:
    """The edits that the revisions of a section in a note show together; `rev` is the newest and says `ours`.

    A later revision says only what those before it do not, so all of them are looked at. What was read off one that
    is not there any more stays: `earlier` are the revisions before `rev` that were written. A text counts as taken out
    only where it is known to have stood.
    """
    newest = next(each for each in standing if each.rev == rev)
    seen = [each for each in standing if each is newest or each.told is not None]
    whole = all(each.closed and not each.parsed.shortened for each in seen)
    # What an earlier version wrote stands here, too, and says nothing of itself.
    written = {*earlier, *(each.rev for each in standing), old.rev} - {0}
    all_here = all(n in {each.rev for each in seen} for n in written if n < rev)
    fresh = all_here if newest.told else old.rev == rev
    removed = {} if fresh else {part: list(row) for part, row in old.removed.items()}
    added = {} if fresh else {part: list(row) for part, row in old.added.items()}
    done: list[str] = [] if fresh else list(old.done)
    for part in (CONTEXT, *_FIELDS):
        mine = _row(ours, part)
        theirs = {text for each in seen for text in _row(each.parsed.texts, part)}
        gone = [text for text in mine if text not in theirs and (_stood(part, text, seen) or _gone(part, text, old))]
        sure = gone if whole else [text for text in gone if _gone(part, text, old)]
        removed[part] = [text for text in removed.get(part, []) if text not in theirs] + sure
        for each in seen:
            added.setdefault(part, []).extend(_written(each, part, mine))
    for each in seen:
        added.setdefault(EXTRA_PART, []).extend(text for line in each.parsed.extra if (text := _sentence(line)))
        done += [each.parsed.texts.actions[n] for n in each.parsed.done]
    return SectionEdits(rev, _kept(removed), _kept(added), tuple(dict.fromkeys(done)))


def _stood(part: str, text: str, seen: Sequence[Standing]) -> bool:
    """Whether it is known that a text was written into one of these."""
    return any(not each.parsed.goes_on if each.told is None else each.told(part, text) for each in seen)


def _gone(part: str, text: str, old: SectionEdits) -> bool:
    return text in old.removed.get(part, ())


def _written(each: Standing, part: str, mine: tuple[str, ...]) -> list[str]:
    """The texts in a part that a person wrote there."""
    return [
        text
        for text in _row(each.parsed.texts, part)
        if text not in mine
        and not (each.told and each.told(part, text))
        and not (each.parsed.shortened and (each.told is not None or _cut_of(text, mine)) and text.endswith(_ELLIPSIS))
    ]


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
