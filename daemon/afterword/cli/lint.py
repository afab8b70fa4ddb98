"""`lint`: what is wrong with the articles."""

import os
from typing import Any

import click

from afterword.app.config import Config
from afterword.cli.output import amount, bars, config_option, json_option, say, say_json
from afterword.cli.remote import by_daemon
from afterword.cli.up import Stop
from afterword.domain.errors import Exit


@click.command(short_help="Articles with broken links, doubles, orphans, stale sources.")
@click.option("--fix", is_flag=True, help="Mend what is ours and safe to mend, then look again.")
@json_option
@config_option
def lint(*, fix: bool, as_json: bool, config: Config) -> int:
    """Look over `knowledge/`: broken and ambiguous links, orphans, doubles, facts in two places, contradictions,
    copies, stale sources, notes that are too large or cannot be read. Exit code 1 when anything is found.

    Changes nothing without --fix. That makes links, catalogue and generated sections anew where nobody edited them;
    what a person wrote, and whether two articles are one, is left to you.

    \b
    afterword lint
    afterword lint --fix
    """
    import msgspec

    from afterword.app.linting import Mend, examine, mend
    from afterword.app.program import writer
    from afterword.app.reading import reader

    with reader(config) as ledger:
        found = examine(config, ledger)
    before = found
    if fix:
        if by_daemon(config.places.state, "mend", {}) is None:
            with writer(config, os.environ, "lint", telling=bars) as program, bars() as tell:
                mend(program, Mend(), tell, Stop())
        with reader(config) as ledger:
            found = examine(config, ledger)
    mended = [fault for fault in before if fault not in found]
    if as_json:
        faults: list[dict[str, Any]] = [msgspec.to_builtins(fault) for fault in found]
        fixed: list[dict[str, Any]] = [msgspec.to_builtins(fault) for fault in mended]
        say_json("lint", {"faults": faults, "fixed": fixed, "ok": not found})
    else:
        for fault in mended:
            say(f"{fault.path}: {fault.kind}: mended")
        for fault in found:
            say(f"{fault.path}: {fault.kind}: {fault.message}")
        left = " left" if mended else " found"
        say(f"{amount(len(found), 'fault')}{left}." if found else "Nothing is wrong.")
    return Exit.FAILED if found else Exit.DONE
