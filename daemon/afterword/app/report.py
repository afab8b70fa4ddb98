"""What the report shows, as values: sessions a day and agent, what they came to, what it cost, what is left to do."""

import datetime as dt
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from afterword.app import excluded
from afterword.app.config import Config
from afterword.app.parting import parted, united
from afterword.app.reading import zones_of
from afterword.domain.articles import Current
from afterword.domain.clock import DAY_US, Clock
from afterword.domain.digest import Digest
from afterword.domain.errors import UsageError, UserError
from afterword.domain.ids import ArticleUid
from afterword.domain.section_edits import SectionEdits, laid_over
from afterword.redact.exits import leave
from afterword.redact.redactor import Redactor
from afterword.store import files
from afterword.store.ledger import (
    article_files,
    articles,
    jobs,
    masked,
    model_calls,
    section_edits,
    segments,
    sources,
    uses,
)
from afterword.store.ledger.ledger import Ledger

HEADING: Final = "What the agents did"
DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_TEXTS: Final = frozenset({"stale", "title", "path", "project", "by", "text", "what", "why", "vault"})
_MOST_ROWS: Final = 12
_MOST_ACTIONS: Final = 40
_FAILED_DAYS: Final = 30


class Activity(msgspec.Struct, frozen=True):
    """Sessions that were written up: day → agent → how many sessions had something in it on that day."""

    days: dict[str, dict[str, int]]
    sessions: int

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents, those with the most session days first."""
        total: Counter[str] = Counter()
        for row in self.days.values():
            total.update(row)
        return tuple(sorted(total, key=lambda name: (-total[name], name)))


class Row(msgspec.Struct, frozen=True):
    """An article in a list. `days`: on how many days it was told; `linked`: from how many articles. How often it was
    among the first results, opened, and cited; `stale`: why it may be out of date."""

    uid: str
    title: str
    path: str
    project: str
    status: str
    updated: str
    days: int
    linked: int
    returned: int = 0
    opened: int = 0
    cited: int = 0
    stale: str = ""


class Merged(msgspec.Struct, frozen=True):
    """An article of several tellings, oldest first: (day, title)."""

    uid: str
    title: str
    path: str
    tellings: tuple[tuple[str, str], ...]


class Replaced(msgspec.Struct, frozen=True):
    """An article that another one took the place of."""

    title: str
    by: str
    day: str


class Action(msgspec.Struct, frozen=True):
    """Something that was left to do and is not ticked."""

    day: str
    project: str
    text: str
    path: str


class Trouble(msgspec.Struct, frozen=True):
    """Something that was left out, or failed: what, and why or how much."""

    what: str
    why: str


class Report(msgspec.Struct, frozen=True):
    """The whole. Days are `YYYY-MM-DD`; `first` is the first day that counts, `last` today; `since`: whether there may
    be something before `first` that does not count."""

    first: str
    last: str
    since: bool
    activity: Activity
    projects: tuple[tuple[str, int], ...]
    growth: tuple[tuple[str, int], ...]
    """(day, how many of the articles there are now existed by then), one point a day on which that changed."""
    articles: int
    connections: int
    most_told: tuple[Row, ...]
    stale: tuple[Row, ...]
    merged: tuple[Merged, ...]
    merged_tellings: int
    parted: int
    replaced: tuple[Replaced, ...]
    engines: dict[str, int]
    """Engine → how many days it compiled."""
    spend: tuple[tuple[str, int, int, int], ...]
    """(day, tokens in, tokens out, calls) of every day on which a model was asked."""
    daily_tokens: int
    actions: tuple[Action, ...]
    open_actions: int
    masked: dict[str, int]
    troubles: tuple[Trouble, ...]
    vault: str
    """The vault's name, for links; empty where there is none."""
    most_used: tuple[Row, ...] = ()
    never_used: tuple[Row, ...] = ()
    """Of those that are older than a month, the oldest."""
    never_used_in_all: int = 0


