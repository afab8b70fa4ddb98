"""What is looked for when nothing holds the words as they were typed, one step after the other.

Beginnings of words and parts of names; other forms of the words; words written a little otherwise; files of that name;
at last what holds most of the words, where no index by meaning answers. Each step says which it was, so that nobody
takes a near hit for an exact one.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

import msgspec

from afterword.index.query import Term, loosened
from afterword.index.stemming import HEBREW_BEFORE, HEBREW_BEHIND, STOP, stem
from afterword.store import fulltext
from afterword.store.ledger.ledger import Ledger

How: TypeAlias = Literal["all", "beginnings", "forms", "spelling", "file", "most"]

_FORMS_MAX = 4
_STEM_MIN, _HEBREW_MIN = 4, 3
_SPELLED_MIN = 4
_FAR_FROM = 8
"""Words this long may differ in two places."""
_CANDIDATES_MAX = 50_000


class Step(msgspec.Struct, frozen=True):
    """Expressions for prose and for tool text. `words` are what is looked for instead of what was typed, or empty."""

    how: How
    prose: str
    tool: str
    words: str = ""


def steps(ledger: Ledger, terms: Sequence[Term]) -> Iterator[Step]:
    """What else to look for, the closest first; nothing for phrases, names with signs, and whole sentences."""
    if loose := loosened(list(terms)):
        yield Step("beginnings", *loose)
    if any(not _plain(term) for term in terms):
        return
    words = telling(terms)
    if not 0 < len(words) <= _FORMS_MAX:
        return
    if any(len(stem(word)) < len(word) or not word.isascii() for word in words):
        expression = " AND ".join(map(forms, words))
        yield Step("forms", expression, expression)
    corrected = [_spelled(ledger, word) for word in words]
    if corrected != words:
        expression = " AND ".join(f'"{word}"' for word in corrected)
        yield Step("spelling", expression, expression, " ".join(corrected))
        expression = " AND ".join(map(forms, corrected))
        yield Step("spelling", expression, expression, " ".join(corrected))


def telling(terms: Sequence[Term]) -> list[str]:
    """The plain words of a query that say what it is about, each once; all of them when none does."""
    words = list(dict.fromkeys(token for term in terms for token in term.tokens))
    return [word for word in words if word not in STOP] or words


def forms(word: str) -> str:
    """The expression for a word in any of its forms."""
    root = stem(word)
    hebrew = "\u05d0" <= word[0] <= "\u05ea"
    if len(root) < (_HEBREW_MIN if hebrew else _STEM_MIN):
        return f'"{word}"'
    roots = [root]
    if hebrew:
        # What looks like a word put in front may be the word's own first letter.
        whole = next((word.removesuffix(e) for e in HEBREW_BEHIND if word.endswith(e)), word)
        roots += [whole] if len(whole) >= _HEBREW_MIN else []
        roots += [before + each for each in roots for before in HEBREW_BEFORE]
    found = [f'"{word}"', *(f'"{each}" *' for each in dict.fromkeys(roots))]
    return f"({' OR '.join(found)})"


def _plain(term: Term) -> bool:
    return len(term.tokens) == 1 and not term.literal and not term.open


def _spelled(ledger: Ledger, word: str) -> str:
    """The word as people wrote it who are near to it, where nobody wrote it so; else the word itself."""
    if len(word) < _SPELLED_MIN or not word.isalpha() or _stands(ledger, word):
        return word
    far = 2 if len(word) >= _FAR_FROM else 1
    rows = _words_like(ledger, word[0])
    near = [
        (distance, -count, term)
        for term, count in rows
        if abs(len(term) - len(word)) <= far and (distance := _distance(word, term, far)) <= far
    ]
    return min(near)[2] if near else word


def _stands(ledger: Ledger, word: str) -> bool:
    """Whether the word stands anywhere, said or printed."""
    return any(
        ledger.db.execute(f"SELECT 1 FROM {name}.{table} WHERE {name}.{table}.{table} MATCH ? LIMIT 1", (f'"{word}"',))
        .fetchone()
        for name in fulltext.schemas(ledger)
        for table in (("prose", "tool") if name == "text0" else ("tool",))
    )  # fmt: skip


def _words_like(ledger: Ledger, first: str) -> list[tuple[str, int]]:
    """(word, in how many messages) of what people and agents said, beginning with a letter."""
    try:
        ledger.db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.said USING fts5vocab(text0, prose, row)")
        return ledger.db.execute(
            "SELECT term, doc FROM temp.said WHERE term >= ? AND term < ? LIMIT ?",
            (first, chr(ord(first) + 1), _CANDIDATES_MAX),
        ).fetchall()
    except sqlite3.OperationalError:
        return []  # a full text without this table, or a connection that may not
    finally:
        ledger.db.execute("DROP TABLE IF EXISTS temp.said")


def _distance(one: str, other: str, most: int) -> int:
    """How many letters were left out, added, changed, or swapped with their neighbour; above `most` only that it is."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        now = [i]
        for j, b in enumerate(other, 1):
            cost = min(row[j] + 1, now[j - 1] + 1, row[j - 1] + (a != b))
            if before and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            now.append(cost)
        if min(now) > most:
            return most + 1
        before, row = row, now
    return row[-1]
