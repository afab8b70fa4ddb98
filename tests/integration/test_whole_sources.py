"""Documents and databases of somebody else, read by the real capture into a real ledger."""

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from talks import Talks, World

from afterword.capture import parts
from afterword.domain.events import Decoded, Fingerprint, Opened, Part, Unreadable
from afterword.store.ledger import sources, views


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.ledger.close()


def make(path: Path, *, wal: bool = True) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(f"PRAGMA journal_mode = {'WAL' if wal else 'DELETE'}")
    db.execute("PRAGMA wal_autocheckpoint = 0")
    db.execute("CREATE TABLE said (session TEXT, n INTEGER, text TEXT)")
    return db


def say(db: sqlite3.Connection, session: str, *texts: str) -> None:
    for text in texts:
        n = db.execute("SELECT count(*) FROM said WHERE session = ?", (session,)).fetchone()[0]
        db.execute("INSERT INTO said VALUES (?, ?, ?)", (session, n, text))


def test_document_is_read_again_only_when_it_changed_and_part_by_part(world: World) -> None:
    path, reader = world.folder / "talks.json", Talks()
    path.write_text('[{"name": "a", "said": ["one"]}, {"name": "b", "said": ["uno"]}]')
    assert world.take(path, reader).new_items == 2
    assert world.take(path, reader).new_items == 0
    os.utime(path, ns=(1, 1))
    world.take(path, reader)
    assert reader.asked == ["a", "b"]
    path.write_text('[{"name": "a", "said": ["one"]}, {"name": "b", "said": ["uno", "dos"]}]')
    assert world.take(path, reader).new_items == 1
    assert reader.asked == ["a", "b", "b"]
    assert world.live("b") == ["uno", "dos"]


def test_same_size_and_time_but_another_file_is_read(world: World) -> None:
    path, reader = world.folder / "talks.json", Talks()
    path.write_text('[{"name": "a", "said": ["one"]}]')
    os.utime(path, ns=(10**18, 10**18))
    world.take(path, reader)
    fresh = world.folder / "talks.json.tmp"
    fresh.write_text('[{"name": "a", "said": ["two"]}]')
    os.utime(fresh, ns=(10**18, 10**18))
    fresh.replace(path)
    world.take(path, reader)
    assert world.live("a") == ["two"]


def test_without_versions_the_content_decides(world: World) -> None:
    path, reader = world.folder / "talks.json", Talks(versions=False)
    path.write_text('[{"name": "a", "said": ["one"]}, {"name": "b", "said": ["uno"]}]')
    world.take(path, reader)
    log = views.counts(world.ledger).log
    path.write_text('[{"name": "b", "said": ["uno"]}, {"name": "a", "said": ["one"]}]')
    world.take(path, reader)
    assert views.counts(world.ledger).log == log
    path.write_text('[{"name": "b", "said": ["uno"]}, {"name": "a", "said": ["one, more"]}]')
    world.take(path, reader)
    assert world.live("a") == ["one, more"]


def test_what_a_document_no_longer_shows_is_abandoned_and_comes_back(world: World) -> None:
    path, reader = world.folder / "talks.json", Talks()
    path.write_text('[{"name": "a", "said": ["one", "two", "three"]}, {"name": "b", "said": ["uno"]}]')
    world.take(path, reader)
    path.write_text('[{"name": "a", "said": ["one", "two"]}]')
    world.take(path, reader)
    assert world.said("a") == [("one", "live"), ("two", "live"), ("three", "abandoned")]
    assert world.live("b") == ["uno"]
    path.write_text('[{"name": "a", "said": ["one", "two", "three"], "undone": 1}]')
    world.take(path, reader)
    assert world.said("a") == [("one", "live"), ("two", "abandoned"), ("three", "abandoned")]
    path.write_text('[{"name": "a", "said": ["one", "two", "three"]}]')
    world.take(path, reader)
    assert world.live("a") == ["one", "two", "three"]


