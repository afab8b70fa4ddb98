"""Which tellings a person parted from an article: SETTING registers, so that every fold and every machine heeds them.

Ids and marks only, no text: `forget` has nothing to take out of one.
"""

import msgspec

from afterword.domain.articles import Ruling
from afterword.domain.ids import ArticleUid
from afterword.domain.registers import Rank
from afterword.redact.redactor import Redactor
from afterword.store.ledger import registers
from afterword.store.ledger.ledger import Ledger, RecordKind

_PREFIX = "parted/"


class Parting(msgspec.Struct, frozen=True, array_like=True):
    """That the telling `part` is no part of `article`, since `day`; both are uids. `holds` is False once it was taken
    back."""

    article: ArticleUid
    part: ArticleUid
    day: str
    ruling: Ruling
    holds: bool = True


def every(ledger: Ledger) -> list[Parting]:
    """The partings that hold, in the order of their keys."""
    found = [
        register.read(Parting)
        for register in registers.every(ledger, RecordKind.SETTING)
        if register.key.startswith(_PREFIX)
    ]
    return [parting for parting in found if parting.holds]


def put(ledger: Ledger, redactor: Redactor, parting: Parting) -> None:
    """Store a parting, or that it was taken back; inside a transaction."""
    value = redactor.document(msgspec.to_builtins(parting), plain=("",))
    registers.put(ledger, RecordKind.SETTING, f"{_PREFIX}{parting.article}/{parting.part}", value, Rank.PERSON)
