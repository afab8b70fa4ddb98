"""Retracting what proved wrong, and taking that back: the status of articles and facts, as a person's edit of them.

The same registers as `status: retracted` typed in Obsidian, so all that follows from that follows from this: a callout
with day and reason, a note on the pages that led to it, nothing of it in search, catalogue, topics, agents' files and
ready contexts, and no compile and no distilling that tells it again.
"""

import datetime as dt
import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec

from afterword.app import passes, retract_facts, retract_spread, sharing
from afterword.app.retract_places import Found, Place, find, named
from afterword.domain.articles import Current, Struck
from afterword.domain.errors import NothingFound, UsageError, UserError
from afterword.domain.ids import ArticleUid, FactId, LessonUid
from afterword.domain.lessons import CurrentFact
from afterword.store.ledger import article_files, articles, lessons, retractions
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.retractions import Retraction

if TYPE_CHECKING:
    from afterword.app.passes import Tell
    from afterword.app.program import Program

UNDO_DAYS: Final = 30


class Retract(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the job is told: articles and facts by their ids."""

    uids: tuple[str, ...]
    reason: str
    replacement: str | None = None
    parts: dict[str, tuple[str, ...]] = {}
    """Of these articles only these points."""


class Undo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the job is told: the id of a retraction, an article or a fact."""

    uid: str


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


def retracted(ledger: Ledger, today: str) -> list[Place]:
    """What can be taken back: what a person retracted within the last 30 days, the newest first."""
    since = (dt.date.fromisoformat(today) - dt.timedelta(days=UNDO_DAYS)).isoformat()
    of = {member: one.id for one in retractions.every(ledger) for member in (*one.articles, *one.facts)}
    found = [place for _, place in _retracted_articles(ledger) if place.retracted_on >= since]
    found += [place for place in _struck(ledger) if place.retracted_on >= since]
    found += map(_fact_place, retract_facts.retracted(ledger, today, UNDO_DAYS))
    found = [msgspec.structs.replace(place, together=of.get(place.uid, "")) for place in found]
    found.sort(key=lambda place: (place.kind, place.uid))
    return sorted(found, key=lambda place: place.retracted_on, reverse=True)


def _retracted_articles(ledger: Ledger) -> list[tuple[Current, Place]]:
    paths = {uid: file.path for uid, file in article_files.every(ledger).items()}
    found = []
    for each in articles.current(ledger):
        if each.edits.status == "retracted":
            article = each.article
            day, reason = article.retracted_on, article.retract_reason
            found.append((each, Place(each.uid, article.title, paths.get(each.uid, ""), (), day, reason)))
    return found


def _struck(ledger: Ledger) -> list[Place]:
    """Articles of which points were retracted, one place for each day."""
    paths = {uid: file.path for uid, file in article_files.every(ledger).items()}
    found = []
    for each in articles.current(ledger):
        for day in sorted({struck.day for struck in each.edits.struck}):
            mine = [struck for struck in each.edits.struck if struck.day == day]
            texts = tuple(struck.claim.text for struck in mine)
            title, path = each.article.title, paths.get(each.uid, "")
            found.append(Place(each.uid, title, path, texts, day, mine[0].reason, whole=False))
    return found


def _fact_place(each: CurrentFact) -> Place:
    edits, text = each.edits, each.fact.text
    return Place(ArticleUid(each.id), text, "", (text,), edits.retracted_on, edits.retract_reason, "fact")


def to_undo(ledger: Ledger, today: str, what: str) -> list[Place]:
    """What is meant to be taken back: all of a retraction by its id (r-…), or one article or fact, by its uid or the
    beginning of it, its path or title.

    Raises:
        NothingFound: there is none.
        UsageError: several answer to it.
        UserError: it is too long ago.
    """
    can = retracted(ledger, today)
    if what.startswith("r-") and (row := [place for place in can if place.together.startswith(what)]):
        return row
    ids = {str(each.id) for each in retract_facts.named(ledger, what)}
    if found := [place for place in can if place.uid in ids]:
        return found
    every = {each.uid: each for each in articles.current(ledger)}
    if found := [place for place in can if not place.whole and named(every[place.uid], place.path, what)]:
        return found
    meant = [place for each, place in _retracted_articles(ledger) if named(each, place.path, what)]
    if not meant:
        raise NothingFound(
            f"nothing that was retracted answers to {what!r}", "`afterword undo` lists what can be undone"
        )
    if len(meant) > 1:
        raise UsageError(f"{len(meant)} articles answer to {what!r}", "give more of the id")
    found = [place for place in can if place.uid == meant[0].uid]
    if not found:
        raise UserError(
            f"that was retracted more than {UNDO_DAYS} days ago", "set `status: active` in its note in Obsidian"
        )
    return found


def retract(program: "Program", given: Retract, tell: "Tell", stop: Callable[[], bool]) -> dict[str, Any]:
    """Mark articles and facts as retracted, and have nothing tell them any more; the numbers of `retract --json`."""
    program.compiling.look()
    program.lessons.take_in()
    today = program.zones.day(program.clock())
    ledger = program.ledger
    instead = _replacement(ledger, given.replacement)
    done: list[str] = []
    with ledger.transaction(durable=True):
        standing = {each.uid: each for each in articles.current(ledger) if each.live}
        for uid in map(ArticleUid, given.uids):
            if uid in standing and uid in given.parts:
                before = articles.edits_of(ledger, uid)
                struck = tuple(
                    Struck(claim, today, given.reason, instead or "")
                    for claim in standing[uid].article.points
                    if claim.text in given.parts[uid]
                )
                edits = msgspec.structs.replace(before, struck=(*before.struck, *struck))
                articles.put_edits(ledger, program.redactor, uid, edits)
                done.append(uid)
            elif uid in standing:
                edits = msgspec.structs.replace(
                    articles.edits_of(ledger, uid),
                    status="retracted",
                    retract_reason=given.reason,
                    retracted_on=today,
                    replaced_by=instead,
                )
                articles.put_edits(ledger, program.redactor, uid, edits)
                done.append(uid)
        entries = {each.uid for each in lessons.lessons(ledger)}
        others = tuple(uid for uid in given.uids if uid not in standing)
        # An article that is named stands for what holds: no entry is made of its title.
        said = f"[[{instead}]]" if instead and instead != given.replacement else instead
        gone = retract_facts.retract(program, others, given.reason, said, today)
        learned = next((each.uid for each in lessons.lessons(ledger) if each.uid not in entries), "")
        made = Retraction(retractions.id_of(today, (*done, *gone)), today, tuple(done), tuple(gone), learned=learned)
        if done or gone:
            retractions.put(ledger, program.redactor, made)
        ledger.set_meta(articles.OWED, 1)
    sections = [key for uid in map(ArticleUid, done) for key in standing[uid].article.sections]
    files = settled(program, tell, stop)
    written, left = sharing.renew(program.config, ledger, program.redactor, sections)
    return {
        "id": made.id if done or gone else None,
        "retracted": [*done, *gone],
        "learned": learned or None,
        "shares_written": written,
        "shares_left": left,
        "files": files,
    }


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
    program.lessons.take_in()
    ledger = program.ledger
    today = program.zones.day(program.clock())
    found = to_undo(ledger, today, given.uid)
    uids = [place.uid for place in found if place.kind == "article"]
    parts = {place.uid: place.retracted_on for place in found if not place.whole}
    of_articles = {one.id for one in retractions.every(ledger) if one.articles}
    together = {place.together for place in found} if given.uid.startswith("r-") else set()
    with ledger.transaction(durable=True):
        for uid in uids:
            if uid in parts:
                before = articles.edits_of(ledger, uid)
                kept = tuple(struck for struck in before.struck if struck.day != parts[uid])
                articles.put_edits(ledger, program.redactor, uid, msgspec.structs.replace(before, struck=kept))
                continue
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
        for place in found:
            if place.kind == "fact":
                retract_facts.undo(program, FactId(place.uid))
                if place.together in of_articles and not uids:
                    # Where its article stays retracted, only a person's word keeps it from following that again.
                    retract_spread.keep(ledger, program.redactor, FactId(place.uid))
        for one in retractions.every(ledger):
            if one.id in together and one.learned:
                _unlearn(program, LessonUid(one.learned))
        retract_spread.let_go(program.ledger, program.redactor)
        ledger.set_meta(articles.OWED, 1)
    files = settled(program, tell, stop)
    stored = articles.stored(ledger)
    sections = [key for uid in uids if uid in stored for key in stored[uid].sections]
    written, left = sharing.renew(program.config, ledger, program.redactor, sections)
    return {
        "undone": found[0].uid if len(found) == 1 else given.uid,
        "all": [place.uid for place in found],
        "shares_written": written,
        "shares_left": left,
        "files": files,
    }


def _unlearn(program: "Program", uid: LessonUid) -> None:
    """What was said to hold in the place of something that holds again was never said."""
    edits = msgspec.structs.replace(lessons.lesson_edits(program.ledger, uid), status="withdrawn")
    lessons.put_lesson_edits(program.ledger, program.redactor, uid, edits)


def settled(program: "Program", tell: "Tell", stop: Callable[[], bool]) -> int:
    """How many files were written when all articles are folded anew, with what is closed and parted now."""
    built = bool(articles.builds(program.ledger))
    done = program.compiling.run([], on_progress=lambda n, all_: tell("Compiling", "days", n, all_, ""), stop=stop)
    lessons_files = program.lessons.settled(stop=stop)
    program.compiling.review_page()
    program.ready.sync()
    return lessons_files + done.files + (program.compiling.render() if built and program.compiling.owed() else 0)


def do_index(program: "Program", tell: "Tell", stop: Callable[[], bool]) -> None:
    """Without a daemon the index learns of it at once."""
    passes.catch_up(program, tell, stop)
