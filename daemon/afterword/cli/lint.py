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
@click.option("--lessons", "lessons_only", is_flag=True, help="The lessons alone: what the git hook asks.")
@click.option("--git-hook", is_flag=True, help="Have commits of the vault's git repository held to that.")
@json_option
@config_option
def lint(*, fix: bool, lessons_only: bool, git_hook: bool, as_json: bool, config: Config) -> int:
    """Look over `knowledge/` and `lessons/`: broken and ambiguous links, orphans, doubles, facts in two places,
    contradictions, copies, stale sources, notes that are too large or cannot be read. Exit code 1 when there is any.

    Changes nothing without --fix. That makes links, catalogue and generated sections anew where nobody edited them;
    what a person wrote, and whether two articles are one, is left to you.

    Of lessons it finds agents' files that were edited by hand or hold more than 200 lines or 25 KB, facts in two
    places, and entries of the journal that cannot be read.

    \b
    afterword lint
    afterword lint --fix
    afterword lint --git-hook
    """
    import msgspec

    from afterword.app.linting import Mend, examine, mend
    from afterword.app.program import writer
    from afterword.app.reading import reader

    if git_hook:
        return _install_hook(config, as_json=as_json)
    with reader(config) as ledger:
        found = examine(config, ledger, lessons_only=lessons_only)
    before = found
    if fix:
        if by_daemon(config.places.state, "mend", {}) is None:
            with writer(config, os.environ, "lint", telling=bars) as program, bars() as tell:
                mend(program, Mend(), tell, Stop())
        with reader(config) as ledger:
            found = examine(config, ledger, lessons_only=lessons_only)
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


def _install_hook(config: Config, *, as_json: bool) -> int:
    from afterword.app.git_hook import install
    from afterword.domain.errors import NotSetUp

    if config.vault is None:
        raise NotSetUp("there is no vault", "run `afterword init`")
    path, new = install(config.vault)
    if as_json:
        say_json("lint", {"hook": str(path), "installed": new})
    else:
        say(f"{path}: {'commits are held to `afterword lint --lessons`' if new else 'is there already'}.")
    return Exit.DONE
