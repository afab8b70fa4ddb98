"""What people do to articles by hand, in orders nobody planned: it is followed, it stays, and nothing comes back."""

import re
from pathlib import Path

import pytest
from homes import Home
from knowledge import NOW, concept, history

UP = ("up", "--once", "--settle", "0")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return history(tmp_path / "home")


def catalogue(home: Home) -> str:
    return (home.vault / "knowledge/index.md").read_text()


def status(path: Path, word: str) -> None:
    path.write_text(path.read_text().replace("status: active", f"status: {word}", 1))


def test_an_article_moved_out_of_its_folder_is_still_read(home: Home) -> None:
    path = concept(home, "never-print")
    path = path.rename(home.vault / "Print.md")
    home.run(*UP, **NOW)
    assert "[[Print|" in catalogue(home)
    status(path, "retracted")
    home.run(*UP, **NOW)
    assert "[[Print|" not in catalogue(home)
    assert "> [!warning] Retracted" in path.read_text()


@pytest.mark.parametrize("word", ["Retracted", "\n  - retracted", "RETRACTED  # wrong"])
def test_a_status_counts_however_it_is_written(home: Home, word: str) -> None:
    path = concept(home, "never-print")
    status(path, word)
    home.run(*UP, **NOW)
    assert "never-print" not in catalogue(home)
    assert "> [!warning] Retracted on 2026-06-11" in path.read_text()
    path.write_text(path.read_text() + "\n## My notes\n\nlater\n")
    home.run(*UP, AFTERWORD_NOW="2026-06-20T12:00:00Z")
    assert "> [!warning] Retracted on 2026-06-11" in path.read_text()


def test_what_comes_back_retracted_is_retracted(home: Home) -> None:
    path = concept(home, "never-print")
    status(path, "retracted")
    home.run(*UP, **NOW)
    retracted = path.read_bytes()
    path.unlink()
    home.run(*UP, **NOW)
    path.write_bytes(retracted)
    home.run(*UP, **NOW)
    assert path.read_bytes() == retracted
    assert "never-print" not in catalogue(home)

    other = concept(home, "last-tide")
    deleted = other.read_bytes()
    other.unlink()
    home.run(*UP, **NOW)
    other.write_bytes(deleted.replace(b"status: active", b"status: retracted"))
    home.run(*UP, **NOW)
    assert "last-tide" not in catalogue(home)


def test_what_comes_back_changed_is_found_as_changed(home: Home) -> None:
    path = concept(home, "last-tide")
    before = path.read_text()
    first = re.findall(r"^- (.*)$", before, re.MULTILINE)[0]
    path.unlink()
    home.run(*UP, **NOW)
    assert "last-tide" not in catalogue(home)
    path.write_text(before.replace(f"- {first}\n", "- Count the hours of the day first.\n", 1))
    home.run(*UP, **NOW)
    assert "- Count the hours of the day first." in path.read_text()
    assert "|Last tide of the day is missing]] - Count the hours of the day first." in catalogue(home)
    path.write_text(before)
    home.run(*UP, **NOW)
    assert first[:40] in catalogue(home)


def test_an_article_may_take_the_name_of_a_deleted_one(home: Home) -> None:
    gone, other = concept(home, "never-print"), concept(home, "last-tide")
    kept = other.read_bytes()
    gone.unlink()
    other.rename(gone)
    home.run(*UP, **NOW)
    assert gone.read_bytes().replace(b"never-print", b"") == kept.replace(b"never-print", b"")
    assert "[[knowledge/concepts/never-print-the-whole-environment-in-ci|Last tide of the day" in catalogue(home)
    assert "Never print the whole" not in catalogue(home)
    assert home.json("lint")["faults"] == []


def test_two_articles_may_change_names(home: Home) -> None:
    one, two = concept(home, "never-print"), concept(home, "last-tide")
    aside = one.rename(one.with_name("aside.md"))
    two.rename(one)
    aside.rename(two)
    home.run(*UP, **NOW)
    assert "[[knowledge/concepts/never-print-the-whole-environment-in-ci|Last tide of the day" in catalogue(home)
    assert "[[knowledge/concepts/last-tide-of-the-day-is-missing|Never print the whole" in catalogue(home)
    assert "edited: true" not in one.read_text() + two.read_text()
    assert home.json("lint")["faults"] == []


