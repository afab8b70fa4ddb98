"""What can be wrong with a call, and what the server says about when to come back. Pure: no network, no clock."""

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from afterword.domain.errors import AfterwordError

Why: TypeAlias = Literal[
    "empty", "cut", "blocked", "schema", "unproved", "odd",
    "busy", "timeout", "unreachable", "quota", "key", "model-gone", "refused", "cap", "paused",
]  # fmt: skip

OF_THE_TEXT: Final = frozenset({"empty", "cut", "blocked", "schema", "unproved", "odd"})
"""Faults of one question: a smaller one may be answered."""
OF_ALL: Final = frozenset({"busy", "unreachable", "quota", "key", "model-gone", "timeout"})
"""Faults that every other question would meet as well, so none is asked for a while."""
AGAIN_AT_ONCE: Final = frozenset({"busy", "unreachable"})

_LONG_S: Final = 100.0
"""A server that wants to be left alone for longer is asked by a later run."""
_DELAY = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s")
_TOO_LONG = re.compile(r"token count|too many tokens|maximum number of tokens|payload size|too long", re.IGNORECASE)
_FINISHED: Final[dict[str, tuple[Why, str]]] = {
    "MAX_TOKENS": ("cut", "the answer was cut off at its greatest length"),
    "CONTINUATION": ("cut", "the answer was cut off at its greatest length"),
    "SAFETY": ("blocked", "the model's safety filter stopped the answer"),
    "RECITATION": ("blocked", "the model stopped because it repeated a source"),
    "BLOCKLIST": ("blocked", "a blocked term stopped the answer"),
    "PROHIBITED_CONTENT": ("blocked", "the model's safety filter stopped the answer"),
    "SPII": ("blocked", "the model saw personal data and stopped"),
    "LANGUAGE": ("blocked", "the model does not speak this language"),
    "MODEL_ARMOR": ("blocked", "a filter stopped the answer"),
}


class ModelFault(AfterwordError):
    """A model was asked and gave nothing that can be used; vault and state are as they were.

    `again_s` is how long the server wants to be left alone, None when it did not say; `tokens` (in, out) what it
    counted all the same; `reply` what it said.
    """

    kind = "model"

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        why: Why,
        again_s: float | None = None,
        tokens: tuple[int, int] | None = None,
        reply: str = "",
    ) -> None:
        super().__init__(message, hint)
        self.why: Why = why
        self.again_s = again_s
        self.tokens = tokens
        self.reply = reply


def of_finish(reason: str, *, tokens: tuple[int, int] | None, reply: str) -> ModelFault:
    """The fault that a finish reason other than STOP means."""
    why, said = _FINISHED.get(reason, ("odd", f"the model stopped with {reason or 'no reason'}"))
    return ModelFault(said, _hint(why), why=why, tokens=tokens, reply=reply)


def of_block(reason: str, *, tokens: tuple[int, int] | None) -> ModelFault:
    """The fault when the question itself was turned away."""
    return ModelFault(f"the model would not read it: {reason}", _hint("blocked"), why="blocked", tokens=tokens)


def _hint(why: Why) -> str:
    return 'with `[compile] engine = "extractive"` it is written up without a model' if why == "blocked" else ""


def of_status(code: int, details: Any, headers: Mapping[str, str], model: str) -> ModelFault:
    """The fault that an HTTP error of the API means; `details` is its JSON, if it has one."""
    error = details.get("error", details) if isinstance(details, dict) else {}
    error = error if isinstance(error, dict) else {}
    given = error.get("details")
    rows = [row for row in given if isinstance(row, dict)] if isinstance(given, list) else []
    said = str(error.get("message") or "")[:300]
    again_s = _retry_info(rows)
    if again_s is None:
        again_s = _retry_after(headers)
    reasons = {str(row.get("reason")) for row in rows}
    if code in (401, 403) or reasons & {"API_KEY_INVALID", "API_KEY_SERVICE_BLOCKED"}:
        return ModelFault(
            f"Gemini does not accept the key ({code}){f': {said}' if said else ''}",
            "put a valid key into GEMINI_API_KEY, or into the key file",
            why="key",
        )
    if code == 404:
        return ModelFault(
            f"Gemini has no model {model!r} (any more)",
            "set a current one: `afterword config set gemini.model gemini-3.8-flash`",
            why="model-gone",
        )
    if code == 429 and _for_the_day(rows):
        # A delay that comes with it is the minute's: it would be too short.
        return ModelFault("Gemini's quota for the day is used up", why="quota")
    if code == 429 and (again_s or 0) > _LONG_S:
        return ModelFault("Gemini's quota for the day is used up", why="quota", again_s=again_s)
    if code == 429:
        return ModelFault("Gemini's quota for the minute is used up", why="busy", again_s=again_s)
    if code in (408, 409, 500, 502, 503, 504):
        return ModelFault(f"Gemini is not available ({code}){f': {said}' if said else ''}", why="busy", again_s=again_s)
    if code in (400, 413) and (code == 413 or _TOO_LONG.search(said)):
        return ModelFault("the question is too long for the model", why="cut")
    return ModelFault(f"Gemini refused the question ({code}){f': {said}' if said else ''}", why="refused")


def delay_s(fault: ModelFault, tries: int) -> float | None:
    """How long to wait before the next try of the same call; None when this run asks no more."""
    if fault.why not in AGAIN_AT_ONCE:
        return None
    if fault.again_s is not None:
        return fault.again_s if fault.again_s <= _LONG_S else None
    return float(2**tries)


def _retry_info(rows: list[dict[str, Any]]) -> float | None:
    for row in rows:
        if str(row.get("@type", "")).endswith("google.rpc.RetryInfo"):
            found = _DELAY.fullmatch(str(row.get("retryDelay", "")))
            if found:
                return float(found[1])
    return None


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of a Retry-After, a number or a date beside the server's own."""
    given = {name.lower(): value for name, value in headers.items()}
    value = given.get("retry-after", "").strip()
    if not value:
        return None
    if value.isdigit():
        return float(value[:9])
    from email.utils import parsedate_to_datetime  # noqa: PLC0415  # rarely met

    try:
        then, now = parsedate_to_datetime(value), parsedate_to_datetime(given.get("date", ""))
    except ValueError:
        return None
    return max(0.0, (then - now).total_seconds())


def _for_the_day(rows: list[dict[str, Any]]) -> bool:
    broken = [
        violation
        for row in rows
        if str(row.get("@type", "")).endswith("google.rpc.QuotaFailure") and isinstance(row.get("violations"), list)
        for violation in row["violations"]
        if isinstance(violation, dict)
    ]
    words = [f"{each.get('quotaId', '')} {each.get('description', '')}".lower().replace(" ", "") for each in broken]
    return any("perday" in word or "daily" in word for word in words)
