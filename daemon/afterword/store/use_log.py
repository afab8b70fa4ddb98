"""What was made use of, until a writer counts it: one short line of ours for each article, appended by whoever answers.

Nobody who asks waits for it: one append, no lock that anybody could hold for long, and nothing where it cannot be done.
A line holds an id and a day, never a text.
"""

import contextlib
import fcntl
import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["returned", "opened", "cited"]
Day: TypeAlias = str

FILE: Final = "use.log"
_TAKEN: Final = "use.taken"
_MOST_BYTES: Final = 4 << 20
"""More than this is not kept between two compiles: it would be a script that asks, not a person."""
_LINE: Final = re.compile(rb"([roc]) (a-[0-9a-f]{12}) (\d{4}-\d{2}-\d{2})")
_KINDS: Final[dict[str, Kind]] = {"r": "returned", "o": "opened", "c": "cited"}


def note(state: Path, kind: Kind, uids: Iterable[str], day: Day) -> None:
    """Note that these articles were returned, opened or cited on a day; done without where it cannot be written."""
    lines = "".join(f"{kind[0]} {uid} {day}\n" for uid in uids).encode()
    if not lines:
        return
    with contextlib.suppress(OSError):
        fd = os.open(
            state / FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o600
        )
        try:
            # Shared: who takes the file away waits for those who had it open by then.
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
            if os.fstat(fd).st_size < _MOST_BYTES:
                os.write(fd, lines)
        finally:
            os.close(fd)


def take(state: Path) -> tuple[str, Counter[tuple[str, Kind, Day]]]:
    """(a name for what was taken, how often each (article, kind, day) was noted in it); "" when there is nothing.

    What was taken stays beside until `done`, so that a kill in between counts it under the same name again.
    """
    taken = state / _TAKEN
    if not taken.exists():
        try:
            (state / FILE).rename(taken)
        except OSError:
            return "", Counter()
    try:
        fd = os.open(taken, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return "", Counter()
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        at = os.fstat(fd)
        data = b""
        while piece := os.read(fd, 1 << 20):
            data += piece
    finally:
        os.close(fd)
    found: Counter[tuple[str, Kind, Day]] = Counter()
    for line in data.split(b"\n"):
        match = _LINE.fullmatch(line)  # a line that a kill cut counts nothing
        if match:
            found[match[2].decode(), _KINDS[match[1].decode()], match[3].decode()] += 1
    return f"{at.st_ino}-{at.st_mtime_ns}-{at.st_size}", found


def done(state: Path) -> None:
    """What was taken is counted."""
    (state / _TAKEN).unlink(missing_ok=True)
