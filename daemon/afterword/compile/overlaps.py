"""What articles say twice or against each other: compared by words, near ones only, so thousands are no trouble."""

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from afterword.compile.joining import says
from afterword.compile.likeness import Likeness, counted
from afterword.compile.replacing import replaces
from afterword.compile.rulings import Rulings, marks
from afterword.compile.same import Profile, judge, profile_of
from afterword.domain.articles import Article, Claim
from afterword.domain.ids import ArticleUid

_HEAVY: Final = 30
_NEAREST: Final = 12
_LEAST_SHARED: Final = 3
_TELLING: Final = 4
"""By so many of its most telling words a sentence is looked for elsewhere; all but one of them have to be there."""
_SHORTEST: Final = 4
"""A sentence of fewer words says too little to be called a fact."""

Pair = tuple[ArticleUid, ArticleUid]


class Overlaps:
    """Compares live concepts. Stale ones that something took the place of are history, and no trouble."""

    def __init__(self, articles: Mapping[ArticleUid, Article], rulings: Rulings) -> None:
        self._articles = {
            uid: article
            for uid, article in sorted(articles.items())
            if article.kind == "concept" and not article.replaced_by
        }
        self._rulings = rulings
        self._likeness = Likeness()
        self._profiles: dict[ArticleUid, Profile] = {}
        for uid, article in self._articles.items():
            self._profiles[uid] = profile_of(article, *article.names)
            self._likeness.add(self._profiles[uid].words)
        self._near = list(self._pairs())

    def doubles(self) -> Iterator[Pair]:
        """Two that tell one matter, as far as words show it, and about which nobody said otherwise."""
        for one, other in self._near:
            if not self._verdict(one, other) and judge(self._profiles[one], self._profiles[other], self._likeness) > 0:
                yield one, other

    def facts(self) -> Iterator[tuple[Pair, str]]:
        """Two that say the same sentence, or nearly, and the sentence."""
        places: dict[tuple[str, ...], list[tuple[ArticleUid, Claim]]] = {}
        told: set[Pair] = set()
        for uid, article in self._articles.items():
            for claim in article.points:
                words = Counter(counted(claim.text, pairs=False))
                if claim.until or len(words) < _SHORTEST:
                    continue
                heavy = sorted(words, key=lambda word: (-self._likeness.weight(word), word))[:_TELLING]
                keys = list(itertools.combinations(sorted(heavy), _TELLING - 1))
                near = {theirs.place: (other, theirs) for key in keys for other, theirs in places.get(key, ())}
                for other, theirs in near.values():
                    pair = (other, uid)
                    if other != uid and pair not in told and says(claim, theirs):
                        told.add(pair)
                        yield pair, claim.text
                for key in keys:
                    places.setdefault(key, []).append((uid, claim))

    def contradictions(self) -> Iterator[tuple[Pair, str]]:
        """(later, earlier) of which an engine said that they cannot both be true, or of which the later one replaces a
        decision that the earlier one still tells; with the sentence that does."""
        for one, other in self._near:
            earlier, later = sorted((one, other), key=lambda uid: (self._articles[uid].created, uid))
            said = self._verdict(later, earlier)
            new, old = self._articles[later].points, self._articles[earlier].points
            if said == "contradicts":
                yield (later, earlier), new[0].text
            elif said is None and (found := replaces(new, old)):
                yield (later, earlier), new[min(found)].text

    def _verdict(self, later: ArticleUid, earlier: ArticleUid) -> str | None:
        return self._rulings.between(marks(self._articles[later]), marks(self._articles[earlier]))

    def _pairs(self) -> Iterator[Pair]:
        """Each two that share telling words, the nearest of each; every pair once, the earlier uid first."""
        postings: dict[str, list[ArticleUid]] = {}
        done: set[Pair] = set()
        for uid, profile in self._profiles.items():
            heavy = sorted(profile.words, key=lambda w: (-profile.words[w] * self._likeness.weight(w), w))[:_HEAVY]
            hits: Counter[ArticleUid] = Counter()
            for word in heavy:
                hits.update(postings.get(word, ()))
            for other in sorted(hits, key=lambda other: (-hits[other], other))[:_NEAREST]:
                if hits[other] >= min(_LEAST_SHARED, len(heavy)) and (other, uid) not in done:
                    done.add((other, uid))
                    yield other, uid
            for word in profile.words:
                postings.setdefault(word, []).append(uid)
