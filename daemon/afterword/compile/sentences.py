"""Markdown prose → sentences. Code, tables, quotations and mark-up lines are not prose and are left out.

Every sentence keeps `raw`, which is a substring of the text once white space is normalised, beside the readable `text`.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple


class Sentence(NamedTuple):
    raw: str
    text: str
    heading: str
    """The heading, or the line ending in a colon, that this sentence stands under."""
    listed: bool
    box: str
    """The checkbox of its list item: "" none, " " open, "x" done."""
    block: int = 0
    """The number of its paragraph or list item."""


def words(row: str) -> frozenset[str]:
    """A literal set of words, written as a row."""
    return frozenset(row.split())


def normal(text: str) -> str:
    """The text with every run of white space as one blank: the form quotes are compared in."""
    return " ".join(text.split())


_FENCE = re.compile(r"(```+|~~~+)")
_HEADING = re.compile(r"#{1,6}\s+(.+)|\*\*([^*]{2,80})\*\*\s*[:：]?$|__([^_]{2,80})__\s*:?$")
_RULE = re.compile(r"[-=*_~ ]{3,}$")
_TAG_LINE = re.compile(r"</?[A-Za-z!][^>]*>$")
_BULLET = re.compile(r"(?:[-*+•◦‣–—]|\(?\d{1,3}[.)、])\s+(?:\[([ xX])\]\s+)?|\[([ xX])\]\s+")
_COLON = (":", "：")


def sentences(text: str) -> list[Sentence]:
    """The prose sentences of a markdown text, in order."""
    found: list[Sentence] = []
    for block, (raw, heading, listed, box) in enumerate(_blocks(text)):
        for piece in split(raw):
            clean = plain(piece)
            if clean:
                found.append(Sentence(piece, clean, heading, listed, box, block))
    return found


def _blocks(text: str) -> Iterator[tuple[str, str, bool, str]]:
    """(raw text, heading, in a list, checkbox) of each paragraph and list item."""
    lines: list[str] = []
    listed, box, heading, lead = False, "", "", ""
    fence, blank, was_list = "", True, False

    def close(*, before_list: bool = False) -> list[tuple[str, str, bool, str]]:
        nonlocal lines, lead
        if not lines:
            return []
        raw = normal(" ".join(lines))
        lines = []
        if not listed:
            titled = before_list and len(raw) <= 40 and raw[-1:].isalnum()
            lead = raw if titled or raw.rstrip("*_ ").endswith(_COLON) else ""
        return [(raw, lead or heading, listed, box)] if raw else []

    for line in text.split("\n"):
        stripped = line.strip()
        if fence:
            if stripped.startswith(fence) and not stripped.strip(fence[0]):
                fence = ""
            continue
        opened = _FENCE.match(stripped)
        if opened and stripped.count(opened.group(1)) == 1:
            yield from close()
            fence = opened.group(1)
            blank = True
            continue
        if not stripped:
            yield from close()
            blank = True
            continue
        bullet = _BULLET.match(stripped)
        head = _HEADING.match(stripped)
        if head and not bullet:
            yield from close()
            heading, lead = next(part for part in head.groups() if part), ""
        elif stripped[0] in "|>" or _RULE.match(stripped) or _TAG_LINE.match(stripped):
            yield from close()
        elif bullet:
            yield from close(before_list=not listed)
            listed, box = True, (bullet.group(1) or bullet.group(2) or "").lower()
            lines = [stripped[bullet.end() :]]
            was_list = True
        elif blank and line[:4].expandtabs() == "    " and not was_list:
            pass  # indented code
        elif lines and _wrapped(lines[-1], stripped):
            lines.append(stripped)
        else:
            yield from close()
            indented = line[:1] in " \t"
            if not (was_list and indented):
                listed, box, was_list = False, "", False
            lines = [stripped]
        blank = False
    yield from close()


_UNFINISHED = words(
    "a an the of to in on at by with from for and or than as und oder der die das den dem mit von für ein eine w z na "
    "do od i oraz или и в на с к от для de la le les du et ou el los las y o il lo e con di um uma com … ..."
)
"""Words no statement ends with, and the mark of something left out in its middle."""


def _wrapped(before: str, after: str) -> bool:
    """Whether a line break is only a wrapped line and not the end of a statement."""
    if before.endswith(_COLON):
        return False
    if len(before) >= 60 or after[0].islower() or before[-1] in ",;(、，-–":
        return True
    return before.count("(") > before.count(")") or before.rsplit(None, 1)[-1].lower() in _UNFINISHED


_MASKED = re.compile(r"`[^`]*`|https?://\S+")
_END = re.compile(r"[.!?…]+[\"'”’»)\]*_]*(?=\s|$)|[。！？｡]+[」』”’）)*]*|[।؟۔]+(?=\s|$)")
_ABBREVIATIONS = words(
    "e.g i.e vs cf approx resp fig incl esp dr mr mrs ms prof st z.b d.h bzw ca vgl evtl ggf u.a nr np tzn tj m.in tzw "
    "pkt т.е т.к напр см др стр рис p.ex p.ej pág sr sra sig dott eg ie ex max min"
)
_OPEN_ENDED = words("etc itd itp usw ecc т.д т.п et al es")
"""Abbreviations that may also end a sentence."""


def split(raw: str) -> list[str]:
    """The sentences of one paragraph (white space already normalised)."""
    masked = _MASKED.sub(lambda found: "x" * len(found.group()), raw)
    pieces: list[str] = []
    start = 0
    for end in _END.finditer(masked):
        if not _ends(masked, start, end):
            continue
        pieces.append(raw[start : end.end()].strip())
        start = end.end()
    pieces.append(raw[start:].strip())
    return [piece for piece in pieces if piece]


def _ends(masked: str, start: int, end: re.Match[str]) -> bool:
    mark = end.group()
    if mark[0] not in ".…":
        return True
    after = masked[end.end() : end.end() + 2].lstrip()[:1]
    if not after:
        return True
    if end.start() == 0 or masked[end.start() - 1] == " ":
        return False  # something is left out in the middle: "SELECT … FOR UPDATE"
    word = masked[max(start, masked.rfind(" ", max(start, end.start() - 24), end.start()) + 1) : end.start()]
    whole = word.strip("(«„\"'[")
    word = whole.lower()
    if word in _ABBREVIATIONS or (word in _OPEN_ENDED and not after.isupper()):
        return False
    if len(word) == 1 and word.isalpha() and word.isascii():
        return False
    if word.isdigit() and end.start() - start <= 3:
        return False
    return not after.islower() or (
        (len(word) >= 3 or (len(word) == 2 and whole.isupper())) and mark[0] == "." and len(mark) == 1
    )


_CODE = re.compile(r"(`+[^`]*`+)")
_LINK = re.compile(r"!?\[([^\]\[]*)\]\([^()\s]*(?:\s\"[^\"]*\")?\)")
_WIKI = re.compile(r"\[\[(?:[^\]\[|]*\|)?([^\]\[|]+)\]\]")
_STRONG = re.compile(r"(\*\*\*|\*\*|~~|==)(?=\S)(.+?)(?<=\S)\1")
_STRESS = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*]+?)(?<=\S)\*(?![\w*])|(?<!\w)__?(?=[^\s_])([^_]+?)(?<=\S)__?(?!\w)")
_TAG = re.compile(r"</?(?:b|i|em|strong|code|kbd|br|p|u|sub|sup|details|summary)\s*/?>", re.IGNORECASE)
_UNSEEN = re.compile("[\u200b\u202a-\u202e\u2066-\u2069\ufeff\x00-\x1f\x7f]")
_LEADING = re.compile(r"^(?:[^\w`\"'“„«「『(\[$#@/~.<¿¡-]|[-.#<](?=\s))+")


def plain(raw: str) -> str:
    """The sentence without markdown syntax; code keeps its backticks."""
    parts = _CODE.split(_UNSEEN.sub("", raw))
    for n in range(0, len(parts), 2):
        part = _TAG.sub("", _WIKI.sub(r"\1", _LINK.sub(r"\1", parts[n])))
        part = _STRONG.sub(r"\2", part)
        parts[n] = _STRESS.sub(lambda found: found.group(1) or found.group(2), part)
    # Stress around code ("**`x`**") is split by the code itself.
    joined = "".join(parts).replace("**", "").replace("``", "")
    return normal(_LEADING.sub("", normal(joined)))


def cut(text: str, limit: int) -> str:
    """The text in at most `limit` characters, cut at a word and marked with …"""
    if len(text) <= limit:
        return text
    short = text[: limit - 1]
    at = short.rfind(" ")
    if at >= limit // 2:
        short = short[:at]
    if short.count("`") % 2:
        opened = short.rfind("`")
        short = short[:opened] if opened >= limit // 2 else short.replace("`", "")
    return short.rstrip(" ,;:—–-") + "…"
