"""`init`."""

import sys
from pathlib import Path

import click

from afterword.app import setup
from afterword.app.config import Config
from afterword.app.program import machine_name
from afterword.cli.output import config_option, json_option, note, say, say_json
from afterword.domain.errors import UsageError


@click.command(short_help="Make a vault in a new or empty folder.")
@click.argument("vault", type=click.Path(path_type=Path), required=False)
@click.option("--zone", help="Count days in this time zone (an IANA name) instead of the system's.")
@click.option("-y", "--yes", is_flag=True, help="Ask nothing.")
@json_option
@config_option
def init(vault: Path | None, zone: str | None, *, yes: bool, as_json: bool, config: Config) -> None:
    """Make a vault and point the configuration at it.

    VAULT must be new or empty (default: ~/Afterword). A second run changes nothing.

    \b
    afterword init ~/Notes/Agents
    afterword init ~/Notes/Agents --zone Europe/Warsaw --yes
    """
    if zone is not None:
        _check_zone(zone)
    plan = setup.plan(vault or config.vault or setup.default_vault(config.places.home), zone)
    if not plan.exists and not yes and sys.stdin.isatty():
        note(f"A vault will be made at {plan.vault}: {len(plan.files)} files, days counted in {plan.zone}.")
        click.confirm("Go on?", default=True, abort=True, err=True)
    setup.apply(plan, config.places, machine_name(config), config.vault)
    if as_json:
        say_json("init", {"vault": str(plan.vault), "zone": plan.zone, "created": not plan.exists})
    elif plan.exists:
        used = "nothing was changed" if plan.vault == config.vault else "it is the one in use now"
        say(f"{plan.vault} is a vault already; {used}.")
    else:
        say(f"Made the vault {plan.vault}. Next: afterword up")


def _check_zone(zone: str) -> None:
    from zoneinfo import available_timezones

    if zone not in available_timezones():
        raise UsageError(f"there is no time zone {zone!r}", "use an IANA name such as Europe/Warsaw")
