"""Exact search over everything in the ledger, ranked: what was said by BM25, tool text by kind and recency.

Terms with punctuation (`--force-with-lease`, `tests/test_health.py`) and phrases are compared with the stored text,
so that what comes back holds them as they were typed.
"""

import contextlib
import math
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import msgspec

from afterword.domain.clock import DAY_US
from afterword.domain.errors import DataError
from afterword.domain.items import Kind
from afterword.index.loosening import How, Step, forms, steps, telling
from afterword.index.narrowing import Filters, Where, conditions
from afterword.index.query import Term, parse, pattern, prose_match, tool_match
from afterword.index.snippet import snippet
from afterword.redact.text import Redacted
from afterword.store import fulltext
from afterword.store.ledger import sessions, touched, views
from afterword.store.ledger.ledger import Ledger, unpack

CANDIDATES_MAX = 50_000
"""So many hits of a table are looked at, the newest, where each one has to be."""
RANKED_MAX = 2_000
"""So many of those that hold nothing but common words: their ranks tell little."""
CHECKED_CHARS = 200_000_000
"""So much text is compared with a phrase or a term with signs, the best hits first; a second of work."""
MOST_MAX = 5_000
"""So many hits, the newest, are weighed by how many of the words they hold."""
_MOST_SHARE = 0.5
_FILE = r"[^\s*?\"']*[\w-]\.\w{1,10}|[^\s*?\"']+/[^\s*?\"']+"
_TOOL_WEIGHT: dict[int, float] = {
    Kind.COMMAND: 0.6, Kind.EDIT: 0.5, Kind.CALL: 0.45, Kind.THINKING: 0.4, Kind.READ: 0.35
}  # fmt: skip
_TOOL_DEFAULT = 0.3
_TOOL_RECENCY = 0.3
_TOOL_BEST = max(_TOOL_WEIGHT.values()) + _TOOL_RECENCY
_ABANDONED = 0.5
_HALF_LIFE_DAYS = 90.0
_RANK = {"prose": "bm25(prose)", "tool": "0.0"}
_NOT_HIDDEN = {
    table: f"NOT EXISTS (SELECT 1 FROM membership h INDEXED BY membership_hidden WHERE h.item = {table}.rowid"
    " AND h.state >= 2 AND NOT EXISTS (SELECT 1 FROM membership m WHERE m.item = h.item AND m.state < 2))"
    for table in _RANK
}


class Hit(msgspec.Struct, frozen=True):
    """One item that holds every term. `score` orders hits, higher is better, 0 … 2."""

    item: str
    kind: Kind
    text: Redacted
    snippet: str
    session: sessions.Head
    time_us: int
    abandoned: bool
    path: str | None
    score: float
    written_in: tuple[str, str] | None
    """(path in the vault, block) of the section it was written up in."""


class Answer(msgspec.Struct, frozen=True):
    """The best hits and how many there are in all; `cut` when only a part was ranked, or compared with a phrase."""

    hits: list[Hit]
    total: int
    cut: bool
    complete: bool
    """False while the full text is being made again: there may be more."""
    how: How = "all"
    """How the hits hold the words; `words` are others that were looked for instead, or empty."""
    words: str = ""


class _Candidate(msgspec.Struct, frozen=True, gc=False):
    row: int
    score: float
    abandoned: bool


def search(
    ledger: Ledger, state: Path, query: str, filters: Filters, *, limit: int, now_us: int, most: bool = False
) -> Answer:
    """The items that hold every term of `query`, best first; where none does, what holds them nearly (`loosening`), and
    with `most` at last what holds most of them.

    Live items before abandoned ones; hidden copies never.
    """
    terms = parse(query)
    try:
        if not fulltext.attach(ledger, state):
            return Answer([], 0, cut=False, complete=False)
        return _answer(ledger, terms, filters, limit=limit, now_us=now_us, most=most)
    except sqlite3.DatabaseError as err:
        raise DataError(f"the full text is damaged: {err}", "run `afterword up --once`: it is made again") from err
    finally:
        with contextlib.suppress(sqlite3.Error):
            fulltext.detach(ledger)


