"""Reading commands: `sources`, `search`, `show`."""

import os
from typing import Any

import click

from afterword.app.config import Config
from afterword.cli.output import config_option, json_option, note, say, say_json, table
from afterword.domain.clock import format_rfc3339
from afterword.domain.errors import Exit, NotSetUp, UsageError
from afterword.domain.items import KIND_BY_WORD


@click.command(short_help="Which agents were found and what was read of them.")
@json_option
@config_option
def sources(*, as_json: bool, config: Config) -> None:
    """Which agents' stores are on this machine, and what was read of them."""
    from afterword.app.reading import reader, where
    from afterword.app.status import source_sums
    from afterword.capture.sweep import survey

    stores = survey(where(config, os.environ))
    try:
        with reader(config) as ledger:
            sums = source_sums(ledger, stores)
    except NotSetUp:
        sums = source_sums(None, stores)
    if as_json:
        import msgspec

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


@click.command(short_help="Find what was said or done, by exact words and by meaning.")
@click.argument("query", nargs=-1, required=True)
@click.option("--project", help="Only this project (the name of its folder).")
@click.option("--harness", help="Only this agent, such as claude-code or codex.")
@click.option("--since", help="Only from this day or time on (2026-06-10, or RFC 3339).")
@click.option("--until", help="Only before this day or time.")
@click.option("--kind", type=click.Choice(["article", "diary", "message", *KIND_BY_WORD]), help="Only this kind.")
@click.option("--role", type=click.Choice(["user", "assistant", "tool", "system"]), help="Only items of this role.")
@click.option("--machine", help="Only from this machine.")
@click.option("--session", "session_prefix", help="Only in this session (a prefix of its id).")
@click.option("--exact", "mode", flag_value="exact", help="Exact words only.")
@click.option("--semantic", "mode", flag_value="semantic", help="Only what means the same.")
@click.option("-n", "--limit", type=click.IntRange(1, 100_000), default=10, show_default=True, help="At most so many.")
@json_option
@config_option
def search(query: tuple[str, ...], *, as_json: bool, config: Config, limit: int, **given: Any) -> int:
    """Find what was said or done. What holds every word comes first, then what means the same; quotes make a phrase.

    Identifiers, flags, paths and phrases are found as they stand, and nothing else is. Prompts and replies come first,
    then commands, edits and tool output. Exit code 3 when nothing is found.

    \b
    afterword search SSL_ERROR_SYSCALL
    afterword search '"temp directory" race' --project api
    afterword search -- --force-with-lease
    """
    from afterword.app.reading import reader
    from afterword.app.searching import Searcher
    from afterword.app.show import find
    from afterword.index.search import Filters

    text = " ".join(query)
    with reader(config) as ledger:
        zones = _zones(config, ledger)
        filters = Filters(
            project=given["project"],
            harness=given["harness"],
            since_us=_time("--since", given["since"], zones),
            until_us=_time("--until", given["until"], zones),
            kind=given["kind"],
            role=given["role"],
            machine=given["machine"],
            session=find(ledger, given["session_prefix"]).row if given["session_prefix"] else None,
        )
        answer = Searcher(config, os.environ).search(ledger, text, filters, limit=limit, mode=given["mode"] or "both")
        origins = ledger.origins()
    if as_json:
        results = [_result(found, origins) for found in answer.results]
        say_json(
            "search",
            {"query": text, "results": results, "total": answer.total, "cut": answer.cut, "complete": answer.complete,
             "semantic": answer.semantic},
        )  # fmt: skip
        return Exit.DONE if results else Exit.NOTHING
    for found in answer.results:
        say(_heading(found, zones.local(found.time_us).strftime("%Y-%m-%d %H:%M")))
        say(f"    {found.snippet}")
    if not answer.results:
        note(f"nothing holds {text!r}" + ("" if answer.complete else "; the full text is still being made"))
        return Exit.NOTHING
    more = answer.total - sum("exact" in found.why for found in answer.results)
    if more > 0:
        note(f"{more:,} more; use --limit, --project, --since …")
    if not answer.complete:
        note("the full text is being made again: there may be more")
    return Exit.DONE


def _heading(found: Any, at: str) -> str:
    session = found.session
    words = [found.item_kind.word if found.item_kind else found.kind, at]
    words += [session.harness, found.project, session.shown_native[:13]] if session else [found.title]
    words += ["abandoned"] if found.abandoned else []
    return " · ".join(word for word in words if word) + ("" if "exact" in found.why else " · by meaning")


