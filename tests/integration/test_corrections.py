"""What people change in daily notes and articles, and what they retract: it holds, and none of it comes back."""

import re
import shutil
from pathlib import Path

import pytest
from homes import Home
from knowledge import NOW, concept, concepts, history, later, titles

SMTP = "s-6e7334d3fb32"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return history(tmp_path / "home")


def daily(home: Home, day: str) -> Path:
    return home.vault / f"daily/2026-06-{day}.md"


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def knowledge(home: Home) -> str:
    return "\n".join(concepts(home).values())


ADDED = "The staging database moves to port 6432 because pgbouncer owns the old one."


def test_what_a_person_changes_in_a_section_is_compiled(home: Home) -> None:
    note = daily(home, "08")
    change(note, "- The column station.offsetMs is not used any more and can go.\n", "")
    change(note, "adding 86,400,000 milliseconds is wrong twice a year.", "adding a fixed number of hours is wrong.")
    change(note, "**Lessons Learned:**\n", f"**Lessons Learned:**\n- {ADDED}\n")
    written = note.read_bytes()
    days = home.json("compile", **NOW)["days"]
    assert [day["note"] for day in days] == ["daily/2026-06-08.md"]
    said = knowledge(home)
    assert "station.offsetMs is not used any more" not in said
    assert "86,400,000" not in said
    assert "adding a fixed number of hours is wrong" in said
    assert f'"{ADDED}" → point' in said
    assert note.read_bytes() == written
    assert home.json("lint")["faults"] == []
    assert home.json("compile", **NOW)["days"] == []

    # It is in the ledger: it holds when the vault is not there, and when all is made again.
    before = home.run("doctor", "--fingerprint").stdout
    away = home.path / "away"
    home.vault.rename(away)
    home.run("compile", "--all", **NOW, code=None)
    away.rename(home.vault)
    home.run("compile", "--all", **NOW)
    assert home.run("doctor", "--fingerprint").stdout == before
    assert knowledge(home) == said


def test_a_note_cut_short_takes_nothing_out(home: Home) -> None:
    note = daily(home, "08")
    whole = note.read_bytes()
    said = knowledge(home)
    note.write_bytes(whole[: whole.index(b"- The column station.offsetMs")])
    home.run("compile", **NOW)
    assert knowledge(home) == said


def test_a_point_put_back_is_compiled_again(home: Home) -> None:
    note = daily(home, "08")
    whole = note.read_bytes()
    said = knowledge(home)
    change(note, "- The column station.offsetMs is not used any more and can go.\n", "")
    home.run("compile", **NOW)
    assert "station.offsetMs is not used any more" not in knowledge(home)
    note.write_bytes(whole)
    home.run("compile", **NOW)
    assert knowledge(home) == said


RULE = "Never print the whole environment in CI; print the one variable you want to see."
AGAIN = (
    "The release log of harbor-api shows far too much, please look at what the release job prints and clean it up.",
    """The root cause is a debug step in release.yml that was left over from the migration of the runners last month.

Decision: the release job keeps its log for ninety days, on the artifact server and not on the runner itself.

Lesson learned: never print the whole environment in CI; print the one variable you want to see.""",
)
"""A session about something else that says again what was retracted."""


@pytest.mark.parametrize("deleted", [False, True], ids=["retracted", "deleted"])
def test_what_was_retracted_does_not_come_back(home: Home, deleted: bool) -> None:
    path = concept(home, "never-print")
    if deleted:
        path.unlink()
    else:
        change(path, "status: active", 'status: retracted\nretract_reason: "it is masked now"')
    home.run("up", "--once", "--settle", "0", **NOW)
    later(home, *AGAIN)
    home.run("up", "--once", "--settle", "0", **NOW)

    def others() -> str:
        return "\n".join(text for name, text in concepts(home).items() if "never-print" not in name)

    assert "keeps its log for ninety days" in others()
    assert RULE not in others()
    assert path.exists() is not deleted
    first, before = concepts(home), home.run("doctor", "--fingerprint").stdout
    home.run("compile", "--all", **NOW)
    assert concepts(home) == first
    shutil.rmtree(home.state / "chroma", ignore_errors=True)
    for name in ("text-0.db", "index.db", "vectors.db"):
        for file in home.state.glob(f"{name}*"):
            file.unlink()
    home.run("up", "--once", "--settle", "0", **NOW)
    home.run("compile", "--all", **NOW)
    assert concepts(home) == first
    assert home.run("doctor", "--fingerprint").stdout == before
    assert RULE not in others()


def test_one_of_two_doubles_deleted_leaves_the_other(home: Home) -> None:
    later(home, *AGAIN, name="f2")
    home.run("up", "--once", "--settle", "0", **NOW)
    holders = [name for name, text in concepts(home).items() if RULE in text]
    concept(home, holders[0]).unlink()
    home.run("up", "--once", "--settle", "0", **NOW)
    left = concepts(home)
    home.run("compile", "--all", **NOW)
    assert concepts(home) == left
    assert set(left) == {name for name in left if name != holders[0]}


def test_what_was_retracted_and_opened_again_may_come_back(home: Home) -> None:
    path = concept(home, "never-print")
    before = concepts(home)
    change(path, "status: active", "status: retracted")
    home.run("up", "--once", "--settle", "0", **NOW)
    change(path, "status: retracted", "status: active")
    home.run("up", "--once", "--settle", "0", **NOW)
    now = concepts(home)
    assert {name: re.sub(r"(?m)^status.*\n|^retract.*\n", "", text) for name, text in now.items()} == {
        name: re.sub(r"(?m)^status.*\n", "", text) for name, text in before.items()
    }
    assert "Never print the whole environment in CI" in titles(home)


REPLACED = (
    "The forecast cache of tidepool has to be shared by the two servers now, so please move it away from the file.",
    """Decision: we now cache the forecast in Redis instead of SQLite, because two servers share one cache.

The root cause of the double requests was that each server had a forecast cache in SQLite of its own.

Lesson learned: a forecast cache in a file is good for one machine only.""",
)


def test_a_later_decision_leads_and_the_old_one_is_history(home: Home) -> None:
    later(home, *REPLACED, name="f3", project="tidepool")
    home.run("up", "--once", "--settle", "0", **NOW)
    text = concept(home, "a-forecast-cache").read_text()
    points = text[text.index("## Key Points") : text.index("## Details")].splitlines()
    assert points[1].startswith("- We now cache the forecast in Redis instead of SQLite")
    assert (
        "- ~~Cache in SQLite, not Redis, because a command line tool must work without a server.~~ (2026-06-10)"
        in points
    )
    assert sum("~~" in line for line in points) == 1
    assert home.json("lint")["faults"] == []
