"""Taking a merge back: what was united in an article is parted again, and stays so in every later compile.

Nothing a person wrote moves: their words stay in the note they stand in. The parted telling gets a note of its own.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from afterword.app.retract import settled
from afterword.app.retract_places import named
from afterword.compile.rulings import marks, ruling
from afterword.domain.articles import Proposal
from afterword.domain.errors import NothingFound, UsageError, UserError
from afterword.domain.ids import ArticleUid
from afterword.store.ledger import article_files, articles, partings
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.partings import Parting

if TYPE_CHECKING:
    from afterword.app.passes import Tell
    from afterword.app.program import Program


class Telling(msgspec.Struct, frozen=True):
    """One of the proposals that an article was put together from."""

    uid: ArticleUid
    day: str
    title: str


class United(msgspec.Struct, frozen=True):
    """An article of a matter that several days told. `first` is the telling it began with; `path` may be empty."""

    uid: ArticleUid
    title: str
    path: str
    first: Telling
    others: tuple[Telling, ...]


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the job is told: an article, and by uid the tellings to part from it. `undo`: they may unite again."""

    uid: str
    parts: tuple[str, ...]
    undo: bool = False


def united(ledger: Ledger) -> list[United]:
    """Every live article in which several tellings were united, by path."""
    told = _tellings(ledger)
    paths = {uid: file.path for uid, file in article_files.every(ledger).items()}
    found = []
    for each in articles.current(ledger):
        parts = [told[uid][1] for uid in map(ArticleUid, each.article.merged) if uid in told and uid != each.uid]
        if each.live and each.article.kind == "concept" and each.uid in told and parts:
            parts.sort(key=lambda part: (part.day, part.uid))
            path = paths.get(each.uid, "")
            found.append(United(each.uid, each.article.title, path, told[each.uid][1], tuple(parts)))
    return sorted(found, key=lambda one: (one.path, one.uid))


def parted(ledger: Ledger) -> list[tuple[Parting, str, str]]:
    """(parting, title of the article, title of what was parted from it) of every parting that holds."""
    titles = {each.uid: each.article.title for each in articles.current(ledger)}
    return [
        (one, titles.get(one.article, one.article), titles.get(one.part, one.part))
        for one in partings.every(ledger)
        if one.ruling.verdict == "distinct"
    ]


def chosen(ledger: Ledger, what: str, parts: Iterable[str]) -> tuple[United, tuple[Telling, ...]]:
    """The united article that is meant, and its tellings that are; all of them where none is named.

    Raises:
        NothingFound: no article, or no telling, answers to that.
        UsageError: several do.
    """
    current = {each.uid: each for each in articles.current(ledger)}
    found = [one for one in united(ledger) if named(current[one.uid], one.path, what)]
    if not found:
        found = [one for one in united(ledger) if any(_answers(part, what) for part in one.others)]
        if len(found) == 1 and not tuple(parts):
            parts = (what,)
    if not found:
        raise NothingFound(f"nothing was merged into {what!r}", "`afterword unmerge` lists what was merged")
    if len(found) > 1:
        raise UsageError(f"{len(found)} articles answer to {what!r}", "give the id (a-…)")
    wanted = []
    for word in parts:
        row = [part for part in found[0].others if _answers(part, word)]
        if len(row) != 1:
            kind = UsageError if row else NothingFound
            raise kind(f"{len(row) or 'none'} of its tellings answer to {word!r}", "`afterword unmerge` lists them")
        wanted += row
    return found[0], tuple(dict.fromkeys(wanted)) or found[0].others


def to_undo(ledger: Ledger, what: str) -> list[Parting]:
    """The partings that are meant by the id of the article, or of what was parted from it.

    Raises:
        NothingFound: nothing was parted there.
    """
    every = parted(ledger)
    meant = [one for one, article, part in every if what in (one.article, one.part, article, part)]
    if not meant:
        raise NothingFound(f"nothing was parted from {what!r}", "`afterword unmerge` lists what was parted")
    # What was parted together is kept apart from each other as well.
    parts = {one.part for one in meant}
    return [one for one, _, _ in every if one in meant or {one.article, one.part} <= parts]


def part(program: "Program", given: Part, tell: "Tell", stop: Callable[[], bool]) -> dict[str, Any]:
    """Part tellings from an article, or let them unite again, and fold all articles anew; the fields of `unmerge
    --json`.

    Raises:
        UserError: what is to be parted says nothing that the rest does not say.
    """
    program.compiling.look()
    if given.undo:
        changed = [msgspec.structs.replace(one, holds=False) for one in to_undo(program.ledger, given.uid)]
    else:
        article, tellings = chosen(program.ledger, given.uid, given.parts)
        changed = _partings(program, article, tellings)
    with program.ledger.transaction(durable=True):
        for one in changed:
            partings.put(program.ledger, program.redactor, one)
        program.ledger.set_meta(articles.OWED, 1)
    files = settled(program, tell, stop)
    done = list(dict.fromkeys(one.part for one in changed))
    return {"united" if given.undo else "parted": done, "files": files}


def _partings(program: "Program", article: United, tellings: tuple[Telling, ...]) -> list[Parting]:
    told = _tellings(program.ledger)
    today = program.zones.day(program.clock())
    gone = {telling.uid for telling in tellings}
    rest = [told[one.uid][0] for one in (article.first, *article.others) if one.uid not in gone]
    stays = frozenset().union(*map(marks, rest))
    found = []
    earlier = [(article.uid, stays)]
    for telling in tellings:
        own = marks(told[telling.uid][0])
        # Those that are parted are kept apart from each other as well: each becomes an article.
        for uid, others in earlier:
            made = ruling("distinct", own, others)
            if made is None:
                raise UserError(
                    f"{telling.title!r} says nothing that the article does not say without it",
                    "`afterword retract` marks an article that is wrong",
                )
            found.append(Parting(uid, telling.uid, today, made))
        earlier.append((telling.uid, own))
    return found


def _tellings(ledger: Ledger) -> dict[ArticleUid, tuple[Proposal, Telling]]:
    """Uid → (proposal, how it is listed) of all that was ever proposed and still stands in a build."""
    return {
        proposal.uid: (proposal, Telling(proposal.uid, day, proposal.title))
        for day, (_, record) in articles.builds(ledger).items()
        for proposal in record.proposals
    }


def _answers(telling: Telling, word: str) -> bool:
    return word in (telling.uid, telling.day, telling.title)
