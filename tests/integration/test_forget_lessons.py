"""Forgetting takes lessons along: out of ledger, journal, spool, topics, agents' files, and it stays away."""

import random
from pathlib import Path

import pytest
from homes import Home
from lessons import Notebook
from transcripts import ClaudeSession

from afterword.app import forget as forgetting
from afterword.app.forget_targets import Selector


@pytest.fixture
def book(tmp_path: Path) -> Notebook:
    made = Notebook(tmp_path)
    made.make_vault()
    return made


def forget(book: Notebook, **selector: str) -> None:
    """As the command does it, in this process."""
    from contextlib import nullcontext

    def quiet(*_words: object) -> None:
        """Nobody looks."""

    forgetting.do_here(book.config, book.env, Selector(**selector), lambda: nullcontext(quiet), lambda: False)


def held(book: Notebook, word: str) -> set[str]:
    return {
        str(p.relative_to(book.home)) for p in book.home.rglob("*") if p.is_file() and word.encode() in p.read_bytes()
    }


def test_a_text_goes_from_everything_of_ours_and_stays_away(book: Notebook) -> None:
    book.learn("Project Zebra ships from the Kraków office", topic="zebra")
    book.learn("The NAS runs fnos", topic="nas")
    (book.vault / "lessons/journal").mkdir(parents=True, exist_ok=True)
    dropped = book.vault / "lessons/journal/mine.md"
    dropped.write_text("---\ntopic: plans\n---\nAsk Ola about Project Zebra.\n")
    book.distil()
    path = book.vault / "lessons/topics/nas.md"
    path.write_text(path.read_text() + "\n## My notes\n\nProject Zebra will want one, too.\n")
    book.distil()
    assert len(held(book, "Zebra")) >= 6
    preview = forgetting.preview(book.config, Selector(match="Project Zebra"))
    assert preview.targets.lessons == 2
    assert [(line.path, line.line) for line in preview.lines] == [
        ("lessons/journal/mine.md", 4), ("lessons/topics/nas.md", len(path.read_text().splitlines())),
    ]  # fmt: skip
    forget(book, match="Project Zebra")
    assert held(book, "Zebra") == {"Afterword/lessons/journal/mine.md", "Afterword/lessons/topics/nas.md"}
    assert held(book, "zebra") == set()
    assert list(book.facts()) == ["The NAS runs fnos"]
    for _ in range(2):
        with book.program() as program:
            program.lessons.distil()
            assert "forgotten" in program.lessons.journal.bad["lessons/journal/mine.md"]
    assert list(book.facts()) == ["The NAS runs fnos"]
    assert "Zebra" not in book.told().replace("Project Zebra will want one, too.", "")


def test_of_a_fact_that_others_say_too_what_is_left_stays(book: Notebook) -> None:
    book.learn("The upload test needs the redis container running", by="codex", topic="testing", evidence="with Ola")
    book.learn("The upload test needs the redis container to be running", by="claude", topic="testing")
    book.distil()
    forget(book, match="with Ola")
    assert list(book.facts()) == ["The upload test needs the redis container to be running"]
    assert len(book.files("journal")) == 1
    assert "redis container to be running" in book.told()


def test_a_session_takes_what_it_taught_along(tmp_path: Path) -> None:
    home = Home(tmp_path)
    session = ClaudeSession(random.Random(4), session="s-learns")
    session.prompt("Why is the nightly export empty?")
    session.reply("Lesson learned: the nightly export is empty when the clock of db-seven drifts.")
    session.reply("I set the clock and the export works.")
    path = session.path(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(session.lines))
    home.run("up", "--once", "--settle", "0")
    told = "".join(p.read_text() for p in (home.vault / "lessons").rglob("*.md"))
    assert "db-seven" in told
    shown = home.json("forget", "s-learns")
    assert shown["lessons"] == 1
    home.run("forget", "s-learns", "--yes")
    assert not list((home.vault / "lessons/journal").glob("*.md"))
    assert not [
        p for p in tmp_path.rglob("*") if p.is_file() and b"db-seven" in p.read_bytes() and ".claude" not in p.parts
    ]
    home.run("up", "--once", "--settle", "0")
    assert "db-seven" not in "".join(p.read_text() for p in home.vault.rglob("*.md"))


def test_a_project_goes_and_the_spool_with_it(tmp_path: Path) -> None:
    book = Notebook(tmp_path)
    book.learn("Harbor keeps its keys in vault-nine", project="harbor", everywhere=False)
    book.learn("The NAS runs fnos")
    assert held(book, "vault-nine")
    with pytest.raises(Exception, match="nothing answers"):
        forget(book, project="elsewhere")
    forget(book, project="harbor")
    assert held(book, "vault-nine") == set()
    book.make_vault()
    book.distil()
    assert list(book.facts()) == ["The NAS runs fnos"]
