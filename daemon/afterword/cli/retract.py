"""`retract` and `undo`: what proved wrong is marked so, and nothing tells it any more; taken back within 30 days."""

import os
from typing import Any

import click
import msgspec

from afterword.app.config import Config
from afterword.cli.output import bars, config_option, json_option, say, say_json
from afterword.cli.remote import by_daemon
from afterword.cli.up import Stop
from afterword.domain.errors import UsageError


@click.command(short_help="Mark what proved wrong: nothing tells it any more.")
@click.argument("what")
@click.option("--reason", metavar="WHY", required=True, help="Why it does not hold; shown in the note.")
@click.option("--replacement", metavar="WHAT", help="What holds in its place: a link or some words.")
@click.option("--yes", is_flag=True, help="Do it; without it only what would be marked is shown.")
@json_option
@config_option
def retract(*, what: str, reason: str, replacement: str | None, yes: bool, as_json: bool, config: Config) -> None:
    """Retract an article or a fact, or every one that says something.

    WHAT is an article's path in the vault, title or id (a-…), a fact's id (f-…), a lesson's (l-…), or a claim in your
    words. A note stays where it is, with a callout that says when and why; search, catalogue, topics and what agents
    are told leave it out, and nothing tells it again. `afterword undo` takes it back within 30 days.

    \b
    afterword retract knowledge/concepts/nas-is-synology.md --reason "it is a fnos box" --yes
    afterword retract "the NAS runs Synology" --reason "it runs fnos"
    """
    from afterword.app import retract as retracting
    from afterword.app.program import writer
    from afterword.app.reading import reader

    if not reason.strip():
        raise UsageError("--reason is empty", "say why it does not hold")
    with reader(config) as ledger:
        found = retracting.places(ledger, what)
    fields: dict[str, Any] = {
        "dry": not yes,
        "articles": [
            {"uid": place.uid, "title": place.title, "path": place.path, "points": list(place.points)}
            for place in found
            if place.kind == "article"
        ],
        "facts": [{"id": place.uid, "text": place.title} for place in found if place.kind != "article"],
    }
    if yes:
        asked = retracting.Retract(tuple(place.uid for place in found), reason, replacement)
        done = by_daemon(config.places.state, "retract", msgspec.to_builtins(asked))
        if done is None:
            with writer(config, os.environ, "retract", telling=bars) as program, bars() as tell:
                done = retracting.retract(program, asked, tell, Stop())
                retracting.do_index(program, tell, Stop())
        fields |= done
    if as_json:
        say_json("retract", fields)
        return
    for place in found:
        say(f"{place.uid}  {place.path or place.title}")
        for point in place.points[:5] if place.kind == "article" else ():
            say(f"  - {point}")
    say("Retracted. `afterword undo` takes it back." if yes else "\nNothing was changed. Say --yes to retract it.")


@click.command(short_help="Take a retraction back; without ID, list what can be.")
@click.argument("id_", metavar="[ID]", required=False)
@json_option
@config_option
def undo(*, id_: str | None, as_json: bool, config: Config) -> None:
    """Take back what was retracted within the last 30 days, here or in Obsidian.

    ID is the article's id (a-…), the path of its note or its title. Without it, what can be undone is listed.

    \b
    afterword undo
    afterword undo a-5b1c09e24d7f
    """
    from afterword.app import retract as retracting
    from afterword.app.program import writer
    from afterword.app.reading import reader, zones_of
    from afterword.domain.clock import clock_from

    with reader(config) as ledger:
        today = zones_of(config, ledger).day(clock_from(dict(os.environ))())
        if id_ is None:
            _list(retracting.retracted(ledger, today), as_json=as_json)
            return
        place = retracting.one_to_undo(ledger, today, id_)
    asked = retracting.Undo(place.uid)
    done = by_daemon(config.places.state, "undo", msgspec.to_builtins(asked))
    if done is None:
        with writer(config, os.environ, "undo", telling=bars) as program, bars() as tell:
            done = retracting.undo(program, asked, tell, Stop())
            retracting.do_index(program, tell, Stop())
    if as_json:
        say_json("undo", done)
    else:
        say(f"{place.title} holds again.")


def _list(found: list[Any], *, as_json: bool) -> None:
    if as_json:
        say_json(
            "undo",
            {
                "retracted": [
                    {
                        "uid": place.uid,
                        "title": place.title,
                        "path": place.path,
                        "retracted_on": place.retracted_on,
                        "reason": place.reason or None,
                    }
                    for place in found
                ]
            },
        )
        return
    if not found:
        say("Nothing was retracted within the last 30 days.")
    for place in found:
        why = f"  ({place.reason})" if place.reason else ""
        say(f"{place.uid}  {place.retracted_on}  {place.title}{why}")
