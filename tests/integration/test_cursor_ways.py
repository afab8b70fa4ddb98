"""Cursor's stores read while they are written, by the real capture into a real ledger: in every way it is the same."""

import itertools
import json
import os
import random
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cursor_stores import ONE, TWO, Store, Window, lay_out
from writer import Reading

from afterword.app.fingerprint import lines

USER = ".config/Cursor/User"
GLOBAL = f"{USER}/globalStorage/state.vscdb"
CHATS = ".cursor/chats/713d83ffabd2071eef4f18d5c8d6c2ae"
TRANSCRIPTS = ".cursor/projects/srv-orchard-api/agent-transcripts"


@pytest.fixture
def reading(tmp_path: Path) -> Iterator[Reading]:
    made = Reading(tmp_path)
    yield made
    made.close()


def window(reading: Reading) -> Window:
    return Window(reading.root / GLOBAL)


def names(reading: Reading) -> list[str]:
    return sorted(os.listdir((reading.root / GLOBAL).parent))


def one_pass(folder: Path, lay: Any) -> list[str]:
    calm = Reading(folder)
    lay(folder)
    calm.sweep(thorough=True)
    found = lines(calm.ledger)
    calm.close()
    assert any(line.startswith("item") for line in found)
    return found


# One transaction at a time


@pytest.mark.parametrize("restarts", [False, True])
def test_the_sample_written_row_by_row(restarts: bool, tmp_path: Path) -> None:
    calm = one_pass(tmp_path / "calm", lay_out)
    home = tmp_path / "fed"
    reading = Reading(home)
    target = home / GLOBAL
    whole = tmp_path / "calm" / GLOBAL
    with sqlite3.connect(whole) as source:
        rows = {
            table: source.execute(f"SELECT key, value FROM {table}").fetchall()
            for table in ("cursorDiskKV", "ItemTable")
        }
    # A conversation's own value comes first and grows with it, as it does in a window.
    store = Window(target)
    for n, (key, value) in enumerate(sorted(rows["cursorDiskKV"], key=lambda row: row[0], reverse=True)):
        store.put(key, value)
        assert reading.sweep().problems == 0
        if restarts and n % 2:
            reading.restart()
    for path in (p for p in (tmp_path / "calm/.cursor").rglob("*") if p.is_file()):
        copy = home / path.relative_to(tmp_path / "calm")
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix != ".jsonl":
            shutil.copy(path, copy)
            reading.sweep()
            continue
        with copy.open("ab", buffering=0) as out:
            for piece in path.read_bytes().splitlines(keepends=True):
                out.write(piece[:20])
                reading.sweep()
                out.write(piece[20:])
                reading.sweep()
    assert lines(reading.ledger) == calm
    reading.close()


@pytest.mark.parametrize("kind", ["IMMEDIATE", "EXCLUSIVE"])
@pytest.mark.parametrize("wal", [True, False], ids=["write-ahead log", "journal"])
def test_a_writer_in_the_middle_of_a_transaction(wal: bool, kind: str, reading: Reading) -> None:
    writer = Window(reading.root / GLOBAL, wal=wal)
    writer.db.execute("PRAGMA busy_timeout = 0")
    writer.talk(ONE, "Why?", "So.")
    writer.db.execute(f"BEGIN {kind}")
    writer.bubble("b2", 1, "Not yet committed?")
    writer.composer(ONE, [("b0", 1), ("b1", 2), ("b2", 1)])
    before = names(reading)
    assert reading.sweep().problems == 0
    assert reading.live(ONE) == ["Why?", "So."]
    assert names(reading) == before
    writer.db.execute("COMMIT")
    assert reading.sweep().problems == 0
    assert reading.live(ONE) == ["Why?", "So.", "Not yet committed?"]
    assert set(names(reading)) <= set(before)
    writer.talk(TWO, "The writer goes on?")
    writer.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    reading.sweep()
    assert reading.live(TWO) == ["The writer goes on?"]
    assert reading.sweep().new_items == 0


