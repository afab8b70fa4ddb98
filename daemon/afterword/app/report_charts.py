"""The report's pictures: SVG that stands in the page, coloured by its style sheet, with every number in a tooltip."""

import datetime as dt
import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

_CELL: Final = 11
_STEP: Final = 14
_LEFT: Final = 34
_TOP: Final = 18
_LEVELS: Final = 4
_FEWEST_WEEKS: Final = 26
_YEAR_WEEKS: Final = 54
_LABEL: Final = 112
"""Units for the names of agents."""
_PLOT_WIDTH: Final = 720
_PLOT_HEIGHT: Final = 150
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAYS: Final = ((0, "Mon"), (2, "Wed"), (4, "Fri"))


def calendars(days: Mapping[str, Mapping[str, int]], first: str, last: str, *, since: bool) -> list[tuple[str, str]]:
    """(name, picture) of the calendars of sessions a day, the newest first: one, or one a year where it is longer.

    Empty weeks go before a short time, but not where `since` says that something not counted may be in them.
    """
    begin, end = dt.date.fromisoformat(first), dt.date.fromisoformat(last)
    most = max((sum(row.values()) for row in days.values()), default=0)
    if (end - begin).days <= 7 * (_YEAR_WEEKS - 1):
        begin = begin if since else min(begin, end - dt.timedelta(weeks=_FEWEST_WEEKS - 1))
        return [("", _calendar(days, begin, end, most))]
    spans = [
        (str(year), max(begin, dt.date(year, 1, 1)), min(end, dt.date(year, 12, 31)))
        for year in range(end.year, begin.year - 1, -1)
    ]
    return [(name, _calendar(days, start, stop, most)) for name, start, stop in spans]


