"""`up`, `run`, `ingest`: the commands that write."""

import os
import shlex
import signal
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import click
import msgspec

from afterword.app import backfill, passes, setup
from afterword.app.config import Config, load
from afterword.app.excluded import words as excluded_words
from afterword.app.program import Program, machine_name, writer
from afterword.cli.commands import WATCH, imported
from afterword.cli.output import (
    amount,
    bars,
    command_name,
    config_option,
    json_option,
    log_to_stderr,
    note,
    say,
    say_json,
)
from afterword.cli.remote import by_daemon
from afterword.domain.errors import Exit, NotSetUp, UserError
from afterword.domain.settings import duration_us
from afterword.store.ledger.views import counts

F = TypeVar("F", bound=Callable[..., Any])


class Stop:
    """SIGTERM and SIGINT: finish the transaction at hand, then leave with 0."""

    def __init__(self) -> None:
        self._asked = False
        signal.signal(signal.SIGTERM, self._ask)
        signal.signal(signal.SIGINT, self._ask)

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self._asked = True

    def __call__(self) -> bool:
        return self._asked


def jobs_option(command: F) -> F:
    """Adds `--jobs N`, which the command gets as `jobs`."""
    return click.option(
        "--jobs",
        type=click.IntRange(1, 64),
        metavar="N",
        help="How many processes read a large history the first time; one for each core otherwise.",
    )(command)


@click.command(short_help="Set up, take everything in, write it up, then watch.")
@click.option("--once", is_flag=True, help="One whole pass, then leave.")
@click.option("--settle", metavar="DURATION", help="Write a session up after so much quiet; 0 writes everything now.")
@jobs_option
@click.option("--demo", is_flag=True, help="Do it once with a bundled sample history, in a throw-away home.")
@json_option
@config_option
def up(*, once: bool, settle: str | None, jobs: int | None, demo: bool, as_json: bool, config: Config) -> int:
    """The main job. The first time it makes a vault (~/Afterword) and takes in the history that is there; then it
    watches the agents' stores and writes up what happens. Ctrl-C stops it, nothing is lost.

    \b
    afterword up
    afterword up --once --settle 0     one pass over everything, for scripts
    afterword up --demo                see it work on made-up sessions first
    """
    if demo:
        return _demo(as_json=as_json)
    settle_us = _settle(settle)
    if once and (summary := by_daemon(config.places.state, "write-up", {"settle_us": settle_us})) is not None:
        _tell_summary(summary, as_json=as_json)
        return Exit.DONE
    config = _with_jobs(_with_vault(config, quiet=as_json), jobs)
    log_to_stderr(config)
    with writer(config, os.environ, "up", settle_us=settle_us, telling=bars) as program:

        def first(stop: Callable[[], bool]) -> None:
            fresh = counts(program.ledger).items == 0
            with bars() as tell:
                summary = passes.whole(program, tell, stop, thorough=once)
            if stop():
                summary["stopped"] = True
            if fresh and not as_json and not stop():
                _welcome(program, summary)
            else:
                _tell_summary(summary, as_json=as_json)
            if not (once or as_json or stop()):
                note("Watching. Ctrl-C stops; nothing is lost.")

        if once:
            first(Stop())
        else:
            imported(WATCH)(program, (lambda _what: None) if as_json else note, first)
    return Exit.DONE


@click.command(short_help="The same without first-run talk, for systemd and launchd.")
@click.option("--settle", metavar="DURATION", help="Write a session up after so much quiet.")
@jobs_option
@config_option
def run(*, settle: str | None, jobs: int | None, config: Config) -> None:
    """Watch the stores and write up what happens, without first-run talk. Needs a vault: `afterword init` or `up`."""
    if config.vault is None:
        raise NotSetUp("there is no vault yet", "run `afterword init VAULT`, or `afterword up` once")
    config = _with_jobs(config, jobs)
    log_to_stderr(config)
    with writer(config, os.environ, "run", settle_us=_settle(settle), telling=bars) as program:
        imported(WATCH)(program, lambda _what: None)


@click.command(short_help="Read what is new in the stores, write no notes.")
@click.option("--harness", help="Only this agent.")
@jobs_option
@json_option
@config_option
def ingest(*, harness: str | None, jobs: int | None, as_json: bool, config: Config) -> None:
    """Read what is new in the agents' stores into the ledger and the full text. Notes are written by `up`.

    A large history is read by several processes the first time; it goes on where it stood after Ctrl-C or a kill.

    \b
    afterword ingest --jobs 1          read it by this process alone, for a machine that has other things to do
    """
    config = _with_jobs(config, jobs)
    done = by_daemon(config.places.state, "ingest", {"harness": harness})
    if done is None:
        log_to_stderr(config)
        with writer(config, os.environ, "ingest", telling=bars) as program, bars() as tell:
            stop = Stop()
            done = passes.ingest(program, passes.Ingest(harness), tell, stop)
            if stop():
                done["stopped"] = True
    if as_json:
        say_json("ingest", done)
    else:
        say(f"Read {amount(done['files'], 'file')}: {amount(done['new'], 'new item')}.")
        _worries(done)


