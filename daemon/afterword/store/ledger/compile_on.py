"""Which one machine compiles and distils, where several share what they know: a SETTING register, `compile.on`."""

from typing import Final

from afterword.domain.errors import UserError
from afterword.domain.registers import Rank
from afterword.redact.redactor import Redactor
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


def elsewhere(ledger: Ledger) -> str:
    """The name of the machine that compiles, when it is another one."""
    its_id = runs_on(ledger)
    return "" if here(ledger) else dict(ledger.origins().values()).get(its_id, its_id[:8])


def must_be_here(ledger: Ledger) -> None:
    """Raise UserError where another machine compiles."""
    if there := elsewhere(ledger):
        raise UserError(
            f"days are compiled on {there}, not here",
            f"run it on {there}; `afterword compile --take-over` makes this the machine that does",
        )


def take_over(ledger: Ledger, redactor: Redactor) -> bool:
    """Have this machine compile from now on, if another one does; inside a transaction."""
    if here(ledger):
        return False
    registers.put(ledger, RecordKind.SETTING, KEY, redactor.document(ledger.origin[0], plain=("",)), Rank.PERSON)
    return True


def claim(ledger: Ledger, redactor: Redactor) -> None:
    """Before an exchange: while nobody said which one compiles, this machine says that it does, in a revision as high
    as it has compiled days. Where two say so, the higher one stands on both, without a word more; what a person says
    stands above either."""
    if runs_on(ledger):
        return
    its_id = ledger.origin[0]
    built = ledger.db.execute("SELECT count(*) FROM log WHERE origin = 1 AND kind = ?", (RecordKind.BUILD,)).fetchone()[
        0
    ]
    with ledger.transaction():
        registers.put(ledger, RecordKind.SETTING, KEY, redactor.document(its_id, plain=("",)), rev=built)
