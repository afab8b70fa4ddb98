"""Whether two articles tell the same matter: where words or meaning agree, and no name or number differs."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Protocol

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
"""Points at least this alike that name different numbers or things tell two facts in similar words."""
_AMOUNTS: Final = 0.25
"""The same for spans of time, and for staging and production."""
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
_MEANT: Final = 0.58
"""Two tellings at least this alike by meaning tell one matter, if two of their points are as near as `_MEANT_POINT`.
Of 3,000 pairs of different matters the nearest was at 0.54."""
_MEANT_POINT: Final = 0.52
_MEANT_CONTRAST: Final = 0.60
_MEANT_AMOUNTS: Final = 0.40
NEAR: Final = 0.50
"""From this likeness by meaning on two articles are compared at all."""
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,]*\w*|\b[A-Z]\w*\d\b")
_COUNTS: Final = {
    word: str(number)
    for number, row in enumerate(
        (
            "one ein eine einer einem einen jeden", "two zwei dwa dwie", "three drei trzy", "four vier cztery",
            "five fünf pięć", "six sechs sześć", "seven sieben siedem", "eight acht osiem", "nine neun dziewięć",
            "ten zehn dziesięć",
        ),
        1,
    )
    for word in row.split()
}  # fmt: skip
_UNITS: Final = (
    "second sekund", "minute minut", "hour stunde godzin", "day tag dni dzień", "week woche tydzień tygodni",
    "month monat miesi", "year jahr lat rok",
)  # fmt: skip
_AMOUNT = re.compile(rf"\b({'|'.join(_COUNTS)})\s+({'|'.join(' '.join(_UNITS).split())})", re.IGNORECASE)
_NAMED_THING = re.compile(
    r"(?<![\w./-])[A-Za-z]\w*(?:\.[A-Za-z_]\w*)+|\b\w*[a-z0-9]_\w+|\b[A-Z]+_[A-Z_]+\b|\b[a-z]+[A-Z]\w*"
)


class Meaning(Protocol):
    """How near texts are by meaning. The same texts give the same numbers, whatever was asked before."""

    @property
    def signature(self) -> str:
        """Names what makes the numbers: with another one articles are folded anew."""

    def alike(self, ones: Sequence[str], others: Sequence[str]) -> Sequence[Sequence[float]]:
        """A row for each of `ones`: how near each of `others` is, -1 … 1; 0 where a language is not known."""


class Profile(msgspec.Struct, frozen=True):
    """What is compared of an article: its words with their counts, those of each telling of it (one a section), and
    each point's words, numbers and names of things. `told` and `texts` are tellings and points as they stand."""

    words: dict[str, float]
    stories: tuple[dict[str, float], ...]
    points: tuple[dict[str, float], ...]
    numbers: tuple[frozenset[str], ...]
    things: tuple[frozenset[str], ...]
    told: tuple[str, ...]
    texts: tuple[str, ...]


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
        numbers=tuple(map(_numbers, texts)),
        things=tuple(map(things, texts)),
        told=_told(article),
        texts=tuple(texts),
    )


def texts_compared(articles: Iterable[Article]) -> Iterator[str]:
    """Every text of some articles that is compared by meaning."""
    for article in articles:
        profile = profile_of(article)
        yield from profile.told
        yield from profile.texts


def things(text: str) -> frozenset[str]:
    """The names in a text that can only be a thing's: `created_at`, `orders.name`, `startupProbe`, `API_KEY`."""
    return frozenset(found.casefold() for found in _NAMED_THING.findall(text))


def _numbers(text: str) -> frozenset[str]:
    spelled = {
        f"{_COUNTS[count.lower()]} {next(n for n, row in enumerate(_UNITS) if unit.lower() in row.split())}"
        for count, unit in _AMOUNT.findall(text)
    }
    return frozenset({found.rstrip(".,").replace(",", ".") for found in _NUMBER.findall(text)} | spelled)


def _told(article: Article | Proposal) -> tuple[str, ...]:
    """What each section tells, as text; of several also the whole."""
    found: dict[str, list[str]] = {}
    for claim in article.points:
        found.setdefault(claim.section, []).append(claim.text)
    return tuple(" ".join(row) for row in found.values())


def _stories(article: Article | Proposal) -> tuple[dict[str, float], ...]:
    """What each section tells; an article told three times would look like none of them as a whole."""
    told: dict[str, Counter[str]] = {}
    for claim in article.points:
        told.setdefault(claim.section, Counter()).update(counted(claim.text))
    whole = sum(told.values(), Counter())
    return tuple(dict(words) for words in (*told.values(), *([whole] if len(told) > 1 else [])))


def judge(
    one: Profile, other: Profile, likeness: Likeness, *, named: bool = False, meaning: Meaning | None = None
) -> float:
    """How sure it is that both tell the same matter; 0 when not, or in doubt."""
    if named:
        whole = cosine(likeness.vector(one.words), likeness.vector(other.words))
        if whole >= _NAMED:
            return 1.0 + whole
    return max(_by_words(one, other, likeness), _by_meaning(one, other, meaning) if meaning else 0.0)


