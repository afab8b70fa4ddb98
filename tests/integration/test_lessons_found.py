"""Lessons in search: by their words and by meaning, shown and opened; and gone where they were taken back."""

import random
from pathlib import Path
from typing import Any

import pytest
from decoding import assert_gone
from homes import Home
from transcripts import ClaudeSession

UP = ("up", "--once", "--settle", "0")
NAS = "Run ECC_SCRUB on the NAS before a firmware update, or the array comes up degraded"
OTHER = "Keep invoices in integer cents everywhere"


def found(home: Home, *words: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = home.json("search", *words, code=None)["results"]
    return rows


def lessons(home: Home, *words: str) -> list[str]:
    return [row["snippet"] for row in found(home, *words) if row["kind"] == "lesson"]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    session = ClaudeSession(random.Random(2))
    session.prompt("Look at the tide table.")
    session.reply("It is fine.")
    path = session.path(home.path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(session.lines))
    home.run(*UP)
    home.run("learn", NAS, "--topic", "storage", "--project", "homelab")
    home.run("learn", OTHER, "--topic", "money")
    home.run("distill")
    return home


def test_every_word_of_it_finds_it_as_it_was_typed(home: Home) -> None:
    [row] = found(home, "ECC_SCRUB")
    assert row["kind"] == "lesson"
    assert row["why"] == ["exact"]
    assert (row["path"], row["block"]) == ("lessons/topics/storage.md", row["id"])
    assert NAS.startswith(row["snippet"].rstrip("…"))
    assert home.json("search", "ECC_SCRUB")["total"] == 1
    assert lessons(home, "array", "DEGRADED")
    assert lessons(home, '"firmware update"')
    assert lessons(home, "firmw*")
    for words in (['"update firmware"'], ["ECC_SCRUBS"], ["firmware", "cents"], ["scrub", "--role", "user"]):
        assert not lessons(home, *words), words
    assert lessons(home, "firmware", "--kind", "lesson", "--project", "homelab")
    assert not lessons(home, "firmware", "--project", "elsewhere")
    assert not lessons(home, "firmware", "--until", "2020-01-01")
    assert not lessons(home, "firmware", "--kind", "message")


def test_it_stands_before_what_was_said_and_words_of_it_are_not_loosened(home: Home) -> None:
    session = ClaudeSession(random.Random(3))
    session.prompt("What of the firmware?")
    session.reply("The firmwares are old.")
    path = session.path(home.path)
    path.write_bytes(b"".join(session.lines))
    home.run("ingest")
    assert [row["kind"] for row in found(home, "firmware")] == ["lesson", "message"]
    assert home.json("search", "degraded")["matched"] == "all"


def test_it_is_shown_and_opened_by_its_id(home: Home) -> None:
    fact = found(home, "ECC_SCRUB")[0]["id"]
    shown = home.json("show", fact)["lesson"]
    assert (shown["text"], shown["topic"], shown["status"], shown["projects"]) == (
        NAS,
        "storage",
        "active",
        ["homelab"],
    )
    [entry] = shown["entries"]
    assert (entry["source"], entry["by"], entry["text"]) == ("learn", None, NAS)
    assert home.json("show", entry["id"])["lesson"]["text"] == NAS
    assert NAS in home.run("show", f"^{fact}").stdout
    opened = home.json("open", fact, "--print")
    assert (opened["path"], opened["block"]) == ("lessons/topics/storage.md", fact)
    assert home.json("open", entry["id"], "--print")["path"].startswith("lessons/journal/")
    home.run("show", "f-000000000000", code=3)


def test_what_was_taken_back_is_not_found_until_that_is_undone(home: Home) -> None:
    fact = found(home, "ECC_SCRUB")[0]["id"]
    home.run("retract", fact, "--reason", "the new firmware does it itself", "--yes")
    assert not lessons(home, "ECC_SCRUB")
    assert home.json("show", fact)["lesson"]["status"] == "retracted"
    assert "does it itself" in home.run("show", fact).stdout
    home.run("undo", fact)
    assert lessons(home, "ECC_SCRUB")


def test_every_lesson_that_holds_the_words_counts_and_is_reached(home: Home) -> None:
    for number in range(5):
        home.run("learn", f"The quayside crane {number * 7919} needs grease", "--topic", "cranes")
    home.run("distill")
    for narrowed in ((), ("--kind", "lesson")):
        pages = [home.json("search", "quayside", "-n", "2", "--page", str(page), *narrowed) for page in (1, 2, 3)]
        assert [each["total"] for each in pages] == [5, 5, 5], narrowed
        assert len({row["id"] for each in pages for row in each["results"]}) == 5, narrowed


def test_a_draft_and_what_holds_on_another_machine_are_not_found(home: Home) -> None:
    journal = home.vault / "lessons/journal"
    (journal / "mini.md").write_text(
        "---\ntopic: mini\nkind: local-fact\nmachine: mini\n---\nThe DISPLAYLINK is off.\n"
    )
    (journal / "draft.md").write_text("---\ntopic: mini\nstatus: draft\n---\nThe THUNDERBOLT is off.\n")
    home.run("distill")
    assert not lessons(home, "DISPLAYLINK")
    assert not lessons(home, "THUNDERBOLT")


def test_by_meaning_it_is_found_forgotten_and_gone(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", meaning=True)
    home.run("init", "--yes")
    home.run("ingest")
    home.run("learn", NAS, "--topic", "storage")
    home.run("learn", OTHER, "--topic", "money")
    home.run(*UP)
    asked = ("what should I do before I upgrade the storage box", "--semantic")
    assert lessons(home, *asked)[0].endswith("degraded")
    home.run("learn", "Water the ficus on Mondays", "--topic", "storage")
    home.run("forget", "--match", "ECC_SCRUB", "--yes")
    assert not any("ECC_SCRUB" in text for text in lessons(home, *asked))
    assert_gone(home, "ECC_SCRUB")
    home.run(*UP)
    assert_gone(home, "ECC_SCRUB")
    plants = ("when do the plants get something to drink", "--semantic")
    assert lessons(home, *plants)
    home.run("learn", "Water the ficus on Mondays.", "--topic", "storage", "--project", "attic")
    home.run("learn", "Water the ficus on Mondays!", "--topic", "storage", "--project", "hallway")
    home.run(*UP)
    for project in ("attic", "hallway"):
        assert lessons(home, *plants, "--project", project), project
    assert not lessons(home, *plants, "--project", "cellar")


def test_status_and_doctor_say_how_lessons_stand(home: Home) -> None:
    assert home.json("status")["lessons"] == {"facts": 2, "drafts": 0, "entries": 2}
    assert "2 facts from 2 entries" in home.run("status").stdout

    def checked() -> tuple[str, str]:
        rows = home.json("doctor", code=None)["checks"]
        [row] = [row for row in rows if row["name"] == "lessons"]
        return row["level"], row["message"]

    assert checked() == ("ok", "2 facts are learned; every agent's file holds all of its own")
    broken = home.vault / "lessons/journal/broken.md"
    broken.write_text("---\nkind: rumour\n---\nSomething.\n")
    level, said = checked()
    assert level == "note"
    assert "lessons/journal/broken.md" in said
    broken.unlink()
    for number in range(220):
        (home.vault / f"lessons/journal/many-{number}.md").write_text(
            f"---\ntopic: many\n---\nThe valve {number} of row {number * 7} leaks at {number * 3} bar.\n"
        )
    home.run("distill")
    level, said = checked()
    assert level == "note"
    assert said.startswith("facts that an agent's file has no room for: ")
