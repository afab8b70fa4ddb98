"""`open`: the place in the vault where a search result was written up, in Obsidian."""

import os
import sys
from pathlib import Path

import click

from afterword.app.config import Config
from afterword.app.using import opened
from afterword.cli.links import Place, link, uri
from afterword.cli.output import clean, config_option, json_option, note, say, say_json
from afterword.cli.view import screen
from afterword.domain.clock import clock_from
from afterword.domain.errors import NotSetUp, UserError

_OPENERS = {"darwin": "open"}


@click.command("open", short_help="Open in Obsidian where a result was written up.")
@click.argument("result")
@click.option("--print", "only_print", is_flag=True, help="Print the address, start nothing.")
@json_option
@config_option
def open_(result: str, *, only_print: bool, as_json: bool, config: Config) -> None:
    """Open the note in which something was written up, at its block.

    RESULT is the id of a search result, a session, a section's key (s-…), a lesson's (f-…, l-…), or the path of a note
    in the vault.
    Prints the obsidian:// address, and hands it to the system's opener. Exit code 3 when nothing matches.
    """
    if config.vault is None:
        raise NotSetUp("there is no vault yet", "run `afterword init VAULT` or `afterword up`")
    place = _place(config, config.vault, result)
    address = uri(config.vault.name, place)
    if as_json:
        say_json("open", {"uri": address, "path": place.path, "block": place.block})
    elif screen(None).rich:
        sys.stdout.write(link(clean(address)) + "\n")
    else:
        say(address)
    if place.block is None and place.path:
        opened(config, place.path, clock_from(dict(os.environ))())
    if not (only_print or as_json):
        start(address)


def _place(config: Config, vault: Path, result: str) -> Place:
    from afterword.app.opening import note_at, written
    from afterword.app.reading import reader

    result = result.removeprefix("^")  # as a block's id stands behind a search result
    if path := note_at(vault, result):
        return Place(path, None)
    with reader(config) as ledger:
        return Place(*written(ledger, result))


def start(address: str) -> None:
    """Hand an address to the system's opener."""
    import shutil
    import subprocess

    opener = shutil.which(_OPENERS.get(sys.platform, "xdg-open"))
    if opener is None:
        note("there is nothing here that opens it; use the address")
        return
    try:
        subprocess.run([opener, address], check=False, timeout=20, stdin=subprocess.DEVNULL, capture_output=True)
    except (OSError, subprocess.TimeoutExpired) as err:
        raise UserError(f"{opener} did not open it: {err}", "use --print") from err
