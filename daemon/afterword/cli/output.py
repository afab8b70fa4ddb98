"""Printing: results to stdout, everything else to stderr, every text once more through the redactor."""

import functools
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from afterword.app.config import Config, load
from afterword.redact.exits import leave, leave_tree
from afterword.redact.redactor import Redactor, at_exit

F = TypeVar("F", bound=Callable[..., Any])

_redactor: list[Redactor] = []


def _way_out() -> Redactor:
    # Starts on the plain engine, in a millisecond, and turns to the fast one when much is printed.
    if not _redactor:
        _redactor.append(Redactor())
    return _redactor[0]


def clean(text: str) -> str:
    """A text as it may leave for the terminal: redacted, and without control characters that could drive it."""
    return _printable(leave("terminal", text, _way_out()))


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in "\n\t" else "\ufffd" for char in text)


def say(text: str = "") -> None:
    """A line of result; at once, also where nobody looks at a terminal."""
    sys.stdout.write(clean(text) + "\n")
    sys.stdout.flush()


_COLOURS = {"+": "32", "-": "31", "@": "36"}


def say_diff(text: str) -> None:
    """A unified diff; on a terminal in colours, unless NO_COLOR is set."""
    shown = clean(text)
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        rows = [(_COLOURS.get(row[:1], ""), row) for row in shown.split("\n")]
        shown = "\n".join(f"\x1b[{colour}m{row}\x1b[0m" if colour else row for colour, row in rows)
    sys.stdout.write(shown + "\n")
    sys.stdout.flush()


def command_name() -> str:
    """How this program is called from here: by its name, or by its path where the name would not find it."""
    import shutil

    given = Path(sys.argv[0])
    return "afterword" if given.name != "afterword" or shutil.which("afterword") == str(given) else str(given)


def amount(count: int, noun: str) -> str:
    """`1 section`, `2,000 sections`."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def note(text: str) -> None:
    """A line beside the result."""
    sys.stderr.write(clean(text) + "\n")
    sys.stderr.flush()


def say_json(command: str, fields: dict[str, Any]) -> None:
    """The one object a `--json` command prints."""
    answer = leave_tree("json-output", {"version": 1, "command": command, **fields}, _way_out())
    sys.stdout.write(json.dumps(answer, ensure_ascii=False) + "\n")


def settings(config_file: Path | None = None) -> Config:
    """The settings in force, for any command; from here on what is printed goes through a person's own rules too."""
    config = load(config_file)
    own = config.settings.redact
    if own.extra or own.allow:
        _redactor[:] = [at_exit("auto", own.extra, own.allow)]
    return config


def log_to_stderr(config: Config) -> None:
    """For commands that write: what is logged goes to stderr, redacted."""
    from afterword.redact.logs import begin

    begin(_way_out(), config.settings.log.level.upper())


def config_option(command: F) -> F:
    """Adds `--config FILE` and gives the command its `Config` as `config`."""
    import click

    @click.option(
        "--config",
        "config_file",
        type=click.Path(path_type=Path),
        help="Use this config.toml instead of the usual one.",
    )
    @functools.wraps(command)
    def wrapped(*args: Any, config_file: Path | None, **named: Any) -> Any:
        config = settings(config_file)
        return command(*args, config=config, **named)

    return wrapped  # type: ignore[return-value]  # functools.wraps keeps the signature that click reads


def json_option(command: F) -> F:
    """Adds `--json`, which the command gets as `as_json`."""
    import click

    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(command)


@contextmanager
def bar(what: str, unit: str) -> Iterator[Callable[[int, int, str], None]]:
    """A progress bar on a terminal; elsewhere nothing. Give it (done, all, a word about it)."""
    if not sys.stderr.isatty():
        yield lambda _done, _all, _word: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[amount]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None, amount="")

        def move(done: int, total: int, word: str) -> None:
            shown = f"{done / 1e6:,.0f} of {total / 1e6:,.0f} MB" if unit == "bytes" else f"{done:,} of {total:,}"
            speed = progress.tasks[0].speed
            shown += f" at {speed / 1e6:,.1f} MB/s" if unit == "bytes" and speed else ""
            shown += f" at {speed * 60:,.0f} a minute" if unit == "steps" and speed else ""
            progress.update(task, completed=done, total=max(total, 1), amount=f"{shown} {word}")

        yield move


@contextmanager
def bars() -> Iterator[Callable[[str, str, int, int, str], None]]:
    """A bar for each phase of a pass, one after the other: tell it (phase, unit, done, all, a word about it)."""
    with ExitStack() as stack:
        shown = ""
        move: Callable[[int, int, str], None] = lambda _done, _all, _word: None  # noqa: E731

        def tell(phase: str, unit: str, done: int, total: int, word: str) -> None:
            nonlocal shown, move
            if phase != shown:
                stack.close()
                shown, move = phase, stack.enter_context(bar(phase, unit))
            move(done, total, word)

        yield tell


def table(rows: Sequence[tuple[str, ...]]) -> None:
    """Columns that line up, without borders: reads well and pipes well."""
    if not rows:
        return
    rows = [tuple(clean(cell) for cell in row) for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        sys.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n")
