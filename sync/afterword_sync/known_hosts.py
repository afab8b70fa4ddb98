"""Which keys a machine is known by: `known_hosts` files, hashed names, patterns and revoked keys included."""

import fnmatch
import hmac
import os
import secrets
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterable, Iterator
from enum import Enum
from hashlib import sha1, sha256
from pathlib import Path

import msgspec


class Key(msgspec.Struct, frozen=True):
    """A public key: what it is called (`ssh-ed25519`) and its bytes."""

    kind: str
    blob: bytes

    @property
    def fingerprint(self) -> str:
        """As `ssh-keygen -l` shows it."""
        return "SHA256:" + b64encode(sha256(self.blob).digest()).decode().rstrip("=")


class Standing(Enum):
    """What is known of a key that a machine shows."""

    KNOWN = "known"
    UNKNOWN = "unknown"  # no key of that machine is known
    CHANGED = "changed"  # another one is
    REVOKED = "revoked"


class _Line(msgspec.Struct, frozen=True):
    marker: str
    names: str
    key: Key
    file: Path
    number: int


class Known(msgspec.Struct, frozen=True):
    """What the files say of one machine."""

    keys: tuple[Key, ...]
    revoked: tuple[Key, ...]
    where: str  # file:line of the first key

    def standing(self, shown: Key) -> Standing:
        """What is known of this key."""
        if shown in self.revoked:
            return Standing.REVOKED
        if shown in self.keys:
            return Standing.KNOWN
        return Standing.CHANGED if self.keys else Standing.UNKNOWN


def known(name: str, files: Iterable[Path]) -> Known:
    """What these files say of the machine that they call `name` (with a port: `[host]:port`).

    Certificate authorities are passed over: keys signed by one cannot be checked here.
    """
    keys: list[Key] = []
    revoked: list[Key] = []
    where = ""
    for file in files:
        for line in _lines(file):
            if not _matches(name, line.names):
                continue
            if line.marker == "@revoked":
                revoked.append(line.key)
            elif not line.marker:
                keys.append(line.key)
                where = where or f"{line.file}:{line.number}"
    return Known(tuple(keys), tuple(revoked), where)


def add(name: str, key: Key, file: Path, *, hashed: bool) -> None:
    """Remember this key in the file, which is made when it is missing."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    line = f"{_hashed(name) if hashed else name} {key.kind} {b64encode(key.blob).decode()}\n"
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    with open(descriptor, "r+b") as known_hosts:
        size = known_hosts.seek(0, os.SEEK_END)
        if size:
            known_hosts.seek(size - 1)
            line = line if known_hosts.read(1) == b"\n" else "\n" + line
        known_hosts.write(line.encode())
        known_hosts.flush()
        os.fsync(known_hosts.fileno())


def _lines(file: Path) -> Iterator[_Line]:
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        marker = words.pop(0) if words[0].startswith("@") else ""
        if len(words) < 3:
            continue
        try:
            blob = b64decode(words[2], validate=True)
        except (Base64Error, ValueError):
            continue
        yield _Line(marker, words[0], Key(words[1], blob), file, number)


def _matches(name: str, names: str) -> bool:
    if names.startswith("|1|"):
        return _is_hash_of(name, names)
    found = False
    for pattern in names.split(","):
        # Brackets stand for themselves here: `[host]:port`.
        wild = pattern.lstrip("!").replace("[", "[[]")
        if fnmatch.fnmatchcase(name.lower(), wild.lower()):
            if pattern.startswith("!"):
                return False
            found = True
    return found


def _is_hash_of(name: str, hashed: str) -> bool:
    try:
        _, _, salt, digest = hashed.split("|")
        return hmac.compare_digest(hmac.digest(b64decode(salt), name.encode(), sha1), b64decode(digest))
    except (Base64Error, ValueError):
        return False


def _hashed(name: str) -> str:
    salt = secrets.token_bytes(20)
    return f"|1|{b64encode(salt).decode()}|{b64encode(hmac.digest(salt, name.encode(), sha1)).decode()}"
