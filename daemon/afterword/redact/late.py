"""Patterns that are compiled when they are first used: a short command uses none of most of them."""

from __future__ import annotations

import re
from typing import Any, cast


class _Late:
    """Stands for a pattern; after its first use each of its methods is as quick to reach as the pattern's own."""

    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, found)
        return found


def late(source: str, flags: int = 0) -> re.Pattern[str]:
    """`re.compile`, put off. For methods and attributes only: `re` itself does not take it for a pattern."""
    return cast("re.Pattern[str]", _Late(source, flags))
