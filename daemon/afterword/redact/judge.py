"""Whether a value that stands in a secret position is a secret: pure functions over one value."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from afterword.redact.late import late
from afterword.redact.looks import (
    CALL,
    CODE,
    IDENTIFIER,
    MASK,
    NUMBER,
    PARTS,
    URL,
    UUID,
    Value,
    calls,
    classes,
    excluded,
    filler,
    looks_random,
    mixes,
    names_secret,
    placeholder,
    snake,
    spelled,
    wordish,
)
from afterword.redact.words import EXPLICIT, NEUTRAL, TECH

if TYPE_CHECKING:
    from collections.abc import Callable


def password(value: Value) -> bool:
    """A value a person may have chosen, after a word that says so."""
    text = value.text
    if len(text) < 4 or excluded(value):
        return False
    lower, upper, digit, special = classes(text)
    if " " in text or "\t" in text:
        return _sentence_holds_secret(text)
    if not (lower or upper):
        if not digit:
            return False
        return (special and not NUMBER.fullmatch(text)) or (
            (value.quoted or value.tight) and len(text) >= 6 and text.isdigit()
        )
    if NUMBER.fullmatch(text) or (wordish(text) and text.lower() in TECH):
        return False
    if value.quoted:
        if digit or (special and not wordish(text)):
            return not snake(text)
        if special:
            return text.count("-") >= 3
        return len(text) >= 6 and not names_secret(text)
    if digit:
        if text.isascii() and text.isupper() and "_" in text and wordish(text):
            return False
        return not snake(text)
    inner = text.rstrip("!?.,:;*")
    return special and not wordish(text) and (value.tight or any(not (c.isalnum() or c in "_-./:'") for c in inner))


def _sentence_holds_secret(text: str) -> bool:
    words = [word.strip(".,:;()") for word in text.split()]
    if len(words) <= 6 and any(len(word) >= 4 and mixes(word) for word in words):
        return True
    # A passphrase is words without the little words that hold a sentence together.
    return 4 <= len(words) <= 12 and all(
        len(word) >= 3 and word.isalpha() and word.islower() and word not in NEUTRAL and word not in EXPLICIT
        for word in words
    )


_UNSPEAKABLE = late(r"(?i:[bcdfghjklmnpqrstvwxz]{6})")


def strict(value: Value) -> bool:
    """A value after a mere mention: letters and digits and a third class, and no word."""
    text = value.text.rstrip(".,:;")
    if len(text) < 6 or excluded(Value(text, value.quoted, value.after)):
        return False
    lower, upper, digit, special = classes(text)
    if wordish(text) or NUMBER.fullmatch(text) or not digit or not (lower or upper):
        return False
    if any(c in text for c in "()=<>[]{}"):
        return False
    if value.quoted:
        return True
    strong = any(c in "!@#$%^&*+?~" for c in text)
    return (
        (strong or (lower and upper and len(text) >= 8))
        and not UUID.fullmatch(text)
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
    return strict(value) or (plain and not excluded(value))


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
        and not spelled(re.sub(r"[0-9]", "", text).lower())
        and not excluded(value)
    )


def beside(value: Value) -> bool:
    """A value beside the name of an account: with a sign, but not that of an issue or an address."""
    text = value.text
    return strict(value) and any(c in "!@$%^&*?~" for c in text) and "/" not in text and not _ADDRESS.search(text)


_ADDRESS = late(r"@[A-Za-z0-9-]+\.|@v?[0-9]|\.[a-z]{2,5}[!?]?$")


def key(value: Value) -> bool:
    """A value a machine made, after a word that says so."""
    text = value.text
    if len(text) < 8 or " " in text or excluded(value) or NUMBER.fullmatch(text):
        return False
    lower, upper, digit, special = classes(text)
    if digit and (lower or upper):
        return not wordish(text) and not (not value.quoted and snake(text))
    if not (lower or upper) and digit:
        return len(text) >= 12 and not special
    if special and not wordish(text):
        return len(text) >= 12 and any(c in "+/=!@#$%^&*~" for c in text) and not IDENTIFIER.fullmatch(text)
    return len(text) >= 16 and not special and _letters(value)


def _letters(value: Value) -> bool:
    """Whether a value of letters alone is no word and no name."""
    text = value.text
    if not text.isascii() or spelled(text.lower()):
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
    if UUID.fullmatch(text):
        return False
    if len(text) < 12:
        _, _, digit, special = classes(text)
        return (digit and special and any(c in "!@#$%^&*+?~" for c in text)) or (
            (value.tight or value.quoted) and sum(map(str.isdigit, text)) >= 2 and brief(value)
        )
    return looks_random(text)


def brief(value: Value) -> bool:
    """A short value with a number in it, as a person chooses one: `hunter2`, and not `version2`."""
    text = value.text.rstrip(".,:;")
    if not 6 <= len(text) <= 16 or not _BRIEF.fullmatch(text) or excluded(value):
        return False
    word = re.sub(r"[0-9]", "", text).lower()
    return bool(word) and text.lower() not in TECH and not spelled(word) and not NUMBER.fullmatch(text)


_BRIEF = late(r"[A-Za-z][A-Za-z0-9]*[0-9][A-Za-z0-9]*")


def prefixed(value: Value) -> bool:
    """A value with a provider's prefix: anything but masks and the words of an invitation."""
    parts = [part for part in re.split(r"[\W_]+", MASK.sub(" ", value.text)) if not filler(part)]
    unlike = "".join(parts)
    return len(unlike) >= 8 and (len(set(unlike[-16:])) >= 6 or len(set(unlike)) >= 10)


def mixed(value: Value) -> bool:
    """A value with small and capital letters and digits: no hash, and no word."""
    lower, upper, digit, _ = classes(value.text)
    return lower and upper and digit and opaque(value)


def opaque(value: Value) -> bool:
    """A value with a short or common prefix: it must look random."""
    return prefixed(value) and looks_random(value.text) and not UUID.fullmatch(value.text)


def env(value: Value) -> bool:
    """The value of a shell variable named for a password: a plain word counts, code does not."""
    return password(Value(value.text, quoted=True)) and (value.quoted or not calls(value.text))


def option(value: Value) -> bool:
    """The value of a command's `--password`; a word after a space may be prose."""
    text = value.text
    return env(value) and (
        value.tight
        or value.quoted
        or not wordish(text)
        or any(c.isdigit() for c in text)
        or (len(text) >= 8 and not spelled(text.lower()) and bool(_ARGUMENT_ENDS.match(value.rest)))
    )


_ARGUMENT_ENDS = late(r" ?[;|&\r\n\"']|\\[nrt\"]| --?[A-Za-z]|$")


def given(value: Value) -> bool:
    """A value where a command takes a password and nothing else."""
    text = value.text
    if len(text) < 3 or placeholder(text) or URL.fullmatch(text) or CODE.match(text) or CALL.match(text):
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
    return len(text) >= 6 and not placeholder(text) and not (text.isalpha() and wordish(text)) and not CALL.match(text)


def bearer(value: Value) -> bool:
    """What follows the word bearer anywhere: only what looks random."""
    return header(value) and looks_random(value.text)


def mention(value: Value) -> bool:
    """A value after a mere mention of a key: it looks random and holds no word of code."""
    if not bearer(value) or excluded(value) or UUID.fullmatch(value.text):
        return False
    return not any(
        part.lower() in NEUTRAL or part.lower() in EXPLICIT for part in PARTS.split(value.text) if len(part) > 2
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
