"""`report` on the sample history, on nothing, and into files."""

from pathlib import Path

import pytest
from homes import Home
from knowledge import NOW, history


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return history(tmp_path_factory.mktemp("report"))


def test_the_sample_history_as_values_and_as_a_page(home: Home, tmp_path: Path) -> None:
    said = home.json("report", **NOW)
    days = said["activity"]["days"]
    assert set(days) == {"2026-06-08", "2026-06-09", "2026-06-10"}
    assert said["activity"]["agents"] == ["claude-code", "codex"]
    assert said["articles"] == home.json("status")["ledger"]["articles"] - said["connections"]
    assert said["growth"][-1]["articles"] == said["articles"] + said["connections"]
    assert said["engines"] == {"extractive": 3}
    assert said["spend"] == []
    merged = {row["title"]: [telling["day"] for telling in row["tellings"]] for row in said["merged"]}
    assert ["2026-06-08", "2026-06-09", "2026-06-10"] in merged.values()  # one fix told in three ways
    assert said["open_actions"] == len(said["actions"]) > 5
    page = tmp_path / "page.html"
    home.run("report", "-o", str(page), **NOW)
    text = page.read_text()
    assert page.stat().st_mode & 0o777 == 0o600
    assert all(title.replace("'", "&#x27;") in text for title in merged)
    assert "GH_TOKEN=ghp" not in text


def test_from_a_day_on(home: Home) -> None:
    said = home.json("report", "--since", "2026-06-10", **NOW)
    assert list(said["activity"]["days"]) == ["2026-06-10"]
    assert {action["day"] for action in said["actions"]} == {"2026-06-10"}
    home.run("report", "--since", "yesterday", code=2)


def test_what_was_ticked_is_not_left_to_do(home: Home) -> None:
    before = home.json("report", **NOW)["open_actions"]
    note = home.vault / "daily/2026-06-09.md"
    note.write_text(note.read_text().replace("- [ ]", "- [x]", 1))
    home.run("compile", **NOW)
    assert home.json("report", **NOW)["open_actions"] == before - 1


def test_a_file_of_somebody_else_stays(home: Home, tmp_path: Path) -> None:
    mine = tmp_path / "notes.html"
    mine.write_text("mine")
    home.run("report", "-o", str(mine), code=1)
    assert mine.read_text() == "mine"
    home.run("report", "-o", str(mine), "--force")
    home.run("report", "-o", str(mine))  # a report may be made again
    assert home.run("report", "--format", "md").stdout.startswith("# What the agents did")
    home.run("report", "--format", "md", "--open", code=2)


def test_a_ledger_with_nothing_in_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.run("up", "--once")
    assert home.json("report")["activity"] == {"days": {}, "sessions": 0, "agents": []}
    assert "No session was written up yet." in home.run("report", "--format", "md").stdout
