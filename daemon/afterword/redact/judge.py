"""Whether a value that stands in a secret position is a secret: pure functions over one value."""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from afterword.redact.late import late
from afterword.redact.words import EXPLICIT, NEUTRAL, TECH

if TYPE_CHECKING:
    from collections.abc import Callable

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


_UUID = late(r"\{?[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\}?")
_STANDARD = late(r"(?i)(?:rfc|pep|iso|cve)-?[0-9]{2,5}(?:[-:][0-9]{1,7})?")
_HASH = late(r"(?:sha1|sha224|sha256|sha384|sha512|md5|blake2b|blake3)[-:=].+", re.IGNORECASE | re.DOTALL)
_EMAIL = late(r"[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z]{2,})+")
_URL = late(r"[A-Za-z][A-Za-z0-9+.-]*:(?://|\\/\\/).*|data:.*|urn:.*|arn:.*", re.DOTALL)
_VARIABLE = late(
    r"\$\$?(?:[A-Za-z_]+|[A-Z_][A-Z0-9_]*)|\$[({].*|\$\$|\$\d|%[A-Za-z_][A-Za-z0-9_]*%"
    r"|(?:%[-+0-9.]*[sdifrxq][:/ ]?)+|%\(.*|%\{.*"
    r"|\{\{.*|\{[A-Za-z_%][^{}]*\}.*|<.*>|<[A-Za-z_].*|#\{.*|@\{.*|\[[A-Za-z _-]+\]|:[a-z_]+|@[A-Za-z_]+"
    r"|(?:op|vault|ssm|env|file|ref|secretsmanager|awssm|bw|pass)://?.*|(?:env|file|vault|secret|ref|ssm)[:.].*"
    r"|!(?:vault|secret|env|Ref|Sub|GetAtt).*|__[A-Za-z0-9_]+__|\.\.\.[A-Za-z_.]*",
    re.DOTALL,
)
_CODE = late(
    r"(?:os\.(?:environ|getenv)|process\.env|import\.meta|getenv|env\[|ENV\[|System\.getenv|std::env|Deno\.env"
    r"|secrets\.|vars\.|credentials\(|lookup\(|var\.|local\.|module\.|data\.|self\.|this\.|cls\.)",
)
_IDENTIFIER = late(r"[^\W\d]\w*(?:(?:\.|::|->|\?\.|!\.)[^\W\d]\w*)*[?!]?")
_CALL = late(r"[&*!]*(?:new |await )?[^\W\d][\w.:>?!-]*(?:\(|\[|\{|<[A-Z]|!\()")
_PATTERN = late(r"\[\^|\\[wdsSWDbB]|\[[A-Za-z0-9]-[A-Za-z0-9]|\.\*|\.\+|\(\?|\{\d+,\d*\}|^\^.*\$$|^/.*/[gimsuy]*$")
_MASK = late(r"[xX]{4,}|\*{3,}|•{2,}|●{2,}|…+|\.{3,}|-{4,}|_{4,}|#{4,}|0{8,}|0?123456789(?:0(?:123)?)?(?!\d)|(.)\1{5,}")
_STARS = late(r"[*•●…]")
_RUN = late(r"(.)\1*")
_MARKUP = late(r"</|/>|=>|\(\)|;$|&&|\|\||===")
_PATH = late(r"(?:\.{0,2}/|~/|[A-Za-z]:[\\/])[\w@. +-]*(?:[\\/][\w@. +-]*)*")
_NUMBER = late(
    r"[-+]?[0-9][0-9.,:_/x%-]*(?:ms|s|m|h|d|k|kb|mb|gb|b|px|em|rem|min|mins|hours|days|chars|bits|bytes)?",
    re.IGNORECASE,
)
_WHEN = late(r"\d{4}-\d\d-\d\d.*|\d{1,2}:\d\d.*")
_PARTS = late(r"[-_./:+ ]+")
_HUMPS = late(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+|[A-Z]|[0-9]+|[^\W\d_]+")
_NAMES = frozenset(("password", "passwd", "secret", "token", "key", "passphrase", "credential", "credentials"))
_WORD_AND_NUMBER = late(r"([^\W\d_]{2,})[0-9]{1,2}")


def entropy(text: str) -> float:
    """Bits per character."""
    total = len(text)
    return -sum(n / total * math.log2(n / total) for n in Counter(text).values()) if text else 0.0


def wordish(text: str) -> bool:
    """Whether the text is made of words, names and small numbers, as identifiers and file names are."""
    parts = [part for part in _PARTS.split(text) if part]
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
    if _MASK.search(text):
        shown = [part for part in re.split(r"[\W_]+", _MASK.sub(" ", text)) if part]
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


def _excluded(value: Value) -> bool:
    """What is no secret under any name."""
    text = value.text
    if placeholder(text) or _URL.fullmatch(text) or _HASH.fullmatch(text) or _PATTERN.search(text):
        return True
    if (
        _STANDARD.fullmatch(text)
        or _EMAIL.fullmatch(text)
        or _MARKUP.search(text)
        or _CODE.match(text)
        or _WHEN.fullmatch(text)
    ):
        return True
    if _PATH.fullmatch(text) and not (len(text) >= 32 and _opaque(text)):
        return True
    if value.quoted:
        return False
    if _IDENTIFIER.fullmatch(text) and "." in text and _names_secret(text):
        return True
    if value.after in ("(", "[", "{") or (
        text[0] in "$@" and _IDENTIFIER.match(text, 1) and (text[1:].isidentifier() or value.after == ">")
    ):
        return True
    return bool(_CALL.match(text)) or text[0] in "([{*&|=!?,;:/\\#" or "${" in text


def _classes(text: str) -> tuple[bool, bool, bool, bool]:
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


def _opaque(text: str) -> bool:
    lower, upper, digit, _ = _classes(text)
    return (lower or upper) and digit and not wordish(text) and entropy(text) >= 2.8


def _snake(text: str) -> bool:
    """Whether it is a name as code writes them, perhaps with a short number: `pw_hash2`, `form.data_1`."""
    return bool(_IDENTIFIER.fullmatch(text)) and ("_" in text or "." in text or "::" in text) and wordish(text)


def password(value: Value) -> bool:
    """A value a person may have chosen, after a word that says so."""
    text = value.text
    if len(text) < 4 or _excluded(value):
        return False
    lower, upper, digit, special = _classes(text)
    if " " in text or "\t" in text:
        return _sentence_holds_secret(text)
    if not (lower or upper):
        if not digit:
            return False
        return (special and not _NUMBER.fullmatch(text)) or (
            (value.quoted or value.tight) and len(text) >= 6 and text.isdigit()
        )
    if _NUMBER.fullmatch(text) or (wordish(text) and text.lower() in TECH):
        return False
    if value.quoted:
        if digit or (special and not wordish(text)):
            return not _snake(text)
        if special:
            return text.count("-") >= 3
        return len(text) >= 6 and not _names_secret(text)
    if digit:
        if text.isascii() and text.isupper() and "_" in text and wordish(text):
            return False
        return not _snake(text)
    inner = text.rstrip("!?.,:;*")
    return special and not wordish(text) and (value.tight or any(not (c.isalnum() or c in "_-./:'") for c in inner))


def _names_secret(text: str) -> bool:
    """Whether one of its words is a word for secrets: the name of a thing, not the thing."""
    return any(hump.lower() in _NAMES for hump in _HUMPS.findall(text))


def _sentence_holds_secret(text: str) -> bool:
    words = [word.strip(".,:;()") for word in text.split()]
    if len(words) <= 6 and any(len(word) >= 4 and _mixed(word) for word in words):
        return True
    # A passphrase is words without the little words that hold a sentence together.
    return 4 <= len(words) <= 12 and all(
        len(word) >= 3 and word.isalpha() and word.islower() and word not in NEUTRAL and word not in EXPLICIT
        for word in words
    )


def _mixed(word: str) -> bool:
    lower, upper, digit, _ = _classes(word)
    return digit and (lower or upper) and not wordish(word)


_UNSPEAKABLE = late(r"(?i:[bcdfghjklmnpqrstvwxz]{6})")


def strict(value: Value) -> bool:
    """A value after a mere mention: letters and digits and a third class, and no word."""
    text = value.text.rstrip(".,:;")
    if len(text) < 6 or _excluded(Value(text, value.quoted, value.after)):
        return False
    lower, upper, digit, special = _classes(text)
    if wordish(text) or _NUMBER.fullmatch(text) or not digit or not (lower or upper):
        return False
    if any(c in text for c in "()=<>[]{}"):
        return False
    if value.quoted:
        return True
    strong = any(c in "!@#$%^&*+?~" for c in text)
    return (
        (strong or (lower and upper and len(text) >= 8))
        and not _UUID.fullmatch(text)
        and special + upper + lower + digit >= 3
    )


_PLACE = late(
    r"(?i)(?:column|col|line|row|item|task|tier|step|page|slide|section|chapter|level|phase|slot|paso|node|zeile|seite"
    r"|schritt|ligne|étape|colonna|linea)[0-9].*"
)
"""What counts places in a document or a plan: `line12`, `step2of3`."""
_PLAIN = late(r"[a-z]{4,16}[0-9]{1,4}(?:[a-z]{1,16}[0-9]{0,4})?")
_ALONE = late(r"[A-Za-z]{4,16}[0-9]{1,4}[A-Za-z]{1,16}[0-9]{0,4}")
_SEEN = late(r"[\x21-\x7e]+")
_TECH_FIRST = (*TECH, "utf16", "utf32")


def said(value: Value) -> bool:
    """A value after `the password is`: there a plain word with a number counts too."""
    # Scripts without spaces go on behind the value: `hunter22xです`.
    seen = _SEEN.match(value.text)
    text = (seen.group() if seen else value.text).rstrip(".,:;!?")
    if text.lower() in TECH:
        return False
    plain = (
        bool(_PLAIN.fullmatch(text))
        and not _PLACE.fullmatch(text)
        and not text.startswith(_TECH_FIRST)
        and not value.tight
        and value.after not in ("(", "[", "-")
    )
    return strict(value) or (plain and not _excluded(value))


def shouted(value: Value) -> bool:
    """A value after the mere word: it needs a sign that names and versions do not have."""
    return strict(value) and any(c in "!@#$%^&*?~" for c in value.text)


def alone(value: Value) -> bool:
    """The same, or what a person chooses and no word is: letters, two digits or more, letters again."""
    if shouted(value):
        return True
    text = value.text.rstrip(".,:;!?")
    return (
        bool(_ALONE.fullmatch(text))
        and not _PLACE.fullmatch(text)
        and sum(map(str.isdigit, text)) >= 2
        and value.after not in ("(", "[", "-", "=")
        and not text.lower().startswith(_TECH_FIRST)
        and not _spelled(re.sub(r"[0-9]", "", text).lower())
        and not _excluded(value)
    )


def beside(value: Value) -> bool:
    """A value beside the name of an account: with a sign, but not that of an issue or an address."""
    text = value.text
    return strict(value) and any(c in "!@$%^&*?~" for c in text) and "/" not in text and not _ADDRESS.search(text)


_ADDRESS = late(r"@[A-Za-z0-9-]+\.|@v?[0-9]|\.[a-z]{2,5}[!?]?$")


def key(value: Value) -> bool:
    """A value a machine made, after a word that says so."""
    text = value.text
    if len(text) < 8 or " " in text or _excluded(value) or _NUMBER.fullmatch(text):
        return False
    lower, upper, digit, special = _classes(text)
    if digit and (lower or upper):
        return not wordish(text) and not (not value.quoted and _snake(text))
    if not (lower or upper) and digit:
        return len(text) >= 12 and not special
    if special and not wordish(text):
        return len(text) >= 12 and any(c in "+/=!@#$%^&*~" for c in text) and not _IDENTIFIER.fullmatch(text)
    return len(text) >= 16 and not special and _letters(value)


def _letters(value: Value) -> bool:
    """Whether a value of letters alone is no word and no name."""
    text = value.text
    if not text.isascii() or _spelled(text.lower()):
        return False
    if (value.quoted or value.tight) and not wordish(text):
        return True
    if text.islower() or text.isupper():
        return value.quoted or bool(_UNSPEAKABLE.search(text))
    return False


def weak(value: Value) -> bool:
    """A value that looks random, after a word that has other uses."""
    text = value.text
    if len(text) < 8 or not key(value):
        return (value.tight or value.quoted) and sum(map(str.isdigit, text)) >= 2 and brief(value)
    if _UUID.fullmatch(text):
        return False
    if len(text) < 12:
        _, _, digit, special = _classes(text)
        return (digit and special and any(c in "!@#$%^&*+?~" for c in text)) or (
            (value.tight or value.quoted) and sum(map(str.isdigit, text)) >= 2 and brief(value)
        )
    return _opaque(text)


def brief(value: Value) -> bool:
    """A short value with a number in it, as a person chooses one: `hunter2`, and not `version2`."""
    text = value.text.rstrip(".,:;")
    if not 6 <= len(text) <= 16 or not _BRIEF.fullmatch(text) or _excluded(value):
        return False
    word = re.sub(r"[0-9]", "", text).lower()
    return bool(word) and text.lower() not in TECH and not _spelled(word) and not _NUMBER.fullmatch(text)


_BRIEF = late(r"[A-Za-z][A-Za-z0-9]*[0-9][A-Za-z0-9]*")


def prefixed(value: Value) -> bool:
    """A value with a provider's prefix: anything but masks and the words of an invitation."""
    parts = [part for part in re.split(r"[\W_]+", _MASK.sub(" ", value.text)) if not _filler(part)]
    unlike = "".join(parts)
    return len(unlike) >= 8 and (len(set(unlike[-16:])) >= 6 or len(set(unlike)) >= 10)


def _filler(part: str) -> bool:
    """Whether a part of a token is its prefix, or made of words."""
    return len(part) <= 5 or _spelled(re.sub(r"[0-9]", "", part).lower())


def _spelled(letters: str) -> bool:
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


def mixed(value: Value) -> bool:
    """A value with small and capital letters and digits: no hash, and no word."""
    lower, upper, digit, _ = _classes(value.text)
    return lower and upper and digit and opaque(value)


def opaque(value: Value) -> bool:
    """A value with a short or common prefix: it must look random."""
    return prefixed(value) and _opaque(value.text) and not _UUID.fullmatch(value.text)


def env(value: Value) -> bool:
    """The value of a shell variable named for a password: a plain word counts, code does not."""
    return password(Value(value.text, quoted=True)) and (value.quoted or not _calls(value.text))


def _calls(text: str) -> bool:
    return bool(_CALL.match(text)) and wordish(re.split(r"[(\[{<]", text, maxsplit=1)[0])


def option(value: Value) -> bool:
    """The value of a command's `--password`; a word after a space may be prose."""
    text = value.text
    return env(value) and (
        value.tight
        or value.quoted
        or not wordish(text)
        or any(c.isdigit() for c in text)
        or (len(text) >= 8 and not _spelled(text.lower()) and bool(_ARGUMENT_ENDS.match(value.rest)))
    )


_ARGUMENT_ENDS = late(r" ?[;|&\r\n\"']|\\[nrt\"]| --?[A-Za-z]|$")


def given(value: Value) -> bool:
    """A value where a command takes a password and nothing else."""
    text = value.text
    if len(text) < 3 or placeholder(text) or _URL.fullmatch(text) or _CODE.match(text) or _CALL.match(text):
        return False
    return not re.fullmatch(r"[0-9]{1,5}|[0-9.]*(?::[0-9]+)+", text)


def pair(value: Value) -> bool:
    """A value whose name stands beside it."""
    return env(value) and (not wordish(value.text) or (value.quoted and brief(value)))


def phrase(value: Value) -> bool:
    """The words of a wallet: different ones, and no sentence."""
    words = value.text.split()
    return len(set(words)) > len(words) // 2 and sum(word in NEUTRAL or word in EXPLICIT for word in words) <= 2


def header(value: Value) -> bool:
    """The credential of an Authorization header."""
    text = value.text
    return len(text) >= 6 and not placeholder(text) and not (text.isalpha() and wordish(text)) and not _CALL.match(text)


def bearer(value: Value) -> bool:
    """What follows the word bearer anywhere: only what looks random."""
    return header(value) and _opaque(value.text)


def mention(value: Value) -> bool:
    """A value after a mere mention of a key: it looks random and holds no word of code."""
    if not bearer(value) or _excluded(value) or _UUID.fullmatch(value.text):
        return False
    return not any(
        part.lower() in NEUTRAL or part.lower() in EXPLICIT for part in _PARTS.split(value.text) if len(part) > 2
    )


def basic(value: Value) -> bool:
    """Base64 of `user:password`."""
    try:
        plain = base64.b64decode(value.text + "=" * (-len(value.text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    name, colon, rest = plain.partition(b":")
    return bool(colon and (name or rest)) and all(32 <= byte < 127 or byte >= 160 for byte in plain)


def userinfo(value: Value) -> bool:
    """The password in `scheme://user:password@host`."""
    text = value.text
    if len(text) <= 2:
        return text not in ("x", "xx", "*", "**", "%s", "..", ".")
    return not (placeholder(text) or text.startswith(("$", "{", "<", "%s", "%(")))


def pem(value: Value) -> bool:
    """A key block with something in it; code names the header alone."""
    body = re.sub(r"-----(?:BEGIN|END)[^-]*-----|\\[nrt]", "", value.text)
    return sum(c.isalnum() for c in body) >= 8


def always(_value: Value) -> bool:
    return True


CHECKS: dict[str, Callable[[Value], bool]] = {
    "": always,
    "password": password,
    "strict": strict,
    "said": said,
    "shouted": shouted,
    "alone": alone,
    "beside": beside,
    "mixed": mixed,
    "key": key,
    "weak": weak,
    "env": env,
    "option": option,
    "given": given,
    "brief": brief,
    "pair": pair,
    "phrase": phrase,
    "prefixed": prefixed,
    "opaque": opaque,
    "header": header,
    "bearer": bearer,
    "mention": mention,
    "basic": basic,
    "userinfo": userinfo,
    "pem": pem,
}
"""A rule's `check` → the judgement of its value."""
