"""Conversations: what transcripts say of them, and who owns the items that several of them hold."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from afterword.domain.ids import SessionId, session_id
from afterword.domain.slugs import project_of
from afterword.redact.text import Redacted
from afterword.store.ledger.ledger import Ledger, RecordKind

PLAIN: Final = ("parent", "agent", "spawned_by", "forked_from", "continued_from")
"""Native ids in the facts: other rows are found by them, so a person's own patterns must not change them."""
_WHITE = re.compile(r"\s+")


class SessionFacts(msgspec.Struct, omit_defaults=True):
    """What transcripts say of a session; a register. Native ids in parent, forked_from, continued_from.

    `root` is the main checkout `cwd` lay in when it was first seen, `folder` the name of the store's folder, for want
    of anything better. `version` is the agent's, as said last.
    """

    cwd: str = ""
    root: str = ""
    folder: str = ""
    version: str = ""
    branch: str = ""
    model: str = ""
    title: str = ""
    title_rank: int = 0
    parent: str = ""
    agent: str = ""
    spawned_by: str = ""
    forked_from: str = ""
    continued_from: str = ""
    archived: bool = False
    started_us: int | None = None
    authority: int = 0
    """The highest authority of the sources that said this."""
    reverts: list[tuple[int, int]] = []
    """(place, UTC microseconds): what stands there or behind and was said before is abandoned."""

    def reverted(self, pos: int, time_us: int) -> bool:
        """Whether an item at this place was left behind when the conversation went on from an earlier one."""
        return any(pos >= place and time_us < at_us for place, at_us in self.reverts)

    @property
    def project(self) -> str:
        """The name of the project the session is about; "" when nothing tells it."""
        return project_of(self.root or self.cwd) or ("" if self.cwd else self.folder)


PROJECT_PATH = (
    "rtrim(replace(coalesce(json_extract(s.facts, '$.root'), json_extract(s.facts, '$.cwd'),"
    " '/' || json_extract(s.facts, '$.folder')), '\\', '/'), '/')"
)
"""The SQL of a session's project as the end of a path, for a session `s`."""


class Head(msgspec.Struct, frozen=True):
    """What is known of a session without looking at its items."""

    row: int
    id: SessionId
    harness: str
    native: str
    facts: SessionFacts
    origin: int

    @property
    def shown_native(self) -> str:
        """The harness's own id: a sub-agent's is its agent id, without the parent."""
        return self.native.rpartition("/")[2]


class Session(Head, frozen=True):
    """A session with its derived parts. Times are UTC microseconds, None without items."""

    started_us: int | None
    updated_us: int | None
    changed_us: int


def row_of(ledger: Ledger, harness: str, native: Redacted) -> int:
    """The row of a session, made when it is new; inside a transaction."""
    its_id = session_id(harness, native)
    found = ledger.db.execute("SELECT row FROM session WHERE id = ?", (its_id,)).fetchone()
    # Newer rules may have masked something in a native id; the session keeps the id of its first sight.
    found = (
        found
        or ledger.db.execute(
            "SELECT row FROM session WHERE native = ? AND harness = ? ORDER BY row", (native, harness)
        ).fetchone()
    )
    if found:
        return int(found[0])
    row = ledger.db.execute(
        "INSERT INTO session (id, harness, native, origin) VALUES (?, ?, ?, 1)", (its_id, harness, native)
    ).lastrowid
    assert row is not None
    ledger.number(RecordKind.SESSION, row, 1)
    return row


def rows_of(ledger: Ledger, harness: str) -> set[int]:
    """The rows of a harness's sessions."""
    return {row for (row,) in ledger.db.execute("SELECT row FROM session WHERE harness = ?", (harness,))}


def known_row(ledger: Ledger, harness: str, native: str) -> int | None:
    """The row of a session, if there is one."""
    found = ledger.db.execute("SELECT row FROM session WHERE id = ?", (session_id(harness, native),)).fetchone()
    return int(found[0]) if found else None


