"""`lint`: what is wrong with the articles."""

from typing import Any

import click

from afterword.app.config import Config
from afterword.cli.output import amount, config_option, json_option, say, say_json
from afterword.domain.errors import Exit


@click.command(short_help="Articles with broken links, doubles, orphans, stale sources.")
@json_option
@config_option
def lint(*, as_json: bool, config: Config) -> int:
    """Look over `knowledge/`: broken and ambiguous links, orphans, doubles, copies, stale sources, notes that are too
    large or cannot be read. Changes nothing. Exit code 1 when anything is found."""
    import msgspec

    from afterword.app.linting import examine
    from afterword.app.reading import reader

    with reader(config) as ledger:
        found = examine(config, ledger)
    if as_json:
        faults: list[dict[str, Any]] = [msgspec.to_builtins(fault) for fault in found]
        say_json("lint", {"faults": faults, "ok": not found})
    else:
        for fault in found:
            say(f"{fault.path}: {fault.kind}: {fault.message}")
        say(f"{amount(len(found), 'fault')} found." if found else "Nothing is wrong.")
    return Exit.FAILED if found else Exit.DONE
