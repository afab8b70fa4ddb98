"""What a person saves in the vault is taken in by the running daemon at once, and answered with no write."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from homes import Home
from knowledge import concept, history

from afterword.store.ledger import articles, section_edits
from afterword.store.ledger.ledger import open_reader


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return history(tmp_path / "home")


def ticked(home: Home) -> list[str]:
    ledger = open_reader(home.state)
    try:
        return [text for edits in section_edits.every(ledger).values() for text in edits.done]
    finally:
        ledger.close()


def retracted(home: Home) -> list[str]:
    ledger = open_reader(home.state)
    try:
        return [each.article.title for each in articles.current(ledger) if each.article.status == "retracted"]
    finally:
        ledger.close()


def save_until(path: Path, text: str, what: Callable[[], bool]) -> None:
    """Save a note until it was noticed: what happens before the watching begins makes no event."""
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end, "it did not come about"
        path.write_text(text)
        time.sleep(0.5)


def test_a_ticked_task_and_a_retracted_article_are_taken_in_and_not_answered(home: Home) -> None:
    # The looks at everything are far apart: only the event of a saved file can tell.
    with home.daemon(AFTERWORD_CAPTURE_SWEEP="1h"):
        note = next(path for path in sorted((home.vault / "daily").glob("*.md")) if "- [ ] " in path.read_text())
        text = note.read_text().replace("- [ ] ", "- [x] ", 1)
        save_until(note, text, lambda: len(ticked(home)) == 1)
        path = concept(home, "never-print")
        saved = path.read_text().replace("status: active", "status: retracted", 1)
        save_until(path, saved, lambda: len(retracted(home)) == 1)
        # Both were saved just now: nothing is written into them while somebody may be at work there.
        assert note.read_text() == text
        assert path.read_text() == saved
