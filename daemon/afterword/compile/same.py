"""Whether two articles tell the same matter: `same` only where the words, the names and the numbers agree."""

import re
from collections import Counter
from typing import Final

import msgspec

from afterword.compile.likeness import Likeness, cosine, counted
from afterword.domain.articles import Article, Proposal

_SAME: Final = 0.33
_SAME_NAMED: Final = 0.14
"""For two that have the same title."""
_STRONG: Final = 0.62
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,]*\w*|\b[A-Z]\w*\d\b")
_NAME = re.compile(r"`([^`]+)`|(?<!\w)([A-Za-z][\w]*(?:[._/-]\w+)+|[a-z]+[A-Z]\w+|[A-Z]{2,}[A-Z0-9_]*|/[\w./-]+)")


class Profile(msgspec.Struct, frozen=True):
    """What is compared of an article: words with their counts, each point's words, names and numbers."""

    words: dict[str, float]
    points: tuple[dict[str, float], ...]
    names: frozenset[str]
    numbers: tuple[frozenset[str], ...]
    projects: frozenset[str]


def profile_of(article: Article | Proposal, *names: str) -> Profile:
    """The profile of an article; its names count twice."""
    words: Counter[str] = Counter()
    for name in names:
        for word, count in counted(name).items():
            words[word] += 2 * count
    points: list[dict[str, float]] = []
    for claim in article.points:
        found = counted(claim.text)
        words.update(found)
        points.append({word: float(count) for word, count in found.items()})
    texts = [claim.text for claim in article.points]
    return Profile(
        words=dict(words),
        points=tuple(points),
        names=frozenset(name.lower() for text in (*names, *texts) for name in names_in(text)),
        numbers=tuple(frozenset(_NUMBER.findall(text)) for text in texts),
        projects=frozenset(article.projects),
    )


def names_in(text: str) -> list[str]:
    """Identifiers, paths, code and abbreviations in a text."""
    return [found[0] or found[1] for found in _NAME.findall(text)]


def judge(one: Profile, other: Profile, likeness: Likeness, *, named: bool = False) -> float:
    """How sure it is that both tell the same matter; 0 or less when not, or in doubt."""
    near = cosine(likeness.vector(one.words), likeness.vector(other.words))
    if named:
        return near - _SAME_NAMED + 0.2 if near >= _SAME_NAMED else 0.0
    if near < _SAME:
        return 0.0
    if _contradicts(one, other, likeness) and near < 0.9:
        return 0.0
    return near


def _contradicts(one: Profile, other: Profile, likeness: Likeness) -> bool:
    """Whether the points that are most alike differ in a number or in names: two facts in similar words."""
    best, pair = 0.0, (0, 0)
    for n, mine in enumerate(one.points):
        for m, theirs in enumerate(other.points):
            found = cosine(likeness.vector(mine), likeness.vector(theirs))
            if found > best:
                best, pair = found, (n, m)
    if best < _STRONG:
        return False
    mine_numbers, their_numbers = one.numbers[pair[0]], other.numbers[pair[1]]
    return bool(mine_numbers - their_numbers and their_numbers - mine_numbers)
