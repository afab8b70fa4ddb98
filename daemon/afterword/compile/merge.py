"""Proposals into articles: the same matter told again becomes one article, any doubt keeps two.

`Knowledge` is folded over the builds in the order of days. It draws and times nothing, so the same builds give the
same articles, whatever runs they came from.
"""

from collections.abc import Iterable, Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from afterword.compile.connections import Connecting, Origins, home_of, members
from afterword.compile.joining import joined, without
from afterword.compile.linking import Links
from afterword.compile.replacing import replaces
from afterword.compile.retracting import Closed, brings_back
from afterword.compile.rulings import Rulings, marks
from afterword.compile.same import Meaning, Profile, judge, profile_of, told_apart
from afterword.compile.shelf import Shelf
from afterword.domain.articles import MAX_PER_DAY, Article, Proposal, Verdict, name_key
from afterword.domain.ids import ArticleUid

Outcome: TypeAlias = Literal["created", "updated", "merged", "absorbed"]

_COMPARED = 12
_COMPARED_BY_MEANING = 6
_MOST_TAGS = 5
_RULED: Final = 3.0
"""How sure it is that two tell one matter where an engine said so: surer than what is measured."""
_DOUBTED: Final = 3
_DOUBT_LIKE: Final = 0.15
"""From this likeness by words on it is worth a question whether two tell one matter."""
EXTRACTIVE = "extractive"
"""The engine whose days are connected here; others propose connections themselves."""


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
        self.rulings = rulings or Rulings()
        self._closed = closed or Closed()
        self._shelf = Shelf(meaning)
        self._links = Links(self._shelf, self._open)
        self._connecting = Connecting(origins, self._shelf.likeness, meaning) if origins else None
        for uid, article in (articles or {}).items():
            self._shelf.put(uid, article)

    @property
    def articles(self) -> dict[ArticleUid, Article]:
        """All articles by uid, as they are now."""
        return self._shelf.articles

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
            self._links.wish(uid, proposal)
        self._connect(day, engine, done)
        self._links.renew(done)
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
        likeness, meaning = self._shelf.likeness, self._shelf.meaning
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
                    score = judge(
                        own, self._shelf.profile(other), self._shelf.likeness, named=named, meaning=self._shelf.meaning
                    )
                case _:
                    continue
            if score > 0 and (best is None or score > best[0]):
                best = (score, other)
        taken = self._closed.takes(uid, own, likeness, meaning)
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
        for uid in sorted(self._shelf.holders(self.rulings.opposite(mine))):
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
            near = max(self._shelf.like(own, uid), float(name_key(proposal.title) in map(name_key, article.names)))
            if near >= _DOUBT_LIKE:
                found.append((near, uid))
        found.sort(key=lambda pair: (-pair[0], pair[1]))
        return [uid for _, uid in found[:_DOUBTED]]

    def apart(self, proposal: Proposal, uid: ArticleUid) -> bool:
        """Whether a number, a name or an opposite in them tells a proposal and an article apart, whoever says else."""
        return told_apart(profile_of(proposal, proposal.title), self._shelf.profile(uid), self._shelf.likeness)

    def _candidates(self, own: Profile, proposal: Proposal) -> list[ArticleUid]:
        named = self._shelf.named((proposal.title, *proposal.aliases))
        near = self._shelf.by_words(own)[:_COMPARED]
        meant = [uid for _, uid in self._shelf.by_meaning(own)[:_COMPARED_BY_MEANING]]
        return list(dict.fromkeys([*named, *near, *meant]))

    def _take(self, day: str, engine: str, proposal: Proposal) -> tuple[ArticleUid, Outcome]:
        uid = proposal.uid
        again = brings_back(proposal, self._closed.blocked(uid), self._shelf.meaning)
        if again:
            rest = without(proposal, again, self._shelf.meaning)
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
            self._shelf.put(uid, self._article(uid, day, engine, proposal))
            self._supersede(uid, proposal)
            return uid, "created"
        if self.articles[target].status in ("retracted", "deleted"):
            return target, "absorbed"
        before = self.articles[target]
        replaced = replaces(proposal.points, before.points) if before.updated <= day else {}
        self._shelf.put(target, joined(before, day, proposal, uid, meaning=self._shelf.meaning, replaced=replaced))
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
            slug=self._shelf.slug(uid, proposal.title),
            aliases=proposal.aliases,
            tags=proposal.tags[:_MOST_TAGS],
            projects=proposal.projects,
            created=day,
            updated=day,
            engine=engine,
            points=proposal.points,
            details=proposal.details,
        )

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
                after = after and msgspec.structs.replace(after, slug=self._shelf.slug(uid, after.title))
            else:
                after = self._connecting.joined(before, seen, concepts, day)
            if after is None or after == before:
                continue
            if self._closed.disproved(after.points) not in (None, uid):
                continue  # it would bring together what a person said does not belong together
            self._shelf.put(uid, after)
            if self._open(uid):
                done.setdefault(uid, "merged" if there else "created")
                for member in members(after):
                    self._links.back(member, uid)

    def _open(self, uid: ArticleUid) -> bool:
        return uid not in self._closed and self.articles[uid].status in ("active", "stale", "draft")
