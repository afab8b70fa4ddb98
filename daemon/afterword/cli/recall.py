"""`recall`: what a session in this folder begins with, and why."""

import os
from pathlib import Path

import click

from afterword.app.config import Config
from afterword.cli.output import config_option, json_option, note, say, say_json
from afterword.domain.errors import Exit


@click.command(short_help="What a session in this folder begins with, and why.")
@click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--agent", default="claude", metavar="AGENT", help="For this agent: claude (the default), codex, …")
@json_option
@config_option
def recall(*, folder: Path | None, agent: str, as_json: bool, config: Config) -> int:
    """What is known of the project in FOLDER (or here), as the hook prints it when an agent's session starts.

    First what was learned for the agent and in the project, pinned and newest first; then the project's articles by
    use and age, as many as `[recall] tokens` holds. Below each line stands why it is there. A sub-folder and a git
    worktree get their main checkout's. Exit code 3 when nothing is known yet.

    \b
    afterword recall
    afterword recall ~/src/harbor-api --agent codex
    """
    import msgspec

    from afterword.app.reading import reader, zones_of
    from afterword.app.ready import of_folder
    from afterword.app.using import RANKS
    from afterword.domain.clock import clock_from
    from afterword.memory.context import CHARS_A_TOKEN
    from afterword.store import use_log

    with reader(config) as ledger:
        today = zones_of(config, ledger).day(clock_from(dict(os.environ))())
        project, found = of_folder(config, ledger, (folder or Path.cwd()).absolute(), agent, today)
    shown = [line.id for line in found.lines if line.kind == "article"]
    use_log.note(config.places.state, "returned", shown[:RANKS], today)
    if as_json:
        rows = [msgspec.to_builtins(line) for line in found.lines]
        left = {"lessons": found.lessons_left, "articles": found.articles_left}
        budget = config.settings.recall.tokens * CHARS_A_TOKEN
        say_json(
            "recall", {"project": project, "agent": agent, "budget_chars": budget, "left_out": left, "results": rows}
        )
    elif found.lines:
        articles = len(shown)
        say(f"{project}: {len(found.lines) - articles} lessons and {articles} articles")
        for line in found.lines:
            say(line.text)
            say(f"    {', '.join(line.why)}")
        if found.lessons_left or found.articles_left:
            note(f"{found.lessons_left} more lessons and {found.articles_left} more articles did not fit")
    else:
        note(f"nothing is known of {project} yet")
    return Exit.DONE if found.lines else Exit.NOTHING
