"""The full text in several files: what is found is the same, whatever was killed, damaged or changed meanwhile."""

import random
import sqlite3
from pathlib import Path

import histories
import pytest
from homes import Home
from writer import Reading

from afterword.index.narrowing import Filters
from afterword.index.search import Answer, search
from afterword.store import fulltext
from afterword.store.textwriter import FullText

WORDS = ("make", "pytest", "marker", "deploy", '"make all"', "缓存", "größe", "resolveEncodedPath")


def asked(reading: Reading, word: str) -> Answer:
    return search(reading.ledger, reading.root / "state", word, Filters(), limit=10_000, now_us=reading.now_us)


def found(reading: Reading) -> dict[str, list[str]]:
    return {word: [hit.item for hit in asked(reading, word).hits] for word in WORDS}


@pytest.fixture
def reading(tmp_path: Path) -> Reading:
    rng = random.Random(5)
    for _ in range(12):
        histories.write(tmp_path, histories.busy_session(rng, parts=30))
    histories.write(tmp_path, histories.long_session(rng, 3))
    histories.rest(tmp_path)
    return Reading(tmp_path, jobs=2)


def test_prose_first_then_all_of_it(reading: Reading) -> None:
    text = reading.full_text()
    seen: list[tuple[bool, int, int]] = []

    def look(_now: object) -> None:
        text.catch_up()
        seen.append((asked(reading, "decided").complete, asked(reading, "decided").total, asked(reading, "make").total))

    reading.capture.sweep(thorough=True, on_large=text.spread, on_progress=look)
    assert not seen[-1][0]
    assert seen[-1][1] > 0
    assert seen[-1][2] == 0  # commands wait
    text.gather()
    text.catch_up()
    answer = asked(reading, "make all")
    assert answer.complete
    assert (reading.root / "state/text-1.db").exists()
    assert not reading.ledger.db.execute("SELECT 1 FROM text_pending").fetchone()
    many = found(reading)
    text.close()
    for path in (reading.root / "state").glob("text-*"):
        path.unlink()
    alone = FullText(reading.root / "state", reading.ledger)
    alone.catch_up()
    assert found(reading) == many
    assert all(many[word] for word in ("make", "pytest", "größe"))
    for table in ("prose", "tool"):
        assert reading.ledger.db.execute("SELECT 1").fetchone()
        db = sqlite3.connect(reading.root / "state/text-0.db")
        db.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
        db.close()
    alone.close()
    reading.close()


def test_a_missing_or_damaged_file_is_made_again_alone(reading: Reading) -> None:
    reading.sweep()
    text = reading.full_text()
    text.catch_up()
    wanted = found(reading)
    text.close()
    state = reading.root / "state"
    for harm in (Path.unlink, lambda path: path.write_bytes(b"no database" * 1000)):
        harm(state / "text-1.db")
        for side in state.glob("text-1.db-*"):
            side.unlink()
        with sqlite3.connect(state / "text-0.db") as db:
            build = db.execute("SELECT value FROM meta WHERE key = 'build'").fetchone()
        again = reading.full_text()
        again.catch_up()
        assert found(reading) == wanted
        with sqlite3.connect(state / "text-0.db") as db:
            assert db.execute("SELECT value FROM meta WHERE key = 'build'").fetchone() == build
        again.close()
    reading.close()


def test_texts_that_change_before_within_and_after_the_filling(reading: Reading) -> None:
    """A row's text changes while its part is not filled, between two steps, and when all is in."""
    reading.sweep()
    text = reading.full_text()
    db = reading.ledger.db
    rows = [row for (row,) in db.execute("SELECT row FROM item WHERE chars > 0 ORDER BY row")]
    rng = random.Random(1)
    written: dict[int, str] = {}

    def change() -> None:
        for row in rng.sample(rows, 40):
            old, packed = db.execute("SELECT text, packed FROM item WHERE row = ?", (row,)).fetchone()
            written[row] = f"changed{row}x{rng.getrandbits(20)}"
            with reading.ledger.transaction():
                db.execute("INSERT INTO text_pending (item, old, old_packed) VALUES (?, ?, ?)", (row, old, packed))
                db.execute(
                    "UPDATE item SET text = ?, packed = 0, chars = ? WHERE row = ?",
                    (written[row].encode(), len(written[row]), row),
                )

    change()
    steps = iter(range(1000))
    text.catch_up(stop=lambda: next(steps) >= 1)
    change()
    text.catch_up()
    change()
    text.catch_up()
    for row, word in written.items():
        hits = asked(reading, word).hits
        assert [hit.text for hit in hits] == [word], row
    shown = {hit.text for hit in asked(reading, "changed*").hits}
    assert shown <= set(written.values())
    assert asked(reading, "make").complete
    text.close()
    with sqlite3.connect(reading.root / "state/text-0.db") as own:
        for table in ("prose", "tool"):
            own.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
    reading.close()


@pytest.mark.parametrize("nth", [1, 2])
def test_killed_while_it_is_spread_nothing_is_lost_or_doubled(nth: int, tmp_path: Path) -> None:
    home = Home(tmp_path)
    histories.lay_out(tmp_path, 3, files=6, long_mb=6)
    env = {"AFTERWORD_CAPTURE_JOBS": "2", "AFTERWORD_CAPTURE_JOBS_FROM": "0"}
    dead = home.start("ingest", AFTERWORD_FAULT=f"kill@text.commit#{nth}", **env)
    dead.communicate(timeout=120)
    assert dead.returncode != 0
    home.run("ingest", **env)
    total = {word: home.json("search", word, code=None)["total"] for word in ("make", "pytest", "decided")}
    for path in home.state.glob("text-*"):
        path.unlink()
    home.run("ingest")
    assert total == {word: home.json("search", word, code=None)["total"] for word in total}
    assert all(total.values())
    assert [path.name for path in home.state.glob("text-*.db")] == [fulltext.FILE]
