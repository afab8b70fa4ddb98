"""What was merged can be parted again: it stays so in every later compile, and people's words stay where they are."""

from pathlib import Path

import pytest
from homes import Home
from knowledge import NOW, history

THREE = "flaky-export-test-jobs-share-one-temp-directory"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return history(tmp_path)


def note(home: Home, slug: str) -> Path:
    return home.vault / f"knowledge/concepts/{slug}.md"


def test_it_is_parted_stays_parted_and_comes_back(home: Home) -> None:
    united = home.json("unmerge")["united"]
    [three] = [one for one in united if one["path"].endswith(f"{THREE}.md")]
    assert [one["day"] for one in (three["first"], *three["others"])] == ["2026-06-08", "2026-06-09", "2026-06-10"]
    mine = "\n## Notes\nMy own words stay here.\n"
    note(home, THREE).write_text(note(home, THREE).read_text() + mine)
    before = note(home, THREE).read_text()

    dry = home.json("unmerge", three["uid"], **NOW)
    assert dry["dry"]
    assert len(dry["tellings"]) == 2
    assert note(home, THREE).read_text() == before

    done = home.json("unmerge", f"knowledge/concepts/{THREE}.md", "2026-06-10", "--yes", **NOW)
    [part] = done["parted"]
    text = note(home, THREE).read_text()
    assert text.endswith(mine)
    assert "daily/2026-06-10" not in text.partition("---\n\n")[0]
    parted = [path for path in (home.vault / "knowledge/concepts").glob("*.md") if f'"{part}"' in path.read_text()]
    parted = parted or [p for p in (home.vault / "knowledge/concepts").glob("*.md") if f"uid: {part}" in p.read_text()]
    assert len(parted) == 1
    assert "daily/2026-06-10" in parted[0].read_text()

    def articles() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (home.vault / "knowledge/concepts").glob("*.md")}

    stands = articles()
    home.run("compile", **NOW)
    home.run("compile", "--all", **NOW)
    assert articles() == stands
    assert [row["part"] for row in home.json("unmerge")["parted"]] == [part]
    kinds = [fault["kind"] for fault in home.json("lint", code=None)["faults"]]
    assert "double" not in kinds  # a person said that they are two

    home.run("unmerge", part, "--undo", "--yes", **NOW)
    assert home.json("unmerge")["parted"] == []
    [again] = [one for one in home.json("unmerge")["united"] if one["uid"] == three["uid"]]
    assert len(again["others"]) == 2
    assert note(home, THREE).read_text().endswith(mine)


def test_all_are_parted_from_each_other(home: Home) -> None:
    before = len(list((home.vault / "knowledge/concepts").glob("*.md")))
    done = home.json("unmerge", f"knowledge/concepts/{THREE}.md", "--yes", **NOW)
    assert len(done["parted"]) == 2
    assert len(list((home.vault / "knowledge/concepts").glob("*.md"))) == before + 2


def test_what_was_not_merged_is_not_parted(home: Home) -> None:
    home.run("unmerge", "Last tide of the day is missing", code=3)
    home.run("unmerge", "--yes", code=2)
    home.run("unmerge", f"knowledge/concepts/{THREE}.md", "2020-01-01", code=3)
    home.run("unmerge", f"knowledge/concepts/{THREE}.md", "--undo", code=3)


def test_beside_a_running_daemon(home: Home) -> None:
    with home.daemon(**NOW):
        done = home.json("unmerge", f"knowledge/concepts/{THREE}.md", "2026-06-10", "--yes", **NOW)
    assert len(done["parted"]) == 1
    assert len(home.json("unmerge")["parted"]) == 1


def test_lint_mends_what_is_ours(home: Home) -> None:
    index = home.vault / "knowledge/index.md"
    index.unlink()
    home.run("lint", "--fix", **NOW)
    assert index.exists()
    gone = note(home, THREE)
    gone.unlink()
    found = home.json("lint", code=1, **NOW)["faults"]
    assert {fault["kind"] for fault in found} >= {"broken-link"}
    said = home.json("lint", "--fix", code=None, **NOW)
    assert said["fixed"]
    assert not [fault for fault in said["faults"] if fault["kind"] == "broken-link"]
    assert not gone.exists()  # what a person deleted stays deleted
