"""Cursor's sample store, read by the real program, gives what its `expected.json` says; one session from three
stores is one."""

import json
from pathlib import Path
from typing import Any

from cursor_stores import SECRET, lay_out
from homes import FIXTURES, Home


def check(home: Home) -> None:
    for wanted in json.loads((FIXTURES / "harness/cursor/expected.json").read_text())["sessions"]:
        shown = home.json("show", wanted["id"])
        session, items = shown["session"], shown["messages"]
        live = [item for item in items if not item["abandoned"]]
        assert live == items
        found: dict[str, Any] = {
            "id": session["native_id"],
            **{name: session[name] for name in ("cwd", "title", "model", "parent")},
            "messages": [[i["role"], i["text"]] for i in live if i["kind"] in ("prompt", "reply")],
            "commands": [[i["text"], i["exit_status"]] for i in live if i["kind"] == "command"],
            "edited": [i["path"] for i in live if i["kind"] == "edit"],
            "read": [i["path"] for i in live if i["kind"] == "read"],
        }
        wanted.pop("note", None)
        assert {name: found[name] for name in wanted} == wanted


def every_byte(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_sample_once_twice_and_after_its_stores_are_gone(tmp_path: Path) -> None:
    home = Home(tmp_path)
    lay_out(tmp_path)
    stores = [tmp_path / ".config/Cursor", tmp_path / ".cursor"]
    before = {path: path.read_bytes() for store in stores for path in store.rglob("*") if path.is_file()}
    home.run("up", "--once", "--settle", "0")
    check(home)
    assert {path: path.read_bytes() for store in stores for path in store.rglob("*") if path.is_file()} == before
    sums = next(one for one in home.json("sources")["sources"] if one["harness"] == "cursor")
    assert (sums["bad_lines"], sums["problem"]) == (0, None)
    fingerprint, vault = home.run("doctor", "--fingerprint").stdout, home.vault_bytes()
    assert home.json("search", "SameSite")["total"] >= 1

    home.run("up", "--once", "--settle", "0")
    assert home.run("doctor", "--fingerprint").stdout == fingerprint
    assert home.vault_bytes() == vault

    for path in before:
        path.unlink()
    home.run("up", "--once", "--settle", "0")
    assert home.run("doctor", "--fingerprint").stdout == fingerprint
    assert home.vault_bytes() == vault
    check(home)
    assert SECRET.encode() not in every_byte(home.state) + every_byte(home.vault)


def test_what_a_lower_store_says_is_not_written_up(tmp_path: Path) -> None:
    home = Home(tmp_path)
    lay_out(tmp_path)
    home.run("up", "--once", "--settle", "0")
    assert home.daily().count("Why does login loop?") == 1
    assert [r["session"] for r in home.json("search", "Why does login loop")["results"] if r["kind"] == "message"] == [
        "7e100000-0000-4000-8000-000000000001"
    ]
