"""Full text: `text-0.db` and further ones beside the ledger, disposable and made again from the rows.

Prose (what people and agents said) has positions, for phrases and BM25; everything else is indexed by token only.
The ledger notes in the same transaction as an item that its text is owed here (`text_pending`); a file remembers
in the same transaction as its postings how far it got. So a kill between the two loses and doubles nothing: one
item, one posting. Here is what a search needs; `textwriter` has the other side.
"""

import functools
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from unicodedata import category, normalize

from afterword.store.ledger.ledger import Ledger

FILE = "text-0.db"
BLOCK_SHIFT = 10
"""Rows go to the shards in blocks of 1,024: neighbours lie on the same pages."""
TOKENIZE = "unicode61 remove_diacritics 2 tokenchars '_'"


# Compiled when first needed: such ranges take some milliseconds each, and plain English needs none of them.
@functools.cache
def _unspaced() -> re.Pattern[str]:
    """Scripts written without spaces: each sign becomes a token, a word a phrase of them."""
    return re.compile(
        "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uaa60-\uaa7f"
        "\uf900-\ufaff\U00020000-\U0003ffff])"
    )


@functools.cache
def _letters() -> re.Pattern[str]:
    """Letters and numbers beyond ASCII; arrows, rules, boxes and dashes, which most tool output has, are none."""
    return re.compile("[\u00aa-\u1fff\u2070-\u209f\u2100-\u218f\u2460-\u24ff\u2c00-\U0010ffff]")


@functools.cache
def _marks() -> re.Pattern[str]:
    """Every combining mark of the first plane."""
    marks = (sign for sign in map(chr, range(0x300, 0xFE30)) if category(sign)[0] == "M")
    return re.compile(f"[{''.join(map(re.escape, marks))}]+")


def folded(text: str) -> str:
    """`text` in one case, without accents and with compatible signs made one: how texts are compared.

    It keeps no length: one sign may become several, or none.
    """
    if text.isascii() or not _letters().search(text):
        return text.lower()
    return _marks().sub("", normalize("NFKD", text).casefold())


def spaced(text: str) -> str:
    """`text` as it is given to the tokenizer, at indexing and in queries alike: folded by us, because the tokenizer
    does not know every script's case and marks."""
    if text.isascii() or not _letters().search(text):
        return text
    return _unspaced().sub(r" \1 ", folded(text))


PART = "_"
"""Before each part of a name, so that a part is told from a word: `resolveEncodedPath` also gives `_resolve _encoded
_path`. Prose only, where people write names into sentences; in tool text it would cost a third of an ingest."""
_WORD = re.compile(r"[A-Za-z0-9_]+")
_NAME = re.compile(r"[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)+|[A-Za-z0-9]*(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z])[A-Za-z0-9]*")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@functools.lru_cache(maxsize=50_000)
def parts_of(name: str) -> tuple[str, ...]:
    """The parts of a name such as `max_retry_count`, `HTTPServer` or `resolveEncodedPath`; of anything else none."""
    return tuple(part.lower() for part in _PARTS.findall(name)) if _NAME.fullmatch(name) else ()


def body(table: str, text: str) -> str:
    """What the tokenizer is given of a text: itself, and behind it the parts of the names in it."""
    if table != "prose":
        return spaced(text)
    words = dict.fromkeys(_WORD.findall(text))  # in their order: what is taken out again must be the very same
    named = [parts_of(word) for word in words if "_" in word or not (word.islower() or word.istitle())]
    return spaced(text) + "".join(f"\n{' '.join(PART + part for part in parts)} {PART}" for parts in named if parts)


