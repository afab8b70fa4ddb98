"""How `distill` compares sentences: the words and doubts of compile, for facts of one sentence each."""

import re
from functools import lru_cache
from typing import Final

from afterword.compile import replacing
from afterword.compile.joining import says
from afterword.compile.likeness import counted, is_light, tokens
from afterword.compile.same import differs, opposed
from afterword.compile.tagging import tags_of
from afterword.domain.articles import Claim
from afterword.domain.ids import SegmentKey

_NOT: Final = re.compile(
    r"\b(?:do not|don't|does not|doesn't|is not|isn't|are not|aren't|cannot|can't|must not|should not|shouldn't|never"
    r"|not|no longer|no|without|nicht|kein\w*|niemals|nie|nigdy|не|никогда|нельзя)\b",
    re.IGNORECASE,
)
_VERB: Final = re.compile(
    r"\b(?:is|are|was|runs?(?: on)?|lives? (?:in|at|on)|listens? on|is called|is at|is on|stands? (?:in|at|on)"
    r"|points? to|belongs? to|heißt|ist|läuft auf|steht (?:in|auf)|to|jest|działa na|это|работает на)\b",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"\d|[A-Z]|[._/:@#-]\w")
_INSTEAD_NOT: Final = re.compile(r",?\s+(?:and )?(?:not|nicht|nie|а не|não|no)\s+(?P<old>[^,.;]{2,60})", re.IGNORECASE)
_SUBJECT_LEAST: Final = 3
_VALUE_MOST: Final = 5


class Words:
    """The `Alike` of distilling: words alone, in any of the languages that compile knows. Any doubt is no."""

    def words(self, text: str) -> frozenset[str]:
        """The telling words of a text, folded."""
        return _words(text)

    def same(self, one: str, other: str) -> bool:
        """Whether two say the same: nearly the same words, no other number or name, and both deny it or neither."""
        if bool(_NOT.search(one)) != bool(_NOT.search(other)):
            return False
        return says(_claim(one), _claim(other)) and not opposed(one, other)

    def against(self, later: str, earlier: str) -> bool:
        """Whether the later of two goes against the earlier: it names what it replaces, denies the same, or gives the
        same thing another value."""
        return _names_it(later, earlier) or _denies_it(later, earlier) or _other_value(later, earlier)


def topic_of(text: str) -> str:
    """The topic of a text as a tag from a fixed list; empty where no word of it tells."""
    return next(iter(tags_of(text, ())), "")


@lru_cache(maxsize=8192)
def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in counted(text, pairs=False) if not is_light(word)) or frozenset(tokens(text))


def _claim(text: str) -> Claim:
    return Claim(text, SegmentKey(""), text)


def _names_it(later: str, earlier: str) -> bool:
    """ "The NAS runs fnos, not Synology" takes the place of "the NAS is Synology"."""
    before = frozenset(tokens(earlier))
    denied = frozenset().union(*_things(earlier))
    for thing in _things(later):
        things = frozenset(word for word in thing if not is_light(word))
        about = (_words(later) - thing) & (before - thing)
        if things and things <= before - denied and about and not _NOT.search(earlier):
            return True
    return False


@lru_cache(maxsize=8192)
def _things(text: str) -> tuple[frozenset[str], ...]:
    """The words of each thing that a sentence says something else stands in the place of."""
    named = [frozenset(tokens(found["old"])) for found in _INSTEAD_NOT.finditer(text)]
    return (*named, *replacing.replaced_things(text))


def _denies_it(later: str, earlier: str) -> bool:
    """The same words, of which one denies what the other says."""
    if bool(_NOT.search(later)) == bool(_NOT.search(earlier)):
        return False
    one, other = (frozenset(tokens(_NOT.sub(" ", text))) for text in (later, earlier))
    shared = len(one & other)
    return shared >= _SUBJECT_LEAST and shared >= 0.8 * len(one | other) and not differs(later, earlier)


def _other_value(later: str, earlier: str) -> bool:
    """One subject and one verb, and another value, at least one of them a name or a number."""
    if opposed(later, earlier) or bool(_NOT.search(later)) != bool(_NOT.search(earlier)):
        return False
    for mine in _VERB.finditer(later):
        for theirs in _VERB.finditer(earlier):
            subject, its = (text[: verb.start()] for text, verb in ((later, mine), (earlier, theirs)))
            value, other = (text[verb.end() :].strip(" .") for text, verb in ((later, mine), (earlier, theirs)))
            if _is_subject(subject, its) and _is_value(value, other):
                return True
    return False


def _is_subject(one: str, other: str) -> bool:
    mine, theirs = frozenset(tokens(one)), frozenset(tokens(other))
    return bool(mine) and mine == theirs and any(not is_light(word) for word in mine)


def _is_value(one: str, other: str) -> bool:
    mine, theirs = tokens(one), tokens(other)
    if not mine or not theirs or max(len(mine), len(theirs)) > _VALUE_MOST:
        return False
    new, old = frozenset(mine), frozenset(theirs)
    if new & old and not differs(one, other):
        return False
    return not (new <= old or old <= new) and bool(_NAME.search(one) or _NAME.search(other))
