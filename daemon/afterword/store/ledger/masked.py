"""How many values were masked, by kind: counted as texts are written, so that nobody has to read them to know."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

import msgspec

from afterword.store.ledger.ledger import Ledger

_KEY: Final = "masked"
_MARKER = re.compile(r"\[redacted:([a-z0-9-]{1,24})\]")


def kinds_in(text: str) -> Counter[str]:
    """How often each kind stands in a text."""
    return Counter(_MARKER.findall(text)) if "[redacted:" in text else Counter()


def counts(ledger: Ledger) -> dict[str, int]:
    """How many values stand masked in the texts of items, by kind, most first."""
    found = ledger.meta(_KEY)
    known = msgspec.json.decode(found.encode(), type=dict[str, int]) if isinstance(found, str) else {}
    return dict(sorted(known.items(), key=lambda pair: (-pair[1], pair[0])))


def put(ledger: Ledger, found: Mapping[str, int]) -> None:
    """Set the counts anew; inside a transaction."""
    ledger.set_meta(_KEY, msgspec.json.encode({kind: n for kind, n in sorted(found.items()) if n > 0}).decode())


class Change:
    """What texts that come and go change of the counts; `save` in their transaction."""

    def __init__(self) -> None:
        self._by_kind: Counter[str] = Counter()

    def kinds(self, new: Mapping[str, int]) -> None:
        """A text was written in which so many values of each kind are masked."""
        self._by_kind.update(new)

    def text(self, new: str, old: str = "") -> None:
        """A text was written, in place of another or none."""
        if "[redacted:" in new:
            self._by_kind.update(kinds_in(new))
        if "[redacted:" in old:
            self._by_kind.subtract(kinds_in(old))

    def save(self, ledger: Ledger) -> None:
        """Add to the counts; inside a transaction."""
        if self._by_kind:
            known = Counter(counts(ledger))
            known.update(self._by_kind)
            put(ledger, known)
            self._by_kind.clear()
