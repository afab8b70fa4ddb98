"""Retracting what proved wrong, and taking that back: the status of articles, as a person's edit of them.

The same register as `status: retracted` typed in Obsidian, so all that follows from that follows from this: a callout
with day and reason, nothing of it in search, catalogue and ready contexts, and no compile that tells it again.
"""

import datetime as dt
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from afterword.app import passes, retract_facts
from afterword.compile.joining import says
from afterword.domain.articles import Claim, Current, name_key
from afterword.domain.errors import NothingFound, UsageError, UserError
from afterword.domain.ids import ArticleUid, FactId, SegmentKey
from afterword.domain.lessons import CurrentFact
from afterword.store.ledger import article_files, articles
from afterword.store.ledger.ledger import Ledger

if TYPE_CHECKING:
    from afterword.app.passes import Tell
    from afterword.app.program import Program

UNDO_DAYS: Final = 30
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


class Retract(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the job is told."""

    uids: tuple[str, ...]
    reason: str
    replacement: str | None = None


class Undo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the job is told."""

    uid: str


def places(ledger: Ledger, what: str) -> list[Place]:
    """Where `what` stands: the live article of this uid, path, slug or title, or the fact of this id, else every live
    article with a point that says it and every fact that does.

    Raises:
        NothingFound: nothing does.
    """
    if facts := retract_facts.named(ledger, what):
        return list(map(_fact_place, facts))
    if entries := retract_facts.bare_entries(ledger, what):
        return [Place(ArticleUid(uid), uid, "", (), kind="lesson") for uid in entries]
    row = [each for each in articles.current(ledger) if each.live]
    paths = {uid: file.path for uid, file in article_files.every(ledger).items()}
    by_name = [each for each in row if named(each, paths.get(each.uid, ""), what)]
    if by_name:
        return [_place(each, paths, tuple(claim.text for claim in each.article.points)) for each in by_name]
    claim = Claim(what, SegmentKey(""), what)
    found = []
    for each in row:
        points = tuple(point.text for point in each.article.points if not point.until and _says(claim, point))
        if points:
            found.append(_place(each, paths, points))
    found += map(_fact_place, retract_facts.saying(ledger, what))
    if not found:
        raise NothingFound(f"no article and no fact says {what!r}", "`afterword search` shows what they say")
    return found


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


def _says(claim: Claim, point: Claim) -> bool:
    return name_key(claim.text) in name_key(point.text) or says(claim, point)


def _place(each: Current, paths: dict[ArticleUid, str], points: tuple[str, ...]) -> Place:
    article = each.article
    return Place(each.uid, article.title, paths.get(each.uid, ""), points, article.retracted_on, article.retract_reason)


def _fact_place(each: CurrentFact) -> Place:
    edits = each.edits
    return Place(
        ArticleUid(each.id), each.fact.text, "", (each.fact.text,), edits.retracted_on, edits.retract_reason, "fact"
    )


def retracted(ledger: Ledger, today: str) -> list[Place]:
    """What can be taken back: articles a person retracted within the last 30 days, the newest first."""
    since = (dt.date.fromisoformat(today) - dt.timedelta(days=UNDO_DAYS)).isoformat()
    paths = {uid: file.path for uid, file in article_files.every(ledger).items()}
    found = [
        _place(each, paths, ())
        for each in articles.current(ledger)
        if each.edits.status == "retracted" and (each.edits.retracted_on or "") >= since
    ]
    found += map(_fact_place, retract_facts.retracted(ledger, today, UNDO_DAYS))
    return sorted(found, key=lambda place: (place.retracted_on, place.uid), reverse=True)


def one_to_undo(ledger: Ledger, today: str, what: str) -> Place:
    """The retraction that is meant: by the article's uid or the beginning of it, its path or title.

    Raises:
        NothingFound: there is none.
        UsageError: several answer to it.
        UserError: it is too long ago.
    """
    facts = [each for each in retract_facts.named(ledger, what) if each.edits.status in ("retracted", "deleted")]
    can = {place.uid for place in retracted(ledger, today)}
    if facts and ArticleUid(facts[0].id) in can:
        return _fact_place(facts[0])
    paths = {uid: file.path for uid, file in article_files.every(ledger).items()}
    row = [each for each in articles.current(ledger) if each.edits.status == "retracted"]
    found = [each for each in row if named(each, paths.get(each.uid, ""), what)]
    if not found:
        raise NothingFound(
            f"nothing that was retracted answers to {what!r}", "`afterword undo` lists what can be undone"
        )
    if len(found) > 1:
        raise UsageError(f"{len(found)} articles answer to {what!r}", "give more of the id")
    if found[0].uid not in can:
        raise UserError(
            f"that was retracted more than {UNDO_DAYS} days ago", "set `status: active` in its note in Obsidian"
        )
    return _place(found[0], paths, ())


def retract(program: "Program", given: Retract, tell: "Tell", stop: Callable[[], bool]) -> dict[str, Any]:
    """Mark articles and facts as retracted, and have nothing tell them any more; the numbers of `retract --json`."""
    program.compiling.look()
    program.lessons.take_in()
    today = program.zones.day(program.clock())
    done: list[str] = []
    with program.ledger.transaction(durable=True):
        standing = {each.uid for each in articles.current(program.ledger) if each.live}
        for uid in map(ArticleUid, given.uids):
            if uid not in standing:
                continue
            edits = msgspec.structs.replace(
                articles.edits_of(program.ledger, uid),
                status="retracted",
                retract_reason=given.reason,
                retracted_on=today,
                replaced_by=given.replacement,
            )
            articles.put_edits(program.ledger, program.redactor, uid, edits)
            done.append(uid)
        facts = tuple(uid for uid in given.uids if uid not in standing)
        done += retract_facts.retract(program, facts, given.reason, given.replacement, today)
        program.ledger.set_meta(articles.OWED, 1)
    return {"retracted": done, "files": settled(program, tell, stop)}


def undo(program: "Program", given: Undo, tell: "Tell", stop: Callable[[], bool]) -> dict[str, Any]:
    """Take a retraction back; the numbers of `undo --json`."""
    program.compiling.look()
    today = program.zones.day(program.clock())
    place = one_to_undo(program.ledger, today, given.uid)
    if place.kind == "fact":
        with program.ledger.transaction(durable=True):
            retract_facts.undo(program, FactId(place.uid))
        return {"undone": place.uid, "files": settled(program, tell, stop)}
    with program.ledger.transaction(durable=True):
        edits = msgspec.structs.replace(
            articles.edits_of(program.ledger, place.uid),
            status=None,
            retract_reason=None,
            retracted_on=None,
            replaced_by=None,
            claims=(),
            spared=(),
        )
        articles.put_edits(program.ledger, program.redactor, place.uid, edits)
        program.ledger.set_meta(articles.OWED, 1)
    return {"undone": place.uid, "files": settled(program, tell, stop)}


def settled(program: "Program", tell: "Tell", stop: Callable[[], bool]) -> int:
    """How many files were written when all articles are folded anew, with what is closed and parted now."""
    built = bool(articles.builds(program.ledger))
    done = program.compiling.run([], on_progress=lambda n, all_: tell("Compiling", "days", n, all_, ""), stop=stop)
    lessons = program.lessons.settled(stop=stop)
    program.ready.sync()
    return lessons + done.files + (program.compiling.render() if built and program.compiling.owed() else 0)


def do_index(program: "Program", tell: "Tell", stop: Callable[[], bool]) -> None:
    """Without a daemon the index learns of it at once."""
    passes.catch_up(program, tell, stop)
