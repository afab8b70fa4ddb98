"""`learn` and `distill`: a lesson into the journal, and the journal into facts, topics and agents' files."""

import os
import sys
from pathlib import Path
from typing import Any

import click

from afterword.app.config import Config
from afterword.cli.output import amount, bars, config_option, json_option, note, say, say_json
from afterword.cli.remote import by_daemon
from afterword.cli.up import Stop


@click.command(short_help="Put a lesson into the journal.")
@click.argument("text", nargs=-1, required=True)
@click.option("--agent", "agents", metavar="AGENT", multiple=True, help="Only for this agent; may be given again.")
@click.option("--project", metavar="NAME", help="The project it is about; that of this folder by default.")
@click.option("--everywhere", is_flag=True, help="It is about no project.")
@click.option("--topic", metavar="TOPIC", default="", help="What it is about, in a word or two.")
@click.option(
    "--kind",
    type=click.Choice(["lesson", "dead-end", "local-fact"]),
    default="lesson",
    help="What holds, what was tried and does not work, or what holds on this machine alone.",
)
@click.option("--evidence", metavar="REF", default="", help="What shows it: a session, a link, some words.")
@click.option("--supersedes", metavar="ID", multiple=True, help="The fact (f-…) or lesson (l-…) it takes the place of.")
@click.option("--by", metavar="AGENT", default="", help="Who says it, where that is an agent.")
@click.option("--pin", is_flag=True, help="Agents are told it before anything else.")
@json_option
@config_option
def learn(
    *,
    text: tuple[str, ...],
    agents: tuple[str, ...],
    project: str | None,
    everywhere: bool,
    topic: str,
    kind: Any,
    evidence: str,
    supersedes: tuple[str, ...],
    by: str,
    pin: bool,
    as_json: bool,
    config: Config,
) -> None:
    """Put what was learned into the journal: TEXT, or what comes on stdin for `-`.

    Each lesson is a new file in lessons/journal/ of the vault, or waits in the spool where there is none. Needs no
    daemon and waits for nobody; `afterword distill`, or the daemon, makes facts of it and tells agents.

    \b
    afterword learn "The staging database is reset every night at 03:00"
    afterword learn --kind dead-end --topic ci "Raising the timeout did not cure the flaky upload test"
    git log -1 --format=%B | afterword learn -
    """
    from afterword.app import learning
    from afterword.app.program import machine_name
    from afterword.domain.clock import clock_from
    from afterword.domain.errors import UsageError

    said = " ".join(text)
    if text == ("-",):
        data = sys.stdin.buffer.read(learning.INPUT_MAX_BYTES + 1)
        if len(data) > learning.INPUT_MAX_BYTES:
            raise UsageError("stdin holds more than a lesson", "split it up")
        said = data.decode("utf-8", "replace")
    done = learning.learn(
        config,
        learning.Said(
            text=said,
            source="learn",
            kind=kind,
            folder=Path.cwd(),
            project=project,
            everywhere=everywhere,
            by=by,
            only_agents=agents,
            topic=topic,
            evidence=evidence,
            supersedes=supersedes,
            pinned=pin,
        ),
        clock_from(os.environ),
        machine_name(config),
    )
    if as_json:
        say_json("learn", dict(learning.fields(done)))
        return
    say(f"{done.uid}  {done.path}")
    if done.spooled:
        note("There is no vault to write into now: it waits in the spool.")


@click.command(short_help="Make facts of the journal, for topics and agents.")
@click.option("--engine", type=click.Choice(["gemini", "extractive"]), help="Who does it, in this run.")
@json_option
@config_option
def distill(*, engine: str | None, as_json: bool, config: Config) -> None:
    """Make facts of the journal's entries, each stated once, and bring lessons/topics/ and lessons/agents/ up to date.

    What says the same becomes one fact, of two that cannot both hold the newer one stands. An agent's file holds at
    most 200 lines and 25 KB: pinned facts first, then the newest. Nothing changes where nothing is new. The daemon
    does it by itself (`[lessons] every`).

    \b
    afterword distill
    afterword distill --engine extractive
    """
    from afterword.app import lessons
    from afterword.app.program import writer

    asked = {"engine": engine}
    done = by_daemon(config.places.state, "distill", asked)
    if done is None:
        with writer(config, os.environ, "distill", telling=bars) as program, bars() as tell:
            done = lessons.distill(program, lessons.Distill(engine), tell, Stop())
    if as_json:
        say_json("distill", done)
        return
    if done["runs_on"]:
        note(f"{done['runs_on']} distils; here the files were brought up to date.")
    entries = done["entries"]
    say(
        f"{_entries(entries['new'])} new: {amount(len(done['created']), 'fact')} new, {len(done['joined'])} said again,"
        f" {len(done['superseded'])} superseded; {amount(done['facts'], 'fact')} in all,"
        f" {amount(done['files'], 'file')} written."
    )
    for each in done["bad"]:
        note(f"{each['path']}: {each['problem']}")
    for path, problem in done["problems"].items():
        note(f"{path}: {problem}")
    if entries["question"]:
        note(f"{_entries(entries['question'])} vanished at once: put them back, or delete a few at a time.")


def _entries(count: int) -> str:
    return f"{count:,} {'entry' if count == 1 else 'entries'}"