class Range(NamedTuple):
    """The rows of items after `start`, up to `end`, whose tool text is spread over `shards` files, and of them those in
    `shard`. `end` is None while it is not known. All other rows have it in the first file."""

    start: int = 0
    end: int | None = 0
    shards: int = 1
    shard: int = 0

    def covers(self, row: int) -> bool:
        """Whether a row is one of these, in whatever shard."""
        return self.start < row and (self.end is None or row <= self.end)

    def holds(self, row: int) -> bool:
        """Whether a row is one of these, in this shard."""
        return self.covers(row) and (row >> BLOCK_SHIFT) % self.shards == self.shard

    def stretches(self, after: int) -> Iterator[tuple[int, int]]:
        """(first, last) row of each stretch in this shard behind `after`; of one that grows, none."""
        first = max(after, self.start) + 1
        while self.end is not None and first <= self.end:
            block = first >> BLOCK_SHIFT
            last = min(((block + 1) << BLOCK_SHIFT) - 1, self.end)
            if block % self.shards == self.shard:
                yield first, last
            first = last + 1

    def stored(self) -> str:
        """As it stands in the first file."""
        return f"{self.start} {-1 if self.end is None else self.end} {self.shards}"


def spread_of(db: sqlite3.Connection, schema: str = "main") -> Range:
    """What the first file says."""
    found = db.execute(f"SELECT value FROM {schema}.meta WHERE key = 'spread'").fetchone()
    start, end, shards = map(int, found[0].split()) if found else (0, 0, 1)
    return Range(start, None if end < 0 else end, shards)


def shard_path(state: Path, number: int) -> Path:
    """The file with this number."""
    return state / f"text-{number}.db"


def attach(ledger: Ledger, state: Path) -> bool:
    """Attach the full text to a reader's connection as `text0`, `text1` …; False when there is none yet."""
    path = state / FILE
    if not path.exists():
        return False
    ledger.db.execute("ATTACH ? AS text0", (path.as_uri() + "?mode=ro",))
    if not ledger.db.execute("SELECT 1 FROM text0.sqlite_master WHERE name = 'meta'").fetchone():
        return False
    for number in range(1, spread_of(ledger.db, "text0").shards):
        path = shard_path(state, number)
        if path.exists():
            ledger.db.execute(f"ATTACH ? AS text{number}", (path.as_uri() + "?mode=ro",))
    return True


def detach(ledger: Ledger) -> None:
    """Take back what `attach` did, whole or in part."""
    for name in schemas(ledger):
        ledger.db.execute(f"DETACH {name}")


def schemas(ledger: Ledger) -> list[str]:
    """The attached files of the full text, by the names they have in SQL."""
    return sorted(name for _, name, _ in ledger.db.execute("PRAGMA database_list") if name.startswith("text"))


def damage(ledger: Ledger) -> str:
    """What SQLite's quick check says is wrong with the attached full text; empty when nothing is."""
    try:
        for name in schemas(ledger):
            said: str = ledger.db.execute(f"PRAGMA {name}.quick_check(1)").fetchone()[0]
            if said != "ok":
                return said
            for table in ("prose", "tool") if name == "text0" else ("tool",):
                ledger.db.execute(f"SELECT rowid FROM {name}.{table} WHERE {name}.{table}.{table} MATCH 'a' LIMIT 1")
    except sqlite3.DatabaseError as err:
        return str(err)
    return ""


def complete(ledger: Ledger) -> bool:
    """Whether the attached full text holds every row it should (not one that is just being made, or made again)."""
    spread = spread_of(ledger.db, "text0")
    if spread.end is None or len(schemas(ledger)) < spread.shards:
        return False
    prose = Range(0, _meta(ledger, "text0", "prose.end"))
    left = [next(prose.stretches(_meta(ledger, "text0", "prose.filled")), None)]
    for number in range(spread.shards):
        filled = _meta(ledger, f"text{number}", "tool.filled")
        left.append(next(spread._replace(shard=number).stretches(filled), None))
    return not any(left)


def _meta(ledger: Ledger, schema: str, key: str) -> int:
    found = ledger.db.execute(f"SELECT value FROM {schema}.meta WHERE key = ?", (key,)).fetchone()
    return int(found[0]) if found else 0
