"""`recall`: what a session in this folder begins with, and why."""

from pathlib import Path

import click

from afterword.app.config import Config
from afterword.cli.output import config_option, json_option, note, say, say_json
from afterword.domain.errors import Exit


@click.command(short_help="What a session in this folder begins with.")
@click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@json_option
@config_option
def recall(*, folder: Path | None, as_json: bool, config: Config) -> int:
    """What is known of the project in FOLDER (or here), as the hook prints it when an agent's session starts.

    The newest articles of the project come first, as many as the budget holds; a sub-folder and a git worktree get
    their main checkout's. Exit code 3 when nothing is known yet.
    """
    import msgspec

    from afterword.app.reading import reader
    from afterword.app.ready import BUDGET_CHARS, of_folder

    with reader(config) as ledger:
        project, lines = of_folder(ledger, (folder or Path.cwd()).absolute())
    if as_json:
        rows = [msgspec.to_builtins(line) for line in lines]
        say_json("recall", {"project": project, "budget_chars": BUDGET_CHARS, "results": rows})
    elif lines:
        say(f"{project}: {len(lines)} of its articles, the newest first")
        for line in lines:
            say(line.text)
            say(f"    updated {line.updated}")
    else:
        note(f"nothing is known of {project} yet")
    return Exit.DONE if lines else Exit.NOTHING