def gather(config: Config, ledger: Ledger, clock: Clock, redactor: Redactor, since: str | None = None) -> Report:
    """Everything from `since` (a day) on, or all there is; every text redacted once more.

    Raises:
        UsageError: `since` is not a day.
    """
    today = zones_of(config, ledger).day(clock())
    first = _day(since) if since else ""
    current = articles.current(ledger)
    live = {each.uid: each for each in current if each.live}
    paths = {uid: file.path for uid, file in article_files.every(ledger).items()}
    rows = _rows(live, paths, ledger)
    activity, projects, actions = _sections(ledger, first)
    known = [one for one in united(ledger) if max(t.day for t in (one.first, *one.others)) >= first]
    builds = articles.builds(ledger)
    never = uses.never(ledger, {uid: each.article for uid, each in live.items()}, today)
    report = Report(
        first=first or min([*activity.days, *(each.article.created for each in live.values())], default=today),
        last=max(first, today),
        since=bool(first),
        activity=activity,
        projects=tuple(projects.most_common(_MOST_ROWS)),
        growth=_growth(live, first),
        articles=sum(each.article.kind == "concept" for each in live.values()),
        connections=sum(each.article.kind == "connection" for each in live.values()),
        most_told=tuple(
            sorted(
                (row for row in rows if row.status != "stale" and row.updated >= first),
                key=lambda row: (-row.days, -row.linked, row.title.casefold(), row.uid),
            )[:_MOST_ROWS]
        ),
        stale=tuple(row for row in rows if row.status == "stale")[:_MOST_ROWS],
        merged=tuple(
            Merged(one.uid, one.title, one.path, tuple((t.day, t.title) for t in (one.first, *one.others)))
            for one in sorted(known, key=lambda one: (-len(one.others), one.title, one.uid))[:_MOST_ROWS]
        ),
        merged_tellings=sum(len(one.others) for one in known),
        parted=len(parted(ledger)),
        replaced=_replaced(live, first),
        engines=dict(Counter(r.engine for day, (_, r) in builds.items() if r.state == "compiled" and day >= first)),
        spend=tuple(row for row in model_calls.by_day(ledger) if row[0] >= first),
        daily_tokens=config.settings.gemini.daily_tokens,
        actions=tuple(actions[:_MOST_ACTIONS]),
        open_actions=len(actions),
        masked=masked.counts(ledger),
        troubles=_troubles(config, ledger, clock, builds, first),
        vault=config.vault.name if config.vault else "",
        most_used=tuple(
            sorted(
                (row for row in rows if row.opened + row.cited + row.returned),
                key=lambda row: (-(row.opened + row.cited), -row.returned, row.title.casefold(), row.uid),
            )[:_MOST_ROWS]
        ),
        never_used=tuple(
            sorted((row for row in rows if row.uid in never), key=lambda row: (row.updated, row.uid))[:_MOST_ROWS]
        ),
        never_used_in_all=len(never),
    )
    return _out(report, redactor)


def write(path: Path, page: str, *, force: bool) -> None:
    """Put a page into a file that only its owner can read, all of it or nothing. An older report is replaced.

    Raises:
        UserError: there is a file of another kind, and it is not to be replaced.
    """
    if not path.parent.is_dir():
        raise UserError(f"{path.parent} is not a folder", "make it first, or name another file")
    if not force and path.exists() and (not path.is_file() or HEADING.encode() not in path.read_bytes()[:20_000]):
        raise UserError(f"{path} is there already, and it is no report", "name another file, or use --force")
    files.replace(path, page.encode("utf-8", "replace"), keep=False)


def _out(report: Report, redactor: Redactor) -> Report:
    """The report with every text that is not ours redacted once more; days and counts stay."""

    def each(value: Any) -> Any:
        match value:
            case msgspec.Struct():
                texts = {
                    name: str(leave("report", said, redactor))
                    for name in value.__struct_fields__
                    if name in _TEXTS and isinstance(said := getattr(value, name), str)
                }
                inner = {
                    name: tuple(each(item) for item in row)
                    for name in value.__struct_fields__
                    if name not in _TEXTS and isinstance(row := getattr(value, name), tuple)
                }
                return msgspec.structs.replace(value, **texts, **inner)
            case tuple() if len(value) == 2 and isinstance(value[1], str):  # a telling: its day, its title
                return value[0], str(leave("report", value[1], redactor))
            case tuple() if value and isinstance(value[0], str) and not DAY.fullmatch(value[0]):  # a project
                return str(leave("report", value[0], redactor)), *value[1:]
            case _:
                return value

    found: Report = each(report)
    return found


def as_json(report: Report) -> dict[str, Any]:
    """The fields of `report --json`."""
    found: dict[str, Any] = msgspec.to_builtins(report)
    found["activity"]["agents"] = list(report.activity.agents)
    found["spend"] = [
        {"day": day, "tokens_in": given, "tokens_out": made, "calls": calls} for day, given, made, calls in report.spend
    ]
    found["growth"] = [{"day": day, "articles": count} for day, count in report.growth]
    found["projects"] = [{"project": name, "sessions": count} for name, count in report.projects]
    for row in found["merged"]:
        row["tellings"] = [{"day": day, "title": title} for day, title in row["tellings"]]
    return found


