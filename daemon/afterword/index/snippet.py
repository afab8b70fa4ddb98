"""The stretch of a text around what was looked for."""

import re

from afterword.index.query import Term
from afterword.store.fulltext import folded as fold

_WIDTH = 240


def snippet(text: str, terms: list[Term]) -> str:
    """About 240 characters on one line around the first place where a term stands."""
    # Folding may change lengths for some scripts; then the place is a little off, never out of range.
    flat = fold(text)
    places = [at for term in terms if (at := _place(flat, term)) >= 0]
    at = min(places, default=0) * len(text) // max(1, len(flat))
    start = max(0, at - _WIDTH // 3)
    if start:
        space = text.find(" ", start, at)
        start = space + 1 if space >= 0 else start
    piece = re.sub(r"\s+", " ", text[start : start + _WIDTH]).strip()
    return ("…" if start else "") + piece + ("…" if start + _WIDTH < len(text) else "")


def _place(folded: str, term: Term) -> int:
    if term.literal:
        at = folded.find(term.literal)
        if at >= 0:
            return at
    if not term.tokens:
        return -1
    return _word(folded, term.tokens[0])


def _word(folded: str, token: str) -> int:
    """Where a word stands; else where it is the beginning of one, or a part of a name; -1 where nowhere."""
    first = at = folded.find(token)
    while at >= 0:
        end = at + len(token)
        if not (_of_word(folded[at - 1 : at]) or _of_word(folded[end : end + 1])):
            return at
        at = folded.find(token, at + 1)
    return first


def _of_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"
