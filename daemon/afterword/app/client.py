"""The other side of the door: asks the running daemon, over loopback, with the standard library alone."""

import functools
import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from afterword.domain.errors import AfterwordError, Busy, Exit
from afterword.redact.exits import leave_tree
from afterword.redact.redactor import Redactor
from afterword.store import doorfile, lock
from afterword.store.doorfile import DoorCard

if TYPE_CHECKING:
    from http.client import HTTPResponse

_ANSWER_MAX_BYTES: Final = 256 << 20
_SILENCE_S: Final = 30.0
"""A stream says something at least every few seconds; after this the door counts as dead."""
_COME_BACK_S: Final = 10.0
"""How long a caller waits for a daemon that went away under it: a service manager starts it again."""


@functools.cache
def _way_out() -> Redactor:
    # All engines give the same text; what is asked is short, and the pure one starts fast.
    return Redactor("python")


class NoAnswer(Busy):
    """The daemon holds the lock, but nothing answers at its door."""


class Refused(AfterwordError):
    """What the daemon says went wrong, with the kind and exit code it would have had here."""

    def __init__(self, error: Mapping[str, Any], status: int = 0) -> None:
        super().__init__(str(error.get("message", "the daemon refused")), str(error.get("hint", "")))
        self.kind = str(error.get("kind", "error"))
        self.status = status
        said = error.get("code")
        self.code = Exit(said) if said in list(Exit) else Exit.FAILED


def door(state: Path) -> DoorCard | None:
    """The door of the daemon that holds this state folder's lock; None when no process holds it.

    A card left by a killed daemon is not believed: its lock is gone, or another process's.

    Raises:
        NoAnswer: a process holds the lock that has no door.
    """
    holder = lock.holder(state)
    if holder is None:
        return None
    card = doorfile.read(state)
    if card is None or card.pid != holder.get("pid"):
        raise NoAnswer(
            f"another afterword is writing (pid {holder.get('pid', 'unknown')},"
            f" `afterword {holder.get('command', '?')}`) and takes no jobs",
            "wait for it, or stop it with Ctrl-C or `kill`",
        )
    return card


def ask_door(
    state: Path, path: str, payload: Mapping[str, Any] | None = None, timeout_s: float = 10.0, *, clean: bool = True
) -> Any:
    """What the running daemon answers: GET `path`, or POST with a payload; None when no daemon runs.

    `clean` is False for what came from another machine and is redacted by the daemon before it is stored.

    Raises:
        NoAnswer: one runs, but its door does not answer in time.
        Refused: it answered that it cannot.
    """
    card = door(state)
    return None if card is None else _answer(card, path, payload, timeout_s, clean=clean)


def submit(state: Path, name: str, arguments: Mapping[str, Any]) -> str | None:
    """Hand a job to the running daemon; its id, or None when no daemon runs (then the caller does it itself)."""
    said = ask_door(state, "/v1/jobs", {"name": name, "arguments": dict(arguments)})
    return None if said is None else str(said["job"])


def follow(state: Path, job: str) -> Iterator[dict[str, Any]]:
    """The lines of a job as they come, to its last one (state `done` or `failed`).

    A connection that breaks is taken up again where it broke, for a daemon that comes back within some seconds.

    Raises:
        NoAnswer: the daemon went away for good; the job is kept, and done when it starts again.
    """
    seen = 0
    gone_since: float | None = None
    while True:
        try:
            card = door(state)
            if card is not None:
                for line in _lines(card, f"/v1/jobs/{job}/events?start={seen}"):
                    gone_since = None
                    if "n" in line:
                        seen = int(line["n"]) + 1
                        yield line
                        if line.get("state") in ("done", "failed"):
                            return
        except NoAnswer:
            pass
        now = time.monotonic()
        gone_since = now if gone_since is None else gone_since
        if now - gone_since > _COME_BACK_S:
            raise NoAnswer(
                "the daemon went away before the job was done", "the job is kept and done when it starts again"
            )
        time.sleep(0.1)


def _answer(
    card: DoorCard, path: str, payload: Mapping[str, Any] | None, timeout_s: float, *, clean: bool = True
) -> Any:
    from http.client import HTTPException  # noqa: PLC0415  # 30 ms that only callers of a daemon pay

    try:
        with _Call(card, path, payload, timeout_s, clean=clean) as response:
            data = _whole(response)
    except (OSError, HTTPException) as err:
        raise _silent(card, err) from err
    return _checked(response.status, data)


def _whole(response: "HTTPResponse") -> bytes:
    from http.client import HTTPException  # noqa: PLC0415

    if (response.length or 0) > _ANSWER_MAX_BYTES:
        raise HTTPException("the answer is too large")
    return response.read()  # with a number it would take half of an answer for all of it


def _lines(card: DoorCard, path: str) -> Iterator[dict[str, Any]]:
    from http.client import HTTPException  # noqa: PLC0415

    try:
        with _Call(card, path, None, _SILENCE_S) as response:
            if response.status != 200:
                _checked(response.status, _whole(response))
            while line := response.readline():
                if line.endswith(b"\n"):
                    yield json.loads(line)
    except (OSError, HTTPException, ValueError) as err:
        raise _silent(card, err) from err


class _Call:
    """One request on a connection of its own."""

    def __init__(
        self, card: DoorCard, path: str, payload: Mapping[str, Any] | None, timeout_s: float, *, clean: bool = True
    ) -> None:
        from http.client import HTTPConnection  # noqa: PLC0415

        self._connection = HTTPConnection("127.0.0.1", card.port, timeout=timeout_s)
        headers = {"Authorization": f"Bearer {card.token}"}
        self._arguments: tuple[str, str, bytes | None, dict[str, str]]
        if payload is None:
            self._arguments = ("GET", path, None, headers)
        else:
            said = leave_tree("door-question", payload, _way_out()) if clean else payload
            headers["Content-Type"] = "application/json"
            self._arguments = ("POST", path, json.dumps(said).encode(), headers)

    def __enter__(self) -> "HTTPResponse":
        try:
            self._connection.request(*self._arguments)
            return self._connection.getresponse()
        except BaseException:
            self._connection.close()
            raise

    def __exit__(self, *_: object) -> None:
        self._connection.close()


def _checked(status: int, data: bytes) -> Any:
    try:
        said = json.loads(data)
    except ValueError as err:
        raise NoAnswer("what answers at the door is no afterword", "run `afterword doctor`") from err
    if status != 200:
        raise Refused(said.get("error", {}) if isinstance(said, dict) else {}, status)
    return said


def _silent(card: DoorCard, err: Exception) -> NoAnswer:
    reason = (os.strerror(err.errno) if isinstance(err, OSError) and err.errno else str(err)) or type(err).__name__
    return NoAnswer(
        f"the daemon (pid {card.pid}) does not answer at its door: {reason}", "try again; if it stays so, restart it"
    )
