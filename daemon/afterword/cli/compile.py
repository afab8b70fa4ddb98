"""`compile`: daily notes into articles."""

import os
from pathlib import Path
from typing import Any

import click

from afterword.app.config import Config
from afterword.app.program import writer
from afterword.cli.output import bar, config_option, json_option, say, say_json
from afterword.domain.errors import Exit, NotSetUp, UsageError


@click.command(name="compile", short_help="Turn daily notes into articles.")
@click.option(
    "--file", "files", multiple=True, metavar="NOTE", help="Only this daily note, such as daily/2026-06-10.md."
)
@click.option("--since", metavar="DATE", help="Only days from this one on.")
@click.option("--all", "everything", is_flag=True, help="Every day again, changed or not.")
@click.option("--dry-run", is_flag=True, help="Show what would change in the vault, write nothing.")
@json_option
@config_option
def compile_(
    *, files: tuple[str, ...], since: str | None, everything: bool, dry_run: bool, as_json: bool, config: Config
) -> int:
    """Turn the days that are new or changed into three to seven linked articles each, in `knowledge/`.

    Sections already in an article are not sent again, what you changed in the vault stays, and what was told before
    is added to the article that tells it.

    \b
    afterword compile
    afterword compile --file daily/2026-06-10.md --dry-run
    afterword compile --since 2026-06-01
    """
    if config.vault is None:
        raise NotSetUp("there is no vault yet", "run `afterword init VAULT`, or `afterword up` once")
    if files and (since or everything):
        raise UsageError("--file stands alone", "leave out --since and --all")
    with writer(config, os.environ, "compile") as program:
        compiling = program.compiling
        days = compiling.days(files=files, since=since, everything=everything)
        with bar("Compiling", "days") as move:
            done = compiling.run(days, again=everything, dry=dry_run, on_progress=lambda n, all_: move(n, all_, "days"))
    folder = config.settings.vault.daily
    if as_json:
        say_json(
            "compile",
            {
                "days": [_day(folder, day, done.titles) for day in done.days],
                "files": done.files,
                "dry_run": dry_run,
                **({"diff": done.diff} if dry_run else {}),
            },
        )
    else:
        _tell(folder, done, dry=dry_run)
    return Exit.FAILED if any(day.state == "failed" for day in done.days) else Exit.DONE


def _day(folder: str, day: Any, titles: dict[Any, str]) -> dict[str, Any]:
    def named(uids: tuple[Any, ...]) -> list[dict[str, str]]:
        return [{"uid": uid, "title": titles.get(uid, "")} for uid in uids]

    return {
        "note": Path(folder, f"{day.day}.md").as_posix(),
        "state": day.state,
        "reason": day.reason or None,
        "created": named(day.created),
        "updated": named(day.updated),
        "merged": named(day.merged),
    }


def _tell(folder: str, done: Any, *, dry: bool) -> None:
    if not done.days:
        say("Nothing is new: every day is compiled.")
    for day in done.days:
        counts = [f"{len(uids)} {word}" for word, uids in (("created", day.created), ("updated", day.updated)) if uids]
        say(
            f"{folder}/{day.day}.md  {day.state}"
            + (f"  {', '.join(counts)}" if counts else "")
            + (f"  ({day.reason})" if day.reason else "")
        )
        for word, uids in (("+", day.created), ("~", day.updated)):
            for uid in uids:
                say(f"  {word} {done.titles.get(uid, uid)}" + ("  (told before)" if uid in day.merged else ""))
    if done.seen.question:
        say(f"{done.seen.question} articles vanished from the vault at once; they are left alone until that is clear.")
    if dry and done.diff:
        say(done.diff.rstrip("\n"))
    elif not dry and done.files:
        say(f"{done.files} files written.")