def told_apart(one: Profile, other: Profile, likeness: Likeness) -> bool:
    """Whether two of their points that are alike differ in a number, a name or an opposite: two facts in similar
    words."""
    return any(
        _contrast(one, n, other, m, names=near >= _CONTRAST)
        for near, n, m in _closest(one, other, likeness)
        if near >= _AMOUNTS
    )


def _by_words(one: Profile, other: Profile, likeness: Likeness) -> float:
    whole = max(
        (cosine(likeness.vector(a), likeness.vector(b)) for a in one.stories for b in other.stories), default=0.0
    )
    pairs = _closest(one, other, likeness)
    best, second = pairs[0][0], pairs[1][0] if len(pairs) > 1 else 0.0
    enough = any(whole >= floor and best >= point for floor, point in _ENOUGH)
    if not enough and not (best >= _TWICE[0] and second >= _TWICE[1]):
        return 0.0
    if any(_contrast(one, n, other, m, names=near >= _CONTRAST) for near, n, m in pairs if near >= _AMOUNTS):
        return 0.0
    return whole + best


def _by_meaning(one: Profile, other: Profile, meaning: Meaning) -> float:
    if not one.told or not other.told:
        return 0.0
    whole = max(map(max, meaning.alike(one.told, other.told)))
    if whole < _MEANT:
        return 0.0
    rows = meaning.alike(one.texts, other.texts)
    pairs = _matched((near, n, m) for n, row in enumerate(rows) for m, near in enumerate(row))
    if pairs[0][0] < _MEANT_POINT or any(
        _contrast(one, n, other, m, names=near >= _MEANT_CONTRAST) for near, n, m in pairs if near >= _MEANT_AMOUNTS
    ):
        return 0.0
    return whole + pairs[0][0]


def _closest(one: Profile, other: Profile, likeness: Likeness) -> list[tuple[float, int, int]]:
    ours = [likeness.vector(point) for point in one.points]
    theirs = [likeness.vector(point) for point in other.points]
    pairs = _matched((cosine(a, b), n, m) for n, a in enumerate(ours) for m, b in enumerate(theirs))
    return pairs or [(0.0, 0, 0)]


def _matched(pairs: Iterable[tuple[float, int, int]]) -> list[tuple[float, int, int]]:
    """(likeness, number, number) of the points that are most alike, then of those most alike among the others, …"""
    found: list[tuple[float, int, int]] = []
    for near, n, m in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if not any(n == i or m == j for _, i, j in found):
            found.append((near, n, m))
    return found


def _contrast(one: Profile, n: int, other: Profile, m: int, *, names: bool) -> bool:
    mine, theirs = set(one.points[n]), set(other.points[m])
    # A name that the other article has elsewhere is no difference.
    here, there = frozenset().union(*one.things), frozenset().union(*other.things)
    own = one.things[n] if one.things[n] - there else frozenset()
    others = other.things[m] if other.things[m] - here else frozenset()
    return _differ((one.numbers[n], own, mine), (other.numbers[m], others, theirs), names=names)


def differs(one: str, other: str) -> bool:
    """Whether two sentences differ where it counts: each has a number or a thing's name the other lacks, or one says
    staging and the other production."""
    return _differ(
        (_numbers(one), things(one), set(counted(one, pairs=False))),
        (_numbers(other), things(other), set(counted(other, pairs=False))),
        names=True,
    )


def names_more(text: str, others: Iterable[str]) -> bool:
    """Whether a sentence has a number or a thing's name that is in none of the others."""
    rows = list(others)
    return bool(_numbers(text) - frozenset().union(*map(_numbers, rows))) or bool(
        things(text) - frozenset().union(*map(things, rows))
    )


def opposed(one: str, other: str, rows: Iterable[frozenset[str]] = ()) -> bool:
    """Whether one sentence says staging and the other production, or one word each of another row of opposites."""
    mine, theirs = counted(one, pairs=False).keys(), counted(other, pairs=False).keys()
    return any((row & mine) - theirs and (row & theirs) - mine for row in (*_OPPOSITES, *rows))


def _differ(
    one: tuple[frozenset[str], frozenset[str], set[str]],
    other: tuple[frozenset[str], frozenset[str], set[str]],
    *,
    names: bool,
) -> bool:
    for spelled in (False, True) if names else (True,):
        # "five seconds" and "5000" may be one, "five seconds" and "one hour" are not.
        here, there = ({x for x in row[0] if (" " in x) is spelled} for row in (one, other))
        if here - there and there - here:
            return True
    if names and one[1] and other[1] and not _shares(one[1], other[1]):
        return True
    mine, theirs = one[2], other[2]
    return any((row & mine) - theirs and (row & theirs) - mine for row in _OPPOSITES)


def _shares(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether a name is in both, or one is the other's beginning or end (`SMTP_PASS`, `SMTP_PASSWORD`)."""
    return any(a in b or b in a for a in one for b in other)
