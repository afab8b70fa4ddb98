"""What a value looks like: words, names, code, masks, addresses, or chance. Pure functions over one text.

`judge` asks these about a value that stands where a secret could.
"""

from __future__ import annotations

import math
import re
from collections import Counter

import msgspec

from afterword.redact.late import late
from afterword.redact.words import EXPLICIT, NEUTRAL, TECH

LOOK = 512
"""Characters of a value that are looked at; longer values are judged by their beginning."""
MARKER = late(r"\[redacted:[a-z0-9-]{1,24}\]")


class Value(msgspec.Struct, frozen=True, gc=False):
    """A candidate. `after` is the character that follows it, `tight` says that no space preceded it."""

    text: str
    quoted: bool = False
    after: str = ""
    tight: bool = False
    rest: str = ""
    """`after` and a little more."""


UUID = late(r"\{?[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\}?")
_STANDARD = late(r"(?i)(?:rfc|pep|iso|cve)-?[0-9]{2,5}(?:[-:][0-9]{1,7})?")
_HASH = late(r"(?:sha1|sha224|sha256|sha384|sha512|md5|blake2b|blake3)[-:=].+", re.IGNORECASE | re.DOTALL)
_EMAIL = late(r"[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z]{2,})+")
URL = late(r"[A-Za-z][A-Za-z0-9+.-]*:(?://|\\/\\/).*|data:.*|urn:.*|arn:.*", re.DOTALL)
_VARIABLE = late(
    r"\$\$?(?:[A-Za-z_]+|[A-Z_][A-Z0-9_]*)|\$[({].*|\$\$|\$\d|%[A-Za-z_][A-Za-z0-9_]*%"
    r"|(?:%[-+0-9.]*[sdifrxq][:/ ]?)+|%\(.*|%\{.*"
    r"|\{\{.*|\{[A-Za-z_%][^{}]*\}.*|<.*>|<[A-Za-z_].*|#\{.*|@\{.*|\[[A-Za-z _-]+\]|:[a-z_]+|@[A-Za-z_]+"
    r"|(?:op|vault|ssm|env|file|ref|secretsmanager|awssm|bw|pass)://?.*|(?:env|file|vault|secret|ref|ssm)[:.].*"
    r"|!(?:vault|secret|env|Ref|Sub|GetAtt).*|__[A-Za-z0-9_]+__|\.\.\.[A-Za-z_.]*",
    re.DOTALL,
)
CODE = late(
    r"(?:os\.(?:environ|getenv)|process\.env|import\.meta|getenv|env\[|ENV\[|System\.getenv|std::env|Deno\.env"
    r"|secrets\.|vars\.|credentials\(|lookup\(|var\.|local\.|module\.|data\.|self\.|this\.|cls\.)",
)
IDENTIFIER = late(r"[^\W\d]\w*(?:(?:\.|::|->|\?\.|!\.)[^\W\d]\w*)*[?!]?")
CALL = late(r"[&*!]*(?:new |await )?[^\W\d][\w.:>?!-]*(?:\(|\[|\{|<[A-Z]|!\()")
_PATTERN = late(r"\[\^|\\[wdsSWDbB]|\[[A-Za-z0-9]-[A-Za-z0-9]|\.\*|\.\+|\(\?|\{\d+,\d*\}|^\^.*\$$|^/.*/[gimsuy]*$")
MASK = late(r"[xX]{4,}|\*{3,}|•{2,}|●{2,}|…+|\.{3,}|-{4,}|_{4,}|#{4,}|0{8,}|0?123456789(?:0(?:123)?)?(?!\d)|(.)\1{5,}")
_STARS = late(r"[*•●…]")
_RUN = late(r"(.)\1*")
_MARKUP = late(r"</|/>|=>|\(\)|;$|&&|\|\||===")
_PATH = late(r"(?:\.{0,2}/|~/|[A-Za-z]:[\\/])[\w@. +-]*(?:[\\/][\w@. +-]*)*")
NUMBER = late(
    r"[-+]?[0-9][0-9.,:_/x%-]*(?:ms|s|m|h|d|k|kb|mb|gb|b|px|em|rem|min|mins|hours|days|chars|bits|bytes)?",
    re.IGNORECASE,
)
_WHEN = late(r"\d{4}-\d\d-\d\d.*|\d{1,2}:\d\d.*")
PARTS = late(r"[-_./:+ ]+")
_HUMPS = late(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+|[A-Z]|[0-9]+|[^\W\d_]+")
_NAMES = frozenset(("password", "passwd", "secret", "token", "key", "passphrase", "credential", "credentials"))
_WORD_AND_NUMBER = late(r"([^\W\d_]{2,})[0-9]{1,2}")


def entropy(text: str) -> float:
    """Bits per character."""
    total = len(text)
    return -sum(n / total * math.log2(n / total) for n in Counter(text).values()) if text else 0.0


def wordish(text: str) -> bool:
    """Whether the text is made of words, names and small numbers, as identifiers and file names are."""
    parts = [part for part in PARTS.split(text) if part]
    return all(_is_word(part) for part in parts)


def _is_word(part: str) -> bool:
    if part.lower() in TECH:
        return True
    if part.isdigit():
        return len(part) <= 4
    numbered = _WORD_AND_NUMBER.fullmatch(part)
    if numbered:
        part = numbered.group(1)
    if not part.isalpha():
        return False
    if part.islower() or part.isupper() or part.istitle() or not part.isascii():
        return len(part) <= 24
    humps = _HUMPS.findall(part)
    return len(part) / len(humps) >= 3


def placeholder(text: str) -> bool:
    """Whether all of the value stands for one: a variable, a mask, words such as `your-api-key`."""
    if _VARIABLE.fullmatch(text) or _RUN.fullmatch(text):
        return True
    if len(set(text)) <= 3 and len(text) >= 6:
        return True
    if MASK.search(text):
        shown = [part for part in re.split(r"[\W_]+", MASK.sub(" ", text)) if part]
        # A card's last digits are shown beside stars.
        if not shown or (_STARS.search(text) and all(len(part) <= 4 for part in shown)):
            return True
        text = " ".join(shown)
    words = [hump.lower() for hump in _HUMPS.findall(text)]
    letters = [word for word in words if not word.isdigit()]
    if not letters:
        return False
    whole = re.sub(r"[\d\W_]+", "", text).lower()
    known = all(word in EXPLICIT or word in NEUTRAL for word in letters) or whole in EXPLICIT or whole in NEUTRAL
    if not known:
        return False
    explicit = any(word in EXPLICIT for word in letters) or whole in EXPLICIT
    special = any(not (c.isalnum() or c in "-_. /:") for c in text)
    digits = sum(len(word) for word in words if word.isdigit())
    return (explicit or digits <= 2) and not special


def excluded(value: Value) -> bool:
    """What is no secret under any name."""
    text = value.text
    if placeholder(text) or URL.fullmatch(text) or _HASH.fullmatch(text) or _PATTERN.search(text):
        return True
    if (
        _STANDARD.fullmatch(text)
        or _EMAIL.fullmatch(text)
        or _MARKUP.search(text)
        or CODE.match(text)
        or _WHEN.fullmatch(text)
    ):
        return True
    if _PATH.fullmatch(text) and not (len(text) >= 32 and looks_random(text)):
        return True
    if value.quoted:
        return False
    if IDENTIFIER.fullmatch(text) and "." in text and names_secret(text):
        return True
    if value.after in ("(", "[", "{") or (
        text[0] in "$@" and IDENTIFIER.match(text, 1) and (text[1:].isidentifier() or value.after == ">")
    ):
        return True
    return bool(CALL.match(text)) or text[0] in "([{*&|=!?,;:/\\#" or "${" in text


def classes(text: str) -> tuple[bool, bool, bool, bool]:
    """(lower, upper, digit, special); letters without case count as lower."""
    lower = upper = digit = special = False
    for char in text:
        if char.isdigit():
            digit = True
        elif char.isupper():
            upper = True
        elif char.isalpha():
            lower = True
        else:
            special = True
    return lower, upper, digit, special


def looks_random(text: str) -> bool:
    lower, upper, digit, _ = classes(text)
    return (lower or upper) and digit and not wordish(text) and entropy(text) >= 2.8


def snake(text: str) -> bool:
    """Whether it is a name as code writes them, perhaps with a short number: `pw_hash2`, `form.data_1`."""
    return bool(IDENTIFIER.fullmatch(text)) and ("_" in text or "." in text or "::" in text) and wordish(text)


def names_secret(text: str) -> bool:
    """Whether one of its words is a word for secrets: the name of a thing, not the thing."""
    return any(hump.lower() in _NAMES for hump in _HUMPS.findall(text))


def mixes(word: str) -> bool:
    lower, upper, digit, _ = classes(word)
    return digit and (lower or upper) and not wordish(word)


def filler(part: str) -> bool:
    """Whether a part of a token is its prefix, or made of words."""
    return len(part) <= 5 or spelled(re.sub(r"[0-9]", "", part).lower())


def spelled(letters: str) -> bool:
    """Whether the letters are known words, one after the other."""
    if not letters.isalpha() or len(letters) > 64:
        return False
    reached = [True] + [False] * len(letters)
    for end in range(2, len(letters) + 1):
        reached[end] = any(
            reached[start] and (letters[start:end] in EXPLICIT or letters[start:end] in NEUTRAL)
            for start in range(max(0, end - 16), end - 1)
        )
    return reached[-1]


def calls(text: str) -> bool:
    return bool(CALL.match(text)) and wordish(re.split(r"[(\[{<]", text, maxsplit=1)[0])
