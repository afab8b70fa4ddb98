"""The folders of batches that were exported here: after a forgetting they are written anew, without it."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from afterword.app.sync_log import LedgerLog
from afterword.redact.redactor import Redactor
from afterword.store.ledger.ledger import Ledger
from afterword_sync.folder import export_folder

if TYPE_CHECKING:
    from afterword.app.program import Program

_log = logging.getLogger(__name__)
_KEY: Final = "exported"


def every(ledger: Ledger) -> list[str]:
    """Where batches were written to (redacted paths)."""
    found = ledger.meta(_KEY)
    return msgspec.json.decode(found.encode(), type=list[str]) if isinstance(found, str) else []


def remember(ledger: Ledger, redactor: Redactor, folder: Path) -> None:
    """Remember a folder; inside a transaction."""
    ledger.set_meta(_KEY, redactor.document(sorted({*every(ledger), str(folder)})))


def renew(program: "Program") -> list[str]:
    """Bring every folder that is there up to the ledger; those that could not be written."""
    left = []
    for name in every(program.ledger):
        folder = Path(name)
        if not folder.is_dir():
            continue
        try:
            export_folder(folder, LedgerLog(program.ledger, program.redactor, program.config.settings.peers))
        except OSError as err:
            _log.warning("a folder of batches could not be written anew: %s", err)
            left.append(name)
    return left
