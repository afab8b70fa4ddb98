"""How central a sentence is, and how alike two sentences are."""

import math
import re
from collections import Counter
from collections.abc import Sequence

_WORD = re.compile(r"[^\W_]{2,}(?:[._-][^\W_]+)*|[\u3040-\u30ff\u3400-\u9fff]+")
_EAST_RUN = re.compile("[\u3040-\u30ff\u3400-\u9fff]+")


def terms(text: str) -> list[str]:
    """The words of a text for comparison; runs of Japanese or Chinese become pairs of characters."""
    found: list[str] = []
    for word in _WORD.findall(text.lower()):
        if _EAST_RUN.search(word):
            for run in _EAST_RUN.findall(word):
                found.extend(run[n : n + 2] for n in range(max(1, len(run) - 1)))
        else:
            found.append(word)
    return found


class Centre:
    """The tf-idf centroid of a set of sentences."""

    def __init__(self, bags: Sequence[Sequence[str]]) -> None:
        seen: Counter[str] = Counter()
        for bag in bags:
            seen.update(dict.fromkeys(bag, 1))
        count = max(1, len(bags))
        self._idf = {term: math.log((1 + count) / (0.5 + df)) for term, df in seen.items()}
        total = {term: df * self._idf[term] for term, df in seen.items() if df > 1}
        self._top = max(total.values(), default=1.0) or 1.0
        self._total = total

    def near(self, bag: Sequence[str]) -> float:
        """0 … 1: how much of the sentence is what the session is about, not favouring length."""
        if not bag:
            return 0.0
        known = sorted({term: self._total.get(term, 0.0) for term in bag}.values(), reverse=True)[:8]
        return sum(known) / (self._top * (2 + len(known)))

    def weight(self, term: str) -> float:
        return self._idf.get(term, 1.0)

    def overlap(self, one: frozenset[str], other: frozenset[str]) -> float:
        """The shared weight of two term sets over that of the smaller one."""
        if not one or not other:
            return 0.0
        common = one & other
        if not common:
            return 0.0
        # fsum rounds once, so the order of a set does not show.
        shared = math.fsum(map(self.weight, common))
        least = min(math.fsum(map(self.weight, one)), math.fsum(map(self.weight, other)))
        return shared / least if least > 0 else 0.0


def alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sentences say the same in nearly the same words."""
    if not one or not other:
        return False
    shared = len(one & other)
    return shared >= 0.7 * len(one | other) or (
        min(len(one), len(other)) >= 4 and shared >= 0.9 * min(len(one), len(other))
    )
