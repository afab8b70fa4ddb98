"""The card in a vault: what makes a folder our vault, where ours lies in it, and which machine writes it."""

from pathlib import Path

import msgspec

from afterword.domain.day_names import USUAL
from afterword.store.ledger.ledger import Ledger


class VaultCard(msgspec.Struct, frozen=True):
    """`.afterword/vault.json`: what makes a folder our vault.

    `zone` is (first day, IANA name) in order, `writer` the one machine that writes notes. `prefix`, `daily` and
    `daily_format` say where ours lies, for a machine that joins.
    """

    version: int
    id: str
    zone: list[tuple[str, str]]
    writer: str
    prefix: str = ""
    daily: str = "daily"
    daily_format: str = USUAL
    config: str = ".obsidian"
    """The folder of Obsidian's settings in the vault."""


CARD = ".afterword/vault.json"


def read_card(vault: Path) -> VaultCard | None:
    """The vault's card; None when the folder is no vault of ours, is not there now, or its card cannot be read.

    Capture must go on whatever a vault is like; `card_problem` says what is wrong with it.
    """
    try:
        return msgspec.json.decode((vault / CARD).read_bytes(), type=VaultCard)
    except (OSError, msgspec.MsgspecError):
        return None


def may_write(vault: Path, ledger: Ledger) -> bool:
    """Whether the vault is there and this machine is the one that writes into it."""
    card = read_card(vault)
    return card is not None and card.writer in ("", ledger.origin[1])


def card_problem(vault: Path) -> tuple[str, str]:
    """(what keeps this folder from being written, what to do); empty when nothing does."""
    path = vault / CARD
    try:
        msgspec.json.decode(path.read_bytes(), type=VaultCard)
    except FileNotFoundError:
        return (
            f"{vault} is not there, or is no vault",
            "mount it; if it was moved, run `afterword init` with its new place",
        )
    except NotADirectoryError:
        return f"{vault} is not a folder", "move away what is there, and put the vault back"
    except PermissionError:
        return f"{path} may not be read", "allow this program to read and write the vault"
    except (OSError, msgspec.MsgspecError) as err:
        return f"{path} cannot be read: {err}", "correct it or put it back from a backup"
    return "", ""
