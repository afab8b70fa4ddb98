"""What points to a person or a machine in a text, and what stands in its place when the text goes to somebody else."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

_MAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_][\w-]{1,24}(?![\w@])")
_SERVICE: Final = re.compile(r"(?:git|hg|svn)@", re.IGNORECASE)
"""The user of a service's address, which is nobody."""
_HOMES: Final = re.compile(
    r"(?<![\w/\\])(?:/(?:home|Users)/|[A-Za-z]:(?:\\{1,2}|/)Users(?:\\{1,2}|/))"
    r"(?!Shared\b)[\w.@-]{1,64}?(?=[/\\\"'`:;,)\]}>\s]|$)"
)
# fmt: off
_COMMON: Final = frozenset((
    "root", "user", "users", "admin", "administrator", "test", "tester", "home", "guest", "ubuntu", "debian",
    "ec2-user", "vagrant", "runner", "build", "ci", "dev", "git", "localhost", "host", "local", "server", "laptop",
    "desktop", "machine", "docker", "node", "app", "www-data", "nobody", "mac", "macbook", "pc",
))
# fmt: on
"""Names that are words: replaced everywhere they would destroy a text and hide nobody."""
_NAME_MIN: Final = 3


def owner_of(folder: str) -> str:
    """The user whose home folder a folder lies in; "" when it lies in none."""
    found = _HOMES.match(folder)
    return re.split(r"[/\\]", found[0])[-1] if found else ""


class Identity(msgspec.Struct, frozen=True):
    """Who shares: the home folder, and names of the user, the person, and the machine."""

    home: str
    users: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()


class Personal:
    """Replaces what points to one identity, and to anybody by home folder or mail address; counts by kind."""

    def __init__(self, identity: Identity) -> None:
        self.counts: Counter[str] = Counter()
        home = identity.home.rstrip("/")
        self._home = re.compile(rf"(?<![\w.-]){re.escape(home)}(?![\w.-])") if len(home) > 1 else None
        slug = re.sub(r"[^A-Za-z0-9]", "-", home)
        self._slug = re.compile(rf"(?<![\w]){re.escape(slug)}(?![A-Za-z0-9])") if len(home) > 1 else None
        self._words = [
            (kind, _any_of(words))
            for kind, words in (("host", identity.hosts), ("name", identity.names), ("user", identity.users))
            if _telling(words)
        ]

    def scrub(self, text: str) -> str:
        """`text` with `~` for home folders, and `[email]`, `[host]`, `[name]`, `[user]` for what they say."""
        if not text:
            return text
        text = _MAIL.sub(self._mail, text)
        if self._home and self._slug:
            text = self._count("home folder", self._home, "~", text)
            text = self._count("home folder", self._slug, "~", text)
        text = self._count("home folder", _HOMES, "~", text)
        for kind, pattern in self._words:
            text = self._count(f"{kind} name" if kind != "name" else kind, pattern, f"[{kind}]", text)
        return text

    def _mail(self, found: re.Match[str]) -> str:
        if _SERVICE.match(found[0]):
            return found[0]
        self.counts["e-mail address"] += 1
        return "[email]"

    def _count(self, kind: str, pattern: re.Pattern[str], instead: str, text: str) -> str:
        text, count = pattern.subn(instead, text)
        if count:
            self.counts[kind] += count
        return text


def _telling(words: Sequence[str]) -> list[str]:
    """Words that say something of somebody, the longest first."""
    kept = {word.strip() for word in words}
    return sorted((w for w in kept if len(w) >= _NAME_MIN and w.casefold() not in _COMMON), key=lambda w: (-len(w), w))


def _any_of(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, _telling(words)))})(?![^\W_])", re.IGNORECASE)
