"""Words as numbers: what is compared when the words of a question are counted in chunks.

Hashes of word stems in one array are quick to count over 20,000 chunks and, unlike a full-text table, need not be
undone with the exact text they were made of.
"""

import re
import zlib

import numpy as np
import numpy.typing as npt

from afterword.index.stemming import STOP, WORD, stems
from afterword.index.stemming import stem as stem_of
from afterword.store.fulltext import folded, spaced


def number(stem: str) -> int:
    """The number a stem is counted under."""
    return zlib.crc32(stem.encode("utf-8", "replace"))


def numbers(text: str) -> npt.NDArray[np.uint32]:
    """The words of a text as numbers, in order."""
    return np.array([number(stem) for stem in stems(text)], np.uint32)


def asked(question: str) -> list[int]:
    """The words of a question that say what it is about, each once; all of them when none does."""
    words = dict.fromkeys(re.findall(WORD, spaced(folded(question))))
    telling = dict.fromkeys(stem_of(word) for word in words if word not in STOP)
    return [number(stem) for stem in telling or dict.fromkeys(map(stem_of, words))]
