"""`init` and `uninstall`."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from afterword.app import setup
from afterword.app.config import Config, write
from afterword.app.program import machine_name
from afterword.cli.output import amount, config_option, json_option, note, say, say_json
from afterword.domain.errors import NotSetUp, UsageError
from afterword.store.lock import writer_lock

if TYPE_CHECKING:
    from afterword.app.vault_install import Taken


@click.command(short_help="Make a vault, or add ours to one that is there.")
@click.argument("vault", type=click.Path(path_type=Path), required=False)
@click.option("--zone", help="Count days in this time zone (an IANA name) instead of the system's.")
@click.option(
    "--prefix", metavar="FOLDER", help="In a vault of yours: the folder that all but daily notes go to (Memory)."
)
@click.option(
    "--config-dir", metavar="FOLDER", help="In a vault of yours: the folder Obsidian keeps its settings in (.obsidian)."
)
@click.option("--take-over", is_flag=True, help="Let this machine write a vault that another one wrote.")
@click.option("-n", "--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("-y", "--yes", is_flag=True, help="Ask nothing.")
@json_option
@config_option
def init(
    vault: Path | None,
    zone: str | None,
    prefix: str | None,
    config_dir: str | None,
    *,
    take_over: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
    config: Config,
) -> None:
    """Make a vault and point the configuration at it.

    VAULT is a new or empty folder (default: ~/Afterword), or a vault of yours: there daily notes go into your own ones,
    all else below one folder, and only what is absent is added to Obsidian's settings. You are shown what will be done
    first. A second run changes nothing, unless a newer version brings newer pages: those that you never changed are
    renewed, others are named. `afterword uninstall --vault` takes out what was put in.

    \b
    afterword init ~/Notes/Agents
    afterword init ~/Notes/Agents --zone Europe/Warsaw --yes
    afterword init ~/MyVault --prefix Memory --dry-run
    """
    if zone is not None:
        _check_zone(zone)
    where = vault or config.vault or setup.default_vault(config.places.home)
    prefix = prefix if prefix is not None else setup.begun(config.places, where)
    plan = setup.plan(where, zone, prefix=prefix, config_dir=config_dir)
    me = setup.machine(config.places, machine_name(config))
    plan = setup.renewed(plan, config.places, me)
    if not as_json and (plan.steps or not plan.exists):
        _show(plan)
    if not (plan.exists or yes or dry_run):
        if sys.stdin.isatty():
            click.confirm("Go on?", default=True, abort=True, err=True)
        elif not plan.fresh:
            raise UsageError(f"{plan.vault} holds notes of yours", "look at it with --dry-run, then go on with --yes")
    if not dry_run:
        setup.apply(plan, config.places, me, config)
        if plan.exists and take_over:
            setup.take_over(plan.vault, me)
    if as_json:
        say_json("init", _told(plan, me, take_over=take_over, dry=dry_run))
    elif plan.exists and plan.writer not in ("", me) and not take_over:
        say(
            f"{plan.vault} is written by {plan.writer}; this machine takes in and searches. `--take-over` changes that."
        )
    elif plan.exists:
        count = sum(step.does in ("make", "add", "renew") for step in plan.steps)
        done = f"{amount(count, 'file')} {'would be' if dry_run else 'of it'} brought up to date"
        used = done if count else "nothing was changed" if plan.vault == config.vault else "it is the one in use now"
        say(f"{plan.vault} is a vault already; {used}.")
    elif not dry_run:
        say(f"Made the vault {plan.vault}. Next: afterword up")


@click.command(short_help="Take out of a vault what `init` put in.")
@click.argument("vault", type=click.Path(path_type=Path), required=False)
@click.option("--vault", "from_vault", is_flag=True, help="What `init` put into the vault.")
@click.option("-n", "--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("-y", "--yes", is_flag=True, help="Ask nothing.")
@json_option
@config_option
def uninstall(vault: Path | None, *, from_vault: bool, dry_run: bool, yes: bool, as_json: bool, config: Config) -> None:
    """Take out of the vault what `init` put in: the pages, the folders where they are empty, our keys in Obsidian's
    settings. Notes stay, and so does every file that you changed. The ledger is left as it is.

    \b
    afterword uninstall --vault --dry-run
    afterword uninstall --vault --yes
    """
    from afterword.app import vault_install

    if not from_vault:
        raise UsageError(
            "say what to take out", "`afterword uninstall --vault`; `afterword service uninstall` is apart"
        )
    where = Path(os.path.abspath((vault or config.vault or Path()).expanduser()))  # noqa: PTH100  # symlinks stay
    if vault is None and config.vault is None:
        raise NotSetUp("no vault is set", "name it: `afterword uninstall --vault VAULT`")
    taken = vault_install.take_out(config.places.state, where, dry=True)
    if not as_json:
        _show_taken(taken)
    found = vault_install.find(config.places.state, where)
    prefixed = found is not None and bool(found[1].prefix)
    if not dry_run:
        if not yes and sys.stdin.isatty():
            click.confirm("Go on?", default=True, abort=True, err=True)
        with writer_lock(config.places.state, "uninstall"):
            taken = vault_install.take_out(config.places.state, where)
        if config.vault == where:
            write(config.places.config_file, "vault", "path", "")
            for key, usual in (("daily", "daily"), ("daily_format", "YYYY-MM-DD"), ("knowledge", "knowledge")):
                if prefixed and config.given.get(f"vault.{key}") == str(config.places.config_file):
                    write(config.places.config_file, "vault", key, usual)
    if as_json:
        rows = {"removed": taken.removed, "restored": taken.restored, "kept": taken.kept}
        say_json("uninstall", {"vault": str(taken.vault), **rows, "dry_run": dry_run})
    elif not dry_run:
        say(f"{taken.vault} is no vault of ours any more. Notes and what you changed are where they were.")


def _show(plan: setup.Plan) -> None:
    """What will be done, for the person to decide."""
    note(f"Vault: {plan.vault}; days are counted in {plan.zone}.")
    if plan.fresh:
        note(f"  {amount(len(plan.files), 'file')} and {amount(len(plan.layout.folders), 'folder')} of its own.")
        return
    for remark in plan.remarks:
        note(f"  {remark}")
    if plan.prefix and not plan.exists:
        note(f"  all else goes below {plan.prefix}/")
    words = {
        "make": "new",
        "add": "gets ours added",
        "renew": "is brought up to date",
        "keep": "stays",
        "leave": "is left alone",
    }
    for step in plan.steps:
        keys = ", ".join("/".join(one.path) for one in step.added)
        why = "; ".join(filter(None, (keys, step.why)))
        note(f"  {step.path} {words[step.does]}" + (f" ({why})" if why else ""))


def _show_taken(taken: "Taken") -> None:
    for word, row in (("goes", taken.removed), ("is put back", taken.restored), ("stays, you changed it", taken.kept)):
        for path in row:
            note(f"  {path} {word}")


def _told(plan: setup.Plan, me: str, *, take_over: bool, dry: bool) -> dict[str, Any]:
    return {
        "vault": str(plan.vault),
        "zone": plan.zone,
        "created": not plan.exists and not dry,
        "prefix": plan.prefix,
        "daily": plan.layout.days.name("2026-06-10"),
        "writer": me if take_over or not plan.exists else plan.writer,
        "dry_run": dry,
        "remarks": list(plan.remarks),
        "steps": [
            {
                "does": step.does,
                "path": step.path,
                "why": step.why or None,
                "added": ["/".join(one.path) for one in step.added],
            }
            for step in plan.steps
        ],
    }


def _check_zone(zone: str) -> None:
    from zoneinfo import available_timezones

    if zone not in available_timezones():
        raise UsageError(f"there is no time zone {zone!r}", "use an IANA name such as Europe/Warsaw")
