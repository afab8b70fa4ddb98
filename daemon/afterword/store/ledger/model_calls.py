"""Rows of the `model_call` table: what a paid model was asked, what it answered, and what that cost.

A call is noted before it is made and its answer before it is used, so that a kill between the two costs nothing again,
and a kill in the midst of a call is booked at the most it can have cost.
"""

import json
from typing import Any, Final, Literal, TypeAlias

import msgspec

from afterword.redact.redactor import Redactor
from afterword.redact.text import EMPTY, Redacted
from afterword.store import faults
from afterword.store.ledger.ledger import Ledger, pack, unpack

State: TypeAlias = Literal["asked", "answered", "failed"]

PAUSE: Final = "model_pause"
"""The small fact that no call is made for now: `Pause` as JSON, or nothing."""


class Call(msgspec.Struct, frozen=True):
    """A call. `why` is a word for a failure, `reason` its sentence; a reply is there as long as it is kept."""

    row: int
    key: str
    step: str
    subject: str
    model: str
    version: int
    state: State
    why: str
    reason: str
    again_us: int
    at_us: int
    reply: Redacted


class Kept(msgspec.Struct, frozen=True):
    """A call as it is looked into later. Request and reply are empty when they are not kept any more; `estimated`:
    the tokens are the most it can have cost."""

    model: str
    version: int
    state: State
    reason: Redacted
    at_us: int
    took_ms: int
    tokens_in: int
    tokens_out: int
    estimated: bool
    request: Redacted
    reply: Redacted


class Spend(msgspec.Struct, frozen=True):
    """Tokens of a day, those of calls under way at their most."""

    calls: int
    failed: int
    tokens_in: int
    tokens_out: int

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


class Pause(msgspec.Struct, frozen=True):
    """Nobody is asked before `until_us`, unless a person wants it. `times`: how often it failed in a row."""

    until_us: int
    reason: str
    why: str
    times: int = 1


_COLUMNS = "row, key, step, subject, model, version, state, why, reason, again_us, at_us, reply, reply_packed"


def begin(
    ledger: Ledger,
    *,
    key: str,
    step: str,
    subject: str,
    model: str,
    version: int,
    estimate: tuple[int, int],
    day: str,
    now_us: int,
    request: Redacted,
) -> int:
    """Note a call that is about to be made, with the most it can cost (tokens in, out); its row."""
    blob, packed = pack(request)
    with ledger.transaction(durable=True):
        row = ledger.db.execute(
            "INSERT INTO model_call (key, step, subject, model, version, state, tokens_in, tokens_out, day, at_us,"
            " request, request_packed) VALUES (?, ?, ?, ?, ?, 'asked', ?, ?, ?, ?, ?, ?)",
            (key, step, subject, model, version, *estimate, day, now_us, blob, packed),
        ).lastrowid
    assert row is not None
    faults.hit("model.asked")
    return row


def end(
    ledger: Ledger,
    row: int,
    state: State,
    *,
    reply: Redacted,
    tokens: tuple[int, int] | None,
    took_ms: int,
    why: str = "",
    reason: Redacted = EMPTY,
    again_us: int = 0,
) -> None:
    """Note what became of a call; `tokens` (in, out) as the server counted them, None where it did not say.

    Of a call whose request was emptied while it was under way no text is kept: what it tells of may be forgotten.
    """
    with ledger.transaction(durable=True):
        asked = ledger.db.execute("SELECT request FROM model_call WHERE row = ?", (row,)).fetchone()
        if reply and not asked[0]:
            reply = reason = EMPTY
        blob, packed = pack(reply)
        ledger.db.execute(
            "UPDATE model_call SET state = ?, why = ?, reason = ?, again_us = ?, took_ms = ?, reply = ?,"
            " reply_packed = ? WHERE row = ?",
            (state, why, reason, again_us, took_ms, blob, packed, row),
        )
        if tokens is not None:
            ledger.db.execute(
                "UPDATE model_call SET tokens_in = ?, tokens_out = ?, estimated = 0 WHERE row = ?", (*tokens, row)
            )
    faults.hit("model.answered")


def reject(ledger: Ledger, step: str, subject: str, *, why: str, reason: Redacted, again_us: int) -> None:
    """What was answered about a subject proved to be no good: it is asked again, not before `again_us`."""
    with ledger.transaction():
        ledger.db.execute(
            "UPDATE model_call SET state = 'failed', why = ?, reason = ?, again_us = ?"
            " WHERE step = ? AND subject = ? AND state = 'answered'",
            (why, reason, again_us, step, subject),
        )


def newest(ledger: Ledger) -> int:
    """The row of the newest call; 0 when there is none."""
    found: int = ledger.db.execute("SELECT coalesce(max(row), 0) FROM model_call").fetchone()[0]
    return found


