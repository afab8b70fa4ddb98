"""What waits for a person's word: found with its evidence, decided once, and heeded from then on."""

from pathlib import Path
from typing import Any

import pytest
from homes import Home
from knowledge import NOW, later
from lessons import Notebook

from afterword.app import parting, review
from afterword.app.program import Program
from afterword.compile.rulings import marks, ruling
from afterword.domain.articles import Claim, Proposal
from afterword.domain.errors import NothingFound
from afterword.domain.ids import SegmentKey
from afterword.store.ledger import articles, partings
from afterword.store.ledger.articles import BuildRecord
from afterword.store.ledger.partings import Parting

UP = ("up", "--once", "--settle", "0")
OLD = "Decision: the forecast cache of the tide table is kept in Redis."
NEW = "Decision: the forecast cache of the tide table is kept in SQLite instead of Redis."


def quiet(_phase: str, _unit: str, _done: int, _all: int, _word: str) -> None:
    return


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.env["AFTERWORD_COMPILE_MIN_WORDS"] = "10"
    return home


@pytest.fixture
def book(tmp_path: Path) -> Notebook:
    """Two articles of which a model said that they cannot both hold."""
    made = Notebook(tmp_path / "book")
    made.make_vault()
    one, other = proposal(1, "Cache of the tide table", OLD), proposal(2, "Where the forecast is kept", NEW)
    said = ruling("contradicts", marks(other), marks(one))
    assert said
    with made.program() as program, program.ledger.transaction():
        for day, each, rulings in (("2026-06-08", one, ()), ("2026-06-09", other, (said,))):
            record = BuildRecord((), "x", "gemini", "compiled", proposals=(each,), rulings=rulings)
            articles.put_build(program.ledger, program.redactor, {}, [(day, record)])
    with made.program() as program:
        program.compiling.run([], aging=True)
    return made


def proposal(number: int, title: str, *texts: str) -> Proposal:
    points = tuple(Claim(text, SegmentKey(f"s-{number:012x}"), text) for text in texts)
    return Proposal("concept", title, points, " ".join(texts), projects=("harbor-api",))


def waiting(home: Home) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for one in home.json("review", code=None, **NOW)["candidates"]:
        found.setdefault(one["kind"], []).append(one)
    return found


def test_decided_once_and_not_asked_again(home: Home) -> None:
    thin_story = "Decision: the berth map is drawn from the north, as pilots read it that way on their screens."
    later(home, "How is the berth map drawn?", thin_story, day="2026-06-10T10:00:00", name="thin")
    home.run(*UP, **NOW)
    thin = waiting(home)["thin"]
    one = next(each for each in thin if "berth map" in each["what"])
    assert one["evidence"]
    assert "berth map" in one["evidence"][0]
    assert one["id"] in (home.vault / "knowledge/review.md").read_text()
    assert one["what"] in home.run("review", **NOW).stdout
    home.run("review", "--accept", one["id"], **NOW)
    path = next(path for path in (home.vault / "knowledge/concepts").glob("*.md") if "berth" in path.name)
    assert "status: draft" in path.read_text()
    assert all(each["id"] != one["id"] for each in waiting(home).get("thin", []))
    home.run("compile", **NOW)
    assert one["id"] not in (home.vault / "knowledge/review.md").read_text()
    home.run("review", "--reject", one["id"], code=3, **NOW)
    home.run("review", "--reject", "v-1", "--pin", "v-2", code=2, **NOW)
    assert home.run("lint", code=None, **NOW).stdout.count("broken-link") == 0


def one_of(program: Program, kind: str) -> review.Candidate:
    (found,) = [each for each in review.candidates(program.ledger) if each.kind == kind]
    return found


