"""`blame` and `again`: what earlier sessions did to a file, and about an error."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from afterword.app.config import Config
from afterword.cli.output import F, amount, config_option, json_option, note, say, say_json
from afterword.domain.clock import Zones
from afterword.domain.errors import Exit, UsageError

if TYPE_CHECKING:
    from afterword.index.narrowing import Filters

_ERROR_CHARS = 20_000


def _narrowing(command: F) -> F:
    """Adds what narrows both; `_filters` reads it."""
    for option in (
        click.option("--until", help="Only before this day or time."),
        click.option("--since", help="Only from this day or time on (2026-06-10, RFC 3339, yesterday, 7d)."),
        click.option("--harness", help="Only this agent program, such as claude-code or codex."),
        click.option("--project", help="Only this project (the name of its folder)."),
    ):
        command = option(command)
    return command


def _filters(zones: Zones, given: dict[str, str | None]) -> "Filters":
    from afterword.app.results import time_of
    from afterword.domain.clock import clock_from
    from afterword.index.narrowing import Filters

    now_us = clock_from(os.environ)()
    return Filters(
        project=given["project"],
        harness=given["harness"],
        since_us=time_of("--since", given["since"], zones, now_us),
        until_us=time_of("--until", given["until"], zones, now_us),
    )


@click.command(short_help="Which sessions touched a file, and what was decided there.")
@click.argument("path")
@click.option("--reads", is_flag=True, help="Also sessions that only read it.")
@_narrowing
@click.option("-n", "--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="At most so many.")
@click.option("--page", type=click.IntRange(1), default=1, help="Which page of so many sessions.")
@json_option
@config_option
def blame(
    path: str,
    *,
    reads: bool,
    limit: int,
    page: int,
    as_json: bool,
    config: Config,
    **given: str | None,
) -> int:
    """Which sessions edited a file, newest first, and what was decided and learned in them.

    PATH is taken from here; when nothing touched that very file, every file whose path ends so counts. Exit code 3
    when nothing did.

    \b
    afterword blame src/app/pool.py
    afterword blame pool.py --reads --since 2w
    """
    from afterword.app.blame import as_json_fields
    from afterword.app.blame import blame as who
    from afterword.app.reading import reader, zones_of

    with reader(config) as ledger:
        zones, origins = zones_of(config, ledger), ledger.origins()
        found = who(ledger, path, str(Path.cwd()), reads=reads, limit=limit, page=page, filters=_filters(zones, given))
    if as_json:
        say_json("blame", as_json_fields(path, found, origins))
        return Exit.DONE if found.sessions else Exit.NOTHING
    for one in found.sessions:
        done = [amount(one.edits, "edit")] if one.edits else []
        done += [amount(one.reads, "read")] if one.reads else []
        facts = one.session.facts
        words = (_at(zones, one.last_us), one.session.harness, facts.project, one.session.shown_native[:13], *done)
        say(" · ".join(word for word in words if word))
        if facts.title:
            say(f"    {facts.title}")
        if len(found.paths) > 1:
            say(f"    {one.path}")
        for what, texts in (("decided", one.decisions), ("learned", one.lessons)):
            for text in texts:
                say(f"    {what}: {text}")
        _say_place(one.written_in)
    if not found.sessions:
        note(f"no session {'touched' if reads else 'edited'} {path}" + ("" if reads else "; --reads also counts reads"))
    elif (more := found.total - (page - 1) * limit - len(found.sessions)) > 0:
        note(f"{more:,} more; use --page {page + 1} or --limit")
    return Exit.DONE if found.sessions else Exit.NOTHING


@click.command(short_help="What was done about the same error before.")
@click.argument("error", nargs=-1, required=True)
@_narrowing
@click.option("-n", "--limit", type=click.IntRange(1, 100), default=5, show_default=True, help="At most so many.")
@click.option("--page", type=click.IntRange(1), default=1, help="Which page of so many sessions.")
@json_option
@config_option
def again(error: tuple[str, ...], *, limit: int, page: int, as_json: bool, config: Config, **given: str | None) -> int:
    """What was run and edited after the same error before, in the sessions where it went away.

    ERROR is the message, or `-` to read it from standard input. Numbers and paths in it need not be the same. Sessions
    in which the failed command passed in the end come first. Exit code 3 when nobody met it, or nothing came of it.

    \b
    afterword again "TooManyConnections: remaining connection slots are reserved"
    make test 2>&1 | afterword again -
    """
    from afterword.app.again import again as met
    from afterword.app.again import as_json_fields
    from afterword.app.reading import reader, zones_of
    from afterword.domain.clock import clock_from

    text = " ".join(error)
    if text == "-":
        text = sys.stdin.read(4 * _ERROR_CHARS)[-_ERROR_CHARS:]
        if not text.strip():
            raise UsageError("standard input is empty", "try: make test 2>&1 | afterword again -")
    with reader(config) as ledger:
        zones, origins = zones_of(config, ledger), ledger.origins()
        found = met(
            ledger,
            config.places.state,
            text,
            _filters(zones, given),
            now_us=clock_from(os.environ)(),
            limit=limit,
            page=page,
        )
    if as_json:
        say_json("again", as_json_fields(text, found, origins))
        return Exit.DONE if found.sessions else Exit.NOTHING
    for one in found.sessions:
        facts = one.session.facts
        words = (_at(zones, one.time_us), one.session.harness, facts.project, one.session.shown_native[:13])
        say(" · ".join(word for word in words if word) + (f" · {facts.title}" if facts.title else ""))
        if one.command:
            say(f"    $ {one.command}   failed" + (f" {one.failures} times" if one.failures > 1 else ""))
        say(f"      {one.error}")
        if one.files:
            say(f"    edited {', '.join(one.files)}")
        for step in one.steps:
            say(f"    $ {step}")
        if one.passed:
            say(f"    $ {one.passed}   passed")
        if one.said:
            say(f"    “{one.said}”")
        _say_place(one.written_in)
    if not found.total:
        note("nobody met this error before")
    elif not found.sessions:
        note(f"{amount(found.total, 'session')} met this error; what came of it is in none of them")
    elif found.words != text:
        note(f"looked for: {found.words}")
    return Exit.DONE if found.sessions else Exit.NOTHING


def _at(zones: Zones, at_us: int) -> str:
    return zones.local(at_us).strftime("%Y-%m-%d %H:%M")


def _say_place(place: tuple[str, str] | None) -> None:
    if place:
        say(f"    → {place[0]} (^{place[1]})")
