"""What makes vectors, as the settings want it: the local model, or Gemini with its calls booked under the daily cap."""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from afterword.app.config import Config
from afterword.app.spending import KEY_FILE, VARIABLES, Found, way
from afterword.compile.gemini.faults import ModelFault
from afterword.domain.clock import Clock, Zones
from afterword.domain.errors import AfterwordError, UserError
from afterword.index.standing import signature_of
from afterword.redact.exits import leave
from afterword.redact.redactor import Redactor
from afterword.redact.text import EMPTY
from afterword.store.ledger import model_calls
from afterword.store.ledger.ledger import Ledger
from afterword.store.privacy import private_file

if TYPE_CHECKING:
    from afterword.index.embedder import Embedder
    from afterword.index.remote import Purse, Service

QUESTIONS: Final = "questions.db"
STEP: Final = "embed"
_SUBJECT: Final = "the index"
_VERSION: Final = 1
_QUESTION_S: Final = 5.0
_BATCH_S: Final = 60.0


def local(state: Path) -> "Embedder":
    """The local model, loaded when it is first used. `state` is the state folder."""
    from afterword.index.embedder import LocalEmbedder  # noqa: PLC0415  # numpy

    return LocalEmbedder(state)


def minilm(local: "Embedder") -> "Embedder":
    """The local model with MiniLM beside it.

    Raises:
        UserError: it is not installed.
    """
    from afterword.index.minilm import MiniLMEmbedder, check  # noqa: PLC0415  # numpy

    check()
    return MiniLMEmbedder(local)


def for_index(
    config: Config, env: Mapping[str, str], ledger: Ledger, redactor: Redactor, clock: Clock, zones: Zones
) -> "Embedder":
    """What a writer embeds with where that is a service.

    Raises:
        UserError: there is no way to it.
    """
    purse = LedgerPurse(config, ledger, redactor, clock, zones)
    return _gemini(config, env, redactor, purse, _BATCH_S, time.sleep)


def for_questions(
    config: Config,
    env: Mapping[str, str],
    redactor: Redactor,
    clock: Clock,
    day: Callable[[int], str],
    booked: Callable[[str], int],
) -> "Embedder":
    """What a reader, who holds no lock, embeds questions with. `booked`: the tokens of a day in the ledger.

    Raises:
        UserError: it is Gemini, and there is no way to it, or a model that is not installed.
    """
    wanted = config.settings.index.embedder
    if wanted != "gemini":
        model = local(config.places.state)
        return minilm(model) if wanted == "minilm" else model
    purse = QuestionPurse(config, clock, day, booked)
    return _gemini(config, env, redactor, purse, _QUESTION_S, lambda _s: None)


def _gemini(
    config: Config,
    env: Mapping[str, str],
    redactor: Redactor,
    purse: "Purse",
    deadline_s: float,
    sleep: Callable[[float], None],
) -> "Embedder":
    from afterword.index.remote import RemoteEmbedder  # noqa: PLC0415  # numpy

    wanted = config.settings.index
    found = way(config, env)
    if not found.there:
        raise UserError(
            f'[index] embedder is "gemini", and there is no key{f" ({found.problem})" if found.problem else ""}',
            f"set {VARIABLES[0]}, write the key alone into {KEY_FILE} with mode 600, or set index.embedder to local",
        )
    return RemoteEmbedder(
        signature_of(wanted),
        wanted.gemini_dim,
        wanted.gemini_batch,
        _service(config, found, deadline_s, sleep),
        purse,
        lambda text: str(leave("model-request", text, redactor)),
    )


def _service(config: Config, found: Found, deadline_s: float, sleep: Callable[[float], None]) -> "Service":
    from afterword.compile.gemini.embedding import vectors  # noqa: PLC0415  # where vectors are asked for only
    from afterword.compile.gemini.transport import Transport, Way  # noqa: PLC0415

    wanted = config.settings.index
    transport = Transport(Way(found.key, found.base_url, found.project, found.location), deadline_s, sleep)

    def ask(texts: Sequence[str], *, question: bool) -> tuple[Sequence[Sequence[float]], int | None]:
        made = vectors(transport, wanted.gemini_model, wanted.gemini_dim, texts, question=question)
        return made.rows, made.tokens

    return ask


