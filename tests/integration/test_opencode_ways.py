"""opencode's stores read while they are written, in every way: whatever is seen in between, the ledger is the same as
after one pass over what is there at the end; no error on either side, and no file appears beside the database."""

import json
import os
import random
import shutil
import sqlite3
from pathlib import Path

import opencode
import pytest
from homes import Home
from writer import Reading

from afterword.app.fingerprint import lines
from afterword.capture.stores import survey
from afterword.capture.watch import Watcher
from afterword.domain.events import Where
from afterword.store.ledger import sessions, sources, views


def read_once(home: Path) -> list[str]:
    reading = Reading(home)
    reading.sweep(thorough=True)
    found = lines(reading.ledger)
    reading.close()
    return found


def calm(tmp_path: Path, *eras: str) -> list[str]:
    """One pass over the finished sample."""
    home = tmp_path / "calm"
    for era in eras:
        opencode.tree(home) if era == "tree" else opencode.database(home, era)
    return read_once(home)


def beside(home: Path) -> list[str]:
    return sorted(os.listdir(opencode.data_folder(home)))


@pytest.mark.parametrize("era", ["v1", "v2"])
@pytest.mark.parametrize("restarts", [False, True])
def test_row_by_row_with_a_transaction_open_at_every_look(era: str, restarts: bool, tmp_path: Path) -> None:
    wanted = calm(tmp_path, era)
    home = tmp_path / "home"
    reading = Reading(home)
    db = opencode.connect(opencode.data_folder(home) / "opencode.db")
    reading.sweep()
    statements = opencode.statements(era)
    db.execute("BEGIN")
    for statement in statements:
        if statement.startswith("CREATE"):
            db.execute(statement)
    db.execute("COMMIT")
    for statement in statements:
        if not statement.startswith("INSERT"):
            continue
        db.execute("BEGIN IMMEDIATE")
        db.execute(statement)
        assert reading.sweep().problems == 0
        db.execute("COMMIT")
        assert reading.sweep().problems == 0
        if restarts:
            reading.restart()
        assert beside(home) == ["opencode.db", "opencode.db-shm", "opencode.db-wal"]
    assert [s.problem for s in sources.every(reading.ledger)] == [""]
    assert lines(reading.ledger) == wanted
    db.close()
    reading.sweep()
    assert beside(home) == ["opencode.db"]
    assert lines(reading.ledger) == wanted
    reading.close()


@pytest.mark.parametrize("seed", range(6))
def test_eras_in_any_order_with_looks_in_between(seed: int, tmp_path: Path) -> None:
    wanted = calm(tmp_path, "tree", "v2")
    home = tmp_path / "home"
    rng = random.Random(seed)
    reading = Reading(home)
    db = opencode.connect(opencode.data_folder(home) / "opencode.db")
    rows = [s for s in opencode.statements("v2") if s.startswith("INSERT")]
    files = sorted(path for path in (opencode.SAMPLE / "storage").rglob("*.json"))
    for statement in opencode.statements("v2"):
        if statement.startswith("CREATE"):
            db.execute(statement)
    steps: list[str | Path] = [*rows, *files]
    rng.shuffle(steps)
    for step in steps:
        if isinstance(step, Path):
            target = opencode.data_folder(home) / "storage" / step.relative_to(opencode.SAMPLE / "storage")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(step, target)
        else:
            db.execute(step)
        if rng.random() < 0.5:
            reading.sweep()
        if rng.random() < 0.1:
            reading.restart()
    reading.sweep()
    assert lines(reading.ledger) == wanted
    db.close()
    reading.close()


def test_a_file_of_the_tree_cut_off_and_whole_again(tmp_path: Path) -> None:
    wanted = calm(tmp_path, "tree")
    home = tmp_path / "home"
    tree = opencode.tree(home)
    reading = Reading(home)
    reading.sweep()
    for path in sorted(tree.glob("*/*/*.json")):
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        reading.sweep()
        assert lines(reading.ledger) == wanted
        path.write_bytes(whole)
        reading.sweep()
        assert lines(reading.ledger) == wanted
        assert [s.problem for s in sources.every(reading.ledger)] == [""]
    assert sources.troubles(reading.ledger) == []
    reading.close()


def test_tree_written_cut_off_first(tmp_path: Path) -> None:
    wanted = calm(tmp_path, "tree")
    home = tmp_path / "home"
    reading = Reading(home)
    for path in sorted((opencode.SAMPLE / "storage").rglob("*.json")):
        target = opencode.data_folder(home) / "storage" / path.relative_to(opencode.SAMPLE / "storage")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes()[:-9])
        reading.sweep()
        temporary = target.with_name(".oc-1.tmp")
        temporary.write_bytes(path.read_bytes())
        temporary.replace(target)
        reading.sweep()
    assert lines(reading.ledger) == wanted
    reading.close()


