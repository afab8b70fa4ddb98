"""A shared session as one HTML page or as Markdown.

The page fetches nothing and runs nothing: no script, no address, no picture, and a policy that forbids all of them;
every text in it is escaped.
"""

import base64
import hashlib
import html
import re
from collections.abc import Iterator
from typing import Final

from afterword.app.share import WARNING, Said, Section, Shared
from afterword.domain.escape import fence, prose
from afterword.domain.items import Kind, SaidBy

_STYLE: Final = """
:root{color-scheme:light dark;--bg:#fbfaf8;--fg:#23211e;--soft:#6d675f;--line:#e3ded6;--card:#fff;--you:#eef4fb;
--youline:#b9d2ee;--code:#f3f0ea;--warn:#fff4d6;--warnline:#e2b93b;--warnfg:#5c4300;--bad:#b3261e;--good:#2e7d4f}
@media (prefers-color-scheme:dark){:root{--bg:#1b1a19;--fg:#e6e1da;--soft:#a19a90;--line:#383531;--card:#232120;
--you:#1e2a38;--youline:#37536f;--code:#2a2826;--warn:#3a2f10;--warnline:#a8862a;--warnfg:#f3dfa6;--bad:#ff8a80;
--good:#7fd1a0}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;
-webkit-text-size-adjust:100%}
main{max-width:50rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.5rem;line-height:1.3;margin:1.25rem 0 .25rem;overflow-wrap:anywhere}
h2{font-size:1.1rem;margin:2rem 0 .5rem;padding-bottom:.25rem;border-bottom:1px solid var(--line)}
h3{font-size:.8rem;margin:1rem 0 .25rem;color:var(--soft);text-transform:uppercase;letter-spacing:.04em}
.facts,.time,footer{color:var(--soft);font-size:.85rem}
.warn{background:var(--warn);border:1px solid var(--warnline);border-left-width:5px;color:var(--warnfg);
border-radius:6px;padding:.75rem 1rem;margin:0}
.warn strong{display:block}
.warn ul{margin:.4rem 0 0;padding-left:1.2rem}
.digest{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.25rem 1rem 1rem}
.digest ul{margin:.25rem 0;padding-left:1.2rem}
.digest li,.digest p{margin:.25rem 0;overflow-wrap:anywhere}
article{margin:.75rem 0;padding:.6rem 1rem;border-radius:8px;border:1px solid var(--line);background:var(--card)}
article.you{background:var(--you);border-color:var(--youline)}
article header{display:flex;justify-content:space-between;gap:1rem;font-size:.8rem;color:var(--soft)}
article header b{color:var(--fg)}
.text{white-space:pre-wrap;overflow-wrap:anywhere;margin:.25rem 0}
pre{background:var(--code);border:1px solid var(--line);border-radius:6px;padding:.6rem .8rem;margin:.5rem 0;
overflow-x:auto;font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre;tab-size:4}
code{font:.88em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--code);border-radius:4px;
padding:.1em .3em}
pre code{background:none;padding:0;font:inherit}
details{margin:.35rem 0 .35rem .5rem;border-left:3px solid var(--line);padding:.1rem 0 .1rem .7rem}
summary{cursor:pointer;color:var(--soft);font-size:.88rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
summary code{color:var(--fg)}
.bad{color:var(--bad)}.good{color:var(--good)}
footer{margin-top:3rem;border-top:1px solid var(--line);padding-top:.75rem}
@media print{details{break-inside:avoid}body{background:#fff}}
"""
_POLICY: Final = "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'"
_FENCE: Final = re.compile(
    r"^ {0,3}(`{3,}|~{3,})[^\n`]*\n(.*?)(?:^ {0,3}\1[`~]*[ \t]*$\n?|\Z)", re.MULTILINE | re.DOTALL
)
_CODE: Final = re.compile(r"(?<!`)`([^`\n]{1,300})`(?!`)")
_STRONG: Final = re.compile(r"\*\*(?=\S)([^*\n]{1,300}?)(?<=\S)\*\*")
_GOOD: Final = frozenset({"0", "ok"})
_SUMMARY_CHARS: Final = 160


def scrubbed_words(scrubbed: dict[str, int]) -> str:
    """What was scrubbed, in words."""
    return ", ".join(f"{count:,} × {kind}" for kind, count in scrubbed.items()) or "nothing was recognised"


def html_page(shared: Shared) -> str:
    """The whole page."""
    policy = _POLICY.format(base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode())
    rows = "".join(f"<li>{count:,} × {_e(kind)}</li>" for kind, count in shared.scrubbed.items())
    sections = "".join(map(_digest, shared.sections))
    left_out = f" {shared.left_out:,} items are not shown." if shared.left_out else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="robots" content="noindex,nofollow">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_e(shared.title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<div class="warn" role="note"><strong>{_e(WARNING.partition(". ")[0])}.</strong>'
        f"{_e(WARNING.partition('. ')[2])}"
        + (f"<br>Scrubbed here:<ul>{rows}</ul>" if rows else "<br>Nothing was recognised that had to be scrubbed.")
        + f"</div>\n{_retracted(shared)}"
        + f'<h1>{_e(shared.title)}</h1>\n<p class="facts">{_e(" · ".join(shared.facts))}</p>\n'
        + (f"<h2>What it came to</h2>\n{sections}" if sections else "")
        + "<h2>Conversation</h2>\n"
        + "".join(_conversation(shared.said))
        + f"<footer>Shared by Afterword.{_e(left_out)}</footer>\n</main>\n</body>\n</html>\n"
    )


