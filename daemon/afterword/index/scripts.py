"""Which scripts and languages texts are written in, held against those an embedder was trained on."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

_LOCAL = frozenset({"Latin", "Cyrillic", "Arabic", "Cjk", "Hiragana", "Katakana", "Hangul", "Thai"})
KNOWN = {"local": _LOCAL, "minilm": _LOCAL}
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


_ENGLISH = frozenset(
    "the a an and or of to in on at for with is are was were be been do does did has have had what when where who why"  # noqa: SIM905
    " how which that this it its as by from we our us you your he she they not can will should would could if then than"
    " but so no there into after before while because about over only all any i my me".split()
)
_OTHERS = frozenset(
    "co jak kiedy gdzie kto czy nie sie na po za od dla przez przy jest byl byla bylo byly ten ta te w z ze o u oraz"  # noqa: SIM905
    " ktory aby jako tylko der die das und ist nicht wie wo wer wir ein eine zu im am bei von mit den dem des auf fur"
    " lange muss le la les et est une un dans pour que qui sur pas du au el los las y en una por con para del il di che"
    " e non per sono het een van niet met voor os em um uma nao com ile jaki jaka jakie dlaczego warum welche wann kein"
    " comment pourquoi quand quelle como donde cuando come dove quando".split()
)
"""Small words of Polish, German, French, Spanish, Italian, Dutch, Portuguese; those that English has as well are not
among them (*do*, *was*)."""
_STRANGE_MAX = 0.03


def is_english(text: str) -> bool:
    """Whether a text reads as English, or as nothing but names: hardly a letter with a mark, and more small words of
    English than of other languages, if of any."""
    letters = sum(char.isalpha() for char in text)
    strange = sum(char.isalpha() and not char.isascii() for char in text)
    if not letters or strange > _STRANGE_MAX * letters:
        return False
    words = re.findall(r"[a-z]+", text.lower())
    others = sum(word in _OTHERS for word in words)
    return not others or sum(word in _ENGLISH for word in words) > others
