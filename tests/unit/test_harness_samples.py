"""The samples of the harnesses give what their `expected.json` states, however they are read."""

import json

import pytest

from .harness_model import FIXTURES, Feed, Model, load, plain, read_store, through_json, twice

STORES = {
    "claude-code": ("claude_code", ".claude"),
    "codex": ("codex", ".codex"),
    "gemini-cli": ("gemini_cli", ".gemini"),
    "antigravity": ("antigravity", ".gemini/antigravity"),
    "grok-build": ("grok_build", ".grok"),
    "copilot-cli": ("copilot_cli", ".copilot"),
    "qwen-code": ("qwen_code", ".qwen"),
    "pi": ("pi", ".pi/agent"),
}


def _store(harness: str, feed: Feed = plain) -> Model:
    module, root = STORES[harness]
    return read_store(load(module), FIXTURES / harness / root, feed)


def _native(session: dict[str, str]) -> str:
    spawned = session.get("spawned_by") or session["id"] == "investigator-1"
    return f"{session['parent']}/{session['id']}" if spawned else session["id"]


@pytest.mark.parametrize("feed", [plain, through_json, twice], ids=lambda feed: feed.__name__)
@pytest.mark.parametrize("harness", STORES)
def test_the_sample_gives_what_is_expected(harness: str, feed: Feed) -> None:
    expected = json.loads((FIXTURES / harness / "expected.json").read_text())["sessions"]
    model = _store(harness, feed)
    assert set(model.sessions) == {_native(session) for session in expected}
    for session in expected:
        view = model.view(_native(session))
        for name, value in session.items():
            if name not in ("id", "note", "source"):
                assert view[name] == value, (session["id"], name)
    assert model.bad == []
    assert model.skipped == []


@pytest.mark.parametrize("harness", STORES)
@pytest.mark.parametrize("feed", [through_json, twice], ids=lambda feed: feed.__name__)
def test_every_way_to_read_the_sample_is_equal(harness: str, feed: Feed) -> None:
    assert _store(harness, feed).dump() == _store(harness).dump()
