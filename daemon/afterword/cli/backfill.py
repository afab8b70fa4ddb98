"""`backfill`: the whole past through Gemini, oldest day first."""

import os
import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from afterword.app import backfill as past
from afterword.app.config import Config
from afterword.app.program import writer
from afterword.app.reading import reader
from afterword.app.spending import in_force, way
from afterword.capture.old_notes import OldNotes
from afterword.cli.output import amount, bars, config_option, json_option, log_to_stderr, note, say, say_json, table
from afterword.cli.remote import by_daemon
from afterword.cli.up import Stop
from afterword.domain.clock import Zones
from afterword.domain.errors import Exit, NotSetUp, UsageError
from afterword.store.ledger.backfill import Day


@click.command(short_help="Write the past up with Gemini; says first what it takes.")
@click.argument("notes", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--estimate", "only", is_flag=True, help="Say what it would take, and do nothing.")
@click.option("--dry-run", is_flag=True, help="The same, day by day.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--stop", "end", is_flag=True, help="Leave the rest of a backfill that waits to go on.")
@json_option
@config_option
def backfill(
    *, notes: Path | None, only: bool, dry_run: bool, yes: bool, end: bool, as_json: bool, config: Config
) -> int:
    """Write up with Gemini what the extractive engine wrote up: every section, then the articles of its day, oldest
    first.

    It can be stopped at any time and goes on where it was: what was answered is never paid for twice. When the day's
    tokens are spent it stops and says when it goes on; a running daemon does that by itself, else call it again. What
    does not work out keeps the text it has.

    With a folder of dated Markdown notes that Afterword did not write, these are taken in first: what they say goes
    into search and articles, redacted. The notes themselves stay as they are. Called again, it takes what changed.

    \b
    afterword backfill --estimate
    afterword backfill --yes
    afterword backfill --stop
    afterword backfill ~/notes/log             2024-03-05.md, 2024-03-06 standup.md, …
    """
    if config.vault is None:
        raise NotSetUp("there is no vault yet", "run `afterword init VAULT`, or `afterword up` once")
    if end:
        _job(config, "end")
        _tell_end(as_json=as_json)
        return Exit.DONE
    taken = None
    if notes is not None:
        taken = _take_notes(config, notes.resolve(), dry=only or dry_run)
        if not as_json:
            _tell_notes(taken)
    days = _left(config, fresh=notes is not None and (only or dry_run))
    takes, limit = past.estimate(days), config.settings.gemini.daily_tokens
    fields = {"estimate": {**msgspec.to_builtins(takes), "tokens": takes.tokens, "daily_tokens": limit}}
    if taken is not None:
        fields["notes"] = taken
        if not way(config, os.environ).there:
            # Without a model the notes are all there is to do.
            if as_json:
                say_json("backfill", fields)
            return Exit.FAILED if taken.get("problems") else Exit.DONE
    if not as_json:
        _tell_estimate(takes, limit)
    if only or dry_run:
        rows = [(config.days.name(day.day), len(day.segments), past.estimate([day]).tokens) for day in days]
        if as_json:
            shown = [{"note": name, "sections": count, "tokens": tokens} for name, count, tokens in rows]
            say_json("backfill", {**fields, "dry_run": True, "days": shown})
        elif dry_run:
            table([(name, amount(count, "section"), f"{tokens:,} tokens") for name, count, tokens in rows])
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
    return Exit.FAILED if done["failed"] else Exit.DONE


def _done(config: Config) -> dict[str, Any]:
    found = way(config, os.environ)
    if not found.there and in_force(config, found) == "extractive":
        note("There is no key for Gemini in this environment; a running daemon may have one.")
    if by_daemon(config.places.state, "backfill", {"do": "begin"}) is not None:
        done = by_daemon(config.places.state, "backfill", {"do": "go"})
        if done is not None:
            return done
    log_to_stderr(config)
    with writer(config, os.environ, "backfill", telling=bars) as program, bars() as tell:
        stop = Stop()
        past.run(program, past.Backfill("begin"), tell, stop)
        done = past.run(program, past.Backfill("go"), tell, stop)
        if stop():
            # Whoever stops it here does not want the daemon to go on with it.
            past.run(program, past.Backfill("end"), tell, stop)
        return done


def _left(config: Config, *, fresh: bool) -> list[Day]:
    """What there is to write up; nothing on a `fresh` machine whose ledger is not there yet."""
    try:
        with reader(config) as ledger:
            return past.left(ledger)
    except NotSetUp:
        if not fresh:
            raise
        return []


def _take_notes(config: Config, folder: Path, *, dry: bool) -> dict[str, Any]:
    """Take the notes in, or say what there is to take."""
    if dry:
        look = OldNotes(folder, Zones(()).start_of)  # whether it is a day, whatever the zone
        there = sum(not found.problem for found in look.sources(folder))
        return {"files": there, "ours": look.ours, "undated": look.undated}
    done = by_daemon(config.places.state, "notes", {"folder": str(folder)})
    if done is None:
        log_to_stderr(config)
        with writer(config, os.environ, "backfill", telling=bars) as program, bars() as tell:
            done = past.take_notes(program, past.Notes(str(folder)), tell, Stop())
    return done


def _tell_notes(taken: dict[str, Any]) -> None:
    said = f"{amount(taken['files'], 'note')} with a day"
    said += f", {amount(len(taken['undated']), 'file')} without one left out" if taken["undated"] else ""
    said += f", {amount(taken['ours'], 'file')} of ours left out" if taken["ours"] else ""
    say(said + ".")
    if "read" not in taken:
        return
    say(
        f"{amount(taken['read'], 'note')} new or changed, {amount(taken['sections'], 'section')} written up,"
        f" {amount(len(taken['days']), 'day')} compiled."
    )
    if taken["thin"]:
        say(f"Too little for articles is on {', '.join(taken['thin'][:5])}; search finds it.")
    if taken["gone"]:
        say(f"{amount(taken['gone'], 'note')} of before not there any more; what was said stays until it is forgotten.")
    if taken["problems"]:
        note(f"{amount(taken['problems'], 'file')} could not be read; `status` and `doctor` say more.")


def _job(config: Config, what: str) -> None:
    if by_daemon(config.places.state, "backfill", {"do": what}) is None:
        with writer(config, os.environ, "backfill") as program, bars() as tell:
            past.run(program, msgspec.convert({"do": what}, past.Backfill), tell, Stop())


def _tell_end(*, as_json: bool) -> None:
    if as_json:
        say_json("backfill", {"stopped": True})
    else:
        say("No backfill waits to go on any more. What was written stays.")


def _tell_estimate(takes: past.Estimate, limit: int) -> None:
    if not takes.days:
        say("Nothing of the past is left to be written up with Gemini.")
        return
    say(
        f"{amount(takes.sections, 'section')} to write up and {amount(takes.days, 'day')} to compile, about"
        f" {takes.tokens:,} tokens."
    )
    nights = -(-takes.tokens // limit) if limit else 0
    say(
        f"At most {limit:,} tokens a day are spent, so it takes {amount(nights, 'day')}."
        if nights
        else "No token is to be spent ([gemini] daily_tokens)."
    )


def _tell(done: dict[str, Any]) -> None:
    say(f"{amount(done['sections'], 'section')} written up, {amount(done['compiled'], 'day')} compiled.")
    for each in done["failed"]:
        say(f"{each['what']}  as it was  ({each['reason']})")
    paused, rest = done["paused"], done["left"]
    if paused:
        say(f"Stopped: {paused['reason']}.")
        say(
            f"{amount(rest['days'], 'day')} are left, about {rest['tokens']:,} tokens. A running daemon goes on after"
            f" {paused['until']}, or call `backfill` again then; `backfill --stop` leaves the rest."
        )
    elif done["stopped"] and rest["days"]:
        say(f"Stopped, {amount(rest['days'], 'day')} left; `backfill` goes on from here, nothing is paid twice.")