def _calendar(days: Mapping[str, Mapping[str, int]], begin: dt.date, end: dt.date, most: int) -> str:
    monday = begin - dt.timedelta(days=begin.weekday())
    weeks = (end - monday).days // 7 + 1
    out = [_text(0, _TOP + _STEP * row + 9, name) for row, name in _DAYS]
    months_at = -3
    for week in range(weeks):
        start = max(begin, monday + dt.timedelta(weeks=week))
        if (start.day <= 7 or week == 0) and week - months_at >= 3:
            out.append(_text(_LEFT + _STEP * week, 11, _MONTHS[start.month - 1]))
            months_at = week
    for n in range((begin - monday).days, (end - monday).days + 1):
        day = (monday + dt.timedelta(days=n)).isoformat()
        row = days.get(day, {})
        count = sum(row.values())
        agents = ", ".join(f"{name} {number}" for name, number in sorted(row.items()))
        said = f"{day}: {count} session{'' if count == 1 else 's'}" + (f" ({agents})" if agents else "")
        out.append(_cell(_LEFT + _STEP * (n // 7), _TOP + _STEP * (n % 7), level(count, most), said))
    return _svg(_LEFT + _STEP * weeks, _TOP + _STEP * 7, out, f"Sessions a day, {begin} to {end}")


def by_agent(
    days: Mapping[str, Mapping[str, int]], agents: Sequence[str], first: str, last: str, *, since: bool
) -> str:
    """A row of cells for each agent: weeks, or months where there are too many of those."""
    begin, end = dt.date.fromisoformat(first), dt.date.fromisoformat(last)
    long = (end - begin).days > 7 * (_YEAR_WEEKS - 1)
    if not (long or since):
        begin = min(begin, end - dt.timedelta(weeks=_FEWEST_WEEKS - 1))
    name: Callable[[dt.date], str] = _month if long else _week
    columns = list(dict.fromkeys(name(begin + dt.timedelta(days=n)) for n in range((end - begin).days + 1)))
    places = {column: n for n, column in enumerate(columns)}
    counts: dict[tuple[str, int], int] = {}
    for day, row in days.items():
        place = places.get(name(dt.date.fromisoformat(day)))
        for agent, count in row.items():
            if place is not None:
                counts[agent, place] = counts.get((agent, place), 0) + count
    most = max(counts.values(), default=0)
    out = []
    for n, agent in enumerate(agents):
        out.append(_text(0, _TOP + _STEP * n + 9, agent[:18]))
        for m, column in enumerate(columns):
            count = counts.get((agent, m), 0)
            said = f"{agent}, {'' if long else 'week of '}{column}: {count}"
            out.append(_cell(_LABEL + _STEP * m, _TOP + _STEP * n, level(count, most), said))
    marked = -4
    for m, column in enumerate(columns):
        fresh = m == 0 or column[:7] != columns[m - 1][:7]
        if fresh and m - marked >= (4 if long else 3):
            month = _MONTHS[int(column[5:7]) - 1]
            out.append(_text(_LABEL + _STEP * m, 11, f"{month} {column[2:4]}" if long else month))
            marked = m
    word = "month" if long else "week"
    return _svg(_LABEL + _STEP * len(columns), _TOP + _STEP * len(agents), out, f"Sessions a {word} by agent")


def level(count: int, most: int) -> int:
    """0 for nothing, else 1 … 4 by how much of the most it is."""
    return 0 if not count else max(1, -(-_LEVELS * count // max(1, most)))


def growth(points: Sequence[tuple[str, int]], first: str, last: str) -> str:
    """How many articles there were, as an area."""
    begin, end = dt.date.fromisoformat(min(first, points[0][0] if points else first)), dt.date.fromisoformat(last)
    span = max(1, (end - begin).days)
    top = max((count for _, count in points), default=0)

    def x(day: str) -> float:
        return _LEFT + (_PLOT_WIDTH - _LEFT) * (dt.date.fromisoformat(day) - begin).days / span

    def y(count: float) -> float:
        return _TOP + _PLOT_HEIGHT * (1 - count / max(1, top))

    floor = y(0)
    steps = [f"M{_LEFT},{floor:.1f}"]
    before = floor
    for day, count in points:
        # It grows on the day, not on the way to it.
        steps.append(f"L{x(day):.1f},{before:.1f}L{x(day):.1f},{y(count):.1f}")
        before = y(count)
    line = "".join(steps) + f"L{_PLOT_WIDTH},{before:.1f}"
    out = [
        *_grid(top, y),
        f'<path class="area" d="{line}L{_PLOT_WIDTH},{floor:.1f}Z"/>',
        f'<path class="line" d="{line}"/>',
    ]
    out += [
        f'<circle class="dot" cx="{x(day):.1f}" cy="{y(count):.1f}" r="3"><title>{day}: {count:,}</title></circle>'
        for day, count in points[-400:]
    ]
    out += [_text(_LEFT, floor + 16, begin.isoformat()), _text(_PLOT_WIDTH, floor + 16, end.isoformat(), anchor="end")]
    return _svg(_PLOT_WIDTH + 6, _TOP + _PLOT_HEIGHT + 22, out, "Articles there were, day by day", "plot")


def spending(rows: Sequence[tuple[str, int, int, int]], daily_tokens: int) -> str:
    """Tokens in and out by day, as bars, with the cap where it is in sight. At most the last 60 days with calls."""
    rows = rows[-60:]
    top = max((given + made for _, given, made, _ in rows), default=0)
    width = min(26.0, (_PLOT_WIDTH - _LEFT) / max(1, len(rows)))

    def y(count: float) -> float:
        return _TOP + _PLOT_HEIGHT * (1 - count / max(1, top))

    out = _grid(top, y)
    for n, (day, given, made, calls) in enumerate(rows):
        left = _LEFT + width * n + 1
        said = f"<title>{_e(f'{day}: {given:,} in, {made:,} out, {calls:,} calls')}</title>"
        size = max(1.0, width - 2)
        for name, start, count in (("in", 0, given), ("out", given, made)):
            high, low = y(start + count), y(start)
            out.append(
                f'<rect class="{name}" x="{left:.1f}" y="{high:.1f}" width="{size:.1f}" height="{low - high:.1f}">'
                f"{said}</rect>"
            )
    if rows:
        out.append(_text(_LEFT, _TOP + _PLOT_HEIGHT + 16, rows[0][0]))
        if len(rows) > 4:
            out.append(_text(_LEFT + width * len(rows), _TOP + _PLOT_HEIGHT + 16, rows[-1][0], anchor="end"))
    if 0 < daily_tokens <= top:
        out.append(
            f'<line class="cap" x1="{_LEFT}" x2="{_PLOT_WIDTH}" y1="{y(daily_tokens):.1f}" y2="{y(daily_tokens):.1f}"/>'
        )
    return _svg(_PLOT_WIDTH + 6, _TOP + _PLOT_HEIGHT + 22, out, "Tokens by day", "plot")


def short(count: float) -> str:
    """A number in few characters: 950, 12k, 1.4M."""
    for size, sign in ((1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{count / size:.1f}".removesuffix(".0") + sign
    return f"{count:.0f}"


def _grid(top: int, y: Callable[[float], float]) -> list[str]:
    out = []
    marks = dict.fromkeys((0, top // 2, top))
    for count in marks:
        out.append(f'<line class="grid" x1="{_LEFT}" x2="{_PLOT_WIDTH}" y1="{y(count):.1f}" y2="{y(count):.1f}"/>')
        out.append(_text(_LEFT - 6, y(count) + 4, short(count), anchor="end"))
    return out


def _week(day: dt.date) -> str:
    return (day - dt.timedelta(days=day.weekday())).isoformat()


def _month(day: dt.date) -> str:
    return day.isoformat()[:7]


def _cell(x: float, y: float, heat: int, said: str) -> str:
    size = f'width="{_CELL}" height="{_CELL}" rx="2"'
    return f'<rect class="q{heat}" x="{x}" y="{y}" {size}><title>{_e(said)}</title></rect>'


def _text(x: float, y: float, text: str, *, anchor: str = "") -> str:
    where = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:.0f}" y="{y:.0f}"{where}>{_e(text)}</text>'


def _svg(width: float, height: float, parts: Iterable[str], name: str, kind: str = "heat") -> str:
    return (
        f'<div class="{kind}"><svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
        f' role="img" aria-label="{_e(name)}">{"".join(parts)}</svg></div>'
    )


def _e(text: str) -> str:
    return html.escape(text, quote=True)