def test_of_two_that_cannot_both_hold_the_earlier_is_retracted(book: Notebook) -> None:
    path = book.vault / "knowledge/concepts/cache-of-the-tide-table.md"
    with book.program() as program:
        assert "> [!question] May be out of date\n> contradicted by Where the forecast is kept" in path.read_text()
        found = one_of(program, "contradiction")
        assert [shown.title for shown in found.articles] == ["Cache of the tide table", "Where the forecast is kept"]
        assert found.evidence == (NEW,)
        review.decide(program, review.Decide(found.id, "accept"), quiet, lambda: False)
        text = path.read_text()
        assert "status: retracted" in text
        assert "> Where the forecast is kept says otherwise" in text
        assert "> In its place: [[knowledge/concepts/where-the-forecast-is-kept|Where the forecast is kept]]" in text
        assert not [each for each in review.candidates(program.ledger) if each.kind == "contradiction"]


def test_that_both_hold_is_heeded(book: Notebook) -> None:
    path = book.vault / "knowledge/concepts/cache-of-the-tide-table.md"
    with book.program() as program:
        found = one_of(program, "contradiction")
        review.decide(program, review.Decide(found.id[:6], "reject"), quiet, lambda: False)
        program.compiling.run([], aging=True)
        assert "May be out of date" not in path.read_text()
        assert "status: active" in path.read_text()
        assert not [each for each in review.candidates(program.ledger) if each.kind == "contradiction"]
        with pytest.raises(NothingFound):
            review.decide(program, review.Decide(found.id, "accept"), quiet, lambda: False)


def test_two_that_tell_one_matter_become_one(tmp_path: Path) -> None:
    book = Notebook(tmp_path / "book")
    book.make_vault()
    told = proposal(1, "Export test fails", "Both jobs write to /tmp/export, so one deletes the files of the other.")
    again = proposal(2, "Flaky export", "Two jobs write to /tmp/export and one deletes the files of the other job.")
    apart = ruling("distinct", marks(again), marks(told))
    assert apart
    with book.program() as program:
        with program.ledger.transaction():
            for day, each in (("2026-06-08", told), ("2026-06-09", again)):
                record = BuildRecord((), "x", "gemini", "compiled", proposals=(each,))
                articles.put_build(program.ledger, program.redactor, {}, [(day, record)])
            # Kept apart at first, as by an older version that did not see it.
            partings.put(program.ledger, program.redactor, Parting(told.uid, again.uid, "2026-06-09", apart))
        program.compiling.run([], aging=True)
        assert len(list((book.vault / "knowledge/concepts").glob("*.md"))) == 2
        with program.ledger.transaction():
            gone = Parting(told.uid, again.uid, "2026-06-09", apart, holds=False)
            partings.put(program.ledger, program.redactor, gone)
        found = one_of(program, "duplicate")
        review.decide(program, review.Decide(found.id, "accept"), quiet, lambda: False)
        assert [path.name for path in (book.vault / "knowledge/concepts").glob("*.md")] == ["export-test-fails.md"]
        assert parting.parted(program.ledger) == []
        (united,) = parting.united(program.ledger)
        assert united.uid == told.uid


def test_a_doubtful_merge_is_parted(tmp_path: Path) -> None:
    book = Notebook(tmp_path / "book")
    book.make_vault()
    one = proposal(1, "Backups run at night", "The backup of the harbor database starts at two in the morning.")
    other = proposal(2, "Colours of the chart", "Depths below two metres are drawn in a darker blue.")
    same = ruling("same", marks(other), marks(one))
    assert same
    with book.program() as program:
        with program.ledger.transaction():
            for day, each, rulings in (("2026-06-08", one, ()), ("2026-06-09", other, (same,))):
                record = BuildRecord((), "x", "gemini", "compiled", proposals=(each,), rulings=rulings)
                articles.put_build(program.ledger, program.redactor, {}, [(day, record)])
        program.compiling.run([], aging=True)
        found = one_of(program, "merge")
        assert "Colours of the chart" in found.what
        assert any("darker blue" in line for line in found.evidence)
        review.decide(program, review.Decide(found.id, "reject"), quiet, lambda: False)
        names = sorted(path.name for path in (book.vault / "knowledge/concepts").glob("*.md"))
        assert names == ["backups-run-at-night.md", "colours-of-the-chart.md"]
        assert not [each for each in review.candidates(program.ledger) if each.kind == "merge"]
