"""What a person is told about opencode's stores: where they are, how much was read, what could not be and why."""

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import opencode
from homes import Home


def source(home: Home) -> dict[str, Any]:
    (found,) = [s for s in home.json("sources")["sources"] if s["harness"] == "opencode"]
    return dict(found)


def doctor(home: Home) -> dict[str, str]:
    (found,) = [check for check in home.json("doctor", code=None)["checks"] if check["name"] == "stores"]
    return dict(found)


def test_files_and_conversations_are_counted(tmp_path: Path) -> None:
    home = Home(tmp_path)
    opencode.tree(tmp_path)
    opencode.database(tmp_path, "v1")
    home.run("ingest")
    found = source(home)
    assert (found["files"], found["sessions"], found["messages"], found["problem"]) == (2, 2, 6, None)
    assert doctor(home)["level"] == "ok"
    assert [root["files"] for root in home.json("status")["roots"]] == [2]


def test_the_older_go_edition_is_named_as_such(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    project = tmp_path / "work/.opencode"
    project.mkdir(parents=True)
    db = sqlite3.connect(project / "opencode.db")
    db.executescript(
        "CREATE TABLE goose_db_version (id); CREATE TABLE sessions (id, title);"
        " CREATE TABLE messages (id, session_id, role, parts);"
    )
    db.close()
    home.env["AFTERWORD_OPENCODE_ROOT"] = str(project)
    done = home.json("ingest")
    assert done["problems"] == 1
    assert "Go edition" in source(home)["problem"]
    assert "Go edition" in doctor(home)["message"]
    (root,) = home.json("status")["roots"]
    assert "Go edition" in root["problem"]
    assert "Go edition" in home.run("status").stdout


def test_a_fresh_installation_is_no_problem(tmp_path: Path) -> None:
    home = Home(tmp_path)
    opencode.Writer(tmp_path).close()
    home.run("ingest")
    assert source(home)["problem"] is None


def test_what_is_broken_is_named_and_when_it_is_mended_no_more(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = opencode.database(tmp_path, "v1")
    whole = path.read_bytes()
    path.write_bytes(b"SQLite format 3\0" + b"\1" * 9000)
    home.run("ingest")
    assert source(home)["problem"] is not None
    path.write_bytes(whole)
    home.run("ingest")
    assert source(home)["problem"] is None
    assert source(home)["messages"] == 6


def test_a_log_too_big_to_copy_is_named_with_what_to_do(tmp_path: Path) -> None:
    home = Home(tmp_path)
    writer = opencode.Writer(tmp_path / "live")
    writer.session("ses_a")
    writer.say("ses_a", 1, "user", "in the file")
    writer.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    writer.say("ses_a", 2, "assistant", "in the log")
    folder = opencode.data_folder(tmp_path)
    folder.mkdir(parents=True)
    for name in ("opencode.db", "opencode.db-wal"):
        shutil.copy(writer.path.with_name(name), folder / name)
    home.run("ingest", AFTERWORD_CAPTURE_COPY_MAX="4K")
    assert "open the agent once" in source(home)["problem"]
    assert "open the agent once" in doctor(home)["message"]
    said = [m["text"] for m in home.json("show", "ses_a")["messages"]]
    assert said == ["in the file"]
    # The bound is asked for again when something changed: then the log is read as well.
    writer.say("ses_a", 3, "user", "later")
    shutil.copy(writer.path.with_name("opencode.db-wal"), folder / "opencode.db-wal")
    writer.close()
    home.run("ingest")
    assert source(home)["problem"] is None
    assert [m["text"] for m in home.json("show", "ses_a")["messages"]] == ["in the file", "in the log", "later"]


def test_one_conversation_that_cannot_be_read_does_not_keep_the_others_from_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    tree = opencode.tree(tmp_path)
    for n, name in enumerate(("aaa", "zzz")):
        session = tree / "session/p" / f"ses_{name}.json"
        session.parent.mkdir(exist_ok=True)
        session.write_text("{half" if n == 0 else json.dumps({"directory": "/srv", "title": "T"}))
    message, part = tree / "message/ses_zzz/m1.json", tree / "part/m1/p1.json"
    for path, data in ((message, {"role": "user"}), (part, {"type": "text", "text": "still read"})):
        path.parent.mkdir()
        path.write_text(json.dumps(data))
    home.run("ingest")
    assert [m["text"] for m in home.json("show", "ses_zzz")["messages"]] == ["still read"]
    assert source(home)["problem"] == "not JSON"


def test_secrets_of_tools_are_redacted_and_its_auth_file_is_not_read(tmp_path: Path) -> None:
    home = Home(tmp_path)
    secret = "ghp_" + "x7Kq2LmVz9RtYb4NcWd8PfJh3GsA6eUo1TiB"
    writer = opencode.Writer(tmp_path)
    writer.session("ses_a", title=f"Use {secret}")
    writer.say("ses_a", 1, "user", f"my token is {secret}")
    writer.close()
    (opencode.data_folder(tmp_path) / "auth.json").write_text(json.dumps({"anthropic": {"key": secret}}))
    home.run("up", "--once", "--settle", "0")
    for path in home.path.rglob("*"):
        if path.is_file() and not path.is_relative_to(opencode.data_folder(tmp_path)):
            assert secret.encode() not in path.read_bytes(), path
