"""What waits for a person's word: contradictions, doubles, doubtful merges, what may be out of date, thin evidence.

Each candidate says what would follow from yes and from no, and shows its evidence. What was decided is not asked again
unless there is something new in it.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import msgspec

from afterword.app import parting, retract
from afterword.app.parting import United
from afterword.compile.folding import rulings_of
from afterword.compile.likeness import Likeness
from afterword.compile.overlaps import Overlaps
from afterword.compile.rulings import marks, ruling
from afterword.compile.same import judge, profile_of
from afterword.domain.articles import Current, Proposal
from afterword.domain.articles import Verdict as Ruled
from afterword.domain.errors import NothingFound, UsageError
from afterword.domain.ids import ArticleUid
from afterword.store.ledger import article_files, articles, partings, reviews, staleness
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.partings import Parting
from afterword.store.ledger.reviews import Reviewed, Verdict

if TYPE_CHECKING:
    from afterword.app.passes import Tell
    from afterword.app.program import Program

Kind: TypeAlias = Literal["contradiction", "duplicate", "merge", "stale", "thin"]
MOST: Final = 50
_POINTS: Final = 3
_THIN_MOST: Final = 10


class Shown(msgspec.Struct, frozen=True):
    """An article of a candidate, with what of it is to be looked at."""

    uid: ArticleUid
    title: str
    path: str
    points: tuple[str, ...]


class Candidate(msgspec.Struct, frozen=True):
    """Something to decide. `accept` and `reject` say what would follow; `pin` keeps the first article as it is."""

    id: str
    kind: Kind
    what: str
    accept: str
    reject: str
    articles: tuple[Shown, ...]
    evidence: tuple[str, ...]
    key: str
    ground: str
    parts: tuple[str, ...] = ()
    """Tellings that a merge took in."""


class Decide(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the job is told."""

    id: str
    verdict: Verdict


def candidates(ledger: Ledger) -> list[Candidate]:
    """What waits, the weightiest kind first; what was decided on the same ground is left out."""
    row = {each.uid: each for each in articles.current(ledger) if each.live}
    paths = {uid: file.path for uid, file in article_files.every(ledger).items()}
    seen = reviews.every(ledger)
    finder = _Finder(ledger, row, paths)
    found = [
        one
        for some in (finder.contradictions(), finder.duplicates(), finder.merges(), finder.stale(), finder.thin())
        for one in some
        if one.key not in seen or seen[one.key].ground != one.ground
    ]
    return found[:MOST]


class _Finder:
    def __init__(self, ledger: Ledger, row: Mapping[ArticleUid, Current], paths: Mapping[ArticleUid, str]) -> None:
        self._ledger = ledger
        self._row = row
        self._paths = paths
        self._overlaps = Overlaps({uid: each.article for uid, each in row.items()}, rulings_of(ledger))

    def contradictions(self) -> Iterator[Candidate]:
        for (later, earlier), text in self._overlaps.contradictions():
            newer, older = self._row[later], self._row[earlier]
            yield self._made(
                "contradiction",
                f"{newer.article.title!r} says otherwise than {older.article.title!r}",
                f"retract {older.article.title!r}; {newer.article.title!r} holds in its place",
                "both hold",
                (older, newer),
                (text,),
            )

    def duplicates(self) -> Iterator[Candidate]:
        for one, other in self._overlaps.doubles():
            first, second = sorted((self._row[one], self._row[other]), key=lambda e: (e.article.created, e.uid))
            yield self._made(
                "duplicate",
                f"{first.article.title!r} and {second.article.title!r} tell one matter",
                "make one article of them",
                "they are two matters, and stay apart",
                (first, second),
                (),
            )

    def merges(self) -> Iterator[Candidate]:
        """Tellings in one article that no word of theirs shows to be of one matter."""
        told = {
            proposal.uid: proposal
            for _, record in articles.builds(self._ledger).values()
            for proposal in record.proposals
        }
        likeness = Likeness()
        for proposal in told.values():
            likeness.add(_profile(proposal).words)
        for one in parting.united(self._ledger):
            for telling in one.others:
                first, other = told.get(one.first.uid), told.get(telling.uid)
                if first and other and one.uid in self._row and judge(_profile(first), _profile(other), likeness) <= 0:
                    yield self._merge(one, telling, first, other)

    def _merge(self, one: United, telling: parting.Telling, first: Proposal, other: Proposal) -> Candidate:
        return self._made(
            "merge",
            f"{telling.title!r} of {telling.day} was taken into {one.title!r}",
            "it is one matter, and stays together",
            "it becomes an article of its own",
            (self._row[one.uid],),
            (
                f"{one.first.day}: {'; '.join(claim.text for claim in first.points[:_POINTS])}",
                f"{telling.day}: {'; '.join(claim.text for claim in other.points[:_POINTS])}",
            ),
            (telling.uid,),
        )

    def stale(self) -> Iterator[Candidate]:
        found = staleness.every(self._ledger)
        for uid, each in self._row.items():
            mark = found.get(uid)
            if each.stale and mark and mark.why == "files":
                yield self._made(
                    "stale",
                    f"{each.article.title!r} may be out of date",
                    "it is: it stays marked",
                    "it still holds",
                    (each,),
                    (each.stale, f"last told on {each.article.updated}"),
                    ground=mark.day,
                )

    def thin(self) -> Iterator[Candidate]:
        """What one sentence of one session says, and nobody made use of."""
        row = [
            each
            for each in self._row.values()
            if each.article.kind == "concept"
            and each.article.status == "active"
            and len(each.article.points) == 1
            and not each.article.merged
            and not (each.edits.pinned or each.edits.status or each.edits.bodies)
            and not (each.use.opened + each.use.cited)
        ]
        for each in sorted(row, key=lambda e: (e.article.updated, e.uid))[:_THIN_MOST]:
            claim = each.article.points[0]
            yield self._made(
                "thin",
                f"{each.article.title!r} stands on one sentence",
                "make it a draft",
                "it stands",
                (each,),
                (f"{claim.section}: {claim.quote}",),
            )

    def _made(
        self,
        kind: Kind,
        what: str,
        accept: str,
        reject: str,
        row: tuple[Current, ...],
        evidence: tuple[str, ...],
        parts: tuple[str, ...] = (),
        ground: str = "",
    ) -> Candidate:
        key = "/".join((kind, *(each.uid for each in row), *parts))
        ground = ground or _hash(" ".join(claim.mark for each in row for claim in each.article.points))
        shown = tuple(
            Shown(
                each.uid,
                each.article.title,
                self._paths.get(each.uid, ""),
                tuple(claim.text for claim in each.article.points if not claim.until)[:_POINTS],
            )
            for each in row
        )
        return Candidate(f"v-{_hash(key)}", kind, what, accept, reject, shown, evidence, key, ground, parts)


