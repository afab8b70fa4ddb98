"""Words without their endings, and words that say nothing: what is the same in a question and in a text."""

import re

from afterword.store.fulltext import folded, spaced

WORD = r"\w+"
_ENGLISH = ("ing", "ed", "es", "s")
_POLISH = tuple("iego iemu ami ach ego emu ych ich iej owi ow om em ej ie ym im".split())  # noqa: SIM905
_RUSSIAN = tuple(
    "иями иях ием ами ями ого его ому ему ыми ими ах ях ов ев ам ям ом ем еи ои ыи ии ия ию ие ая яя ое ее ые ую юю"  # noqa: SIM905
    " ть ся ет ит ют ут ат ят ла ло ли л а я о е ы и у ю ь".split()
)
"""As they are when folded: a letter with a mark is the letter."""
HEBREW_BEFORE = tuple("וה שה וב ול ומ וש ו ה ב ל מ ש כ".split())  # noqa: SIM905
HEBREW_BEHIND = ("אות", "יים", "ים", "ות", "ית", "ה", "ת", "י", "א")
_LEAST = 3
_LONG = 5
_VOWELS = "aeiouy"

STOP = frozenset(
    "a an the and or of to in on at for with is are was were be been do does did has have had what when where who why"  # noqa: SIM905
    " how which that this it its as by from she he they her his their you your i my me we our us about would could"
    " should can will s t no not any some there if but so than then all out up more been being get got"
    " co jak kiedy gdzie kto czy dlaczego jaki jaka jakie jakich ktory ktora ktore nie sie na po za od do dla przez"
    " przy jest sa byl byla bylo byly ten ta to te tego tej i oraz o u we z ze w"
    " что как когда где кто почему какие какои какая какую мы вы они он она оно не на по за от до для при это этот и"
    " или а но был была было были с со в во о об у из"
    " מה איך מתי איפה מי למה האם אילו של על את עם אל לא כן היה הייתה היו זה זו זאת"
    " was wie wann wo wer warum der die das ein eine und oder nicht ist sind waren wir ihr von bei zu im am".split()
)
"""Words that say nothing about a subject, folded: a question is mostly made of them."""

_DECIDING = frozenset(
    "decide decided decision decisions chose choose chosen choice agree agreed settle settled policy rule learn learned"  # noqa: SIM905
    " lesson lessons ustaliliśmy ustalono zdecydowaliśmy decyzja decyzję wybraliśmy wnioski решили решено"
    " решение выбрали договорились урок הוחלט החלטנו החלטה בחרנו סוכם entschieden beschlossen".split()
)


def asks_decision(question: str) -> bool:
    """Whether a question is about what was decided or learned."""
    return any(word in _DECIDING for word in re.findall(WORD, question.lower()))


def stems(text: str) -> list[str]:
    """The words of a text, folded and without their commonest endings."""
    return [stem(word) for word in re.findall(WORD, spaced(folded(text)))]


def stem(word: str) -> str:
    """A word without its commonest endings, and in Hebrew without what is written in front of it. Words that are not
    the same may become so; words of one root that a question and a text have in different forms shall."""
    first = word[0]
    if "\u0400" <= first <= "\u04ff":
        return _without(word, _RUSSIAN)
    if "\u05d0" <= first <= "\u05ea":
        begun = (word[len(b) :] for b in HEBREW_BEFORE if word.startswith(b) and len(word) - len(b) >= _LEAST)
        return _without(next(begun, word), HEBREW_BEHIND)
    short = _without(word, _ENGLISH) if word.isascii() else word
    if short is word and len(word) > _LONG:
        short = _without(word, _POLISH, 4)
    return short[:-1] if len(short) >= _LONG and short[-1] in _VOWELS else short


def _without(word: str, endings: tuple[str, ...], least: int = _LEAST) -> str:
    return next((word[: -len(e)] for e in endings if word.endswith(e) and len(word) - len(e) >= least), word)
