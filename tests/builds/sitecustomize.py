"""Test builds of the program, for processes that find this folder on their PYTHONPATH. The product has no such switch.

CANARY_BUILD names what is different, by commas: `unredacted` finds no secret; `broken` fails here and there with
CANARY_TEXT in the message, as a bug does that quotes what it choked on.
"""

import os
import threading
from typing import Any

_BUILD = os.environ.get("CANARY_BUILD", "").split(",")
_TEXT = os.environ.get("CANARY_TEXT", "")


def _unredacted() -> None:
    from afterword.redact import redactor

    class Blind:
        name = "blind"

        def scan(self, _data: bytes) -> tuple[()]:
            return ()

    redactor.pick = lambda _engine, _rules: (Blind(), "")  # type: ignore[assignment,return-value]


def _broken() -> None:
    from afterword.app import show
    from afterword.compile.extractive import Extractive

    def find(*_given: Any) -> Any:
        raise RuntimeError(f"cannot read {_TEXT}")

    def fail() -> None:
        raise RuntimeError(f"a thread chokes on {_TEXT}")

    digest = Extractive.digest
    left = [2]

    def once(self: Extractive, segment: Any) -> Any:
        if left[0]:
            left[0] -= 1
            threading.Thread(target=fail).start()
            raise ValueError(f"chokes on {_TEXT}")
        return digest(self, segment)

    show.find = find
    Extractive.digest = once  # type: ignore[method-assign]


if "unredacted" in _BUILD:
    _unredacted()
if "broken" in _BUILD:
    _broken()
