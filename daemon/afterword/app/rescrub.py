"""Old texts under newer redaction rules, everywhere: the ledger first, then what was made from it.

Runs before anything is served. Killed anywhere it goes on where it was, because the ledger names the older rules until
all of it is done; each part after the rows may be done twice. A vault that is away is seen to when it is back.
"""

import logging
from typing import TYPE_CHECKING

from afterword.capture.decoding import SAID
from afterword.store import faults
from afterword.store.ledger import told
from afterword.store.ledger.rescrub import Rescrub, owed
from afterword.store.masking import mask_vault
from afterword.store.vault_card import may_write

if TYPE_CHECKING:
    from afterword.app.passes import Tell
    from afterword.app.program import Program

_log = logging.getLogger(__name__)
_VAULT = "rescrub_vault"


def due(program: "Program") -> bool:
    """Whether there are texts that went through older rules, or a vault with them that is there again."""
    return owed(program.ledger, program.redactor) or (_vault_owed(program) and _vault_there(program))


def run(program: "Program", tell: "Tell") -> int:
    """Put every text that was ever written through the rules of now; how many rows of the ledger changed."""
    changed = 0
    with program.ledger.erasing():
        if owed(program.ledger, program.redactor):
            changed = _everything(program, tell)
        if _vault_owed(program) and _vault_there(program):
            _vault(program)
    return changed


def _everything(program: "Program", tell: "Tell") -> int:
    work = Rescrub(program.ledger, program.redactor, SAID)
    _log.info("texts are put through newer redaction rules", extra={"rules": work.at.to})
    if program.notes:
        # An append that a kill left is finished by what it was planned as.
        program.notes.recover()
    changed = work.rows(lambda done, all_: tell("Redacting", "characters", done, all_, "older texts under newer rules"))
    faults.hit("rescrub.rows")
    if changed:
        program.text.forget_replaced()
    faults.hit("rescrub.text")
    if changed and program.vault:
        with program.ledger.transaction():
            program.ledger.set_meta(_VAULT, 1)
            told.drop(program.ledger)
        if _vault_there(program):
            _vault(program)
    faults.hit("rescrub.vault")
    if changed:
        program.index.begin_again()
    faults.hit("rescrub.index")
    work.finish()
    _log.info("texts went through newer redaction rules", extra={"changed": changed})
    return changed


def _vault(program: "Program") -> None:
    """Mask our own lines in place, bring the articles up to date, and only then forget what their files held."""
    assert program.vault is not None
    knowledge = program.config.settings.vault.knowledge
    notes = mask_vault(program.vault, program.config.days, knowledge, program.redactor)
    if notes:
        _log.info("lines of ours in the vault were masked", extra={"notes": len(notes)})
    program.compiling.render()
    program.compiling.review_page()
    program.lessons.masked()
    Rescrub(program.ledger, program.redactor, SAID).files()
    with program.ledger.transaction():
        program.ledger.set_meta(_VAULT, 0)


def _vault_owed(program: "Program") -> bool:
    return program.ledger.meta(_VAULT) == 1


def _vault_there(program: "Program") -> bool:
    return program.vault is not None and may_write(program.vault, program.ledger)
