"""`init`: a vault from the template, or ours beside somebody's notes, and the config that points to it.

Nothing of a person's is touched: `app.vault_plan` decides, `app.vault_install` does it and takes it out again.
"""

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from afterword.app import config, vault_install, vault_plan, vault_renewal
from afterword.app.vault_plan import PREFIX, Step
from afterword.app.vault_template import Layout
from afterword.domain.clock import Zones
from afterword.domain.day_names import DayNames
from afterword.domain.errors import AfterwordError, UserError
from afterword.domain.settings import Settings
from afterword.redact.redactor import Redactor
from afterword.store import files
from afterword.store.ledger import articles, lessons, registers
from afterword.store.ledger.ledger import Ledger, RecordKind, open_reader
from afterword.store.vault_card import CARD, VaultCard, may_write, read_card

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Plan(msgspec.Struct, frozen=True):
    """What `init` would do. `exists` means that the folder is a vault of ours already: only what a newer template
    has is to be done.

    `fresh` is a vault of its own; otherwise ours goes beside what is there. `writer` is the machine that writes a vault
    that exists.
    """

    vault: Path
    zone: str
    layout: Layout
    steps: tuple[Step, ...]
    exists: bool
    fresh: bool
    remarks: tuple[str, ...] = ()
    writer: str = ""

    @property
    def files(self) -> list[str]:
        """The files that will be there for it, relative to the vault."""
        return [step.path for step in self.steps if step.does == "make"]

    @property
    def prefix(self) -> str:
        return self.layout.prefix


def plan(vault: Path, zone: str | None = None, *, prefix: str | None = None, config_dir: str | None = None) -> Plan:
    """Decide what making a vault at `vault` takes. Reads only.

    Raises:
        UserError: it cannot be a vault: not a folder, inside another vault, a system folder, or with content that is
            no vault's.
    """
    vault = Path(os.path.abspath(vault.expanduser()))  # noqa: PTH100  # symlinks stay: the name is the person's
    card = read_card(vault)
    if card is not None:
        layout = Layout(DayNames(card.daily, card.daily_format), card.prefix, card.config)
        return Plan(
            vault, card.zone[-1][1] if card.zone else "UTC", layout, (), exists=True, fresh=False, writer=card.writer
        )
    _check_place(vault)
    zone = zone or system_zone()
    if vault_plan.is_new(vault):
        steps = tuple(vault_plan.steps(vault, None))
        return Plan(vault, zone, Layout(DayNames("daily")), steps, exists=False, fresh=True)
    if not vault_plan.is_vault(vault):
        inside = next(entry.name for entry in os.scandir(vault))
        raise UserError(
            f"{vault} is not empty (it holds {inside!r}) and no vault",
            "name a new or empty folder, or one that Obsidian has opened as a vault",
        )
    found = vault_plan.examine(vault, PREFIX if prefix is None else prefix, config_dir, system_language(os.environ))
    steps = tuple(vault_plan.steps(vault, found))
    return Plan(vault, zone, found.layout, steps, exists=False, fresh=False, remarks=found.remarks)


