"""Which one machine compiles and distils, where several share what they know: a SETTING register, `compile.on`."""

from typing import Final

from afterword.store.ledger import registers
from afterword.store.ledger.ledger import Ledger, RecordKind

KEY: Final = "compile.on"
"""Its value is the id of an origin."""


def runs_on(ledger: Ledger) -> str:
    """The id of the machine that compiles; empty while nobody said so, and each does it for itself."""
    found = registers.get(ledger, RecordKind.SETTING, KEY)
    return found.read(str) if found else ""


def here(ledger: Ledger) -> bool:
    """Whether it is this machine."""
    return runs_on(ledger) in ("", ledger.origin[0])
