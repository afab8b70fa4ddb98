"""The shape of a rule."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import msgspec

LEFT: Final = r"(?:\b|\\[nrt])"
"""A boundary, or an escape that ends in a letter, as in the JSON text `\\nghp_…`."""

GLUED: Final = r"(?:\b|_|\\[nrt])"
"""`LEFT`, or an underscore: for prefixes that no ordinary word ends in."""
END: Final = r"(?:\b|_)"

OPEN: Final = r"\\{0,15}[\"'`]|“|‘|«|「|%22"
"""The quote before a value."""

Until: TypeAlias = Literal["", "value", "line", "userinfo", "pem", "pem-tail"]


class Rule(msgspec.Struct, frozen=True):
    """`group` is the secret; `opener` the group of the quote before it (0: none); `until` says how a value is
    followed to its end ("": the group is all of it); `check` names the judgement in `judge.CHECKS`."""

    kind: str
    pattern: str
    starts: tuple[str, ...]
    group: int = 0
    check: str = ""
    until: Until = ""
    opener: int = 0
    needs: str = ""
    """Without `starts`: a literal that is somewhere in every match."""
    gate: str = ""
    """A simpler pattern that is found wherever this one matches, where an automaton of all of it would be large."""
    near: str = ""
    """What has to stand before the match on its line. A gap inside the pattern would lose all but the last match."""
