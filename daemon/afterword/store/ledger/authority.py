"""Which memberships count: made on each machine from what sources say of them, and never numbered.

A session may be read from several kinds of source. What only lower kinds show of it is hidden in it: they are older or
shorter copies. And one thing may be there under two ids, where a format has no keys: at the same place of a session,
of one kind and with equal text, the lowest id stands for all. What is hidden here keeps what sources said of it.
"""

from collections.abc import Iterator

from afterword.store.ledger import tombstones
from afterword.store.ledger.ledger import Ledger, unpack

_HIDDEN, _FORGOTTEN = 2, 3


class Unsettled:
    """The sessions in which it has to be worked out again, in one transaction."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._db = ledger.db
        self._tops: dict[int, int] = {}
        self._ends: dict[int, tuple[int, int]] = {}
        """The last place that is taken in a session: behind it nothing has to be looked up."""
        self._sessions: set[int] = set()

    def placed(self, session: int, place: tuple[int, int], authority: int) -> None:
        """A membership is about to be made here; nearly always there is nothing to work out."""
        top = self._tops.get(session)
        if top is None:
            top = self._tops[session] = self._db.execute(
                "SELECT authority FROM session WHERE row = ?", (session,)
            ).fetchone()[0]
        if session not in self._sessions and (authority != top or self._taken(session, place)):
            self._sessions.add(session)

    def moved(self, session: int) -> None:
        """What sources say of a membership of this session has changed."""
        self._sessions.add(session)

    def settle(self) -> Iterator[tuple[int, int]]:
        """Work it out; (session, item) of every membership that is shown or hidden from now on."""
        for session in sorted(self._sessions):
            yield from ((session, item) for item in settle(self._ledger, session))
        self._sessions.clear()
        self._tops.clear()
        self._ends.clear()

    def _taken(self, session: int, place: tuple[int, int]) -> bool:
        end = self._ends.get(session)
        if end is None:
            end = self._db.execute(
                "SELECT pos, sub FROM membership WHERE session = ? ORDER BY pos DESC, sub DESC LIMIT 1", (session,)
            ).fetchone() or (-(2**63), 0)
        self._ends[session] = max(end, place)
        if place > end:
            return False
        found = self._db.execute(
            "SELECT 1 FROM membership WHERE session = ? AND pos = ? AND sub = ? LIMIT 1", (session, *place)
        ).fetchone()
        return found is not None


def of_item(ledger: Ledger, item: int) -> int:
    """The highest authority that shows an item anywhere."""
    found: int | None = ledger.db.execute("SELECT max(authority) FROM membership WHERE item = ?", (item,)).fetchone()[0]
    return found or 0


def settle(ledger: Ledger, session: int) -> list[int]:
    """Work out what counts in a session, and keep it; the items that are shown or hidden from now on."""
    rows = ledger.db.execute(
        "SELECT row, item, pos, sub, said, state, authority FROM membership WHERE session = ?", (session,)
    ).fetchall()
    top = max((row[6] for row in rows), default=0)
    ledger.db.execute("UPDATE session SET authority = ? WHERE row = ? AND authority <> ?", (top, session, top))
    hidden = {row for row, _, _, _, _, _, authority in rows if authority < top}
    gone = tombstones.hidden_in(ledger, session)
    places: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for row, item, pos, sub, said, _, _ in rows:
        if row not in hidden and said < _HIDDEN and item not in gone:
            places.setdefault((pos, sub), []).append((row, item, said))
    for there in places.values():
        if len(there) > 1:
            hidden |= _aliases(ledger, there)
    changed = []
    for row, item, _, _, said, state, _ in rows:
        now = _FORGOTTEN if item in gone else _HIDDEN if row in hidden else said
        if now != state:
            ledger.db.execute("UPDATE membership SET state = ? WHERE row = ?", (now, row))
            changed.append(item)
    return changed


def _aliases(ledger: Ledger, there: list[tuple[int, int, int]]) -> set[int]:
    """Of memberships (row, item, said) at one place: those for which another one stands.

    What is abandoned and what is live are two things: when a row is deleted, the next one comes to its place.
    """
    alike: dict[tuple[int, int, str], list[tuple[bytes, int]]] = {}
    for row, item, said in there:
        its_id, kind, blob, packed = ledger.db.execute(
            "SELECT id, kind, text, packed FROM item WHERE row = ?", (item,)
        ).fetchone()
        alike.setdefault((said, kind, unpack(blob, packed)), []).append((its_id, row))
    return {row for same in alike.values() for _, row in sorted(same)[1:]}