def test_what_lies_in_a_tree_that_rests_is_looked_at_now_and_then(tmp_path: Path) -> None:
    home = tmp_path / "home"
    tree = opencode.tree(home)
    for path in (tree, *tree.rglob("*")):
        os.utime(path, (1_789_000_000, 1_789_000_000))
    reading = Reading(home)
    reading.sweep()

    def put(text: str) -> None:
        path = next(tree.rglob("prt_c4000000000aAAAAAAAAAAAAAA.json"))
        with path.open("r+") as file:
            file.truncate()
            json.dump({"type": "text", "text": text}, file)

    put("in place")
    reading.sweep()
    assert "in place" not in str(reading.speech(opencode.MAIN))
    for _ in range(9):
        reading.sweep()
    assert "in place" in str(reading.speech(opencode.MAIN))
    put("once more")
    reading.sweep(thorough=True)
    assert "once more" in str(reading.speech(opencode.MAIN))
    part = tree / "part/msg_c40000000004AAAAAAAAAAAAAA/prt_new.json"
    part.write_text(json.dumps({"type": "text", "text": "a part more"}))
    reading.sweep()
    assert "a part more" in str(reading.speech(opencode.MAIN))
    put("while it is young")
    reading.sweep()
    assert "while it is young" in str(reading.speech(opencode.MAIN))
    reading.close()


def test_a_text_that_grows_in_place_and_is_changed_later(tmp_path: Path) -> None:
    home = tmp_path / "home"
    writer = opencode.Writer(home)
    reading = Reading(home)
    writer.session("ses_a")
    writer.say("ses_a", 1, "user", "Why is the export empty?")
    writer.message("ses_a", "msg_2", "assistant")
    text = ""
    for word in ["The", " limit", " was", " zero", "."]:
        text += word
        writer.part("ses_a", "msg_2", "prt_2", type="text", text=text)
        reading.sweep()
        assert reading.live("ses_a") == ["Why is the export empty?", text]
    items = views.counts(reading.ledger).items
    log = views.counts(reading.ledger).log
    writer.part("ses_a", "msg_2", "prt_2", type="text", text="The limit was one.")
    reading.sweep()
    assert views.counts(reading.ledger).log == log + 1
    reading.sweep()
    assert views.counts(reading.ledger).log == log + 1
    assert views.counts(reading.ledger).items == items == 2
    assert reading.live("ses_a") == ["Why is the export empty?", "The limit was one."]
    reading.close()
    writer.close()


def test_undo_redo_and_going_on_after_an_undo(tmp_path: Path) -> None:
    home = tmp_path / "home"
    writer = opencode.Writer(home)
    reading = Reading(home)
    writer.session("ses_a")
    for n, (role, text) in enumerate([("user", "one"), ("assistant", "1"), ("user", "two"), ("assistant", "2")]):
        writer.say("ses_a", n, role, text)
    reading.sweep()
    writer.revert("ses_a", "msg_ses_a_002")
    reading.sweep()
    assert [state for _, _, state in reading.speech("ses_a")] == ["live", "live", "abandoned", "abandoned"]
    writer.revert("ses_a", None)
    reading.sweep()
    assert reading.live("ses_a") == ["one", "1", "two", "2"]
    writer.revert("ses_a", "msg_ses_a_002")
    reading.sweep()
    writer.delete(["msg_ses_a_002", "msg_ses_a_003"])
    writer.revert("ses_a", None)
    writer.say("ses_a", 4, "user", "three")
    reading.sweep()
    assert reading.live("ses_a") == ["one", "1", "three"]
    assert [text for _, text, state in reading.speech("ses_a") if state == "abandoned"] == ["two", "2"]
    reading.close()
    writer.close()


def test_undo_from_a_part_on(tmp_path: Path) -> None:
    home = tmp_path / "home"
    writer = opencode.Writer(home)
    writer.session("ses_a")
    writer.say("ses_a", 1, "user", "one")
    writer.message("ses_a", "msg_2", "assistant")
    writer.part("ses_a", "msg_2", "prt_a", type="text", text="kept")
    writer.part("ses_a", "msg_2", "prt_b", type="text", text="undone")
    writer.say("ses_a", 3, "user", "undone too")
    writer.revert("ses_a", "msg_2", "prt_b")
    reading = Reading(home)
    reading.sweep()
    assert reading.live("ses_a") == ["one", "kept"]
    reading.close()
    writer.close()


