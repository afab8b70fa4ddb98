"""A question put to whoever answers it best: the running daemon, whose index is open, or else this process."""

from collections.abc import Mapping
from typing import Any

import msgspec

from afterword.app import results
from afterword.app.client import NoAnswer, Refused, ask_door
from afterword.app.config import Config
from afterword.app.reading import reader
from afterword.app.results import Question
from afterword.app.searching import Searcher
from afterword.index.hybrid import only_exact


def answer(
    config: Config, env: Mapping[str, str], wanted: Question, folder: str = "", *, quick: bool = False
) -> dict[str, Any]:
    """The fields of `search --json`. `folder` is where the asker works: its project counts a little.
    With `quick` no model is loaded here: without a daemon exact words alone are looked up. `answered_by` says who
    answered: the daemon, this process (`here`), or its exact search alone (`exact`).

    By meaning a daemon answers at once where a process of its own would load the model first; exact words alone are
    quicker looked up here than asked for. A daemon that does not answer is done without.

    Raises:
        NotSetUp: there is no ledger yet.
        UsageError, NothingFound, Refused: a filter says something that cannot be.
    """
    found = None
    if _by_meaning(config, wanted):
        wanted = msgspec.structs.replace(wanted, here=here(folder) if folder else None)
        found = _by_daemon(config, wanted)
    if found is not None:
        return {**found, "answered_by": "daemon"}
    by_meaning = _by_meaning(config, wanted)
    if quick and by_meaning:
        wanted = msgspec.structs.replace(wanted, mode="exact")
    return {**_here(config, env, wanted), "answered_by": "here" if by_meaning and not quick else "exact"}


def here(folder: str) -> str | None:
    """The project of a working folder, by the name of its main checkout; None where there is nothing to be seen."""
    from pathlib import Path  # noqa: PLC0415

    from afterword.store.contexts import checkout_of  # noqa: PLC0415

    try:
        return checkout_of(Path(folder)).name or None
    except (OSError, RuntimeError):
        return None


def _by_meaning(config: Config, wanted: Question) -> bool:
    if wanted.mode == "exact" or config.settings.index.embedder == "off":
        return False
    return wanted.mode == "semantic" or not only_exact(wanted.query)


def _by_daemon(config: Config, wanted: Question) -> dict[str, Any] | None:
    """What the running daemon finds; None when none runs, or it is one that cannot say."""
    said = {name: value for name, value in msgspec.structs.asdict(wanted).items() if value is not None}
    try:
        found = ask_door(config.places.state, "/v1/search", said)
    except NoAnswer:
        return None
    except Refused as err:
        if err.status in (400, 404, 405):
            return None  # an older daemon, or a wrong question: then it is said here what is wrong with it
        raise
    return found if isinstance(found, dict) else None


def _here(config: Config, env: Mapping[str, str], wanted: Question) -> dict[str, Any]:
    searcher = Searcher(config, env)
    try:
        with reader(config) as ledger:
            return results.as_json_fields(ledger, wanted, results.ask(config, ledger, wanted, searcher))
    finally:
        searcher.close()
