"""Which articles an engine is told of: those that have most to do with a day, so that it adds to them."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from afterword.compile.likeness import is_light, tokens
from afterword.compile.validate import points_of
from afterword.domain.articles import LIVE, Article, Known, SectionText
from afterword.domain.ids import ArticleUid

MOST = 40


class Relations:
    """The words of articles, taken once and again only for those that changed."""

    def __init__(self) -> None:
        self._words: dict[ArticleUid, tuple[Article, frozenset[str]]] = {}

    def known(
        self,
        sections: Sequence[SectionText],
        stored: Mapping[ArticleUid, Article],
        unused: Collection[ArticleUid] = (),
    ) -> tuple[Known, ...]:
        """At most `MOST` live articles, the most related first; of equals the newest. `unused` were never used."""
        live = {uid: article for uid, article in stored.items() if article.status in LIVE}
        for uid, article in live.items():
            if self._words.get(uid, (None,))[0] is not article:
                said = " ".join((*article.names, *(claim.text for claim in article.points)))
                self._words[uid] = (article, frozenset(word for word in tokens(said) if not is_light(word)))
        seen = Counter(word for uid in live for word in self._words[uid][1])
        today = frozenset(
            word for section in sections for point in points_of(section.digest) for word in tokens(point.text)
        )

        def weight(uid: ArticleUid) -> float:
            return math.fsum(1 / seen[word] for word in self._words[uid][1] & today)

        ranked = sorted(live, key=lambda uid: (-weight(uid), -_number(live[uid].updated), uid))[:MOST]
        return tuple(
            Known(uid, live[uid].title, live[uid].slug, tuple(claim.text for claim in live[uid].points), uid in unused)
            for uid in ranked
        )


def _number(day: str) -> int:
    return int("".join(filter(str.isdigit, day)) or 0)
