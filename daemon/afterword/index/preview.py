"""What was said and is not in the ledger yet, as hits of the exact search: only while a first reading goes on."""

import contextlib
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias, cast

import msgspec

from afterword.domain.ids import session_id
from afterword.domain.items import KIND_BY_WORD, PROSE_KINDS, ROLE_OF, Kind
from afterword.index.narrowing import Filters
from afterword.index.query import Term, loosened, parse, pattern, prose_match
from afterword.index.search import Answer, Hit, said_score
from afterword.index.snippet import snippet
from afterword.store import preview
from afterword.store.fulltext import FILE, folded
from afterword.store.ledger.ledger import Ledger, unpack
from afterword.store.ledger.sessions import Head, SessionFacts

CANDIDATES_MAX = 2_000
"""So many hits are looked at, those of the newest conversations."""
_MIN_TIME_US, _MAX_TIME_US = 0, 1 << 62


def read_up_to(ledger: Ledger, state: Path) -> int | None:
    """The row up to which items are in the ledger's own full text; None when there is no preview. To be asked before
    that is searched: what is found there is then never missed here."""
    if not (state / preview.FILE).exists():
        return None
    try:
        with contextlib.closing(sqlite3.connect(f"{(state / FILE).as_uri()}?mode=ro", uri=True)) as db:
            upto = db.execute("SELECT value FROM meta WHERE key = 'prose.upto'").fetchone()
    except sqlite3.DatabaseError:
        return 0
    # Among the last ones, and the next, are later revisions of old items too.
    last, after, every = ledger.db.execute(
        "SELECT (SELECT max(item) FROM (SELECT item FROM text_pending WHERE seq <= ?1 ORDER BY seq DESC LIMIT 5000)),"
        " (SELECT min(item) FROM (SELECT item FROM text_pending WHERE seq > ?1 ORDER BY seq LIMIT 5000)),"
        " (SELECT max(row) FROM item)",
        upto or (0,),
    ).fetchone()
    if last is not None:
        return int(last)
    return int(every or 0) if after is None else after - 1


def joined(
    answer: Answer, ledger: Ledger, state: Path, query: str, filters: Filters, *, read: int, limit: int, now_us: int
) -> Answer:
    """The answer with what only the preview has. What it holds is not read yet, so such an answer is never complete.

    Args:
        read: what `read_up_to` said before the answer was made.
    """
    terms = parse(query)
    known = {hit.item for hit in answer.hits}

    def more(match: str) -> list[Hit]:
        hits = _hits(ledger, state, match, terms, filters, read, now_us)
        return [hit for hit in hits if hit.item not in known]

    found = more(prose_match(terms))
    if not found and not answer.total and not answer.cut and (loose := loosened(terms)):
        found = more(loose[0])
    if found and answer.how not in ("all", "beginnings"):
        # What holds the very words was said, and is not read yet: nothing near to them is wanted.
        answer = Answer([], 0, cut=False, complete=False)
    hits = sorted([*answer.hits, *found], key=lambda hit: -hit.score)[:limit]
    cut = answer.cut or len(found) >= CANDIDATES_MAX
    total = answer.total + len(found)
    return msgspec.structs.replace(answer, hits=hits, total=total, cut=cut, complete=False)


def _hits(
    ledger: Ledger, state: Path, match: str, terms: list[Term], filters: Filters, read: int, now_us: int
) -> Iterator[Hit]:
    kinds = _kinds(filters)
    elsewhere = filters.machine is not None and filters.machine != ledger.origin[1]
    if filters.session is not None or elsewhere or not kinds:
        return  # a session that can be named is in the ledger
    literals = [pattern(term) for term in terms if term.literal]
    for (row, its_id, kind, time_us, blob, packed, rank), head in _rows(state, match, kinds, filters):
        if _is_read(ledger, its_id, read):
            continue
        text = unpack(blob, packed)
        if literals:
            flat = folded(text)
            if not all(literal.search(flat) for literal in literals):
                continue
        yield Hit(
            item=its_id.hex(),
            kind=Kind(kind),
            text=text,
            snippet=snippet(text, terms),
            session=head,
            time_us=time_us,
            abandoned=False,
            path=None,
            score=round(said_score(row, time_us, rank, now_us), 4),
            written_in=None,
        )


_Row: TypeAlias = tuple[int, bytes, int, int, bytes, int, float]
"""(row, item, kind, time, text, packed, rank)"""


def _rows(state: Path, match: str, kinds: frozenset[Kind], filters: Filters) -> list[tuple[_Row, Head]]:
    """What matches, each with its session, as one preview has them; none when that just went away."""
    since = _MIN_TIME_US if filters.since_us is None else filters.since_us
    until = _MAX_TIME_US if filters.until_us is None else filters.until_us
    with preview.reading(state) as db:
        if db is None:
            return []
        try:
            db.execute("BEGIN")
            rows = db.execute(
                "WITH hit AS MATERIALIZED (SELECT rowid AS row, bm25(prose) AS rank FROM prose WHERE prose MATCH ?)"
                " SELECT s.session, s.row, s.id, s.kind, s.time_us, s.text, s.packed, hit.rank"
                " FROM hit CROSS JOIN said s ON s.row = hit.row WHERE s.time_us >= ? AND s.time_us < ?"
                f" AND s.kind IN ({','.join('?' * len(kinds))}) ORDER BY s.row",
                (match, since, until, *sorted(kinds)),
            )
            heads: dict[int, Head | None] = {}
            found: list[tuple[_Row, Head]] = []
            for session, *row in rows:
                if session not in heads:
                    heads[session] = _head(db, session, filters)
                if (head := heads[session]) is not None:
                    found.append((cast("_Row", tuple(row)), head))
                    if len(found) == CANDIDATES_MAX:
                        break
        except sqlite3.DatabaseError:
            return []
        return found


def _head(db: sqlite3.Connection, session: int, filters: Filters) -> Head | None:
    """The session with this row, if it is one of those that are looked for. Its row in the ledger is not known."""
    found = db.execute("SELECT harness, native, facts FROM session WHERE row = ?", (session,)).fetchone()
    if not found:
        return None
    harness, native, encoded = found
    facts = msgspec.json.decode(encoded, type=SessionFacts)
    if (filters.harness and harness != filters.harness) or (filters.agent and facts.agent != filters.agent):
        return None
    if filters.project:
        path = "/" + re.sub(r"\\", "/", facts.root or facts.cwd or facts.folder).rstrip("/").lower()
        if not path.endswith("/" + filters.project.lower()):
            return None
    return Head(-session, session_id(harness, native), harness, native, facts, 1)


def _is_read(ledger: Ledger, its_id: bytes, read: int) -> bool:
    """Whether an item is in the ledger and its full text: then that says whether it is shown."""
    found = ledger.db.execute("SELECT row FROM item WHERE id = ?", (its_id,)).fetchone()
    return found is not None and found[0] <= read


def _kinds(filters: Filters) -> frozenset[Kind]:
    kinds = PROSE_KINDS
    if filters.kind:
        kinds &= {KIND_BY_WORD[filters.kind]} if filters.kind in KIND_BY_WORD else kinds
    if filters.role:
        kinds &= {kind for kind, role in ROLE_OF.items() if role == filters.role}
    return kinds
