"""`retract` and `undo`: what proved wrong is marked so, and nothing tells it any more; taken back within 30 days."""

import os
import sys
from typing import TYPE_CHECKING, Any

import click
import msgspec

from afterword.app.config import Config
from afterword.cli.output import bars, config_option, json_option, note, say, say_json
from afterword.cli.remote import by_daemon
from afterword.cli.up import Stop
from afterword.domain.errors import UsageError

if TYPE_CHECKING:
    from afterword.app.retract_places import Found, Place


@click.command(short_help="Mark what proved wrong: nothing tells it any more.")
@click.argument("what")
@click.option("--reason", metavar="WHY", required=True, help="Why it does not hold; shown in the note.")
@click.option("--replacement", metavar="WHAT", help="What holds in its place: a link or some words.")
@click.option("--yes", is_flag=True, help="Do it; without it only what would be marked is shown.")
@json_option
@config_option
def retract(*, what: str, reason: str, replacement: str | None, yes: bool, as_json: bool, config: Config) -> None:
    """Retract an article or a lesson, or everything that says something.

    WHAT is an article's path in the vault, title or id (a-…), a lesson's id (f-… or l-…), or a claim in your words.
    Every place that states it is found: articles, lessons with their topics and agents' files, files it was shared
    into. Notes stay where they are, with a callout that says when and why; pages that led to them get a note; search,
    catalogue and what agents are told leave it out, and nothing tells it again from old days. On a terminal you are
    asked before anything is changed. `afterword undo` takes it back within 30 days.

    \b
    afterword retract knowledge/concepts/nas-is-synology.md --reason "it is a fnos box" --yes
    afterword retract "the NAS runs Synology" --reason "it runs fnos" --replacement "The NAS runs fnos"
    """
    from afterword.app import retract as retracting
    from afterword.app.program import writer
    from afterword.app.reading import reader
    from afterword.app.retract_places import as_json as fields_of

    if not reason.strip():
        raise UsageError("--reason is empty", "say why it does not hold")
    with reader(config) as ledger:
        found = retracting.places(ledger, what)
    if not as_json:
        _show(found)
        yes = yes or _agrees()
    fields: dict[str, Any] = {"dry": not yes, **fields_of(found)}
    if yes:
        asked = retracting.Retract(found.members, reason, replacement, found.parts)
        done = by_daemon(config.places.state, "retract", msgspec.to_builtins(asked))
        if done is None:
            with writer(config, os.environ, "retract", telling=bars) as program, bars() as tell:
                done = retracting.retract(program, asked, tell, Stop())
                retracting.do_index(program, tell, Stop())
        fields |= done
    if as_json:
        say_json("retract", fields)
    elif yes:
        for path in fields.get("shares_left", []):
            note(f"{path} was shared, and somebody changed it since: it still says so")
        say(f"Retracted. `afterword undo {fields.get('id') or ''}` takes it back.")
    else:
        say("\nNothing was changed. Say --yes to retract it.")


def _show(found: "Found") -> None:
    for place in found.articles:
        say(f"{place.uid}  {place.path or place.title}{'' if place.whole else '  (these points alone)'}")
        for point in place.points[:5]:
            say(f"  - {point}")
    for fact in found.facts:
        agents = ", ".join(fact.agents) or "all agents"
        say(f"{fact.id}  lesson in {fact.topic}, told to {agents}")
        say(f"  - {fact.text}")
    for path in found.linked:
        say(f"  {path} leads to it: gets a note")
    for share in found.shares:
        said = {"ours": "is written again", "changed": "was changed since, and is left to you", "gone": "is gone"}
        say(f"  {share.path} was shared: {said[share.state]}")
    for record in found.records[:5]:
        say(f"  said on {record.day}{f' ({record.path})' if record.path else ''}: stays as a record, marked in search")


def _agrees() -> bool:
    """Whether a person at a terminal says so."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    return click.confirm("\nRetract all of these?", default=False)


@click.command(short_help="Take a retraction back; without ID, list what can be.")
@click.argument("id_", metavar="[ID]", required=False)
@json_option
@config_option
def undo(*, id_: str | None, as_json: bool, config: Config) -> None:
    """Take back what was retracted within the last 30 days, here or in Obsidian.

    ID is that of a retraction (r-…: all that was retracted together), an article (a-…, or the path of its note, or its
    title) or a lesson (f-…). Without it, what can be undone is listed.

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
        found = retracting.to_undo(ledger, today, id_)
    asked = retracting.Undo(id_)
    done = by_daemon(config.places.state, "undo", msgspec.to_builtins(asked))
    if done is None:
        with writer(config, os.environ, "undo", telling=bars) as program, bars() as tell:
            done = retracting.undo(program, asked, tell, Stop())
            retracting.do_index(program, tell, Stop())
    if as_json:
        say_json("undo", done)
    else:
        for one in found:
            say(f"{one.title} holds again.")


def _list(found: "list[Place]", *, as_json: bool) -> None:
    if as_json:
        rows = [
            {
                "uid": one.uid,
                "kind": one.kind,
                "together": one.together or None,
                "title": one.title,
                "path": one.path,
                "retracted_on": one.retracted_on,
                "reason": one.reason or None,
            }
            for one in found
        ]
        say_json("undo", {"retracted": rows})
        return
    if not found:
        say("Nothing was retracted within the last 30 days.")
    for one in found:
        why = f"  ({one.reason})" if one.reason else ""
        together = f"  {one.together}" if one.together else ""
        say(f"{one.uid}  {one.retracted_on}  {one.title}{why}{together}")