def _answer(ledger: Ledger, terms: list[Term], filters: Filters, *, limit: int, now_us: int, most: bool) -> Answer:
    complete = fulltext.complete(ledger)
    literals = [pattern(term) for term in terms if term.literal]
    where = conditions(filters)

    def matching(step: Step) -> Answer:
        shown = parse(step.words) if step.words else terms
        found = _matching(
            ledger, shown, (step.prose, step.tool), literals, where, complete=complete, limit=limit, now_us=now_us
        )
        return msgspec.structs.replace(found, how=step.how, words=step.words)

    answer = matching(Step("all", prose_match(terms), tool_match(terms)))
    if answer.total or answer.cut:
        return answer
    for step in steps(ledger, terms):
        loose = matching(step)
        if loose.total or loose.cut:
            return loose
    if len(terms) == 1 and terms[0].literal and re.fullmatch(_FILE, terms[0].literal):
        return _of_file(ledger, terms[0].literal, terms, where, complete=complete, limit=limit, now_us=now_us)
    if most and not literals and len(words := telling(terms)) > 1:
        return _most(ledger, terms, words, where, complete=complete, limit=limit, now_us=now_us)
    return answer


def _most(
    ledger: Ledger, terms: list[Term], words: list[str], where: Where | None, *, complete: bool, limit: int, now_us: int
) -> Answer:
    """What holds the rarer half of the words, by their weight: a word that is nowhere counts as the rarest."""
    expressions = [forms(word) for word in words]
    rows = _every_of(ledger, "prose", " OR ".join(expressions), where, now_us, MOST_MAX)[0]
    rows.sort(key=_order)
    holding = [
        {
            row
            for (row,) in ledger.db.execute(
                f"SELECT rowid FROM text0.prose WHERE text0.prose.prose MATCH ? ORDER BY rowid DESC LIMIT {MOST_MAX}",
                (each,),
            )
        }
        for each in expressions
    ]
    weights = [1.0 / (1.0 + math.log1p(len(held))) for held in holding]
    half = sum(weights) * _MOST_SHARE
    found = [c for c in rows if sum(w for w, held in zip(weights, holding, strict=True) if c.row in held) >= half]
    shown = found[:limit]
    sessions_of = _sessions_of(ledger, [c.row for c in shown], where)
    hits = [_hit(ledger, c, sessions_of[c.row], terms) for c in shown]
    return Answer(hits, len(found), cut=False, complete=complete, how="most" if found else "all")


def _of_file(
    ledger: Ledger, name: str, terms: list[Term], where: Where | None, *, complete: bool, limit: int, now_us: int
) -> Answer:
    """The edits and reads of files whose path ends so."""
    end = "/" + name.replace("\\", "/").lstrip("/")
    touches = [touch for touch in touched.named(ledger, end.rpartition("/")[2]) if f"/{touch.path}".endswith(end)]
    rows = msgspec.json.encode(sorted({touch.item for touch in touches})).decode()
    matched = "SELECT value AS row, 0.0 AS rank FROM json_each(?)"
    found, cut = _met(ledger, matched, (rows,), where, now_us, CANDIDATES_MAX, _done)
    found.sort(key=_order)
    sessions_of = _sessions_of(ledger, [c.row for c in found[:limit]], where)
    hits = [_hit(ledger, c, sessions_of[c.row], terms) for c in found[:limit]]
    hits = [msgspec.structs.replace(hit, snippet=f"{hit.path} · {hit.snippet}") for hit in hits]
    return Answer(hits, len(found), cut=cut, complete=complete, how="file" if found else "all")


def _matching(
    ledger: Ledger,
    terms: list[Term],
    matches: tuple[str, str],
    literals: list[re.Pattern[str]],
    where: Where | None,
    *,
    complete: bool,
    limit: int,
    now_us: int,
) -> Answer:
    """What the full text has for these expressions, for prose and for tool text."""
    if where or literals:
        found, cut = _every(ledger, matches, where, now_us)
        found.sort(key=_order)
        if literals:
            found, checked_all = _holding(ledger, found, literals)
            cut |= not checked_all
        total = len(found)
    else:
        found, total, cut = _best(ledger, matches, limit, now_us)
    best = found[:limit]
    sessions_of = _sessions_of(ledger, [c.row for c in best], where)
    return Answer([_hit(ledger, c, sessions_of[c.row], terms) for c in best], total, cut=cut, complete=complete)


def _order(candidate: _Candidate) -> tuple[float, int]:
    return (-candidate.score, -candidate.row)


