"""Foreign text into notes: the only two ways in, so that none of it becomes Markdown, a link, a tag or a program.

A security boundary. Obsidian runs what some fences hold, fetches what an embed names and creates what a link names,
and its plugins read raw lines besides. So the bytes that start anything (`[[`, `%%`, `::`, `==`, `<%`, a bare
backtick) never stand in the output as they are, whatever a parser thinks of the backslashes between them.
"""

import re
from typing import Final, Self

# fmt: off
FENCE_LANGUAGES: Final = frozenset((
    "text", "bash", "sh", "console", "python", "json", "yaml", "toml", "ts", "js", "tsx", "rust", "go", "java", "c",
    "cpp", "css", "html", "sql", "diff", "ini", "dockerfile",
))
# fmt: on
"""Any other word after a fence may be a plugin's block that runs (`dataviewjs`, `query`, `tasks`, …)."""

# Controls, bidi marks, invisible fillers, Unicode tags and noncharacters. Spaces, joiners and variation selectors
# are dealt with below; the visible format characters of Arabic and Egyptian stay.
_GONE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
    + "]+"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SELECTOR = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_JOINER = "\u200c\u200d"
_GLUE = re.compile(f"[{_SELECTOR}{_JOINER}]+")
_LINE_END = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1f\x85\u2028\u2029]")

_BITES = re.compile(
    r"""
      <                                       # HTML, autolinks, Templater
    | &(?=[\w\#])                             # entities
    | \\(?![^\W_])                            # escapes, a hard break; before a letter or digit it is only itself
    | [`*\[$~|]                               # code, emphasis, links, math, strike-through, tables
    | (?<![^\W_])_ | _(?![^\W_])              # emphasis; inside a word it is only itself
    | =(?==) | (?<==)= | ^=                   # highlight, setext line
    | %(?=%) | (?<=%)%                        # Obsidian comments
    | (?<![A-Za-z0-9])[\#^]                   # tags, headings, block ids, inline footnotes
    | :(?=:|//) | (?<=:):                     # Dataview fields; bare addresses
    | (?<=[\w.+-])@(?=\w) | (?<=[Ww]{3})\.    # mail addresses and www., which become links as well
    | ^[>+-]                                  # quotes, lists, rules, front matter
    """,
    re.VERBOSE,
)
_NUMBERED = re.compile(r"\A([0-9]+)([.)])(?= |$)")
# In a link's display text: look-alikes for what ends the link, starts HTML, code, math or an embed.
_LOOKS: Final = {
    "[": "(", "]": ")", "|": "¦", "<": "‹", ">": "›", "`": "'", "\\": "∖", "$": "＄", "#": "＃", "^": "ˆ", "*": "∗",
    "~": "∼", "&": "＆",
}  # fmt: skip
_LABEL_BITES = re.compile(r"[\[\]|<>`\\$*~]|(?<![A-Za-z0-9])[#^]|&(?=[\w#])")
_LABEL_RUNS = re.compile(r"%%+|==+|::+|(?<![^\W_])_+|_+(?![^\W_])|:(?=//)|(?<=[Ww]{3})\.|(?<=[\w.+-])@(?=\w)")
_LABEL_RUN_LOOKS = str.maketrans({"%": "％", "=": "＝", ":": "：", "_": "ˍ", ".": "․", "@": "＠"})
_ENTITIES = {"<": "&lt;", "&": "&amp;"}
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])|&(lt|amp);")
_TICKS = re.compile("`+")


class SafeMd(str):
    """Markdown that stands for a foreign text. Only `prose` and `fence` make it, and neither takes it again."""

    __slots__ = ()

    def __new__(cls, *_: object) -> Self:
        raise TypeError("SafeMd is made by prose() and fence() only")


def plain(text: str) -> str:
    """`text` as one line of what can be seen: white space collapsed, control and hidden characters removed."""
    return " ".join(_visible(text).split())


def plain_lines(text: str) -> str:
    """`text` with its lines and spaces kept, `\\n` at line ends, control and hidden characters removed."""
    return _visible(_LINE_END.sub("\n", text))


def prose(text: str) -> SafeMd:
    """One line of Markdown that shows `plain(text)` and is nothing but text, wherever on a line it stands.

    What follows on the line is set off by a space, in a table cell too.
    """
    if isinstance(text, SafeMd):
        raise TypeError("this text is escaped already")
    escaped = _BITES.sub(lambda m: _ENTITIES.get(m[0]) or "\\" + m[0], plain(text))
    return str.__new__(SafeMd, _NUMBERED.sub(r"\1\\\2", escaped))


def label(text: str) -> SafeMd:
    """`text` as the display text of a wikilink, where no backslash escapes: what bites gives way to a look-alike.

    Shows `plain(text)` but for those signs, and is never empty.
    """
    if isinstance(text, SafeMd):
        raise TypeError("this text is escaped already")
    shown = _LABEL_BITES.sub(lambda m: _LOOKS[m[0]], plain(text))
    shown = _LABEL_RUNS.sub(lambda m: m[0].translate(_LABEL_RUN_LOOKS), shown)
    return str.__new__(SafeMd, shown or "…")


def unescape(markdown: str) -> str:
    """The text that `prose` was given, as `plain` has it; other Markdown only loses its escapes."""
    return _ESCAPED.sub(lambda m: m[1] or ("<" if m[2] == "lt" else "&"), markdown)


def fence(text: str, language: str) -> SafeMd:
    """A code block that shows `plain_lines(text)`, without a newline at its end.

    A language that is not in `FENCE_LANGUAGES` becomes `text`. Inside, `<%` gets a zero-width space: Templater
    reads no fences.
    """
    if isinstance(text, SafeMd):
        raise TypeError("this text is escaped already")
    body = plain_lines(text).replace("<%", "<\u200b%")
    if body and not body.endswith("\n"):
        body += "\n"
    ticks = "`" * max(4, 1 + max(map(len, _TICKS.findall(body)), default=0))
    return str.__new__(SafeMd, f"{ticks}{language if language in FENCE_LANGUAGES else 'text'}\n{body}{ticks}")


def _visible(text: str) -> str:
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _GLUE.sub(_glue, _GONE.sub("", text))


def _glue(run: re.Match[str]) -> str:
    """Of a run of joiners and variation selectors, what emoji and scripts need; the rest could hide a message."""
    text, start, end = run.string, run.start(), run.end()
    before, after = text[max(start - 1, 0) : start], text[end : end + 1]
    if not before or before.isspace():
        return ""
    selector = next((c for c in run[0] if c not in _JOINER), "")
    joins = before > "\x7f" and after > "\x7f" and not after.isspace()
    return selector + (next((c for c in run[0] if c in _JOINER), "") if joins else "")
