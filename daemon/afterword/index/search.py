"""Exact search over everything in the ledger, ranked: what was said by BM25, tool text by kind and recency.

Terms with punctuation (`--force-with-lease`, `tests/test_health.py`) and phrases are compared with the stored text,
so that what comes back holds them as they were typed.
"""

import contextlib
import math
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec

from afterword.domain.clock import DAY_US
from afterword.domain.errors import DataError
from afterword.domain.items import KIND_BY_WORD, ROLE_OF, Kind
from afterword.index.query import Term, parse, prose_match, tool_match
from afterword.index.snippet import snippet
from afterword.redact.text import Redacted
from afterword.store import fulltext
from afterword.store.ledger import sessions, views
from afterword.store.ledger.ledger import Ledger, unpack

CANDIDATES_MAX = 50_000
_TOOL_WEIGHT = {Kind.COMMAND: 0.6, Kind.EDIT: 0.5, Kind.CALL: 0.45, Kind.THINKING: 0.4, Kind.READ: 0.35}
_TOOL_DEFAULT = 0.3
_HALF_LIFE_DAYS = 90.0


class Filters(msgspec.Struct, frozen=True):
    """What narrows a search. Times are UTC microseconds; `session` is a row."""

    project: str | None = None
    harness: str | None = None
    since_us: int | None = None
    until_us: int | None = None
    kind: str | None = None
    role: str | None = None
    machine: str | None = None
    session: int | None = None


class Hit(msgspec.Struct, frozen=True):
    """One item that holds every term. `score` orders hits, higher is better, 0 … 2."""

    item: str
    kind: Kind
    text: Redacted
    snippet: str
    session: sessions.Session
    time_us: int
    abandoned: bool
    path: str | None
    score: float
    written_in: tuple[str, str] | None
    """(path in the vault, block) of the section it was written up in."""


class Answer(msgspec.Struct, frozen=True):
    """The best hits and how many there are in all; `cut` when counting stopped at CANDIDATES_MAX."""

    hits: list[Hit]
    total: int
    cut: bool
    complete: bool
    """False while the full text is being made again: there may be more."""


class _Candidate(msgspec.Struct, frozen=True, gc=False):
    row: int
    score: float
    session: int
    abandoned: bool


def search(ledger: Ledger, state: Path, query: str, filters: Filters, *, limit: int, now_us: int) -> Answer:
    """The items that hold every term of `query`, best first.

    Live items before abandoned ones; hidden copies never.
    """
    terms = parse(query)
    try:
        if not fulltext.attach(ledger, state):
            return Answer([], 0, cut=False, complete=False)
        return _answer(ledger, terms, filters, limit=limit, now_us=now_us)
    except sqlite3.DatabaseError as err:
        raise DataError(f"the full text is damaged: {err}", "run `afterword up --once`: it is made again") from err
    finally:
        with contextlib.suppress(sqlite3.Error):
            ledger.db.execute("DETACH text0")


def _answer(ledger: Ledger, terms: list[Term], filters: Filters, *, limit: int, now_us: int) -> Answer:
    complete = fulltext.complete(ledger)
    found = list(_candidates(ledger, terms, filters, now_us))
    # Each of the two tables may have been cut.
    cut = len(found) >= CANDIDATES_MAX
    literals = [term.literal for term in terms if term.literal]
    found.sort(key=lambda c: (-c.score, -c.row))
    if literals:
        found = [c for c in found if _holds(ledger, c.row, literals)]
    hits = [_hit(ledger, c, terms) for c in found[:limit]]
    return Answer(hits, len(found), cut=cut, complete=complete)


def _candidates(ledger: Ledger, terms: list[Term], filters: Filters, now_us: int) -> Iterator[_Candidate]:
    where, parameters = _conditions(filters)
    best = "min(m.state * 4611686018427387904 + m.row)"
    for table, match, rank in (
        ("prose", prose_match(terms), "bm25(prose)"),
        ("tool", tool_match(terms), "0.0"),
    ):
        rows = ledger.db.execute(  # only constants of ours are formatted in
            f"WITH hit AS MATERIALIZED (SELECT rowid AS row, {rank} AS rank FROM text0.{table}"
            f" WHERE text0.{table}.{table} MATCH ?)"
            f" SELECT i.row, i.kind, i.time_us, hit.rank, m.session, m.state, {best} FROM hit"
            " JOIN item i ON i.row = hit.row JOIN membership m ON m.item = i.row JOIN session s ON s.row = m.session"
            f" WHERE m.state < 2{where} GROUP BY i.row ORDER BY i.row DESC LIMIT {CANDIDATES_MAX}",
            (match, *parameters),
        )
        for row, kind, time_us, rank_value, session, state, _ in rows:
            recency = 0.5 ** (max(0, now_us - time_us) / DAY_US / _HALF_LIFE_DAYS)
            if table == "prose":
                score = 1.0 + 0.8 * (1.0 - math.exp(rank_value / 8.0)) + 0.1 * recency
            else:
                score = _TOOL_WEIGHT.get(Kind(kind), _TOOL_DEFAULT) + 0.3 * recency
            yield _Candidate(row, score * (0.5 if state else 1.0), session, bool(state))


def _conditions(filters: Filters) -> tuple[str, list[object]]:
    where = ""
    parameters: list[object] = []

    def add(condition: str, *values: object) -> None:
        nonlocal where
        where += f" AND {condition}"
        parameters.extend(values)

    if filters.session is not None:
        add("m.session = ?", filters.session)
    if filters.harness:
        add("s.harness = ?", filters.harness)
    if filters.project:
        add(f"{sessions.PROJECT_PATH} LIKE ? ESCAPE '\\'", "%/" + _like(filters.project))
    if filters.since_us is not None:
        add("i.time_us >= ?", filters.since_us)
    if filters.until_us is not None:
        add("i.time_us < ?", filters.until_us)
    if filters.machine:
        add("i.origin IN (SELECT row FROM origin WHERE name = ?)", filters.machine)
    kinds = set(Kind)
    if filters.kind:
        kinds &= {KIND_BY_WORD[filters.kind]} if filters.kind in KIND_BY_WORD else kinds
    if filters.role:
        kinds &= {kind for kind, role in ROLE_OF.items() if role == filters.role}
    if len(kinds) < len(Kind):
        add(f"i.kind IN ({','.join('?' * len(kinds))})", *sorted(kinds))
    return where, parameters


def _like(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _holds(ledger: Ledger, row: int, literals: list[str]) -> bool:
    blob, packed = ledger.db.execute("SELECT text, packed FROM item WHERE row = ?", (row,)).fetchone()
    text = " ".join(fulltext.folded(unpack(blob, packed)).split())
    return all(literal in text for literal in literals)


def _hit(ledger: Ledger, candidate: _Candidate, terms: list[Term]) -> Hit:
    its_id, kind, time_us, blob, packed, path = ledger.db.execute(
        "SELECT id, kind, time_us, text, packed, path FROM item WHERE row = ?", (candidate.row,)
    ).fetchone()
    text = unpack(blob, packed)
    return Hit(
        item=its_id.hex(),
        kind=Kind(kind),
        text=text,
        snippet=snippet(text, terms),
        session=sessions.load(ledger, "WHERE s.row = ?", (candidate.session,))[0],
        time_us=time_us,
        abandoned=candidate.abandoned,
        path=path,
        score=round(candidate.score, 4),
        written_in=views.written_in(ledger, candidate.row),
    )