def _best(ledger: Ledger, matches: tuple[str, str], limit: int, now_us: int) -> tuple[list[_Candidate], int, bool]:
    """The best of all items that hold the terms, how many there are, and whether only a part of them was ranked.

    What cannot get among the best is counted, not looked at: of a common word there are tens of thousands.
    """
    at_most = max(RANKED_MAX, limit)
    match = matches[0]
    rows = _newest(ledger, "prose", match, at_most)
    said = [(said_score(kind, time_us, rank, now_us), row) for row, kind, time_us, rank in rows]
    total = _count(ledger, "prose", match) if len(rows) == at_most else len(rows)
    cut = len(rows) < total
    best = _top(ledger, said, limit)
    match = matches[1]
    if len(best) >= limit and best[limit - 1].score >= _TOOL_BEST:
        return best, total + _count(ledger, "tool", match), cut
    rows = _newest(ledger, "tool", match, at_most)
    done = [(_done(kind, time_us, rank, now_us), row) for row, kind, time_us, rank in rows]
    all_done = _count(ledger, "tool", match) if len(rows) == at_most else len(rows)
    return _top(ledger, said + done, limit), total + all_done, cut or len(rows) < all_done


def _newest(ledger: Ledger, table: str, match: str, at_most: int) -> list[tuple[int, int, int, float]]:
    """(row, kind, time, rank) of the newest hits in one table that are not hidden."""
    files = _files(ledger, table)
    shown = _shown(ledger, table)
    hits = [
        f"SELECT * FROM (SELECT rowid AS row, {_RANK[table]} AS rank FROM {name}.{table}"
        f" WHERE {name}.{table}.{table} MATCH ? AND {shown} ORDER BY rowid DESC LIMIT {at_most})"
        for name in files
    ]
    return ledger.db.execute(
        f"WITH hit AS MATERIALIZED ({' UNION ALL '.join(hits)} ORDER BY row DESC LIMIT {at_most})"
        " SELECT hit.row, i.kind, i.time_us, hit.rank FROM hit CROSS JOIN item i INDEXED BY item_brief"
        " ON i.row = hit.row",
        (match,) * len(files),
    ).fetchall()


def _files(ledger: Ledger, table: str) -> list[str]:
    """The attached files that have this table."""
    return fulltext.schemas(ledger) if table == "tool" else ["text0"]


def _shown(ledger: Ledger, table: str) -> str:
    """The condition that leaves hidden copies out; asked of no hit where no store has any."""
    some = ledger.db.execute(
        "SELECT 1 FROM membership INDEXED BY membership_hidden WHERE state >= 2 LIMIT 1"
    ).fetchone()
    return _NOT_HIDDEN[table] if some else "true"


def _top(ledger: Ledger, scored: list[tuple[float, int]], limit: int) -> list[_Candidate]:
    """The best `limit`, once it is known which are abandoned; only as many are looked up as it takes."""
    scored.sort(reverse=True)
    found: list[_Candidate] = []
    for start in range(0, len(scored), limit + 50):
        if len(found) >= limit and found[limit - 1].score >= scored[start][0]:
            break
        part = scored[start : start + limit + 50]
        states = _states(ledger, [row for _, row in part])
        found += [_Candidate(r, score * (_ABANDONED if states[r] else 1.0), bool(states[r])) for score, r in part]
        found.sort(key=_order)
    return found[:limit]


def _states(ledger: Ledger, rows: list[int]) -> dict[int, int]:
    """Item → state of its best membership."""
    return dict(
        ledger.db.execute(
            "SELECT value, (SELECT min(m.state) FROM membership m WHERE m.item = value) FROM json_each(?)",
            (msgspec.json.encode(rows).decode(),),
        )
    )


def _count(ledger: Ledger, table: str, match: str) -> int:
    files = _files(ledger, table)
    shown = _shown(ledger, table)
    counts = [
        f"(SELECT count(*) FROM {name}.{table} WHERE {name}.{table}.{table} MATCH ? AND {shown})" for name in files
    ]
    count: int = ledger.db.execute(f"SELECT {' + '.join(counts)}", (match,) * len(files)).fetchone()[0]
    return count


def _every(ledger: Ledger, matches: tuple[str, str], where: Where | None, now_us: int) -> tuple[list[_Candidate], bool]:
    """All items that hold the terms and meet the conditions, and whether there are more than are looked at."""
    found: list[_Candidate] = []
    cut = False
    for table, match in zip(("prose", "tool"), matches, strict=True):
        if where is None or table in where.tables:
            more, more_cut = _every_of(ledger, table, match, where, now_us, CANDIDATES_MAX)
            found += more
            cut |= more_cut
    return found, cut


