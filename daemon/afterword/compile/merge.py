"""Proposals into articles: the same matter told again becomes one article, any doubt keeps two.

`Knowledge` is folded over the builds in the order of days. It draws and times nothing, so the same builds give the
same articles, whatever runs they came from.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from afterword.compile.connections import MOST_CONNECTED, Connecting, Origins, home_of, members
from afterword.compile.joining import joined, without
from afterword.compile.likeness import Likeness, cosine, counted, shared
from afterword.compile.reasons import back_reason, is_filler, reason
from afterword.compile.replacing import replaces
from afterword.compile.retracting import Closed, brings_back
from afterword.compile.rulings import Rulings, marks
from afterword.compile.same import NEAR, Meaning, Profile, judge, profile_of, told_apart
from afterword.domain.articles import MAX_PER_DAY, RELATED, Article, Proposal, Related, Verdict, name_key
from afterword.domain.ids import ArticleUid
from afterword.domain.slugs import SLUG_MAX, article_slug

Outcome: TypeAlias = Literal["created", "updated", "merged", "absorbed"]

_COMPARED = 12
_COMPARED_BY_MEANING = 6
_MOST_TAGS = 5
_MOST_RELATED = 4
_LINKED = 0.07
"""From this likeness on an article is worth a link of its own accord."""
_MEANT_SHARE = 0.25
"""How much likeness by meaning adds to that of words where links are looked for."""
_BELONGS = 0.5
_RULED: Final = 3.0
"""How sure it is that two tell one matter where an engine said so: surer than what is measured."""
_DOUBTED: Final = 3
_DOUBT_LIKE: Final = 0.15
"""From this likeness by words on it is worth a question whether two tell one matter."""
EXTRACTIVE = "extractive"
"""The engine whose days are connected here; others propose connections themselves."""
_FEW = 20
"""While there are no more articles than these, all are looked at for missing links after every build."""


class Knowledge:
    """All articles as the engine has them. `closed` ones a person retracted or deleted: they take in silently what is
    said again, and are linked from nowhere. Without `meaning` only words are compared, and without `origins` nothing
    is connected. Connections have no part in what concepts are compared by. What was ruled about two tellings goes
    before what is measured."""

    def __init__(
        self,
        articles: Mapping[ArticleUid, Article] | None = None,
        closed: Closed | None = None,
        meaning: Meaning | None = None,
        origins: Origins | None = None,
        rulings: Rulings | None = None,
    ) -> None:
        self.articles: dict[ArticleUid, Article] = {}
        self.rulings = rulings or Rulings()
        self._holders: dict[str, ArticleUid] = {}
        self._closed = closed or Closed()
        self._meaning = meaning
        self._likeness = Likeness()
        self._profiles: dict[ArticleUid, Profile] = {}
        self._postings: dict[str, dict[ArticleUid, None]] = {}
        self._names: dict[str, dict[ArticleUid, None]] = {}
        self._slugs: dict[str, ArticleUid] = {}
        self._topped = False
        self._connecting = Connecting(origins, self._likeness, meaning) if origins else None
        for uid, article in (articles or {}).items():
            self._put(uid, article)

    def build(self, day: str, engine: str, proposals: Iterable[Proposal]) -> dict[ArticleUid, Outcome]:
        """Take in a day's proposals; what became of each, by the uid of the article it is in now."""
        done: dict[ArticleUid, Outcome] = {}
        wishes: list[tuple[ArticleUid, Proposal]] = []
        for proposal in proposals:
            uid, outcome = self._take(day, engine, proposal)
            if uid not in self.articles:
                continue
            if done.get(uid) != "created":
                done[uid] = outcome
            wishes.append((uid, proposal))
        for uid, proposal in wishes:
            self._wish(uid, proposal)
        self._connect(day, engine, done)
        least = min(RELATED, sum(map(self._open, self.articles)) - 1) if len(self.articles) <= _FEW else RELATED
        for uid in done:
            self._link(uid, least if self._open(uid) else 0)
        if len(self.articles) <= _FEW or not self._topped:
            self._top_up()
        return done

    def verdict(self, proposal: Proposal) -> tuple[Verdict, ArticleUid | None]:
        """What a proposal is to the articles there are: it tells the matter of one, it replaces what one decided, or
        it stands alone. Any doubt is distinct."""
        best = self._same_as(proposal.uid, proposal)
        if best:
            return "same", best[1]
        replaced = self._replaced_by(proposal)
        return ("supersedes", replaced) if replaced else ("distinct", None)

    def _same_as(self, uid: ArticleUid, proposal: Proposal) -> tuple[float, ArticleUid] | None:
        """(how sure, uid) of the article that tells the same matter; None when there is none, or in doubt."""
        own = profile_of(proposal, proposal.title)
        best: tuple[float, ArticleUid] | None = None
        ruled = self._ruled(marks(proposal))
        connected = [uid for uid in sorted(self.articles) if self.articles[uid].kind == "connection"]
        for other in connected if proposal.kind == "connection" else [*ruled, *self._candidates(own, proposal)]:
            if self.articles[other].kind != proposal.kind or (
                other in self._closed and not self._closed.spares(other, uid)
            ):
                continue
            named = name_key(proposal.title) in {name_key(name) for name in self.articles[other].names}
            match ruled.get(other):
                case "same":
                    score = _RULED
                case None:
                    score = judge(own, self._profile(other), self._likeness, named=named, meaning=self._meaning)
                case _:
                    continue
            if score > 0 and (best is None or score > best[0]):
                best = (score, other)
        taken = self._closed.takes(uid, own, self._likeness, self._meaning)
        return taken if taken and (best is None or taken[0] > best[0]) else best

    def _replaced_by(self, proposal: Proposal) -> ArticleUid | None:
        """The article with a decision that the proposal replaces, if there is exactly one."""
        own = profile_of(proposal, proposal.title)
        ruled = self._ruled(marks(proposal))
        found = [
            uid
            for uid in self._candidates(own, proposal)
            if uid not in ruled
            and self._open(uid)
            and self.articles[uid].kind == proposal.kind
            and replaces(proposal.points, self.articles[uid].points)
        ]
        return found[0] if len(found) == 1 else None

    def _ruled(self, mine: frozenset[str]) -> dict[ArticleUid, Verdict]:
        """What something with these marks is to the articles about which that was said."""
        found: dict[ArticleUid, Verdict] = {}
        for uid in sorted({self._holders[m] for m in self.rulings.opposite(mine) if m in self._holders}):
            if verdict := self.rulings.between(mine, marks(self.articles[uid])):
                found[uid] = verdict
        return found

    def doubts(self, proposal: Proposal) -> list[ArticleUid]:
        """The articles that may tell a proposal's matter and about which nobody said yet, the nearest first."""
        if proposal.kind != "concept" or proposal.uid in self.articles:
            return []
        own = profile_of(proposal, proposal.title)
        ruled = self._ruled(marks(proposal))
        found = []
        for uid in self._candidates(own, proposal):
            article = self.articles[uid]
            if uid in ruled or article.kind != "concept" or not self._open(uid) or proposal.uid in article.merged:
                continue
            near = max(self._like(own, uid), float(name_key(proposal.title) in map(name_key, article.names)))
            if near >= _DOUBT_LIKE:
                found.append((near, uid))
        found.sort(key=lambda pair: (-pair[0], pair[1]))
        return [uid for _, uid in found[:_DOUBTED]]

    def _like(self, own: Profile, uid: ArticleUid) -> float:
        """How near an article is, by words or meaning."""
        other = self._profile(uid)
        vectors = [self._likeness.vector(story) for story in other.stories]
        words = max(
            (cosine(self._likeness.vector(story), theirs) for story in own.stories for theirs in vectors), default=0.0
        )
        meant = 0.0
        if self._meaning and own.told and other.told:
            meant = max(map(max, self._meaning.alike(own.told, other.told)))
        return max(words, meant if meant >= NEAR else 0.0)

    def apart(self, proposal: Proposal, uid: ArticleUid) -> bool:
        """Whether a number, a name or an opposite in them tells a proposal and an article apart, whoever says else."""
        return told_apart(profile_of(proposal, proposal.title), self._profile(uid), self._likeness)

    def _candidates(self, own: Profile, proposal: Proposal) -> list[ArticleUid]:
        named = [uid for name in (proposal.title, *proposal.aliases) for uid in self._names.get(name_key(name), ())]
        near = self._by_words(own)[:_COMPARED]
        meant = [uid for _, uid in self._by_meaning(own)[:_COMPARED_BY_MEANING]]
        return list(dict.fromkeys([*sorted(named), *near, *meant]))

    def _by_words(self, own: Profile) -> list[ArticleUid]:
        """The articles that share telling words, most of them first."""
        heavy = sorted(own.words, key=lambda word: (-own.words[word] * self._likeness.weight(word), word))[:30]
        hits: Counter[ArticleUid] = Counter()
        for word in heavy:
            for uid in self._postings.get(word, ()):
                hits[uid] += 1
        return sorted(hits, key=lambda uid: (-hits[uid], uid))

    def _by_meaning(self, own: Profile) -> list[tuple[float, ArticleUid]]:
        """(likeness, uid) of the articles that are near by meaning, the nearest first."""
        if self._meaning is None or not own.told or not self.articles:
            return []
        places = [(uid, told) for uid, profile in self._profiles.items() for told in profile.told]
        best: dict[ArticleUid, float] = {}
        for row in self._meaning.alike(own.told, [told for _, told in places]):
            for (uid, _), near in zip(places, row, strict=True):
                if near >= NEAR and near > best.get(uid, 0.0):
                    best[uid] = near
        return sorted(((near, uid) for uid, near in best.items()), key=lambda pair: (-pair[0], pair[1]))

    def _take(self, day: str, engine: str, proposal: Proposal) -> tuple[ArticleUid, Outcome]:
        uid = proposal.uid
        again = brings_back(proposal, self._closed.blocked(uid), self._meaning)
        if again:
            rest = without(proposal, again, self._meaning)
            if rest is None:
                return uid, "absorbed"
            proposal = rest
        target: ArticleUid | None = uid if uid in self.articles else None
        if target is None and (found := self._same_as(uid, proposal)):
            target = found[1]
            if target in self._closed and not self._closed.spares(target, uid):
                return target, "absorbed"
        if target is None:
            target = self._replaced_by(proposal)
        if target is None:
            self._put(uid, self._article(uid, day, engine, proposal))
            self._supersede(uid, proposal)
            return uid, "created"
        if self.articles[target].status in ("retracted", "deleted"):
            return target, "absorbed"
        before = self.articles[target]
        replaced = replaces(proposal.points, before.points) if before.updated <= day else {}
        self._put(target, joined(before, day, proposal, uid, meaning=self._meaning, replaced=replaced))
        self._supersede(target, proposal)
        return target, "merged" if uid != target else "updated"

    def _supersede(self, uid: ArticleUid, proposal: Proposal) -> None:
        """Mark the articles that `uid` takes the place of now, where an engine said that this proposal does."""
        for old, verdict in self._ruled(marks(proposal)).items():
            article = self.articles[old]
            if verdict == "supersedes" and old != uid and self._open(old) and not article.replaced_by:
                self.articles[old] = msgspec.structs.replace(article, status="stale", replaced_by=uid)

    def _article(self, uid: ArticleUid, day: str, engine: str, proposal: Proposal) -> Article:
        return Article(
            kind=proposal.kind,
            title=proposal.title,
            slug=self._slug(uid, proposal.title),
            aliases=proposal.aliases,
            tags=proposal.tags[:_MOST_TAGS],
            projects=proposal.projects,
            created=day,
            updated=day,
            engine=engine,
            points=proposal.points,
            details=proposal.details,
        )

    def _slug(self, uid: ArticleUid, title: str) -> str:
        slug = article_slug(title)
        if self._slugs.get(slug, uid) != uid:
            slug = f"{slug[: SLUG_MAX - 5].rstrip('-')}-{uid[2:6]}"
        return slug

    def _connect(self, day: str, engine: str, done: dict[ArticleUid, Outcome]) -> None:
        """Connections that show with this day, as far as there is room among the day's articles."""
        if self._connecting is None or engine != EXTRACTIVE:
            return
        concepts = {uid: row for uid, row in self.articles.items() if row.kind == "concept" and self._open(uid)}
        for seen in self._connecting.seen(concepts, [uid for uid in done if uid in concepts]):
            connections = {uid: row for uid, row in self.articles.items() if row.kind == "connection"}
            uid, there = home_of(seen, connections, self._closed)
            if uid not in done and len(done) >= MAX_PER_DAY and uid not in self._closed:
                continue
            before = connections.get(uid)
            if before is None:
                after = self._connecting.article(seen, concepts, day, engine)
                after = after and msgspec.structs.replace(after, slug=self._slug(uid, after.title))
            else:
                after = self._connecting.joined(before, seen, concepts, day)
            if after is None or after == before:
                continue
            if self._closed.disproved(after.points) not in (None, uid):
                continue  # it would bring together what a person said does not belong together
            self._put(uid, after)
            if self._open(uid):
                done.setdefault(uid, "merged" if there else "created")
                for member in members(after):
                    self._link_back(member, uid)

    def _link_back(self, uid: ArticleUid, connection: ArticleUid) -> None:
        """Let an article link to a connection it is part of, before all else."""
        article = self.articles[uid]
        if all(related.uid != connection for related in article.related):
            row = (Related(connection, back_reason(article)), *article.related)[:_MOST_RELATED]
            self.articles[uid] = msgspec.structs.replace(article, related=row)

    def _put(self, uid: ArticleUid, article: Article) -> None:
        if article.kind == "connection":
            self._name(uid, article)
            return
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
        self._name(uid, article)

    def _name(self, uid: ArticleUid, article: Article) -> None:
        self.articles[uid] = article
        for claim in article.points if article.kind == "concept" else ():
            self._holders[claim.mark] = uid
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
        for name, why in proposal.related:
            target = self._resolve(name)
            if target and target != uid and target not in have and self._open(target):
                have.add(target)
                added.append(Related(target, why))
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
        # A link for want of anything better gives way when there is something.
        kept = [r for r in article.related if r.uid in self.articles and self._open(r.uid) and not is_filler(r.reason)]
        have = {uid, *(related.uid for related in kept)}
        connection = article.kind == "connection"
        if len(kept) < (least if connection else _MOST_RELATED):
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
                if len(kept) >= (RELATED + 1 if near >= _LINKED and not connection else least):
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
            good = sum(r.uid in self.articles and self._open(r.uid) and not is_filler(r.reason) for r in row)
            most = MOST_CONNECTED if self.articles[uid].kind == "connection" else _MOST_RELATED
            if good < least or len(row) > most:
                self._link(uid, least)

    def _neighbours(self, uid: ArticleUid, least: int) -> list[ArticleUid]:
        own = self._profile(uid)
        near = [other for other in self._by_words(own) if self._open(other)][: 3 * _COMPARED]
        near += [other for _, other in self._by_meaning(own)[:_COMPARED] if other not in near and self._open(other)]
        if len(near) <= least:
            latest = sorted(self.articles, key=lambda other: (self.articles[other].created, other), reverse=True)
            near += [other for other in latest if other in self._profiles and other not in near and self._open(other)][
                : 10 * _COMPARED
            ]
        return near

    def _nearness(self, uid: ArticleUid, own: dict[str, float], other: ArticleUid) -> float:
        one, two = self.articles[uid], self.articles[other]
        bonus = 0.02 * bool(set(one.sections) & set(two.sections)) + 0.01 * bool(set(one.projects) & set(two.projects))
        told, others = self._profile(uid).told, self._profile(other).told
        if self._meaning and told and others:
            meant = max(map(max, self._meaning.alike(told, others)))
            bonus += _MEANT_SHARE * max(0.0, meant - 0.2)
        return cosine(own, self._vector(other)) + bonus

    def _vector(self, uid: ArticleUid) -> dict[str, float]:
        return self._likeness.vector(self._profile(uid).words)

    def _profile(self, uid: ArticleUid) -> Profile:
        """What is compared of an article; that of a connection is made when it is asked for."""
        held = self._profiles.get(uid)
        return held or profile_of(self.articles[uid], *self.articles[uid].names)

    def _reason(self, uid: ArticleUid, other: ArticleUid) -> str:
        common = shared(self._vector(uid), self._vector(other), 12)
        return reason(self.articles[uid], self.articles[other], common)
