"""One wrong fact, everywhere it was told: shown, retracted, gone as current from every surface, and taken back."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from homelab import CLAIM, INSTEAD, REASON, SAID, current, homelab, notes
from homes import Home
from knowledge import NOW, later

UP = ("up", "--once", "--settle", "0")


def context(home: Home, folder: Path) -> str:
    said = json.dumps({"session_id": "x", "transcript_path": "", "cwd": str(folder), "source": "compact"})
    return subprocess.run(
        [sys.executable, "-m", "afterword.hook", "session-start"],
        env=home.env, input=said, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return homelab(tmp_path / "home")


def test_one_wrong_fact_is_gone_everywhere_and_comes_back(home: Home, tmp_path: Path) -> None:
    page = tmp_path / "shared.md"
    home.run("share", "0000-n1", "--md", str(page), **NOW)
    before, untouched = current(home), page.read_text()
    assert len([name for name in before if "concepts/" in name]) == 2
    assert len([name for name in before if "connections/" in name]) == 1
    assert len([name for name in before if "topics/" in name]) == 2
    assert len([name for name in before if "agents/" in name]) == 3
    connection = next(iter(notes(home, "knowledge/connections")))

    # All of it is shown, and nothing changed.
    found = home.json("retract", CLAIM, "--reason", REASON, **NOW)
    assert found["dry"] is True
    assert [one["whole"] for one in found["articles"]].count(False) == 2, "two articles say other things, too"
    assert [one["path"] for one in found["articles"] if one["whole"]] == [f"knowledge/connections/{connection}"]
    assert len(found["facts"]) == 2
    assert len(found["topics"]) == 2
    assert "hardware" in found["topics"]
    assert [(share["path"], share["state"]) for share in found["shares"]] == [(str(page), "ours")]
    assert sorted({record["day"] for record in found["records"]}) == ["2026-06-08", "2026-06-09"]
    assert current(home) == before

    done = home.json("retract", CLAIM, "--reason", REASON, "--replacement", INSTEAD, "--yes", **NOW)
    assert current(home) == {}
    # Each page it was on says when, why, and what holds instead.
    pages = {**notes(home, "knowledge/concepts"), **notes(home, "knowledge/connections")}
    assert len(pages) == 3
    for name, text in pages.items():
        assert "> [!warning] Retracted on 2026-06-11" in text, name
        assert REASON in text, name
        assert INSTEAD in text, name
    assert "status: retracted" in pages[connection]
    # What else the two articles say still holds, and so do the other facts.
    rest = "".join(text for name, text in pages.items() if name != connection)
    assert "- The copy is tried again three times, ten minutes apart." in rest
    assert "- The nightly backup wakes the disks before it mounts the share." in rest
    agents = notes(home, "lessons/agents")
    assert len(agents) == 3
    for name, text in agents.items():
        assert INSTEAD in text, name
        assert "A timer that is green says nothing" in text, name
    assert REASON in "".join(notes(home, "lessons/topics").values())
    assert connection.removesuffix(".md") not in (home.vault / "knowledge/index.md").read_text()
    # The share was ours: it is written again, and says so.
    assert done["shares_written"] == [str(page)]
    shared = page.read_text()
    assert "**Retracted since:**" in shared
    assert f"retracted on 2026-06-11: {REASON}" in shared
    # Search shows the record of the past as what it is.
    for row in home.json("search", "drops the mount when the disks spin down", **NOW)["results"]:
        assert row["retracted"]["why"].startswith(f"retracted on 2026-06-11: {REASON}"), row
    said = home.run("search", "drops the mount when the disks spin down", **NOW).stdout
    assert "! retracted on 2026-06-11" in said

    # Not told again: from the old days, from a new session that still believes it, or from an agent's file.
    told = "and its SMB server drops the mount when the disks spin down."
    answer = f"Root cause: {CLAIM}, {told} Decision: nothing else is changed."
    later(home, "Why did the backup break off?", answer, day="2026-06-11T09:00:00", name="n3", project="homelab")
    agent = home.vault / "lessons/agents/codex.md"
    agent.write_text(agent.read_text() + f"- The NAS is a Synology, {told}\n")
    home.run(*UP, **NOW)
    home.run("compile", "--all", **NOW)
    home.run("distill", **NOW)
    assert current(home) == {}

    # One word takes all of it back.
    listed = home.json("undo", **NOW)["retracted"]
    assert {one["together"] for one in listed} == {done["id"]}
    home.run("undo", done["id"], **NOW)
    after = current(home)
    assert set(before) <= set(after) | {"knowledge/index.md"}
    assert home.json("undo", **NOW)["retracted"] == []
    assert INSTEAD not in "".join(notes(home, "lessons/agents").values())
    assert "Retracted" not in "".join(notes(home, "knowledge/concepts").values())
    assert page.read_text() == untouched


def test_a_session_does_not_begin_with_it(home: Home) -> None:
    folder = home.path / "src/homelab"
    assert SAID.search(context(home, folder))
    assert any(SAID.search(row["text"]) for row in home.json("recall", str(folder), **NOW)["results"])
    home.run("retract", CLAIM, "--reason", REASON, "--replacement", INSTEAD, "--yes", **NOW)
    for text in (context(home, folder), *(row["text"] for row in home.json("recall", str(folder), **NOW)["results"])):
        assert not SAID.search(text)
    assert INSTEAD in context(home, folder)


def test_typed_in_obsidian_the_lessons_follow(home: Home) -> None:
    path = next((home.vault / "knowledge/connections").glob("*.md"))
    text = path.read_text()
    path.write_text(text.replace("status: active", f'status: retracted\nretract_reason: "{REASON}"'))
    home.run(*UP, **NOW)
    # Both causes were drawn from what the connection stands on; the concepts still state them.
    assert "> [!warning] Retracted on 2026-06-11" in path.read_text()
    for name, note in notes(home, "knowledge/concepts").items():
        status = note.replace("status: active", f'status: retracted\nretract_reason: "{REASON}"')
        (home.vault / "knowledge/concepts" / name).write_text(status)
    home.run(*UP, **NOW)
    # What somebody learned by themselves is not taken back by that.
    assert {line.partition(" ^")[0].partition(" (")[0] for lines in current(home).values() for line in lines} == {
        "- The NAS is a Synology with four disks"
    }
    assert all("A timer that is green" not in note for note in notes(home, "lessons/agents").values())
    topics = "".join(notes(home, "lessons/topics").values())
    assert REASON in topics
    for name, note in notes(home, "knowledge/concepts").items():
        (home.vault / "knowledge/concepts" / name).write_text(note.replace("status: retracted", "status: active"))
    home.run(*UP, **NOW)
    assert all("A timer that is green" in note for note in notes(home, "lessons/agents").values())


def test_a_share_that_somebody_changed_is_theirs(home: Home, tmp_path: Path) -> None:
    page = tmp_path / "shared.html"
    home.run("share", "0000-n2", "--html", str(page), **NOW)
    page.write_text(page.read_text().replace("</main>", "<p>Mine.</p></main>"))
    mine = page.read_text()
    done = home.json("retract", CLAIM, "--reason", REASON, "--yes", **NOW)
    assert (done["shares_written"], done["shares_left"]) == ([], [str(page)])
    assert page.read_text() == mine
    assert len(done["retracted"]) == 5
    again = tmp_path / "again.html"
    home.run("share", "0000-n2", "--html", str(again), **NOW)
    assert "Retracted since." in again.read_text()
