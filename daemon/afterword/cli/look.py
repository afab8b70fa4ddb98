"""Reading commands: `sources`, `search`, `show`."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from afterword.app.config import Config
from afterword.cli.finding import find
from afterword.cli.output import config_option, json_option, note, say, say_json, table
from afterword.cli.quick import LIMIT, LIMIT_MAX
from afterword.domain import old_notes
from afterword.domain.errors import DataError, NotSetUp
from afterword.domain.items import KIND_BY_WORD

if TYPE_CHECKING:
    from afterword.app.explain import Explained


@click.command(short_help="Which agents were found and what was read of them.")
@click.option(
    "--explain",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="What each record of this transcript becomes, scrubbed; nothing is stored.",
)
@click.option("--harness", help="With --explain: the agent that wrote the file, where its place does not tell.")
@json_option
@config_option
def sources(*, file: Path | None, harness: str | None, as_json: bool, config: Config) -> None:
    """Which agents' stores are on this machine, and what was read of them."""
    if file is not None:
        _explain(file, harness, config, as_json=as_json)
        return
    from afterword.app.reading import reader, where
    from afterword.app.status import source_sums
    from afterword.capture.stores import survey

    try:
        with reader(config) as ledger:
            sums = source_sums(ledger, survey(where(config, os.environ, ledger)))
    except NotSetUp:
        sums = source_sums(None, survey(where(config, os.environ)))
    if as_json:
        say_json("sources", {"sources": [msgspec.to_builtins(one) for one in sums]})
        return
    table(
        [("AGENT", "FILES", "SESSIONS", "MESSAGES", "BAD LINES", "WHERE", "")]
        + [
            (
                one.harness,
                str(one.files) if one.present else "-",
                str(one.sessions) if one.present else "-",
                str(one.messages) if one.present else "-",
                str(one.bad_lines) if one.present else "-",
                one.root if one.present else "not found",
                one.problem or "",
            )
            for one in sums
        ]
    )


def _explain(file: Path, harness: str | None, config: Config, *, as_json: bool) -> None:
    from afterword.app.explain import explain
    from afterword.app.reading import redactor, where
    from afterword.domain.events import Unreadable

    try:
        found = explain(file.absolute(), config, where(config, os.environ), redactor(config), harness)
        _print_explained(found, as_json=as_json)
    except BrokenPipeError:
        raise  # whoever read our output is gone
    except (OSError, Unreadable) as err:
        raise DataError(f"{file} cannot be read: {getattr(err, 'strerror', None) or err}") from err


def _print_explained(found: "Explained", *, as_json: bool) -> None:
    head = {"harness": found.harness, "file": found.file, "problem": found.problem or None}
    if as_json:
        records = [msgspec.structs.asdict(record) for record in found.records]
        say_json("sources", {"explained": {**head, "records": records, "sums": dict(found.sums.most_common())}})
        return
    say(f"{head['file']}: {found.label}" + (f" ({head['problem']})" if head["problem"] else ""))
    for record in found.records:
        place = f"{record.part} {record.number}".strip()
        fields = f" with {', '.join(record.fields)}" if record.fields else ""
        say(f"{place:>6}  {record.type or 'record'}{fields}")
        for event in record.became:
            say("          " + _told(event))
        if not record.became:
            say("          nothing")
    say("In all: " + (", ".join(f"{count:,} {name}" for name, count in found.sums.most_common()) or "nothing"))


def _told(event: dict[str, Any]) -> str:
    """An event on one line."""
    words = [str(event.pop("event")), *(str(event.pop(name)) for name in ("kind", "type", "reason") if name in event)]
    text = event.pop("text", None)
    key = event.pop("key", None)
    more = [f"{name}={value}" for name, value in event.items()]
    if key:
        more.append(f"key=({', '.join(map(str, key))})")
    if text is not None:
        more.append(" ".join(str(text).split()))
    return " ".join([*words, *more])


