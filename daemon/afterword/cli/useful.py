"""`useful`: a person's word that an article helped."""

import os

import click

from afterword.app.config import Config
from afterword.cli.output import config_option, json_option, say, say_json


@click.command(short_help="Say that an article helped: it ranks a little higher.")
@click.argument("article")
@json_option
@config_option
def useful(*, article: str, as_json: bool, config: Config) -> None:
    """Count ARTICLE (its path in the vault, title or id, a-…) as cited once more.

    What is opened and cited ranks a little higher in search and in what a session begins with; how much is bounded.

    \b
    afterword useful knowledge/concepts/flaky-login-test.md
    """
    from afterword.app import using
    from afterword.app.reading import reader, zones_of
    from afterword.domain.clock import clock_from

    with reader(config) as ledger:
        day = zones_of(config, ledger).day(clock_from(dict(os.environ))())
        done = using.useful(config.places.state, ledger, article, day)
    if as_json:
        say_json("useful", done)
    else:
        say(f"Counted: {done['title']}")