def set_aside(ledger: Ledger, step: str, subject: str, upto: int) -> None:
    """What was answered about a subject up to this row is not to be used again: a person wants it asked anew."""
    with ledger.transaction():
        ledger.db.execute(
            "UPDATE model_call SET state = 'failed', why = 'redone', reason = 'asked anew' WHERE step = ?"
            " AND subject = ? AND state = 'answered' AND row <= ?",
            (step, subject, upto),
        )


def last(ledger: Ledger, key: str) -> Call | None:
    """The last call that asked this and came to an end."""
    found = ledger.db.execute(
        f"SELECT {_COLUMNS} FROM model_call WHERE key = ? AND state != 'asked' ORDER BY row DESC LIMIT 1", (key,)
    ).fetchone()
    return _call(found) if found else None


def _call(found: tuple[Any, ...]) -> Call:
    *fields, reply, packed = found
    named = dict(zip(Call.__struct_fields__, fields, strict=False))
    return Call(**named, reply=unpack(reply, packed))


def about(ledger: Ledger, step: str, subject: str) -> list[Kept]:
    """Every call about a segment or day, in order."""
    rows = ledger.db.execute(
        "SELECT model, version, state, reason, at_us, took_ms, tokens_in, tokens_out, estimated, request,"
        " request_packed, reply, reply_packed FROM model_call WHERE step = ? AND subject = ? ORDER BY row",
        (step, subject),
    )
    return [_kept(found) for found in rows]


def _kept(found: tuple[Any, ...]) -> Kept:
    *fields, request, packed, reply, reply_packed = found
    named = dict(zip(Kept.__struct_fields__, fields, strict=False))
    return Kept(**named, request=unpack(request, packed), reply=unpack(reply, reply_packed))


def failures(ledger: Ledger, key: str) -> int:
    """How often this failed since it was answered last."""
    count: int = ledger.db.execute(
        "SELECT count(*) FROM model_call WHERE key = ? AND state = 'failed' AND row >"
        " (SELECT coalesce(max(row), 0) FROM model_call WHERE key = ? AND state = 'answered')",
        (key, key),
    ).fetchone()[0]
    return count


def failing(ledger: Ledger, since_us: int) -> list[Call]:
    """What failed the last time it was asked for, by step and subject."""
    rows = ledger.db.execute(
        f"SELECT {_COLUMNS} FROM model_call WHERE state = 'failed' AND at_us >= ? AND row IN"
        " (SELECT max(row) FROM model_call GROUP BY step, subject) ORDER BY step, subject",
        (since_us,),
    )
    return [_call(found) for found in rows]


def spent(ledger: Ledger, day: str | None = None) -> Spend:
    """What a day's calls cost, or all calls there ever were."""
    found = ledger.db.execute(
        "SELECT count(*), coalesce(sum(state = 'failed'), 0), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0)"
        " FROM model_call WHERE day = ? OR ? IS NULL",
        (day, day),
    ).fetchone()
    return Spend(*found)


def by_day(ledger: Ledger) -> list[tuple[str, int, int, int]]:
    """(day, tokens in, tokens out, calls) of every day on which a call was made, in order."""
    return ledger.db.execute(
        "SELECT day, sum(tokens_in), sum(tokens_out), count(*) FROM model_call GROUP BY day ORDER BY day"
    ).fetchall()


def empty_old(ledger: Ledger, before_us: int) -> None:
    """Empty the texts of calls made before then; what they cost stays."""
    with ledger.transaction():
        ledger.db.execute(
            "UPDATE model_call SET request = x'', reply = x'', request_packed = 0, reply_packed = 0"
            " WHERE at_us < ? AND (request != x'' OR reply != x'')",
            (before_us,),
        )


def rewrite(ledger: Ledger, row: int, request: Redacted, reply: Redacted, reason: Redacted) -> None:
    """Put texts in place of a call's; inside a transaction."""
    ledger.db.execute(
        "UPDATE model_call SET request = ?, request_packed = ?, reply = ?, reply_packed = ?, reason = ? WHERE row = ?",
        (*pack(request), *pack(reply), reason, row),
    )


def clean(redactor: Redactor, text: str) -> Redacted:
    """A reply, redacted: one in JSON stays JSON."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return redactor.redact(text)
    return redactor.document(value, plain=("items", "section", "kind"))


def pause(ledger: Ledger) -> Pause | None:
    """Until when nobody is asked, if so."""
    found = ledger.meta(PAUSE)
    return msgspec.json.decode(found.encode(), type=Pause) if isinstance(found, str) and found else None


def set_pause(ledger: Ledger, redactor: Redactor, what: Pause | None) -> None:
    """Pause, or end a pause."""
    if what is None and not ledger.meta(PAUSE):
        return
    with ledger.transaction():
        ledger.set_meta(PAUSE, "" if what is None else redactor.document(msgspec.to_builtins(what), plain=("why",)))
