"""`backup` and `restore`: a copy of the ledger, and putting one back."""

import os
from pathlib import Path
from typing import Any

import click

from afterword.app.config import Config
from afterword.cli.output import amount, bars, config_option, json_option, note, say, say_json, table
from afterword.domain.errors import AfterwordError, Busy, UsageError

_WORDS = {"copy": "Copying", "check": "Checking", "pack": "Packing", "read": "Reading", "renew": "Preparing"}


@click.command(short_help="Copy the ledger into one file, also while a daemon runs.")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--list", "as_list", is_flag=True, help="Which backups were made, and where they are.")
@click.option(
    "--keep", type=click.IntRange(1), metavar="N", help="Of those in the usual folder keep only the newest N."
)
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@json_option
@config_option
def backup(*, file: Path | None, as_list: bool, keep: int | None, force: bool, as_json: bool, config: Config) -> None:
    """Copy the ledger, from which everything else is made again, into one compressed file that only you can read.

    It is one moment of the ledger, whoever writes meanwhile, and is read back before it counts. Without FILE it goes
    into `backups` in the state folder; a FILE that ends in .db is not compressed. `forget` knows of every backup.

    \b
    afterword backup
    afterword backup --keep 7
    afterword backup /mnt/stick/afterword.db.zst
    """
    from afterword.app import backing

    if as_list:
        if file is not None or keep is not None or force:
            raise UsageError("--list stands alone", "leave out FILE, --keep and --force")
        _list(backing.listed(config), as_json=as_json)
        return
    if file is not None and keep is not None:
        raise UsageError("--keep is for the usual folder", "leave out FILE")
    from afterword.app.reading import redactor
    from afterword.domain.clock import clock_from

    clock = clock_from(dict(os.environ))
    target = backing.target_of(config, clock, file)
    own = redactor(config)
    with bars() as tell:

        def told(what: str, n: int, all_: int) -> None:
            tell(_WORDS[what], "bytes", n, all_, "")

        done = backing.make(config, own, clock, target, told, force=force)
        pruned = backing.prune(config, own, keep) if keep else []
    if as_json:
        import msgspec

        fields = {"file": str(done.path), "bytes": done.bytes, "sha256": done.sha256}
        say_json("backup", {**fields, "manifest": msgspec.to_builtins(done.about), "pruned": [str(p) for p in pruned]})
        return
    say(f"Backed up {amount(done.about.sessions, 'session')} with {amount(done.about.items, 'item')} to")
    say(f"  {done.path}  ({done.bytes / 1e6:,.1f} MB)")
    for path in pruned:
        say(f"Removed {path}")


def _list(rows: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        say_json("backup", {"backups": rows})
    elif not rows:
        say("No backup was made yet. `afterword backup` makes one.")
    else:
        table(
            [("MADE", "SIZE", "WHERE", "")]
            + [(r["made"], f"{r['bytes'] / 1e6:,.1f} MB", r["path"], "" if r["there"] else "not there") for r in rows]
        )


@click.command(short_help="Put a backup in the place of the ledger.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Do it; without this it only says what would be done.")
@json_option
@config_option
def restore(*, file: Path, yes: bool, as_json: bool, config: Config) -> None:
    """Put a backup in the place of the present ledger, then make full text and notes again from it.

    The backup is read to its end first; without --yes nothing is changed. What was forgotten since stays forgotten,
    what the agents still have is read again by the next `afterword up`, and nothing is doubled by that.

    \b
    afterword restore ~/.local/state/afterword/backups/ledger-20260611T120000Z.db.zst
    afterword restore FILE --yes
    """
    import msgspec

    from afterword.app import backing
    from afterword.store import lock

    state = config.places.state
    if yes and (holder := lock.holder(state)) is not None:
        raise Busy(
            f"afterword is running (pid {holder.get('pid', 'unknown')}, `afterword {holder.get('command', '?')}`)",
            "stop it with `afterword stop`, then restore",
        )
    path = Path(os.path.abspath(file.expanduser()))  # noqa: PTH100  # links stay: the name is the person's
    origin = None
    with bars() as tell:

        def told(what: str, done: int, all_: int) -> None:
            tell(_WORDS[what], "bytes" if what == "read" else "steps", done, all_, "")

        with backing.opened(config, path, told) as (plain, about, present):
            if yes:
                origin = backing.put_back(config, plain, told)
        if yes:
            problem = _made_again(config, tell)
    if as_json:
        fields = {"file": str(path), "manifest": msgspec.to_builtins(about), "replaced": present}
        say_json("restore", {**fields, "restored": yes, "origin": origin, "problem": problem if yes else None})
        return
    holds = f"{amount(about.sessions, 'session')} with {amount(about.items, 'item')}"
    now = f"{amount(present['sessions'], 'session')} with {amount(present['items'], 'item')}" if present else "nothing"
    if not yes:
        say(f"The backup of {about.made} ({about.machine}) is whole and holds {holds}.")
        say(f"It would take the place of a ledger with {now}. Nothing was changed; do it with --yes.")
        return
    say(f"Restored {holds}, as of {about.made}; the ledger before held {now}.")
    say("This machine counts as a new one from now on. `afterword up` reads what came since and makes the index again.")
    if problem:
        note(problem)


def _made_again(config: Config, tell: Any) -> str | None:
    """Make the full text and the notes again; what could not be done, and will be by the next `up`."""
    from contextlib import contextmanager

    from afterword.app.program import writer

    @contextmanager
    def telling() -> Any:
        yield tell

    try:
        with writer(config, os.environ, "restore", telling=telling) as program:
            program.text.catch_up()
            if program.notes:
                program.notes.sync(lambda done, all_: tell("Writing", "notes", done, all_, "sections placed"))
    except (OSError, AfterwordError) as err:
        return f"The ledger is restored; the rest is made by the next `afterword up`: {err}"
    return None
