"""`report`: one page with pictures of what there is."""

import os
from pathlib import Path
from typing import Literal

import click

from afterword.app.config import Config
from afterword.cli.output import config_option, json_option, say, say_json
from afterword.domain.errors import UsageError

_NAME = "report.html"


@click.command(short_help="One page with pictures: what there is, what it came to, what it cost.")
@click.option("--open", "show", is_flag=True, help="Open the page in the browser.")
@click.option("--format", "kind", type=click.Choice(["html", "md"]), help="HTML (the default) or Markdown.")
@click.option("--since", metavar="DATE", help="Count from this day on, like 2026-06-10.")
@click.option("--force", is_flag=True, help="Replace FILE also where it is no report.")
@click.option("-o", "--output", "file", metavar="FILE", help="Write it here; - is standard output.")
@json_option
@config_option
def report(
    *,
    show: bool,
    kind: Literal["html", "md"] | None,
    since: str | None,
    force: bool,
    file: str | None,
    as_json: bool,
    config: Config,
) -> None:
    """Sessions a day and agent, articles, doubles that were merged, what is left to do, what it cost and what failed.

    The HTML page is one file that fetches nothing and runs nothing. Without -o it is kept beside the ledger, readable
    by you alone, and Markdown is printed.

    \b
    afterword report --open
    afterword report --since 2026-06-01 -o june.html
    afterword report --format md | less
    """
    from afterword.app.reading import reader, redactor
    from afterword.app.report import as_json as fields_of
    from afterword.app.report import gather, write
    from afterword.app.report_page import html_page
    from afterword.app.report_text import markdown
    from afterword.domain.clock import clock_from

    kind = kind or ("md" if file and file.endswith(".md") else "html")
    printed = file == "-" or (file is None and kind == "md")
    if show and (printed or kind == "md"):
        raise UsageError("--open needs the HTML page in a file", "leave out --format, and `-o -`")
    with reader(config) as ledger:
        found = gather(config, ledger, clock_from(dict(os.environ)), redactor(config), since)
    if as_json and file is None:
        say_json("report", fields_of(found))
        if not show:
            return
    page = html_page(found) if kind == "html" else markdown(found)
    if printed:
        say(page.rstrip("\n"))
        return
    path = Path(os.path.abspath(Path(file).expanduser())) if file else config.places.state / _NAME  # noqa: PTH100
    write(path, page, force=force or file is None)
    if as_json:
        if file is not None:
            say_json("report", {**fields_of(found), "written": str(path)})
    else:
        say(f"Wrote {path}")
    if show:
        from afterword.cli.open import start

        start(path.as_uri())
