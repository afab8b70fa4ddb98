"""`forget`: take something out of everything that was ever written, for good."""

import os
from typing import Any, Final

import click
import msgspec

from afterword.app.config import Config
from afterword.app.forget_targets import Selector
from afterword.cli.output import amount, bars, config_option, json_option, note, say, say_json
from afterword.cli.remote import followed
from afterword.cli.up import Stop
from afterword.domain.errors import Exit, UsageError

_SHOWN: Final = 20


@click.command(short_help="Take something out of everything, for good; shows first what goes.")
@click.argument("session", required=False)
@click.option("--project", metavar="P", help="All sessions of a project, by its name or folder, as of now.")
@click.option("--before", metavar="DATE", help="Everything said before this day.")
@click.option("--agent", metavar="A", help="All sessions of an agent, such as codex, as of now.")
@click.option("--match", metavar="TEXT", help="Everything that holds this text, in any case.")
@click.option("--yes", is_flag=True, help="Do it; without it only what would go is shown.")
@click.option("--also-my-text", is_flag=True, help="Take it out of what you wrote in the vault, too.")
@click.option("--prune-backups", is_flag=True, help="Delete the backups that hold it.")
@json_option
@config_option
def forget(
    *,
    session: str | None,
    project: str | None,
    before: str | None,
    agent: str | None,
    match: str | None,
    yes: bool,
    also_my_text: bool,
    prune_backups: bool,
    as_json: bool,
    config: Config,
) -> int:
    """Forget a session, a project, a time, an agent or a text: in the ledger, search, notes and articles.

    Shows what goes; --yes does it. It stays away, whatever is read again. A session's later messages are
    refused too. What you wrote yourself is listed and stays, unless you say --also-my-text. Exit code 1 while
    something of ours still holds it.

    \b
    afterword forget 3f2a91c0
    afterword forget --match "Project Zebra" --yes
    afterword forget --project old-client --yes --prune-backups
    """
    from afterword.app import forget as forgetting

    selector = Selector(session, project, before, agent, match)
    if not yes and (also_my_text or prune_backups):
        raise UsageError("--also-my-text and --prune-backups change something", "say --yes as well")
    found = forgetting.preview(config, selector)
    fields: dict[str, Any] = {"dry": not yes, **forgetting.fields(found)}
    if not yes:
        if as_json:
            say_json("forget", fields)
        else:
            _tell(fields)
            say("\nNothing was changed. Say --yes to forget it.")
        return Exit.DONE
    if also_my_text:
        unchanged = forgetting.strike(config, found)
        selector = msgspec.structs.replace(selector, look=bool(found.lines))
        fields["your_text"] = [{"path": line.path, "line": line.line} for line in unchanged]
    given = {name: value for name, value in msgspec.structs.asdict(selector).items() if value}
    done: dict[str, Any] | None = {"left": [], "vault_away": False}
    if found.targets.items or not found.targets.wanted.empty or selector.look:
        done = followed(config.places.state, "/v1/forget", given)
    if done is None:
        done = forgetting.do_here(config, os.environ, selector, bars, Stop())
    backups = [str(path) for path in (forgetting.prune(found) if prune_backups else found.backups)]
    left = [*done["left"], *forgetting.remains(config, selector, found)]
    fields |= {"backups": backups, "left": left, "vault_away": done["vault_away"]}
    if as_json:
        say_json("forget", fields)
    else:
        _tell_done(fields)
    return Exit.FAILED if left or backups or done["vault_away"] else Exit.DONE


def _tell(fields: dict[str, Any]) -> None:
    whole = [one for one in fields["sessions"] if one["whole"]]
    say(f"{amount(fields['items'], 'message')} and tool calls in {amount(len(fields['sessions']), 'session')} go:")
    for one in fields["sessions"][:_SHOWN]:
        part = "all of it" if one["whole"] else f"{one['items']} of {one['of']}"
        title = f"  {one['title'][:60]}" if one["title"] else ""
        say(f"  {one['id'][:8]}  {one['harness']}  {one['project'] or '-'}  {part}{title}")
    _more(fields["sessions"])
    if len(whole) < len(fields["sessions"]):
        say("  Of a message that holds it the whole message goes.")
    if fields["copies"]:
        say(f"{amount(fields['copies'], 'message')} elsewhere that say the very same go too.")
    if fields["shared"]:
        say(f"{amount(fields['shared'], 'message')} were taken over from other sessions and stay there.")
    for one in fields["notes"][:_SHOWN]:
        say(f"{one['note']}: {amount(one['sections'], 'section')}")
    _more(fields["notes"])
    for one in fields["articles"][:_SHOWN]:
        left = one["points"] - one["points_lost"]
        fate = f"{left} of {one['points']} points stay" if left else "goes"
        say(f"{one['path'] or one['title']}: {fate}")
    _more(fields["articles"])
    if fields["lessons"]:
        say(f"{amount(fields['lessons'], 'lesson')} of the journal, and what topics and agents' files have of them.")
    if fields["contexts"]:
        say(f"{amount(fields['contexts'], 'ready context')} are written anew.")
    _tell_kept(fields)


def _tell_kept(fields: dict[str, Any]) -> None:
    for path in fields["backups"]:
        say(f"{path}: this backup holds it (--prune-backups deletes it)")
    if fields["your_text"]:
        say("Your own text that holds it, which stays unless you say --also-my-text:")
        for one in fields["your_text"][:_SHOWN]:
            say(f"  {one['path']}:{one['line']}")
        _more(fields["your_text"])


def _tell_done(fields: dict[str, Any]) -> None:
    say(f"Forgotten: {amount(fields['items'], 'message')} in {amount(len(fields['sessions']), 'session')}.")
    _tell_kept(fields)
    for path in fields["left"]:
        note(f"{path} still holds it. Run the same again when nobody is at work on it.")
    if fields["vault_away"]:
        note("The vault is not there: its notes are relieved of it when it is back.")


def _more(row: list[Any]) -> None:
    if len(row) > _SHOWN:
        say(f"  and {len(row) - _SHOWN:,} more")
