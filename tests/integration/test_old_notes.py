"""Dated notes that we did not write, taken in with `backfill FOLDER`: as input, and never as something of ours."""

import shutil
from pathlib import Path

import pytest
from homes import Home
from knowledge import HISTORY, NOW, concepts

from afterword.domain import old_notes

STANDUP = """---
tags: [work]
---
# Standup

We moved the invoice importer off the shared temp directory today.

## Decisions
- The invoice importer writes into a directory of its own, because two workers overwrote each other's files.
- The nightly export stays on the old queue until March, since nobody has measured the new one.

## Gotchas
- The importer fails with `EEXIST` when the directory is made twice; make it with `exist_ok`.

## TODO
- [ ] Tell the billing team about the new directory of the importer.
- [x] Clean the old directory of the importer.

```sh
rm -rf /srv/old
```
"""
LATER = """The invoice importer was slow again. It turned out that the index on invoice_lines was missing, so each
import scanned the whole table.

Lesson learned: check the query plan of the invoice importer before adding workers.

- Decision: add the index on invoice_lines in the next release of the importer.
- token ghp_{secret} was used for the import
"""
SECRET = "Zx9Kq2Lm8Np4Rt6Vw1Yb3Cd5Ef7Gh0JkQ1w2"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    made.env |= NOW
    made.run("init", str(made.vault), "--yes", "--zone", "Pacific/Auckland")
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "log"
    (made / "2024").mkdir(parents=True)
    (made / ".obsidian").mkdir()
    (made / ".obsidian/2024-01-01.md").write_text("hidden")
    (made / "2024/2024-03-05 standup.md").write_text(STANDUP)
    (made / "20240306.md").write_text(LATER.format(secret=SECRET))
    (made / "ideas.md").write_text("No day stands here.")
    return made