@pytest.mark.parametrize("index", [True, False], ids=["log and index", "log alone"])
def test_a_log_left_behind(index: bool, tmp_path: Path) -> None:
    """Its writer was killed: what lies in the log is read, and nothing comes into being beside it."""
    made = Window(tmp_path / "made" / "state.vscdb")
    made.talk(ONE, "Why?")
    made.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    made.talk(ONE, "Why?", "In the log.")
    folder = (tmp_path / "home" / GLOBAL).parent
    folder.mkdir(parents=True)
    for ending in ("", "-wal", *(["-shm"] if index else [])):
        shutil.copy(tmp_path / "made" / f"state.vscdb{ending}", folder)
    folder.chmod(0o555)
    reading = Reading(tmp_path / "home")
    before = {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.endswith("-shm")}
    assert reading.sweep().problems == 0
    assert reading.live(ONE) == ["Why?", "In the log."]
    assert {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.endswith("-shm")} == before
    assert len(list(folder.iterdir())) == 2 + index
    folder.chmod(0o755)
    reading.close()


# What changes in place


@pytest.mark.parametrize("how", ["replaced", "updated in place"])
def test_a_growing_answer_is_one_item(how: str, reading: Reading) -> None:
    writer = window(reading)
    writer.talk(ONE, "Why?", "So")
    for text in ("So", "So it", "So it is.", "So it was."):
        if how == "replaced":
            writer.bubble("b1", 2, text)
        else:
            writer.update(f"bubbleId:{ONE}:b1", {"type": 2, "text": text})
        reading.sweep()
        assert reading.live(ONE) == ["Why?", text]
    assert reading.ledger.db.execute("SELECT count(*) FROM item").fetchone() == (2,)


def test_an_older_message_that_is_replaced_is_read_again(reading: Reading) -> None:
    writer = window(reading)
    writer.talk(ONE, *(f"Line {n}" for n in range(30)))
    reading.sweep()
    writer.bubble("b3", 2, "Line 3, another edition")
    assert reading.sweep().new_items == 0
    assert reading.live(ONE)[3] == "Line 3, another edition"


def test_taking_back_and_going_on(reading: Reading) -> None:
    writer = window(reading)
    writer.talk(ONE, "One?", "1.", "Two?", "2.")
    reading.sweep()
    writer.composer(ONE, [("b0", 1), ("b1", 2)])
    reading.sweep()
    assert reading.live(ONE) == ["One?", "1."]
    assert [text for _, text, state in reading.speech(ONE) if state == "abandoned"] == ["Two?", "2."]
    writer.bubble("c2", 1, "Two, differently?")
    writer.composer(ONE, [("b0", 1), ("b1", 2), ("c2", 1)])
    reading.restart()
    reading.sweep()
    assert reading.live(ONE) == ["One?", "1.", "Two, differently?"]
    writer.composer(ONE, [("b0", 1), ("b1", 2), ("b2", 1), ("b3", 2)])
    reading.sweep()
    assert reading.live(ONE) == ["One?", "1.", "Two?", "2."]
    writer.composer(ONE, [])
    reading.sweep()
    assert reading.live(ONE) == ["One?", "1.", "Two?", "2."], "a conversation that is suddenly empty removes nothing"


def test_a_message_whose_body_is_gone_is_kept(reading: Reading) -> None:
    writer = window(reading)
    writer.talk(ONE, "One?", "1.", "Two?")
    reading.sweep()
    writer.put(f"bubbleId:{ONE}:b1", None)
    writer.bubble("b2", 1, "Two, then?")
    reading.sweep()
    assert reading.live(ONE) == ["One?", "1.", "Two, then?"]


def test_rows_numbered_anew_change_nothing(reading: Reading) -> None:
    writer = window(reading)
    for name in (ONE, TWO):
        writer.talk(name, "One?", "1.")
    writer.put("other", "x" * 10_000)
    writer.talk(ONE, "One?", "1.", "Two?")
    reading.sweep()
    before = lines(reading.ledger)
    writer.db.execute("DELETE FROM cursorDiskKV WHERE key = 'other'")
    writer.db.execute("VACUUM")
    assert reading.sweep().new_items == 0
    assert lines(reading.ledger) == before


def test_a_root_that_moves(reading: Reading) -> None:
    store = Store(reading.root / CHATS / ONE / "store.db")
    leaves = [store.leaf("user", "One?"), store.leaf("assistant", "1."), store.leaf("user", "Two?")]
    store.point(store.node(*(("leaf", leaf) for leaf in leaves)))
    reading.sweep()
    assert reading.live(ONE) == ["One?", "1.", "Two?"]
    other = store.leaf("user", "Two, differently?")
    inner = store.node(("leaf", leaves[0]), ("leaf", leaves[1]))
    store.point(store.node(("node", inner), ("leaf", other), ("leaf", store.leaf("assistant", "2."))))
    reading.sweep()
    assert reading.live(ONE) == ["One?", "1.", "Two, differently?", "2."]
    assert [text for _, text, state in reading.speech(ONE) if state == "abandoned"] == ["Two?"]
    assert reading.sweep().new_items == 0


