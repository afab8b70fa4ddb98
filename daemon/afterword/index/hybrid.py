"""Exact search and meaning as one answer: what holds the words as typed comes first, what means the same joins it.

A query made of names and signs (`--force-with-lease`, `SSL_ERROR_SYSCALL`, a phrase in quotes) is answered by exact
search alone. The number of exact hits is always the exact search's own.
"""

import re
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import msgspec

from afterword.domain.errors import AfterwordError
from afterword.domain.items import KIND_BY_WORD, PROSE_KINDS, ROLE_OF, Kind
from afterword.index import search as exact
from afterword.index.loosening import How
from afterword.index.narrowing import Filters
from afterword.index.query import Term, parse
from afterword.index.search import Hit
from afterword.index.signals import DEFAULT, Signals
from afterword.index.snippet import snippet
from afterword.index.standing import DocumentKind, Semantic
from afterword.redact.text import Redacted  # noqa: TC001  # msgspec-free, and named in a value's type
from afterword.store import preview
from afterword.store.fulltext import folded
from afterword.store.ledger import sessions, views
from afterword.store.ledger.ledger import Ledger, unpack
from afterword.store.ledger.sessions import Head

Mode: TypeAlias = Literal["both", "exact", "semantic"]
Why: TypeAlias = Literal["exact", "meaning"]

_CASED = re.compile(r"[a-z][A-Z]|^[A-Z0-9]{3,}$")
_QUOTED = r'"[^"]*"?'
_QUESTION_WORDS = 3
_BESIDE = 5
"""So many more are looked at than are shown, as use and age may move one up."""
_SIGNS = re.compile(r"[_/\\=<>(){}\[\]@#$%^&*|~`+]|:\S|\w\.\w|^-|\d[A-Za-z]|[A-Za-z]\d|^\d+$")