def _say_wrapped(line: str) -> None:
    """A line of a text, two columns in; on a terminal wrapped to its width."""
    if not sys.stdout.isatty():
        say(f"  {line}")
        return
    from afterword.cli.output import clean
    from afterword.cli.view import screen

    for part in screen(None).paragraph(clean(line), [], 2):
        say(part)


_LESSER = ("output", "thinking", "read", "meta")


_KINDS = ("article", "lesson", "diary", "message", *KIND_BY_WORD)


class _Search(click.Command):
    """People look for flags: `--force-with-lease` is a word like others, but not what looks like one of our options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        import difflib

        before = args[: args.index("--")] if "--" in args else args
        if "--exact" in before and "--semantic" in before:
            raise click.UsageError(
                "--exact and --semantic shut each other out. Leave both away: then both halves answer.", ctx
            )
        ours = [name for option in self.get_params(ctx) for name in option.opts if name.startswith("--")]
        for word in args:
            if word == "--":
                break
            flag = word.partition("=")[0]
            near = difflib.get_close_matches(flag, ours, 1, 0.8) if flag.startswith("--") and flag not in ours else []
            if near:
                hint = f"Did you mean {near[0]}? To look for it as a word, write -- before the words."
                raise click.UsageError(f"There is no option {flag}. {hint}", ctx)
        return super().parse_args(ctx, args)


@click.command(
    cls=_Search,
    short_help="Find what was said or done, by exact words and by meaning.",
    context_settings={"ignore_unknown_options": True},
)
@click.argument("query", nargs=-1, required=True)
@click.option("--project", help="Only this project (the name of its folder).")
@click.option("--harness", help="Only this agent program, such as claude-code or codex.")
@click.option("--agent", help="Only sub-agents of this name.")
@click.option("--since", help="Only from this day or time on (2026-06-10, RFC 3339, yesterday, 7d).")
@click.option("--until", help="Only before this day or time.")
@click.option("--kind", type=click.Choice(_KINDS), help="Only this kind.")
@click.option("--role", type=click.Choice(["user", "assistant", "tool", "system"]), help="Only items of this role.")
@click.option("--machine", help="Only from this machine.")
@click.option("--session", help="Only in this session (a prefix of its id).")
@click.option("--page", type=click.IntRange(1), default=1, help="Which page of so many results.")
@click.option("-i", "--interactive", is_flag=True, help="Choose among the results, read and open them.")
@click.option("--exact", "mode", flag_value="exact", help="Exact words only.")
@click.option("--semantic", "mode", flag_value="semantic", help="Only what means the same.")
@click.option(
    "-n", "--limit", type=click.IntRange(1, LIMIT_MAX), default=LIMIT, show_default=True, help="At most so many."
)
@json_option
@config_option
def search(
    query: tuple[str, ...], *, as_json: bool, interactive: bool, config: Config, limit: int, **given: Any
) -> int:
    """Find what was said or done. What holds every word comes first, then what means the same; quotes make a phrase.

    Identifiers, flags, paths and phrases are found as they stand, `word*` is the beginning of a word. When nothing
    holds the words so, beginnings of words and parts of names are looked at (`encoded` in `resolveEncodedPath`), other
    forms of a word, close spellings, and files of that name; it is said which. Prompts and replies come first, then
    commands, edits and tool output. Exit code 3 when nothing is found.

    \b
    afterword search SSL_ERROR_SYSCALL
    afterword search '"temp directory" race' --project api
    afterword search --force-with-lease
    afterword search "what did we decide about retries" --since 2w
    afterword search -- --project
    """
    if interactive and not as_json:
        from afterword.cli.pick import pick

        return pick(config, " ".join(query), limit=limit, given=given)
    return find(config, query, as_json=as_json, limit=limit, **given)


def _show_lesson(fields: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        say_json("show", {"lesson": fields})
        return
    say(fields["text"])
    state = "" if fields["status"] == "active" else fields["status"]
    words = [fields["kind"], fields["topic"], *fields["projects"], *fields["agents"], fields["machine"], state]
    say(" · ".join(word for word in (*words, fields["updated"], fields["id"]) if word))
    if fields["reason"]:
        say(fields["reason"])
    if fields["superseded_by"]:
        say(f"{fields['superseded_by']} took its place")
    if fields["path"]:
        say(f"→ {fields['path']}")
    for entry in fields["entries"]:
        behind = entry["session"] or entry["evidence"]
        words = [entry["day"], entry["source"], entry["by"] or "a person", behind, entry["id"]]
        say("  " + " · ".join(word for word in words if word))
        if entry["text"] != fields["text"]:
            say(f"    {entry['text']}")


@click.command(short_help="One session or lesson whole.")
@click.argument("session")
@click.option("--all", "everything", is_flag=True, help="Also tool output, thinking and what was rewound.")
@click.option("--kind", type=click.Choice(list(KIND_BY_WORD)), help="Only this kind of item.")
@click.option("--role", type=click.Choice(["user", "assistant", "tool", "system"]), help="Only items of this role.")
@click.option("-n", "--limit", type=click.IntRange(1), help="At most so many items.")
@click.option("--page", type=click.IntRange(1), default=1, help="Which page of --limit items.")
@json_option
@config_option
def show(
    session: str,
    *,
    everything: bool,
    kind: str | None,
    role: str | None,
    limit: int | None,
    page: int,
    as_json: bool,
    config: Config,
) -> None:
    """One session whole: what was asked, said and done; or one lesson, and what it comes from.

    SESSION is the agent's own id, ours, a section's (s-…), or a unique beginning of one; a lesson's is f-… or l-….

    \b
    afterword show 4f1c2d --kind command
    afterword show 4f1c2d --limit 20 --page 2
    """
    from afterword.app.lesson_shown import lesson_fields, lesson_named
    from afterword.app.reading import reader, zones_of
    from afterword.app.results import session_fields
    from afterword.app.show import find as session_named
    from afterword.app.show import whole

    with reader(config) as ledger:
        if learned := lesson_named(ledger, session):
            _show_lesson(lesson_fields(ledger, learned), as_json=as_json)
            return
        found = whole(ledger, session_named(ledger, session))
        zones = zones_of(config, ledger)
        here = ledger.origin[1]
    items = [i for i in found.items if kind in (None, i.kind.word) and role in (None, i.role)]
    if not (as_json or everything or kind):
        items = [i for i in items if not (i.abandoned or i.inherited or i.kind.word in _LESSER)]
    shown = items if limit is None else items[(page - 1) * limit : page * limit]
    if as_json:
        narrowed = session_fields(msgspec.structs.replace(found, items=shown))["messages"]
        say_json("show", session_fields(found) | {"messages": narrowed, "total": len(items)})
        return
    facts = found.session.facts
    say(facts.title or found.session.shown_native)
    started = found.session.started_us
    when = zones.local(started).strftime("%Y-%m-%d %H:%M") if started is not None else ""
    elsewhere = "" if found.origin == here else f"from {found.origin}"
    words = (found.session.harness, facts.project, when, facts.model, found.session.shown_native, elsewhere)
    say(" · ".join(word for word in words if word))
    for key, day in found.sections:
        # A person's own note is in none of ours.
        own = found.session.harness == old_notes.NAME
        say(f"written up as {key}, of {day}" if own else f"written up in {config.days.name(day)} ({key})")
    for item in shown:
        mark = " (abandoned)" if item.abandoned else " (inherited)" if item.inherited else ""
        status = f" → {item.exit_status}" if item.exit_status is not None else ""
        say(f"\n[{zones.local(item.time_us).strftime('%H:%M')}] {item.kind.word}{mark}{status}")
        for line in (item.text or item.path or "").splitlines():
            _say_wrapped(line)
    if (more := len(items) - (page - 1) * (limit or 0) - len(shown)) > 0:
        note(f"{more:,} more; use --page {page + 1}")
