"""What was retracted, as statements: so that a record of the past in which one stands says that it does not hold."""

from collections.abc import Iterable
from typing import Final

import msgspec

from afterword.compile.stating import states
from afterword.domain.ids import SegmentKey
from afterword.domain.lessons import FactStatus
from afterword.store.ledger import articles, lessons, retractions, segments
from afterword.store.ledger.ledger import Ledger

_OUT: Final[FactStatus] = "retracted"


class Statement(msgspec.Struct, frozen=True):
    """What does not hold any more, since when, why, and what does."""

    text: str
    day: str
    reason: str
    instead: str

    @property
    def words(self) -> str:
        """When and why in a few words."""
        said = f"retracted on {self.day}" if self.day else "retracted"
        said += f": {self.reason}" if self.reason else ""
        return f"{said}; in its place: {self.instead}" if self.instead else said


class Retractions:
    """All statements that were retracted and that nothing live states on the same ground."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._by_place: dict[tuple[str, str], Statement] = {}
        self._statements: dict[str, Statement] = {}
        self._items: dict[str, Statement] | None = None
        if retractions.some(ledger):
            self._load()

    def __bool__(self) -> bool:
        return bool(self._statements)

    def _load(self) -> None:
        current = articles.current(self._ledger)
        titles = {str(each.uid): each.article.title for each in current}
        live = {claim.place for each in current if each.live for claim in each.article.points if not claim.until}
        for each in current:
            for struck in each.edits.struck:
                instead = titles.get(struck.instead, struck.instead)
                said = Statement(struck.claim.text, struck.day, struck.reason, instead)
                self._by_place[struck.claim.place] = said
                self._statements.setdefault(said.text, said)
            if each.edits.status != "retracted":
                continue
            article = each.article
            instead = titles.get(article.replaced_by, article.replaced_by)
            for claim in each.edits.claims or article.points:
                if claim.place not in live:
                    said = Statement(claim.text, article.retracted_on, article.retract_reason, instead)
                    self._by_place[claim.place] = said
                    self._statements.setdefault(claim.text, said)
        for fact in lessons.facts(self._ledger):
            if fact.fact.status == _OUT:
                edits = fact.edits
                said = Statement(fact.fact.text, edits.retracted_on, edits.retract_reason, edits.replaced_by)
                self._statements.setdefault(fact.fact.text, said)

    def of_point(self, section: str, quote: str, text: str) -> Statement | None:
        """The retracted statement that a point of a section is, or says."""
        return self._by_place.get((section, quote)) or self.of_text(text)

    def of_section(self, section: str) -> list[Statement]:
        """The retracted statements that stand on a section."""
        found = [said for (key, _), said in self._by_place.items() if key == section]
        return list(dict.fromkeys(found))

    def of_item(self, item: str) -> Statement | None:
        """The retracted statement whose evidence an item (its id as hex) is."""
        if self._items is None:
            self._items = dict(self._evidence())
        return self._items.get(item)

    def _evidence(self) -> Iterable[tuple[str, Statement]]:
        for (key, quote), said in self._by_place.items():
            found = segments.section(self._ledger, SegmentKey(key))
            if found is None:
                continue
            digest = found[1].digest
            parts = (digest.exchanges, digest.decisions, digest.lessons, digest.actions)
            for point in (point for part in parts for point in part if point.quote == quote):
                for item in point.items:
                    yield item, said

    def of_text(self, text: str) -> Statement | None:
        """The retracted statement that a text says."""
        return next((said for claim, said in self._statements.items() if states(claim, text)), None)
