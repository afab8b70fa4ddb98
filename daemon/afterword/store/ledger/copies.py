"""Finds what a forked session copied: the items of the session it came from, in order, by kind and text.

A fork copies lines without saying which; it may leave out what was undone, so nothing counts the same in both. The
copy is over at the first prompt that the other session does not have behind the last one matched.
"""

from afterword.domain.ids import ItemId
from afterword.domain.items import Kind
from afterword.redact.text import Redacted
from afterword.store.ledger import tombstones
from afterword.store.ledger.ledger import Ledger, unpack

_START = [-(2**63), 0]


class Copies:
    """Matches forks against their origins, inside one transaction.

    `reached` is kept with the source: session → place of the last prompt matched, [] when the copy is over;
    session and kind → place of the last item matched since.
    """

    def __init__(self, ledger: Ledger, reached: dict[str, list[int]]) -> None:
        self._ledger = ledger
        self._db = ledger.db
        self._reached = reached

    def find(self, session: int, origin: int, kind: Kind, text: Redacted) -> ItemId | None:
        """The item of `origin` that comes next in the copy with this kind and text."""
        prompt = self._reached.get(f"{session}", _START)
        if not prompt or session == origin:
            return None
        mine = f"{session} {kind}"
        after = max(prompt, self._reached.get(mine, prompt))
        rows = self._db.execute(
            "SELECT i.id, i.text, i.packed, m.pos, m.sub, e.print FROM membership m JOIN item i ON i.row = m.item"
            " LEFT JOIN erased e ON e.item = i.row"
            " WHERE m.session = ? AND m.pos >= ? AND (m.pos, m.sub) > (?, ?) AND i.kind = ?"
            " AND coalesce(e.chars, i.chars) = ? ORDER BY m.pos, m.sub",
            (origin, after[0], *after, kind, len(text)),
        )
        for its_id, blob, packed, pos, sub, print_ in rows:
            same = unpack(blob, packed) == text if print_ is None else print_ == tombstones.print_of(self._ledger, text)
            if same:
                self._reached[f"{session}" if kind is Kind.PROMPT else mine] = [pos, sub]
                return ItemId(its_id)
        if kind is Kind.PROMPT:
            self._reached[f"{session}"] = []
        return None
