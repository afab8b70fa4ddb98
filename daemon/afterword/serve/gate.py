"""Who is let in at the door: the Host against rebinding, the Origin against web pages, the token against all others."""

import hmac
import threading
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Final

import msgspec

from afterword.store import pairs

ORIGINS: Final = ("app://obsidian.md",)
"""Pages that are no web pages: Obsidian's own window. Its `requestUrl` sends no Origin at all."""
OWN: Final = "own"
"""The scope of the token in `door.json`: everything."""


class Refusal(Exception):
    """A request that is not answered, and why."""

    def __init__(self, status: HTTPStatus, kind: str, message: str, hint: str = "", wait_s: int = 0) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        self.hint = hint
        self.wait_s = wait_s


class Caller(msgspec.Struct, frozen=True):
    """Somebody who was let in. `id` is empty for the owner, and `?` for somebody who said no token yet."""

    id: str
    scopes: tuple[str, ...]

    def may(self, scope: str) -> bool:
        return not scope or OWN in self.scopes or scope in self.scopes


class Bucket:
    """So many at once, and so many a second after that."""

    def __init__(self, burst: int, a_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst = burst
        self._a_second = a_second
        self._clock = clock
        self._left = float(burst)
        self._at = clock()
        self._lock = threading.Lock()

    def take(self) -> bool:
        with self._lock:
            now = self._clock()
            self._left = min(self._burst, self._left + (now - self._at) * self._a_second)
            self._at = now
            if self._left < 1:
                return False
            self._left -= 1
            return True


class Gate:
    """Knows the owner's token and the paired programs'. Nobody is kept out by what others do: wrong tokens are counted
    together and answered shortly when they are too many, right ones are always let in."""

    def __init__(self, state: Path, token: str, port: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._state = state
        self._token = f"Bearer {token}".encode()
        self._clock = clock
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self._wrong = Bucket(20, 1.0, clock)
        self._strangers = Bucket(20, 1.0, clock)
        self._rates: dict[str, Bucket] = {}

    def check_place(self, headers: Mapping[str, str]) -> None:
        """Hold Host and Origin against what they may be.

        Raises:
            Refusal: the request came by another name, or from a web page.
        """
        if headers.get("host", "").lower() not in self.hosts:
            raise Refusal(
                HTTPStatus.FORBIDDEN, "forbidden", "the Host is not this door's", "use 127.0.0.1 and its port"
            )
        origin = headers.get("origin")
        if origin is not None and origin not in ORIGINS:
            raise Refusal(HTTPStatus.FORBIDDEN, "forbidden", "web pages are not let in")

    def caller(self, headers: Mapping[str, str]) -> Caller:
        """Who asks.

        Raises:
            Refusal: nobody who may, or too often.
        """
        given = headers.get("authorization", "")
        if hmac.compare_digest(given.encode("utf-8", "replace"), self._token):
            return Caller("", (OWN,))
        pair = pairs.known(self._state, given.removeprefix("Bearer ")) if given.startswith("Bearer ") else None
        if pair is None:
            if not self._wrong.take():
                raise _too_many("too many wrong tokens were tried")
            raise Refusal(
                HTTPStatus.UNAUTHORIZED, "unauthorized", "the token is missing or wrong", "pair again: `afterword pair`"
            )
        if not self._rates.setdefault(pair.id, Bucket(100, 20.0, self._clock)).take():
            raise _too_many("this program asks too often")
        return Caller(pair.id, pair.scopes)

    def stranger(self) -> Caller:
        """Somebody who asks for what needs no token: to be paired.

        Raises:
            Refusal: too many did.
        """
        if not self._strangers.take():
            raise _too_many("too many ask to be paired")
        return Caller("?", ())


def _too_many(message: str) -> Refusal:
    return Refusal(HTTPStatus.TOO_MANY_REQUESTS, "too-many", message, "wait some seconds", wait_s=5)