def test_notes_become_articles_and_the_second_run_changes_nothing(home: Home, folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*.md")}
    look = home.json("backfill", str(folder), "--dry-run")["notes"]
    assert look == {"files": 2, "ours": 0, "undated": ["ideas.md"]}
    taken = home.json("backfill", str(folder))["notes"]
    assert (taken["files"], taken["read"], taken["sections"], taken["days"]) == (2, 2, 2, ["2024-03-05", "2024-03-06"])
    texts = "\n".join(concepts(home).values())
    assert "directory of its own" in texts
    assert "index on invoice_lines" in texts
    assert "your notes of 2024-03-05" in texts
    # They are a person's: no daily note of ours says it again, nothing waits to be written, none of theirs is touched.
    assert not (home.vault / "daily").exists() or not list((home.vault / "daily").glob("2024*"))
    assert home.json("status")["pending"]["sections"] == 0
    assert home.json("lint")["faults"] == []
    assert {path: path.read_bytes() for path in folder.rglob("*.md")} == before
    everything = [path for path in home.path.rglob("*") if path.is_file()]
    assert not [path for path in everything if SECRET.encode() in path.read_bytes()]
    [hit, *_] = home.json("search", "invoice_lines", "--exact", "--kind", "message")["results"]
    assert (hit["harness"], hit["time"][:10]) == ("notes", "2024-03-05")  # noon of the sixth in Auckland
    shown = home.run("show", hit["session"]).stdout
    assert "index on invoice_lines" in shown
    assert "daily/" not in shown

    state = (home.vault_bytes(), home.run("doctor", "--fingerprint").stdout)
    again = home.json("backfill", str(folder))["notes"]
    assert (again["files"], again["read"], again["new"], again["sections"], again["days"]) == (2, 0, 0, 0, [])
    assert (home.vault_bytes(), home.run("doctor", "--fingerprint").stdout) == state
    home.run("up", "--once", "--settle", "0")
    assert (home.vault_bytes(), home.run("doctor", "--fingerprint").stdout) == state


def test_what_changes_is_taken_and_what_is_gone_or_moved_doubles_nothing(home: Home, folder: Path) -> None:
    home.run("backfill", str(folder))
    note = folder / "2024/2024-03-05 standup.md"
    note.write_text(STANDUP.replace("until March, since nobody has measured the new one", "for good, as it is faster"))
    (folder / "20240306.md").rename(folder / "2024/20240306.md")
    taken = home.json("backfill", str(folder))["notes"]
    assert (taken["sections"], taken["gone"], taken["days"]) == (1, 0, ["2024-03-05"])
    texts = "\n".join(concepts(home).values())
    assert "for good, as it is faster" in texts
    assert "nobody has measured" not in texts
    sessions = home.json("status")["ledger"]["sessions"]
    assert sessions == 2
    (folder / "2024/20240306.md").unlink()
    gone = home.json("backfill", str(folder))["notes"]
    assert (gone["files"], gone["gone"], gone["days"]) == (1, 1, [])
    assert "index on invoice_lines" in "\n".join(concepts(home).values())  # nothing a source deletes is deleted here


def test_what_was_forgotten_does_not_come_back_from_the_notes(home: Home, folder: Path) -> None:
    home.run("backfill", str(folder))
    home.run("forget", "--match", "nobody has measured", "--yes")
    kept = "overwrote each other"
    for _ in range(2):
        everything = b"\n".join(path.read_bytes() for path in home.path.rglob("*") if path.is_file())
        assert b"nobody has measured" not in everything
        assert kept in "\n".join(concepts(home).values())
        taken = home.json("backfill", str(folder))["notes"]
        assert taken["new"] == 0
    home.run("forget", "--agent", "notes", "--yes")
    assert home.json("backfill", str(folder))["notes"]["days"] == []
    assert not concepts(home)


def test_our_own_notes_are_no_input(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.env |= NOW
    shutil.copytree(HISTORY, home.path, dirs_exist_ok=True)
    home.run("up", "--once", "--settle", "0")
    state = home.run("doctor", "--fingerprint").stdout
    taken = home.json("backfill", str(home.vault))["notes"]
    assert (taken["files"], taken["new"]) == (0, 0)
    assert taken["ours"] > 3
    assert home.run("doctor", "--fingerprint").stdout == state
    # What a person wrote beside our sections is theirs.
    note = next((home.vault / "daily").glob("2026-06-08.md"))
    note.write_text(note.read_text() + "\n## Mine\n\nWe decided to keep the parrot in the harbour office for good.\n")
    taken = home.json("backfill", str(home.vault))["notes"]
    assert (taken["files"], taken["read"]) == (1, 1)
    assert [hit["harness"] for hit in home.json("search", "parrot", "--exact")["results"]][:1] == ["notes"]


@pytest.mark.parametrize(
    ("name", "matter", "day"),
    [
        ("2024-03-05.md", {}, "2024-03-05"),
        ("a/b/2024_03_05 standup.md", {}, "2024-03-05"),
        ("20240305.md", {}, "2024-03-05"),
        ("Log 2024.03.05.md", {}, "2024-03-05"),
        ("standup.md", {"date": "2024-03-05"}, "2024-03-05"),
        ("standup.md", {"created": "2024-03-05T10:00"}, "2024-03-05"),
        ("2024-13-05.md", {}, None),
        ("120240305.md", {}, None),
        ("ideas.md", {"date": "soon"}, None),
    ],
)
def test_the_day_of_a_note(name: str, matter: dict[str, object], day: str | None) -> None:
    assert old_notes.day_of(name, matter) == day


def test_blocks_are_headings_items_paragraphs_and_code() -> None:
    text = STANDUP + "\n%% a remark %%\n1. first\n   goes on\n2. second\n\n~~~\nopen code"
    found = old_notes.blocks(text)
    assert [block.text for block in found if block.heading] == ["# Standup", "## Decisions", "## Gotchas", "## TODO"]
    assert [block.code for block in found if block.text.startswith(("```", "~~~"))] == [True, True]
    assert [block.text for block in found][-3:-1] == ["1. first\n   goes on", "2. second"]
    assert not any("remark" in block.text or "tags:" in block.text for block in found)
