"""`explain`: where an article comes from."""

from typing import Any

import click

from afterword.app.config import Config
from afterword.cli.output import amount, config_option, json_option, say, say_json
from afterword.domain.errors import Exit


@click.command(short_help="What an article was made from, by whom, and at what cost.")
@click.argument("article")
@click.option("--texts", is_flag=True, help="Also what a model was asked and what it answered, as far as it is kept.")
@json_option
@config_option
def explain(*, article: str, texts: bool, as_json: bool, config: Config) -> int:
    """Show which sections an article was drawn from, which engine and model wrote it, when, and for how many tokens.

    ARTICLE is a title, an id (`a-…`), or the path of the note. Questions and answers are kept redacted for
    `[compile] keep_builds` days.

    \b
    afterword explain "Retry budget of the billing worker"
    afterword explain knowledge/concepts/retry-budget.md --texts
    afterword compile --redo a-5b1c09e24d7f      have it written anew
    """
    from afterword.app.provenance import fields, find, origin
    from afterword.app.reading import reader, redactor

    with reader(config) as ledger:
        found = fields(origin(ledger, find(ledger, article)), redactor(config), texts=texts)
    if as_json:
        say_json("explain", found)
    else:
        _tell(found)
    return Exit.DONE


def _tell(found: dict[str, Any]) -> None:
    about = found["article"]
    say(f"{about['title']}  ({about['uid']}, {about['status']})")
    if about["path"]:
        say(f"  {about['path']}")
    merged = f", told {amount(about['merged'] + 1, 'time')}" if about["merged"] else ""
    say(f"  created {about['created']}, updated {about['updated']}{merged}")
    for build in found["builds"]:
        say(f"\n{build['day']}  {build['state']} by {build['engine']}, {amount(build['articles'], 'article')} that day")
        _tell_calls(build["calls"])
    for each in found["sections"]:
        gone = "" if each["standing"] else "  (no longer there)"
        say(f"\n{each['key']}  {each['day']} {each['time']}  {each['harness']}  {each['project']}{gone}")
        if each["title"] or each["session"]:
            say(f"  session {each['session']}: {each['title'] or 'without a title'}")
        say(f"  written up by {each['engine'] or 'nobody any more'}" + (f", in {each['path']}" if each["path"] else ""))
        _tell_calls(each["calls"])
        for number, point in enumerate(found["points"], 1):
            if point["section"] == each["key"]:
                say(f'  point {number}: "{point["quote"]}"')
    cost = found["cost"]
    if cost["calls"]:
        tokens = cost["tokens_in"] + cost["tokens_out"]
        say(
            f"\n{amount(cost['calls'], 'call')}, {tokens:,} tokens in all (a day's call makes all articles of the day)."
        )


def _tell_calls(calls: list[dict[str, Any]]) -> None:
    for call in calls:
        about = " at most" if call["estimated"] else ""
        why = f": {call['reason']}" if call["reason"] else ""
        say(
            f"  {call['at']}  {call['model']}, prompt {call['prompt_version']}, {call['took_ms'] / 1000:.1f} s,"
            f"{about} {call['tokens_in']:,} + {call['tokens_out']:,} tokens, {call['state']}{why}"
            + ("" if call["kept"] else "  (texts are not kept any more)")
        )
        for name in ("request", "reply"):
            if call.get(name):
                say(f"  --- {name} ---\n{call[name]}")