class Found(Protocol):
    """A passage that means what was asked."""

    @property
    def kind(self) -> DocumentKind: ...
    @property
    def ref(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def heading(self) -> str: ...
    @property
    def items(self) -> tuple[str, ...]: ...
    @property
    def time_us(self) -> int: ...
    @property
    def project(self) -> str: ...
    @property
    def session(self) -> str: ...
    @property
    def score(self) -> float: ...


class Asked(Protocol):
    """The other half: what is near in meaning. Called only when it is wanted, because it may have to load a model."""

    def state(self) -> Semantic:
        """ready, building or off."""

    def passages(self, query: str, filters: Filters, kinds: frozenset[DocumentKind], limit: int) -> list[Found]:
        """The nearest passages, best first."""


class Result(msgspec.Struct, frozen=True):
    """One thing found. `path` and `block` are its place in the vault, `session` is None for an article or a
    lesson.

    `item_kind` is that of a message.
    """

    id: str
    kind: DocumentKind
    item_kind: Kind | None
    title: str
    snippet: str
    path: str | None
    block: str | None
    session: Head | None
    project: str
    time_us: int
    abandoned: bool
    score: float
    why: tuple[Why, ...]
    stale: bool = False
    """An article that may be out of date."""
    uid: str = ""
    """The article's."""
    use: float = 0.0
    """How much it was opened and cited, from 0 to 1."""
    said_in: str = ""
    """The session's id whose write-up a lesson repeats, where it comes from nowhere else."""


class Results(msgspec.Struct, frozen=True):
    """The best results; `total`, `cut` and `complete` are those of the exact search."""

    results: list[Result]
    total: int
    cut: bool
    complete: bool
    semantic: Semantic
    how: How = "all"
    """How the exact hits hold the words; `words` are others that were looked for instead, or empty."""
    words: str = ""
    problem: str = ""
    """Why nothing could be asked by meaning although there is an index."""


def search(
    ledger: Ledger,
    state: Path,
    query: str,
    filters: Filters,
    *,
    limit: int,
    now_us: int,
    meaning: Asked | None = None,
    mode: Mode = "both",
    page: int = 1,
    signals: Signals = DEFAULT,
) -> Results:
    """What holds the words of `query`, and what means the same; `limit` results a page."""
    semantic: Semantic = meaning.state() if meaning and mode != "exact" else "off"
    if mode == "semantic" or filters.kind in ("article", "lesson", "diary"):
        answer = exact.Answer([], 0, cut=False, complete=True)
    else:
        # Everything the exact search knows is a message or belongs to one.
        items = msgspec.structs.replace(filters, kind=None) if filters.kind == "message" else filters
        answer = _exactly(ledger, state, query, items, limit=limit * page, now_us=now_us, most=semantic != "ready")
    learned: list[Result] = []
    in_all = 0
    if mode != "semantic" and views.some_facts(ledger):
        again = filters.kind == "lesson" or not answer.total or answer.how != "all"
        learned, in_all = _learned(ledger, query, filters, limit * page, again=again)
    if learned and answer.how != "all":
        # What holds the words as they were typed goes before what holds others.
        answer = exact.Answer([], 0, cut=answer.cut, complete=answer.complete)
    hits = [*learned[:_LEARNED_FIRST], *(_of_hit(hit) for hit in answer.hits)]
    if len(answer.hits) >= answer.total:
        hits += learned[_LEARNED_FIRST:]
    kinds = _kinds(filters)
    found: list[Result] = []
    problem = ""
    if meaning and semantic == "ready" and kinds and (mode == "semantic" or not only_exact(query)):
        asked = answer.words or query
        terms = parse(asked)
        try:
            passages = meaning.passages(asked, filters, kinds, limit * page + _BESIDE)
        except AfterwordError as err:
            # A service that makes the vector of the question does not answer: exact words are found all the same.
            passages, semantic, problem = [], "off", ". ".join(filter(None, (err.message, err.hint)))
        found = [r for p in passages if (r := _of_passage(ledger, p, terms, filters))]
        found.sort(key=lambda r: -(r.score - signals.stale * r.stale + signals.use * r.use))
        found = _unsaid(found, hits)[: limit * page]
    return Results(
        results=_joined(hits, found, limit, page),
        total=answer.total + in_all,
        cut=answer.cut,
        complete=answer.complete,
        semantic=semantic,
        how=answer.how,
        words=answer.words,
        problem=problem,
    )


def _exactly(
    ledger: Ledger, state: Path, query: str, filters: Filters, *, limit: int, now_us: int, most: bool
) -> exact.Answer:
    """The exact search's answer, during a first reading with what is not read yet."""
    if not (state / preview.FILE).exists():
        return exact.search(ledger, state, query, filters, limit=limit, now_us=now_us, most=most)
    from afterword.index.preview import joined, read_up_to  # noqa: PLC0415  # there only during a first reading

    read = read_up_to(ledger, state)
    answer = exact.search(ledger, state, query, filters, limit=limit, now_us=now_us, most=most)
    if read is None:
        return answer
    return joined(answer, ledger, state, query, filters, read=read, limit=limit, now_us=now_us)


def only_exact(query: str) -> bool:
    """Whether a query names something exactly: a phrase in quotes, or nothing but names and signs of a program.

    A question in words that quotes a name (`what is "Summer Sounds" about?`) asks for more than the name.
    """
    words = query.split()
    if '"' in query:
        return len(re.sub(_QUOTED, " ", query).split()) < _QUESTION_WORDS
    return bool(words) and all(_SIGNS.search(word) or _CASED.search(word) for word in words)


def _joined(hits: list[Result], found: list[Result], limit: int, page: int = 1) -> list[Result]:
    """A page of both. On each, exact hits come first, in their order; a third of the room at its end is for what only
    means the same."""
    near = {result.session.row for result in found if result.session}
    held = {result.session.row for result in hits if result.session}
    exact_left = [
        msgspec.structs.replace(hit, why=("exact", "meaning")) if hit.session and hit.session.row in near else hit
        for hit in hits
    ]
    known = {result.id for result in hits}
    others = [r for r in found if (r.session is None or r.session.row not in held) and r.id not in known]
    shown: list[Result] = []
    for _ in range(page):
        room = max(limit - len(others), limit - max(1, limit // 3)) if others else limit
        taken = exact_left[:room]
        more = others[: limit - len(taken)]
        shown = taken + more
        exact_left, others = exact_left[len(taken) :], others[len(more) :]
    return shown


def _kinds(filters: Filters) -> frozenset[DocumentKind]:
    """The kinds of documents that may answer."""
    if filters.role and filters.role not in ("user", "assistant"):
        return frozenset()
    if filters.kind in ("article", "lesson", "diary", "message"):
        return frozenset({filters.kind})  # type: ignore[arg-type]  # narrowed by the line above
    if filters.kind or filters.role:
        kind = KIND_BY_WORD.get(filters.kind or "")
        return frozenset({"message"}) if kind is None or kind in PROSE_KINDS else frozenset()
    if filters.machine:
        return frozenset({"message"})
    if filters.agent or filters.session:
        return frozenset({"diary", "message"})
    return frozenset({"article", "lesson", "diary", "message"})


def _of_hit(hit: Hit) -> Result:
    return Result(
        id=hit.item,
        kind="message",
        item_kind=hit.kind,
        title=hit.session.facts.title,
        snippet=hit.snippet,
        path=hit.written_in[0] if hit.written_in else None,
        block=hit.written_in[1] if hit.written_in else None,
        session=hit.session,
        project=_project(hit.session),
        time_us=hit.time_us,
        abandoned=hit.abandoned,
        score=hit.score,
        why=("exact",),
    )


def _project(session: Head) -> str:
    return session.facts.project


def _of_passage(ledger: Ledger, passage: Found, terms: list[Term], filters: Filters) -> Result | None:
    match passage.kind:
        case "article":
            from afterword.store.ledger import articles  # noqa: PLC0415  # exact search does without

            standing = articles.standing_at(ledger, passage.ref)
            if standing is None:
                return None  # retracted, deleted or moved since it was indexed
            return Result(
                id=passage.ref,
                kind="article",
                item_kind=None,
                title=passage.text.partition(" › ")[0],
                snippet=snippet(passage.text, terms),
                path=passage.ref,
                block=None,
                session=None,
                project=passage.project.partition("\n")[0],
                time_us=passage.time_us,
                abandoned=False,
                score=passage.score,
                why=("meaning",),
                stale=standing.article.status == "stale",
                uid=standing.uid,
                use=standing.use.weight,
            )
        case "lesson":
            from afterword.index import learned  # noqa: PLC0415  # where there are any

            return learned.meant(ledger, passage.ref, terms, filters, passage.score)
        case "diary":
            return _of_diary(ledger, passage, terms)
        case "message":
            return _of_message(ledger, passage, terms, filters)


_LEARNED_FIRST = 3
"""Only so many lessons stand before what was said, where both hold the words; the others come behind it."""


def _learned(ledger: Ledger, query: str, filters: Filters, limit: int, *, again: bool) -> tuple[list[Result], int]:
    """The lessons that hold the words of a query, and how many there are; `again`: also those that only say what a
    session's write-up says, where the session itself is not among what is found."""
    from afterword.index import learned  # noqa: PLC0415  # where there are any

    return learned.exact(ledger, parse(query), filters, limit, again=again)


def _unsaid(found: list[Result], hits: list[Result]) -> list[Result]:
    """Without the lessons of a session that is among the results before them: it says the same, and why."""
    seen = {result.session.id for result in hits if result.session}
    left = []
    for result in found:
        if result.said_in and result.said_in in seen:
            continue
        left.append(result)
        if result.session:
            seen.add(result.session.id)
    return left


def _of_diary(ledger: Ledger, passage: Found, terms: list[Term]) -> Result | None:
    session = sessions.head(ledger, passage.session)
    if session is None or not views.section_stands(ledger, passage.ref):
        return None
    path, block = views.placed(ledger, passage.ref) or (None, None)
    return Result(
        id=passage.ref,
        kind="diary",
        item_kind=None,
        title=session.facts.title,
        snippet=snippet(passage.text, terms),
        path=path,
        block=block,
        session=session,
        project=_project(session),
        time_us=passage.time_us,
        abandoned=False,
        score=passage.score,
        why=("meaning",),
    )


def _of_message(ledger: Ledger, passage: Found, terms: list[Term], filters: Filters) -> Result | None:
    """The message of a passage that holds most of the words; None when none of them may be shown."""
    session = sessions.head(ledger, passage.session)
    if session is None:
        return None
    shown: tuple[float, int, str, Kind, int, Redacted] | None = None
    for item in passage.items:
        row = ledger.db.execute(
            "SELECT i.row, i.kind, i.time_us, i.text, i.packed FROM item i JOIN membership m ON m.item = i.row"
            " WHERE i.id = ? AND m.session = ? AND m.state = 0",
            (bytes.fromhex(item), session.row),
        ).fetchone()
        if row is None or not _fits(Kind(row[1]), row[2], filters):
            continue
        text = unpack(row[3], row[4])
        flat = folded(text)
        held = sum(len(token) for term in terms for token in term.tokens if token in flat)
        candidate = (held + min(len(text), 400) / 1000, row[0], item, Kind(row[1]), row[2], text)
        if shown is None or candidate[0] > shown[0]:
            shown = candidate
    if shown is None:
        return None
    _, row_id, item, kind, time_us, text = shown
    written = views.written_in(ledger, row_id)
    return Result(
        id=item,
        kind="message",
        item_kind=kind,
        title=session.facts.title,
        snippet=snippet(text, terms),
        path=written[0] if written else None,
        block=written[1] if written else None,
        session=session,
        project=_project(session),
        time_us=time_us,
        abandoned=False,
        score=passage.score,
        why=("meaning",),
    )


def _fits(kind: Kind, time_us: int, filters: Filters) -> bool:
    return (
        filters.kind in (None, "", "message", kind.word)
        and (not filters.role or ROLE_OF[kind] == filters.role)
        and (filters.since_us is None or time_us >= filters.since_us)
        and (filters.until_us is None or time_us < filters.until_us)
    )
