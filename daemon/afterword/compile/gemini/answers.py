"""Questions and their answers, kept in the ledger: what was paid for is not paid for again.

All of it belongs to one thread, the loop's or a command's; only the calls themselves run elsewhere. A command waits for
its answers. The daemon does not: it is told `Waiting`, goes on, and asks again when `take` has put an answer into the
ledger.
"""

import datetime as dt
import hashlib
import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import Final, TypeAlias
from zoneinfo import ZoneInfo

import msgspec

from afterword.compile.engine import Waiting
from afterword.compile.gemini.faults import OF_ALL, OF_THE_TEXT, ModelFault
from afterword.compile.gemini.transport import Reply, Request, Transport
from afterword.domain.clock import SECOND_US, Clock, Zones
from afterword.redact.exits import leave
from afterword.redact.redactor import Redactor
from afterword.redact.text import EMPTY
from afterword.store.ledger import model_calls
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.model_calls import Pause

_log = logging.getLogger(__name__)

_AT_ONCE: Final = 2
_LOOK_S: Final = 0.2
_AGAIN_US: Final = 600 * SECOND_US
_AGAIN_MAX_US: Final = 24 * 3600 * SECOND_US
_QUOTA_ZONE: Final = "America/Los_Angeles"
"""Where Gemini's days begin."""


class Question(msgspec.Struct, frozen=True):
    """What is asked, about what (`subject`, a segment or a day), and how an answer is told from nonsense: `check`
    raises ModelFault. `made_of` says which content it is about: the same again is the same question, whatever else the
    request tells the model. `divisible`: smaller questions can be asked in its place."""

    step: str
    subject: str
    made_of: bytes
    version: int
    request: Request
    check: Callable[[str], object]
    divisible: bool

    @property
    def key(self) -> str:
        said = (self.step, self.subject, self.made_of.hex(), self.version, self.request.model)
        return hashlib.blake2b(msgspec.json.encode(said), digest_size=16).hexdigest()


_Came: TypeAlias = tuple[int, "Question", Reply | ModelFault, int]