def test_a_name_that_looks_like_a_copy_is_a_name(home: Home) -> None:
    path = concept(home, "never-print").rename(home.vault / "knowledge/concepts/Never print 2.md")
    home.run(*UP, **NOW)
    assert path.exists()
    assert "[[knowledge/concepts/Never print 2|" in catalogue(home)


def test_an_article_with_a_persons_notes_is_never_taken_away(home: Home) -> None:
    path = concept(home, "日本語")
    key = re.search(r"#\^(s-[0-9a-f]{12})", path.read_text())
    assert key
    path.write_text(path.read_text() + "\n## My notes\n\nmine, and nowhere else\n")
    home.run(*UP, **NOW)
    for day in (home.vault / "daily").glob("*.md"):
        block = rf"(?s)(%% afterword {key[1]} [^\n]*\n).*?(%% /afterword {key[1]})"
        day.write_text(re.sub(block, rf"\1**Context:** Nothing. ^{key[1]}\n\n\2", day.read_text()))
    home.run(*UP, **NOW)
    assert "日本語" not in catalogue(home)
    assert "mine, and nowhere else" in path.read_text()
    # Nothing says it any more, and its links would be left behind by every rename.
    assert "\nstatus: stale\n" in path.read_text()
    assert re.search(r"(?m)^## Related Concepts\n-$", path.read_text())


def test_a_point_taken_out_is_told_nowhere(home: Home) -> None:
    path = concept(home, "last-tide")
    first, second = re.findall(r"^- (.*)$", path.read_text(), re.MULTILINE)[:2]
    assert first[:40] in catalogue(home)
    path.write_text(path.read_text().replace(f"- {first}\n", "", 1))
    home.run(*UP, **NOW)
    assert first[:40] not in catalogue(home)
    assert second[:40] in catalogue(home)
    path.write_text(re.sub(r"(?s)## Key Points\n.*?(?=## Details)", "", path.read_text()))
    home.run(*UP, **NOW)
    assert second[:40] not in catalogue(home)
    assert "## Key Points" not in path.read_text()
    assert "|Last tide of the day is missing]]\n" in catalogue(home)


def test_a_link_that_leads_out_of_the_vault_stops_nothing(home: Home) -> None:
    outside = home.path / "outside.md"
    outside.write_text("mine\n")
    (home.vault / "knowledge/concepts/link.md").symlink_to(outside)
    path = concept(home, "never-print")
    away = path.rename(home.path / "away.md")
    path.symlink_to(away)
    before = away.read_bytes()
    status(concept(home, "last-tide"), "retracted")
    home.run(*UP, **NOW)
    assert "> [!warning] Retracted" in concept(home, "last-tide").read_text()
    assert (outside.read_text(), away.read_bytes()) == ("mine\n", before)


def test_a_file_that_cannot_be_written_keeps_no_other_from_it(home: Home) -> None:
    path, other = concept(home, "flaky-export"), concept(home, "never-print")
    for each in (path, other):
        status(each, "retracted")
    before = path.read_bytes()
    # No room in the name for the temporary file beside it; modes are no hindrance for root.
    aside = path.rename(path.with_name("a" * 240 + ".md"))
    said = home.json("up", "--once", "--settle", "0", **NOW)
    assert aside.read_bytes() == before
    assert "File name too long" in said["vault_problem"]
    assert "> [!warning] Retracted" in other.read_text()
    assert "never-print" not in catalogue(home)
    assert "File name too long" in home.json("compile", code=1, **NOW)["vault_problem"]
    aside.rename(path)
    assert home.json("compile", **NOW)["vault_problem"] is None
    assert "> [!warning] Retracted" in path.read_text()


def test_a_note_whose_ending_is_in_capitals_is_a_note(home: Home) -> None:
    path = concept(home, "never-print")
    path.rename(home.vault / path.name.upper())
    home.run(*UP, **NOW)
    assert f"[[{path.stem.upper()}|" in catalogue(home)
    links = "".join(each.read_text() for each in (home.vault / "knowledge/concepts").glob("*.md"))
    assert f"/{path.stem}|" not in links
    assert f"[[{path.stem.upper()}|" in links
    assert home.run("lint", **NOW, code=0)
