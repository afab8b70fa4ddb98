"""What narrows a search, as a person says it and as SQL."""

import msgspec

from afterword.domain.items import KIND_BY_WORD, PROSE_KINDS, ROLE_OF, Kind
from afterword.store.ledger import sessions


class Filters(msgspec.Struct, frozen=True):
    """What narrows a search. Times are UTC microseconds; `session` is a row, `agent` the name of a sub-agent."""

    project: str | None = None
    harness: str | None = None
    since_us: int | None = None
    until_us: int | None = None
    kind: str | None = None
    role: str | None = None
    machine: str | None = None
    session: int | None = None
    agent: str | None = None
    here: str | None = None
    """The project the asker works in; narrows nothing."""


class Where(msgspec.Struct, frozen=True):
    """What narrows a search: conditions on `membership m` and on `item i` with their values, and the tables of the
    full text that may hold such items."""

    of_membership: str
    membership_values: tuple[object, ...]
    of_item: str
    item_values: tuple[object, ...]
    tables: frozenset[str]

    @property
    def values(self) -> tuple[object, ...]:
        return (*self.membership_values, *self.item_values)


def conditions(filters: Filters) -> Where | None:
    """What narrows a search as SQL; None when nothing does."""
    of_item, of_membership, of_session = "", "", ""
    item_values: list[object] = []
    membership_values: list[object] = []
    session_values: list[object] = []
    if filters.session is not None:
        of_membership += " AND m.session = ?"
        membership_values.append(filters.session)
    if filters.harness:
        of_session += " AND s.harness = ?"
        session_values.append(filters.harness)
    if filters.agent:
        of_session += " AND json_extract(s.facts, '$.agent') = ?"
        session_values.append(filters.agent)
    if filters.project:
        of_session += f" AND {sessions.PROJECT_PATH} LIKE ? ESCAPE '\\'"
        session_values.append("%/" + _like(filters.project))
    if of_session:
        # Not correlated: SQLite makes the list of sessions once a question.
        of_membership += f" AND m.session IN (SELECT s.row FROM session s WHERE true{of_session})"
        membership_values += session_values
    if filters.since_us is not None:
        of_item += " AND i.time_us >= ?"
        item_values.append(filters.since_us)
    if filters.until_us is not None:
        of_item += " AND i.time_us < ?"
        item_values.append(filters.until_us)
    if filters.machine:
        of_item += " AND i.origin IN (SELECT row FROM origin WHERE name = ?)"
        item_values.append(filters.machine)
    kinds = set(Kind)
    if filters.kind:
        kinds &= {KIND_BY_WORD[filters.kind]} if filters.kind in KIND_BY_WORD else kinds
    if filters.role:
        kinds &= {kind for kind, role in ROLE_OF.items() if role == filters.role}
    if len(kinds) < len(Kind):
        of_item += f" AND i.kind IN ({','.join('?' * len(kinds))})"
        item_values += sorted(kinds)
    if not of_item and not of_membership:
        return None
    tables = frozenset("prose" if kind in PROSE_KINDS else "tool" for kind in kinds)
    return Where(of_membership, tuple(membership_values), of_item, tuple(item_values), tables)


def _like(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
