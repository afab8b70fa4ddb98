"""One session whole: its facts, all its items in order, its flags."""

import msgspec

from afterword.domain.errors import AfterwordError, Exit, NothingFound
from afterword.domain.items import ROLE_OF, ExitStatus, Kind, SaidBy
from afterword.redact.text import Redacted
from afterword.store.ledger import segments, sessions
from afterword.store.ledger.items import State
from afterword.store.ledger.ledger import Ledger, unpack


class Ambiguous(AfterwordError):
    """Several sessions answer to a prefix."""

    kind = "ambiguous"
    code = Exit.USAGE

    def __init__(self, prefix: str, found: list[sessions.Session]) -> None:
        self.found = found
        names = ", ".join(f"{session.shown_native} ({session.harness})" for session in found[:8])
        super().__init__(f"{len(found)} sessions begin with {prefix!r}: {names}", "give more of the id")


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
    exact = sessions.load(
        ledger, "WHERE s.id = ?1 OR s.native = ?1 OR s.native LIKE '%/' || ?2 ESCAPE '\\'", _both(prefix)
    )
    if len(exact) == 1:
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
            "WHERE s.id IN (SELECT json_extract(value, '$.session') FROM register WHERE kind = 8 AND key LIKE ?2 || '%')",
            _both(prefix),
        )
    if not begin:
        raise NothingFound(f"no session begins with {prefix!r}", "`afterword search` finds sessions by what was said")
    if len(begin) > 1:
        raise Ambiguous(prefix, begin)
    return begin[0]


def _both(prefix: str) -> tuple[str, str]:
    return prefix, prefix.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def whole(ledger: Ledger, session: sessions.Session) -> Whole:
    """Everything in a session, hidden copies left out."""
    inherited = sessions.inherited_items(ledger, session.row)
    rows = ledger.db.execute(
        "SELECT i.row, i.id, i.kind, i.said_by, i.text, i.packed, i.time_us, i.exit_status, i.path, m.state"
        " FROM membership m JOIN item i ON i.row = m.item"
        " WHERE m.session = ? AND m.state < 2 ORDER BY m.pos, m.sub, i.id",
        (session.row,),
    )
    items = [
        Shown(
            id=its_id.hex(),
            kind=Kind(kind),
            role=ROLE_OF[Kind(kind)],
            said_by=SaidBy(said_by),
            text=unpack(blob, packed),
            time_us=time_us,
            abandoned=state == State.ABANDONED,
            inherited=row in inherited,
            exit_status=exit_status,
            path=path,
        )
        for row, its_id, kind, said_by, blob, packed, time_us, exit_status, path, state in rows
    ]
    return Whole(
        session=session,
        origin=ledger.origins()[session.origin][1],
        compactions=sum(i.kind is Kind.SUMMARY and not i.abandoned and not i.inherited for i in items),
        items=items,
        sections=[
            (r.key, record.day) for r, record in segments.sections(ledger, session.id) if not record.withdrawn_by
        ],
    )
