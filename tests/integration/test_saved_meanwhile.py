"""What somebody saves at the very moment the program writes there: both stand, and both are known."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from homes import Home
from knowledge import NOW, concept, history, later

from afterword.app.config import load
from afterword.app.program import Program, writer
from afterword.store.ledger import article_files, articles

UP = ("up", "--once", "--settle", "0")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    made = history(tmp_path / "home")
    for name, value in (made.env | NOW).items():
        monkeypatch.setenv(name, value)
    return made


@contextmanager
def program(home: Home) -> Iterator[Program]:
    env = home.env | NOW
    with writer(load(), env, "test", settle_us=0) as opened:
        yield opened


def test_a_merge_just_before_an_append_leaves_each_section_once(home: Home) -> None:
    note = home.vault / "daily/2026-06-10.md"
    first = re.search(r"(?ms)^### Session \(.*?^%% /afterword \S+ %%\n", note.read_text())
    assert first
    note.write_text(note.read_text() + "\nmine\n")
    later(home, "Why does the berth list time out?", "The pool was exhausted. We decided to close connections.")
    merged = False

    def merge(path: Path, _rest_s: float) -> bool:
        nonlocal merged
        if path == note and not merged:
            merged = True
            note.write_text(note.read_text() + "\n" + first[0])
        return False

    with program(home) as opened:
        opened.ingest(thorough=True)
        opened.flush.run(opened.clock(), settle_us=0)
        assert opened.notes
        assert opened.notes.sync(busy=merge) == 1
        assert merged
        assert opened.notes.waiting
        assert note.read_text().count(first[0]) == 2
        opened.notes.sync()
        assert note.read_text().count(first[0]) == 1
        assert not opened.notes.waiting
    assert "close connections" in note.read_text()


def test_an_edit_between_the_look_and_the_write_is_known_as_a_persons(home: Home) -> None:
    path = concept(home, "last-tide")
    with program(home) as opened:
        opened.compiling.look()
        point = re.findall(r"^- (.*)$", path.read_text(), re.MULTILINE)[0]
        path.write_text(path.read_text().replace(f"- {point}\n", "- Count the hours of the day first.\n", 1))
        opened.compiling.render()
        opened.compiling.look()
        edits = {each.article.title: each.edits for each in articles.current(opened.ledger)}
        mine = [title for title, each in edits.items() if "Count the hours" in each.bodies.get("Key Points", "")]
        assert len(mine) == 1
        opened.compiling.render()
        at = path.stat()
        known = {file.path: file.at for file in article_files.every(opened.ledger).values()}
        assert known[str(path.relative_to(home.vault))] == (at.st_size, at.st_mtime_ns, at.st_ino)
    assert "- Count the hours of the day first." in path.read_text()
    home.run(*UP, **NOW)
    assert path.stat() == at