def _day(text: str) -> str:
    try:
        return dt.date.fromisoformat(text).isoformat()
    except ValueError as err:
        raise UsageError(f"--since: {text!r} is not a day", "write it like 2026-06-10") from err


def _rows(live: Mapping[ArticleUid, Current], paths: Mapping[ArticleUid, str], ledger: Ledger) -> list[Row]:
    linked = Counter(related.uid for each in live.values() for related in each.article.related)
    cited = articles.cited(ledger, {key for each in live.values() for key in each.article.sections})
    return [
        Row(
            uid,
            each.article.title,
            paths.get(uid, ""),
            next(iter(each.article.projects), ""),
            each.article.status,
            each.article.updated,
            len({cited[key][0] for key in each.article.sections if key in cited}),
            linked[each.uid],
            each.use.returned,
            each.use.opened,
            each.use.cited,
            each.stale,
        )
        for uid, each in live.items()
    ]


def _growth(live: Mapping[ArticleUid, Current], first: str) -> tuple[tuple[str, int], ...]:
    made = Counter(max(first, each.article.created) for each in live.values())
    total = 0
    found = []
    for day in sorted(made):
        total += made[day]
        found.append((day, total))
    return tuple(found)


def _replaced(live: Mapping[ArticleUid, Current], first: str) -> tuple[Replaced, ...]:
    """Newest first: whole articles that a newer one took the place of, and decisions within one."""
    found = []
    for each in live.values():
        by = live.get(ArticleUid(each.article.replaced_by))
        if by is not None:
            found.append(Replaced(each.article.title, by.article.title, by.article.updated))
        leading = next((claim.text for claim in each.article.points if not claim.until), each.article.title)
        found += [Replaced(claim.text, leading, claim.until) for claim in each.article.points if claim.until]
    kept = [row for row in found if row.day >= first]
    return tuple(sorted(kept, key=lambda row: (row.day, row.title), reverse=True)[:_MOST_ROWS])


def _sections(ledger: Ledger, first: str) -> tuple[Activity, Counter[str], list[Action]]:
    edits = section_edits.every(ledger)
    placed = dict(ledger.db.execute("SELECT key, path FROM placed"))
    seen: dict[tuple[str, str], set[str]] = {}
    by_project: dict[str, set[str]] = {}
    actions: list[Action] = []
    for register, record in segments.sections(ledger):
        if record.withdrawn_by or record.day < first:
            continue
        seen.setdefault((record.day, record.harness), set()).add(record.session)
        by_project.setdefault(record.project, set()).add(record.session)
        if record.digest.actions or register.key in edits:
            changed = edits.get(register.key)  # type: ignore[call-overload]  # a section's key
            path = placed.get(register.key, "")
            actions += [Action(record.day, record.project, text, path) for text in _open(record.digest, changed)]
    days: dict[str, dict[str, int]] = {}
    for (day, agent), sessions in sorted(seen.items()):
        days.setdefault(day, {})[agent] = len(sessions)
    actions.sort(key=lambda action: action.day, reverse=True)
    every = set().union(*seen.values())
    projects = Counter({name or "no project": len(row) for name, row in sorted(by_project.items())})
    return Activity(days, len(every)), projects, actions


def _open(digest: Digest, edits: SectionEdits | None) -> list[str]:
    done = set(edits.done) if edits else set()
    told = laid_over(digest, edits)[0] if edits else digest
    return [point.text for point in told.actions if point.text not in done]


def _troubles(
    config: Config,
    ledger: Ledger,
    clock: Clock,
    builds: Mapping[str, tuple[Any, articles.BuildRecord]],
    first: str,
) -> tuple[Trouble, ...]:
    found = [
        Trouble(f"{call.step} of {call.subject}", str(call.reason) or call.why)
        for call in model_calls.failing(ledger, clock() - _FAILED_DAYS * DAY_US)
    ]
    found += [
        Trouble(f"{job.name} (job)", str(msgspec.json.decode(job.error.encode()).get("message", "")))
        for job in jobs.failures(ledger)
    ]
    for day, (_, record) in sorted(builds.items(), reverse=True):
        if record.state == "skipped" and day >= first:
            found.append(Trouble(f"{day} gave no article", record.reason))
    for harness in sorted({source.harness for source in sources.every(ledger)}):
        broken, left_out = sources.unread(ledger, harness)
        if broken or left_out:
            found.append(Trouble(harness, f"{broken:,} broken lines, {left_out:,} left out"))
    found += [
        Trouble(f"{row['project']} (left out by the settings)", f"{row['sessions']:,} sessions are stored from before")
        for row in excluded.stored(config, ledger)
    ]
    return tuple(found)