def _every_of(
    ledger: Ledger, table: str, match: str, where: Where | None, now_us: int, at_most: int
) -> tuple[list[_Candidate], bool]:
    """The hits in one table, newest first, and whether there are more than `at_most`."""
    files = _files(ledger, table)
    hits = [
        f"SELECT rowid AS row, {_RANK[table]} AS rank FROM {name}.{table} WHERE {name}.{table}.{table} MATCH ?"
        for name in files
    ]
    matched = " UNION ALL ".join(hits)
    return _met(
        ledger, matched, (match,) * len(files), where, now_us, at_most, said_score if table == "prose" else _done
    )


def _met(
    ledger: Ledger,
    matched: str,
    values: tuple[object, ...],
    where: Where | None,
    now_us: int,
    at_most: int,
    score: Callable[[int, int, float, int], float],
) -> tuple[list[_Candidate], bool]:
    """The items that a SELECT of (row, rank) gives and that meet the conditions, newest first; whether there are more
    than `at_most`."""
    rows = ledger.db.execute(  # only constants of ours are formatted in
        f"WITH hit AS MATERIALIZED ({matched} ORDER BY row DESC),"
        " brief AS (SELECT i.row, i.kind, i.time_us, hit.rank, (SELECT min(m.state) FROM membership m"
        f" WHERE m.item = i.row AND m.state < 2{where.of_membership if where else ''}) AS state"
        " FROM hit CROSS JOIN item i INDEXED BY item_brief"
        f" ON i.row = hit.row{where.of_item if where else ''})"
        f" SELECT * FROM brief WHERE state IS NOT NULL LIMIT {at_most + 1}",
        (*values, *(where.values if where else ())),
    ).fetchall()
    found = [
        _Candidate(row, score(kind, time_us, rank_value, now_us) * (_ABANDONED if state else 1.0), bool(state))
        for row, kind, time_us, rank_value, state in rows[:at_most]
    ]
    return found, len(rows) > at_most


def _recency(time_us: int, now_us: int) -> float:
    return float(0.5 ** (max(0, now_us - time_us) / DAY_US / _HALF_LIFE_DAYS))


def said_score(_kind: int, time_us: int, rank: float, now_us: int) -> float:
    """How good a hit in prose is, 1 … 2, by its BM25 (the lower the better) and its age."""
    return 1.0 + 0.8 * (1.0 - math.exp(rank / 8.0)) + 0.1 * _recency(time_us, now_us)


def _done(kind: int, time_us: int, _rank: float, now_us: int) -> float:
    return _TOOL_WEIGHT.get(kind, _TOOL_DEFAULT) + _TOOL_RECENCY * _recency(time_us, now_us)


def _holding(ledger: Ledger, found: list[_Candidate], literals: list[re.Pattern[str]]) -> tuple[list[_Candidate], bool]:
    """Those whose text holds every literal, and whether all texts were looked at."""
    held: list[_Candidate] = []
    chars = 0
    for candidate in found:
        if chars > CHECKED_CHARS:
            return held, False
        blob, packed = ledger.db.execute("SELECT text, packed FROM item WHERE row = ?", (candidate.row,)).fetchone()
        text = fulltext.folded(unpack(blob, packed))
        chars += len(text)
        if all(literal.search(text) for literal in literals):
            held.append(candidate)
    return held, True


def _sessions_of(ledger: Ledger, rows: list[int], where: Where | None) -> dict[int, sessions.Head]:
    """Item → the session it is shown in: where it is live, the one that held it first."""
    of_membership, values = (where.of_membership, where.membership_values) if where else ("", ())
    found = {
        row: ledger.db.execute(
            f"SELECT m.session FROM membership m WHERE m.item = ? AND m.state < 2{of_membership}"
            " ORDER BY m.state, m.row LIMIT 1",
            (row, *values),
        ).fetchone()[0]
        for row in rows
    }
    heads = sessions.heads(ledger, sorted(set(found.values())))
    return {row: heads[session] for row, session in found.items()}


def _hit(ledger: Ledger, candidate: _Candidate, session: sessions.Head, terms: list[Term]) -> Hit:
    its_id, kind, time_us, blob, packed, path = ledger.db.execute(
        "SELECT id, kind, time_us, text, packed, path FROM item WHERE row = ?", (candidate.row,)
    ).fetchone()
    text = unpack(blob, packed)
    return Hit(
        item=its_id.hex(),
        kind=Kind(kind),
        text=text,
        snippet=snippet(text, terms),
        session=session,
        time_us=time_us,
        abandoned=candidate.abandoned,
        path=path,
        score=round(candidate.score, 4),
        written_in=views.written_in(ledger, candidate.row),
    )