class Answers:
    """The kept answers, the calls under way, and the limits of what may be spent."""

    def __init__(
        self,
        ledger: Ledger,
        redactor: Redactor,
        transport: Transport,
        clock: Clock,
        zones: Zones,
        *,
        daily_tokens: int,
        keep_us: int,
    ) -> None:
        self._ledger = ledger
        self._redactor = redactor
        self._transport = transport
        self._clock = clock
        self._zones = zones
        self._daily_tokens = daily_tokens
        self._keep_us = keep_us
        self._came: queue.SimpleQueue[_Came] = queue.SimpleQueue()
        self._under_way: dict[str, int] = {}
        self._paused = False
        """Whether this run met a fault that all further questions would meet."""
        self.wake: Callable[[], None] | None = None
        """Called by another thread when an answer came; None where answers are waited for."""
        self._stop: Callable[[], bool] = lambda: False

    def begin(self, stop: Callable[[], bool]) -> None:
        """A run begins; `stop` is asked while an answer is waited for."""
        self._stop = stop
        self._paused = False

    def get(self, question: Question) -> str:
        """The answer, redacted; from the ledger, or asked for now.

        Raises:
            Waiting: it was asked for and is not there yet.
            ModelFault: it cannot be had now. Where the question is divisible and it is its own fault, smaller ones are
                to be asked.
        """
        kept = model_calls.last(self._ledger, question.key)
        now_us = self._clock()
        if kept is not None and kept.state == "answered" and kept.reply:
            return str(kept.reply)
        if kept is not None and kept.state == "failed":
            failed = ModelFault(str(kept.reason), why=kept.why)  # type: ignore[arg-type]  # a word we stored
            if question.divisible and kept.why in OF_THE_TEXT:
                raise failed
            if self.wake is not None and now_us < kept.again_us:
                raise failed
        if question.key in self._under_way:
            raise Waiting("the model is at it")
        self._may_ask(question, now_us)
        if self.wake is not None and len(self._under_way) >= _AT_ONCE:
            raise Waiting("the model is at something else")
        self._begin(question, now_us)
        if self.wake is not None:
            raise Waiting("the model was asked")
        while question.key in self._under_way:
            if self._stop():
                raise Waiting("stopped while the model was at it")
            self._take_one(_LOOK_S)
        kept = model_calls.last(self._ledger, question.key)
        if kept is None or kept.state != "answered":
            raise ModelFault(str(kept.reason) if kept else "no answer", why=kept.why if kept else "odd")  # type: ignore[arg-type]
        return str(kept.reply)

    def take(self) -> int:
        """Put the answers that came into the ledger; how many."""
        taken = 0
        while self._take_one(0.0):
            taken += 1
        return taken

    def reject(self, step: str, subject: str, reason: str) -> ModelFault:
        """What was answered about a subject proved to be no good; the fault to raise."""
        said = self._redactor.redact(reason)
        model_calls.reject(self._ledger, step, subject, why="unproved", reason=said, again_us=self._clock() + _AGAIN_US)
        return ModelFault(str(said), why="unproved")

    def room(self, tokens: int) -> bool:
        """Whether a call of so many tokens may be made today."""
        return model_calls.spent(self._ledger, self._today()).tokens + tokens <= self._daily_tokens

    def _today(self) -> str:
        return self._zones.day(self._clock())

    def _may_ask(self, question: Question, now_us: int) -> None:
        estimate = sum(question.request.estimate)
        if not self.room(estimate):
            spent = model_calls.spent(self._ledger, self._today()).tokens
            raise ModelFault(
                f"the day's tokens are spent: {spent:,} of {self._daily_tokens:,}, and this could take {estimate:,}",
                "raise [gemini] daily_tokens, or wait for tomorrow",
                why="cap",
            )
        pause = model_calls.pause(self._ledger)
        if pause is not None and now_us < pause.until_us and (self.wake is not None or self._paused):
            raise ModelFault(pause.reason, why="paused")

    def _begin(self, question: Question, now_us: int) -> None:
        """Note the call, then make it in a thread of its own."""
        request = msgspec.structs.replace(
            question.request, text=str(leave("model-request", question.request.text, self._redactor))
        )
        row = model_calls.begin(
            self._ledger,
            key=question.key,
            step=question.step,
            subject=question.subject,
            model=request.model,
            version=question.version,
            estimate=request.estimate,
            day=self._today(),
            now_us=now_us,
            request=self._redactor.redact(f"{request.system}\n\n{request.text}"),
        )
        self._under_way[question.key] = row

        def call() -> None:
            begun = time.monotonic()
            try:
                found: Reply | ModelFault = self._transport.ask(request)
            except ModelFault as fault:
                found = fault
            except Exception as err:  # noqa: BLE001  # whatever it is, somebody waits for the end of it
                found = ModelFault(f"the call broke ({type(err).__name__})", why="odd")
            self._came.put((row, question, found, int((time.monotonic() - begun) * 1000)))
            if self.wake is not None:
                self.wake()

        threading.Thread(target=call, name="gemini-call", daemon=True).start()

    def _take_one(self, timeout_s: float) -> bool:
        try:
            row, question, found, took_ms = self._came.get(timeout=timeout_s) if timeout_s else self._came.get_nowait()
        except queue.Empty:
            return False
        self._under_way.pop(question.key, None)
        tokens, said = found.tokens, found.text if isinstance(found, Reply) else found.reply
        if isinstance(found, Reply):
            try:
                said = str(model_calls.clean(self._redactor, said))
                question.check(said)
            except ModelFault as fault:
                found = fault
        reply = model_calls.clean(self._redactor, said)
        if isinstance(found, Reply):
            model_calls.end(self._ledger, row, "answered", reply=reply, tokens=tokens, took_ms=took_ms)
            model_calls.set_pause(self._ledger, self._redactor, None)
            model_calls.empty_old(self._ledger, self._clock() - self._keep_us)
            return True
        _log.warning("a model gave nothing that can be used", extra={"step": question.step, "why": found.why})
        times = model_calls.failures(self._ledger, question.key) + 1
        model_calls.end(
            self._ledger,
            row,
            "failed",
            reply=reply if said else EMPTY,
            tokens=tokens or ((0, 0) if _unread(found) else None),
            took_ms=took_ms,
            why=found.why,
            reason=self._redactor.redact(". ".join(filter(None, (found.message, found.hint)))),
            again_us=self._clock() + min(_AGAIN_MAX_US, _AGAIN_US << min(times - 1, 10)),
        )
        if found.why in OF_ALL:
            self._pause(found)
        return True

    def _pause(self, fault: ModelFault) -> None:
        """Ask nobody for a while: as long as the server said, until its next day, or longer each time."""
        self._paused = True
        before = model_calls.pause(self._ledger)
        times = before.times + 1 if before else 1
        now_us = self._clock()
        if fault.why == "quota" and fault.again_s is None:
            until_us = _next_midnight_us(now_us)
        elif fault.again_s is not None:
            until_us = now_us + int(fault.again_s * SECOND_US)
        else:
            until_us = now_us + min(_AGAIN_MAX_US, _AGAIN_US << min(times - 1, 10))
        reason = ". ".join(filter(None, (fault.message, fault.hint)))
        model_calls.set_pause(self._ledger, self._redactor, Pause(until_us, reason, fault.why, times))


def _unread(fault: ModelFault) -> bool:
    """Whether the server did nothing for it, so that it cost nothing."""
    return fault.why in ("busy", "quota", "key", "model-gone", "refused")


def _next_midnight_us(now_us: int) -> int:
    there = dt.datetime.fromtimestamp(now_us / 1e6, ZoneInfo(_QUOTA_ZONE))
    then = (there + dt.timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return int(then.timestamp() * SECOND_US)
