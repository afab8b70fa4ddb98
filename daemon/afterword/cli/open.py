"""`open`: the place in the vault where a search result was written up, in Obsidian."""

import contextlib
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
from afterword.domain.errors import NothingFound, NotSetUp, UserError
from afterword.domain.note_names import is_note

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
    from afterword.store.files import inside

    result = result.removeprefix("^")  # as a block's id stands behind a search result
    path = result.removeprefix("./")
    for name in (path, f"{path}.md"):
        with contextlib.suppress(UserError):  # a path that leads out of the vault is no note
            if is_note(name) and (found := inside(vault, name)).is_file():
                return Place(str(found.relative_to(vault.resolve())), None)
    return _written(config, result)


def _written(config: Config, result: str) -> Place:
    from afterword.app.lesson_shown import lesson_named, lesson_place
    from afterword.app.reading import reader
    from afterword.app.show import find
    from afterword.store.ledger import segments, views

    with reader(config) as ledger:
        item = views.item_row(ledger, result)
        if item is not None:
            found = views.written_in(ledger, item)
            if found is None:
                raise NothingFound(f"{result} is in no note (yet)", "`afterword show` prints its session")
            return Place(*found)
        if learned := lesson_named(ledger, result):
            at = lesson_place(ledger, learned)
            if at is None:
                raise NothingFound(f"{result} is in no note (yet)", "`afterword show` prints it")
            return Place(*at)
        placed = views.placed(ledger, result)
        if placed is not None:
            return Place(*placed)
        session = find(ledger, result)
        keys = [r.key for r, record in segments.sections(ledger, session.id) if not record.withdrawn_by]
        places = [found for key in keys if (found := views.placed(ledger, key)) is not None]
        if not places:
            raise NothingFound(f"session {session.shown_native} is in no note (yet)", "`afterword show` prints it")
        return Place(*max(places))


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
