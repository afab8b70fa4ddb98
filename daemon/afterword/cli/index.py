"""`index`: brings the semantic index up to date, or makes it again."""

import os
from typing import TYPE_CHECKING

import click

from afterword.app.config import Config
from afterword.cli.output import bar, config_option, json_option, say, say_json

if TYPE_CHECKING:
    from afterword.index.building import Progress


@click.command(short_help="Bring the index for search by meaning up to date.")
@click.option("--rebuild", is_flag=True, help="Make it again from nothing; known vectors are used again.")
@json_option
@config_option
def index(*, rebuild: bool, as_json: bool, config: Config) -> None:
    """Bring the index for search by meaning up to date: compare all of it with the ledger, take in what is missing.

    `up` does this by itself. Search is exact-only until the first time is through.
    """
    import msgspec

    from afterword.app.indexing import index_status
    from afterword.app.program import writer
    from afterword.cli.up import Stop

    with writer(config, os.environ, "index") as program:
        stop = Stop()
        with bar("Indexing", "documents") as move:

            def progress(now: "Progress") -> None:
                move(now.documents, now.of, f"documents, {now.embedded:,} passages new")

            done = program.index.catch_up(on_progress=progress, stop=stop, thorough=True, rebuild=rebuild)
        status = index_status(config, program.ledger)
    if as_json:
        say_json("index", {"done": msgspec.to_builtins(done), "index": status})
    elif done is None:
        say("The semantic index is switched off (index.embedder).")
    else:
        say(
            f"{done.chunks:,} passages from {status['documents']:,} documents: {done.added:,} added,"
            f" {done.removed:,} removed, {done.embedded:,} embedded."
        )
        say(
            f"{status['share']:.0%} of what was said is found by meaning, all of it by exact words."
            if done.complete
            else "Stopped before everything was in; `afterword index` goes on from there."
        )
