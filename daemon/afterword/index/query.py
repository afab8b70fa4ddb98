"""What a person types into search, taken apart: terms, quoted phrases, and what they mean to the full text."""

import re

import msgspec

from afterword.domain.errors import UsageError
from afterword.store.fulltext import PART, folded, parts_of, spaced

_TERM = re.compile(r'"([^"]*)"?|(\S+)')
_TOKEN = re.compile(r"\w+")
_LOOSE_TERMS, _LOOSE_CHARS = 2, 3


class Term(msgspec.Struct, frozen=True):
    """One word or phrase. `tokens` are what the tokenizer makes of it; `literal` must stand in the text as it is."""

    tokens: tuple[str, ...]
    literal: str
    """Folded; empty when the tokens alone say all of it."""
    open: bool = False
    """Written with `*` at its end: the last token is the beginning of a word."""
    parts: tuple[str, ...] = ()
    """The parts of a name, as in `EncodedPath`; for a word just that word."""


def parse(query: str) -> list[Term]:
    """The terms of a query: all of them must be found. Quotes make a phrase, `*` at the end of a word its beginning.

    Raises:
        UsageError: there is no word in it.
    """
    terms = []
    for quoted, word in _TERM.findall(query):
        raw = quoted or word
        opened = raw is word and len(raw) > 2 and raw.endswith("*") and _TOKEN.fullmatch(raw[-3:-1]) is not None
        raw = raw.removesuffix("*") if opened else raw
        tokens = tuple(_TOKEN.findall(spaced(raw).lower()))
        literal = folded(raw).strip()
        if tokens or literal:
            plain = (literal,) == tokens
            parts = parts_of(raw) or tokens if plain and raw is word else ()
            terms.append(Term(tokens, "" if plain else " ".join(literal.split()), opened, parts))
    if not any(term.tokens for term in terms):
        raise UsageError(f"there is no word to look for in {query!r}", "give at least one word or number")
    return terms


def pattern(term: Term) -> re.Pattern[str]:
    """What finds a term's literal in a folded text; its words may stand on lines of their own."""
    return re.compile(r"\s+".join(map(re.escape, term.literal.split())))


def prose_match(terms: list[Term]) -> str:
    """The FTS5 expression for a table with positions: phrases are contiguous."""
    return " AND ".join(f'"{" ".join(term.tokens)}"' + (" *" if term.open else "") for term in terms if term.tokens)


def tool_match(terms: list[Term]) -> str:
    """The FTS5 expression for a table without positions: every token somewhere."""
    return " AND ".join(
        f'"{token}"' + (" *" if term.open and at == len(term.tokens) - 1 else "")
        for term in terms
        for at, token in enumerate(term.tokens)
    )


def loosened(terms: list[Term]) -> tuple[str, str] | None:
    """The expressions, for prose and for tool text, for words that begin so, or are parts of names: what is looked for
    when nothing holds the words as they are. None for phrases, signs, short words and whole sentences."""
    if len(terms) > _LOOSE_TERMS or any(not t.parts or t.literal or len(t.tokens[0]) < _LOOSE_CHARS for t in terms):
        return None
    prose = " AND ".join(
        f'("{term.tokens[0]}" * OR "{" ".join(PART + part for part in term.parts)}" *)' for term in terms
    )
    return prose, " AND ".join(f'"{term.tokens[0]}" *' for term in terms)
