"""Where something is stated that proved wrong: by what things were made from, and by what they say."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from afterword.app import retract_facts
from afterword.app.alike import Words
from afterword.compile.joining import says
from afterword.compile.stating import states
from afterword.domain.articles import Claim, Current, name_key
from afterword.domain.errors import NothingFound
from afterword.domain.ids import ArticleUid, SegmentKey, digest_lesson_uid
from afterword.domain.lessons import CurrentFact
from afterword.store.ledger import article_files, articles, lessons, segments, shares, views
from afterword.store.ledger.ledger import Ledger

_UID_LEAST: Final = 4


class Place(msgspec.Struct, frozen=True):
    """An article, and those of its points that say what was asked for; all of them where it was named itself."""

    uid: ArticleUid
    title: str
    path: str
    points: tuple[str, ...]
    retracted_on: str = ""
    reason: str = ""
    kind: Literal["article", "fact", "lesson"] = "article"
    """An article, a fact among the lessons, or an entry of the journal that no fact was made of yet."""
    together: str = ""
    """The id of the retraction it belongs to."""
    whole: bool = True
    """Whether the article says nothing else, or was named: otherwise only those points are retracted."""


class FactPlace(msgspec.Struct, frozen=True):
    """A fact of a topic, and the agents whose files tell it (empty: all); or an entry that no fact was made of yet."""

    id: str
    text: str
    topic: str
    agents: tuple[str, ...]


class RecordPlace(msgspec.Struct, frozen=True):
    """A section of the diary in which it was said: a record of the past. It stays, and is marked where it is shown."""

    key: str
    day: str
    path: str
    text: str


class SharePlace(msgspec.Struct, frozen=True):
    """A file into which a session was shared that said it. `state`: ours (as we wrote it), changed, or gone."""

    path: str
    session: str
    state: str


class Found(msgspec.Struct, frozen=True):
    """All places. Articles and facts are marked; shares that are still ours are written again; of the pages that lead
    to such an article each gets a note."""

    articles: tuple[Place, ...]
    facts: tuple[FactPlace, ...]
    records: tuple[RecordPlace, ...]
    shares: tuple[SharePlace, ...]
    linked: tuple[str, ...]

    @property
    def parts(self) -> dict[str, tuple[str, ...]]:
        """Article → the points that alone are retracted of it."""
        return {place.uid: place.points for place in self.articles if not place.whole}

    @property
    def members(self) -> tuple[str, ...]:
        """The ids of what would be marked."""
        return (*(place.uid for place in self.articles), *(place.id for place in self.facts))


def find(ledger: Ledger, what: str) -> Found:
    """Where `what` is stated: by the live article of this uid, path, slug or title and what was made from the same
    quotes; else by all that says the same as the fact of this id, or as these words.

    Raises:
        NothingFound: nothing does.
    """
    every = articles.current(ledger)
    row = [each for each in every if each.live]
    paths = {uid: file.path for uid, file in article_files.every(ledger).items()}
    facts = [each for each in lessons.facts(ledger) if each.live]
    by_name = [each for each in row if named(each, paths.get(each.uid, ""), what)]
    if by_name:
        claims = [claim for each in by_name for claim in each.article.points]
        found = [_place(each, paths, tuple(claim.text for claim in each.article.points)) for each in by_name]
        told = [each for each in facts if follows(each, claims)]
    elif bare := retract_facts.bare_entries(ledger, what):
        entries = [each for each in lessons.lessons(ledger) if each.uid in bare]
        places = [FactPlace(one.uid, one.lesson.text, one.lesson.topic, one.lesson.agents) for one in entries]
        return Found((), tuple(places), (), (), ())
    else:
        said = next((each.fact.text for each in retract_facts.named(ledger, what) if each.live), what)
        found = []
        claims = []
        for each in row:
            points = [claim for claim in each.article.points if not claim.until and states(said, claim.text)]
            titled = states(said, each.article.title)
            if points or titled:
                claims += points
                # Where a person wrote the section, nothing is struck in their words.
                parts = titled or len(points) == len(each.article.points) or bool(each.edits.bodies)
                place = _place(each, paths, tuple(claim.text for claim in points))
                found.append(msgspec.structs.replace(place, whole=parts or each.article.kind == "connection"))
        told = [each for each in facts if states(said, each.fact.text) or Words().same(said, each.fact.text)]
    if not found and not told:
        raise NothingFound(f"no article and no lesson says {what!r}", "`afterword search` shows what they say")
    records = tuple(_records(ledger, claims))
    marked = {place.uid for place in found if place.whole}
    return Found(
        tuple(found),
        tuple(FactPlace(each.id, each.fact.text, each.fact.topic, each.fact.agents) for each in told),
        records,
        tuple(shared(ledger, {record.key for record in records})),
        tuple(sorted(paths.get(uid, uid) for uid in _leading(row, marked))),
    )


def follows(fact: CurrentFact, claims: Iterable[Claim]) -> bool:
    """Whether a fact was drawn from what one of these claims stands on, or says the same."""
    said = Claim(fact.fact.text, SegmentKey(""), fact.fact.text)
    return any(
        digest_lesson_uid(claim.section, claim.quote) in fact.fact.lessons or says(said, claim) for claim in claims
    )


def named(each: Current, path: str, what: str) -> bool:
    """Whether an article answers to this: its uid or the beginning of it, its path, slug, title or an alias."""
    asked = what.removeprefix("./")
    return (
        each.uid == asked
        or (asked.startswith("a-") and len(asked) >= _UID_LEAST and each.uid.startswith(asked))
        or bool(path and path in (asked, f"{asked}.md"))
        or asked == each.article.slug
        or name_key(asked) in map(name_key, each.article.names)
    )


def _place(each: Current, paths: Mapping[ArticleUid, str], points: tuple[str, ...]) -> Place:
    article = each.article
    return Place(each.uid, article.title, paths.get(each.uid, ""), points, article.retracted_on, article.retract_reason)


def _leading(row: Iterable[Current], marked: set[ArticleUid]) -> set[ArticleUid]:
    """The articles that lead to one of those, and are none of them."""
    return {
        each.uid
        for each in row
        if each.uid not in marked and any(related.uid in marked for related in each.article.related)
    }


def _records(ledger: Ledger, claims: Iterable[Claim]) -> Iterable[RecordPlace]:
    seen = set()
    for claim in claims:
        found = segments.section(ledger, claim.section)
        if found is None or claim.place in seen:
            continue
        seen.add(claim.place)
        placed = views.placed(ledger, claim.section)
        yield RecordPlace(claim.section, found[1].day, placed[0] if placed else "", claim.text)


def shared(ledger: Ledger, sections: Iterable[str]) -> Iterable[SharePlace]:
    """The files into which the sessions of these sections were shared."""
    from afterword.app.sharing import state_of  # noqa: PLC0415  # who shared nothing needs none of it

    every = shares.every(ledger)
    if not every:
        return
    keys = list(sections)
    sessions = {found[1].session for key in keys if (found := segments.section(ledger, SegmentKey(key)))}
    for share in every:
        if share.session in sessions:
            yield SharePlace(share.path, share.session, state_of(Path(share.path), share.sha256))


def as_json(found: Found) -> dict[str, Any]:
    """The fields of `retract --json` that say where it stands."""
    return {
        "articles": [
            {
                "uid": place.uid,
                "title": place.title,
                "path": place.path,
                "points": list(place.points),
                "whole": place.whole,
            }
            for place in found.articles
        ],
        "facts": [{"id": place.id, "text": place.text} for place in found.facts],
        "topics": sorted({place.topic for place in found.facts if place.topic}),
        "agents": sorted({agent for place in found.facts for agent in place.agents}),
        "records": [msgspec.to_builtins(place) for place in found.records],
        "shares": [msgspec.to_builtins(place) for place in found.shares],
        "linked": list(found.linked),
    }
