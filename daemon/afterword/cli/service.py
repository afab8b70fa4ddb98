"""`service`: the daemon as a service of this system."""

import os
import sys
from typing import Any

import click

from afterword.app.config import Config
from afterword.cli.output import config_option, json_option, note, say, say_json, table
from afterword.domain.errors import Exit


@click.group(short_help="The daemon as a service of this system.")
def service() -> None:
    """The daemon as a service of this system: a systemd user unit, or a launchd agent.

    \b
    afterword service install
    afterword service logs --follow
    """


@service.command(short_help="Start it now and at every login.")
@json_option
@config_option
def install(*, as_json: bool, config: Config) -> None:
    """Write the unit, start the daemon now and at every login. Doing it again takes over what changed."""
    from afterword.app import service as services

    at = services.service(config, os.environ)
    changed = services.install(config, at, named=_config_named())
    found = services.state(at)
    lingers = services.lingers(os.environ)
    if as_json:
        say_json("service", {"action": "install", "changed": changed, "lingers": lingers, **_fields(found)})
        return
    say(f"The daemon runs under {at.manager} (pid {found.pid})." if found.pid else f"{at.manager} starts the daemon.")
    say(f"Unit:  {at.file}")
    if not lingers:
        note("it stops when you log out; for a machine nobody logs in to: sudo loginctl enable-linger $USER")


@service.command(short_help="Stop it and take the unit out.")
@json_option
@config_option
def uninstall(*, as_json: bool, config: Config) -> None:
    """Stop the daemon and remove its unit. Vault and ledger stay as they are."""
    from afterword.app import service as services

    at = services.service(config, os.environ)
    services.uninstall(at)
    if as_json:
        say_json("service", {"action": "uninstall", "file": str(at.file)})
    else:
        say(f"Taken out: {at.file}. The vault and the ledger stay where they are.")


@service.command(short_help="Whether it is installed and how it does.")
@json_option
@config_option
def status(*, as_json: bool, config: Config) -> int:
    """Whether the service is installed, runs, and what is wrong with it. Exit code 1 when something is, 3 when it is
    not installed."""
    from afterword.app import service as services

    found = services.state(services.service(config, os.environ))
    code = Exit.FAILED if found.problem else Exit.DONE if found.installed else Exit.NOTHING
    if as_json:
        say_json("service", {"action": "status", **_fields(found)})
        return code
    rows = [("service", f"{found.state} ({found.manager})"), ("unit", found.file)]
    if found.pid:
        rows.append(("pid", str(found.pid)))
    if found.installed:
        rows.append(("at login", "yes" if found.enabled else "no"))
    if found.restarts:
        rows.append(("restarts", str(found.restarts)))
    if found.problem:
        rows.append(("problem", f"{found.problem}; {found.hint}"))
    table(rows)
    if not found.installed:
        note("`afterword service install` installs it")
    return code


@service.command(short_help="What the daemon logged.")
@click.option("-n", "--lines", type=click.IntRange(1, 100_000), default=100, show_default=True, help="So many lines.")
@click.option("-f", "--follow", is_flag=True, help="Go on printing.")
@config_option
def logs(*, lines: int, follow: bool, config: Config) -> int:
    """What the daemon logged under the service manager. There is no transcript text in it."""
    import shutil
    import subprocess

    from afterword.app import service as services
    from afterword.domain.errors import UserError

    words = services.service(config, os.environ).log_command(lines, follow=follow)
    if shutil.which(words[0]) is None:
        raise UserError(f"there is no {words[0]} here", "the daemon logs to standard error")
    try:
        return subprocess.run(words, check=False).returncode
    except KeyboardInterrupt:
        return Exit.DONE


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

    words = units.command(config, named=_config_named())
    if (kind or ("launchd" if sys.platform == "darwin" else "systemd")) == "launchd":
        say(units.launchd(words, os.environ, config).rstrip())
    else:
        say(units.systemd(words, os.environ).rstrip())


def _config_named() -> bool:
    return any(word.split("=")[0] == "--config" for word in sys.argv)


def _fields(found: Any) -> dict[str, Any]:
    import msgspec

    fields: dict[str, Any] = msgspec.to_builtins(found)
    return fields
