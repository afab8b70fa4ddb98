"""Pairing: a code that a person reads from the terminal, good once and for two minutes, becomes a token.

Codes are short, so guessing is what is guarded against: some wrong ones, and all that are open are void.
"""

import secrets
import threading
import time
from collections.abc import Callable
from typing import Final

import msgspec

from afterword.domain.errors import UserError

LIFE_S: Final = 120.0
TRIES: Final = 5
_SIGNS: Final = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Without those that look alike."""
_OPEN_MOST: Final = 5
SCOPES: Final = ("search", "related", "status", "sync", "review")
"""What a token may do unless another choice is made; `mcp` is the only other one."""
CHOICE: Final = (*SCOPES, "mcp")


class BadCode(UserError):
    """A code that is wrong, was used, or is too old."""

    kind = "bad-code"


class _Open(msgspec.Struct):
    scopes: tuple[str, ...]
    until_s: float


class Codes:
    """The codes that are open; they end with the daemon."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._open: dict[str, _Open] = {}
        self._wrong = 0

    def make(self, scopes: tuple[str, ...]) -> str:
        """A new code, as it is shown: `XXXX-XXXX`."""
        code = "".join(secrets.choice(_SIGNS) for _ in range(8))
        with self._lock:
            self._drop_old()
            self._wrong = 0
            for first in list(self._open)[: max(0, len(self._open) - _OPEN_MOST + 1)]:
                del self._open[first]
            self._open[code] = _Open(scopes, self._clock() + LIFE_S)
        return f"{code[:4]}-{code[4:]}"

    def take(self, said: str) -> tuple[str, ...]:
        """Use a code up; the scopes it stands for.

        Raises:
            BadCode: it is none of those that are open.
        """
        code = "".join(sign for sign in said.upper() if sign.isalnum())
        with self._lock:
            self._drop_old()
            found = next((each for each in self._open if secrets.compare_digest(each.encode(), code.encode())), None)
            if found is None:
                self._wrong += 1
                if self._wrong >= TRIES:
                    self._open.clear()
                raise BadCode(
                    "this pairing code is wrong, was used, or is older than two minutes",
                    "run `afterword pair` again and take the new code",
                )
            return self._open.pop(found).scopes

    def _drop_old(self) -> None:
        now = self._clock()
        self._open = {code: row for code, row in self._open.items() if row.until_s > now}
