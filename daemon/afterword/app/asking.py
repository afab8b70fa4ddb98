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


def answer(config: Config, env: Mapping[str, str], wanted: Question) -> dict[str, Any]:
    """The fields of `search --json`.

    By meaning a daemon answers at once where a process of its own would load the model first; exact words alone are
    quicker looked up here than asked for. A daemon that does not answer is done without.

    Raises:
        NotSetUp: there is no ledger yet.
        UsageError, NothingFound, Refused: a filter says something that cannot be.
    """
    found = _by_daemon(config, wanted) if _by_meaning(config, wanted) else None
    return _here(config, env, wanted) if found is None else found


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
        if err.status in (404, 405):
            return None  # an older daemon
        raise
    return found if isinstance(found, dict) else None


def _here(config: Config, env: Mapping[str, str], wanted: Question) -> dict[str, Any]:
    searcher = Searcher(config, env)
    try:
        with reader(config) as ledger:
            return results.as_json_fields(ledger, wanted, results.ask(config, ledger, wanted, searcher))
    finally:
        searcher.close()
