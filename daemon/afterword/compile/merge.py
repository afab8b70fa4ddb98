"""Proposals into articles: the same matter told again becomes one article, any doubt keeps two.

`Knowledge` is folded over the builds in the order of days. It draws and times nothing, so the same builds give the
same articles, whatever runs they came from.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

import msgspec

from afterword.compile.likeness import Likeness, cosine, counted, is_light, shared, stem
from afterword.compile.rank import alike
from afterword.compile.same import Profile, judge, profile_of
from afterword.domain.articles import RELATED, Article, Claim, Proposal, Related, name_key
from afterword.domain.ids import ArticleUid
from afterword.domain.slugs import SLUG_MAX, article_slug

Outcome: TypeAlias = Literal["created", "updated", "merged", "absorbed"]

_COMPARED = 12
_MOST_POINTS = 24
_MOST_PARAGRAPHS = 12
_MOST_TAGS = 5
_MOST_ALIASES = 8
_MOST_RELATED = 4
_LINKED = 0.07
"""From this likeness on an article is worth a link of its own accord."""
_BELONGS = 0.5
_FEW = 20
"""While there are no more articles than these, all are looked at for missing links after every build."""


class Knowledge:
    """All articles as the engine has them. `closed` are uids a person retracted or deleted: they take in silently what
    is said again, and are linked from nowhere."""

    def __init__(self, articles: Mapping[ArticleUid, Article] | None = None, closed: Iterable[ArticleUid] = ()) -> None:
        self.articles: dict[ArticleUid, Article] = {}
        self._closed = frozenset(closed)
        self._likeness = Likeness()
        self._profiles: dict[ArticleUid, Profile] = {}
        self._postings: dict[str, dict[ArticleUid, None]] = {}
        self._names: dict[str, dict[ArticleUid, None]] = {}
        self._slugs: dict[str, ArticleUid] = {}
        self._topped = False
        for uid, article in (articles or {}).items():
            self._put(uid, article)

    def build(self, day: str, engine: str, proposals: Iterable[Proposal]) -> dict[ArticleUid, Outcome]:
        """Take in a day's proposals; what became of each, by the uid of the article it is in now."""
        done: dict[ArticleUid, Outcome] = {}
        wishes: list[tuple[ArticleUid, Proposal]] = []
        for proposal in proposals:
            uid, outcome = self._take(day, engine, proposal)
            if done.get(uid) != "created":
                done[uid] = outcome
            wishes.append((uid, proposal))
        for uid, proposal in wishes:
            self._wish(uid, proposal)
        least = min(RELATED, sum(map(self._open, self.articles)) - 1) if len(self.articles) <= _FEW else RELATED
        for uid in done:
            self._link(uid, least if self._open(uid) else 0)
        if len(self.articles) <= _FEW or not self._topped:
            self._top_up()
        return done

    def same_as(self, proposal: Proposal) -> ArticleUid | None:
        """The article that tells the same matter; None when there is none, or in doubt."""
        own = profile_of(proposal, proposal.title)
        best: tuple[float, ArticleUid] | None = None
        for uid in self._candidates(own, proposal):
            named = name_key(proposal.title) in {name_key(name) for name in self.articles[uid].names}
            score = judge(own, self._profiles[uid], self._likeness, named=named)
            if score > 0 and (best is None or score > best[0]):
                best = (score, uid)
        return best[1] if best else None

    def _candidates(self, own: Profile, proposal: Proposal) -> list[ArticleUid]:
        heavy = sorted(own.words, key=lambda word: (-own.words[word] * self._likeness.weight(word), word))[:30]
        hits: Counter[ArticleUid] = Counter()
        for word in heavy:
            for uid in self._postings.get(word, ()):
                hits[uid] += 1
        near = sorted(hits, key=lambda uid: (-hits[uid], uid))[:_COMPARED]
        named = [uid for name in (proposal.title, *proposal.aliases) for uid in self._names.get(name_key(name), ())]
        return list(dict.fromkeys([*sorted(named), *near]))

    def _take(self, day: str, engine: str, proposal: Proposal) -> tuple[ArticleUid, Outcome]:
        uid = proposal.uid
        target = uid if uid in self.articles else self.same_as(proposal)
        if target is None:
            self._put(uid, self._article(uid, day, engine, proposal))
            return uid, "created"
        if target in self._closed or self.articles[target].status in ("retracted", "deleted"):
            return target, "absorbed"
        before = self.articles[target]
        after = _merged(before, day, proposal, uid)
        self._put(target, after)
        return target, "merged" if uid != target else "updated"

    def _article(self, uid: ArticleUid, day: str, engine: str, proposal: Proposal) -> Article:
        slug = article_slug(proposal.title)
        if self._slugs.get(slug, uid) != uid:
            slug = f"{slug[: SLUG_MAX - 5].rstrip('-')}-{uid[2:6]}"
        return Article(
            kind=proposal.kind,
            title=proposal.title,
            slug=slug,
            aliases=proposal.aliases,
            tags=proposal.tags[:_MOST_TAGS],
            projects=proposal.projects,
            created=day,
            updated=day,
            engine=engine,
            points=proposal.points,
            details=proposal.details,
        )

    def _put(self, uid: ArticleUid, article: Article) -> None:
        profile = profile_of(article, *article.names)
        old = self._profiles.get(uid)
        for word in old.words if old else ():
            if word not in profile.words:
                self._postings.get(word, {}).pop(uid, None)
        if old is None:
            self._likeness.add(profile.words)
        else:
            # As if it had been added with these words at once: the weights know no history.
            self._likeness.widen(word for word in profile.words if word not in old.words)
        for word in profile.words:
            self._postings.setdefault(word, {})[uid] = None
        self._profiles[uid] = profile
        self.articles[uid] = article
        self._slugs.setdefault(article.slug, uid)
        for name in (*article.names, article.slug):
            self._names.setdefault(name_key(name), {})[uid] = None

    def _open(self, uid: ArticleUid) -> bool:
        return uid not in self._closed and self.articles[uid].status in ("active", "stale", "draft")

    def _wish(self, uid: ArticleUid, proposal: Proposal) -> None:
        """The links an engine asked for, resolved by uid, title, alias, slug, or to the nearest name."""
        article = self.articles[uid]
        have = {related.uid for related in article.related}
        added = []
        for name, reason in proposal.related:
            target = self._resolve(name)
            if target and target != uid and target not in have and self._open(target):
                have.add(target)
                added.append(Related(target, reason))
        if added:
            self.articles[uid] = msgspec.structs.replace(article, related=(*article.related, *added)[:_MOST_RELATED])

    def _resolve(self, name: str) -> ArticleUid | None:
        if ArticleUid(name) in self.articles:
            return ArticleUid(name)
        if found := self._names.get(name_key(name)):
            return min(found)
        wanted = self._likeness.vector(counted(name))
        near = [
            (cosine(wanted, self._likeness.vector(sum(map(counted, article.names), Counter()))), uid)
            for uid, article in self.articles.items()
        ]
        best = max(near, key=lambda pair: (pair[0], pair[1]), default=(0.0, None))
        return best[1] if best[0] >= _BELONGS else None

    def _link(self, uid: ArticleUid, least: int = 0) -> None:
        """Bring an article's links up to date: open targets stay, near ones are added, and `least` at any rate."""
        article = self.articles[uid]
        kept = [related for related in article.related if related.uid in self.articles and self._open(related.uid)]
        have = {uid, *(related.uid for related in kept)}
        if len(kept) < _MOST_RELATED:
            own = self._vector(uid)
            ranked = sorted(
                (
                    (self._nearness(uid, own, other), other)
                    for other in self._neighbours(uid, least)
                    if other not in have
                ),
                key=lambda pair: (-pair[0], pair[1]),
            )
            for near, other in ranked:
                if len(kept) >= (RELATED + 1 if near >= _LINKED else least):
                    break
                kept.append(Related(other, self._reason(uid, other)))
        if tuple(kept) != article.related:
            self.articles[uid] = msgspec.structs.replace(article, related=tuple(kept))

    def _top_up(self) -> None:
        """Links for every open article that has too few, as far as there are others. Once there are enough articles
        none loses its links again while these are folded."""
        self._topped = len(self.articles) > _FEW
        open_ones = [uid for uid in self.articles if self._open(uid)]
        least = min(RELATED, len(open_ones) - 1)
        for uid in open_ones:
            row = self.articles[uid].related
            if sum(r.uid in self.articles and self._open(r.uid) for r in row) < least or len(row) > _MOST_RELATED:
                self._link(uid, least)

    def _neighbours(self, uid: ArticleUid, least: int) -> list[ArticleUid]:
        own = self._profiles[uid]
        heavy = sorted(own.words, key=lambda word: (-own.words[word] * self._likeness.weight(word), word))[:30]
        hits: Counter[ArticleUid] = Counter()
        for word in heavy:
            for other in self._postings.get(word, ()):
                hits[other] += 1
        near = [other for other in sorted(hits, key=lambda u: (-hits[u], u)) if self._open(other)][: 3 * _COMPARED]
        if len(near) <= least:
            latest = sorted(self.articles, key=lambda other: (self.articles[other].created, other), reverse=True)
            near += [other for other in latest if other not in near and self._open(other)][: 10 * _COMPARED]
        return near

    def _nearness(self, uid: ArticleUid, own: dict[str, float], other: ArticleUid) -> float:
        one, two = self.articles[uid], self.articles[other]
        bonus = 0.02 * bool(set(one.sections) & set(two.sections)) + 0.01 * bool(set(one.projects) & set(two.projects))
        return cosine(own, self._vector(other)) + bonus

    def _vector(self, uid: ArticleUid) -> dict[str, float]:
        return self._likeness.vector(self._profiles[uid].words)

    def _reason(self, uid: ArticleUid, other: ArticleUid) -> str:
        one, two = self.articles[uid], self.articles[other]
        common = shared(self._vector(uid), self._vector(other), 12)
        shown = [word for stem in common if (word := _surface(stem, one, two))][:2]
        if shown:
            return "both about " + " and ".join(shown)
        if set(one.sections) & set(two.sections):
            return "came up in the same session"
        projects = [project for project in one.projects if project in two.projects]
        if projects:
            return f"also from {projects[0]}"
        return "from the same day" if one.created == two.created else "from the days around it"


