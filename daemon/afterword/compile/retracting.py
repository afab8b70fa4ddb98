"""What a person retracted or deleted, so that none of it comes back.

What an article said is noted when it is retracted, with the proposals that had told the like by then: those stay where
they are when the articles are folded again, whoever retracted one of two doubles loses only that one.
"""

from collections.abc import Iterable, Mapping

import msgspec

from afterword.compile.joining import says
from afterword.compile.likeness import Likeness, cosine
from afterword.compile.same import NEAR, Meaning, Profile, judge, profile_of
from afterword.domain.articles import ArticleKind, Claim, Current, Proposal
from afterword.domain.ids import ArticleUid
from afterword.redact.redactor import Redactor
from afterword.store.ledger import articles
from afterword.store.ledger.ledger import Ledger

_LIKE = 0.2
_SAID = 0.8
"""From this likeness by meaning on a point says what was retracted."""


class Retracted(msgspec.Struct, frozen=True):
    """An article that is closed: what it said, and the uids of proposals that are not held to it. Of a connection only
    the relation is: what it was drawn from still holds in the articles that say it."""

    profile: Profile
    claims: tuple[Claim, ...]
    spared: frozenset[str]
    kind: ArticleKind = "concept"


class Closed:
    """All that people retracted or deleted, by the uid of its article."""

    def __init__(self, row: Mapping[ArticleUid, Retracted] | None = None, struck: Iterable[Claim] = ()) -> None:
        """`struck` are points retracted of articles that hold otherwise."""
        self._row = dict(row or {})
        self._struck = list(struck)

    def __contains__(self, uid: object) -> bool:
        return uid in self._row

    def spares(self, uid: ArticleUid, proposal: ArticleUid) -> bool:
        """Whether a proposal had gone into a closed article before that was closed."""
        return proposal == uid or proposal in self._row[uid].spared

    def blocked(self, proposal: ArticleUid) -> list[Claim]:
        """The claims a proposal may not bring back."""
        return [
            claim
            for uid, closed in self._row.items()
            if closed.kind == "concept" and uid != proposal and proposal not in closed.spared
            for claim in closed.claims
        ] + self._struck

    def takes(
        self, uid: ArticleUid, own: Profile, likeness: Likeness, meaning: Meaning | None
    ) -> tuple[float, ArticleUid] | None:
        """(how sure, uid) of the closed article that tells what a proposal tells."""
        found = [
            (score, closed_uid)
            for closed_uid, closed in self._row.items()
            if closed.kind == "concept" and uid != closed_uid and uid not in closed.spared
            if (score := judge(own, closed.profile, likeness, meaning=meaning)) > 0
        ]
        return max(found, key=lambda pair: (pair[0], pair[1]), default=None)

    def claims(self) -> list[str]:
        """What was retracted, for an engine to know."""
        found = [claim.text for closed in self._row.values() if closed.kind == "concept" for claim in closed.claims]
        return found + [claim.text for claim in self._struck]

    def disproved(self, claims: Iterable[Claim]) -> ArticleUid | None:
        """The closed connection that was drawn from two of these claims, or more."""
        wanted = {claim.place for claim in claims}
        return next(
            (
                uid
                for uid, closed in sorted(self._row.items())
                if closed.kind == "connection" and len(wanted & {claim.place for claim in closed.claims}) > 1
            ),
            None,
        )

    def key(self) -> object:
        """What tells two of these apart."""
        found = [(uid, closed.claims, sorted(closed.spared)) for uid, closed in sorted(self._row.items())]
        return (found, self._struck) if self._struck else found


def brings_back(proposal: Proposal, blocked: Iterable[Claim], meaning: Meaning | None) -> list[Claim]:
    """The retracted claims that a proposal says again."""
    return [claim for claim in blocked if any(says(point, claim, meaning, near=_SAID) for point in proposal.points)]


def closed(
    current: Iterable[Current], meaning: Meaning | None
) -> dict[ArticleUid, tuple[tuple[Claim, ...], tuple[str, ...]]]:
    """Uid → (claims, spared) of every article a person retracted or deleted, as noted then or else as it is now."""
    row = list(current)
    live = [each for each in row if each.live and each.article.kind == "concept"]
    likeness = Likeness()
    profiles = {each.uid: profile_of(each.article, *each.article.names) for each in row}
    for profile in profiles.values():
        likeness.add(profile.words)
    found = {}
    for each in row:
        if not each.edits.status or each.article.status not in ("retracted", "deleted"):
            continue
        if each.edits.claims:
            found[each.uid] = (each.edits.claims, each.edits.spared)
            continue
        if each.article.kind == "connection":
            found[each.uid] = (each.article.points, ())
            continue
        own = profiles[each.uid]
        like = [other for other in live if _like(own, profiles[other.uid], each, other, likeness, meaning)]
        spared = [uid for other in (each, *like) for uid in (other.uid, *other.article.merged)]
        found[each.uid] = (each.article.points, tuple(sorted(set(spared) - {each.uid})))
    return found


def _leading(row: Iterable[Current]) -> dict[ArticleUid, tuple[str, ...]]:
    """Uid → the articles that lead to it, or led to it when it was retracted."""
    found: dict[ArticleUid, set[str]] = {}
    for each in row:
        if each.live:
            for related in each.article.related:
                found.setdefault(related.uid, set()).add(each.uid)
    return {uid: tuple(sorted(others)) for uid, others in found.items()}


def settle(ledger: Ledger, redactor: Redactor, meaning: Meaning | None, *, dry: bool = False) -> Closed:
    """What is closed now. What is noted nowhere yet is noted, unless `dry`; what was opened again is let go."""
    row = articles.current(ledger)
    found = closed(row, meaning)
    leading = _leading(row)
    owed = []
    for each in row:
        claims, spared = found.get(each.uid, ((), ()))
        linked = (each.edits.linked or leading.get(each.uid, ())) if each.article.status == "retracted" else ()
        now = msgspec.structs.replace(each.edits, claims=claims, spared=spared, linked=linked)
        if now != each.edits:
            owed.append((each.uid, now))
    if owed and not dry:
        with ledger.transaction():
            for uid, edits in owed:
                articles.put_edits(ledger, redactor, uid, edits)
    known = {each.uid: each.article for each in row}
    return Closed(
        {
            uid: Retracted(_profile(known[uid].names, claims), claims, frozenset(spared), known[uid].kind)
            for uid, (claims, spared) in found.items()
        },
        [struck.claim for each in row for struck in each.edits.struck],
    )


def _profile(names: tuple[str, ...], claims: tuple[Claim, ...]) -> Profile:
    return profile_of(Proposal("concept", names[0], claims, ""), *names)


def _like(
    own: Profile, profile: Profile, each: Current, other: Current, likeness: Likeness, meaning: Meaning | None
) -> bool:
    """Whether a live article might be taken for a closed one, now or when the weights of words are others."""
    if cosine(likeness.vector(own.words), likeness.vector(profile.words)) >= _LIKE:
        return True
    if meaning and own.told and profile.told and max(map(max, meaning.alike(own.told, profile.told))) >= NEAR:
        return True
    return any(
        says(claim, theirs, meaning, near=_SAID) for claim in each.article.points for theirs in other.article.points
    )
