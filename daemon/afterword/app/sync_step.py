"""What the process that talks with another machine asks a writer to do, one step at a time: a value that fits through
the door.
"""

from typing import Final, Literal

import msgspec

STEP_MAX_BYTES: Final = 64 << 20
"""A step brings at most one batch, with every byte of it escaped."""


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`begin` comes first. `take` and `early` bring records, a line each; `hold` names the peer that is about to be
    sent something; `reborn` gives this machine a new origin; `exported` remembers a folder; `tried` and `done` say how
    an exchange ended. `name` is the peer's in the settings.
    """

    do: Literal["begin", "take", "early", "hold", "reborn", "exported", "tried", "done"]
    peer: str = ""
    name: str = ""
    lines: str = ""
    known: int = 0
    problem: str = ""
    folder: str = ""
    vector: dict[str, int] = {}
