"""`index`: brings the semantic index up to date, or makes it again."""

import os

import click

from afterword.app import passes
from afterword.app.config import Config
from afterword.app.program import writer
from afterword.cli.output import bars, config_option, json_option, log_to_stderr, say, say_json
from afterword.cli.remote import by_daemon


@click.command(short_help="Bring the index for search by meaning up to date.")
@click.option("--rebuild", is_flag=True, help="Make it again from nothing; known vectors are used again.")
@json_option
@config_option
def index(*, rebuild: bool, as_json: bool, config: Config) -> None:
    """Bring the index for search by meaning up to date: compare all of it with the ledger, take in what is missing.

    `up` does this by itself. Search is exact-only until the first time is through.
    """
    from afterword.cli.up import Stop

    found = by_daemon(config.places.state, "index", {"rebuild": rebuild})
    if found is None:
        log_to_stderr(config)
        with writer(config, os.environ, "index", telling=bars) as program, bars() as tell:
            found = passes.index(program, passes.Reindex(rebuild), tell, Stop())
    done, status = found["done"], found["index"]
    if as_json:
        say_json("index", found)
    elif done is None:
        say("The semantic index is switched off (index.embedder).")
    else:
        say(
            f"{done['chunks']:,} passages from {status['documents']:,} documents: {done['added']:,} added,"
            f" {done['removed']:,} removed, {done['embedded']:,} embedded."
        )
        say(
            f"{status['share']:.0%} of what was said is found by meaning, all of it by exact words."
            if done["complete"]
            else "Stopped before everything was in; `afterword index` goes on from there."
        )
