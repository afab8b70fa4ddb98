"""`unmerge`: what was united in an article by mistake is parted again."""

import os
from typing import Any

import click
import msgspec

from afterword.app.config import Config
from afterword.cli.output import amount, bars, config_option, json_option, say, say_json
from afterword.cli.remote import by_daemon
from afterword.cli.up import Stop
from afterword.domain.errors import UsageError


@click.command(short_help="Part what was merged by mistake; without ARTICLE, list it.")
@click.argument("article", required=False)
@click.argument("parts", nargs=-1, metavar="[TELLING]...")
@click.option("--undo", "take_back", is_flag=True, help="Let what was parted from ARTICLE unite again.")
@click.option("--yes", is_flag=True, help="Do it; without it only what would be parted is shown.")
@json_option
@config_option
def unmerge(
    *, article: str | None, parts: tuple[str, ...], take_back: bool, yes: bool, as_json: bool, config: Config
) -> None:
    """Part what was merged into an article: each telling becomes an article of its own and stays one, in every later
    compile. What you wrote stays in the note it is in.

    ARTICLE is its path in the vault, title or id (a-…); a TELLING is a day or an id as the list shows them, and
    without one all are parted. Without ARTICLE everything that was merged is listed, and everything that was parted.

    \b
    afterword unmerge
    afterword unmerge knowledge/concepts/ci-shared-tempdir-race.md 2026-06-12 --yes
    afterword unmerge a-5b1c09e24d7f --undo --yes
    """
    from afterword.app import parting
    from afterword.app.program import writer
    from afterword.app.reading import reader
    from afterword.app.retract import do_index

    if article is None:
        if take_back or yes:
            raise UsageError("unmerge: no article is named", "`afterword unmerge` lists what was merged")
        _list(config, as_json=as_json)
        return
    with reader(config) as ledger:
        if take_back:
            shown = [(one.part, one.day, title) for one, _, title in _meant(ledger, article)]
            asked = parting.Part(article, (), undo=True)
        else:
            meant, tellings = parting.chosen(ledger, article, parts)
            shown = [(one.uid, one.day, one.title) for one in tellings]
            asked = parting.Part(meant.uid, tuple(one.uid for one in tellings))
    fields: dict[str, Any] = {
        "dry": not yes,
        "article": asked.uid,
        "tellings": [{"uid": uid, "day": day, "title": title} for uid, day, title in shown],
    }
    if yes:
        done = by_daemon(config.places.state, "unmerge", msgspec.to_builtins(asked))
        if done is None:
            with writer(config, os.environ, "unmerge", telling=bars) as program, bars() as tell:
                done = parting.part(program, asked, tell, Stop())
                do_index(program, tell, Stop())
        fields |= done
    if as_json:
        say_json("unmerge", fields)
        return
    for uid, day, title in shown:
        say(f"{uid}  {day}  {title}")
    if not yes:
        say(f"\nNothing was changed. Say --yes to {'unite' if take_back else 'part'} {amount(len(shown), 'telling')}.")
    elif take_back:
        say("They may be merged again.")
    else:
        say("Parted. `afterword unmerge --undo` takes it back.")


def _meant(ledger: Any, article: str) -> list[Any]:
    from afterword.app import parting

    held = set(parting.to_undo(ledger, article))
    return [row for row in parting.parted(ledger) if row[0] in held]


def _list(config: Config, *, as_json: bool) -> None:
    from afterword.app import parting
    from afterword.app.reading import reader

    with reader(config) as ledger:
        united, parted = parting.united(ledger), parting.parted(ledger)
    if as_json:
        rows = [{"article": one.article, "part": one.part, "day": one.day, "title": title} for one, _, title in parted]
        say_json("unmerge", {"united": msgspec.to_builtins(united), "parted": rows})
        return
    for article in united:
        say(f"{article.uid}  {article.path or article.title}")
        for telling in (article.first, *article.others):
            say(f"  {telling.uid}  {telling.day}  {telling.title}")
    for one, title, part in parted:
        say(f"parted on {one.day}: {part} ({one.part}) from {title} ({one.article})")
    if not united and not parted:
        say("Nothing was merged.")
