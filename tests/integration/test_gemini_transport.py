"""The way to Gemini and back, over real HTTP on loopback: what is an answer, what is tried again, what is given up."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from gemini_server import GeminiServer

from afterword.compile.gemini import digests
from afterword.compile.gemini.faults import ModelFault
from afterword.compile.gemini.transport import Reply, Request, Transport, Way

ROW = '{"id":"i1","kind":"reply","by":"agent","text":"We decided to keep the old cache."}'
TEXT = f"=== data x ===\n{ROW}\n=== end of data x ==="
ASKED = Request("gemini-3.8-flash", digests.SYSTEM, TEXT, digests.SCHEMA, 512)


@pytest.fixture
def server() -> Iterator[GeminiServer]:
    with GeminiServer() as running:
        yield running


def ask(server: GeminiServer, deadline_s: float = 30.0) -> tuple[Reply | ModelFault, list[float]]:
    slept: list[float] = []
    transport = Transport(Way("the-key", server.url), deadline_s, slept.append)
    try:
        return transport.ask(ASKED), slept
    except ModelFault as fault:
        return fault, slept


def test_what_is_sent_and_what_comes_back(server: GeminiServer) -> None:
    found, slept = ask(server)
    assert isinstance(found, Reply)
    assert json.loads(found.text)["decisions"][0]["quote"] == "We decided to keep the old cache."
    assert found.tokens is not None
    assert sum(found.tokens) == server.tokens
    assert slept == []
    [call] = server.calls
    assert (call.key, call.model, call.text) == ("the-key", "gemini-3.8-flash", TEXT)
    config = call.body["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert config["responseJsonSchema"] == digests.SCHEMA
    assert config["maxOutputTokens"] == 512
    assert "tools" not in call.body


def test_thoughts_are_no_part_of_the_answer(server: GeminiServer) -> None:
    server.script = ["thoughts-first"]
    found, _ = ask(server)
    assert isinstance(found, Reply)
    assert found.text.startswith('{"context"')


@pytest.mark.parametrize(
    ("script", "waits"),
    [
        (["429-retry-info"], [47.0]),
        (["429-retry-after"], [7.0]),
        (["500", "503"], [2.0, 4.0]),
        (["502-html"], [2.0]),
        (["reset"], [2.0]),
        (["cut-off-body"], [2.0]),
        (["503", "429-retry-info", "reset"], [2.0, 47.0, 8.0]),
    ],
)
def test_a_busy_server_is_asked_again_after_the_time_it_wants(
    server: GeminiServer, script: list[str], waits: list[float]
) -> None:
    server.script = list(script)
    found, slept = ask(server)
    assert isinstance(found, Reply), found
    assert slept == waits
    assert len(server.calls) == len(script) + 1


@pytest.mark.parametrize(
    ("behaviour", "why", "times"),
    [
        ("503", "busy", 4),
        ("reset", "unreachable", 4),
        ("429-day", "quota", 1),
        ("401", "key", 1),
        ("400-key", "key", 1),
        ("404", "model-gone", 1),
        ("400", "refused", 1),
        ("400-long", "cut", 1),
        ("max-tokens", "cut", 1),
        ("thinking-ate-it", "cut", 1),
        ("safety", "blocked", 1),
        ("prompt-blocked", "blocked", 1),
        ("none-text", "empty", 1),
        ("no-candidates", "empty", 1),
        ("200-html", "odd", 1),
    ],
)
def test_what_is_no_answer_is_a_fault(server: GeminiServer, behaviour: str, why: str, times: int) -> None:
    server.always = behaviour
    found, slept = ask(server)
    assert isinstance(found, ModelFault)
    assert (found.why, len(server.calls), len(slept)) == (why, times, times - 1)


@pytest.mark.parametrize("behaviour", ["hang", "drip"])
def test_nothing_takes_longer_than_the_deadline(server: GeminiServer, behaviour: str) -> None:
    server.script = [behaviour]
    found, _ = ask(server, deadline_s=0.4)
    assert isinstance(found, ModelFault)
    assert found.why == "timeout"
    assert len(server.calls) <= 1  # none, where the machine is slower than that


def test_after_a_hang_the_next_call_is_answered(server: GeminiServer) -> None:
    server.script = ["hang"]
    transport = Transport(Way("k", server.url), 0.5)
    while server.script:  # a slow machine gives up before it has asked
        with pytest.raises(ModelFault):
            transport.ask(ASKED)
    assert Transport(Way("k", server.url), 60.0).ask(ASKED).text
    assert len(server.calls) >= 2


def test_nobody_there_is_unreachable() -> None:
    with GeminiServer() as server:
        url = server.url
    with pytest.raises(ModelFault) as caught:
        Transport(Way("k", url), 10.0, lambda _s: None).ask(ASKED)
    assert caught.value.why == "unreachable"


def test_google_cloud_is_asked_with_its_own_credentials(
    server: GeminiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    account = {
        "type": "service_account", "project_id": "p", "private_key_id": "1", "client_email": "x@p.example",
        "client_id": "1", "private_key": key.private_bytes(*form).decode(), "token_uri": f"{server.url}/token",
    }  # fmt: skip
    path = tmp_path / "account.json"
    path.write_text(json.dumps(account))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
    found = Transport(Way("", server.url, "my-project", "europe-west4"), 30.0).ask(ASKED)
    assert json.loads(found.text)["decisions"]
    [call] = server.calls
    assert "/projects/my-project/locations/europe-west4/publishers/google/models/gemini-3.8-flash:" in call.path
    assert (call.authorization, call.key) == ("Bearer loopback-token", "")


def test_the_estimate_is_more_than_was_counted(server: GeminiServer) -> None:
    found, _ = ask(server)
    assert isinstance(found, Reply)
    assert found.tokens is not None
    assert ASKED.estimate[0] > found.tokens[0]
