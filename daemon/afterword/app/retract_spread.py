"""What follows from a retraction, wherever it was made: facts drawn from what an article stood on go with it.

`status: retracted` typed in Obsidian, a retraction that came from another machine, a fact that is distilled later from
an old session: each finds here that what it says does not hold. What is taken back lets them go again.
"""

from typing import Final

import msgspec

from afterword.app.retract_places import follows
from afterword.domain.articles import Current
from afterword.domain.ids import ArticleUid, FactId
from afterword.redact.redactor import Redactor
from afterword.store.ledger import articles, lessons, retractions
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.retractions import Retraction

_STAMP: Final = "retract_spread"


def put_fact(ledger: Ledger, redactor: Redactor, its_id: FactId, day: str, reason: str, instead: str) -> None:
    """Mark a fact as retracted; inside a transaction."""
    edits = msgspec.structs.replace(
        lessons.fact_edits(ledger, its_id),
        status="retracted",
        retracted_on=day,
        retract_reason=reason,
        replaced_by=instead,
    )
    lessons.put_fact_edits(ledger, redactor, its_id, edits)


def keep(ledger: Ledger, redactor: Redactor, its_id: FactId) -> None:
    """Have a fact hold whatever it was drawn from; inside a transaction."""
    edits = msgspec.structs.replace(lessons.fact_edits(ledger, its_id), status="active")
    lessons.put_fact_edits(ledger, redactor, its_id, edits)


def _open(ledger: Ledger, redactor: Redactor, its_id: FactId) -> None:
    edits = msgspec.structs.replace(
        lessons.fact_edits(ledger, its_id), status=None, retracted_on="", retract_reason="", replaced_by=""
    )
    lessons.put_fact_edits(ledger, redactor, its_id, edits)


def let_go(ledger: Ledger, redactor: Redactor) -> int:
    """Of each retraction of which no article is retracted any more, let the facts hold again that followed from it;
    how many. Inside a transaction."""
    closed = {each.uid for each in articles.current(ledger) if each.edits.status == "retracted" or each.edits.struck}
    standing = {each.id: each for each in lessons.facts(ledger)}
    opened = 0
    for one in retractions.every(ledger):
        if one.articles and not closed.intersection(map(ArticleUid, one.articles)):
            for its_id in map(FactId, one.facts):
                if its_id in standing and standing[its_id].edits.status == "retracted":
                    _open(ledger, redactor, its_id)
                    opened += 1
            retractions.put(ledger, redactor, msgspec.structs.replace(one, holds=False))
        elif not one.articles and all(
            standing[its_id].edits.status != "retracted" for its_id in map(FactId, one.facts) if its_id in standing
        ):
            retractions.put(ledger, redactor, msgspec.structs.replace(one, holds=False))
    return opened


def spread(ledger: Ledger, redactor: Redactor) -> int:
    """Bring facts into line with what articles are retracted; how many changed. Quick while nothing did. No transaction
    may be open."""
    now = repr((articles.stamp(ledger, edits=True), lessons.stamp(ledger)))
    if ledger.meta(_STAMP) == now or not (retractions.some(ledger) or retractions.every(ledger)):
        return 0
    closed = [each for each in articles.current(ledger) if each.edits.status == "retracted" or each.edits.struck]
    with ledger.transaction():
        changed = let_go(ledger, redactor) + _follow(ledger, redactor, closed)
    with ledger.transaction():
        ledger.set_meta(_STAMP, repr((articles.stamp(ledger, edits=True), lessons.stamp(ledger))))
    return changed


def _follow(ledger: Ledger, redactor: Redactor, closed: list[Current]) -> int:
    facts = [each for each in lessons.facts(ledger) if each.live and each.edits.status is None]
    of = {uid: one for one in retractions.every(ledger) for uid in one.articles}
    stood = {claim.place for each in articles.current(ledger) if each.live for claim in each.article.points}
    changed = 0
    for each in closed:
        retracted = each.edits.status == "retracted"
        told = each.edits.claims or each.article.points if retracted else ()
        claims = [claim for claim in told if claim.place not in stood]
        mine = [fact for fact in facts if follows(fact, (*claims, *(struck.claim for struck in each.edits.struck)))]
        one = of.get(each.uid)
        if one and not mine:
            continue
        for fact in mine:
            facts.remove(fact)
            day, reason, instead = _why(each)
            put_fact(ledger, redactor, fact.id, day, reason, instead)
            changed += 1
        ids = tuple(dict.fromkeys((*(one.facts if one else ()), *(fact.id for fact in mine))))
        if one:
            made = msgspec.structs.replace(one, facts=ids)
            of |= dict.fromkeys(one.articles, made)
        else:
            day = _why(each)[0]
            made = Retraction(retractions.id_of(day, (each.uid,)), day, (each.uid,), ids)
        retractions.put(ledger, redactor, made)
    return changed


def _why(each: Current) -> tuple[str, str, str]:
    """When, why, and what holds in its place."""
    article = each.article
    if each.edits.status == "retracted":
        return article.retracted_on, article.retract_reason, article.replaced_by
    last = each.edits.struck[-1]
    return last.day, last.reason, last.instead
