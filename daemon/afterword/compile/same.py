"""Whether two articles tell the same matter: `same` only where the words, the names and the numbers agree."""

import re
from collections import Counter
from typing import Final

import msgspec

from afterword.compile.likeness import Likeness, cosine, counted, fold
from afterword.domain.articles import Article, Proposal

_ENOUGH: Final = ((0.28, 0.36), (0.34, 0.31))
"""(likeness of all points, likeness of the two that agree best): either pair of floors is enough. Titles don't count:
two faults of one thing have like titles."""
_TWICE: Final = (0.40, 0.20)
"""Two points that agree, each with another one, at least so much: enough for articles that tell more than one thing."""
_NAMED: Final = 0.14
"""The likeness of the whole that is enough for two with the same title."""
_CONTRAST: Final = 0.45
"""Points at least this alike that name different numbers or places tell two facts in similar words."""
_OPPOSITES: Final = tuple(
    frozenset(map(fold, row.split()))
    for row in (
        "staging production",
        "windows macos linux",
        "android ios",
        "primary replica",
        "upload download",
        "read write",
    )
)
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,]*\w*|\b[A-Z]\w*\d\b")


class Profile(msgspec.Struct, frozen=True):
    """What is compared of an article: its words with their counts, those of each telling of it (one a section), and
    each point's words and numbers."""

    words: dict[str, float]
    stories: tuple[dict[str, float], ...]
    points: tuple[dict[str, float], ...]
    numbers: tuple[frozenset[str], ...]


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
        stories=_stories(article),
        points=tuple(points),
        numbers=tuple(frozenset(_NUMBER.findall(text)) for text in texts),
    )


def _stories(article: Article | Proposal) -> tuple[dict[str, float], ...]:
    """What each section tells; an article told three times would look like none of them as a whole."""
    told: dict[str, Counter[str]] = {}
    for claim in article.points:
        told.setdefault(claim.section, Counter()).update(counted(claim.text))
    whole = sum(told.values(), Counter())
    return tuple(dict(words) for words in (*told.values(), *([whole] if len(told) > 1 else [])))


def judge(one: Profile, other: Profile, likeness: Likeness, *, named: bool = False) -> float:
    """How sure it is that both tell the same matter; 0 when not, or in doubt."""
    if named:
        whole = cosine(likeness.vector(one.words), likeness.vector(other.words))
        if whole >= _NAMED:
            return 1.0 + whole
    whole = max(
        (cosine(likeness.vector(a), likeness.vector(b)) for a in one.stories for b in other.stories), default=0.0
    )
    best, mine, theirs, second = _closest(one, other, likeness)
    enough = any(whole >= floor and best >= point for floor, point in _ENOUGH)
    if not enough and not (best >= _TWICE[0] and second >= _TWICE[1]):
        return 0.0
    if best >= _CONTRAST and _contrast(one, mine, other, theirs):
        return 0.0
    return whole + best


def _closest(one: Profile, other: Profile, likeness: Likeness) -> tuple[float, int, int, float]:
    """(likeness, number, number) of the two points that are most alike, and the likeness of the next pair of others."""
    ours = [likeness.vector(point) for point in one.points]
    theirs = [likeness.vector(point) for point in other.points]
    pairs = sorted((-cosine(a, b), n, m) for n, a in enumerate(ours) for m, b in enumerate(theirs))
    if not pairs:
        return 0.0, 0, 0, 0.0
    best, n, m = pairs[0]
    second = next((found for found, i, j in pairs if i != n and j != m), 0.0)
    return -best, n, m, -second


def _contrast(one: Profile, n: int, other: Profile, m: int) -> bool:
    """Whether two points differ where it counts: each has a number the other lacks, or one says staging and the other
    production."""
    if one.numbers[n] - other.numbers[m] and other.numbers[m] - one.numbers[n]:
        return True
    mine, theirs = set(one.points[n]), set(other.points[m])
    return any((row & mine) - theirs and (row & theirs) - mine for row in _OPPOSITES)