def _with_jobs(config: Config, jobs: int | None) -> Config:
    """The config with what `--jobs` said."""
    if jobs is None:
        return config
    capture = msgspec.structs.replace(config.settings.capture, jobs=jobs)
    settings = msgspec.structs.replace(config.settings, capture=capture)
    return msgspec.structs.replace(config, settings=settings, given={**config.given, "capture.jobs": "--jobs"})


def _settle(given: str | None) -> int | None:
    return None if given is None else duration_us(given, "--settle")


def _with_vault(config: Config, *, quiet: bool) -> Config:
    """The config with a vault in it, made when there is none."""
    if config.vault is not None:
        return config
    plan = setup.plan(setup.default_vault(config.places.home))
    if not (plan.fresh or plan.exists):
        raise UserError(
            f"{plan.vault} holds somebody's notes", "run `afterword init VAULT` with that folder or another one"
        )
    setup.apply(plan, config.places, setup.machine(config.places, machine_name(config)), config)
    if not quiet and not plan.exists:
        note(f"Made the vault {plan.vault}; days are counted in {plan.zone}.")
    return load(config.places.config_file)


def _tell_summary(summary: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        say_json("up", summary)
        return
    new, read = amount(summary["new"], "new item"), amount(summary["files"], "file")
    say(f"{new} from {read}, {amount(summary['sections']['appended'], 'section')} written.")
    _worries(summary)


def _welcome(program: Program, summary: dict[str, Any]) -> None:
    total = summary["ledger"]
    for view in program.capture.views:
        if view.present:
            say(f"  {view.label:12} " + (amount(len(view.found), "file") if view.reads else "found, not read yet"))
    written = summary["sections"]["appended"]
    say(
        f"Took in {amount(total['sessions'], 'session')} with {amount(total['items'], 'item')};"
        f" {amount(written, 'section')} {'is' if written == 1 else 'are'} in the daily notes."
    )
    if not total["items"]:
        say("No agent's history was found yet; it is taken in as soon as there is some.")
    say(f"Vault: {program.vault}  (open this folder in Obsidian as a vault)")
    if program.engines.name == "gemini":
        _tell_engine(program)
    _worries(summary)
    name = command_name()
    say(f"Try:   {name} search WORDS    {name} status    {name} doctor")


def _tell_engine(program: Program) -> None:
    past = backfill.estimate(backfill.left(program.ledger))
    say(f"Gemini writes up from today on ({program.config.settings.gemini.model}); the past was written without it.")
    if past.days:
        say(
            f"To write {amount(past.days, 'day')} of it up with Gemini too, about {past.tokens:,} tokens:"
            f" {command_name()} backfill"
        )


def _worries(done: dict[str, Any]) -> None:
    """What a person should know beside the result."""
    if done["problems"]:
        note(f"{amount(done['problems'], 'file')} could not be read; `{command_name()} doctor` names them.")
    said, hint = excluded_words(done.get("excluded", []))
    if said:
        note(f"{said[0].upper()}{said[1:]}: {hint}.")
    waiting = done.get("pending", {})
    if done.get("stopped"):
        # What is pending now waits for the next pass and not for a session to rest.
        note(f"Stopped before the end. Nothing is lost: `{command_name()} up` goes on from here.")
    elif done.get("vault_problem"):
        note(f"Notes were not all written: {done['vault_problem']}. Nothing is lost, they are written later.")
    elif waiting.get("sessions"):
        note(
            f"{amount(waiting['sessions'], 'session')} changed so lately that more may come; the write-up follows when"
            " they rest (`--settle 0` writes it now)."
        )


_DEMO_KEEPS = ("PATH", "LANG", "LC_", "TERM", "TMP", "TZ", "NO_COLOR", "COL", "PYTHON", "VIRTUAL_ENV", "COVERAGE")
"""What the demo keeps of the environment."""


def _demo(*, as_json: bool) -> int:
    from afterword.app.demo import SEARCHES, make_home

    home = make_home()
    # Every agent has variables of its own that lead to its store: none of the person's may be read here.
    moved = sorted(name for name in os.environ if name.startswith(("XDG_", "AFTERWORD_")))
    for name in [n for n in os.environ if not n.startswith(_DEMO_KEEPS)]:
        del os.environ[name]
    os.environ["HOME"] = str(home)
    config = _with_vault(load(), quiet=True)
    log_to_stderr(config)
    with writer(config, os.environ, "up", settle_us=0) as program, bars() as tell:
        summary = passes.whole(program, tell, Stop(), thorough=True)
    if as_json:
        say_json("up", {**summary, "home": str(home), "searches": [shlex.join(words) for words in SEARCHES]})
        return Exit.DONE
    total = summary["ledger"]
    say(
        f"Made-up history: {total['sessions']} sessions, {total['items']} items, {total['sections']} sections,"
        f" {total['articles']} articles."
    )
    say(f"Vault: {summary['vault']}")
    for folder in (config.settings.vault.daily, config.settings.vault.knowledge):
        for note_path in sorted((Path(summary["vault"]) / folder).rglob("*.md")):
            say(f"  {note_path}")
    say("Three searches to try:")
    unset = ["env", *(word for name in moved for word in ("-u", name))] if moved else []
    there = shlex.join([*unset, f"HOME={home}"])
    for words in SEARCHES:
        say(f"  {there} {command_name()} search {shlex.join(words)}")
    return Exit.DONE