def _check_place(vault: Path) -> None:
    if vault.exists() and not vault.is_dir():
        raise UserError(f"{vault} is not a folder", "name a new or empty folder")
    if vault == Path(vault.anchor) or vault in (Path.home(), Path.home().resolve()):
        raise UserError(f"{vault} cannot be a vault", "name a folder of its own, such as ~/Afterword")
    for parent in (*vault.parents, *vault.resolve().parents):
        if (parent / ".obsidian").is_dir():
            raise UserError(f"{vault} lies inside the vault {parent}", "name a folder outside of it")
    there = next(folder for folder in (vault, *vault.parents) if folder.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        raise UserError(f"{there} cannot be written", "allow this program to write there, or name another folder")


def system_zone() -> str:
    """The IANA name of this system's zone."""
    from tzlocal import get_localzone_name  # noqa: PLC0415  # only `init` and `doctor` ask

    try:
        return str(get_localzone_name())
    except Exception:  # noqa: BLE001  # whatever a strange system says, days can be counted
        return "UTC"


def system_language(env: "Mapping[str, str]") -> str:
    """The language that this system's dates are in, such as `pl`; English where nothing says it."""
    said = next((env[name] for name in ("LC_ALL", "LC_TIME", "LANG") if env.get(name)), "")
    name = said.partition(".")[0].partition("_")[0]
    return "en" if name in ("", "C", "POSIX") else name


def known_zone(name: str) -> bool:
    """Whether this system or the package's own table has a zone of this name."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def begun(where: config.Places, vault: Path) -> str | None:
    """The prefix with which an `init` of this vault was begun that was cut short; None when none was."""
    found = vault_install.find(where.state, Path(os.path.abspath(vault.expanduser())))  # noqa: PTH100  # as in `plan`
    return found[1].prefix if found and found[1].state == "pending" and found[1].prefix else None


def machine(where: config.Places, name: str) -> str:
    """What this machine is called as a writer of vaults: as in its ledger, or `name` while there is none."""
    try:
        ledger = open_reader(where.state)
    except AfterwordError:
        return name
    try:
        return ledger.origin[1]
    finally:
        ledger.close()


def apply(what: Plan, where: config.Places, writer: str, current: config.Config | None = None) -> None:
    """Make the vault and point the config at it, unless `current` does so already.

    Interrupted anywhere, running it again completes it.
    """
    if not what.exists:
        days = current.days if current and what.fresh else what.layout.days
        card = VaultCard(
            version=1, id=secrets.token_hex(16), zone=[("", what.zone)], writer=writer,
            prefix=what.prefix, daily=days.folder, daily_format=days.form, config=what.layout.config,
        )  # fmt: skip
        vault_install.put(
            where.state, what.vault, list(what.steps), what.layout.folders, what.prefix, card, fresh=what.fresh
        )
        left = {step.path for step in what.steps if step.does == "leave"}
        vault_renewal.remember(where.state, what.vault, what.layout, left)
    elif what.writer in ("", writer):
        vault_renewal.carry_out(where.state, what.vault, list(what.steps), what.layout)
    _point(what, where, current)


def renewed(what: Plan, where: config.Places, writer: str) -> Plan:
    """The plan with what a newer template changes, if the vault is there and this machine writes it."""
    if not what.exists or what.writer not in ("", writer):
        return what
    return msgspec.structs.replace(what, steps=tuple(vault_renewal.steps(where.state, what.vault, what.layout)))


def take_over(vault: Path, writer: str) -> None:
    """Make this machine the one that writes the vault."""
    card = read_card(vault)
    if card is not None and card.writer != writer:
        _put_card(vault, msgspec.structs.replace(card, writer=writer))


def _put_card(vault: Path, card: VaultCard) -> None:
    data = msgspec.json.format(msgspec.json.encode(card), indent=2) + b"\n"
    files.replace(vault / CARD, data, mode=0o644)


def _point(what: Plan, where: config.Places, current: config.Config | None) -> None:
    if current is None or current.vault != what.vault:
        config.write_vault(where.config_file, what.vault)
    settings = current.settings.vault if current else Settings().vault
    kept = current.given if current and (what.fresh or current.vault == what.vault) else {}
    days = what.layout.days
    for key, value, now in (
        ("daily", days.folder, settings.daily),
        ("daily_format", days.form, settings.daily_format),
        ("knowledge", what.layout.own("knowledge"), settings.knowledge),
    ):
        # In a vault of its own the person's settings say what folders are called.
        if value != now and f"vault.{key}" not in kept:
            config.write(where.config_file, "vault", key, value)


_OF_A_VAULT = ("article_file", "other_file", "placed", "note", "build_logged", "went_on", "told", "append")


def settle_vault(ledger: Ledger, card: VaultCard | None) -> None:
    """Where another vault takes the place of the one before, what is known of files counts no more: all is written
    anew."""
    before = ledger.meta("vault_id")
    if card is None or before == card.id:
        return
    with ledger.transaction():
        if before is not None:
            for table in (*_OF_A_VAULT, "lesson_file"):
                ledger.db.execute(f"DELETE FROM {table}")  # noqa: S608  # names of ours
            ledger.set_meta(articles.OWED, 1)
            ledger.set_meta(lessons.OWED, 1)
        ledger.set_meta("vault_id", card.id)


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


def follow_zone(ledger: Ledger, redactor: Redactor, vault: Path | None, zones: Zones) -> None:
    """Have `zones`, and the card of a vault that is written here, say what the ledger does by now: another machine may
    have brought it."""
    card = read_card(vault) if vault else None
    changes = settle_zone(ledger, redactor, card)
    zones.become(changes)
    if vault is not None and card is not None and card.zone != changes and may_write(vault, ledger):
        _put_card(vault, msgspec.structs.replace(card, zone=changes))


def _plain(zones: "Iterable[tuple[str, str]]") -> list[list[str]]:
    return [list(change) for change in zones]


def default_vault(home: Path) -> Path:
    return home / "Afterword"
