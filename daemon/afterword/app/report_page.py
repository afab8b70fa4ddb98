"""The report as one HTML page: it fetches nothing and runs nothing, and every text in it is escaped."""

import base64
import hashlib
import html
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import quote

from afterword.app import report_charts as charts
from afterword.app.report import HEADING, Report, Row
from afterword.domain.note_names import linked

_STYLE: Final = """
:root{color-scheme:light dark;--bg:#faf9f7;--fg:#23211e;--soft:#6d675f;--line:#e5e0d8;--card:#fff;--accent:#6c4bd8;
--q0:#ebe8e2;--q1:#d5c9f5;--q2:#ac94ea;--q3:#8262dc;--q4:#5533b8;--in:#8262dc;--out:#e08f2c;--cap:#b3261e}
@media (prefers-color-scheme:dark){:root{--bg:#191817;--fg:#e8e3dc;--soft:#a39c92;--line:#373430;--card:#22201f;
--accent:#b49cff;--q0:#2d2a28;--q1:#3c2f68;--q2:#5d45a8;--q3:#866ae0;--q4:#c3b0ff;--in:#866ae0;--out:#e6a04a;
--cap:#ff8a80}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;
-webkit-text-size-adjust:100%}
main{max-width:54rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.7rem;line-height:1.25;margin:.5rem 0 .1rem}
h2{font-size:1.15rem;margin:0 0 .6rem}
h3{font-size:.8rem;margin:1rem 0 .3rem;color:var(--soft);text-transform:uppercase;letter-spacing:.05em}
p{margin:.4rem 0}
.soft,footer{color:var(--soft);font-size:.88rem}
.tiles{display:grid;grid-template-columns:repeat(4,1fr);gap:.6rem;margin:1.2rem 0}
.tile,section{background:var(--card);border:1px solid var(--line);border-radius:10px}
.tile{padding:.7rem .9rem}
.tile b{display:block;font-size:1.55rem;line-height:1.2;font-variant-numeric:tabular-nums}
.tile span{color:var(--soft);font-size:.82rem}
section{padding:1rem 1.1rem;margin:.8rem 0}
.heat{overflow-x:auto;margin:.3rem 0;direction:rtl;text-align:left}
.heat svg{direction:ltr;margin-right:auto}
svg{display:block}
.plot svg{width:100%;height:auto}
svg text{fill:var(--soft);font:10px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
.q0{fill:var(--q0)}.q1{fill:var(--q1)}.q2{fill:var(--q2)}.q3{fill:var(--q3)}.q4{fill:var(--q4)}
.area{fill:var(--accent);opacity:.16}.line{fill:none;stroke:var(--accent);stroke-width:2}.dot{fill:var(--accent)}
.grid{stroke:var(--line)}.in{fill:var(--in)}.out{fill:var(--out)}.cap{stroke:var(--cap);stroke-dasharray:5 4}
.key{display:flex;align-items:center;gap:.3rem;color:var(--soft);font-size:.8rem;margin:.3rem 0 0;flex-wrap:wrap}
.key svg{flex:none}
ul,ol{margin:.3rem 0;padding:0;list-style:none}
li{padding:.45rem 0;border-top:1px solid var(--line);overflow-wrap:anywhere}
li:first-child{border-top:0}
li>.soft{display:block}
a{color:inherit;text-decoration-color:var(--accent);text-underline-offset:3px}
.meter{display:block;height:6px;border-radius:3px;margin:.3rem 0 0}
.meter .grow{fill:var(--accent)}.meter .rest{fill:var(--q0)}
.none{color:var(--soft)}
s{color:var(--soft)}
footer{margin-top:2rem}
@media (max-width:36rem){.tiles{grid-template-columns:repeat(2,1fr)}.plot svg text{font-size:16px}}
@media (max-width:30rem){section{padding:.8rem .8rem}h1{font-size:1.4rem}}
@media print{body{background:#fff}section{break-inside:avoid}}
"""
_POLICY: Final = "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'"
_YEARS_OPEN: Final = 2


