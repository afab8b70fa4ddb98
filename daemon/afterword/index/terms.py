"""Words as numbers: what is compared when the words of a question are counted in chunks.

Hashes of word stems in one array are quick to count over 20,000 chunks and, unlike a full-text table, need not be
undone with the exact text they were made of.
"""

import re
import zlib

import numpy as np
import numpy.typing as npt

from afterword.store.fulltext import folded, spaced

_WORD = re.compile(r"\w+")
_ENGLISH = ("ing", "ed", "es", "s")
_POLISH = tuple("iego iemu ami ach ego emu ych ich iej owi ow om em ej ie ym im".split())  # noqa: SIM905
_RUSSIAN = tuple(
    "иями ями ами иях ого его ому ему ыми ими ях ах ов ев еи ои ыи ии ая яя ое ее ые ие ую юю ам ям ом ем ть ся ет ит"  # noqa: SIM905
    " ют ут ат ят ла ло ли л а я о е ы и у ю ь".split()
)
"""As they are when folded: a letter with a mark is the letter."""
_HEBREW_BEFORE = tuple("וה שה וב ול ומ וש ו ה ב ל מ ש כ".split())  # noqa: SIM905
_HEBREW_BEHIND = ("יים", "ים", "ות", "ית", "ה", "ת", "י", "א")
_LEAST = 3

STOP = frozenset(
    "a an the and or of to in on at for with is are was were be been do does did has have had what when where who why"  # noqa: SIM905
    " how which that this it its as by from she he they her his their you your i my me we our us about would could"
    " should can will s t"
    " co jak kiedy gdzie kto czy dlaczego jaki jaka jakie jakich ktory ktora ktore nie sie na po za od do dla przez przy"
    " jest sa byl byla bylo byly ten ta to te tego tej i oraz o u we z ze w"
    " что как когда где кто почему какие какои какая какую мы вы они он она оно не на по за от до для при это этот и"
    " или а но был была было были с со в во о об у из"
    " מה איך מתי איפה מי למה האם אילו של על את עם אל לא כן היה הייתה היו זה זו זאת"
    " was wie wann wo wer warum der die das ein eine und oder nicht ist sind war waren wir ihr von mit bei zu im am".split()
)
"""Words that say nothing about a subject, folded: a question is mostly made of them."""

_DECIDING = frozenset(
    "decide decided decision decisions chose choose chosen choice agree agreed settle settled policy rule learn learned"  # noqa: SIM905
    " lesson lessons ustaliliśmy ustalono zdecydowaliśmy decyzja decyzję wybraliśmy wnioski решили решено"
    " решение выбрали договорились урок הוחלט החלטנו החלטה בחרנו סוכם entschieden beschlossen".split()
)


def asks_decision(question: str) -> bool:
    """Whether a question is about what was decided or learned."""
    return any(word in _DECIDING for word in _WORD.findall(question.lower()))


def stems(text: str) -> list[str]:
    """The words of a text, folded and without their commonest endings."""
    return [_stem(word) for word in _WORD.findall(spaced(folded(text)))]


def _stem(word: str) -> str:
    """A word without its commonest endings, and in Hebrew without what is written in front of it. Words that are not
    the same may become so; words of one root that a question and a text have in different forms shall."""
    if word.isascii():
        short = _without(word, _ENGLISH, _LEAST)
        return short if short is not word or len(word) < _LONG else _without(word, _POLISH, 4).rstrip("aeiouy")
    first = word[0]
    if "\u0400" <= first <= "\u04ff":
        return _without(word, _RUSSIAN, _LEAST)
    if "\u05d0" <= first <= "\u05ea":
        begun = next((word[len(b) :] for b in _HEBREW_BEFORE if word.startswith(b) and len(word) - len(b) >= _LEAST), word)
        return _without(begun, _HEBREW_BEHIND, _LEAST)
    return _without(word, _POLISH, 4).rstrip("aeiouy") if len(word) >= _LONG else word


_LONG = 6


def _without(word: str, endings: tuple[str, ...], least: int) -> str:
    return next((word[: -len(e)] for e in endings if word.endswith(e) and len(word) - len(e) >= least), word)


def number(stem: str) -> int:
    """The number a stem is counted under."""
    return zlib.crc32(stem.encode("utf-8", "replace"))


def numbers(text: str) -> npt.NDArray[np.uint32]:
    """The words of a text as numbers, in order."""
    return np.array([number(stem) for stem in stems(text)], np.uint32)


def asked(question: str) -> list[int]:
    """The words of a question that say what it is about, each once; all of them when none does."""
    words = dict.fromkeys(_WORD.findall(spaced(folded(question))))
    telling = dict.fromkeys(_stem(word) for word in words if word not in STOP)
    return [number(stem) for stem in telling or dict.fromkeys(map(_stem, words))]
