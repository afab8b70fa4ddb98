"""Which articles lead to which: links that an engine asked for, and those to what is near."""

from collections.abc import Callable, Iterable

import msgspec

from afterword.compile.connections import MOST_CONNECTED
from afterword.compile.likeness import cosine, shared
from afterword.compile.reasons import back_reason, is_filler, reason
from afterword.compile.shelf import Shelf
from afterword.domain.articles import RELATED, Proposal, Related
from afterword.domain.ids import ArticleUid

_COMPARED = 12
_MOST_RELATED = 4
_LINKED = 0.07
"""From this likeness on an article is worth a link of its own accord."""
_MEANT_SHARE = 0.25
"""How much likeness by meaning adds to that of words where links are looked for."""
_FEW = 20
"""While there are no more articles than these, all are looked at for missing links after every build."""


class Links:
    """The `related` of the articles on a shelf. `is_open` says which may be led to."""

    def __init__(self, shelf: Shelf, is_open: Callable[[ArticleUid], bool]) -> None:
        self._shelf = shelf
        self._articles = shelf.articles
        self._open = is_open
        self._topped = False

    def renew(self, built: Iterable[ArticleUid]) -> None:
        """After a build: the links of what it touched, and of all that has too few while there are few."""
        few = len(self._articles) <= _FEW
        least = min(RELATED, sum(map(self._open, self._articles)) - 1) if few else RELATED
        for uid in built:
            self._link(uid, least if self._open(uid) else 0)
        if few or not self._topped:
            self._top_up()

    def back(self, uid: ArticleUid, connection: ArticleUid) -> None:
        """Let an article link to a connection it is part of, before all else."""
        article = self._articles[uid]
        if all(related.uid != connection for related in article.related):
            self._set(uid, (Related(connection, back_reason(article)), *article.related)[:_MOST_RELATED])

    def wish(self, uid: ArticleUid, proposal: Proposal) -> None:
        """The links an engine asked for, resolved by uid, title, alias, slug, or to the nearest name."""
        article = self._articles[uid]
        have = {related.uid for related in article.related}
        added = []
        for name, why in proposal.related:
            target = self._shelf.resolve(name)
            if target and target != uid and target not in have and self._open(target):
                have.add(target)
                added.append(Related(target, why))
        if added:
            self._set(uid, (*article.related, *added)[:_MOST_RELATED])

    def _link(self, uid: ArticleUid, least: int = 0) -> None:
        """Bring an article's links up to date: open targets stay, near ones are added, and `least` at any rate."""
        article = self._articles[uid]
        # A link for want of anything better gives way when there is something.
        kept = [r for r in article.related if r.uid in self._articles and self._open(r.uid) and not is_filler(r.reason)]
        have = {uid, *(related.uid for related in kept)}
        connection = article.kind == "connection"
        if len(kept) < (least if connection else _MOST_RELATED):
            own = self._shelf.vector(uid)
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
            self._set(uid, tuple(kept))

    def _top_up(self) -> None:
        """Links for every open article that has too few, as far as there are others. Once there are enough articles
        none loses its links again while these are folded."""
        self._topped = len(self._articles) > _FEW
        open_ones = [uid for uid in self._articles if self._open(uid)]
        least = min(RELATED, len(open_ones) - 1)
        for uid in open_ones:
            row = self._articles[uid].related
            good = sum(r.uid in self._articles and self._open(r.uid) and not is_filler(r.reason) for r in row)
            most = MOST_CONNECTED if self._articles[uid].kind == "connection" else _MOST_RELATED
            if good < least or len(row) > most:
                self._link(uid, least)

    def _neighbours(self, uid: ArticleUid, least: int) -> list[ArticleUid]:
        own = self._shelf.profile(uid)
        near = [other for other in self._shelf.by_words(own) if self._open(other)][: 3 * _COMPARED]
        near += [
            other for _, other in self._shelf.by_meaning(own)[:_COMPARED] if other not in near and self._open(other)
        ]
        if len(near) <= least:
            latest = sorted(self._articles, key=lambda other: (self._articles[other].created, other), reverse=True)
            near += [
                other for other in latest if self._shelf.profiled(other) and other not in near and self._open(other)
            ][: 10 * _COMPARED]
        return near

    def _nearness(self, uid: ArticleUid, own: dict[str, float], other: ArticleUid) -> float:
        one, two = self._articles[uid], self._articles[other]
        bonus = 0.02 * bool(set(one.sections) & set(two.sections)) + 0.01 * bool(set(one.projects) & set(two.projects))
        told, others = self._shelf.profile(uid).told, self._shelf.profile(other).told
        if self._shelf.meaning and told and others:
            meant = max(map(max, self._shelf.meaning.alike(told, others)))
            bonus += _MEANT_SHARE * max(0.0, meant - 0.2)
        return cosine(own, self._shelf.vector(other)) + bonus

    def _reason(self, uid: ArticleUid, other: ArticleUid) -> str:
        common = shared(self._shelf.vector(uid), self._shelf.vector(other), 12)
        return reason(self._articles[uid], self._articles[other], common)

    def _set(self, uid: ArticleUid, related: tuple[Related, ...]) -> None:
        self._articles[uid] = msgspec.structs.replace(self._articles[uid], related=related)
