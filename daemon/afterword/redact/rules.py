"""The rule table: one row per shape of secret, in the subset of regular expressions that all engines share.

Patterns are matched against UTF-8 bytes: classes are ASCII, non-ASCII words stand as literal sequences, and there
is no look-around. A pattern begins with one of the row's `starts` (compared without case), preceded by at most two
more characters, so an engine without automata can find the places to try.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from afterword.redact.commands import COMMANDS
from afterword.redact.providers import PROVIDERS
from afterword.redact.rule import LEFT, OPEN, Rule
from afterword.redact.services import SERVICES, UUID
from afterword.redact.words import (
    ENV_WORDS,
    KEY_WORDS,
    KEY_WORDS_ABROAD,
    LOGIN_WORDS,
    LOGIN_WORDS_ABROAD,
    PASSWORD_WORDS,
    PASSWORD_WORDS_ABROAD,
    SHORT_PASSWORD_WORDS,
    WEAK_WORDS,
    WEAK_WORDS_ABROAD,
    variants,
)

RULES_VERSION: Final = 3
"""Counts up with every change of what is redacted; the ledger re-scrubs rows of an older version."""


def _any(words: tuple[str, ...]) -> str:
    ascii_words = "|".join(re.escape(word) for word in words if word.isascii())
    others = [re.escape(form) for word in words if not word.isascii() for form in variants(word)]
    return "(?:" + "|".join([*([f"(?i:{ascii_words})"] if ascii_words else []), *others]) + ")"


def _starts(words: tuple[str, ...]) -> tuple[str, ...]:
    """The shortest set of literals that every word begins with."""
    forms = {form.encode().lower().decode() for word in words for form in variants(word)}  # lower in ASCII alone
    chosen: list[str] = []
    for form in sorted(forms):
        if not (chosen and form.startswith(chosen[-1])):
            chosen.append(form)
    return tuple(chosen)


def _escapes(word: str) -> tuple[str, str]:
    """A word as JSON writes it in ASCII, at any depth: the pattern, and what it begins with.

    The pattern begins with three plain letters or with an escape, of which the last backslash is enough.
    """
    lead = len(word) - len(word.lstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    word = word if lead >= 3 else word[lead:]
    parts = [re.escape(c) if c.isascii() else rf"\\{{1,8}}u{ord(c):04x}" for c in word]
    if lead >= 3:
        return "".join(parts), word[:lead].lower()
    return rf"\\u{ord(word[0]):04x}" + "".join(parts[1:]), rf"\u{ord(word[0]):04x}"


def _escaped(kind: str, words: tuple[str, ...], check: str) -> Rule:
    """`"key": "value"` with the key escaped; the gate looks for the beginnings of the words alone."""
    found = dict(_escapes(form) for word in words for form in variants(word))
    starts = tuple(sorted(set(found.values())))
    quoted, _ = _assigned(kind, f"(?:{'|'.join(found)})", starts, check)
    beginning = re.compile(r"(?:[^\\]|\\\\)+u[0-9a-f]{4}(?:\\\\\{1,8}u[0-9a-f]{4})?")
    heads = (head[0] if (head := beginning.match(form)) else form for form in found)
    return msgspec.structs.replace(quoted, gate="|".join(dict.fromkeys(heads)))


# What may stand between a key word and its value.
_SUFFIX = (
    r"(?:[sS]|[_-]?[0-9]{1,2}|[_-](?i:production|prod|development|dev|staging|test"
    r"|live|old|new|main|backup|base64|b64|value|plain|raw|ro|rw))?"
)
_CLOSE = r"(?:\\{0,15}[\"'`]|%22)?[)\]]{0,2}[*_]{0,2}[?!]?"
_ASSIGN = r"(?::=|=>|={1,3}|:|->|：|＝|%3[AaDd])"
_TYPE = r"(?::? ?[&*A-Za-z][A-Za-z0-9_.\[\]|]{0,24} )?"
_CTOR = r"(?:SecretStr\(|Secret\(|String::from\(|new String\(|[bruBRU@&]{1,2}|[(\[][ \t\r\n]{0,24})?"
_VERB = r"(?:(?:et|a)?(?: (?:is|was|ist|war|lautet|es|est|é|è|to|jest|je|är|er|это|הוא|היא|هي|-|–|—)|'s|’s))"
_IS = rf"(?:(?:{_VERB}|:| \|)[*_]{{0,2}}[ \t]{{1,4}}|是(?::|：)?[ \t]{{0,4}}|は[ \t]{{0,4}}|(?:는|은)[ \t]{{1,4}})"
_IS_QUOTED = rf"(?:{_VERB}|:| =|,|\(| \|)?[*_]{{0,2}}[ \t]{{0,4}}"
_GAP = r"[ \t]{0,24}"
_BETWEEN = _SUFFIX + _CLOSE + _GAP + _TYPE + _ASSIGN + r"[*_]{0,2}" + _GAP
# The head of a value: enough of it to be worth a judgement.
_QUOTED_HEAD = r"[^\x00-\x1f\"'`\\<>]{3}[^\x00-\x1f\"'`<>]"
_BARE_HEAD = r"[A-Za-z_.\-/:+\x80-\xff]{0,64}[0-9!@#%^&*+?~$]"

_PASSWORD = _any(PASSWORD_WORDS)
# Rows of their own: together with the ASCII words hyperscan's automaton becomes three times slower.
_PASSWORD_ABROAD, _KEY_ABROAD, _WEAK_ABROAD = (
    _any(PASSWORD_WORDS_ABROAD),
    _any(KEY_WORDS_ABROAD),
    _any(WEAK_WORDS_ABROAD),
)
_SHORT = r"(?:\b|_|\\[nrt])(?i:" + "|".join(SHORT_PASSWORD_WORDS) + ")"
_CAMEL = r"[a-z](?:Pass|Pwd|Pw)"
_KEY = _any(KEY_WORDS)
_WEAK = _any(WEAK_WORDS)
_S_PASSWORD, _S_KEY, _S_WEAK = _starts(PASSWORD_WORDS), _starts(KEY_WORDS), _starts(WEAK_WORDS)
_S_ANY = tuple(sorted({*_S_PASSWORD, *_S_KEY, *_S_WEAK}))


def _assigned(kind: str, words: str, starts: tuple[str, ...], check: str) -> tuple[Rule, Rule]:
    """`key = value` in every syntax: once for a quoted, once for a bare value."""
    quoted = rf"{words}{_BETWEEN}{_CTOR}({OPEN})({_QUOTED_HEAD})"
    bare = rf"{words}{_BETWEEN}({_BARE_HEAD})"
    return (
        Rule(kind, quoted, starts, 2, check, "value", 1),
        Rule(kind, bare, starts, 1, check, "value"),
    )


def _abroad(rules: tuple[Rule, ...], words: tuple[str, ...]) -> tuple[Rule, ...]:
    """The rules with the words alone as their gate: they are rare where they are not meant, and an automaton of all
    that may follow each of them is slow to make."""
    return tuple(msgspec.structs.replace(rule, gate=_any(words)) for rule in rules)


def _mentioned(words: str, starts: tuple[str, ...]) -> tuple[Rule, ...]:
    """`the password is value`: prose, so the value has to look like one by itself."""
    return (
        Rule(
            "password",
            rf"{words}{_CLOSE}{_IS_QUOTED}({OPEN})([^\x00-\x20\"'`\\<>]{{6}})",
            starts,
            2,
            "strict",
            "value",
            1,
        ),
        Rule("password", rf"{words}{_CLOSE}{_VERB} ({OPEN})([^\x00-\x20\"'`\\<>]{{6}})", starts, 2, "said", "value", 1),
        Rule("password", rf"{words}{_CLOSE}{_IS}({_BARE_HEAD})", starts, 1, "said", "value"),
        Rule("password", rf"{words}[ \t]{{1,4}}({_BARE_HEAD})", starts, 1, "alone", "value"),
        Rule(
            "password",
            rf"{words}{_CLOSE}[ \t]{{0,4}}(?::|：)[ \t]{{0,4}}[|>]?[+-]?(?:\r?\n|\\n)[ \t]{{0,16}}({_BARE_HEAD})",
            starts,
            1,
            "strict",
            "value",
        ),
    )


def _beside(words: tuple[str, ...]) -> Rule:
    """`login: admin / value`."""
    return Rule(
        "password",
        rf"{_any(words)}[ \t]{{0,4}}(?::|：|=|-)?[ \t]{{0,4}}"
        r"(?:(?:with|as|is|ist|mit|als|con|avec|com|za|как|est)[ \t]{1,2})?"
        rf"[A-Za-z0-9_.@+\-]{{2,40}}(?:[ \t]{{0,3}}[/:|][ \t]{{0,3}}|[ \t]{{1,3}})({_BARE_HEAD})",
        _starts(words),
        1,
        "beside",
        "value",
    )


RULES: Final[tuple[Rule, ...]] = (
    # Whole blocks
    Rule(
        "private-key",
        r"-----BEGIN[A-Z0-9 ]{0,40} PRIVATE KEY(?: BLOCK)?-----",
        ("-----begin",),
        check="pem",
        until="pem",
    ),
    Rule(
        "private-key",
        r"-----END[A-Z0-9 ]{0,40} PRIVATE KEY(?: BLOCK)?-----",
        ("-----end",),
        check="pem",
        until="pem-tail",
    ),
    Rule(
        "putty-key",
        r"Private-Lines: [0-9]{1,3}(?:\r?\n|\\n)((?:[A-Za-z0-9+/=]{16,}(?:\r?\n|\\n))*[A-Za-z0-9+/=]{4,})(?:\r?\n|\\n)",
        ("private-lines",),
        1,
    ),
    Rule("age-key", r"AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{40,}", ("age-secret-key",)),
    *PROVIDERS,
    *SERVICES,
    # Protocols
    Rule("jwt", r"(eyJ[A-Za-z0-9_-]{8,1000}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{1,}){0,3})", ("eyj",), 1),
    Rule(
        "authorization",
        rf"(?i:authorization){_CLOSE}{_GAP}[:=,]{_GAP}[bBfFrRuU]{{0,2}}(?:{OPEN})?(?i:bearer|token|basic|apikey|api-key"
        rf"|digest|negotiate|splunk|key|bot|ssws|genie ?key|oauth)(?: |%20|\+|=)([A-Za-z0-9._~+/:=-]{{6,}})",
        ("authorization",),
        1,
        "header",
    ),
    Rule(
        "bearer", rf"{LEFT}(?i:bearer)(?: |%20|\+){{1,2}}[\"'`]?([A-Za-z0-9._~+/=-]{{16,}})", ("bearer",), 1, "bearer"
    ),
    Rule("basic-auth", rf"{LEFT}(?i:basic)(?: |%20|\+)([A-Za-z0-9+/]{{8,}}={{0,2}})", ("basic",), 1, "basic"),
    Rule(
        "url-password",
        r"[A-Za-z0-9]:\\{0,7}/\\{0,7}/[^\x00-\x20/:@\"'`<>\\]{0,128}:([^\x00-\x20/@\"'`<>\\]{1,256})@",
        ("://", ":\\/", ":\\\\/"),
        1,
        "userinfo",
        "userinfo",
    ),
    Rule("url-token", r"https?:\\{0,7}/\\{0,7}/([A-Za-z0-9_~.-]{20,256})@", ("http",), 1, "opaque"),
    Rule(
        "cookie",
        rf"{LEFT}(?:(?i:connect\.sid|phpsessid|jsessionid|asp\.net_sessionid|session(?:_?id|_?token)?|sid|sess|auth_session|remember(?:_user|_me)?_token|csrftoken|xsrf-token)|__(?:Host|Secure)-[A-Za-z0-9_.-]{{1,40}})=((?:s%3A|s:)?[A-Za-z0-9._%+/=-]{{16,}})",
        (
            "connect.sid",
            "phpsessid",
            "jsessionid",
            "asp.net",
            "sess",
            "sid",
            "auth_session",
            "remember",
            "csrftoken",
            "xsrf-token",
            "__host",
            "__secure",
        ),
        1,
        "opaque",
    ),
    Rule(
        "netrc",
        r"(?i:login)[ \t\r\n]{1,8}[^\x00-\x20]{1,128}[ \t\r\n]{1,8}(?i:password)[ \t]{1,8}([^\x00-\x20]{1,128})",
        ("login",),
        1,
        "header",
    ),
    *COMMANDS,
    Rule(
        "basic-auth",
        r"(?i:auth)[\"']?[ \t]{0,4}[=:][ \t]{0,4}[(\[][ \t]{0,4}\\{0,15}[\"'][^\x00-\x1f\"'\\]{1,64}"
        r"\\{0,15}[\"'][ \t]{0,4},[ \t]{0,4}(\\{0,15}[\"'])([^\x00-\x1f\"'`\\<>]{4})",
        ("auth",),
        2,
        "env",
        "value",
        1,
    ),
    Rule(
        "basic-auth",
        r"(?i:auth)\\{0,15}[\"'][ \t]{0,4}:[ \t]{0,4}\\{0,15}[\"']([A-Za-z0-9+/]{8,}={0,2})",
        ("auth",),
        1,
        "basic",
    ),
    # Assignments
    Rule(
        "aws-secret-key",
        rf"(?i:secret[_-]?access[_-]?key)[ \t]{{1,8}}(?:{OPEN})?([A-Za-z0-9/+]{{40}})",
        ("secret",),
        1,
        "prefixed",
    ),
    *_assigned(
        "aws-secret-key", r"(?i:secret[_-]?access[_-]?key|aws[_-]?secret(?:[_-]?key)?)", ("secret", "aws"), "key"
    ),
    *_assigned("password", _PASSWORD, _S_PASSWORD, "password"),
    *_assigned("password", rf"(?:{_SHORT}|{_CAMEL})", SHORT_PASSWORD_WORDS, "password"),
    *_assigned("api-key", _KEY, _S_KEY, "key"),
    Rule("api-key", rf"{_KEY}{_BETWEEN}([A-Za-z]{{16}})", _S_KEY, 1, "key", "value"),
    *_assigned("secret", _WEAK, _S_WEAK, "weak"),
    *_assigned("secret", r"(?:\b|_|\\[nrt])(?i:secret)", ("secret",), "brief"),
    *_abroad(
        _assigned("password", _PASSWORD_ABROAD, _starts(PASSWORD_WORDS_ABROAD), "password"), PASSWORD_WORDS_ABROAD
    ),
    *_abroad(_assigned("api-key", _KEY_ABROAD, _starts(KEY_WORDS_ABROAD), "key"), KEY_WORDS_ABROAD),
    *_abroad(_assigned("secret", _WEAK_ABROAD, _starts(WEAK_WORDS_ABROAD), "weak"), WEAK_WORDS_ABROAD),
    _escaped("password", PASSWORD_WORDS_ABROAD, "password"),
    _escaped("api-key", KEY_WORDS_ABROAD, "key"),
    _escaped("secret", WEAK_WORDS_ABROAD, "weak"),
    Rule(
        "password",
        rf"(?:PASSWORD|PASSWD|PASSPHRASE|_PASS|_PWD){_SUFFIX}=({OPEN})?([A-Za-z0-9!@#%^&*+?~.,_-][^\x00-\x20\"'`]{{3}})",
        ("password", "passwd", "passphrase", "_pass", "_pwd"),
        2,
        "env",
        "line",
        1,
    ),
    # Elsewhere a UUID is a name; as the value of such a variable it is what services hand out.
    Rule("secret", rf"[A-Z0-9]_(?:TOKEN|SECRET){_SUFFIX}=(?:{OPEN})?({UUID})", ("_token", "_secret"), 1),
    Rule(
        "secret",
        rf"(?:{'|'.join(ENV_WORDS)}){_SUFFIX}=({OPEN})?([A-Za-z0-9+/_.-]{{8}})",
        tuple(word.lower() for word in ENV_WORDS),
        2,
        "weak",
        "value",
        1,
    ),
    Rule(
        "secret",
        rf"--[a-z0-9-]{{0,24}}(?:passw(?:or)?d|passphrase|pass)(?:=|[ \t]{{1,4}})({OPEN})?"
        rf"([^\x00-\x20\"'`$<\\-][^\x00-\x20\"'`\\]{{3}})",
        ("--",),
        2,
        "option",
        "value",
        1,
    ),
    Rule(
        "secret",
        rf"--[a-z0-9-]{{0,24}}(?:token|secret|key|credential)(?:=|[ \t]{{1,4}})({OPEN})?"
        rf"([^\x00-\x20\"'`$<\\-][^\x00-\x20\"'`\\]{{7}})",
        ("--",),
        2,
        "weak",
        "value",
        1,
    ),
    # Name and value side by side
    Rule(
        "secret",
        rf"(?:{_PASSWORD}|{_KEY}|{_WEAK}){_SUFFIX}\\{{0,15}}[\"']?,?(?:[ \t\r\n]|\\n){{0,24}}"
        rf"(?:\\{{0,15}}[\"'])?(?i:value)(?:\\{{0,15}}[\"'])?{_GAP}[:=]{_GAP}({OPEN})?([^\x00-\x20\"'`\\<>$]{{4}})",
        _S_ANY,
        2,
        "pair",
        "value",
        1,
    ),
    Rule(
        "secret",
        rf"(?:{_PASSWORD}|{_KEY})\\{{0,15}}[\"']>([^\x00-\x20<>]{{4,256}})</",
        tuple(sorted({*_S_PASSWORD, *_S_KEY})),
        1,
        "pair",
    ),
    Rule(
        "secret",
        rf"<[A-Za-z0-9:_.-]{{0,40}}(?:{_PASSWORD}|(?i:secret|token|api_?key|access_?key))>([^\x00-\x20<>]{{4,256}})</",
        ("<",),
        1,
        "pair",
    ),
    # Mentions
    *_mentioned(_PASSWORD, _S_PASSWORD),
    *_abroad(_mentioned(_PASSWORD_ABROAD, _starts(PASSWORD_WORDS_ABROAD)), PASSWORD_WORDS_ABROAD),
    Rule("password", rf"{_SHORT}{_VERB}[ \t]{{1,4}}({_BARE_HEAD})", SHORT_PASSWORD_WORDS, 1, "said", "value"),
    # Not behind `pass`, which tests do.
    Rule("password", rf"{LEFT}(?i:pwd?|mdp|psw)[ \t]{{1,4}}({_BARE_HEAD})", ("pw", "mdp", "psw"), 1, "alone", "value"),
    _beside(LOGIN_WORDS),
    *_abroad((_beside(LOGIN_WORDS_ABROAD),), LOGIN_WORDS_ABROAD),
    Rule(
        "api-key",
        rf"(?:{_KEY}|{_WEAK}){_CLOSE}{_IS_QUOTED}({OPEN})([A-Za-z0-9_+/.=-]{{16}})",
        tuple(sorted({*_S_KEY, *_S_WEAK})),
        2,
        "mention",
        "value",
        1,
    ),
    Rule("api-key", rf"{_KEY}[ \t]{{1,8}}([A-Za-z0-9_+/.=-]{{20}})", _S_KEY, 1, "mention", "value"),
    Rule(
        "api-key",
        rf"(?:{_KEY}|{_WEAK}){_CLOSE}{_IS}([A-Za-z0-9_+/.=-]{{20}})",
        tuple(sorted({*_S_KEY, *_S_WEAK})),
        1,
        "mention",
        "value",
    ),
)
"""In order of preference: where two rows claim the same characters, the earlier one names the kind."""

KINDS: Final[tuple[str, ...]] = (*dict.fromkeys(rule.kind for rule in RULES), "extra")
