"""`up`, `run`, `ingest`: the commands that write."""

import os
import shlex
import signal
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from afterword.app import setup
from afterword.app.config import Config, load
from afterword.app.program import Program, machine_name, writer
from afterword.cli.commands import WATCH, imported
from afterword.cli.output import bar, config_option, json_option, note, say, say_json
from afterword.domain.errors import Exit, NotSetUp
from afterword.domain.settings import duration_us
from afterword.store.ledger.views import counts

if TYPE_CHECKING:
    from afterword.capture.sweep import Progress, Sum


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


@click.command(short_help="Set up, take everything in, write it up, then watch.")
@click.option("--once", is_flag=True, help="One whole pass, then leave.")
@click.option("--settle", metavar="DURATION", help="Write a session up after so much quiet; 0 writes everything now.")
@click.option("--demo", is_flag=True, help="Do it once with a bundled sample history, in a throw-away home.")
@json_option
@config_option
def up(*, once: bool, settle: str | None, demo: bool, as_json: bool, config: Config) -> int:
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
    config = _with_vault(config, quiet=as_json)
    with writer(config, os.environ, "up", settle_us=settle_us) as program:
        stop = Stop()
        first = counts(program.ledger).items == 0
        done, made, appended = _pass(program, thorough=once, stop=stop)
        if as_json:
            say_json("up", _summary(program, done, made, appended))
        else:
            _tell(program, done, appended, first=first)
        if not once and not stop():
            _watch(program, quiet=as_json)
    return Exit.DONE


@click.command(short_help="The same without first-run talk, for systemd and launchd.")
@click.option("--settle", metavar="DURATION", help="Write a session up after so much quiet.")
@config_option
def run(*, settle: str | None, config: Config) -> None:
    """Watch the stores and write up what happens, without first-run talk. Needs a vault: `afterword init` or `up`."""
    if config.vault is None:
        raise NotSetUp("there is no vault yet", "run `afterword init VAULT`, or `afterword up` once")
    with writer(config, os.environ, "run", settle_us=_settle(settle)) as program:
        _watch(program, quiet=True)


@click.command(short_help="Read what is new in the stores, write no notes.")
@click.option("--harness", help="Only this agent.")
@json_option
@config_option
def ingest(*, harness: str | None, as_json: bool, config: Config) -> None:
    """Read what is new in the agents' stores into the ledger and the full text. Notes are written by `up`."""
    with writer(config, os.environ, "ingest") as program:
        stop = Stop()
        done = _ingest(program, thorough=True, stop=stop, only=harness)
        if as_json:
            say_json("ingest", {"files": done.files, "new": done.new_items, "problems": done.problems})
        else:
            say(f"Read {done.files:,} files: {done.new_items:,} new items." + _problems(done))


def _settle(given: str | None) -> int | None:
    return None if given is None else duration_us(given, "--settle")


def _with_vault(config: Config, *, quiet: bool) -> Config:
    """The config with a vault in it, made when there is none."""
    if config.vault is not None:
        return config
    plan = setup.plan(setup.default_vault(config.places.home))
    setup.apply(plan, config.places, machine_name(config))
    if not quiet and not plan.exists:
        note(f"Made the vault {plan.vault}; days are counted in {plan.zone}.")
    return load(config.places.config_file)


def _pass(program: Program, *, thorough: bool, stop: Callable[[], bool]) -> tuple["Sum", int, int]:
    done = _ingest(program, thorough=thorough, stop=stop)
    with bar("Writing", "sections") as move:
        words = {"digest": "sessions looked at", "notes": "sections placed"}
        made, appended = program.write_up(on_progress=lambda what, done, all_: move(done, all_, words[what]), stop=stop)
    if thorough:
        _index(program, stop)
    return done, made, appended


def _index(program: Program, stop: Callable[[], bool]) -> None:
    """In one whole pass the index is part of it; a daemon builds it while it watches."""
    with bar("Indexing", "documents") as move:
        program.index.catch_up(
            on_progress=lambda now: move(now.documents, now.of, f"documents, {now.embedded:,} passages new"), stop=stop
        )


def _ingest(program: Program, *, thorough: bool, stop: Callable[[], bool], only: str | None = None) -> "Sum":
    with bar("Reading", "bytes") as move:

        def progress(now: "Progress") -> None:
            move(now.bytes_done, now.bytes_all, f"· {now.files_done:,} of {now.files_all:,} files")

        return program.ingest(thorough=thorough, only=only, on_progress=progress, stop=stop)


def _watch(program: Program, *, quiet: bool) -> None:
    if not quiet:
        note("Watching. Ctrl-C stops; nothing is lost.")
    imported(WATCH)(program, (lambda _what: None) if quiet else note)


def _summary(program: Program, done: "Sum", made: int, appended: int) -> dict[str, Any]:
    import msgspec

    return {
        "vault": str(program.vault),
        "files": done.files,
        "new": done.new_items,
        "problems": done.problems,
        "sections": {"made": made, "appended": appended},
        "ledger": msgspec.to_builtins(counts(program.ledger)),
    }


def _tell(program: Program, done: "Sum", appended: int, *, first: bool) -> None:
    total = counts(program.ledger)
    if not first:
        say(f"{done.new_items:,} new items from {done.files:,} files, {appended:,} sections written." + _problems(done))
        return
    for view in program.capture.views:
        if view.present:
            say(f"  {view.label:12} " + (f"{len(view.found):,} files" if view.reads else "found, not read yet"))
    say(
        f"Took in {total.sessions:,} sessions with {total.items:,} items; {appended:,} sections are in the daily notes."
    )
    if not total.items:
        say("No history of Claude Code or Codex was found yet; it is taken in as soon as there is some.")
    say(f"Vault: {program.vault}" + _problems(done))
    say("Try:   afterword search WORDS    afterword status    afterword doctor")


def _problems(done: "Sum") -> str:
    return f"\n{done.problems} files could not be read; `afterword doctor` names them." if done.problems else ""


def _demo(*, as_json: bool) -> int:
    from afterword.app.demo import SEARCHES, make_home

    home = make_home()
    for name in [n for n in os.environ if n.startswith(("XDG_", "AFTERWORD_", "CLAUDE_", "CODEX_"))]:
        del os.environ[name]
    os.environ["HOME"] = str(home)
    config = _with_vault(load(), quiet=True)
    with writer(config, os.environ, "up", settle_us=0) as program:
        done, made, appended = _pass(program, thorough=True, stop=Stop())
        summary = _summary(program, done, made, appended)
    if as_json:
        say_json("up", {**summary, "home": str(home), "searches": [shlex.join(words) for words in SEARCHES]})
        return Exit.DONE
    total = summary["ledger"]
    say(f"Made-up history: {total['sessions']} sessions, {total['items']} items, {total['sections']} sections.")
    say(f"Vault: {summary['vault']}")
    for note_path in sorted((Path(summary["vault"]) / config.settings.vault.daily).glob("*.md")):
        say(f"  {note_path}")
    say("Three searches to try:")
    for words in SEARCHES:
        say(f"  HOME={home} {_program()} search {shlex.join(words)}")
    return Exit.DONE


def _program() -> str:
    import shutil
    import sys

    name = Path(sys.argv[0])
    return "afterword" if shutil.which("afterword") == str(name) else str(name)