def _result(found: Any, origins: dict[int, tuple[str, str]]) -> dict[str, Any]:
    session = found.session
    return {
        "id": found.id,
        "kind": found.kind,
        "item_kind": found.item_kind.word if found.item_kind else None,
        "role": _role(found.item_kind) if found.item_kind else None,
        "title": found.title,
        "snippet": found.snippet,
        "path": found.path,
        "block": found.block,
        "session": session.shown_native if session else None,
        "harness": session.harness if session else None,
        "project": found.project,
        "origin": origins[session.origin][1] if session else None,
        "time": format_rfc3339(found.time_us),
        "abandoned": found.abandoned,
        "score": found.score,
        "why": list(found.why),
    }


def _role(kind: Any) -> str:
    from afterword.domain.items import ROLE_OF

    return ROLE_OF[kind]


def _project(cwd: str) -> str:
    from afterword.domain.slugs import project_of

    return project_of(cwd)


def _zones(config: Config, ledger: Any) -> Any:
    from afterword.app.reading import zones_of

    return zones_of(config, ledger)


def _time(option: str, given: str | None, zones: Any) -> int | None:
    """A day (its start in the vault's zone) or an RFC 3339 time."""
    if given is None:
        return None
    from afterword.domain.clock import parse_rfc3339

    at = zones.start_of(given) if len(given) == len("2026-06-10") else parse_rfc3339(given)
    if at is None:
        raise UsageError(f"{option}: {given!r} is neither a day nor a time", "write 2026-06-10 or 2026-06-10T14:00:00Z")
    return int(at)


@click.command(short_help="One session whole.")
@click.argument("session")
@click.option("--all", "everything", is_flag=True, help="Also tool output, thinking and what was rewound.")
@json_option
@config_option
def show(session: str, *, everything: bool, as_json: bool, config: Config) -> None:
    """One session whole: what was asked, said and done.

    SESSION is the agent's own id, ours, a section's (s-…), or a unique beginning of one.
    """
    from afterword.app.reading import reader
    from afterword.app.show import find, whole

    with reader(config) as ledger:
        found = whole(ledger, find(ledger, session))
        zones = _zones(config, ledger)
    if as_json:
        say_json("show", _whole(found))
        return
    facts = found.session.facts
    say(facts.title or found.session.shown_native)
    started = found.session.started_us
    when = zones.local(started).strftime("%Y-%m-%d %H:%M") if started is not None else ""
    say(
        " · ".join(
            w for w in (found.session.harness, _project(facts.cwd), when, facts.model, found.session.shown_native) if w
        )
    )
    for key, day in found.sections:
        say(f"written up in {config.settings.vault.daily}/{day}.md ({key})")
    for item in found.items:
        if not everything and (
            item.abandoned or item.inherited or item.kind.word in ("output", "thinking", "read", "meta")
        ):
            continue
        mark = " (abandoned)" if item.abandoned else " (inherited)" if item.inherited else ""
        status = f" → {item.exit_status}" if item.exit_status is not None else ""
        say(f"\n[{zones.local(item.time_us).strftime('%H:%M')}] {item.kind.word}{mark}{status}")
        say("\n".join(f"  {line}" for line in (item.text or item.path or "").splitlines()))


def _whole(found: Any) -> dict[str, Any]:
    session, facts = found.session, found.session.facts
    return {
        "session": {
            "id": session.id,
            "harness": session.harness,
            "native_id": session.shown_native,
            "project": _project(facts.cwd),
            "cwd": facts.cwd or None,
            "title": facts.title or None,
            "model": facts.model or None,
            "branch": facts.branch or None,
            "agent": facts.agent or None,
            "started": _rfc(session.started_us),
            "updated": _rfc(session.updated_us),
            "parent": facts.parent or None,
            "spawned_by": facts.spawned_by or None,
            "forked_from": facts.forked_from or None,
            "continued_from": facts.continued_from or None,
            "archived": facts.archived,
            "compactions": found.compactions,
            "inherited": sum(item.inherited for item in found.items),
            "origin": found.origin,
            "sections": [{"key": key, "day": day} for key, day in found.sections],
        },
        "messages": [
            {
                "id": item.id,
                "kind": item.kind.word,
                "role": item.role,
                "said_by": item.said_by.name.lower(),
                "text": item.text,
                "time": _rfc(item.time_us),
                "abandoned": item.abandoned,
                "inherited": item.inherited,
                "exit_status": item.exit_status,
                "path": item.path,
            }
            for item in found.items
        ],
    }


def _rfc(at_us: int | None) -> str | None:
    return None if at_us is None else format_rfc3339(at_us)