def _profile(proposal: Proposal) -> Any:
    return profile_of(proposal, proposal.title, *proposal.aliases)


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=6, person=b"afterword-review").hexdigest()


def one(ledger: Ledger, its_id: str) -> Candidate:
    """The candidate of this id, or its unique beginning.

    Raises:
        NothingFound: none waits under it.
        UsageError: several do.
    """
    found = [each for each in candidates(ledger) if each.id.startswith(its_id)]
    if not found:
        raise NothingFound(f"nothing waits under {its_id!r}", "`afterword review` lists what does")
    if len(found) > 1:
        raise UsageError(f"{len(found)} wait under {its_id!r}", "give more of the id")
    return found[0]


def decide(program: "Program", given: Decide, tell: "Tell", stop: Callable[[], bool]) -> dict[str, Any]:
    """Do what a person said of a candidate; the fields of `review --json` with a verdict."""
    program.compiling.look()
    ledger = program.ledger
    today = program.zones.day(program.clock())
    candidate = one(ledger, given.id)
    first = candidate.articles[0].uid
    done: dict[str, Any] = {}
    match candidate.kind, given.verdict:
        case _, "pin":
            _edit(program, first, pinned=True)
        case "contradiction", "accept":
            reason = f"{candidate.articles[1].title} says otherwise"
            asked = retract.Retract((first,), reason, candidate.articles[1].uid)
            done = retract.retract(program, asked, tell, stop)
        case "duplicate", "accept":
            _rule(program, candidate, "same", today)
        case (("contradiction" | "duplicate"), "reject"):
            _rule(program, candidate, "distinct", today)
        case "merge", "reject":
            done = parting.part(program, parting.Part(first, candidate.parts), tell, stop)
        case "stale", "accept":
            _edit(program, first, status="stale")
        case "stale", "reject":
            _confirm(program, first, today)
        case "thin", "accept":
            _edit(program, first, status="draft")
    with ledger.transaction(durable=True):
        reviews.put(ledger, program.redactor, candidate.key, Reviewed(given.verdict, today, candidate.ground))
        ledger.set_meta(articles.OWED, 1)
    files = retract.settled(program, tell, stop)
    return {"id": candidate.id, "verdict": given.verdict, "kind": candidate.kind, **done, "files": files}


def _edit(program: "Program", uid: ArticleUid, **changed: Any) -> None:
    with program.ledger.transaction(durable=True):
        edits = msgspec.structs.replace(articles.edits_of(program.ledger, uid), **changed)
        articles.put_edits(program.ledger, program.redactor, uid, edits)


def _confirm(program: "Program", uid: ArticleUid, today: str) -> None:
    with program.ledger.transaction(durable=True):
        mark = msgspec.structs.replace(staleness.of(program.ledger, uid), confirmed=today)
        staleness.put(program.ledger, program.redactor, {uid: mark})


def _rule(program: "Program", candidate: Candidate, verdict: Ruled, today: str) -> None:
    """Say of two articles that they are one matter, or two: every later fold heeds it, on every machine."""
    earlier, later = (shown.uid for shown in candidate.articles)
    stored = articles.stored(program.ledger)
    made = ruling(verdict, marks(stored[later]), marks(stored[earlier]))
    if made is None:
        return
    with program.ledger.transaction(durable=True):
        partings.put(program.ledger, program.redactor, Parting(earlier, later, today, made))


def as_json(each: Candidate) -> dict[str, Any]:
    """A candidate of `review --json`."""
    return {
        "id": each.id,
        "kind": each.kind,
        "what": each.what,
        "accept": each.accept,
        "reject": each.reject,
        "articles": [
            {"uid": shown.uid, "title": shown.title, "path": shown.path, "points": list(shown.points)}
            for shown in each.articles
        ],
        "evidence": list(each.evidence),
    }


def page(found: Iterable[Candidate]) -> list[tuple[str, str, tuple[str, ...], list[tuple[str, str]]]]:
    """(id, what it is about, evidence, (title, path) of its articles) of each, for the page in the vault."""
    return [
        (each.id, each.what, each.evidence, [(shown.title, shown.path) for shown in each.articles]) for each in found
    ]
