"""Lessons among what is found. There are hundreds of them, not millions: exact search compares each as it is."""

import re
from collections.abc import Sequence

from afterword.domain.ids import FactId, topic_uid
from afterword.domain.lessons import CurrentFact
from afterword.index.hybrid import Result, Why
from afterword.index.narrowing import Filters
from afterword.index.query import Term, pattern
from afterword.index.snippet import snippet
from afterword.store.fulltext import folded, spaced
from afterword.store.ledger import lesson_files, lessons, views
from afterword.store.ledger.ledger import Ledger

_TOKEN = re.compile(r"\w+")
_EXACT = 2.0


def exact(
    ledger: Ledger, terms: Sequence[Term], filters: Filters, limit: int, *, again: bool
) -> tuple[list[Result], int]:
    """(results, how many there are): the lessons that hold every term, best first, at most `limit` of them; without
    those that only repeat a session's write-up, unless `again`."""
    found = [each for each in holding(ledger, terms, filters) if again or not _repeats(ledger, each)]
    return [_result(ledger, each, terms, _EXACT, "exact") for each in found[:limit]], len(found)


def meant(ledger: Ledger, its_id: str, terms: Sequence[Term], filters: Filters, score: float) -> Result | None:
    """A lesson that means what was asked; None when it does not hold any more, or is filtered out."""
    each = lessons.fact(ledger, FactId(its_id))
    return _result(ledger, each, terms, score, "meaning") if each and fits(ledger, each, filters) else None


def holding(ledger: Ledger, terms: Sequence[Term], filters: Filters) -> list[CurrentFact]:
    """The facts that hold every term, as exact search means it: pinned ones first, then the newest."""
    if not asked_for(filters):
        return []
    found = [each for each in lessons.facts(ledger) if fits(ledger, each, filters) and _holds(each.fact.text, terms)]
    return sorted(found, key=lambda each: (not each.fact.pinned, -each.fact.at_us, each.id))


def asked_for(filters: Filters) -> bool:
    """Whether a lesson may answer: it was said by nobody, in no session."""
    if filters.kind not in (None, "lesson"):
        return False
    return not (filters.role or filters.harness or filters.machine or filters.agent or filters.session is not None)


def fits(ledger: Ledger, each: CurrentFact, filters: Filters) -> bool:
    """Whether a fact holds, here, and is what the filters leave."""
    fact = each.fact
    return (
        each.live
        and fact.machine in ("", ledger.origin[1])
        and (not filters.project or filters.project.casefold() in {name.casefold() for name in fact.projects})
        and (filters.since_us is None or fact.at_us >= filters.since_us)
        and (filters.until_us is None or fact.at_us < filters.until_us)
    )


def _holds(text: str, terms: Sequence[Term]) -> bool:
    flat = folded(text)
    words = _TOKEN.findall(folded(spaced(text)))
    for term in terms:
        if term.literal and not pattern(term).search(flat):
            return False
        if term.tokens and not _stands(words, [folded(token) for token in term.tokens], opened=term.open):
            return False
    return True


def _stands(words: Sequence[str], tokens: Sequence[str], *, opened: bool) -> bool:
    """Whether the tokens stand one after the other; `opened`: the last one is the beginning of a word."""
    *first, last = tokens
    for at in range(len(words) - len(first)):
        if list(words[at : at + len(first)]) == first:
            word = words[at + len(first)]
            if word == last or (opened and word.startswith(last)):
                return True
    return False


def _result(ledger: Ledger, each: CurrentFact, terms: Sequence[Term], score: float, why: Why) -> Result:
    fact = each.fact
    file = lesson_files.get(ledger, topic_uid(fact.topic))
    path = file.path if file and not file.state else None
    return Result(
        id=each.id,
        kind="lesson",
        item_kind=None,
        title=("dead end: " if fact.kind == "dead-end" else "") + fact.topic.replace("-", " "),
        snippet=snippet(fact.text, list(terms)),
        path=path,
        block=each.id if path else None,
        session=None,
        project=fact.projects[0] if len(fact.projects) == 1 else "",
        time_us=fact.at_us,
        abandoned=False,
        score=score,
        why=(why,),
        said_in=_said_in(ledger, each),
    )


def _repeats(ledger: Ledger, each: CurrentFact) -> bool:
    """Whether a fact comes from nothing but write-ups of sessions."""
    entries = [lessons.lesson(ledger, uid) for uid in each.fact.lessons]
    return all(entry is not None and entry.lesson.source == "digest" for entry in entries)


def _said_in(ledger: Ledger, each: CurrentFact) -> str:
    """The session of which a fact says again what its write-up says, where that is all it comes from."""
    if len(each.fact.lessons) != 1:
        return ""
    entry = lessons.lesson(ledger, each.fact.lessons[0])
    return views.session_of_section(ledger, entry.lesson.evidence) if entry and entry.lesson.source == "digest" else ""