def test_what_cannot_be_read_for_now_is_not_abandoned(world: World) -> None:
    path, reader = world.folder / "talks.json", Talks()
    path.write_text('[{"name": "a", "said": ["one", "two"]}]')
    world.take(path, reader)
    path.write_text('[{"name": "a", "said": ["one", "?", "three"]}]')
    world.take(path, reader)
    assert world.live("a") == ["one", "two", "three"]
    assert [reason for _, _, reason in sources.troubles(world.ledger)] == ["not JSON"]
    path.write_text('[{"name": "a", "said": ["one"]}]')
    world.take(path, reader)
    assert world.live("a") == ["one"]
    assert sources.troubles(world.ledger) == []


def test_half_written_document_changes_nothing(world: World) -> None:
    path, reader = world.folder / "talks.json", Talks()
    path.write_text('[{"name": "a", "said": ["one"]}]')
    world.take(path, reader)
    path.write_text('[{"name": "a", "sai')
    with pytest.raises(Unreadable):
        world.take(path, reader)
    assert world.live("a") == ["one"]


def test_document_over_the_bound_is_named(world: World) -> None:
    path = world.folder / "talks.json"
    path.write_bytes(b" " * (world.document_max + 1))
    with pytest.raises(Unreadable, match="document_max"):
        world.take(path, Talks())


def test_rows_in_a_log_are_seen_while_its_writer_is_open(world: World) -> None:
    path, reader = world.folder / "talks.db", Talks()
    with contextlib.closing(make(path)) as db:
        before = world.names()
        assert before == ["talks.db", "talks.db-shm", "talks.db-wal"]
        for n, text in enumerate(["one", "two", "three"], 1):
            db.execute("BEGIN")
            say(db, "a", text)
            world.take(path, reader)
            assert n == 1 or len(world.live("a")) == n - 1
            db.execute("COMMIT")
            world.take(path, reader)
            assert len(world.live("a")) == n
        assert world.names() == before
        say(db, "a", "four")
        db.execute("BEGIN EXCLUSIVE")
        assert world.take(path, reader).new_items == 1
        db.execute("COMMIT")
    assert world.names() == ["talks.db"]
    assert world.live("a") == ["one", "two", "three", "four"]


@pytest.mark.parametrize("wal", [True, False])
def test_closed_database_gets_no_file_beside_it(world: World, wal: bool) -> None:
    path, reader = world.folder / "talks.db", Talks()
    with contextlib.closing(make(path, wal=wal)) as db:
        say(db, "a", "one")
    assert world.names() == ["talks.db"]
    before = path.read_bytes(), path.stat().st_mtime_ns
    world.take(path, reader)
    assert world.live("a") == ["one"]
    assert world.names() == ["talks.db"]
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def lone_log(world: World) -> Path:
    """A database whose newest rows are in a log that its writer left without an index."""
    path = world.folder / "talks.db"
    with contextlib.closing(make(world.folder / "live.db")) as db:
        say(db, "a", "one")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        say(db, "a", "two")
        shutil.copy(world.folder / "live.db", path)
        shutil.copy(world.folder / "live.db-wal", world.folder / "talks.db-wal")
    (world.folder / "live.db").unlink()
    assert world.names() == ["talks.db", "talks.db-wal"]
    return path


def test_a_log_alone_is_read_from_a_copy_that_is_gone_at_once(world: World) -> None:
    path = lone_log(world)
    before = [(world.folder / name).read_bytes() for name in world.names()]
    seen: list[Path] = []

    class Watching(Talks):
        def parts(self, opened: Opened, known: Mapping[str, str]) -> Iterator[Part]:
            seen.extend(world.left_over())
            yield from super().parts(opened, known)

    assert world.take(path, Watching()).problem == ""
    assert world.live("a") == ["one", "two"]
    assert world.names() == ["talks.db", "talks.db-wal"]
    assert [(world.folder / name).read_bytes() for name in world.names()] == before
    assert seen == []
    assert world.left_over() == []


