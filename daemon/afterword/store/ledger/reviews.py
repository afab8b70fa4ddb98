"""What a person said of a candidate of `review`: SETTING registers of ids and a word, so that nobody is asked twice."""

from typing import Final, Literal, TypeAlias

import msgspec

from afterword.domain.registers import Rank
from afterword.redact.redactor import Redactor
from afterword.store.ledger import registers
from afterword.store.ledger.ledger import Ledger, RecordKind

Verdict: TypeAlias = Literal["accept", "reject", "pin"]

_PREFIX: Final = "review/"


class Reviewed(msgspec.Struct, frozen=True, array_like=True):
    """What was said on a day; `ground` names what it was said of, and another ground is asked about again."""

    verdict: Verdict
    day: str
    ground: str


def every(ledger: Ledger) -> dict[str, Reviewed]:
    """By the candidate's key."""
    return {
        register.key.removeprefix(_PREFIX): register.read(Reviewed)
        for register in registers.below(ledger, RecordKind.SETTING, _PREFIX)
    }


def put(ledger: Ledger, redactor: Redactor, key: str, said: Reviewed) -> None:
    """Store what was said; inside a transaction."""
    value = redactor.document(msgspec.to_builtins(said), plain=("",))
    registers.put(ledger, RecordKind.SETTING, _PREFIX + key, value, Rank.PERSON)
