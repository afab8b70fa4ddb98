"""Which articles a day's proposals may be the same as, put to an engine that can say; its word goes with the build."""

from collections.abc import Sequence

import msgspec

from afterword.compile.engine import Engine
from afterword.compile.folding import Folding
from afterword.compile.merge import Knowledge
from afterword.compile.rulings import marks, ruling
from afterword.domain.articles import Article, Pair, Proposal, Ruling, Telling, Verdict
from afterword.domain.ids import ArticleUid
from afterword.store.ledger.articles import BuildRecord


def ruled(record: BuildRecord, day: str, engine: Engine, state: Folding, before: BuildRecord | None) -> BuildRecord:
    """The build with what its engine says about its proposals and the articles there are.

    What was said before about what is in it still holds, and is not asked again.

    Raises:
        AfterwordError: the engine cannot say now.
    """
    if not engine.paid or not record.proposals:
        return record
    mine = frozenset().union(*map(marks, record.proposals))
    kept = [said for said in (before.rulings if before else ()) if mine & {*said.later, *said.earlier}]
    knowledge = state.beside()
    knowledge.rulings.add(kept)
    pairs = [(proposal, uid) for proposal in record.proposals for uid in knowledge.doubts(proposal)]
    # Two that share all their evidence are one by that alone.
    pairs = [(one, uid) for one, uid in pairs if ruling("same", marks(one), marks(knowledge.articles[uid]))]
    if pairs:
        said = engine.compare(day, [_pair(day, one, knowledge.articles[uid]) for one, uid in pairs])
        kept += _rulings(day, pairs, said, knowledge)
    return msgspec.structs.replace(record, rulings=tuple(dict.fromkeys(kept)))


def _pair(day: str, proposal: Proposal, article: Article) -> Pair:
    new = Telling(day, proposal.title, tuple(claim.text for claim in proposal.points))
    there = Telling(article.updated, article.title, tuple(claim.text for claim in article.points if not claim.until))
    return Pair(there, new) if article.updated <= day else Pair(new, there)


def _rulings(
    day: str, pairs: Sequence[tuple[Proposal, ArticleUid]], said: Sequence[Verdict], knowledge: Knowledge
) -> list[Ruling]:
    """What was said, as it is kept. `same` where a number or a name tells the two apart is in doubt, so distinct; of
    several that one proposal is said to be the same as, the nearest counts and of the others nothing is kept."""
    found = []
    settled: set[ArticleUid] = set()
    for (proposal, uid), verdict in zip(pairs, said, strict=True):
        kept: Verdict = verdict
        if verdict == "same":
            if proposal.uid in settled:
                continue
            if knowledge.apart(proposal, uid):
                kept = "distinct"
            else:
                settled.add(proposal.uid)
        own, theirs = marks(proposal), marks(knowledge.articles[uid])
        later, earlier = (own, theirs) if knowledge.articles[uid].updated <= day else (theirs, own)
        if made := ruling(kept, later, earlier):
            found.append(made)
    return found
