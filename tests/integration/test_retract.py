"""`retract` and `undo`: what proved wrong is told nowhere any more, and comes back when it is taken back."""

import json
from pathlib import Path

from homes import Home
from knowledge import NOW, concept, history, titles

UP = ("up", "--once", "--settle", "0")
LATER = {"AFTERWORD_NOW": "2026-08-11T12:00:00Z"}
PART = "import-faktur"


def surfaces(home: Home, title: str) -> list[str]:
    """Where a title is told as something that holds: the catalogue, ready contexts, links of other articles."""
    found = []
    for path in [home.vault / "knowledge/index.md", *(home.state / "context").glob("*.txt")]:
        if title in path.read_text():
            found.append(path.name)
    return found


def test_it_is_dry_by_default(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    before = home.vault_bytes()
    name = concept(home, PART).relative_to(home.vault).as_posix()
    said = home.json("retract", name, "--reason", "it was wrong", **NOW)
    assert said["dry"] is True
    assert [one["path"] for one in said["articles"]] == [name]
    assert said["articles"][0]["points"]
    assert home.vault_bytes() == before
    assert home.json("retract", "nothing like this was ever said", "--reason", "x", code=3, **NOW)["error"]
    assert home.run("retract", name, code=2, **NOW).returncode == 2


def test_nothing_tells_it_and_undo_brings_it_back(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    wanted = home.run("doctor", "--fingerprint", "--explain").stdout
    path = concept(home, PART)
    before = path.read_text()
    title = next(line[2:] for line in before.splitlines() if line.startswith("# "))
    assert surfaces(home, title)
    home.run("retract", title, "--reason", "it was a fnos box", "--yes", **NOW)
    after = path.read_text()
    assert "> [!warning] Retracted on 2026-06-11\n> it was a fnos box" in after
    assert "status: retracted" in after
    assert surfaces(home, title) == []
    home.run("compile", "--all", **NOW)
    home.run(*UP, **NOW)
    assert surfaces(home, title) == []
    assert path.read_text() == after
    listed = home.json("undo", **NOW)["retracted"]
    assert [one["title"] for one in listed if one["kind"] == "article"] == [title]
    # What the journal learned from the same words goes with it, and comes back with it.
    assert {one["kind"] for one in listed} == {"article", "fact"}
    assert len({one["together"] for one in listed}) == 1
    assert listed[0]["reason"] == "it was a fnos box"
    assert listed[0]["retracted_on"] == "2026-06-11"
    home.run("undo", listed[0]["uid"], **NOW)
    assert surfaces(home, title)
    assert "retracted" not in path.read_text()
    assert path.read_text() == before
    assert home.json("undo", **NOW)["retracted"] == []
    home.run(*UP, **NOW)
    assert title in titles(home)
    # What a person decided is a revision, also when it is taken back: all else is as it was.
    assert home.run("doctor", "--fingerprint", "--explain").stdout == wanted


def test_a_claim_is_found_wherever_it_is_said(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    said = home.json("retract", "a race on a shared temp directory", "--reason", "it was the disk", "--yes", **NOW)
    assert said["retracted"]
    places = [*(one["uid"] for one in said["articles"]), *(one["id"] for one in said["facts"])]
    assert sorted(said["retracted"]) == sorted(places)
    assert all("race" in " ".join(one["points"]) for one in said["articles"])
    assert home.json("retract", "a race on a shared temp directory", "--reason", "x", code=3, **NOW)["error"]
    home.run("undo", said["id"], **NOW)
    assert home.json("undo", **NOW)["retracted"] == []
    assert said["retracted"][0] not in [one["uid"] for one in home.json("undo", **NOW)["retracted"]]


def test_after_thirty_days_it_stands(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    uid = home.json("retract", concept(home, PART).stem, "--reason", "wrong", "--yes", **NOW)["retracted"][0]
    assert home.json("undo", **LATER)["retracted"] == []
    assert "30 days" in home.json("undo", uid, code=1, **LATER)["error"]["message"]
    assert home.json("undo", "a-000000000000", code=3, **NOW)["error"]["kind"] == "nothing-found"


def test_what_was_typed_in_obsidian_is_undone_too(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    path = concept(home, PART)
    path.write_text(path.read_text().replace("status: active", "status: retracted"))
    home.run(*UP, **NOW)
    listed = home.json("undo", **NOW)["retracted"]
    assert [one["path"] for one in listed if one["kind"] == "article"] == [path.relative_to(home.vault).as_posix()]
    home.run("undo", listed[0]["path"], **NOW)
    assert "status: active" in path.read_text()


def test_beside_a_running_daemon(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    path = concept(home, PART)
    with home.daemon(AFTERWORD_CAPTURE_SWEEP="1h", **NOW):
        uid = home.json("retract", path.stem, "--reason", "wrong", "--yes", **NOW)["retracted"][0]
        assert "Retracted on" in path.read_text()
        home.run("undo", uid, **NOW)
        assert "Retracted on" not in path.read_text()


def test_search_by_meaning_leaves_it_out(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", meaning=True)
    history(tmp_path / "home")
    home.run(*UP, **NOW)
    path = concept(home, PART).relative_to(home.vault).as_posix()
    question = ("search", "import faktur kodowanie polskich znaków", "--semantic")
    assert path in [one["path"] for one in home.json(*question, **NOW)["results"]]
    uid = home.json("retract", path, "--reason", "wrong", "--yes", **NOW)["retracted"][0]
    said = home.json(*question, **NOW)
    assert path not in [one["path"] for one in said["results"] if one["kind"] == "article"], json.dumps(said)
    home.run("undo", uid, **NOW)
    assert path in [one["path"] for one in home.json(*question, **NOW)["results"]]
