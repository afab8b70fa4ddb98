"""`pair`: let a program on this machine ask the running daemon, and take that back."""

from typing import Any

import click

from afterword.app.config import Config
from afterword.cli.output import config_option, json_option, note, say, say_json, table
from afterword.domain.errors import Busy, NothingFound


@click.group(short_help="Let Obsidian, or another program, ask the running daemon.", invoke_without_command=True)
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(["search", "related", "status", "sync", "review", "mcp"]),
    help="What it may do; all but mcp when none is named.",
)
@json_option
@config_option
@click.pass_context
def pair(context: click.Context, *, scopes: tuple[str, ...], as_json: bool, config: Config) -> None:
    """Show a code that the program is to be given: good once, and for two minutes.

    In Obsidian, put it into the settings of the plugin, or open the address that is printed. The program gets a token
    of its own, which `afterword pair list` shows without the token and `afterword pair revoke ID` takes back.

    \b
    afterword pair
    afterword pair --scope search --scope mcp
    afterword pair revoke 5b1c09e24d7f
    """
    if context.invoked_subcommand is not None:
        return
    from afterword.app.client import ask_door

    said: dict[str, Any] | None = ask_door(config.places.state, "/v1/pair/codes", {"scopes": list(scopes)})
    if said is None:
        raise Busy("no daemon runs that could be paired with", "start `afterword up`, and try again")
    address = f"obsidian://afterword?port={said['port']}&code={said['code']}"
    if as_json:
        fields = {name: said[name] for name in ("code", "port", "seconds", "scopes")}
        say_json("pair", {**fields, "address": address})
        return
    say(f"Code {said['code']}, port {said['port']}")
    say(address)
    note(f"good once, for {said['seconds']} seconds; it may {', '.join(said['scopes'])}")


@pair.command("list", short_help="Who is paired.")
@json_option
@config_option
def list_(*, as_json: bool, config: Config) -> None:
    """Every program that is paired, what it may do, and since when."""
    from afterword.domain.clock import format_rfc3339
    from afterword.store import pairs

    found = pairs.every(config.places.state)
    if as_json:
        rows = [
            {"id": one.id, "name": one.name, "scopes": list(one.scopes), "since": format_rfc3339(one.made_us)}
            for one in found
        ]
        say_json("pair", {"paired": rows})
    elif found:
        table([(one.id, format_rfc3339(one.made_us)[:16], one.name, " ".join(one.scopes)) for one in found])
    else:
        note("nothing is paired; `afterword pair` shows a code")


@pair.command(short_help="Take a pairing back.")
@click.argument("id_", metavar="ID")
@json_option
@config_option
def revoke(*, id_: str, as_json: bool, config: Config) -> None:
    """Take a pairing back: its token opens nothing any more, at once. ID is from `afterword pair list`, or `all`."""
    from afterword.store import pairs

    state = config.places.state
    ids = [one.id for one in pairs.every(state)] if id_ == "all" else [id_]
    gone = [each for each in ids if pairs.revoke(state, each)]
    if not gone:
        raise NothingFound(f"nothing of the id {id_!r} is paired", "`afterword pair list` shows what is")
    if as_json:
        say_json("pair", {"revoked": gone})
    else:
        say(f"Revoked: {', '.join(gone)}")
