"""`share`: one session for somebody else's eyes."""

import os
import sys
from pathlib import Path

import click

from afterword.app.config import Config
from afterword.cli.output import config_option, json_option, note, say, say_json
from afterword.domain.errors import UsageError


@click.command(short_help="A session, scrubbed, as one HTML page or Markdown.")
@click.argument("session")
@click.option("--html", "html_file", type=click.Path(path_type=Path), metavar="FILE", help="Write one HTML file.")
@click.option("--md", "md_file", metavar="FILE", help="Write Markdown; - is standard output, as without any option.")
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@json_option
@config_option
def share(
    *, session: str, html_file: Path | None, md_file: str | None, force: bool, as_json: bool, config: Config
) -> None:
    """The write-up and the conversation of a session, for somebody else: secrets, home folder, user and host name and
    mail addresses replaced once more, with a warning and the count of what was replaced.

    The HTML page is one file that fetches nothing and runs nothing. Patterns are not understanding: read it first.

    \b
    afterword share 019d3c --html session.html
    afterword share 019d3c --md notes.md
    afterword share 019d3c | less
    """
    from afterword.app.reading import reader, redactor
    from afterword.app.share import WARNING, compose, identity, write
    from afterword.app.share_page import html_page, markdown, scrubbed_words
    from afterword.app.sharing import remember
    from afterword.app.show import find
    from afterword.domain.clock import clock_from

    printed = md_file == "-" or (md_file is None and html_file is None)
    if as_json and printed:
        raise UsageError("--json says what was written, so it needs a file", "add --html FILE or --md FILE")
    with reader(config) as ledger:
        shared = compose(config, ledger, session, identity(config))
        its_id = find(ledger, session).id
    written = []
    if html_file is not None:
        path = _absolute(html_file)
        size = write(path, html_page(shared), force=force)
        written.append({"file": str(path), "format": "html", "bytes": size})
    if md_file is not None and md_file != "-":
        path = _absolute(Path(md_file))
        size = write(path, markdown(shared), force=force)
        written.append({"file": str(path), "format": "md", "bytes": size})
    for one in written:
        # What is retracted later is taken out of the file as well, as long as nobody changed it.
        now_us = clock_from(dict(os.environ))()
        remember(config, redactor(config), Path(str(one["file"])), its_id, str(one["format"]), now_us)
    if as_json:
        counts = {"sections": len(shared.sections), "messages": len(shared.said), "left_out": shared.left_out}
        say_json("share", {"written": written, "scrubbed": shared.scrubbed, **counts, "warning": WARNING})
        return
    if printed:
        say(markdown(shared).rstrip("\n"))
    for one in written:
        say(f"Wrote {one['file']}")
    if written or not sys.stdout.isatty():
        note(f"Scrubbed: {scrubbed_words(shared.scrubbed)}.")
        note(WARNING)


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path.expanduser()))  # noqa: PTH100  # links stay: the name is the person's