class LedgerPurse:
    """Calls as rows of the ledger, beside those of compile and under the same cap. No text of them is kept."""

    def __init__(self, config: Config, ledger: Ledger, redactor: Redactor, clock: Clock, zones: Zones) -> None:
        self._model = config.settings.index.gemini_model
        self._cap = config.settings.gemini.daily_tokens
        self._ledger = ledger
        self._redactor = redactor
        self._clock = clock
        self._zones = zones
        self._begun_s: dict[int, float] = {}
        self._questions = QuestionPurse(config, clock, zones.day, lambda _day: 0)

    def begin(self, tokens: int) -> int:
        now_us = self._clock()
        day = self._zones.day(now_us)
        self._take_over(day, now_us)
        _within(self._cap, model_calls.spent(self._ledger, day).tokens, tokens)
        row = self._row(day, now_us, tokens)
        self._begun_s[row] = time.monotonic()
        return row

    def end(self, number: int, tokens: int | None, fault: AfterwordError | None) -> None:
        took_ms = int((time.monotonic() - self._begun_s.pop(number)) * 1000)
        said = ". ".join(filter(None, (fault.message, fault.hint))) if fault else ""
        counted = None if tokens is None else (tokens, 0)
        if isinstance(fault, ModelFault):
            free = fault.why in ("busy", "quota", "key", "model-gone", "refused")
            counted = fault.tokens or ((0, 0) if free else None)
        model_calls.end(
            self._ledger,
            number,
            "failed" if fault else "answered",
            reply=EMPTY,
            tokens=counted,
            took_ms=took_ms,
            why=fault.why if isinstance(fault, ModelFault) else "",
            reason=self._redactor.redact(said),
        )

    def _row(self, day: str, now_us: int, tokens: int) -> int:
        return model_calls.begin(
            self._ledger,
            key=f"{STEP} {now_us}",
            step=STEP,
            subject=_SUBJECT,
            model=self._model,
            version=_VERSION,
            estimate=(tokens, 0),
            day=day,
            now_us=now_us,
            request=EMPTY,
        )

    def _take_over(self, day: str, now_us: int) -> None:
        """Book what readers asked meanwhile."""
        for tokens in self._questions.emptied():
            row = self._row(day, now_us, tokens)
            model_calls.end(self._ledger, row, "answered", reply=EMPTY, tokens=(tokens, 0), took_ms=0)


class QuestionPurse:
    """What questions cost, in a file of its own, because who asks them holds no lock: numbers only. The writer books it
    in the ledger with its next call."""

    def __init__(self, config: Config, clock: Clock, day: Callable[[int], str], booked: Callable[[str], int]) -> None:
        self._booked = booked
        self._path = config.places.state / QUESTIONS
        self._cap = config.settings.gemini.daily_tokens
        self._clock = clock
        self._day = day
        self._turn = threading.Lock()

    def begin(self, tokens: int) -> int:
        day = self._day(self._clock())
        with self._turn, _opened(self._path) as db:
            spent = db.execute("SELECT coalesce(sum(tokens), 0) FROM question WHERE day = ?", (day,)).fetchone()[0]
            _within(self._cap, spent + self._booked(day), tokens)
            row = db.execute("INSERT INTO question (day, tokens) VALUES (?, ?)", (day, tokens)).lastrowid
            db.commit()
        assert row is not None
        return row

    def end(self, number: int, tokens: int | None, fault: AfterwordError | None) -> None:
        if tokens is None and not fault:
            return
        with self._turn, _opened(self._path) as db:
            db.execute("UPDATE question SET tokens = ? WHERE row = ?", (tokens or 0, number))
            db.commit()

    def emptied(self) -> list[int]:
        """What was spent, by day, once: it is taken out here."""
        if not self._path.exists():
            return []
        with self._turn, _opened(self._path) as db:
            found = db.execute("SELECT sum(tokens) FROM question GROUP BY day HAVING sum(tokens) > 0").fetchall()
            db.execute("DELETE FROM question")
            db.commit()
        return [tokens for (tokens,) in found]


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """The file, closed after the block."""
    db = sqlite3.connect(private_file(path), timeout=5)
    try:
        db.execute("CREATE TABLE IF NOT EXISTS question (row INTEGER PRIMARY KEY, day TEXT, tokens INTEGER)")
        yield db
    finally:
        db.close()


def _within(cap: int, spent: int, tokens: int) -> None:
    if spent + tokens > cap:
        raise ModelFault(
            f"the day's tokens are spent: {spent:,} of {cap:,}, and these vectors could take {tokens:,}",
            "raise [gemini] daily_tokens, or wait for tomorrow",
            why="cap",
        )
