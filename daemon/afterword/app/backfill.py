"""The past through Gemini: sections written up again, then their day compiled, oldest day first.

There is no list of what was done: what is left is read off the ledger, and every answer is kept there, so a kill
anywhere costs nothing twice. That a person asked for it is a small fact; while it stands, the daemon goes on by itself
with what a day's tokens, or a server, did not let through.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from afterword.capture.old_notes import OldNotes
from afterword.compile.engine import Engine, Waiting
from afterword.domain.clock import DAY_US, SECOND_US, format_rfc3339
from afterword.domain.errors import AfterwordError, UsageError, UserError
from afterword.store.ledger import backfill, compile_on, model_calls, segments, sessions
from afterword.store.ledger.backfill import Asked, Day

if TYPE_CHECKING:
    from afterword.app.passes import Tell
    from afterword.app.program import Program
    from afterword.store.ledger.ledger import Ledger

ENGINE: Final = "gemini"
_DAYS_AT_ONCE: Final = 20
"""So many days are compiled in one go: older days are folded under the newer ones once for all of them."""
_SIDE_BY_SIDE: Final = 2
_TOKEN_BYTES: Final = 3
_BESIDE_DIGEST: Final = 3_000
_BESIDE_COMPILE: Final = 9_000
"""Bytes that are sent beside a segment's items, and beside a day's sections."""
_DIGEST_TOKENS: Final = 900
_COMPILE_TOKENS: Final = 3_000
"""What an answer has, about."""
_LEASE_US: Final = 60 * SECOND_US
"""After how long without a word of it the daemon goes on with a backfill that a kill left."""
_AFTER_A_FAULT_US: Final = 3_600 * SECOND_US
_HALTING: Final = frozenset({"cap", "paused", "busy", "unreachable", "quota", "key", "model-gone", "timeout"})
"""Faults that the next question would meet as well."""


class Backfill(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the job is told. `begin` is a person's word; `go` does what is left and is queued again by itself; `end`
    forgets about the rest."""

    do: Literal["begin", "go", "end"] = "go"