def test_a_session_that_is_removed_stays(tmp_path: Path) -> None:
    home = tmp_path / "home"
    writer = opencode.Writer(home)
    reading = Reading(home)
    for session in ("ses_a", "ses_b"):
        writer.session(session)
        writer.say(session, 1, "user", f"of {session}")
    reading.sweep()
    writer.delete(["msg_ses_a_001"])
    writer.db.execute("DELETE FROM session WHERE id = 'ses_a'")
    reading.sweep()
    assert reading.live("ses_a") == ["of ses_a"]
    reading.close()
    writer.close()


def test_a_log_without_an_index_is_read_whole_from_a_read_only_folder(tmp_path: Path) -> None:
    wanted = calm(tmp_path, "v1")
    home = tmp_path / "home"
    live = opencode.connect(tmp_path / "live" / "opencode.db")
    for statement in opencode.statements("v1"):
        live.execute(statement)
    folder = opencode.data_folder(home)
    folder.mkdir(parents=True)
    for name in ("opencode.db", "opencode.db-wal"):
        shutil.copy(tmp_path / "live" / name, folder / name)
    live.close()
    for path in folder.iterdir():
        path.chmod(0o400)
    folder.chmod(0o500)
    reading = Reading(home)
    assert reading.sweep().problems == 0
    assert lines(reading.ledger) == wanted
    assert beside(home) == ["opencode.db", "opencode.db-wal"]
    folder.chmod(0o700)
    reading.close()


def test_copied_moved_and_deleted(tmp_path: Path) -> None:
    wanted = calm(tmp_path, "v1")
    home = tmp_path / "home"
    path = opencode.database(home, "v1")
    reading = Reading(home)
    reading.sweep()
    shutil.copy(path, path.with_name("opencode-beta.db"))
    reading.sweep()
    assert lines(reading.ledger) == wanted
    path.rename(path.with_name("opencode-dev.db"))
    reading.sweep()
    assert len(list(sources.every(reading.ledger))) == 2
    assert lines(reading.ledger) == wanted
    shutil.rmtree(opencode.data_folder(home))
    reading.sweep()
    assert lines(reading.ledger) == wanted
    reading.close()


def test_a_session_in_two_databases_counts_once_and_the_later_words_stand(tmp_path: Path) -> None:
    home = tmp_path / "home"
    first = opencode.Writer(home)
    first.session("ses_a")
    first.say("ses_a", 1, "user", "one")
    first.close()
    shutil.copy(first.path, first.path.with_name("opencode-dev.db"))
    second = opencode.Writer(home, "opencode-dev.db")
    second.now = first.now + 10_000
    second.part("ses_a", "msg_ses_a_001", "prt_ses_a_001", type="text", text="one, said better")
    second.say("ses_a", 2, "assistant", "two")
    second.close()
    os.utime(first.path, (1, 1))
    reading = Reading(home)
    reading.sweep()
    assert reading.live("ses_a") == ["one, said better", "two"]
    reading.close()


def test_a_database_held_by_its_writer_for_long_is_named_and_read_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("afterword.capture.database.BUSY_S", 0.01)
    home = tmp_path / "home"
    path = opencode.database(home, "v1")
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    db.execute("UPDATE session SET slug = 'x'")
    reading = Reading(home)
    reading.sweep()
    # Its writer keeps the index in memory: the log alone lies there, so that a copy is read.
    assert beside(home) == ["opencode.db", "opencode.db-wal"]
    assert len(reading.live(opencode.CHILD)) == 2
    db.close()
    assert reading.sweep().problems == 0
    reading.close()


def test_the_running_daemon_sees_rows_in_the_log_and_new_parts_of_a_tree(tmp_path: Path) -> None:
    home = Home(tmp_path)
    writer = opencode.Writer(tmp_path)
    writer.session("ses_a")
    writer.say("ses_a", 0, "user", "zero")
    tree = opencode.tree(tmp_path)
    home.run("init", str(home.vault))
    with home.daemon(AFTERWORD_CAPTURE_SWEEP="1h"):
        wait(home, "ses_a", "zero")
        wait(home, opencode.MAIN, "The limit was zero; removed it.")
        for n in range(1, 6):
            writer.say("ses_a", n, "assistant", f"answer no. {n}")
            wait(home, "ses_a", f"answer no. {n}")
        message = tree / "message" / opencode.MAIN / "msg_d.json"
        message.write_text(json.dumps({"role": "assistant", "time": {"created": 1772618400001}}))
        part = tree / "part" / "msg_d" / "prt_d.json"
        part.parent.mkdir()
        part.write_text(json.dumps({"type": "text", "text": "a word more"}))
        wait(home, opencode.MAIN, "a word more")
    writer.close()
    assert "opencode.db" in beside(tmp_path)


