"""Cursor's sample store, read by the real program, gives what its `expected.json` says; one session from three
stores is one."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import zstandard
from cursor_stores import ONE, SECRET, TWO, Store, Window, lay_out
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


def test_a_window_in_which_nobody_said_anything_yet_is_no_trouble(tmp_path: Path) -> None:
    home = Home(tmp_path)
    window = Window(tmp_path / ".config/Cursor/User/globalStorage/state.vscdb")
    window.composer(ONE, [], name="A draft")
    history = tmp_path / "srv/orchard/.aider.chat.history.md"
    history.parent.mkdir(parents=True)
    history.write_text("")
    env = {"AFTERWORD_AIDER_ROOT": str(tmp_path / "srv")}
    home.run("up", "--once", "--settle", "0", **env)
    sums = {one["harness"]: one for one in home.json("sources", **env)["sources"]}
    for harness in ("cursor", "aider"):
        assert (sums[harness]["sessions"], sums[harness]["messages"], sums[harness]["problem"]) == (0, 0, None)


CANARIES = {
    "aws": "AKIA7QJ3ZK5TXW2PLM4N",
    "github": "ghp_a8Kd92LmQx71PzRt5VbN3cYw6HsJ0eUfGi4D",
    "url": "Tr0ub4dor-Zebra-9",
    "password": "Qv8#mLp2!xRz",
}


def test_no_secret_of_any_store_reaches_a_byte_of_ours(tmp_path: Path) -> None:
    home = Home(tmp_path)
    aws, token = CANARIES["aws"], CANARIES["github"]
    url = f"postgres://app:{CANARIES['url']}@db.example.test/x"
    window = Window(tmp_path / ".config/Cursor/User/globalStorage/state.vscdb")
    shell = {"command": f"psql {url}", "cwd": "/srv/x"}
    done = {"output": f"password={CANARIES['password']}\n{token}", "exitCodeV2": 0}
    tool = {"name": "run_terminal_cmd", "rawArgs": json.dumps(shell), "result": json.dumps(done)}
    window.bubble("b0", 1, f"Use {aws} here.", workspaceUris=[f"file:///srv/{token}"])
    window.bubble("b1", 2, f"I use {token}.", toolFormerData=tool, thinking={"text": url})
    window.composer(ONE, [("b0", 1), ("b1", 2)], name=f"Key {token}", modelConfig={"modelName": "m"})
    store = Store(tmp_path / ".cursor/chats" / ("0" * 32) / TWO / "store.db", TWO, name=f"Key {token}")
    blocks = [
        {"type": "tool-call", "toolCallId": "c", "toolName": "Write", "args": {"path": f"/{token}", "contents": url}}
    ]
    leaves = [store.leaf("user", f"Use {aws}."), store.leaf("assistant", blocks)]
    store.point(store.node(*(("leaf", leaf) for leaf in leaves)))
    history = tmp_path / "srv" / token / ".aider.chat.history.md"
    history.parent.mkdir(parents=True)
    history.write_text(
        f"\n# aider chat started at 2026-03-04 11:00:00\n\n\n#### Use {aws} and {url}.  \n\nI use {token}.\n\n"
        f"#### /run psql {url}  \n> Running export T={token}  \n"
    )
    window.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    env = {"AFTERWORD_AIDER_ROOT": str(tmp_path / "srv")}
    home.run("up", "--once", "--settle", "0", **env)
    items = home.json("status", **env)["ledger"]["items"]
    with history.open("a") as out:
        out.write("\n#### More?  \n")
    home.run("up", "--once", "--settle", "0", **env)
    assert home.json("status", **env)["ledger"]["items"] == items + 1
    assert home.json("show", ONE)["messages"]
    assert home.json("show", TWO)["messages"]
    typed = [item["text"] for item in home.json("show", "2026-03-04 11:00:00#1")["messages"] if item["role"] == "user"]
    assert len(typed) == 2
    assert typed[1] == "More?"
    found = every_byte(home.state) + every_byte(home.vault)
    for path in home.state.rglob("*.db"):
        with closing(sqlite3.connect(path)) as db:
            found += "\n".join(text_of(db)).encode("utf-8", "replace")
    assert b"psql" in found
    assert {name for name, canary in CANARIES.items() if canary.encode() in found} == set()


def text_of(db: sqlite3.Connection) -> Iterator[str]:
    """Every text in every table, unpacked."""
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        with suppress(
            sqlite3.OperationalError
        ):  # the full text's own tables cannot be listed; its bytes were looked at
            for row in db.execute(f"SELECT * FROM [{name}]"):
                for value in row:
                    yield value if isinstance(value, str) else unpacked(value)


def unpacked(value: object) -> str:
    if not isinstance(value, bytes):
        return str(value)
    with suppress(zstandard.ZstdError):
        value = zstandard.ZstdDecompressor().decompress(value, max_output_size=1 << 24)
    return value.decode("utf-8", "replace")