class Notes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the job is told that takes in a folder of notes."""

    folder: str


class Estimate(msgspec.Struct, frozen=True):
    """What it would take, about."""

    days: int
    sections: int
    tokens_in: int
    tokens_out: int

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


def estimate(days: list[Day]) -> Estimate:
    """What it would take to write these days up with Gemini."""
    tokens_in = tokens_out = 0
    for day in days:
        tokens_in += sum((segment.chars + _BESIDE_DIGEST) // _TOKEN_BYTES for segment in day.segments)
        tokens_in += (day.digest_bytes + _BESIDE_COMPILE) // _TOKEN_BYTES
        tokens_out += len(day.segments) * _DIGEST_TOKENS + _COMPILE_TOKENS
    return Estimate(len(days), sum(len(day.segments) for day in days), tokens_in, tokens_out)


def left(ledger: "Ledger") -> list[Day]:
    """The days that Gemini has not written up yet, oldest first."""
    return backfill.left(ledger, ENGINE)


def due(program: "Program") -> bool:
    """Whether a backfill that stopped is to go on now. Asked by the daemon at every turn."""
    found = backfill.asked(program.ledger)
    return found is not None and found.until_us <= program.clock()


def take_notes(program: "Program", given: Notes, tell: "Tell", stop: Callable[[], bool]) -> dict[str, Any]:
    """Take in a folder of dated notes that we did not write, write them up and compile their days; the field `notes`
    of `backfill --json`.

    Raises:
        UsageError: there is no such folder.
    """
    root = Path(given.folder)
    if not root.is_dir():
        raise UsageError(f"there is no folder {given.folder}", "name the folder that holds the notes")
    reader = OldNotes(root, program.zones.start_of)
    done = program.capture.take_in(
        reader, root, on_progress=lambda now: tell("Reading", "notes", now.files_done, now.files_all, ""), stop=stop
    )
    program.text.catch_up(stop)
    rows = sessions.rows_of(program.ledger, reader.name)
    sections = program.flush.run(program.clock(), ended=rows, only=rows, stop=stop)
    compiled = program.compiling.run(
        _days_of_notes(program), on_progress=lambda n, every: tell("Compiling", "days", n, every, ""), stop=stop
    )
    program.ready.sync()
    return {
        "files": done.files,
        "read": done.read.files,
        "new": done.read.new_items,
        "problems": done.read.problems,
        "gone": done.gone,
        "ours": reader.ours,
        "undated": reader.undated,
        "sections": sections,
        "days": [day.day for day in compiled.days if day.state == "compiled"],
        "thin": [day.day for day in compiled.days if day.state == "skipped"],
    }


def _days_of_notes(program: "Program") -> list[str]:
    """The days on which there are such notes and something is new."""
    there = {record.day for _, record in segments.sections(program.ledger) if record.harness == OldNotes.name}
    return [day for day in program.compiling.days() if day in there]


def run(program: "Program", given: Backfill, tell: "Tell", stop: Callable[[], bool]) -> dict[str, Any]:
    """Begin, go on with, or end a backfill; the fields of `backfill --json` but for the estimate."""
    match given.do:
        case "begin":
            compile_on.must_be_here(program.ledger)
            program.engines.gemini()
            takes = estimate(left(program.ledger))
            _note(program, Asked(takes.sections, takes.days, program.clock() + _LEASE_US))
        case "end":
            _note(program, None)
        case "go":
            return _go(program, tell, stop)
    return {}


def _go(program: "Program", tell: "Tell", stop: Callable[[], bool]) -> dict[str, Any]:
    asked = backfill.asked(program.ledger)
    if asked is None:
        return _told(program, None, stopped=True)
    work = _Work(program, msgspec.structs.replace(asked, reason=""), tell, stop)
    try:
        work.all()
    except Waiting:
        if not stop():
            raise
    except AfterwordError:
        # Such as a key that is gone. The daemon tries again, but not in the next moment.
        if backfill.asked(program.ledger):
            work.note(until_us=program.clock() + _AFTER_A_FAULT_US)
        raise
    finally:
        program.ready.sync()
    return _told(program, work.asked, stopped=stop())


class _Work:
    """One go at what is left."""

    def __init__(self, program: "Program", asked: Asked, tell: "Tell", stop: Callable[[], bool]) -> None:
        self._program = program
        self._engine: Engine = program.engines.gemini()
        self._tell = tell
        self._stop = stop
        self.asked = asked
        self._tried = {subject for subject, _ in asked.failed}
        self._done = 0

    def all(self) -> None:
        """Do it, some days at a time."""
        self._program.engines.begin(self._stop)
        days = left(self._program.ledger)
        takes = estimate(days)
        self.note(sections=max(self.asked.sections, takes.sections), days=max(self.asked.days, takes.days))
        self._done = self.asked.sections + self.asked.days - takes.sections - takes.days
        todo = [day for day in days if not self._tried_in_vain(day)]
        for at in range(0, len(todo), _DAYS_AT_ONCE):
            if self._stop() or not self._days(todo[at : at + _DAYS_AT_ONCE]):
                return
        if not self._stop():
            _note(self._program, None)

    def note(self, **changed: Any) -> None:
        """Remember how far it is."""
        lease_us = self._program.clock() + _LEASE_US
        self.asked = msgspec.structs.replace(self.asked, **{"until_us": lease_us, **changed})
        _note(self._program, self.asked)

    def _tried_in_vain(self, day: Day) -> bool:
        """Whether all that is left of a day did not work out since a person asked."""
        return {*(segment.key for segment in day.segments), *([day.day] if day.articles else [])} <= self._tried

    def _days(self, days: list[Day]) -> bool:
        """Write some days up and compile them; False when it is to go on later."""
        if not self._sections(days) or self._stop():
            return False
        done = self._program.compiling.run(
            [day.day for day in days if day.day not in self._tried],
            again=True,
            choose=lambda _day, _before: self._engine,
            on_progress=self._compiling(days),
            stop=self._stop,
        )
        halted = next((day for day in done.days if day.why in _HALTING), None)
        self._failed(
            [
                (day.day, day.why or "odd")
                for day in done.days
                if day.state == "failed" and day is not halted and day.why not in _HALTING
            ]
        )
        if any(day.state == "waiting" for day in done.days):
            raise Waiting("a model has not answered yet")
        return halted is None or self._halt(halted.why, halted.reason)

    def _sections(self, days: list[Day]) -> bool:
        """Write up the segments of some days; False when it is to go on later. What fails keeps what stood."""
        made = 0
        waiting: list[Waiting] = []
        for key, day in [(segment.key, row.day) for row in days for segment in row.segments]:
            if self._stop() or len(waiting) >= _SIDE_BY_SIDE:
                break
            if key in self._tried:
                continue
            try:
                made += self._program.flush.rewrite(key, self._engine)
            except Waiting as err:
                waiting.append(err)
                continue
            except AfterwordError as err:
                why = getattr(err, "why", "odd")
                if why in _HALTING:
                    self._show(made)
                    return self._halt(why, err.message)
                self._failed([(key, why)])
            self._done += 1
            self._progress(day)
        self._show(made)
        if waiting:
            raise waiting[0]
        return True

    def _show(self, made: int) -> None:
        """Put what was written up into the vault."""
        if made and self._program.notes:
            self._program.notes.sync(stop=self._stop)

    def _failed(self, failed: list[tuple[str, str]]) -> None:
        if failed:
            self._tried |= {subject for subject, _ in failed}
            self.note(failed=(*self.asked.failed, *failed))

    def _halt(self, why: str, reason: str) -> bool:
        """Stop until the next day, or until the server may be asked again; False.

        Raises:
            UserError: it would never go on, because one question takes more than a day may.
        """
        program = self._program
        now_us = program.clock()
        today = program.zones.day(now_us)
        if why == "cap" and not model_calls.spent(program.ledger, today).tokens:
            _note(program, None)
            raise UserError(reason, "raise [gemini] daily_tokens, or make prompt_max smaller")
        tomorrow_us = program.zones.start_of(program.zones.day(now_us + DAY_US)) or now_us + DAY_US
        pause = model_calls.pause(program.ledger)
        until_us = tomorrow_us if why == "cap" or pause is None else pause.until_us
        self.note(until_us=max(until_us, now_us + SECOND_US), reason=reason)
        return False

    def _compiling(self, days: list[Day]) -> Callable[[int, int], None]:
        begun = self._done

        def progress(done: int, every: int) -> None:
            self._done = begun + done
            self._progress(days[min(done, len(days) - 1)].day if every else "")

        return progress

    def _progress(self, day: str) -> None:
        spent = model_calls.spent(self._program.ledger, self._program.zones.day(self._program.clock())).tokens
        steps = self.asked.sections + self.asked.days
        self._tell("Backfill", "steps", min(self._done, steps), steps, f"· {day} · {spent:,} tokens today")


def _note(program: "Program", what: Asked | None) -> None:
    backfill.note(program.ledger, program.redactor, what)


def _told(program: "Program", asked: Asked | None, *, stopped: bool) -> dict[str, Any]:
    days = left(program.ledger)
    rest = estimate(days)
    reasons = {call.subject: str(call.reason) for call in model_calls.failing(program.ledger, 0)}
    waits = asked is not None and bool(asked.reason)
    return {
        "sections": asked.sections - rest.sections if asked else 0,
        "compiled": asked.days - sum(day.articles for day in days) if asked else 0,
        "failed": [{"what": what, "reason": reasons.get(what) or why} for what, why in (asked.failed if asked else ())],
        "paused": {"until": format_rfc3339(asked.until_us), "reason": asked.reason} if asked and waits else None,
        "stopped": stopped,
        "left": {**msgspec.to_builtins(rest), "tokens": rest.tokens},
    }