def test_a_big_tree_takes_few_watches(tmp_path: Path) -> None:
    base = opencode.data_folder(tmp_path) / "storage"
    for s in range(40):
        session = base / "session/p" / f"ses_{s:02}.json"
        for m in range(30):
            (base / "part" / f"msg_{s:02}_{m:02}").mkdir(parents=True)
        (base / "message" / session.stem).mkdir(parents=True)
        for m in range(30):
            (base / "message" / session.stem / f"msg_{s:02}_{m:02}.json").write_text('{"role": "user"}')
        session.parent.mkdir(parents=True, exist_ok=True)
        session.write_text("{}")
        os.utime(session, (1_789_000_000 + s, 1_789_000_000 + s))
    watcher = Watcher()
    try:
        views = survey(Where({}, tmp_path, "linux"))
        assert watcher.arm(views)
        assert not watcher.arm(views)
        assert watcher.modes == {opencode.data_folder(tmp_path): "watched"}
        watched = set(watcher.folders)
    finally:
        watcher.stop()
    assert len(watched) < 80
    assert {base / "session/p", base / "message/ses_39", base / "part", base / "part/msg_39_29"} <= watched
    assert base / "message/ses_05" not in watched


def wait(home: Home, session: str, text: str) -> None:
    """Wait until the daemon has taken a text in."""
    import time

    end = time.monotonic() + 60
    while True:
        shown = home.run("show", session, "--json", "--all", code=None)
        if shown.returncode == 0 and text in shown.stdout:
            return
        assert time.monotonic() < end, shown
        time.sleep(0.1)


@pytest.mark.parametrize("restarts", [False, True])
def test_a_fork_inherits_what_it_copied(restarts: bool, tmp_path: Path) -> None:
    db = opencode.database(tmp_path, "v2")
    db_ = sqlite3.connect(db, isolation_level=None)

    def session(its_id: str, created: int, fork_of: str | None = None) -> None:
        db_.execute(
            "INSERT INTO session_v2 (id, project_id, slug, directory, title, version, time_created, time_updated,"
            " fork_session_id) VALUES (?, 'p', 'x', '/srv/orchard-api', 'Work', '2.0.12', ?, ?, ?)",
            (its_id, created, created, fork_of),
        )

    def say(session_id: str, n: int, kind: str, text: str, at: int) -> None:
        data = {"text": text} if kind == "user" else {"content": [{"type": "text", "text": text}]}
        db_.execute(
            "INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)",
            (f"msg_{session_id}_{n}", session_id, kind, n, at, at, json.dumps(data | {"time": {"created": at}})),
        )
        db_.execute("UPDATE session_v2 SET time_updated = ? WHERE id = ?", (at, session_id))

    reading = Reading(tmp_path)
    start = 1_772_700_000_000
    talk = [("user", "Go on."), ("assistant", "Done."), ("user", "Go on."), ("assistant", "Done again.")]
    session("ses_9origin", start)
    for n, (kind, text) in enumerate(talk):
        say("ses_9origin", n, kind, text, start + n * 1000)
    reading.sweep()
    before = reading.ledger.db.execute("SELECT count(*) FROM item").fetchone()[0]
    session("ses_8fork", start + 60_000, "ses_9origin")
    for n, (kind, text) in enumerate(talk[:2]):
        say("ses_8fork", n, kind, text, start + n * 1000)
    reading.sweep()
    if restarts:
        reading.restart()
    say("ses_8fork", 2, "user", "Go on.", start + 61_000)
    reading.sweep()
    say("ses_8fork", 3, "assistant", "Another way.", start + 62_000)
    reading.sweep(thorough=True)
    assert reading.ledger.db.execute("SELECT count(*) FROM item").fetchone()[0] == before + 2
    fork, origin = (
        sessions.load(reading.ledger, "WHERE s.native = ?", (native,))[0] for native in ("ses_8fork", "ses_9origin")
    )
    inherited = sessions.inherited_items(reading.ledger, fork.row)
    own = [item.text for item in views.in_order(reading.ledger, fork.row) if item.row not in inherited]
    assert (len(inherited), own) == (2, ["Go on.", "Another way."])
    assert sessions.inherited_items(reading.ledger, origin.row) == set()
    assert read_once(tmp_path) == lines(reading.ledger)
    reading.close()
    db_.close()
