"""How alike two texts are by their words: word forms folded, everyday words light, rare words and identifiers heavy."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TypeAlias

from afterword.compile import smalltalk
from afterword.compile.sentences import words

Bag: TypeAlias = Mapping[str, float]

_WORD = re.compile(r"[^\W_]+(?:[._'’-][^\W_]+)*|_+[^\W_]+")
_PARTS = re.compile(r"[._'’-]")
_EAST_RUN = re.compile("[\u3040-\u30ff\u3400-\u9fff]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_FORMS = {
    "tmp": "temp", "temporary": "temp", "tempdir": "temp", "tmpdir": "temp", "mkdtemp": "temp", "dir": "directory",
    "dirs": "directory", "folder": "directory", "folders": "directory", "db": "database", "pw": "password",
    "pwd": "password", "passwd": "password", "config": "configuration", "env": "environment", "prod": "production",
    "repo": "repository", "deps": "dependency", "tz": "zone", "timezone": "zone", "auth": "authentication",
}  # fmt: skip
"""What developers write short, in full."""
_STOP = frozenset(word for row in smalltalk.STOPWORDS.values() for word in row.split()) | words(
    "about after again all also always an any are as at be because been before both but by can cannot could did do does"
    " done each every few for from get gets had has have he her here how if in into is it its just like make makes may"
    " me more most must my never no not now of off on once one only or other our out over own same she should so some"
    " still such than that the their them then there these they this those through time to too two under until up us"
    " use used uses using very was way we were what when where which while who whose why will with would yes you your"
)
_LIGHT = words(
    "add already bug call cause change check code come day decision everything fail fix go good issue keep know learn"
    " lesson let line look need new next nothing old pass problem put question read really right run say see set show"
    " something start stop take tell test thing today tomorrow try turn wait want week work write wrong yesterday"
)


def tokens(text: str) -> list[str]:
    """The words of a text in order, folded: `directories` and `folder` are one, compounds come whole and in parts."""
    found: list[str] = []
    for word in _WORD.findall(_CAMEL.sub("_", text).replace("’", "'")):
        low = word.lower()
        if _EAST_RUN.search(low):
            for run in _EAST_RUN.findall(low):
                found.extend(run[n : n + 2] for n in range(max(1, len(run) - 1)))
            continue
        parts = [part for part in _PARTS.split(low) if part]
        found.extend(fold(part) for part in parts if part not in _STOP)
    return found


@lru_cache(maxsize=65536)
def fold(word: str) -> str:
    """A word without its ending, roughly: English endings by rule, other languages by their first letters."""
    word = _FORMS.get(word, word)
    if not word.isascii():
        return word if len(word) <= 4 else word[: max(4, len(word) - 3)][:6]
    if len(word) <= 3 or not word.isalpha():
        return word
    for ending, instead, least in (
        ("ies", "y", 3),
        ("sses", "ss", 2),
        ("ing", "", 4),
        ("ed", "", 4),
        ("es", "e", 3),
        ("s", "", 3),
    ):
        if word.endswith(ending) and not word.endswith(("ss", "us", "is")) and len(word) - len(ending) >= least:
            word = word[: -len(ending)] + instead
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word.rstrip("e")[:7] or word


class Likeness:
    """Weights of words by how many of the texts given to `add` hold them."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()
        self._count = 0
        self._weights: dict[str, float] = {}

    def add(self, bag: Iterable[str]) -> None:
        """Take a text's words into the count."""
        self._seen.update(set(bag))
        self._count += 1
        self._weights.clear()

    def widen(self, more: Iterable[str]) -> None:
        """Take in the words a text that is counted already has now besides."""
        self._seen.update(set(more))
        self._weights.clear()

    def weight(self, word: str) -> float:
        """How much a word tells: rare ones much, everyday ones little."""
        known = self._weights.get(word)
        if known is None:
            known = self._weights[word] = self._weigh(word)
        return known

    def _weigh(self, word: str) -> float:
        base = math.log((self._count + 12) / (self._seen.get(word, 0) + 1.5))
        if " " in word:
            return 0.6 * base
        return base * (0.35 if is_light(word) else 1.0)

    def vector(self, counts: Mapping[str, float]) -> dict[str, float]:
        """The weighted words of a text, of length 1; empty for a text without words."""
        raw = {word: (1 + math.log(n) if n >= 1 else n) * self.weight(word) for word, n in counts.items() if n > 0}
        size = math.sqrt(math.fsum(value * value for value in raw.values()))
        return {word: value / size for word, value in raw.items()} if size else {}


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The one folded word that a word is; nothing when it is none or several."""
    found = tokens(word)
    return found[0] if len(found) == 1 else ""


def counted(text: str, *, pairs: bool = True) -> Counter[str]:
    """The folded words of a text with how often they occur, and pairs of neighbours."""
    row = tokens(text)
    found = Counter(row)
    if pairs:
        found.update(f"{one} {two}" for one, two in itertools.pairwise(row) if one != two)
    return found


def cosine(one: Bag, other: Bag) -> float:
    """0 … 1; the sum is rounded once, so no order shows."""
    small, large = (one, other) if len(one) <= len(other) else (other, one)
    return math.fsum(value * large[word] for word, value in small.items() if word in large)


def shared(one: Bag, other: Bag, most: int) -> list[str]:
    """The words two texts share, the most telling first; single words only."""
    both = {word: value * other[word] for word, value in one.items() if word in other and " " not in word}
    return sorted(both, key=lambda word: (-both[word], word))[:most]


_LIGHT_FOLDED = frozenset(map(fold, _LIGHT))


def is_light(word: str) -> bool:
    """Whether a folded word is an everyday one that tells little."""
    return word in _LIGHT_FOLDED or (len(word) == 1 and word.isascii())
