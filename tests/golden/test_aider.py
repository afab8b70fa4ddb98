"""aider's sample history, read by the real program, gives what its `expected.json` says, wherever it is known from."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

from homes import FIXTURES, Home

PROJECT = "srv/orchard-api"
HISTORY = f"{PROJECT}/.aider.chat.history.md"


def check(home: Home) -> None:
    for wanted in json.loads((FIXTURES / "harness/aider/expected.json").read_text())["sessions"]:
        shown = home.json("show", wanted["key"])
        session, items = shown["session"], shown["messages"]
        assert not [item for item in items if item["abandoned"]]
        found: dict[str, Any] = {
            "key": session["native_id"],
            "cwd": session["cwd"].removeprefix(str(home.path)),
            "model": session["model"],
            "messages": [[i["role"], i["text"].strip()] for i in items if i["kind"] in ("prompt", "reply")],
            "edited": [i["path"] for i in items if i["kind"] == "edit"],
            "commits": [i["text"].split()[1] for i in items if i["text"].startswith("Commit ")],
            "commands": [[i["text"], i["exit_status"]] for i in items if i["kind"] == "command"],
        }
        wanted.pop("note", None)
        assert {name: found[name] for name in wanted} == wanted


def lay_out(home: Home) -> None:
    shutil.copytree(FIXTURES / "harness/aider/srv", home.path / "srv")


def test_sample_in_a_folder_to_scan_once_twice_copied_and_deleted(tmp_path: Path) -> None:
    home = Home(tmp_path)
    lay_out(home)
    env = {"AFTERWORD_AIDER_ROOT": str(tmp_path / "srv")}
    home.run("up", "--once", "--settle", "0", **env)
    check(home)
    sums = [one for one in home.json("sources", **env)["sources"] if one["harness"] == "aider" and one["present"]]
    assert sum(one["files"] for one in sums) == 1
    fingerprint, vault = home.run("doctor", "--fingerprint").stdout, home.vault_bytes()

    (tmp_path / "srv/copied").mkdir()
    shutil.copy(tmp_path / HISTORY, tmp_path / "srv/copied")
    home.run("up", "--once", "--settle", "0", **env)
    assert home.run("doctor", "--fingerprint").stdout == fingerprint
    assert home.vault_bytes() == vault

    shutil.rmtree(tmp_path / "srv")
    home.run("up", "--once", "--settle", "0", **env)
    assert home.run("doctor", "--fingerprint").stdout == fingerprint
    assert home.vault_bytes() == vault
    check(home)


def test_a_history_in_a_folder_where_another_agent_worked_is_found_at_once(tmp_path: Path) -> None:
    home = Home(tmp_path)
    lay_out(home)
    inside = tmp_path / PROJECT / "app"
    inside.mkdir()
    (tmp_path / PROJECT / ".git").mkdir()
    log = tmp_path / ".claude/projects/-x/4b1f0c2e-0000-4000-8000-0000000000b0.jsonl"
    log.parent.mkdir(parents=True)
    row = {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "sessionId": log.stem,
        "cwd": str(inside),
        "timestamp": "2026-03-04T10:00:00.000Z",
        "message": {"role": "user", "content": "Look at the retries."},
    }
    log.write_text(json.dumps(row) + "\n")
    home.run("up", "--once", "--settle", "0")
    check(home)
    sums = [one for one in home.json("sources")["sources"] if one["harness"] == "aider"]
    assert [one["root"] for one in sums] == [os.fspath(tmp_path / PROJECT)]