# Transcripts


def spoken(*texts: str) -> bytes:
    rows = [
        {"role": "assistant" if n % 2 else "user", "message": {"content": [{"type": "text", "text": text}]}}
        for n, text in enumerate(texts)
    ]
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def transcript(reading: Reading, data: bytes, session: str = ONE) -> Path:
    path = reading.root / TRANSCRIPTS / session / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_a_transcript_written_again_with_a_line_more_in_the_middle(reading: Reading) -> None:
    transcript(reading, spoken("One?", "1.", "Two?", "2."))
    reading.sweep()
    transcript(reading, spoken("One?", "1.", "Between?", "Two?", "2.", "3?"))
    reading.sweep(thorough=True)
    assert reading.live(ONE) == ["One?", "1.", "Between?", "Two?", "2.", "3?"]
    reading.restart()
    assert reading.sweep(thorough=True).new_items == 0


def test_a_transcript_written_again_by_a_resumed_session(reading: Reading) -> None:
    ended = b'{"type":"turn_ended","status":"success"}\n'
    first, second = spoken("One?", "1."), spoken("Two?", "2.")
    path = transcript(reading, first + ended + second + ended)
    reading.sweep()
    before = lines(reading.ledger)
    path.rename(path.with_suffix(".old"))
    transcript(reading, first + second + spoken("Three?") + ended)
    reading.sweep(thorough=True)
    assert reading.live(ONE) == ["One?", "1.", "Two?", "2.", "Three?"]
    assert {line for line in before if line.startswith("item")} <= set(lines(reading.ledger))


def test_the_first_form_is_read_until_there_is_another(reading: Reading) -> None:
    path = reading.root / TRANSCRIPTS / f"{ONE}.txt"
    path.parent.mkdir(parents=True)
    path.write_text("user:\n<user_query>\nOne?\n</user_query>\n\nassistant:\n1.\n")
    reading.sweep()
    assert reading.live(ONE) == ["One?", "1."]
    transcript(reading, spoken("One?", "1.", "Two?"))
    reading.sweep()
    assert reading.live(ONE) == ["One?", "1.", "Two?"]


# Three stores, one session


def _composer(root: Path) -> None:
    Window(root / GLOBAL).talk(ONE, "Why?", "From the window.", name="In the window")


def _store(root: Path) -> None:
    store = Store(root / CHATS / ONE / "store.db", name="In the store")
    store.point(store.node(("leaf", store.leaf("user", "Why?")), ("leaf", store.leaf("assistant", "From the store."))))


def _transcript(root: Path) -> None:
    path = root / TRANSCRIPTS / ONE / f"{ONE}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(spoken("Why?", "From the transcript."))


@pytest.mark.parametrize("order", list(itertools.permutations([_composer, _store, _transcript])))
def test_the_fullest_store_speaks_in_whatever_order_they_come(order: tuple[Any, ...], reading: Reading) -> None:
    for lay in order:
        lay(reading.root)
        reading.sweep()
        texts = reading.live(ONE)
        assert len(texts) == 2, "each message once, whichever stores are there"
    assert reading.live(ONE) == ["Why?", "From the window."]
    title = reading.ledger.db.execute("SELECT json_extract(facts, '$.title') FROM session").fetchall()
    assert title == [("In the window",)]
    before = lines(reading.ledger)
    reading.restart()
    reading.sweep(thorough=True)
    assert lines(reading.ledger) == before


def test_a_window_that_lists_messages_it_does_not_hold_leaves_the_word_to_the_store(reading: Reading) -> None:
    window(reading).composer(ONE, [("b0", 1), ("b1", 2)], name="No bodies")
    _store(reading.root)
    _transcript(reading.root)
    reading.sweep()
    assert reading.live(ONE) == ["Why?", "From the store."]