def test_a_log_over_the_bound_is_left_out_and_named(world: World) -> None:
    path = lone_log(world)
    world.copy_max = 4096
    assert "open the agent once" in world.take(path, Talks()).problem
    assert world.live("a") == ["one"]
    assert world.names() == ["talks.db", "talks.db-wal"]


def test_the_copy_of_a_killed_process_is_taken_away(world: World) -> None:
    path = lone_log(world)
    left = world.state / "afterword-copy-4000000-abc"
    left.mkdir()
    (left / "copy.db").write_bytes(b"raw")
    mine = world.state / f"afterword-copy-{os.getpid()}-abc"
    mine.mkdir()
    world.take(path, Talks())
    assert not left.exists()
    assert mine.exists()
    mine.rmdir()


def test_a_missing_database_is_not_made(world: World) -> None:
    path = world.folder / "talks.db"
    with pytest.raises(FileNotFoundError):
        world.take(path, Talks())
    assert world.names() == []


def test_an_empty_file_is_a_database_without_conversations(world: World) -> None:
    path = world.folder / "talks.db"
    path.touch()
    assert world.take(path, Talks()) == parts.Taken(0)


def test_what_is_no_database_says_so(world: World) -> None:
    path = world.folder / "talks.db"
    path.write_bytes(b"not a database at all, but long enough to have a header" * 40)
    with pytest.raises(Unreadable, match="no SQLite database"):
        world.take(path, Talks())
    with contextlib.closing(sqlite3.connect(world.folder / "other.db")) as db:
        db.execute("CREATE TABLE other (x)")
    with pytest.raises(Unreadable, match="cannot read"):
        world.take(world.folder / "other.db", Talks())


def test_a_transaction_cut_off_in_the_middle_is_named_and_not_read(world: World) -> None:
    path = world.folder / "talks.db"
    with contextlib.closing(make(path, wal=False)) as db:
        say(db, "a", "one")
        db.execute("PRAGMA cache_size = 1")
        db.execute("BEGIN")
        for n in range(2000):
            db.execute("INSERT INTO said VALUES ('a', ?, ?)", (n + 1, "x" * 100))
        names = world.names()
        assert names == ["talks.db", "talks.db-journal"]
        with pytest.raises(OSError, match="in the middle"):
            world.take(path, Talks())
        assert world.names() == names
        db.execute("ROLLBACK")
    world.take(path, Talks())
    assert world.live("a") == ["one"]


def test_a_database_that_changes_while_it_is_read_is_read_again(world: World) -> None:
    path = world.folder / "talks.db"
    with contextlib.closing(make(path, wal=False)) as db:
        say(db, "a", "one")

        class Meanwhile(Talks):
            def events(self, opened: Opened, part: Part, fingerprint: Fingerprint) -> Iterator[list[Decoded]]:
                yield from super().events(opened, part, fingerprint)
                if len(self.asked) == 1:
                    say(db, "a", "two")

        world.take(path, Meanwhile())
    assert world.live("a") == ["one", "two"]


def test_text_that_is_not_utf8_comes_with_replacement_characters(world: World) -> None:
    path = world.folder / "talks.db"
    with contextlib.closing(make(path)) as db:
        db.execute("INSERT INTO said VALUES ('a', 0, CAST(x'6f6bff' AS TEXT))")
    world.take(path, Talks())
    assert world.live("a") == ["ok\ufffd"]


def test_rows_that_lie_in_the_log_before_they_count_are_seen_when_they_do(world: World) -> None:
    path, reader = world.folder / "talks.db", Talks()
    with contextlib.closing(make(path)) as db, path.with_name("talks.db-shm").open("r+b", buffering=0) as index:
        headers = []
        for text in ("one", "two"):
            say(db, "a", text)
            index.seek(0)
            headers.append(index.read(96))
        for count, header in enumerate(headers, 1):
            index.seek(0)
            index.write(header)
            world.take(path, reader)
            assert len(world.live("a")) == count
