"""Who was paired with the door: one file for each, for its owner's eyes alone, and in it no token but its hash.

A token is `aw_<id>_<secret>`. Who has one may do what its scopes say, until its file is taken away; every request looks
at the file, so taking it away holds at once.
"""

import hashlib
import hmac
import re
import secrets
from pathlib import Path
from typing import Final

import msgspec

from afterword.domain.errors import UserError
from afterword.redact.text import Redacted
from afterword.store.files import create, private_folder

FOLDER: Final = "paired"
MOST: Final = 50
_TOKEN: Final = re.compile(r"aw_([0-9a-f]{12})_([\w-]{43})", re.ASCII)


class Pair(msgspec.Struct, frozen=True):
    """A program that was paired. `digest` is the SHA-256 of its whole token, `made_us` UTC microseconds."""

    version: int
    id: str
    name: str
    scopes: tuple[str, ...]
    digest: str
    made_us: int


def make(state: Path, name: Redacted, scopes: tuple[str, ...], now_us: int) -> tuple[Pair, str]:
    """Pair with one more program; (what is kept, its token).

    Raises:
        UserError: there are too many.
        OSError: it cannot be kept.
    """
    if len(every(state)) >= MOST:
        raise UserError(f"{MOST} programs are paired already", "`afterword pair revoke` takes one out")
    its_id = secrets.token_hex(6)
    token = f"aw_{its_id}_{secrets.token_urlsafe(32)}"
    pair = Pair(1, its_id, str(name), scopes, digest(token), now_us)
    private_folder(state / FOLDER)
    create(_file(state, its_id), msgspec.json.encode(pair))
    return pair, token


def digest(token: str) -> str:
    """What is kept of a token: it is long and random, so a plain hash gives nothing away."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def every(state: Path) -> list[Pair]:
    """All that are paired, the oldest first; what cannot be read opens nothing."""
    found = [_read(path) for path in (state / FOLDER).glob("*.json")]
    return sorted((pair for pair in found if pair), key=lambda pair: (pair.made_us, pair.id))


def one(state: Path, its_id: str) -> Pair | None:
    """The one of this id (12 hex digits)."""
    return _read(_file(state, its_id)) if re.fullmatch(r"[0-9a-f]{12}", its_id, re.ASCII) else None


def known(state: Path, token: str) -> Pair | None:
    """Whose token this is; None for nobody's."""
    match = _TOKEN.fullmatch(token)
    pair = one(state, match[1]) if match else None
    return pair if pair is not None and hmac.compare_digest(pair.digest, digest(token)) else None


def proof(pair: Pair, nonce: str, port: int) -> str:
    """What shows a paired program that this door knows its token, before it is sent: a port may be somebody else's by
    now. Hex HMAC-SHA256 of `nonce:port` under the token's SHA-256."""
    return hmac.new(bytes.fromhex(pair.digest), f"{nonce}:{port}".encode(), hashlib.sha256).hexdigest()


def revoke(state: Path, its_id: str) -> bool:
    """Take one out; whether it was there."""
    if one(state, its_id) is None:
        return False
    _file(state, its_id).unlink(missing_ok=True)
    return True


def _file(state: Path, its_id: str) -> Path:
    return state / FOLDER / f"{its_id}.json"


def _read(path: Path) -> Pair | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Pair)
    except (OSError, msgspec.MsgspecError):
        return None
