"""`sync`: the same memory on several machines."""

import os
from pathlib import Path
from typing import Any

import click

from afterword.app.config import Config
from afterword.cli.output import amount, bars, config_option, json_option, log_to_stderr, note, say, say_json, table
from afterword.domain.errors import AfterwordError, Exit, NothingFound, UsageError


class _Sync(click.Group):
    """A word that names no command below names a machine."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = super().get_command(ctx, cmd_name)
        if found is None and not cmd_name.startswith("-"):
            ctx.meta["afterword.host"] = cmd_name
            return _host
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        command = self.get_command(ctx, args[0])
        return (command.name if command else None), command, args[1:]

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, "[OPTIONS] [HOST | COMMAND]")


@click.group(
    cls=_Sync, invoke_without_command=True, short_help="The same memory on several machines: over SSH, or by a folder."
)
@click.option("--dry-run", is_flag=True, help="Say what would be sent and received, move nothing.")
@json_option
@config_option
@click.pass_context
def sync(ctx: click.Context, *, dry_run: bool, as_json: bool, config: Config) -> int:
    """Exchange with another machine until both know the same. Without a word: with all of `[peers]`.

    HOST is a name from `afterword sync peers`, or whatever `ssh HOST` reaches. What you forgot on one machine goes on
    all, what you hold back (`[peers.NAME] withhold`) is not sent.

    \b
    afterword sync peers add mini --every 15m
    afterword sync mini
    afterword sync export ~/Dropbox/afterword
    """
    if ctx.invoked_subcommand is not None:
        ctx.obj = (config, dry_run, as_json)
        return Exit.DONE
    names = list(config.settings.peers)
    if not names:
        raise NothingFound("no other machine is set", "add one: `afterword sync peers add HOST`, or name it once")
    return _exchange(config, names, dry_run=dry_run, as_json=as_json, accept_new=False)


@click.command(name="HOST", short_help="Exchange with this machine.")
@click.option("--dry-run", is_flag=True, help="Say what would be sent and received, move nothing.")
@click.option("--accept-new", is_flag=True, help="Trust the key of a machine that nobody knows yet, this once.")
@json_option
@config_option
@click.pass_context
def _host(ctx: click.Context, *, dry_run: bool, accept_new: bool, as_json: bool, config: Config) -> int:
    """Exchange with this machine over SSH, as `ssh HOST` would reach it."""
    _, dry_before, json_before = ctx.obj or (config, False, False)
    host = str(ctx.meta["afterword.host"])
    return _exchange(
        config, [host], dry_run=dry_run or dry_before, as_json=as_json or json_before, accept_new=accept_new
    )


def _exchange(config: Config, names: list[str], *, dry_run: bool, as_json: bool, accept_new: bool) -> int:
    from afterword.app import syncing

    log_to_stderr(config)
    done: list[dict[str, Any]] = []
    failed: list[tuple[str, AfterwordError]] = []
    for name in names:
        try:
            told = syncing.with_host(config, os.environ, name, bars, accept_new=accept_new, dry_run=dry_run)
        except AfterwordError as err:
            if len(names) == 1:
                raise
            failed.append((name, err))
        else:
            done += told["peers"]
            if not as_json:
                _tell(told["peers"], dry_run=dry_run, withheld=told["withheld"])
    if as_json:
        errors = [{"peer": name, "kind": err.kind, "message": err.message, "hint": err.hint} for name, err in failed]
        say_json("sync", {"peers": done, "dry_run": dry_run, "failed": errors})
    for name, why in failed:
        note(f"{name}: {why.message}" + (f"; {why.hint}" if why.hint else ""))
    return Exit.FAILED if failed else Exit.DONE


def _tell(peers: list[dict[str, Any]], *, dry_run: bool, withheld: int = 0) -> None:
    words = {"out": "to", "in": "from"}
    for peer in peers:
        count = sum(moved["records"] for moved in peer["origins"])
        new = sum(moved["new"] for moved in peer["origins"])
        way = f"{words[peer['direction']]} {peer['peer']}"
        if dry_run:
            say(f"{amount(count, 'record')} would go {way}")
        elif not new:
            say(f"nothing new {way}" + (f"; {amount(count, 'record')} known already" if count else ""))
        else:
            say(
                f"{amount(new, 'record')} {way}"
                + (f" ({count - new:,} more were known already)" if new < count else "")
            )
        for pending in peer["pending"]:
            note(f"  waits: {pending['file']}: {pending['reason']}")
    if withheld:
        say(f"{amount(withheld, 'session')} held back.")


@sync.command("serve", short_help="The other end: what `sync` starts on the machine it is given.")
@config_option
def serve(*, config: Config) -> None:
    """Answer another machine's `sync` over standard input and output. Started by it, over SSH.

    \b
    A key that may do only this, in ~/.ssh/authorized_keys:
    command="afterword sync serve",restrict ssh-ed25519 AAAA…
    """
    from contextlib import contextmanager

    from afterword.app import syncing

    @contextmanager
    def untold() -> Any:
        yield lambda *_told: None

    log_to_stderr(config)
    syncing.answer(config, os.environ, untold)


@sync.command("status", short_help="When each machine was met last, what waits, what is held back.")
@json_option
@config_option
def status(*, as_json: bool, config: Config) -> None:
    """When each machine was met last, how much one of the two lacks, what is held back, and when the next try is.

    \b
    afterword sync status
    """
    from afterword.app.reading import reader
    from afterword.app.sync_status import machines
    from afterword.app.sync_status import status as status_of

    with reader(config) as ledger:
        found, here = status_of(config, os.environ, ledger), machines(ledger)
    if as_json:
        say_json("sync status", {"peers": found, **here})
        return
    say(f"This is {here['machine']}; days are compiled on {here['compiles_on']}.")
    if not found:
        say("No other machine was met yet. `afterword sync peers add HOST` names one.")
    for peer in found:
        last = f"met {peer['last'][:16].replace('T', ' ')} UTC" if peer["last"] else "never met"
        words = [last, f"{amount(peer['lag'], 'record')} not there yet" if peer["lag"] else "all of it there"]
        words += [f"{amount(peer['withheld'], 'session')} held back"] if peer["withheld"] else []
        words += [f"next try {peer['next'][:16].replace('T', ' ')}"] if peer["next"] else []
        say(f"{peer['peer']}: {', '.join(words)}")
        if peer["problem"]:
            say(f"  {peer['problem']}")


@sync.command("export", short_help="Write what is known into a folder, as batches.")
@click.argument("folder", type=click.Path(path_type=Path))
@json_option
@config_option
def export(*, folder: Path, as_json: bool, config: Config) -> None:
    """Bring a folder of batches up to the ledger; whatever copies files carries it to other machines.

    What is held back from any machine is not in it. What is there already is not written again.

    \b
    afterword sync export ~/Syncthing/afterword
    """
    from afterword.app import syncing

    log_to_stderr(config)
    done = syncing.export(config, os.environ, folder, bars)
    if as_json:
        say_json("sync export", done)
    else:
        _tell(done["peers"], dry_run=False)
        say(f"{amount(done['written'], 'file')} written in {folder}.")


@sync.command("import", short_help="Take in what a folder of batches holds.")
@click.argument("folder", type=click.Path(path_type=Path))
@json_option
@config_option
def import_(*, folder: Path, as_json: bool, config: Config) -> None:
    """Take in a folder of batches, as far as it goes without a gap; the rest is named and taken when it is complete.

    \b
    afterword sync import ~/Syncthing/afterword
    """
    from afterword.app import syncing

    log_to_stderr(config)
    done = syncing.take(config, os.environ, folder, bars)
    if as_json:
        say_json("sync import", done)
    else:
        _tell(done["peers"], dry_run=False)
        if done["left"]:
            note(f"Left alone, as they are no batches: {', '.join(done['left'])}")


@sync.group("peers", invoke_without_command=True, short_help="The machines to exchange with.")
@json_option
@config_option
@click.pass_context
def peers(ctx: click.Context, *, as_json: bool, config: Config) -> None:
    """The machines to exchange with; `add` and `remove` change `[peers]` in the config file.

    \b
    afterword sync peers
    afterword sync peers add mini --every 15m
    """
    if ctx.invoked_subcommand is not None:
        return
    import msgspec

    rows = {name: msgspec.to_builtins(peer) for name, peer in config.settings.peers.items()}
    if as_json:
        say_json("sync peers", {"peers": [{"name": name, **peer} for name, peer in rows.items()]})
    elif not rows:
        say("None yet. `afterword sync peers add HOST` adds one.")
    else:
        table([(name, peer["host"] or name, peer["every"], ", ".join(peer["withhold"])) for name, peer in rows.items()])


@peers.command("add", short_help="Exchange with this machine from now on.")
@click.argument("name")
@click.option("--host", default="", metavar="HOST", help="How ssh reaches it, where that is not NAME.")
@click.option("--every", default="off", metavar="15m", help="How often the daemon exchanges with it; off: by hand.")
@click.option("--withhold", multiple=True, metavar="PROJECT", help="A project of which it gets nothing.")
@click.option("--command", default="", metavar="PATH", help="Where afterword is there, if it is not found by itself.")
@json_option
@config_option
def peers_add(
    name: str, *, host: str, every: str, withhold: tuple[str, ...], command: str, as_json: bool, config: Config
) -> None:
    """Add a machine, or change it. A running daemon reads it when it starts again.

    \b
    afterword sync peers add mini --every 15m
    afterword sync peers add office --host me@office.example --withhold diary
    """
    from afterword.app.config import write_peer
    from afterword.domain.settings import Peer, period_us

    if "@" in name or ":" in name:
        raise UsageError(f"{name!r} is no name", f"give it one: `afterword sync peers add NAME --host {name}`")
    period_us(every, "--every")
    write_peer(config.places.config_file, name, Peer(host or name, every, withhold, command))
    if as_json:
        say_json("sync peers add", {"name": name, "file": str(config.places.config_file)})
    else:
        say(f"[peers.{name}] is set in {config.places.config_file}. Try it: `afterword sync {name}`")


@peers.command("remove", short_help="Exchange with this machine no more.")
@click.argument("name")
@json_option
@config_option
def peers_remove(name: str, *, as_json: bool, config: Config) -> None:
    """Take a machine out of the settings. What it has, it keeps.

    \b
    afterword sync peers remove mini
    """
    from afterword.app.config import write_peer

    if name not in config.settings.peers:
        raise NothingFound(f"there is no machine {name!r} in [peers]", "`afterword sync peers` lists them")
    write_peer(config.places.config_file, name, None)
    if as_json:
        say_json("sync peers remove", {"name": name, "file": str(config.places.config_file)})
    else:
        say(f"[peers.{name}] is gone from {config.places.config_file}.")
