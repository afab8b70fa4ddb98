"""The index with vectors from Gemini: a real client against a real server on loopback."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gemini_server import GeminiServer
from homes import Home

BY_MEANING = "why does the health endpoint give an error after starting"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path, meaning=True)
    made.sample("claude-code")
    made.run("up", "--once", "--settle", "0", AFTERWORD_INDEX_EMBEDDER="off")
    return made


def on(server: GeminiServer, **more: str) -> dict[str, str]:
    return server.env | {"AFTERWORD_INDEX_EMBEDDER": "gemini", "AFTERWORD_COMPILE_ENGINE": "extractive"} | more


def wait(until: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not until():
        assert time.monotonic() < end
        time.sleep(0.1)


def embedded(server: GeminiServer) -> list[dict[str, Any]]:
    """Every text that a vector was asked for."""
    return [each for call in server.calls if call.verb == "batchEmbedContents" for each in call.body["requests"]]


def test_texts_of_several_documents_go_in_one_request_and_are_booked(home: Home) -> None:
    with GeminiServer() as server:
        env = on(server)
        done = home.json("index", **env)
        assert done["done"]["complete"]
        assert done["index"]["embedder"] == "gemini-embedding-001:768:g1"
        calls = [call for call in server.calls if call.verb == "batchEmbedContents"]
        assert len(calls) == 1
        assert len(embedded(server)) == done["done"]["embedded"] == done["index"]["chunks"]
        assert {each["taskType"] for each in embedded(server)} == {"RETRIEVAL_DOCUMENT"}
        assert all(len(each["content"]["parts"]) == 1 for each in embedded(server))
        spent = home.json("status", **env)["spend"]["today"]
        assert spent["calls"] == 1
        assert spent["tokens"] > 0
        assert home.json("index", **env)["done"]["embedded"] == 0
        assert len([call for call in server.calls if call.verb == "batchEmbedContents"]) == 1
        found = home.json("search", BY_MEANING, **env, code=None)
        assert found["semantic"] == "ready"
        assert embedded(server)[-1]["taskType"] == "RETRIEVAL_QUERY"


def test_requests_are_as_large_as_the_settings_say(home: Home) -> None:
    with GeminiServer() as server:
        home.json("index", **on(server, AFTERWORD_INDEX_GEMINI_BATCH="2"))
        sizes = [len(call.body["requests"]) for call in server.calls if call.verb == "batchEmbedContents"]
        assert max(sizes) == 2
        assert set(sizes[:-1]) == {2}


def test_no_key_reaches_what_is_said_and_without_one_the_fix_is_named(home: Home) -> None:
    with GeminiServer() as server:
        said = home.run("index", "--json", **on(server)).stdout + home.run("doctor", code=None, **on(server)).stdout
        assert "loopback-key" not in said
    alone = home.run("index", code=1, AFTERWORD_INDEX_EMBEDDER="gemini")
    assert "GEMINI_API_KEY" in alone.stderr


def test_one_vector_for_all_texts_is_refused(home: Home) -> None:
    with GeminiServer() as server:
        server.embedding = "one-for-all"
        said = home.run("index", code=1, **on(server)).stderr
        assert "1 vectors for" in said
        assert home.json("status", **on(server))["index"]["semantic"] != "ready"
        server.embedding = ""
        assert home.json("index", **on(server))["done"]["complete"]
        assert home.json("status", **on(server))["index"]["problem"] is None


def test_a_retired_model_is_named_with_the_fix_and_search_goes_on(home: Home) -> None:
    with GeminiServer() as server:
        env = on(server)
        home.json("index", **env)
        server.embedding = "404"
        found = home.json("search", "the health endpoint", **env, code=None)
        assert found["semantic"] == "off"
        assert "gemini-embedding-001" in found["semantic_problem"]
        assert "index.gemini_model" in found["semantic_problem"]
        assert home.json("search", "--exact", "health", **env)["results"]
        said = home.run("index", "--rebuild", code=None, **env)
        assert said.returncode == 0, "known vectors are used again"
        changed = on(server, AFTERWORD_INDEX_GEMINI_MODEL="gemini-embedding-0")
        assert "gemini-embedding-0'" in home.run("index", code=1, **changed).stderr


def test_no_call_is_made_beyond_the_daily_cap(home: Home) -> None:
    with GeminiServer() as server:
        env = on(server, AFTERWORD_GEMINI_DAILY_TOKENS="10")
        assert "tokens are spent" in home.run("index", code=1, **env).stderr
        assert embedded(server) == []
        assert "tokens are spent" in home.json("status", **env)["index"]["problem"]


def test_what_questions_cost_is_booked_by_the_next_writer(home: Home) -> None:
    with GeminiServer() as server:
        env = on(server)
        home.json("index", **env)
        before = home.json("status", **env)["spend"]["today"]["tokens"]
        home.json("search", BY_MEANING, **env, code=None)
        assert home.json("status", **env)["spend"]["today"]["tokens"] == before
        home.json("index", **env | {"AFTERWORD_INDEX_GEMINI_DIM": "256"})
        assert home.json("status", **env)["spend"]["today"]["calls"] >= 3
        assert b"server answer" not in (home.state / "questions.db").read_bytes()


def test_another_embedder_is_built_beside_and_search_is_exact_until_it_is_whole(home: Home) -> None:
    home.json("index")
    assert home.json("search", BY_MEANING)["semantic"] == "ready"
    with GeminiServer() as server:
        env = on(server)
        found = home.json("search", BY_MEANING, **env, code=None)
        assert found["semantic"] == "building"
        assert home.json("search", BY_MEANING)["semantic"] == "ready", "the old one still stands"
        assert home.json("index", **env)["done"]["complete"]
        assert home.json("search", BY_MEANING, **env, code=None)["semantic"] == "ready"
    assert home.json("search", BY_MEANING, code=None)["semantic"] == "building"


def test_a_busy_server_is_asked_again_after_the_delay_it_names(tmp_path: Path) -> None:
    from afterword.compile.gemini.embedding import vectors
    from afterword.compile.gemini.faults import ModelFault
    from afterword.compile.gemini.transport import Transport, Way

    waited: list[float] = []
    with GeminiServer() as server:
        server.embedding = "429-retry-after"
        transport = Transport(Way("key", server.url), 10.0, waited.append)
        with pytest.raises(ModelFault):
            vectors(transport, "gemini-embedding-001", 64, ["a", "b"], question=False)
        assert waited == [7.0, 7.0, 7.0]
        with pytest.raises(ModelFault):
            vectors(transport, "gemini-embedding-001", 64, ["a"], question=True)
        assert len(waited) == 3, "a person waits for a question"
        server.embedding = ""
        made = vectors(transport, "gemini-embedding-001", 64, ["a", "b"], question=False)
        assert [len(row) for row in made.rows] == [64, 64]
        server.embedding = "hang"
        with pytest.raises(ModelFault, match="did not answer"):
            vectors(Transport(Way("key", server.url), 0.5, waited.append), "m", 64, ["a"], question=True)
    assert os.environ.get("GEMINI_API_KEY") is None


def test_the_daemon_goes_on_while_the_server_holds_its_answers_back(home: Home) -> None:
    with GeminiServer() as server:
        env = on(server)
        server.hold.clear()
        with home.daemon(**env):
            wait(lambda: bool(server.calls))
            assert home.json("search", "health", **env)["semantic"] == "building"
            server.hold.set()
            wait(lambda: home.json("status", **env)["index"]["semantic"] == "ready")
