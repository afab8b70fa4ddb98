"""Every sample store, read by the real program, gives what its `expected.json` says, in every way of reading."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from homes import FIXTURES, Home

WORDS = {
    "claude-code": "changelog",
    "codex": "importer",
    "gemini-cli": "target",
    "antigravity": "slow",
    "grok-build": "cache",
}
"""Harness → a word that is said more than once in its sample."""


def expected(harness: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((FIXTURES / "harness" / harness / "expected.json").read_text())["sessions"]
    return found


def check(home: Home, harness: str) -> None:
    """Hold what `show --json` says of every session against the expectation."""
    for wanted in expected(harness):
        shown = home.json("show", wanted["id"])
        session, items = shown["session"], shown["messages"]
        speech = [item for item in items if item["kind"] in ("prompt", "reply") and not item["inherited"]]
        live = [[item["role"], item["text"]] for item in speech if not item["abandoned"]]
        commands = [item for item in items if item["kind"] == "command" and not item["inherited"]]
        found = {
            "messages": live,
            "abandoned": [[item["role"], item["text"]] for item in speech if item["abandoned"]],
            "commands": [[item["text"], item["exit_status"]] for item in commands],
            "edited": list(dict.fromkeys(item["path"] for item in items if item["kind"] == "edit")),
            "read": list(dict.fromkeys(item["path"] for item in items if item["kind"] == "read")),
            "id": session["native_id"],
            **{
                name: session[name]
                for name in ("cwd", "title", "model", "parent", "forked_from", "spawned_by", "compactions", "archived",
                             "agent", "inherited")
            },
        }  # fmt: skip
        assert {name: found[name] for name in wanted if name in found} == {
            name: value for name, value in wanted.items() if name in found
        }


@pytest.mark.parametrize("harness", WORDS)
def test_sample_in_one_pass_twice_and_with_the_full_text_made_again(harness: str, tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.sample(harness)
    home.run("up", "--once", "--settle", "0")
    check(home, harness)
    vault, status = home.vault_bytes(), home.json("status")
    assert status["ledger"]["sections"] > 0
    fingerprint = home.run("doctor", "--fingerprint").stdout

    home.run("up", "--once", "--settle", "0")
    assert home.vault_bytes() == vault
    assert home.json("status") == status

    for path in home.state.glob("text-*"):
        path.unlink()
    home.run("up", "--once", "--settle", "0")
    assert home.vault_bytes() == vault
    assert home.json("status") == status
    assert home.run("doctor", "--fingerprint").stdout == fingerprint
    assert home.json("search", WORDS[harness])["total"] > 1


@pytest.mark.parametrize("harness", WORDS)
def test_sample_survives_the_deletion_of_its_source(harness: str, tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.sample(harness)
    home.run("up", "--once", "--settle", "0")
    fingerprint, vault = home.run("doctor", "--fingerprint").stdout, home.vault_bytes()
    for store in (FIXTURES / "harness" / harness).iterdir():
        if store.is_dir():
            shutil.rmtree(tmp_path / store.name)
    home.run("up", "--once", "--settle", "0")
    assert home.run("doctor", "--fingerprint").stdout == fingerprint
    assert home.vault_bytes() == vault
    check(home, harness)