def set_facts(ledger: Ledger, row: int, facts: Redacted) -> bool:
    """Write the next revision of a session's facts (JSON of SessionFacts) if they differ; inside a transaction."""
    old, rev = ledger.db.execute("SELECT facts, rev FROM session WHERE row = ?", (row,)).fetchone()
    if old == facts:
        return False
    ledger.db.execute("UPDATE session SET facts = ?, rev = ? WHERE row = ?", (facts, rev + 1, row))
    ledger.number(RecordKind.SESSION, row, rev + 1)
    return True


def title_of(prompt: Redacted) -> str:
    """What a session without a title of its own is called by: the beginning of a prompt."""
    return _WHITE.sub(" ", prompt).strip()[:120]


def facts_of(ledger: Ledger, row: int) -> SessionFacts:
    found = ledger.db.execute("SELECT facts FROM session WHERE row = ?", (row,)).fetchone()
    return msgspec.json.decode(found[0], type=SessionFacts)


def stamp(ledger: Ledger) -> tuple[int, int]:
    """(how many, sum of revisions): it changes whenever what is known of a session does."""
    count, revs = ledger.db.execute("SELECT count(*), coalesce(sum(rev), 0) FROM session").fetchone()
    return count, revs


def harnesses(ledger: Ledger) -> list[str]:
    """The agents whose sessions are known, by name."""
    rows = ledger.db.execute("SELECT DISTINCT harness FROM session ORDER BY harness")
    return [harness for (harness,) in rows]


def folders(ledger: Ledger, limit: int) -> list[tuple[str, str]]:
    """(working directory, project) of the newest sessions, each once, at most `limit`; as stored, redacted."""
    rows = ledger.db.execute(
        "SELECT json_extract(facts, '$.cwd') AS cwd, coalesce(json_extract(facts, '$.root'), '') FROM session"
        " WHERE cwd <> '' GROUP BY cwd ORDER BY max(row) DESC LIMIT ?",
        (limit,),
    )
    return [(cwd, project_of(root or cwd)) for cwd, root in rows]


def named(ledger: Ledger, *, agent: str | None, machine: str | None) -> frozenset[str] | None:
    """The ids of the sessions of a sub-agent and of a machine; None when neither is named."""
    if not agent and not machine:
        return None
    rows = ledger.db.execute(
        "SELECT s.id FROM session s JOIN origin o ON o.row = s.origin"
        " WHERE (?1 IS NULL OR json_extract(s.facts, '$.agent') = ?1) AND (?2 IS NULL OR o.name = ?2)",
        (agent or None, machine or None),
    )
    return frozenset(its_id for (its_id,) in rows)


def places(ledger: Ledger) -> list[tuple[SessionFacts, int]]:
    """Where sessions were held (cwd, root and folder alone), and how many in each place."""
    rows = ledger.db.execute(
        "SELECT coalesce(json_extract(facts, '$.cwd'), ''), coalesce(json_extract(facts, '$.root'), ''),"
        " coalesce(json_extract(facts, '$.folder'), ''), count(*) FROM session GROUP BY 1, 2, 3"
    )
    return [(SessionFacts(cwd=cwd, root=root, folder=folder), count) for cwd, root, folder, count in rows]


def worked_in(ledger: Ledger) -> list[str]:
    """Every folder that sessions were held in, by name."""
    rows = ledger.db.execute(
        "SELECT DISTINCT json_extract(facts, '$.cwd') AS cwd FROM session WHERE cwd LIKE '/%' ORDER BY cwd"
    )
    return [cwd for (cwd,) in rows]


def mark_dirty(ledger: Ledger, row: int, changed_us: int) -> None:
    """Say that a session changed at this time, so that its segments are looked at again; inside a transaction."""
    ledger.db.execute(
        "UPDATE session SET dirty = dirty + 1, changed_us = max(changed_us, ?) WHERE row = ?", (changed_us, row)
    )


