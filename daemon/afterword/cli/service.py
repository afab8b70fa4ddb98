"""`service`: the daemon as a service of this system. So far it shows the unit; installing it is the person's."""

import os
import sys

import click

from afterword.app.config import Config
from afterword.cli.output import config_option, say


@click.group(short_help="The daemon as a service of this system.")
def service() -> None:
    """The daemon as a service of this system."""


@service.command("print", short_help="Show the unit for this machine.")
@click.option("--systemd", "kind", flag_value="systemd", help="The systemd user unit.")
@click.option("--launchd", "kind", flag_value="launchd", help="The launchd agent.")
@config_option
def print_(*, kind: str | None, config: Config) -> None:
    """Show the unit with this interpreter and these places filled in; without a choice, the one for this system.

    \b
    afterword service print > ~/.config/systemd/user/afterword.service
    systemctl --user enable --now afterword
    """
    from afterword.app import units

    words = units.command(config, named=any(word.split("=")[0] == "--config" for word in sys.argv))
    if (kind or ("launchd" if sys.platform == "darwin" else "systemd")) == "launchd":
        say(units.launchd(words, os.environ, config).rstrip())
    else:
        say(units.systemd(words, os.environ).rstrip())
