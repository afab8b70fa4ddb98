"""What tools that copy a vault leave in it: copies in conflict, unfinished merges, stand-ins of a cloud."""

import random
from datetime import datetime
from pathlib import Path

import pytest
from homes import Home
from knowledge import NOW, concept, history
from transcripts import ClaudeSession

UP = ("up", "--once", "--settle", "0")
COPIES = (
    "2026-06-08 (Conflicted copy Phone 202606081200).md",
    "2026-06-08.sync-conflict-20260608-120000-ABCDEFG.md",
    "2026-06-08 (Maya's conflicted copy 2026-06-08).md",
    "2026-06-08 2.md",
    "2026-06-08-LAPTOP.md",
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return history(tmp_path / "home")


def copies(home: Home) -> str:
    (found,) = [check for check in home.json("doctor", code=None)["checks"] if check["name"] == "copies"]
    return f"{found['level']}: {found['message']}"


def talk(home: Home, seed: int, at: str) -> None:
    session = ClaudeSession(random.Random(seed), session=f"session-{seed}")
    session.clock = datetime.fromisoformat(at)
    session.prompt("Please look into the cache, it fails since yesterday.")
    session.reply("The root cause of the cache was a missing lock. We decided to add one.")
    path = session.path(home.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(session.lines))


def test_copies_are_listed_and_neither_read_nor_touched(home: Home) -> None:
    assert copies(home) == "ok: no copy in conflict lies in the vault"
    note = home.vault / "daily/2026-06-08.md"
    text = note.read_bytes()
    for name in COPIES:
        note.with_name(name).write_bytes(text.replace(b"offsetMs", b"nothingAtAll"))
    article = concept(home, "never-print")
    twin = article.with_name(f"{article.stem} (Conflicted copy Phone 202606081200).md")
    twin.write_bytes(article.read_bytes().replace(b"status: active", b"status: retracted"))
    before = home.vault_bytes()
    home.run(*UP, **NOW)
    assert home.vault_bytes() == before
    said = copies(home)
    assert said.startswith("note: ")
    for name in (*COPIES, twin.name):
        assert name in said, name
    # The note itself is lost: a copy with the same sections does not stand for it.
    note.unlink()
    home.run(*UP, **NOW)
    assert note.read_bytes().count(b"%% afterword s-") == text.count(b"%% afterword s-")


def test_an_unfinished_merge_is_nobodys_edit(home: Home) -> None:
    article, note = concept(home, "last-tide"), home.vault / "daily/2026-06-08.md"
    whole = article.read_text(), note.read_text()
    point = next(line for line in whole[0].splitlines() if line.startswith("- "))
    for path, text in zip((article, note), whole, strict=True):
        first = next(line for line in text.splitlines() if line.startswith("- "))
        path.write_text(text.replace(first, f"<<<<<<< HEAD\n{first}\n=======\n- Mine.\n>>>>>>> phone", 1))
    before = home.vault_bytes()
    home.run(*UP, **NOW)
    assert home.vault_bytes() == before
    assert point[:40] in (home.vault / "knowledge/index.md").read_text()
    assert copies(home).count("holds an unfinished merge") == 2
    article.write_text(whole[0].replace(point, "- Mine.", 1))
    note.write_text(whole[1])
    home.run(*UP, **NOW)
    assert "- Mine." in article.read_text()
    assert "|Last tide of the day is missing]] - Mine." in (home.vault / "knowledge/index.md").read_text()


def test_what_is_in_the_cloud_is_neither_missing_nor_made_again(home: Home) -> None:
    note, article = home.vault / "daily/2026-06-08.md", concept(home, "never-print")
    kept = note.read_bytes(), article.read_bytes()
    for path in (note, article):
        path.rename(path.with_name(f".{path.name}.icloud"))
    talk(home, 1, "2026-06-08T22:00:00+00:00")
    said = home.json(*UP, **NOW)
    assert "in the cloud" in said["vault_problem"]
    home.run(*UP, **NOW)
    assert not note.exists()
    assert not article.exists()
    assert "Never print the whole" in (home.vault / "knowledge/index.md").read_text()
    assert copies(home).count("is in the cloud only") == 2
    for path in (note, article):
        path.with_name(f".{path.name}.icloud").rename(path)
    home.run(*UP, **NOW)
    assert note.read_bytes().startswith(kept[0])
    assert note.read_bytes().count(b"missing lock") > 0
    assert article.exists()


def test_a_section_that_a_merge_doubled_goes_once(home: Home) -> None:
    note = home.vault / "daily/2026-06-08.md"
    text = note.read_text()
    block = text[text.index("### Session") :]
    block = block[: block.index("\n", block.index("%% /afterword")) + 1]
    note.write_text(f"{text}\nbetween\n\n{block}\nmine, at the end\n")
    home.run(*UP, **NOW)
    assert note.read_text() == f"{text}\nbetween\n\nmine, at the end\n"
    # What somebody changed in one of the two is theirs: then ours goes, which nobody touched, and theirs stays.
    mine = block.replace("\n- ", "\n- I say: ", 1)
    note.write_text(f"{text}\n{mine}")
    home.run(*UP, **NOW)
    assert note.read_text().count(block) == 0
    assert note.read_text().count(mine) == 1
    # Two that were both changed are both left.
    other = block.replace("\n- ", "\n- You say: ", 1)
    note.write_text(f"{text.replace(block, mine, 1)}\n{other}")
    home.run(*UP, **NOW)
    assert note.read_text().count(mine) == note.read_text().count(other) == 1


def test_days_may_begin_later(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.env["AFTERWORD_VAULT_DAY_STARTS_AT"] = "04:00"
    home.run("init", "--zone", "Europe/Warsaw", "--yes")
    # 03:30 and 04:10 in Warsaw, on the night the clocks go forward: 02:30 there is no time.
    talk(home, 1, "2026-03-29T01:30:00+00:00")
    talk(home, 2, "2026-03-29T02:10:00+00:00")
    home.run(*UP)
    assert "### Session (03:30)" in (home.vault / "daily/2026-03-28.md").read_text()
    assert "### Session (04:10)" in (home.vault / "daily/2026-03-29.md").read_text()