_SELECT = """
SELECT s.row, s.id, s.harness, s.native, s.facts, s.origin, s.changed_us,
  (SELECT min(i.time_us) FROM membership m JOIN item i ON i.row = m.item WHERE m.session = s.row AND m.state < 2),
  (SELECT max(i.time_us) FROM membership m JOIN item i ON i.row = m.item WHERE m.session = s.row AND m.state < 2)
FROM session s
"""


def load(ledger: Ledger, where: str, parameters: Sequence[object] = ()) -> list[Session]:
    """Sessions by an SQL condition on `s` (constant text of ours; values go into `parameters`)."""
    return [_session(found) for found in ledger.db.execute(_SELECT + where, tuple(parameters))]


def heads(ledger: Ledger, rows: Sequence[int]) -> dict[int, Head]:
    """Row → what is known of a session without its items; cheap, also for a session of many thousands of them."""
    found = ledger.db.execute(
        f"{_HEAD} WHERE row IN (SELECT value FROM json_each(?))", (msgspec.json.encode(rows).decode(),)
    )
    return {one[0]: _head(*one) for one in found}


def head(ledger: Ledger, its_id: str) -> Head | None:
    """The same of one session, by its id."""
    found = ledger.db.execute(f"{_HEAD} WHERE id = ?", (its_id,)).fetchone()
    return _head(*found) if found else None


_HEAD = "SELECT row, id, harness, native, facts, origin FROM session"


def _head(row: int, its_id: str, harness: str, native: str, facts: str, origin: int) -> Head:
    return Head(row, SessionId(its_id), harness, native, msgspec.json.decode(facts, type=SessionFacts), origin)


def _session(found: tuple[int, str, str, str, str, int, int, int | None, int | None]) -> Session:
    row, its_id, harness, native, facts_json, origin, changed_us, first_us, last_us = found
    facts = msgspec.json.decode(facts_json, type=SessionFacts)
    return Session(
        row=row,
        id=SessionId(its_id),
        harness=harness,
        native=native,
        facts=facts,
        origin=origin,
        started_us=facts.started_us if facts.started_us is not None else first_us,
        updated_us=last_us,
        changed_us=changed_us,
    )


def inherited_items(ledger: Ledger, session: int) -> set[int]:
    """Item rows that this session holds but another one owns."""
    return {item for item, owner in owners(ledger, session).items() if owner != session}


def owners(ledger: Ledger, session: int) -> dict[int, int]:
    """Item row → owning session's row, for the items of a session that others hold as well.

    The owner is the session the others were forked from or spawned by; among those without such a link the smallest
    (start, whether the item was first seen elsewhere, id). Copies start when their original does, so the second
    part decides for most: what is written up already stays where it is.
    """
    shared: dict[int, set[int]] = {}
    homes: dict[int, int] = {}
    rows = ledger.db.execute(
        "SELECT m.item, i.home, other.session FROM membership m JOIN item i ON i.row = m.item"
        " JOIN membership other ON other.item = m.item WHERE m.session = ? AND m.state < 2 AND other.state < 2",
        (session,),
    )
    for item, home, holder in rows:
        shared.setdefault(item, set()).add(holder)
        homes[item] = home
    shared = {item: holders for item, holders in shared.items() if len(holders) > 1}
    if not shared:
        return {}
    family = {row: _session_link(ledger, row) for row in set().union(*shared.values())}
    return {item: _owner(family, holders, homes[item]) for item, holders in shared.items()}


def _session_link(ledger: Ledger, row: int) -> tuple[set[str], str, tuple[int, str]]:
    """(keys of the sessions it came from, its own key, what orders it)."""
    session = load(ledger, "WHERE s.row = ?", (row,))[0]
    links = {f"{session.harness}:{native}" for native in (session.facts.forked_from, session.facts.parent) if native}
    return links, f"{session.harness}:{session.native}", (session.started_us or 0, session.id)


def _owner(family: dict[int, tuple[set[str], str, tuple[int, str]]], holders: set[int], home: int) -> int:
    keys = {family[row][1] for row in holders}
    roots = [row for row in holders if not (family[row][0] & keys)] or list(holders)
    return min(roots, key=lambda row: (family[row][2][0], row != home, family[row][2][1]))
