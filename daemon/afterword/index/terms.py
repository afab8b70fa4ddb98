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
_ENDINGS = ("ing", "ed", "es", "s")

STOP = frozenset(
    "a an the and or of to in on at for with is are was were be been do does did has have had what when where who why"  # noqa: SIM905
    " how which that this it its as by from she he they her his their you your i my me we our us about would could"
    " should can will s t".split()
)
"""English words that say nothing about a subject. Those of other languages weigh little because they are frequent."""


_DECIDING = frozenset(
    "decide decided decision decisions chose choose chosen choice agree agreed settle settled policy rule learn learned"  # noqa: SIM905
    " lesson lessons ustaliliśmy ustalono zdecydowaliśmy decyzja decyzję wybraliśmy wnioski решили решено"
    " решение выбрали договорились урок הוחלט החלטנו החלטה בחרנו סוכם entschieden beschlossen".split()
)


def asks_decision(question: str) -> bool:
    """Whether a question is about what was decided or learned."""
    return any(word in _DECIDING for word in _WORD.findall(question.lower()))


def stems(text: str) -> list[str]:
    """The words of a text, folded and without their commonest English endings."""
    return [_stem(word) for word in _WORD.findall(spaced(folded(text)))]


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def number(stem: str) -> int:
    """The number a stem is counted under."""
    return zlib.crc32(stem.encode("utf-8", "replace"))


def numbers(text: str) -> npt.NDArray[np.uint32]:
    """The words of a text as numbers, in order."""
    return np.array([number(stem) for stem in stems(text)], np.uint32)


def asked(question: str) -> list[int]:
    """The words of a question that say what it is about, each once; all of them when none does."""
    found = dict.fromkeys(stems(question))
    return [number(stem) for stem in found if stem not in STOP] or [number(stem) for stem in found]
