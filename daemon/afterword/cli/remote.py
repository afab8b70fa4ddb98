"""Writing commands while a daemon runs: handed to it as a job, its progress shown as if the work were done here."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from afterword.cli.output import bars


def by_daemon(state: Path, job: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """The result of a job of the running daemon; None when none runs, and the caller is to do the work itself.

    Raises:
        Busy: another command writes, or the daemon does not answer.
        Refused: the job failed; kind and exit code are those of the failure.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    return followed(state, "/v1/jobs", {"name": job, "arguments": given})


def followed(state: Path, path: str, asked: Mapping[str, Any]) -> dict[str, Any] | None:
    """The same for what queues a job at a path of its own."""
    from afterword.app.client import Refused, ask_door, follow

    said = ask_door(state, path, asked, timeout_s=600.0 if path != "/v1/jobs" else 10.0)
    if said is None:
        return None
    its_id = str(said["job"])
    with bars() as tell:
        for line in follow(state, its_id):
            match line:
                case {"phase": str(phase), "unit": str(unit), "done": int(done), "all": int(total), "word": str(word)}:
                    tell(phase, unit, done, total, word)
                case {"state": "done", "result": dict(result)}:
                    return result
                case {"state": "failed", "error": dict(error)}:
                    raise Refused(error)
    raise AssertionError("a job ends with `done` or `failed`")
