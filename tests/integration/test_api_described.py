"""The API against its own description: whatever fits the description is answered, whatever does not is refused, and
nothing that is asked is a bug or comes back unredacted."""

import json
import os
from collections.abc import Iterator

import pytest
import schemathesis
from house import House
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from afterword.serve.openapi import described
from afterword.serve.routes_editor import ROUTES

EXAMPLES = int(os.environ.get("AFTERWORD_TEST_API_EXAMPLES", "12"))
"""For each of the paths."""
KNOWN = {200, 400, 401, 403, 404, 405, 409, 411, 413, 415, 429, 503}
SKIPPED = ("/v1/sync", "/v1/events")
"""One waits for the loop, which a house has not; the other never ends."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    made = House(tmp_path_factory.mktemp("house"), AFTERWORD_INDEX_EMBEDDER="off")
    yield made
    made.close()


def test_the_description_is_served_and_whole(house: House) -> None:
    status, said = house.ask("GET", "/v1/openapi.json")
    assert status == 200
    assert said["openapi"].startswith("3.1")
    assert {(m.upper(), p) for p, row in said["paths"].items() for m in row} == {(r.method, r.path) for r in ROUTES}
    for row in said["paths"].values():
        for operation in row.values():
            assert operation["summary"]
    assert json.loads(json.dumps(described())) == {k: v for k, v in said.items() if k != "version"}


@pytest.mark.parametrize("route", [r for r in ROUTES if r.path not in SKIPPED], ids=lambda r: f"{r.method} {r.path}")
def test_what_is_described_is_what_is_answered(house: House, route: object) -> None:
    schema = schemathesis.openapi.from_dict(described())
    schema.config.update(base_url=f"http://127.0.0.1:{house.door.port}")
    operation = schema[route.path][route.method]  # type: ignore[attr-defined]
    seen: set[int] = set()

    @settings(
        max_examples=EXAMPLES, deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=operation.as_strategy())
    def ask(case: schemathesis.Case) -> None:
        answer = case.call(headers={"Authorization": f"Bearer {house.token}"}, timeout=20)
        seen.add(answer.status_code)
        assert answer.status_code in KNOWN, answer.text
        assert answer.headers["x-content-type-options"] == ["nosniff"]
        if answer.headers["content-type"] == ["application/json"]:
            said = answer.json()
            assert said["version"] == 1
            assert (answer.status_code == 200) is ("error" not in said), said
            if "error" in said:
                assert set(said["error"]) == {"kind", "message", "hint", "code"}
                assert said["error"]["message"]

    ask()
    # Strangers are few at a time, and other tests are, too.
    assert seen - ({429} if route.scope else set())  # type: ignore[attr-defined]


@given(
    body=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
        max_leaves=8,
    )
)
@settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
def test_any_json_is_answered_in_words(house: House, body: object) -> None:
    for path in ("/v1/search", "/v1/related", "/v1/open", "/v1/hello"):
        status, said = house.ask("POST", path, json.dumps(body).encode())
        assert status in KNOWN, said


@pytest.mark.parametrize(
    "text", ["\x00", "a\x00b", "\udcff", "\u202e", "ﷺ" * 500, "\ufeff", '"', "*", "NEAR(", "a AND", "%", "\\", "🏳️‍🌈"]
)
def test_odd_words_are_no_bug(house: House, text: str) -> None:
    for path, body in (
        ("/v1/search", {"query": text}), ("/v1/search", {"query": "x", "project": text}),
        ("/v1/related", {"path": text, "text": text}), ("/v1/open", {"result": text}),
        ("/v1/retract", {"what": text, "reason": text}), ("/v1/restore", {"what": text}), ("/v1/useful", {"id": text}),
    ):  # fmt: skip
        status, said = house.ask("POST", path, json.dumps(body).encode())
        assert status in KNOWN, said
    assert house.ask("GET", "/v1/show/%00%ff%2f..%2f")[0] in (404, 400)
    assert house.ask("GET", "/v1/jobs/%F0%9F/events")[0] in (404, 400)
    assert house.ask("GET", "/v1/jobs/x/events?" + "&".join(f"a{n}=1" for n in range(50)))[0] == 400
