"""Retracting what proved wrong, and taking that back: the status of articles and facts, as a person's edit of them.

The same registers as `status: retracted` typed in Obsidian, so all that follows from that follows from this: a callout
with day and reason, a note on the pages that led to it, nothing of it in search, catalogue, topics, agents' files and
ready contexts, and no compile and no distilling that tells it again.
"""

import datetime as dt
import hashlib
import logging
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec

from afterword.app import passes, retract_spread, sharing
from afterword.app.learning import Said, learn
from afterword.app.retract_places import Found, Place, find, named
from afterword.domain.articles import Current
from afterword.domain.errors import AfterwordError, NothingFound, UsageError, UserError
from afterword.domain.ids import ArticleUid, FactId, LessonUid
from afterword.domain.lessons import CurrentFact
from afterword.store.ledger import article_files, articles, lessons, retractions
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.retractions import Retraction

if TYPE_CHECKING:
    from afterword.app.passes import Tell
    from afterword.app.program import Program

UNDO_DAYS: Final = 30
_LINK: Final = re.compile(r"\[\[[^\[\]\n]+\]\]")
_log = logging.getLogger(__name__)


class Retract(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the job is told: articles and facts by their ids."""

    uids: tuple[str, ...]
    reason: str
    replacement: str | None = None


class Undo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the job is told: the id of a retraction, an article or a fact."""

    uid: str


class Retracted(msgspec.Struct, frozen=True):
    """What can be taken back: the id of the retraction it belongs to, and what it is."""

    id: str
    place: Place
    kind: str


def token(found: Found, reason: str) -> str:
    """A word that confirms exactly these places and this reason: whoever has it saw them."""
    said = msgspec.json.encode((sorted(found.members), reason))
    return hashlib.blake2b(said, digest_size=6, person=b"afterword-confir").hexdigest()


def places(ledger: Ledger, what: str) -> Found:
    """Where `what` stands.

    Raises:
        NothingFound: nowhere.
    """
    return find(ledger, what)


def retracted(ledger: Ledger, today: str) -> list[Retracted]:
    """What can be taken back: what a person retracted within the last 30 days, the newest first."""
    since = (dt.date.fromisoformat(today) - dt.timedelta(days=UNDO_DAYS)).isoformat()
    of = {member: one.id for one in retractions.every(ledger) for member in (*one.articles, *one.facts)}
    found = [
        Retracted(of.get(each.uid, ""), place, "article")
        for each, place in _retracted_articles(ledger)
        if place.retracted_on >= since
    ]
    for fact in lessons.facts(ledger):
        edits = fact.edits
        if edits.status == "retracted" and edits.retracted_on >= since:
            text = fact.fact.text
            place = Place(ArticleUid(fact.id), text, "", (text,), edits.retracted_on, edits.retract_reason)
            found.append(Retracted(of.get(fact.id, ""), place, "lesson"))
    return sorted(found, key=lambda one: (one.place.retracted_on, one.kind, one.place.uid), reverse=True)


def _retracted_articles(ledger: Ledger) -> list[tuple[Current, Place]]:
    paths = {uid: file.path for uid, file in article_files.every(ledger).items()}
    return [
        (
            each,
            Place(
                each.uid, each.article.title, paths.get(each.uid, ""), (), each.article.retracted_on,
                each.article.retract_reason,
            ),
        )
        for each in articles.current(ledger)
        if each.edits.status == "retracted"
    ]  # fmt: skip


def to_undo(ledger: Ledger, today: str, what: str) -> list[Retracted]:
    """What is meant to be taken back: all of a retraction by its id (r-…), or one article or fact, by its uid or the
    beginning of it, its path or title.

    Raises:
        NothingFound: there is none.
        UsageError: several answer to it.
        UserError: it is too long ago.
    """
    can = retracted(ledger, today)
    if what.startswith("r-") and (row := [one for one in can if one.id.startswith(what)]):
        return row
    found = [one for one in can if one.kind == "lesson" and one.place.uid == what]
    if found:
        return found
    meant = [(each, place) for each, place in _retracted_articles(ledger) if named(each, place.path, what)]
    if not meant:
        raise NothingFound(
            f"nothing that was retracted answers to {what!r}", "`afterword undo` lists what can be undone"
        )
    if len(meant) > 1:
        raise UsageError(f"{len(meant)} articles answer to {what!r}", "give more of the id")
    found = [one for one in can if one.place.uid == meant[0][0].uid]
    if not found:
        raise UserError(
            f"that was retracted more than {UNDO_DAYS} days ago", "set `status: active` in its note in Obsidian"
        )
    return found


def retract(program: "Program", given: Retract, tell: "Tell", stop: Callable[[], bool]) -> dict[str, Any]:
    """Mark articles and facts as retracted, and have nothing tell them any more; the numbers of `retract --json`."""
    program.compiling.look()
    today = program.zones.day(program.clock())
    ledger = program.ledger
    instead = _replacement(ledger, given.replacement)
    done: list[ArticleUid] = []
    gone: list[FactId] = []
    with ledger.transaction(durable=True):
        standing = {each.uid: each for each in articles.current(ledger) if each.live}
        facts = {each.id: each for each in lessons.facts(ledger) if each.live}
        for uid in map(ArticleUid, given.uids):
            if uid in standing:
                edits = msgspec.structs.replace(
                    articles.edits_of(ledger, uid),
                    status="retracted",
                    retract_reason=given.reason,
                    retracted_on=today,
                    replaced_by=instead,
                )
                articles.put_edits(ledger, program.redactor, uid, edits)
                done.append(uid)
        for its_id in map(FactId, given.uids):
            if its_id in facts:
                retract_spread.put_fact(ledger, program.redactor, its_id, today, given.reason, instead or "")
                gone.append(its_id)
        made = Retraction(retractions.id_of(today, (*done, *gone)), today, tuple(done), tuple(gone))
        if done or gone:
            retractions.put(ledger, program.redactor, made)
            ledger.set_meta(articles.OWED, 1)
    sections = [key for uid in done for key in standing[uid].article.sections]
    learned = _learn(program, given.replacement, [facts[its_id] for its_id in gone]) if instead else ""
    if learned:
        with ledger.transaction():
            retractions.put(ledger, program.redactor, msgspec.structs.replace(made, learned=learned))
    files = settled(program, tell, stop)
    written, left = sharing.renew(program.config, ledger, program.redactor, sections)
    return {
        "id": made.id if done or gone else None,
        "retracted": done,
        "lessons_retracted": gone,
        "learned": learned or None,
        "shares_written": written,
        "shares_left": left,
        "files": files,
    }


def _learn(program: "Program", said: str | None, gone: list[CurrentFact]) -> str:
    """The uid of the lesson that takes the place of the facts that are gone; empty where what holds is an article, or
    no fact said it."""
    if not said or not gone or _LINK.search(said) or _replacement(program.ledger, said) != said:
        return ""
    first = gone[0].fact
    lesson = Said(
        said,
        "learn",
        kind=first.kind,
        project=first.projects[0] if first.projects else None,
        everywhere=not first.projects,
        only_agents=first.agents,
        topic=first.topic,
        supersedes=tuple(each.id for each in gone),
        pinned=any(each.fact.pinned for each in gone),
    )
    try:
        done = learn(program.config, lesson, program.clock, program.ledger.origin[1])
    except AfterwordError as err:
        _log.warning("what holds in the place of a lesson could not be learned: %s", err.message)
        return ""
    program.lessons.take_in()
    program.lessons.fold()
    return done.uid


def _replacement(ledger: Ledger, said: str | None) -> str | None:
    """What holds in the place of something: the uid of the article that is named, or the words as they are."""
    if not said:
        return said
    bare = said.strip().removeprefix("[[").removesuffix("]]").partition("|")[0]
    paths = {uid: file.path for uid, file in article_files.every(ledger).items()}
    found = [e.uid for e in articles.current(ledger) if e.live and named(e, paths.get(e.uid, ""), bare)]
    return found[0] if len(found) == 1 else said


def undo(program: "Program", given: Undo, tell: "Tell", stop: Callable[[], bool]) -> dict[str, Any]:
    """Take a retraction back; the numbers of `undo --json`."""
    program.compiling.look()
    ledger = program.ledger
    today = program.zones.day(program.clock())
    found = to_undo(ledger, today, given.uid)
    uids = [one.place.uid for one in found if one.kind == "article"]
    with ledger.transaction(durable=True):
        for uid in uids:
            edits = msgspec.structs.replace(
                articles.edits_of(ledger, uid),
                status=None,
                retract_reason=None,
                retracted_on=None,
                replaced_by=None,
                claims=(),
                spared=(),
                linked=(),
            )
            articles.put_edits(ledger, program.redactor, uid, edits)
        for one in found:
            if one.kind == "lesson":
                # Where the article stays retracted, only a person's word keeps the fact from following it again.
                retract_spread.open_fact(ledger, program.redactor, FactId(one.place.uid), said=not uids)
        taken = {one.id for one in found}
        for together in retractions.every(ledger):
            if together.id in taken and together.learned:
                _unlearn(program, LessonUid(together.learned), today)
        retract_spread.let_go(ledger, program.redactor)
        ledger.set_meta(articles.OWED, 1)
    if any(one.kind == "lesson" for one in found):
        program.lessons.fold()
    files = settled(program, tell, stop)
    stored = articles.stored(ledger)
    sections = [key for uid in uids if uid in stored for key in stored[uid].sections]
    written, left = sharing.renew(program.config, ledger, program.redactor, sections)
    return {
        "undone": found[0].place.uid if len(found) == 1 else given.uid,
        "all": [one.place.uid for one in found],
        "shares_written": written,
        "shares_left": left,
        "files": files,
    }


def _unlearn(program: "Program", uid: LessonUid, today: str) -> None:
    """What was said to hold in the place of something that holds again does not."""
    edits = msgspec.structs.replace(
        lessons.lesson_edits(program.ledger, uid),
        status="retracted",
        retracted_on=today,
        retract_reason="the retraction it came with was taken back",
    )
    lessons.put_lesson_edits(program.ledger, program.redactor, uid, edits)


def settled(program: "Program", tell: "Tell", stop: Callable[[], bool]) -> int:
    """How many files were written when all articles are folded anew, with what is closed and parted now."""
    built = bool(articles.builds(program.ledger))
    done = program.compiling.run([], on_progress=lambda n, all_: tell("Compiling", "days", n, all_, ""), stop=stop)
    if program.lessons.owed():
        program.lessons.render()
    program.ready.sync()
    return done.files + (program.compiling.render() if built and program.compiling.owed() else 0)


def do_index(program: "Program", tell: "Tell", stop: Callable[[], bool]) -> None:
    """Without a daemon the index learns of it at once."""
    passes.catch_up(program, tell, stop)
