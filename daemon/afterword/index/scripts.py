"""Which scripts texts are written in, held against those an embedder was trained on."""

import unicodedata
from collections import Counter
from collections.abc import Iterable

KNOWN = {"local": frozenset({"Latin", "Cyrillic", "Arabic", "Cjk", "Hiragana", "Katakana", "Hangul", "Thai"})}
"""Setting → scripts of the languages its model knows (English, German, French, Italian, Spanish, Portuguese, Dutch,
Polish, Turkish, Russian, Arabic, Chinese, Japanese, Korean, Thai)."""

_SHARE_MIN = 0.02
_LETTERS_MIN = 200


def unknown(texts: Iterable[str], embedder: str) -> dict[str, float]:
    """Scripts that a good part of the texts is written in and the embedder does not know → share of all letters."""
    letters: Counter[str] = Counter()
    for text in texts:
        for char, count in Counter(text).items():
            if char.isalpha():
                letters["LATIN" if char.isascii() else unicodedata.name(char, "?").partition(" ")[0]] += count
    most = max(1, letters.total())
    return {
        script.capitalize(): round(count / most, 3)
        for script, count in letters.most_common()
        if count >= _LETTERS_MIN
        and count / most >= _SHARE_MIN
        and script.capitalize() not in KNOWN.get(embedder, {script.capitalize()})
    }


def foreign(text: str, known: frozenset[str]) -> bool:
    """Whether most letters of a text are of a script that an embedder does not know: its vectors then say nothing."""
    letters = [char for char in text if char.isalpha()]
    strange = sum(
        not char.isascii() and unicodedata.name(char, "?").partition(" ")[0].capitalize() not in known
        for char in letters
    )
    return strange * 2 > len(letters)