def test_a_fuller_store_that_goes_keeps_the_word(reading: Reading) -> None:
    _transcript(reading.root)
    _store(reading.root)
    reading.sweep()
    (reading.root / CHATS / ONE / "store.db").unlink()
    with (reading.root / TRANSCRIPTS / ONE / f"{ONE}.jsonl").open("ab") as out:
        out.write(spoken("More?"))
    reading.sweep()
    assert reading.live(ONE)[:2] == ["Why?", "From the store."]


# Copies, moves, trouble


def test_a_copy_of_the_database_adds_nothing(tmp_path: Path) -> None:
    reading = Reading(tmp_path)
    writer = window(reading)
    writer.talk(ONE, "Why?", "So.")
    reading.sweep()
    before = lines(reading.ledger)
    writer.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    window_of_its_own = tmp_path / USER / "workspaceStorage/0f0f/state.vscdb"
    window_of_its_own.parent.mkdir(parents=True)
    shutil.copy(tmp_path / GLOBAL, window_of_its_own)
    assert reading.sweep().new_items == 0
    assert lines(reading.ledger) == before
    copied = Window(window_of_its_own)
    copied.talk(ONE, "Why?", "So.", "More in the copy?")
    reading.sweep()
    assert reading.live(ONE) == ["Why?", "So."], "the database of all windows has the word"
    reading.close()


def test_moved_stores_are_the_same_sources(tmp_path: Path) -> None:
    reading = Reading(tmp_path)
    lay_out(tmp_path)
    reading.sweep()
    before = lines(reading.ledger)
    counted = reading.ledger.db.execute("SELECT count(*) FROM source WHERE within IS NULL").fetchone()
    (tmp_path / CHATS).rename((tmp_path / CHATS).with_name("0" * 32))
    projects = tmp_path / ".cursor/projects"
    (projects / "srv-orchard-api").rename(projects / "srv-orchard-web")
    assert reading.sweep(thorough=True).new_items == 0
    assert lines(reading.ledger) == before
    assert reading.ledger.db.execute("SELECT count(*) FROM source WHERE within IS NULL").fetchone() == counted
    reading.close()


def test_a_broken_database_keeps_no_other_from_being_read(reading: Reading) -> None:
    for name, data in (("0a", b"no database at all" * 99), ("0b", b""), ("0c", b"SQLite format 3\0" + b"\xff" * 4096)):
        path = reading.root / USER / "workspaceStorage" / name / "state.vscdb"
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
    os.mkfifo(reading.root / ".cursor-pipe")
    window(reading).talk(ONE, "Why?")
    found = reading.sweep()
    assert found.problems == 2
    assert reading.live(ONE) == ["Why?"]


# Anything, in any order


@pytest.mark.parametrize("seed", range(12))
def test_whatever_a_window_does_the_ledger_shows_what_it_shows(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    reading = Reading(tmp_path)
    writer = window(reading)
    talks: dict[str, list[tuple[str, str]]] = {}
    made = 0
    for _ in range(40):
        name = rng.choice(list(talks) or [ONE]) if rng.random() < 0.8 else f"7e100000-{seed:04d}-{len(talks):04d}"
        talk = talks.setdefault(name, [])
        match rng.choice(["say", "say", "say", "edit", "back", "checkpoint", "restart", "vacuum", "touch"]):
            case "say":
                made += 1
                talk.append((f"b{made}", f"Said {made}."))
                writer.bubble(*_row(talk, -1), session=name)
            case "edit" if talk:
                n = rng.randrange(len(talk))
                talk[n] = (talk[n][0], talk[n][1] + " And more.")
                writer.bubble(*_row(talk, n), session=name)
            case "back" if len(talk) > 1:
                del talk[rng.randrange(1, len(talk)) :]
            case "checkpoint":
                writer.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            case "restart":
                reading.restart()
            case "vacuum":
                writer.db.execute("VACUUM")
            case _:
                pass
        writer.composer(name, [(its_id, 1 + n % 2) for n, (its_id, _) in enumerate(talk)], draft=rng.random())
        if rng.random() < 0.6:
            assert reading.sweep().problems == 0
    reading.sweep()
    shown = {name: [text for _, text in talk] for name, talk in talks.items()}
    assert {name: reading.live(name) for name in talks} == shown
    assert reading.ledger.db.execute("SELECT count(*) FROM item").fetchone()[0] <= made
    reading.close()


def _row(talk: list[tuple[str, str]], n: int) -> tuple[str, int, str]:
    n %= len(talk)
    return talk[n][0], 1 + n % 2, talk[n][1]
