"""What a person does in the vault is taken in by the running daemon at once, and answered with no write."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from homes import Home
from knowledge import concept, history

from afterword.domain.articles import Current
from afterword.store.ledger import article_files, articles, section_edits
from afterword.store.ledger.ledger import Ledger, open_reader


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return history(tmp_path_factory.mktemp("watched") / "home")


@pytest.fixture
def home(vault: Home) -> Iterator[Home]:
    """With a daemon that looks at everything so seldom that only the event of a file can tell it."""
    with vault.daemon(AFTERWORD_CAPTURE_SWEEP="1h"):
        yield vault


@pytest.fixture
def swept(vault: Home) -> Iterator[Home]:
    """With a daemon that looks at everything every second: what is gone, it must miss twice."""
    with vault.daemon(AFTERWORD_CAPTURE_SWEEP="1s"):
        yield vault


def known(home: Home, what: Callable[[Ledger], object]) -> object:
    ledger = open_reader(home.state)
    try:
        return what(ledger)
    finally:
        ledger.close()


def ticked(ledger: Ledger) -> list[str]:
    return [text for edits in section_edits.every(ledger).values() for text in edits.done]


def taken_out(ledger: Ledger) -> list[str]:
    return [text for edits in section_edits.every(ledger).values() for row in edits.removed.values() for text in row]


def one(ledger: Ledger, part: str) -> Current:
    return next(each for each in articles.current(ledger) if part in each.article.slug)


def until(home: Home, what: Callable[[Ledger], object], act: Callable[[], object] = lambda: None) -> None:
    """Do something until the ledger tells it, again and again: what happens before the watching begins has no event."""
    end = time.monotonic() + 90
    while not known(home, what):
        assert time.monotonic() < end, "it did not come about"
        act()
        time.sleep(0.5)


def untouched(path: Path, text: str) -> None:
    """Save a note, and hold the daemon to it that it writes nothing there while a person may be at work."""
    path.write_text(text)
    before = (path.stat().st_mtime_ns, path.stat().st_ino)
    time.sleep(2)
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == before
    assert path.read_text() == text


def note_with(home: Home, part: str) -> Path:
    return next(path for path in sorted((home.vault / "daily").glob("*.md")) if part in path.read_text())


def test_a_ticked_task(home: Home) -> None:
    note = note_with(home, "- [ ] ")
    before = note.read_text()
    task = before.partition("- [ ] ")[2].partition("\n")[0]
    text = before.replace("- [ ] ", "- [x] ", 1)
    until(home, lambda ledger: any(task[:12] in done for done in ticked(ledger)), lambda: note.write_text(text))
    untouched(note, text)
    # It is no open action any more, neither in the vault's query for open tasks nor in what others are given.
    assert f"- [ ] {task}" not in home.daily()
    key = re.findall(r"%% afterword (s-\w+) ", before.partition("- [ ] ")[0])[-1]
    assert f"- {task} (done)" in home.run("share", key).stdout


def test_an_edited_section(home: Home) -> None:
    note = note_with(home, "**Lessons Learned:**\n- ")
    text = note.read_text()
    head, label, rest = text.partition("**Lessons Learned:**\n- ")
    point = rest.partition("\n")[0]
    saved = f"{head}{label}Mine, and better.{rest.removeprefix(point)}"
    until(home, taken_out, lambda: note.write_text(saved))
    edits = known(home, section_edits.every)
    assert isinstance(edits, dict)
    assert "Mine, and better." in [text for each in edits.values() for text in each.added.get("lessons", ())]
    untouched(note, saved)


def test_a_retracted_article(home: Home) -> None:
    path = concept(home, "never-print")
    saved = path.read_text().replace("status: active", "status: retracted", 1)
    until(home, lambda ledger: one(ledger, "never-print").article.status == "retracted", lambda: path.write_text(saved))
    untouched(path, saved)


def test_a_renamed_article(swept: Home) -> None:
    path = next(p for p in sorted((swept.vault / "knowledge/concepts").glob("*.md")) if "never-print" not in p.name)
    text = path.read_text()
    new = path.rename(swept.vault / "Renamed by me.md")
    until(swept, lambda ledger: new.name in {file.path for file in article_files.every(ledger).values()})
    assert not path.exists()
    assert new.read_text() == text


def test_a_deleted_article(swept: Home) -> None:
    path = max((swept.vault / "knowledge/concepts").glob("*.md"))
    slug = path.stem
    path.unlink()
    until(swept, lambda ledger: one(ledger, slug).edits.status == "deleted")
    assert not path.exists()