_PLAIN_WORD = re.compile(r"[^\W\d_]{3,}")


def _surface(wanted: str, *articles: Article) -> str:
    """A word of both articles as it was written, if it matters to them: in a title, or said twice in each."""
    if is_light(wanted):
        return ""
    forms: Counter[str] = Counter()
    titled = False
    least = 99
    for article in articles:
        told = [word for claim in article.points for word in _PLAIN_WORD.findall(claim.text)]
        named = _PLAIN_WORD.findall(article.title)
        here = [word for word in (*named, *told) if stem(word) == wanted]
        forms.update(word if word[1:] != word[1:].lower() else word.lower() for word in here)
        titled = titled or any(stem(word) == wanted for word in named)
        least = min(least, len(here))
    if least < 1 or (not titled and least < 2):
        return ""
    return min(forms, key=lambda form: (-forms[form], len(form), form))


def _merged(article: Article, day: str, proposal: Proposal, uid: ArticleUid) -> Article:
    """The article with what is new of a proposal about the same matter; days move only with content."""
    points = list(article.points)
    for claim in proposal.points:
        if len(points) < _MOST_POINTS and not any(_says(claim, other) for other in points):
            points.append(claim)
    paragraphs = article.details.split("\n\n")
    paragraphs += [part for part in proposal.details.split("\n\n") if part not in paragraphs]
    names = {name_key(name) for name in article.names}
    aliases = list(article.aliases)
    for name in (proposal.title, *proposal.aliases):
        if name_key(name) not in names and len(aliases) < _MOST_ALIASES:
            names.add(name_key(name))
            aliases.append(name)
    changed = msgspec.structs.replace(
        article,
        points=tuple(points),
        details="\n\n".join(paragraphs[:_MOST_PARAGRAPHS]),
        tags=tuple(dict.fromkeys((*article.tags, *proposal.tags)))[:_MOST_TAGS],
        projects=tuple(dict.fromkeys((*article.projects, *proposal.projects))),
        aliases=tuple(aliases),
        merged=article.merged if uid in article.merged else (*article.merged, uid),
    )
    same = (changed.points, changed.details, changed.aliases) == (article.points, article.details, article.aliases)
    return changed if same else msgspec.structs.replace(changed, updated=max(article.updated, day))


def _says(claim: Claim, other: Claim) -> bool:
    if claim.quote == other.quote or name_key(claim.text) == name_key(other.text):
        return True
    return alike(frozenset(counted(claim.text, pairs=False)), frozenset(counted(other.text, pairs=False)))