def _retracted(shared: Shared) -> str:
    rows = "".join(f"<li>{_e(text)} <b>({_e(words)})</b></li>" for text, words in shared.retracted)
    return f'<div class="warn" role="note"><strong>Retracted since.</strong><ul>{rows}</ul></div>\n' if rows else ""


def _e(text: str) -> str:
    return html.escape(text, quote=True)


def _digest(section: Section) -> str:
    out = [f'<div class="digest"><h3>{_e(section.day)} {_e(section.time)}</h3>']
    for name, points in section.parts:
        if name == "Context":
            out += [f"<p>{_inline(point)}</p>" for point in points]
        else:
            out += [f"<h3>{_e(name)}</h3><ul>", *(f"<li>{_inline(point)}</li>" for point in points), "</ul>"]
    return "".join([*out, "</div>\n"])


def _conversation(said: tuple[Said, ...]) -> Iterator[str]:
    for one in said:
        match one.kind:
            case Kind.PROMPT | Kind.REPLY:
                you = one.said_by is SaidBy.PERSON
                who = "You" if you else "Agent"
                head = f"<header><b>{who}</b><span>{_e(one.time)}</span></header>"
                yield f'<article class="{who.lower()}">{head}{_blocks(one.text)}{_cut(one)}{_gone(one)}</article>\n'
            case Kind.SUMMARY:
                yield "<h3>The agent summed up what came before</h3>\n"
            case _:
                yield _folded(one)


def _folded(one: Said) -> str:
    """Anything a tool was asked or said, closed until somebody opens it."""
    first = (one.text.strip().splitlines() or [""])[0][:_SUMMARY_CHARS]
    lines = one.text.count("\n") + 1
    match one.kind:
        case Kind.COMMAND:
            head = f"<code>$ {_e(first)}</code>"
        case Kind.OUTPUT:
            head = f"output, {lines:,} {'line' if lines == 1 else 'lines'}"
        case Kind.THINKING:
            head = "thinking"
        case _:
            head = f"{_e(one.kind.word)} <code>{_e(one.path or first)}</code>"
    status = f' <span class="{"good" if one.status in _GOOD else "bad"}">{_e(one.status)}</span>' if one.status else ""
    body = f"<pre><code>{_e(one.text)}</code></pre>" if one.text else ""
    return f"<details><summary>{head}{status}</summary>{body}{_cut(one)}</details>\n"


def _cut(one: Said) -> str:
    return f'<p class="time">{one.cut:,} more characters are left out.</p>' if one.cut else ""


def _gone(one: Said) -> str:
    return f'<p class="time bad">{_e(one.retracted)}</p>' if one.retracted else ""


def _blocks(text: str) -> str:
    out, at = [], 0
    for found in _FENCE.finditer(text):
        out += [_text(text[at : found.start()]), f"<pre><code>{_e(found[2])}</code></pre>"]
        at = found.end()
    return "".join([*out, _text(text[at:])])


def _text(text: str) -> str:
    text = text.strip("\n")
    return f'<div class="text">{_inline(text)}</div>' if text.strip() else ""


def _inline(text: str) -> str:
    """Code and strong words of a text; everything else is only shown."""
    escaped = _e(text)
    pieces = []
    at = 0
    for found in _CODE.finditer(escaped):
        pieces += [_STRONG.sub(r"<strong>\1</strong>", escaped[at : found.start()]), f"<code>{found[1]}</code>"]
        at = found.end()
    return "".join([*pieces, _STRONG.sub(r"<strong>\1</strong>", escaped[at:])])


def markdown(shared: Shared) -> str:
    """The same as Markdown, in which no text of the session is anything but text."""
    out = [f"# {prose(shared.title)}", "", str(prose(" · ".join(shared.facts))), ""]
    out += [f"> **{WARNING.partition('. ')[0]}.** {WARNING.partition('. ')[2]}"]
    out += [f"> Scrubbed here: {prose(scrubbed_words(shared.scrubbed))}.", ""]
    if shared.retracted:
        out += ["> **Retracted since:**", *(f"> - {prose(text)} ({prose(why)})" for text, why in shared.retracted), ""]
    for section in shared.sections:
        out += [f"## {section.day} {section.time}", ""]
        for name, points in section.parts:
            out += [f"**{name}:**", "", *(f"- {prose(point)}" for point in points), ""]
    out += ["## Conversation", ""]
    for one in shared.said:
        status = f" → {prose(one.status)}" if one.status else ""
        who = ("You" if one.said_by is SaidBy.PERSON else "Agent") if one.kind in (Kind.PROMPT, Kind.REPLY) else ""
        path = f" {prose(one.path)}" if one.path else ""
        out += [f"**{who or one.kind.word}**{path}{status} ({one.time})", ""]
        if one.text:
            out += [str(fence(one.text, "text")), ""]
        if one.retracted:
            out += [f"({prose(one.retracted)})", ""]
        if one.cut:
            out += [f"({one.cut:,} more characters are left out.)", ""]
    return "\n".join(out).rstrip() + "\n"
