"""Articles as they are found again: by the words they share, by what they mean, by their names."""

from collections import Counter
from collections.abc import Iterable

from afterword.compile.likeness import Likeness, cosine, counted
from afterword.compile.same import NEAR, Meaning, Profile, profile_of
from afterword.domain.articles import Article, name_key
from afterword.domain.ids import ArticleUid
from afterword.domain.slugs import SLUG_MAX, article_slug

_HEAVY = 30
"""How many of a profile's words articles are looked up by, the most telling first."""
_BELONGS = 0.5
"""From this likeness on a name that nobody bears means the article with the nearest one."""


class Shelf:
    """All articles by uid. Connections have names and no part in what is compared; without `meaning` only words are."""

    def __init__(self, meaning: Meaning | None = None) -> None:
        self.articles: dict[ArticleUid, Article] = {}
        self.likeness = Likeness()
        self.meaning = meaning
        self._profiles: dict[ArticleUid, Profile] = {}
        self._postings: dict[str, dict[ArticleUid, None]] = {}
        self._names: dict[str, dict[ArticleUid, None]] = {}
        self._slugs: dict[str, ArticleUid] = {}
        self._holders: dict[str, ArticleUid] = {}

    def put(self, uid: ArticleUid, article: Article) -> None:
        """Set an article in, new or in the place of what it was."""
        if article.kind == "connection":
            self._name(uid, article)
            return
        profile = profile_of(article, *article.names)
        old = self._profiles.get(uid)
        for word in old.words if old else ():
            if word not in profile.words:
                self._postings.get(word, {}).pop(uid, None)
        if old is None:
            self.likeness.add(profile.words)
        else:
            # As if it had been added with these words at once: the weights know no history.
            self.likeness.widen(word for word in profile.words if word not in old.words)
        for word in profile.words:
            self._postings.setdefault(word, {})[uid] = None
        self._profiles[uid] = profile
        self._name(uid, article)

    def _name(self, uid: ArticleUid, article: Article) -> None:
        self.articles[uid] = article
        for claim in article.points if article.kind == "concept" else ():
            self._holders[claim.mark] = uid
        self._slugs.setdefault(article.slug, uid)
        for name in (*article.names, article.slug):
            self._names.setdefault(name_key(name), {})[uid] = None

    def holders(self, of: Iterable[str]) -> set[ArticleUid]:
        """The articles with a claim of one of these marks."""
        return {self._holders[mark] for mark in of if mark in self._holders}

    def named(self, names: Iterable[str]) -> list[ArticleUid]:
        """The articles with one of these names."""
        return sorted(uid for name in names for uid in self._names.get(name_key(name), ()))

    def by_words(self, own: Profile) -> list[ArticleUid]:
        """The articles that share telling words, most of them first."""
        heavy = sorted(own.words, key=lambda word: (-own.words[word] * self.likeness.weight(word), word))[:_HEAVY]
        hits: Counter[ArticleUid] = Counter()
        for word in heavy:
            for uid in self._postings.get(word, ()):
                hits[uid] += 1
        return sorted(hits, key=lambda uid: (-hits[uid], uid))

    def by_meaning(self, own: Profile) -> list[tuple[float, ArticleUid]]:
        """(likeness, uid) of the articles that are near by meaning, the nearest first."""
        if self.meaning is None or not own.told or not self.articles:
            return []
        places = [(uid, told) for uid, profile in self._profiles.items() for told in profile.told]
        best: dict[ArticleUid, float] = {}
        for row in self.meaning.alike(own.told, [told for _, told in places]):
            for (uid, _), near in zip(places, row, strict=True):
                if near >= NEAR and near > best.get(uid, 0.0):
                    best[uid] = near
        return sorted(((near, uid) for uid, near in best.items()), key=lambda pair: (-pair[0], pair[1]))

    def like(self, own: Profile, uid: ArticleUid) -> float:
        """How near an article is, by words or meaning."""
        other = self.profile(uid)
        vectors = [self.likeness.vector(story) for story in other.stories]
        words = max(
            (cosine(self.likeness.vector(story), theirs) for story in own.stories for theirs in vectors), default=0.0
        )
        meant = 0.0
        if self.meaning and own.told and other.told:
            meant = max(map(max, self.meaning.alike(own.told, other.told)))
        return max(words, meant if meant >= NEAR else 0.0)

    def vector(self, uid: ArticleUid) -> dict[str, float]:
        """The words of an article with their weights."""
        return self.likeness.vector(self.profile(uid).words)

    def profile(self, uid: ArticleUid) -> Profile:
        """What is compared of an article; that of a connection is made when it is asked for."""
        held = self._profiles.get(uid)
        return held or profile_of(self.articles[uid], *self.articles[uid].names)

    def resolve(self, name: str) -> ArticleUid | None:
        """The article somebody means by a name: its uid, one of its names, or the nearest one."""
        if ArticleUid(name) in self.articles:
            return ArticleUid(name)
        if found := self._names.get(name_key(name)):
            return min(found)
        wanted = self.likeness.vector(counted(name))
        near = [
            (cosine(wanted, self.likeness.vector(sum(map(counted, article.names), Counter()))), uid)
            for uid, article in self.articles.items()
        ]
        best = max(near, key=lambda pair: (pair[0], pair[1]), default=(0.0, None))
        return best[1] if best[0] >= _BELONGS else None

    def slug(self, uid: ArticleUid, title: str) -> str:
        """A file's name for an article, that no other one has."""
        slug = article_slug(title)
        if self._slugs.get(slug, uid) != uid:
            slug = f"{slug[: SLUG_MAX - 5].rstrip('-')}-{uid[2:6]}"
        return slug

    def profiled(self, uid: ArticleUid) -> bool:
        """Whether an article is compared with others."""
        return uid in self._profiles
