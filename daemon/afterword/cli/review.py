"""`review`: decide, with one key each, about what waits for a person's word."""

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from afterword.app.config import Config
from afterword.cli.output import bars, config_option, json_option, note, say, say_json
from afterword.cli.remote import by_daemon
from afterword.cli.up import Stop
from afterword.domain.errors import Exit, NothingFound, UsageError

if TYPE_CHECKING:
    from afterword.app.review import Candidate

_KEYS = {"a": "accept", "r": "reject", "p": "pin"}


@click.command(short_help="Decide what waits for your word: contradictions, doubles, what is out of date.")
@click.option("--accept", metavar="ID", help="Say yes to this one.")
@click.option("--reject", metavar="ID", help="Say no to this one.")
@click.option("--pin", metavar="ID", help="Keep its first article as it is, whatever is found later.")
@json_option
@config_option
def review(*, accept: str | None, reject: str | None, pin: str | None, as_json: bool, config: Config) -> int:
    """Contradictions, doubles, doubtful merges, articles whose files changed, and such that stand on one sentence.

    On a terminal each is shown with its evidence, and one key decides: a yes, r no, p pin, s later, q leave. Elsewhere
    they are listed. What was decided is not asked again. The vault has them on a page: knowledge/review.md.

    \b
    afterword review
    afterword review --accept v-5b1c09e24d7f
    """
    from afterword.app.reading import reader
    from afterword.app.review import as_json as fields_of
    from afterword.app.review import candidates

    said = [(verdict, its_id) for verdict, its_id in (("accept", accept), ("reject", reject), ("pin", pin)) if its_id]
    if len(said) > 1:
        raise UsageError("one decision at a time", "use one of --accept, --reject and --pin")
    if said:
        done = _decide(config, said[0][1], said[0][0])
        if as_json:
            say_json("review", {"decided": done})
        else:
            say(f"{done['kind']}: {done['verdict']}ed" if done["verdict"] != "pin" else "pinned")
        return Exit.DONE
    with reader(config) as ledger:
        found = candidates(ledger)
    if as_json:
        say_json("review", {"candidates": [fields_of(each) for each in found]})
    elif not found:
        note("nothing waits for your word")
    elif sys.stdin.isatty() and sys.stdout.isatty():
        _ask(config, found)
    else:
        for each in found:
            _show(each)
    return Exit.DONE if found else Exit.NOTHING


def _show(each: "Candidate") -> None:
    say(f"{each.id}  {each.kind}: {each.what}")
    for shown in each.articles:
        say(f"    {shown.path or shown.uid}")
        for point in shown.points:
            say(f"      - {point}")
    for line in each.evidence:
        say(f"    · {line}")
    say(f"    yes: {each.accept} · no: {each.reject}")


def _ask(config: Config, found: "list[Candidate]") -> None:
    for number, each in enumerate(found, 1):
        say(f"\n{number} of {len(found)}")
        _show(each)
        click.echo("a yes · r no · p pin · s later · q leave  ", nl=False)
        key = ""
        while key not in (*_KEYS, "s", "q"):
            key = click.getchar().lower()
            if key in ("\x03", "\x04", "\x1b"):
                key = "q"
        say(key)
        if key == "q":
            return
        if key in _KEYS:
            try:
                _decide(config, each.id, _KEYS[key])
            except NothingFound:
                note("that was decided meanwhile, or does not wait any more")


def _decide(config: Config, its_id: str, verdict: str) -> dict[str, Any]:
    from afterword.app import review as reviewing
    from afterword.app.program import writer
    from afterword.app.retract import do_index

    done = by_daemon(config.places.state, "review", {"id": its_id, "verdict": verdict})
    if done is None:
        with writer(config, os.environ, "review", telling=bars) as program, bars() as tell:
            asked = reviewing.Decide(its_id, verdict)  # type: ignore[arg-type]  # one of three, by who calls
            done = reviewing.decide(program, asked, tell, Stop())
            do_index(program, tell, Stop())
    return done
