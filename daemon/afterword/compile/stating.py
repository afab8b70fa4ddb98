"""Whether a text states a claim: for finding all that says what somebody found to be wrong.

Wider than `joining.says`, since what it finds is shown to a person before anything follows from it: a longer sentence
that holds the claim counts. A sentence that denies it does not.
"""

import re
from typing import Final

from afterword.compile.joining import says
from afterword.compile.likeness import is_light, tokens
from afterword.compile.replacing import denies
from afterword.compile.same import differs, opposed
from afterword.domain.articles import Claim, name_key
from afterword.domain.ids import SegmentKey

_SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])\s*|\n+")
_WORDS_LEAST: Final = 2
_LONGEST: Final = 60
"""A sentence of more words says so much that two or three of them in it mean little."""


def states(claim: str, text: str) -> bool:
    """Whether a sentence of `text` says `claim`, or says it among other things."""
    wanted = name_key(claim)
    if not wanted:
        return False
    return any(_one(claim, wanted, sentence) for sentence in _SENTENCE.split(text) if sentence.strip())


def _one(claim: str, wanted: str, sentence: str) -> bool:
    if denies(claim) != denies(sentence):
        return False
    if f" {wanted} " in f" {name_key(sentence)} ":
        return True
    if says(Claim(claim, SegmentKey(""), claim), Claim(sentence, SegmentKey(""), sentence)):
        return not opposed(claim, sentence)
    telling = {word for word in tokens(claim) if not is_light(word)}
    words = tokens(sentence)
    return (
        len(telling) >= _WORDS_LEAST
        and len(words) <= _LONGEST
        and telling <= set(words)
        and not differs(claim, sentence)
        and not opposed(claim, sentence)
    )
