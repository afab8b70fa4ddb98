"""Positional keys: which row a place names, by the text that stands there.

A positional key counts (the third prompt, step 1419): it names a row only while that row's text is equal to, or
begins, the text that now stands at the place. Otherwise the row is superseded and the key gets its next generation.
Compared are redacted texts, the only ones there are.

A file read again from its start shows the early, short editions of a growing text first. Until the reading ends, or
goes on with something else, such a text is taken for the beginning of the row it begins.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from afterword.domain.ids import ItemId
from afterword.redact.text import Redacted
from afterword.store.ledger import tombstones
from afterword.store.ledger.ledger import Ledger, unpack

Ids: TypeAlias = Callable[[int], ItemId]
"""Generation, from 0 → the id of the row it names."""

_LIVE = 0


class Known(NamedTuple):
    """A row that one generation of a key names. `shown` is the reading of this source that last showed it."""

    id: ItemId
    row: int
    text: Redacted
    membership: int | None
    said: int | None
    shown: int | None
    erased: tuple[bytes, int] | None = None
    """Keyed hash and length of a text that was forgotten."""

    @property
    def chars(self) -> int:
        """How long the text is, or was."""
        return self.erased[1] if self.erased else len(self.text)


class Chosen(NamedTuple):
    """What a key names now. `text` is what the row must hold; `short` says that less of it stands there so far."""

    id: ItemId
    text: Redacted
    short: bool
    superseded: list[int]
    """Memberships that this source showed at this place until now."""


class Generations:
    """Looks positional keys up for one reading of one source, inside one transaction."""

    def __init__(self, ledger: Ledger, source: int, generation: int) -> None:
        self._ledger = ledger
        self._db = ledger.db
        self._source = source
        self._generation = generation

    def choose(self, session: int, ids: Ids, text: Redacted, *, strict: bool = False, lesser: bool = False) -> Chosen:
        """The row that `text` belongs to: one with this very text, else the one that grows, else a new one.

        `strict`: the text is known to be all there is, so it is nobody's beginning. `lesser`: it is a shortened
        edition, which means what another source shows at the place.
        """
        known = self.known(session, ids)
        current = [entry for entry in known if entry.shown == self._generation and entry.said == _LIVE]
        found = self._match(known, current, text, strict=strict)
        if found is None and lesser:
            found = next((entry for entry in reversed(known) if self._stands_elsewhere(entry)), None)
            if found:
                text = found.text
        old = [entry.membership for entry in current if entry is not found and entry.membership is not None]
        if found is None:
            return Chosen(ids(len(known)), text, False, old)
        shorter = len(text) < found.chars
        short = shorter and found.shown is not None and not self.shown_elsewhere(found.membership)
        return Chosen(found.id, found.text if shorter and not found.erased else text, short, old)

    def holds(self, session: int, ids: Ids, text: Redacted) -> bool:
        """Whether a row of this place has, or had, this very text."""
        return any(len(text) == entry.chars and self._begins(entry, text) for entry in self.known(session, ids))

    def current(self, session: int, ids: Ids) -> ItemId:
        """The row this source shows at the place now; the first generation's when it shows none."""
        here = [entry for entry in self.known(session, ids) if entry.shown == self._generation]
        live = [entry for entry in here if entry.said == _LIVE]
        return (live or here)[-1].id if here else ids(0)

    def known(self, session: int, ids: Ids) -> list[Known]:
        """Every row the key ever named, by generation."""
        found: list[Known] = []
        while True:
            its_id = ids(len(found))
            row = self._db.execute(
                "SELECT i.row, i.text, i.packed, m.row, m.said, s.generation, e.print, e.chars FROM item i"
                " LEFT JOIN erased e ON e.item = i.row"
                " LEFT JOIN membership m ON m.item = i.row AND m.session = ?"
                " LEFT JOIN shown s ON s.membership = m.row AND s.source = ? WHERE i.id = ?",
                (session, self._source, its_id),
            ).fetchone()
            if row is None:
                return found
            erased = None if row[6] is None else (row[6], row[7])
            found.append(Known(its_id, row[0], unpack(row[1], row[2]), row[3], row[4], row[5], erased))

    def shown_elsewhere(self, membership: int | None) -> bool:
        """Whether another source shows it; a row that is not in the session at all is somebody else's."""
        if membership is None:
            return True
        found = self._db.execute(
            "SELECT 1 FROM shown WHERE membership = ? AND source <> ? LIMIT 1", (membership, self._source)
        ).fetchone()
        return found is not None

    def _stands_elsewhere(self, entry: Known) -> bool:
        return entry.said == _LIVE and self.shown_elsewhere(entry.membership)

    def _match(self, known: list[Known], current: list[Known], text: Redacted, *, strict: bool) -> Known | None:
        for entry in known:
            if entry.chars == len(text) and self._begins(entry, text):
                return entry
        for entry in current:
            if self._begins(entry, text):
                return entry
        for entry in known:
            if entry.shown == self._generation and entry not in current:
                continue  # superseded or rewound in this very reading: it does not go on
            older = entry.shown is not None and entry.shown < self._generation
            elsewhere = self.shown_elsewhere(entry.membership)
            if (older or elsewhere) and self._begins(entry, text):
                return entry
            if entry.erased:
                # What it began with is not known any more: until more of it is there, it may be this one.
                if (older or elsewhere) and not strict and len(text) < entry.chars:
                    return entry
            elif ((older and not strict) or elsewhere) and entry.text.startswith(text):
                return entry
        return None

    def _begins(self, entry: Known, text: Redacted) -> bool:
        """Whether `text` is what the row holds, or held before that was forgotten, or goes on from it."""
        if entry.erased is None:
            return text.startswith(entry.text)
        print_, chars = entry.erased
        return len(text) >= chars and tombstones.print_of(self._ledger, text[:chars]) == print_
