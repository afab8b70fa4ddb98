"""The command line: a lazy table of commands, one place where errors become words and exit codes."""

import json
import os
import sqlite3
import sys
from typing import Any

import click

from afterword import __version__
from afterword.cli.commands import COMMANDS, imported
from afterword.domain.errors import AfterwordError, Exit


class LazyGroup(click.Group):
    """A group whose commands are rows of the table above, so that `--help` imports none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = imported(COMMANDS[cmd_name][0])
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_line) for name, (_, help_line) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as err:
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, 1)
            if near:
                raise click.UsageError(f"{err.message.rstrip('.')}. Did you mean {near[0]!r}?", ctx) from err
            raise


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", message="afterword %(version)s")
def cli() -> None:
    """What your coding agents did, written up: daily notes in an Obsidian vault, and exact search over everything.

    \b
    Start with:  afterword up
    Then:        afterword search "SSL_ERROR_SYSCALL"
    """


def main() -> None:
    """Run a command; every error becomes one sentence with its fix and the exit code scripts rely on."""
    if sys.platform == "win32":
        sys.stderr.write("afterword: runs on Linux and macOS only, not on Windows\n")
        sys.exit(Exit.FAILED)
    as_json = "--json" in sys.argv
    try:
        code = cli.main(standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else Exit.DONE)
    except click.exceptions.NoArgsIsHelpError as err:
        sys.stdout.write(err.format_message() + "\n")
        sys.exit(Exit.USAGE)
    except click.exceptions.Abort:
        _fail(as_json, "stopped", "stopped", "", Exit.FAILED)
    except click.ClickException as err:
        hint = f"see `{err.ctx.command_path} --help`" if isinstance(err, click.UsageError) and err.ctx else ""
        _fail(as_json, "usage", err.format_message(), hint, Exit(err.exit_code))
    except AfterwordError as err:
        _fail(as_json, err.kind, err.message, err.hint, err.code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(Exit.FAILED)
    except OSError as err:
        where = f": {err.filename}" if err.filename else ""
        _fail(as_json, "system", f"{err.strerror or err}{where}", "check the disk and the permissions", Exit.FAILED)
    except sqlite3.OperationalError as err:
        _fail(as_json, "system", f"the database could not be used: {err}", "see `afterword doctor`", Exit.FAILED)
    except sqlite3.DatabaseError as err:
        _fail(as_json, "data", f"the ledger is damaged: {err}", "see `afterword doctor`", Exit.FAILED)
    except Exception:  # noqa: BLE001  # a bug keeps its traceback, but not the texts that may be in it
        import traceback

        from afterword.cli.output import clean

        sys.stderr.write(clean(traceback.format_exc()))
        _fail(as_json, "bug", "this is a bug in afterword", "please report it with the lines above", Exit.FAILED)


def _fail(as_json: bool, kind: str, message: str, hint: str, code: Exit) -> None:
    # A message may quote a file name or a query, so it leaves like every other text.
    from afterword.cli.output import clean

    message, hint = clean(message), clean(hint)
    if as_json:
        error: dict[str, Any] = {"version": 1, "error": {"kind": kind, "message": message, "hint": hint}}
        sys.stdout.write(json.dumps(error, ensure_ascii=False) + "\n")
    if hint and message.endswith(("?", ".", "!")):
        hint = hint[:1].upper() + hint[1:]
    elif hint:
        message += ":"
    sys.stderr.write(f"afterword: {message}{f' {hint}' if hint else ''}\n")
    sys.exit(code)
