"""The command line as click sees it: a lazy table of commands. What click has to say becomes an error of ours."""

import sys
from typing import Any

import click

from afterword import __version__
from afterword.cli.commands import COMMANDS, imported
from afterword.domain.errors import AfterwordError, Exit


class Misused(AfterwordError):
    """A command was called in a way it cannot be called."""

    kind = "usage"
    code = Exit.USAGE


class Stopped(AfterwordError):
    """Ctrl-C, where nothing had to be finished."""

    kind = "stopped"


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


def run() -> Any:
    """Do what the command line says; the command's exit code, or None.

    Raises:
        Misused: it says something that cannot be.
        Stopped: it was interrupted.
    """
    try:
        return cli.main(standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as err:
        sys.stdout.write(err.format_message() + "\n")
        return Exit.USAGE
    except click.exceptions.Abort as err:
        raise Stopped("stopped") from err
    except click.ClickException as err:
        hint = f"see `{err.ctx.command_path} --help`" if isinstance(err, click.UsageError) and err.ctx else ""
        raised = Misused(err.format_message(), hint)
        raised.code = Exit(err.exit_code)
        raise raised from err
