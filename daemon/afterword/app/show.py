"""One session whole: its facts, all its items in order, its flags."""

import msgspec

from afterword.domain.errors import AfterwordError, Exit, NothingFound
from afterword.domain.items import ROLE_OF, ExitStatus, Kind, SaidBy
from afterword.redact.text import Redacted
from afterword.store.ledger import segments, sessions, tombstones, views
from afterword.store.ledger.items import State
from afterword.store.ledger.ledger import Ledger


class Ambiguous(AfterwordError):
    """Several sessions answer to a prefix."""

    kind = "ambiguous"
    code = Exit.USAGE

    def __init__(self, prefix: str, found: list[sessions.Session]) -> None:
        self.found = found

        def named(session: sessions.Session) -> str:
            # Under the id that begins so: ours, or the agent's own.
            return session.shown_native if session.shown_native.startswith(prefix) else session.id

        names = ", ".join(f"{named(session)} ({session.harness})" for session in found[:8])
        more = f" and {len(found) - 8} more" if len(found) > 8 else ""
        super().__init__(f"{len(found)} sessions answer to {prefix!r}: {names}{more}", "give more of the id")


class Shown(msgspec.Struct, frozen=True):
    """An item as `show` gives it. `abandoned` and `inherited` are always there."""

    id: str
    kind: Kind
    role: str
    said_by: SaidBy
    text: Redacted
    time_us: int
    abandoned: bool
    inherited: bool
    exit_status: ExitStatus
    path: str | None


class Whole(msgspec.Struct, frozen=True):
    """A session with everything in it. `sections` are the keys and days it was written up under."""

    session: sessions.Session
    continued_from: str
    """The session whose history it repeats, where no line names it as a fork."""
    origin: str
    compactions: int
    items: list[Shown]
    sections: list[tuple[str, str]]


def find(ledger: Ledger, prefix: str) -> sessions.Session:
    """The session with this id: ours or the harness's, whole or a unique prefix.

    Raises:
        Ambiguous: several begin with it.
        NothingFound: none does.
    """
    prefix = prefix.removeprefix("^")  # as a block's id stands behind a search result
    exact = sessions.load(
        ledger, "WHERE s.id = ?1 OR s.native = ?1 OR s.native LIKE '%/' || ?2 ESCAPE '\\'", _both(prefix)
    )
    if len(exact) == 1:
        if tombstones.session_forgotten(ledger, exact[0].id):
            raise NothingFound("that session was forgotten")
        return exact[0]
    begin = exact or sessions.load(
        ledger,
        "WHERE s.id LIKE ?2 || '%' ESCAPE '\\' OR s.native LIKE ?2 || '%' ESCAPE '\\' AND instr(s.native, '/') = 0"
        " OR s.native LIKE '%/' || ?2 || '%' ESCAPE '\\'",
        _both(prefix),
    )
    if not begin and prefix.startswith("s-"):
        begin = sessions.load(
            ledger,
            "WHERE s.id IN (SELECT json_extract(value, '$.session') FROM register"
            " WHERE kind = 8 AND (key LIKE ?2 || '%' OR ?1 LIKE key || '-r%'))",
            _both(prefix),
        )
    begin = [session for session in begin if not tombstones.session_forgotten(ledger, session.id)]
    if not begin:
        raise NothingFound(f"no session begins with {prefix!r}", "`afterword search` finds sessions by what was said")
    if len(begin) > 1:
        raise Ambiguous(prefix, begin)
    return begin[0]


def _both(prefix: str) -> tuple[str, str]:
    return prefix, prefix.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def whole(ledger: Ledger, session: sessions.Session) -> Whole:
    """Everything in a session, hidden copies left out."""
    owners = sessions.owners(ledger, session.row)
    inherited = {item for item, owner in owners.items() if owner != session.row}
    items = [
        Shown(
            id=item.id.hex(),
            kind=item.kind,
            role=ROLE_OF[item.kind],
            said_by=item.said_by,
            text=item.text,
            time_us=item.time_us,
            abandoned=item.state is State.ABANDONED,
            inherited=item.row in inherited,
            exit_status=item.exit_status,
            path=item.path,
        )
        for item in views.in_order(ledger, session.row)
        if item.state < State.HIDDEN
    ]
    return Whole(
        session=session,
        continued_from=_continued(ledger, session, [owners[item] for item in inherited]),
        origin=ledger.origins()[session.origin][1],
        compactions=sum(i.kind is Kind.SUMMARY and not i.abandoned and not i.inherited for i in items),
        items=items,
        sections=[
            (r.key, record.day) for r, record in segments.sections(ledger, session.id) if not record.withdrawn_by
        ],
    )


def _continued(ledger: Ledger, session: sessions.Session, owners: list[int]) -> str:
    if session.facts.continued_from or session.facts.forked_from or session.facts.parent or not owners:
        return session.facts.continued_from
    most = max(sorted(set(owners)), key=owners.count)
    return sessions.load(ledger, "WHERE s.row = ?", (most,))[0].shown_native
