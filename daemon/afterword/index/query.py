"""What a person types into search, taken apart: terms, quoted phrases, and what they mean to the full text."""

import re

import msgspec

from afterword.domain.errors import UsageError
from afterword.store.fulltext import folded, spaced

_TERM = re.compile(r'"([^"]*)"?|(\S+)')
_TOKEN = re.compile(r"\w+")


class Term(msgspec.Struct, frozen=True):
    """One word or phrase. `tokens` are what the tokenizer makes of it; `literal` must stand in the text as it is."""

    tokens: tuple[str, ...]
    literal: str
    """Folded; empty when the tokens alone say all of it."""


def parse(query: str) -> list[Term]:
    """The terms of a query: all of them must be found. Quotes make a phrase.

    Raises:
        UsageError: there is no word in it.
    """
    terms = []
    for quoted, word in _TERM.findall(query):
        raw = quoted or word
        tokens = tuple(_TOKEN.findall(spaced(raw).lower()))
        literal = folded(raw).strip()
        if tokens or literal:
            terms.append(Term(tokens, "" if (literal,) == tokens else " ".join(literal.split())))
    if not any(term.tokens for term in terms):
        raise UsageError(f"there is no word to look for in {query!r}", "give at least one word or number")
    return terms


def pattern(literal: str) -> re.Pattern[str]:
    """What finds a literal in a folded text; its words may stand on lines of their own."""
    return re.compile(r"\s+".join(map(re.escape, literal.split())))


def prose_match(terms: list[Term]) -> str:
    """The FTS5 expression for a table with positions: phrases are contiguous."""
    return " AND ".join('"' + " ".join(term.tokens) + '"' for term in terms if term.tokens)


def tool_match(terms: list[Term]) -> str:
    """The FTS5 expression for a table without positions: every token somewhere."""
    return " AND ".join(f'"{token}"' for term in terms for token in term.tokens)
