"""What an HTTP error of Gemini's means, and when to come back."""

import pytest
from gemini_server import error

from afterword.compile.gemini import faults

DATE = "Mon, 01 Jun 2026 10:00"
MINUTE = {"@type": "x/google.rpc.QuotaFailure", "violations": [{"quotaId": "RequestsPerMinutePerProject"}]}
DAY = {"@type": "x/google.rpc.QuotaFailure", "violations": [{"quotaId": "GenerateRequestsPerDayPerProject-FreeTier"}]}


def retry(delay: str) -> dict[str, str]:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


@pytest.mark.parametrize(
    ("code", "details", "headers", "why", "again_s"),
    [
        (429, [MINUTE, retry("47s")], {}, "busy", 47.0),
        (429, [retry("0.5s")], {}, "busy", 0.5),
        (429, [], {"Retry-After": "7"}, "busy", 7.0),
        (429, [retry("60ms")], {}, "busy", None),  # no form the API has: never taken for 60 seconds, nor for 60
        (429, [DAY, retry("31s")], {}, "quota", None),
        (429, [retry("36000s")], {}, "quota", 36_000.0),
        (503, [], {}, "busy", None),
        (503, [], {"retry-after": f"{DATE}:20 GMT", "date": f"{DATE}:00 GMT"}, "busy", 20.0),
        (503, [], {"retry-after": "whenever"}, "busy", None),
        (401, [], {}, "key", None),
        (400, [{"@type": "x/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}], {}, "key", None),
        (404, [], {}, "model-gone", None),
        (413, [], {}, "cut", None),
        (400, [], {}, "refused", None),
        (418, [], {}, "refused", None),
    ],
)  # fmt: skip
def test_what_a_status_means(
    code: int, details: list[dict[str, object]], headers: dict[str, str], why: str, again_s: float | None
) -> None:
    fault = faults.of_status(code, error(code, "X", "said", *details), headers, "gemini-0")
    assert (fault.why, fault.again_s) == (why, again_s)


@pytest.mark.parametrize(
    "details", [None, "<html>", [], {"error": "text"}, {"error": {"details": "x"}}, {"error": {"details": [1]}}]
)
def test_an_error_of_any_shape_is_an_error(details: object) -> None:
    assert faults.of_status(500, details, {}, "m").why == "busy"


def test_a_retired_model_is_named_with_the_fix() -> None:
    fault = faults.of_status(404, error(404, "NOT_FOUND", "x"), {}, "gemini-0")
    assert "gemini-0" in fault.message
    assert "config set gemini.model" in fault.hint


def test_how_long_it_is_waited() -> None:
    def delay(code: int, tries: int, *details: dict[str, str]) -> float | None:
        return faults.delay_s(faults.of_status(code, error(code, "X", "", *details), {}, "m"), tries)

    assert delay(429, 1, retry("47s")) == 47.0
    assert [delay(503, tries) for tries in (1, 2, 3)] == [2.0, 4.0, 8.0]
    assert delay(429, 1, DAY) is None
    assert delay(429, 1, retry("101s")) is None
    assert delay(400, 1) is None
    assert delay(404, 1) is None
