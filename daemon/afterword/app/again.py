"""`again`: what was run after the same error before, when it did not come back.

No judgement of why: in each session that met the error, what was done between its last appearance and the next success
of the command that had failed, or the next request where that was never run again.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from afterword.compile.cues import is_prose, lexicon
from afterword.compile.fixes import Run, error_line, runs
from afterword.compile.sentences import cut, normal, sentences
from afterword.domain.clock import format_rfc3339
from afterword.domain.digest import Passage
from afterword.domain.items import Kind, SaidBy
from afterword.index import search as exact
from afterword.index.narrowing import Filters
from afterword.index.query import parse, pattern
from afterword.store.fulltext import folded
from afterword.store.ledger import views
from afterword.store.ledger.items import State
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.sessions import Head

LIMIT = 5
_HITS = 400
_MOST_SESSIONS = 40
_MOST_STEPS = 6
_STEP_CHARS = 160
_SAID_CHARS = 400
_WORDS_OF_LINE = 12
_KEPT_WORDS = 6
_MOST_SENTENCES = 3
_EXPLAINS = 2.0
_MET = frozenset({Kind.OUTPUT, Kind.PROMPT, Kind.COMMAND, Kind.META})
_CHANGES = re.compile(r"\d|[0-9a-f]{6,}|[/\\]|^<.*>$", re.IGNORECASE)
"""What differs between two appearances of one error: numbers, addresses, paths."""


class Met(msgspec.Struct, frozen=True):
    """A session that met the error. `steps` are what was run and edited since it was seen last; `passed` is the command
    that had failed and then passed, `said` what the agent reported. Times are UTC microseconds."""

    session: Head
    time_us: int
    error: str
    command: str
    failures: int
    steps: tuple[str, ...]
    files: tuple[str, ...]
    passed: str
    said: str
    item: str
    written_in: tuple[str, str] | None


class Again(msgspec.Struct, frozen=True):
    """Sessions in which the error went away, those that say how first; `total` met it. `words` is what was looked for:
    the error as given, or what of it does not change from one time to the next."""

    sessions: list[Met]
    total: int
    words: str


def again(
    ledger: Ledger, state: Path, error: str, filters: Filters, *, now_us: int, limit: int = LIMIT, page: int = 1
) -> Again:
    """What was done about this error before; `limit` sessions a page.

    Raises:
        UsageError: there is no word in it.
    """
    parse(error)
    for words in attempts(error):
        answer = exact.search(ledger, state, words, filters, limit=_HITS, now_us=now_us)
        rows = list(dict.fromkeys(hit.session.row for hit in answer.hits if hit.kind in _MET))
        if rows:
            heads = {hit.session.row: hit.session for hit in answer.hits}
            lasting = _lasting(words) or words
            met = [one for row in rows[:_MOST_SESSIONS] if (one := _met(ledger, heads[row], lasting))]
            met.sort(key=lambda one: (not one.passed, not one.said, -one.time_us))
            return Again(met[(page - 1) * limit : page * limit], len(rows), words)
    return Again([], 0, error)


def attempts(error: str) -> Iterator[str]:
    """What to look for, the closest first: the text as it is, its most telling line, that line without what changes."""
    lines = [line for line in error.splitlines() if line.strip()]
    line = error_line([Passage("", Kind.OUTPUT, error, SaidBy.MACHINE)])[0] or max(lines, key=len, default=error)
    seen = set()
    lasting = _lasting(line)
    by_length = sorted(dict.fromkeys(re.findall(r"\w{4,}", lasting)), key=len, reverse=True)
    for words in (
        error if len(lines) == 1 else "",
        " ".join(line.replace('"', " ").split()[:_WORDS_OF_LINE]),
        lasting,
        " ".join(by_length[:_KEPT_WORDS]) if len(by_length) > 1 else "",
    ):
        if words and words not in seen and re.search(r"\w", words):
            seen.add(words)
            yield words


def _lasting(line: str) -> str:
    """The words of a line that stay the same from one time to the next."""
    words = [word for word in line.replace('"', " ").split() if not _CHANGES.search(word) and re.search(r"\w", word)]
    return " ".join(words[:_WORDS_OF_LINE])


def _met(ledger: Ledger, session: Head, words: str) -> Met | None:
    """How a session came past the error that these words stand for; None where it did not, or nothing was done."""
    items = [item for item in views.in_order(ledger, session.row) if item.state is State.LIVE]
    passages = [
        Passage(item.id.hex(), item.kind, item.text, item.said_by, item.path, item.exit_status) for item in items
    ]
    terms = parse(words)
    literals = [pattern(term) for term in terms if term.literal]
    tokens = {token for term in terms for token in term.tokens}

    def holds(text: str) -> bool:
        flat = folded(text)
        return all(token in flat for token in tokens) and all(literal.search(flat) for literal in literals)

    hits = [at for at, passage in enumerate(passages) if passage.kind in _MET and holds(passage.text)]
    if not hits:
        return None
    last = hits[-1]
    every = runs(passages)
    failing = _command_of(every, passages, last)
    passing = next(
        (run for run in every if failing and run.at > last and run.key == failing.key and not run.failed), None
    )
    end = passing.at if passing else _next_request(passages, last)
    between = passages[last + 1 : end]
    steps = tuple(dict.fromkeys(_step(p) for p in between if p.kind is Kind.COMMAND and not _failed(p)))
    files = tuple(dict.fromkeys(_short(p.path) for p in between if p.kind is Kind.EDIT and p.path))
    said = _said(passages, last, end, tokens)
    if passing is None and not (steps or files or said):
        return None
    shown = passages[last]
    return Met(
        session=session,
        time_us=items[last].time_us,
        error=cut(error_line([shown])[0] or _line_with(shown.text, tokens), _STEP_CHARS),
        command=cut(failing.command, _STEP_CHARS) if failing else "",
        failures=sum(run.failed is True and run.key == failing.key and run.at <= last for run in every)
        if failing
        else 0,
        steps=steps[-_MOST_STEPS:],
        files=files[:_MOST_STEPS],
        passed=cut(passing.command, _STEP_CHARS) if passing else "",
        said=said,
        item=shown.item,
        written_in=views.written_in(ledger, items[last].row),
    )


def _command_of(every: Sequence[Run], passages: Sequence[Passage], at: int) -> Run | None:
    """The run that printed what stands at `at`: the last one before it, unless somebody spoke in between."""
    before = [run for run in every if run.at <= at]
    if not before or any(p.kind is Kind.PROMPT for p in passages[before[-1].at : at + 1]):
        return None
    return before[-1]


def _next_request(passages: Sequence[Passage], at: int) -> int:
    return next((n for n in range(at + 1, len(passages)) if passages[n].kind is Kind.PROMPT), len(passages))


def _said(passages: Sequence[Passage], start: int, end: int, tokens: set[str]) -> str:
    """What the agent said of it before the next request: the sentences that explain or name the error, else how its
    last reply begins."""
    upto = _next_request(passages, max(start, end - 1))
    replies = [p.text for p in passages[start + 1 : upto] if p.kind is Kind.REPLY and p.said_by is not SaidBy.MACHINE]
    told = [one.text for text in replies for one in sentences(text) if is_prose(one.text)]
    telling = [text for text in dict.fromkeys(told) if _tells(text, tokens)]
    last = [one.text for one in sentences(replies[-1]) if is_prose(one.text)] if replies else []
    return cut(" ".join((telling or last)[-_MOST_SENTENCES:] if telling else last[:_MOST_SENTENCES]), _SAID_CHARS)


def _tells(text: str, tokens: set[str]) -> bool:
    weights = lexicon().weigh(text, person=False)
    if "chatter" in weights:
        return False
    held = sum(token in folded(text) for token in tokens)
    return weights.get("lesson", 0.0) >= _EXPLAINS or (len(tokens) > 1 and held * 2 >= len(tokens))


def _failed(command: Passage) -> bool:
    return command.exit_status not in (None, 0, "ok")


def _step(command: Passage) -> str:
    return cut(normal(command.text), _STEP_CHARS)


def _short(path: str) -> str:
    return "/".join(path.replace("\\", "/").rsplit("/", 2)[-2:]).lstrip("/")


def _line_with(text: str, tokens: set[str]) -> str:
    """The line of a text that holds most of the words."""
    return normal(max(text.splitlines() or [""], key=lambda line: sum(token in folded(line) for token in tokens)))


def as_json_fields(error: str, found: Again, origins: dict[int, tuple[str, str]]) -> dict[str, Any]:
    """The fields of `again --json`."""
    return {
        "error": error,
        "words": found.words,
        "total": found.total,
        "results": [
            {
                "id": one.item,
                "session": one.session.shown_native,
                "harness": one.session.harness,
                "project": one.session.facts.project,
                "title": one.session.facts.title or None,
                "origin": origins[one.session.origin][1],
                "time": format_rfc3339(one.time_us),
                "error": one.error,
                "command": one.command or None,
                "failures": one.failures,
                "steps": list(one.steps),
                "files": list(one.files),
                "passed": one.passed or None,
                "said": one.said or None,
                "path": one.written_in[0] if one.written_in else None,
                "block": one.written_in[1] if one.written_in else None,
            }
            for one in found.sessions
        ],
    }
