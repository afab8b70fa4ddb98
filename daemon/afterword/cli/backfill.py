"""`backfill`: the whole past through Gemini, oldest day first."""

import os
import sys
from typing import Any

import click
import msgspec

from afterword.app import passes
from afterword.app.config import Config
from afterword.app.program import writer
from afterword.app.reading import reader
from afterword.app.spending import estimate, in_force, way
from afterword.cli.output import amount, bars, config_option, json_option, note, say, say_json
from afterword.cli.remote import by_daemon
from afterword.cli.up import Stop
from afterword.domain.errors import Exit, NotSetUp, UsageError


@click.command(short_help="Compile the past with Gemini; says first what it takes.")
@click.option("--estimate", "only", is_flag=True, help="Say what it would take, and do nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@config_option
def backfill(*, only: bool, yes: bool, as_json: bool, config: Config) -> int:
    """Compile with Gemini every day that the extractive engine compiled, oldest first.

    It can be stopped at any time and goes on where it was: what was answered is never paid for twice. A day that does
    not work out keeps the articles it has.

    \b
    afterword backfill --estimate
    afterword backfill --yes
    """
    if config.vault is None:
        raise NotSetUp("there is no vault yet", "run `afterword init VAULT`, or `afterword up` once")
    with reader(config) as ledger:
        takes = estimate(ledger)
    limit = config.settings.gemini.daily_tokens
    fields = {"estimate": {**msgspec.to_builtins(takes), "tokens": takes.tokens, "daily_tokens": limit}}
    if not as_json:
        say(f"{amount(takes.days, 'day')} to compile, about {takes.tokens:,} tokens (at most {limit:,} a day).")
    if only:
        if as_json:
            say_json("backfill", {**fields, "days": []})
        return Exit.DONE
    if takes.days and not yes:
        if as_json or not sys.stdin.isatty():
            raise UsageError("backfill asks before it spends", "say --yes, or look first with --estimate")
        click.confirm("Go on?", abort=True)
    done = _done(config)
    if as_json:
        say_json("backfill", {**fields, **done})
    else:
        _tell(done)
    return Exit.FAILED if any(day["state"] == "failed" for day in done["days"]) else Exit.DONE


def _done(config: Config) -> dict[str, Any]:
    asked = passes.CompileDays(everything=True, engine="gemini")
    if not way(config, os.environ).there and in_force(config, way(config, os.environ)) == "extractive":
        note("There is no key for Gemini in this environment; a running daemon may have one.")
    done = by_daemon(config.places.state, "compile", msgspec.to_builtins(asked))
    if done is None:
        with writer(config, os.environ, "backfill", telling=bars) as program, bars() as tell:
            done = passes.compile_days(program, asked, tell, Stop())
    return done


def _tell(done: dict[str, Any]) -> None:
    states = [day["state"] for day in done["days"]]
    say(f"{amount(states.count('compiled'), 'day')} compiled.")
    for day in done["days"]:
        if day["state"] in ("failed", "unchanged") and day["reason"]:
            say(f"{day['note']}  {day['state']}  ({day['reason']})")
