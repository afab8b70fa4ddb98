"""Titles of articles: a noun phrase or a short statement, in the words that were said."""

import re
from collections.abc import Iterable
from typing import Final

from afterword.compile import cues, wording
from afterword.compile.sentences import normal, plain

TITLE_MAX: Final = 90
_LEAST: Final = 10
_EAST = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WRAPPED: Final = re.compile(
    r"(?:the\s+)?(?:root\s+|real\s+|actual\s+)?(?:cause|reason|problem|issue|culprit|fix|solution|bug)(?:\s+is|\s+was)(?:\s+that)?\s+"
    r"|what\s+fixed\s+it[:,]?\s+|it\s+turned\s+out\s+that\s+|turns\s+out\s+(?:that\s+)?|note\s+that\s+|we\s+learned\s+that\s+"
    r"|przyczyn[aą]\s+(?:jest|był[ao]?)\s+|причина\s+(?:была\s+)?в\s+том,?\s+что\s+|причиной\s+(?:был[аои]?|стал[аои]?)\s+"
    r"|הסיבה\s+היא\s+(?:ש)?|die\s+ursache\s+(?:ist|war)\s+|la\s+cause\s+(?:est|était)\s+|la\s+causa\s+(?:es|era|è)\s+",
    re.IGNORECASE,
)
_JOINS: Final = (
    "because|so that|so|since|but|which|where|while|otherwise|bo|ponieważ|więc|ale|żeby|потому|поэтому|чтобы|но"
    "|weil|damit|aber|parce|car|mais|porque|pero|perché|ma|כי|אבל"
)
# Where a long statement may be ended, the strongest first.
_CUTS: Final = tuple(
    re.compile(cut, re.IGNORECASE)
    for cut in (
        r"[;；]\s*|[.。！!]\s+",
        r"\s[–—-]\s",
        rf",\s+(?:{_JOINS})\b",
        r"(?<=\w)[:：]\s+",
        r"、|，|,\s+",
        r"\s+(?:because|so that|as soon as|unless|although|until)\s",
    )
)
_TRAIL: Final = re.compile(r"[\s.。,;:：、，!！…–—-]+$")
_OPENERS: Final = re.compile(
    r"(?:when|if|because|since|while|after|before|unless|although|as|jeśli|kiedy|gdy|если|когда|wenn|weil|si|quand|cuando|se|אם|כאשר)\b",
    re.IGNORECASE,
)
_GIVEN: Final = re.compile(r"(?:given(?: that)?|considering(?: that)?|seeing that)\s[^,.;]{6,120},\s+", re.IGNORECASE)
_CHOICE: Final = re.compile(
    r"(?:so,? |ok,? )?(?:(?:should|shall|do|would) (?:we|i|you) (?:use|take|pick|choose|prefer|go with|go for"
    r"|rather use)"
    r"|(?:what|which)(?: (?:one|is|would be))? (?:better|best)(?: for \w+)?\s*[:,]|czy (?:lepiej )?(?:użyć|używać"
    r"|wziąć|wybrać)"
    r"|(?:sollen|sollten) wir (?:lieber )?|(?:что|чего) (?:лучше|выбрать)\s*[:,—-])\s*(?P<what>[^?？]*\b(?:or"
    r"|vs\.?|versus|czy|oder|или)\b[^?？]*)"
    r"[?？]?$",
    re.IGNORECASE,
)
_PLACEHOLDERS: Final = re.compile(
    r"^(?:untitled|new (?:chat|session|conversation)|title|article title|example|placeholder|lorem ipsum|todo|tbd"
    r"|n/?a|none|unknown|session|chat)\W*$|\{\{|<[a-z_ ]+>|\byour (?:title|text) here\b|lorem ipsum",
    re.IGNORECASE,
)


def is_placeholder(text: str) -> bool:
    """Whether a text is only a form's filler."""
    return bool(_PLACEHOLDERS.search(text.strip()))


def headline(text: str) -> str:
    """A title made of a statement; empty when none can be."""
    text = plain(normal(text)).strip()
    text = wording.start(wording.advised(wording.label(text)[1]))
    given = _GIVEN.match(text)
    text = wording.capital(text[given.end() :]) if given and len(text) - given.end() >= _LEAST else text
    label = cues.label(text)
    if label and len(text) > TITLE_MAX:
        text = wording.start(text[len(label) :].lstrip(" :："))
    text = _WRAPPED.sub("", text, count=1) if _WRAPPED.match(text) else text
    text = _TRAIL.sub("", text)
    if len(text) > TITLE_MAX or ";" in text:
        text = _shorter(text)
    text = _TRAIL.sub("", wording.capital(text).strip())
    return text if fit(text) else ""


def fit(title: str) -> bool:
    """Whether a text can stand as a title."""
    east = len(_EAST.findall(title))
    if not (_LEAST <= len(title) <= TITLE_MAX or (east >= 5 and len(title) <= 60)):
        return False
    if len(title.split()) < 2 and east < 5:
        return False
    if is_placeholder(title) or "[redacted:" in title or "→" in title or title.count("`") % 2 or "\n" in title:
        return False
    if title.count("(") != title.count(")") or title.count('"') % 2 or title.count("„") != title.count("”"):
        return False
    return not (
        cues.is_question(title)
        or wording.hangs(title)
        or wording.personal(title)
        or cues.is_log_like(title)
        or cues.asks_nothing(title)
        or cues.is_injection(title)
    )


def session_title(given: str) -> str:
    """A session's own title when it can name an article: not a question, a greeting or a list of several matters."""
    title = _TRAIL.sub("", plain(normal(given)))
    if not title or "…" in given[-1:] or not fit(title):
        return ""
    listed = len(re.findall(r",\s", title)) >= 2 or (
        title.count(",") == 1 and ":" not in title and len(title.split()) <= 5
    )
    return "" if listed else wording.capital(title)


def choice(question: str) -> str:
    """A title made of a question which of several to take ("should we use yjs or automerge?"); empty for any other."""
    asked = _CHOICE.match(plain(normal(question)).strip())
    if not asked:
        return ""
    title = wording.capital(_TRAIL.sub("", asked.group("what")))
    return title if fit(title) else ""


def _shorter(text: str) -> str:
    """The beginning of a long statement, up to where it may be ended; a very short one only where there is no other."""
    for least in (24, 16):
        for cut in _CUTS:
            for found in cut.finditer(text):
                head = text[: found.start()]
                if len(head) > TITLE_MAX:
                    break
                if len(head) >= least or len(_EAST.findall(head)) >= 8:
                    if _OPENERS.match(head) or head.count("`") % 2 or head.count("(") != head.count(")"):
                        continue
                    return head
    return text


def best(candidates: Iterable[str]) -> str:
    """The first candidate that makes a title."""
    return next((title for text in candidates if (title := headline(text))), "")