def html_page(report: Report) -> str:
    """The whole page."""
    policy = _POLICY.format(base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode())
    parts = (
        _tiles(report),
        _section("Sessions", _heat(report)),
        _section("Growth of knowledge", _growth(report)),
        _section("Articles that were told most often", _articles(report, report.most_told)),
        _section("Told in several ways, kept once", _merged(report)),
        _section("Taken the place of", _replaced(report)),
        _section("Left to do", _actions(report)),
        _section("Engine and spend", _spend(report)),
        _section("Left out, or failed", _troubles(report)),
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="robots" content="noindex,nofollow">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Afterword: {_e(report.first)} to {_e(report.last)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f'<body>\n<main>\n<h1>{HEADING}</h1>\n<p class="soft">{_e(report.first)} to {_e(report.last)}</p>\n'
        + "".join(parts)
        + "<footer>Made by Afterword from its own ledger. This page fetches nothing and runs nothing.</footer>\n"
        "</main>\n</body>\n</html>\n"
    )


def _section(name: str, body: str) -> str:
    return f"<section>\n<h2>{_e(name)}</h2>\n{body}</section>\n" if body else ""


def _tiles(report: Report) -> str:
    tokens = sum(given + made for _, given, made, _ in report.spend)
    tiles = (
        (f"{report.activity.sessions:,}", "sessions"),
        (f"{len(report.activity.days):,}", "days with work"),
        (f"{report.articles:,}", "articles"),
        (f"{report.connections:,}", "connections"),
        (f"{report.merged_tellings:,}", "doubles merged"),
        (f"{report.open_actions:,}", "left to do"),
        (charts.short(tokens), "tokens spent"),
        (f"{sum(report.masked.values()):,}", "secrets masked"),
    )
    cells = "".join(f'<div class="tile"><b>{_e(number)}</b><span>{_e(name)}</span></div>' for number, name in tiles)
    return f'<div class="tiles">{cells}</div>\n'


def _heat(report: Report) -> str:
    activity = report.activity
    if not activity.days:
        return '<p class="none">No session was written up yet.</p>'
    out = []
    found = charts.calendars(activity.days, report.first, report.last, since=report.since)
    for n, (name, picture) in enumerate(found):
        if n < _YEARS_OPEN:
            out.append((f"<h3>{_e(name)}</h3>" if name else "") + picture)
        else:
            out.append(f"<details><summary>{_e(name)}</summary>{picture}</details>")
    out.append(_key())
    agents = charts.by_agent(activity.days, activity.agents, report.first, report.last, since=report.since)
    out.append(f"<h3>By agent</h3>{agents}")
    if report.projects:
        most = max(count for _, count in report.projects)
        rows = "".join(
            f'<li>{_e(name)} <span class="soft">{_count(count, "session")}</span>{_meter(count, most)}</li>'
            for name, count in report.projects
        )
        out.append(f"<h3>By project</h3><ul>{rows}</ul>")
    return "".join(out)


def _key() -> str:
    cells = "".join(
        f'<svg width="11" height="11" aria-hidden="true"><rect class="q{n}" width="11" height="11" rx="2"/></svg>'
        for n in range(5)
    )
    return f'<div class="key">fewer {cells} more</div>'


def _meter(count: int, most: int) -> str:
    share = 100 * count / max(1, most)
    return (
        '<svg class="meter" viewBox="0 0 100 6" width="100%" height="6" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="rest" width="100" height="6"/><rect class="grow" width="{share:.1f}" height="6"/></svg>'
    )


def _growth(report: Report) -> str:
    if not report.growth:
        return '<p class="none">There is no article yet.</p>'
    return charts.growth(report.growth, report.first, report.last)


def _articles(report: Report, rows: Sequence[Row]) -> str:
    most = max((row.days for row in rows), default=1)
    out = []
    for row in rows:
        told = f"told on {_count(row.days, 'day')}"
        linked = f"linked from {row.linked:,}" if row.linked else ""
        facts = " · ".join(filter(None, (row.project, told, linked, f"last on {row.updated}")))
        out.append(
            f'<li>{_linked(report, row.title, row.path)}<span class="soft">{_e(facts)}</span>'
            f"{_meter(row.days, most)}</li>"
        )
    return f"<ol>{''.join(out)}</ol>" if out else ""


def _merged(report: Report) -> str:
    rows = []
    for one in report.merged:
        tellings = "".join(f'<span class="soft">{_e(day)} · {_e(title)}</span>' for day, title in one.tellings)
        rows.append(f"<li>{_linked(report, one.title, one.path)}{tellings}</li>")
    if not rows:
        return ""
    parted = f" {report.parted:,} were parted again by hand." if report.parted else ""
    note = f'<p class="soft">A wrong one is taken back with <code>afterword unmerge</code>.{_e(parted)}</p>'
    return f"<ul>{''.join(rows)}</ul>{note}"


def _replaced(report: Report) -> str:
    rows = "".join(
        f'<li><s>{_e(row.title)}</s><span class="soft">{_e(row.day)} · {_e(row.by)}</span></li>'
        for row in report.replaced
    )
    stale = "".join(
        f'<li>{_linked(report, row.title, row.path)}<span class="soft">stale, last on {_e(row.updated)}</span></li>'
        for row in report.stale
    )
    return f"<ul>{rows}{stale}</ul>" if rows or stale else ""


def _actions(report: Report) -> str:
    rows = "".join(
        f"<li>{_linked(report, row.text, row.path)}"
        f'<span class="soft">{_e(" · ".join(filter(None, (row.day, row.project))))}</span></li>'
        for row in report.actions
    )
    more = report.open_actions - len(report.actions)
    note = f'<p class="soft">and {more:,} older ones</p>' if more > 0 else ""
    return f"<ul>{rows}</ul>{note}" if rows else '<p class="none">Nothing.</p>'


def _spend(report: Report) -> str:
    engines = ", ".join(f"{name} on {_count(count, 'day')}" for name, count in sorted(report.engines.items()))
    out = [f"<p>Compiled by {_e(engines)}.</p>" if engines else '<p class="none">No day was compiled yet.</p>']
    if report.spend:
        given = sum(row[1] for row in report.spend)
        made = sum(row[2] for row in report.spend)
        calls = sum(row[3] for row in report.spend)
        out.append(charts.spending(report.spend, report.daily_tokens))
        out.append(
            f'<p class="soft">{given:,} tokens in, {made:,} out, {calls:,} calls on {_count(len(report.spend), "day")}.'
            f" The cap is {report.daily_tokens:,} a day.</p>"
        )
    else:
        out.append('<p class="soft">No model was asked: nothing was spent.</p>')
    return "".join(out)


def _troubles(report: Report) -> str:
    rows = "".join(f'<li>{_e(row.what)}<span class="soft">{_e(row.why)}</span></li>' for row in report.troubles)
    masked = _joined(f"{count:,} × {kind}" for kind, count in report.masked.items())
    note = f'<p class="soft">Masked as secrets: {_e(masked)}.</p>' if masked else ""
    return (f"<ul>{rows}</ul>" if rows else '<p class="none">Nothing.</p>') + note


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _joined(words: Iterable[str]) -> str:
    return ", ".join(words)


def _linked(report: Report, text: str, path: str) -> str:
    """A text that leads to its note in Obsidian, where it has one."""
    if not path or not report.vault:
        return _e(text)
    file = quote(linked(path), safe="")
    return f'<a href="obsidian://open?vault={quote(report.vault, safe="")}&amp;file={file}">{_e(text)}</a>'


def _e(text: str) -> str:
    return html.escape(text, quote=True)
