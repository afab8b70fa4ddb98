"""`compile`: daily notes into articles."""

import os
from typing import Any

import click
import msgspec

from afterword.app import passes
from afterword.app.config import Config
from afterword.app.program import writer
from afterword.app.provenance import find
from afterword.app.reading import reader
from afterword.cli.output import bars, config_option, json_option, log_to_stderr, note, say, say_diff, say_json
from afterword.cli.remote import by_daemon
from afterword.cli.up import Stop
from afterword.domain.errors import Exit, NotSetUp, UsageError
from afterword.store.ledger.model_calls import newest


@click.command(name="compile", short_help="Turn daily notes into articles.")
@click.option(
    "--file", "files", multiple=True, metavar="NOTE", help="Only this daily note, such as daily/2026-06-10.md."
)
@click.option("--since", metavar="DATE", help="Only days from this one on.")
@click.option("--all", "everything", is_flag=True, help="Every day again, changed or not.")
@click.option("--dry-run", is_flag=True, help="Show what would change in the vault, write nothing.")
@click.option(
    "--engine",
    type=click.Choice(["gemini", "extractive"]),
    help="Who writes the articles this time; with --all also days the other one wrote.",
)
@click.option("--redo", metavar="ARTICLE", help="Write the days of this article anew, also what a model wrote.")
@click.option("--take-over", is_flag=True, help="Compile on this machine from now on; where several share, one does.")
@json_option
@config_option
def compile_(
    *,
    files: tuple[str, ...],
    since: str | None,
    everything: bool,
    dry_run: bool,
    engine: str | None,
    redo: str | None,
    take_over: bool,
    as_json: bool,
    config: Config,
) -> int:
    """Turn the days that are new or changed into three to seven linked articles each, in `knowledge/`.

    What you changed in the vault stays, and what was told before is added to the article that tells it. A day with
    next to nothing in it is skipped (`[compile] min_words`).

    \b
    afterword compile
    afterword compile --file daily/2026-06-10.md --dry-run
    afterword compile --since 2026-06-01
    afterword compile --engine gemini --file daily/2026-06-10.md
    afterword compile --redo "Retry budget of the billing worker"
    """
    if config.vault is None:
        raise NotSetUp("there is no vault yet", "run `afterword init VAULT`, or `afterword up` once")
    if files and (since or everything):
        raise UsageError("--file stands alone", "leave out --since and --all")
    if take_over and dry_run:
        raise UsageError("--take-over changes who compiles", "leave out --dry-run")
    if redo and (files or since or everything):
        raise UsageError("--redo stands alone", "leave out --file, --since and --all")
    upto = 0
    if redo:
        with reader(config) as ledger:
            find(ledger, redo)  # said before anything is begun
            upto = newest(ledger)
    asked = passes.CompileDays(files, since, everything, dry_run, engine, redo, upto, take_over)
    done = by_daemon(config.places.state, "compile", msgspec.to_builtins(asked))
    if done is None:
        log_to_stderr(config)
        with writer(config, os.environ, "compile", telling=bars) as program, bars() as tell:
            done = passes.compile_days(program, asked, tell, Stop())
    if as_json:
        say_json("compile", done)
    else:
        _tell(done)
    failed = any(day["state"] == "failed" for day in done["days"]) or done["vault_problem"]
    return Exit.FAILED if failed else Exit.DONE


def _tell(done: dict[str, Any]) -> None:
    if not done["days"]:
        thin = done["skipped"]
        say("Nothing is new." + (f" Skipped for want of words: {', '.join(thin[-5:])}." if thin else ""))
    for day in done["days"]:
        counts = [f"{len(day[word])} {word}" for word in ("created", "updated") if day[word]]
        said = [day["note"], day["state"], *([", ".join(counts)] if counts else [])]
        say("  ".join(said) + (f"  ({day['reason']})" if day["reason"] else ""))
        again = {article["uid"] for article in day["merged"]}
        for sign, word in (("+", "created"), ("~", "updated")):
            for article in day[word]:
                say(f"  {sign} {article['title']}" + ("  (told before)" if article["uid"] in again else ""))
    if done.get("vault_problem"):
        note(f"Articles were not all written: {done['vault_problem']}. Nothing is lost, they are written later.")
    if done["question"]:
        say(f"{done['question']} articles vanished from the vault at once; they are left alone until that is clear.")
    if done["dry_run"] and done["diff"]:
        say_diff(done["diff"].rstrip("\n"))
    elif done["files"]:
        say(f"{done['files']} files written.")
