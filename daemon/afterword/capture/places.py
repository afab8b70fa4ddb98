"""Items whose keys are places: each goes to the row its text belongs to, and a row that lost its place is abandoned."""

import msgspec

from afterword.domain.ids import ItemId
from afterword.redact.text import Redacted
from afterword.store.ledger.body import Body
from afterword.store.ledger.generations import Generations, Ids
from afterword.store.ledger.items import NewItem, State, Writer


class _Short(msgspec.Struct, frozen=True):
    """A text that so far is only the beginning of the row it was put into."""

    session: int
    ids: Ids
    new: NewItem
    kept: NewItem
    place: tuple[int, int]


class Places:
    """The positional items of one reading, inside one transaction."""

    def __init__(self, generations: Generations, writer: Writer) -> None:
        self._generations = generations
        self._writer = writer
        self._short: dict[tuple[int, ItemId], _Short] = {}

    def put(self, new: NewItem, session: int, ids: Ids, place: tuple[int, int], *, whole: bool) -> tuple[int, bool]:
        """Store an item under its place; its `id` is ignored.

        `whole`: the source is being read again from its start, so a text may be an early edition of what is known.

        Returns:
            Its row, and whether another text stood there until now.
        """
        at = (session, ids(0))
        waiting = self._short.pop(at, None)
        if waiting and new.text.startswith(waiting.new.text):
            kept = waiting.kept.text
            if len(new.text) < len(kept) and kept.startswith(new.text):
                more = msgspec.structs.replace(new, id=waiting.kept.id, body=Body(kept))
                self._short[at] = msgspec.structs.replace(waiting, new=new, kept=more)
                return self._writer.item(more, session), False
            if not new.text.startswith(kept):
                self._writer.unshow(session, waiting.kept.id)
        elif waiting:
            self._part(waiting)
        chosen = self._generations.choose(session, ids, new.text, lesser=new.lesser)
        for membership in chosen.superseded:
            self._writer.supersede(membership)
        kept_item = msgspec.structs.replace(new, id=chosen.id, body=Body(chosen.text))
        row = self._writer.item(kept_item, session)
        self._writer.member(session, row, place, None, State.LIVE, message=True)
        if whole and chosen.short:
            self._short[at] = _Short(session, ids, new, kept_item, place)
        return row, bool(chosen.superseded)

    def current(self, session: int, ids: Ids) -> ItemId:
        """The row that stands at a place now."""
        return self._generations.current(session, ids)

    def holds(self, session: int, ids: Ids, text: Redacted) -> bool:
        """Whether a row of this place has this very text."""
        return self._generations.holds(session, ids, text)

    def settle(self) -> None:
        """The reading is over: what is still shorter than its row is a text of its own."""
        for waiting in self._short.values():
            self._part(waiting)
        self._short.clear()

    def _part(self, waiting: _Short) -> None:
        state = self._writer.unshow(waiting.session, waiting.kept.id)
        chosen = self._generations.choose(waiting.session, waiting.ids, waiting.new.text, strict=True)
        row = self._writer.item(msgspec.structs.replace(waiting.new, id=chosen.id), waiting.session)
        self._writer.member(waiting.session, row, waiting.place, None, state, message=True)
