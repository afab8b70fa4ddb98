"""`afterword search WORDS` without click, which would take a third of the time that a person waits for the answer.

Only the plain form is read here: words, `--json`, `--exact`, `-n N`. Everything else, and everything that is wrong,
is left to click, so that there is one place that says what a command takes.
"""

from typing import NamedTuple

LIMIT = 10
LIMIT_MAX = 100_000


class PlainSearch(NamedTuple):
    """A question as the command line put it."""

    query: tuple[str, ...]
    as_json: bool
    limit: int
    mode: str | None


def plain_search(words: list[str]) -> PlainSearch | None:
    """The question in a command line without the program's name; None when click has to read it."""
    if words[:1] != ["search"]:
        return None
    query: list[str] = []
    as_json, limit, mode = False, LIMIT, None
    rest = iter(words[1:])
    for word in rest:
        if word == "--":
            query += rest
        elif word == "--json":
            as_json = True
        elif word == "--exact":
            mode = "exact"
        elif word in ("-n", "--limit"):
            number = next(rest, "")
            if not (number.isascii() and number.isdigit() and 1 <= int(number) <= LIMIT_MAX):
                return None
            limit = int(number)
        elif word.startswith("-"):
            return None
        else:
            query.append(word)
    return PlainSearch(tuple(query), as_json, limit, mode) if query else None
