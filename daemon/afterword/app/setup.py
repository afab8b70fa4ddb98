"""`init`: a vault from the template, and the config that points to it. Nothing of a person's is touched."""

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from afterword.app import config
from afterword.assets import asset
from afterword.domain.errors import UserError
from afterword.redact.redactor import Redactor
from afterword.store import files
from afterword.store.ledger import registers
from afterword.store.ledger.ledger import Ledger, RecordKind
from afterword.store.notes import CARD, VaultCard, read_card

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDERS = (
    "daily",
    "knowledge/concepts",
    "knowledge/connections",
    "lessons/journal",
    "lessons/topics",
    "lessons/agents",
)
_PENDING = ".afterword/unfinished"
# A folder that holds nothing but these is empty; our own is there when `init` was killed at its first step.
_NOTHING = {".afterword", ".DS_Store", ".localized", "desktop.ini"}


class Plan(msgspec.Struct, frozen=True):
    """What `init` would do. `exists` means that the folder is a vault of ours already: nothing is to be done."""

    vault: Path
    zone: str
    files: list[str]
    exists: bool


def plan(vault: Path, zone: str | None = None) -> Plan:
    """Decide what making a vault at `vault` takes.

    Raises:
        UserError: it cannot be a vault: not a folder, inside another vault, a system folder, or with content.
    """
    vault = Path(os.path.abspath(vault.expanduser()))  # noqa: PTH100  # symlinks stay: the name is the person's
    card = read_card(vault)
    if card is not None:
        return Plan(vault, card.zone[-1][1] if card.zone else "UTC", [], exists=True)
    if vault.exists() and not vault.is_dir():
        raise UserError(f"{vault} is not a folder", "name a new or empty folder")
    if vault == Path(vault.anchor) or vault == Path.home():
        raise UserError(f"{vault} cannot be a vault", "name a folder of its own, such as ~/Afterword")
    for parent in vault.parents:
        if (parent / ".obsidian").is_dir():
            raise UserError(f"{vault} lies inside the vault {parent}", "name a folder outside of it")
    if (vault / _PENDING).exists():
        return Plan(vault, zone or system_zone(), template_files(), exists=False)
    if vault.is_dir() and (inside := [entry.name for entry in os.scandir(vault) if entry.name not in _NOTHING]):
        raise UserError(
            f"{vault} is not empty (it holds {inside[0]!r})",
            "name a new or empty folder; existing vaults are not merged into yet",
        )
    return Plan(vault, zone or system_zone(), template_files(), exists=False)


def template_files() -> list[str]:
    """The files of the template, relative to it."""
    root = asset("vault_template")
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def system_zone() -> str:
    """The IANA name of this system's zone."""
    from tzlocal import get_localzone_name  # noqa: PLC0415  # only `init` and `doctor` ask

    try:
        return str(get_localzone_name())
    except Exception:  # noqa: BLE001  # whatever a strange system says, days can be counted
        return "UTC"


def known_zone(name: str) -> bool:
    """Whether this system or the package's own table has a zone of this name."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def apply(what: Plan, where: config.Places, writer: str, current: Path | None = None) -> None:
    """Make the vault and point the config at it, unless `current` is it already.

    Interrupted anywhere, running it again completes it.
    """
    if not what.exists:
        # The mark of an unfinished `init`: with it, what lies there is ours and the next run goes on.
        (what.vault / _PENDING).parent.mkdir(parents=True, exist_ok=True)
        files.replace(what.vault / _PENDING, b"", mode=0o644)
        for folder in FOLDERS:
            (what.vault / folder).mkdir(parents=True, exist_ok=True)
        root = asset("vault_template")
        for name in what.files:
            target = what.vault / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                files.replace(target, (root / name).read_bytes(), mode=0o644)
        # With its card the vault is whole.
        card = VaultCard(version=1, id=secrets.token_hex(16), zone=[("", what.zone)], writer=writer)
        files.replace(what.vault / CARD, msgspec.json.format(msgspec.json.encode(card), indent=2) + b"\n", mode=0o644)
        (what.vault / _PENDING).unlink(missing_ok=True)
    if current != what.vault:
        config.write_vault(where.config_file, what.vault)


def settle_zone(ledger: Ledger, redactor: Redactor, card: VaultCard | None) -> list[tuple[str, str]]:
    """The vault's zones from the ledger, taken over from the card (or the system) where it has none yet."""
    found = registers.get(ledger, RecordKind.SETTING, "vault.zone")
    if found is None:
        zones = [change for change in card.zone if known_zone(change[1])] if card else []
        zones = zones or [("", system_zone())]
        with ledger.transaction():
            found = registers.put(
                ledger, RecordKind.SETTING, "vault.zone", redactor.document(_plain(zones), plain=("",)), rev=0
            )
    return found.read(list[tuple[str, str]])


def _plain(zones: "Iterable[tuple[str, str]]") -> list[list[str]]:
    return [list(change) for change in zones]


def default_vault(home: Path) -> Path:
    return home / "Afterword"
