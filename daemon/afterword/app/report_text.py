"""The report as Markdown, in which no text of a session is anything but text."""

import datetime as dt
from typing import Final

from afterword.app.report import HEADING, Report
from afterword.app.report_charts import level, short
from afterword.domain.escape import prose

_SHADES: Final = "·░▒▓█"
_WEEKS: Final = 26


def markdown(report: Report) -> str:
    """The whole report."""
    tokens = sum(given + made for _, given, made, _ in report.spend)
    counts = (
        f"{report.activity.sessions:,} sessions on {len(report.activity.days):,} days",
        f"{report.articles:,} articles",
        f"{report.connections:,} connections",
        f"{report.merged_tellings:,} doubles merged",
        f"{report.open_actions:,} left to do",
        f"{short(tokens)} tokens spent",
    )
    out = [f"# {HEADING}", "", f"{report.first} to {report.last}: {', '.join(counts)}.", ""]
    out += _heat(report)
    if report.growth:
        out += ["## Growth of knowledge", "", "| day | articles |", "| --- | ---: |"]
        out += [f"| {day} | {count:,} |" for day, count in _thinned(report.growth)] + [""]
    if report.most_told:
        out += ["## Articles that were told most often", ""]
        out += [
            f"- {_p(row.title)} (told on {row.days:,} day{'' if row.days == 1 else 's'}, linked from {row.linked:,},"
            f" last on {row.updated})"
            for row in report.most_told
        ] + [""]
    if report.most_used:
        out += ["## Articles that were used most", ""]
        out += [
            f"- {_p(row.title)} (opened {row.opened:,}, cited {row.cited:,}, found {row.returned:,} times)"
            for row in report.most_used
        ] + [""]
    if report.never_used:
        out += [f"## Articles that nobody used ({report.never_used_in_all:,})", ""]
        out += [f"- {_p(row.title)} (last told on {row.updated})" for row in report.never_used] + [""]
    if report.merged:
        out += ["## Told in several ways, kept once", ""]
        for one in report.merged:
            out += [f"- {_p(one.title)}", *(f"    - {day}: {_p(title)}" for day, title in one.tellings)]
        out += [""]
    if report.replaced or report.stale:
        out += ["## Taken the place of", ""]
        out += [f"- {row.day}: {_p(row.title)} → {_p(row.by)}" for row in report.replaced]
        out += [f"- stale: {_p(row.title)}" + (f" ({_p(row.stale)})" if row.stale else "") for row in report.stale] + [
            ""
        ]
    out += ["## Left to do", ""]
    out += [
        f"- [ ] {_p(row.text)} ({row.day}{', ' + _p(row.project) if row.project else ''})" for row in report.actions
    ]
    more = report.open_actions - len(report.actions)
    out += [f"- and {more:,} older ones"] if more > 0 else [] if report.actions else ["Nothing."]
    out += ["", "## Engine and spend", ""]
    out += [f"- {name}: {count:,} days compiled" for name, count in sorted(report.engines.items())]
    if report.spend:
        out += ["", "| day | tokens in | tokens out | calls |", "| --- | ---: | ---: | ---: |"]
        out += [f"| {day} | {given:,} | {made:,} | {calls:,} |" for day, given, made, calls in report.spend[-_WEEKS:]]
    else:
        out += ["- No model was asked: nothing was spent."]
    out += ["", "## Left out, or failed", ""]
    out += [f"- {_p(row.what)}: {_p(row.why)}" for row in report.troubles] or ["Nothing."]
    if report.masked:
        kinds = ", ".join(f"{count:,} × {kind}" for kind, count in report.masked.items())
        out += ["", f"Masked as secrets: {_p(kinds)}."]
    return "\n".join(out).rstrip() + "\n"


def _heat(report: Report) -> list[str]:
    """A row of shades for each agent, one a week."""
    days = report.activity.days
    out = ["## Sessions", ""]
    if not days:
        return [*out, "No session was written up yet.", ""]
    last = dt.date.fromisoformat(report.last)
    monday = last - dt.timedelta(days=last.weekday())
    mondays = [monday - dt.timedelta(weeks=n) for n in range(_WEEKS - 1, -1, -1)]
    weeks = {day.isoformat(): n for n, day in enumerate(mondays)}
    counts: dict[str, list[int]] = {agent: [0] * _WEEKS for agent in report.activity.agents}
    for day, row in days.items():
        date = dt.date.fromisoformat(day)
        n = weeks.get((date - dt.timedelta(days=date.weekday())).isoformat())
        for agent, count in row.items():
            if n is not None:
                counts[agent][n] += count
    most = max((count for row in counts.values() for count in row), default=0)
    wide = max(map(len, counts))
    out += [f"The last {_WEEKS} weeks, a sign a week:", "", "```"]
    out += [
        f"{agent.ljust(wide)}  {''.join(_SHADES[level(count, most)] for count in row)}" for agent, row in counts.items()
    ]
    out += ["```", ""]
    if report.projects:
        out += [f"- {_p(name)}: {count:,} sessions" for name, count in report.projects] + [""]
    return out


def _thinned(points: tuple[tuple[str, int], ...]) -> list[tuple[str, int]]:
    """At most 20 of the points: the last of each month where there are more days."""
    if len(points) <= 20:
        return list(points)
    months = {day[:7]: (day, count) for day, count in points}
    return list(months.values())[-20:]


def _p(text: str) -> str:
    return str(prose(text))
