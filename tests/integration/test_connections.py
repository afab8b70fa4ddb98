"""Connections in the vault: made of sessions on different days, kept, added to, retracted, and gone with a concept."""

import itertools
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from homes import Home
from knowledge import NOW, concept, history, later

from afterword.compile.build import Compile
from afterword.compile.extractive import Extractive
from afterword.domain.articles import CompileInput, Pair, Proposal, Verdict
from afterword.domain.digest import Digest, DigestInput
from afterword.redact.redactor import Redactor
from afterword.store.ledger.ledger import open_writer

SESSIONS = {
    "c1": (
        "2026-06-08T09:00:00",
        "harbor-api",
        "The customer list takes nine seconds to open since the import of last week. Find out why, please.",
        """The customer list asks for names only, the page itself is fast.

The root cause: the query on customers.name scans the whole table because the index is missing.

Decision: add the index on customers.name concurrently, so that no write waits for it.

Lesson learned: after an import of this size look at the plan of the three slowest pages.""",
    ),
    "c2": (
        "2026-06-09T09:00:00",
        "tidepool",
        "The monthly report of tidepool does not finish any more, it is killed after ten minutes. What is going on?",
        """The report is killed by the scheduler after ten minutes, memory is fine.

The root cause: the query on readings.taken_at scans the whole table because the index is missing.

Decision: the report keeps its limit of ten minutes, a longer one would only hide such a thing.

Lesson learned: let the scheduler say which statement it was waiting for when it kills a job.""",
    ),
    "c3": (
        "2026-06-10T09:00:00",
        "harbor-api",
        "Bookings by berth time out in the morning when the harbour masters log in. Nothing was deployed.",
        """Every harbour master opens the page of his berth at seven, forty at once.

The root cause: the query on bookings.berth scans the whole table because the index is missing.

Decision: the page of a berth shows the next thirty days only.

Lesson learned: load tests need as many rows as production has.""",
    ),
}
FACT = "The query on customers.name scans the whole table because the index is missing."


def feed(home: Home, *names: str) -> None:
    for name in names:
        day, project, asked, answered = SESSIONS[name]
        later(home, asked, answered, day=day, name=name, project=project)
    home.run("up", "--once", "--settle", "0", **NOW)


def made(home: Home) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted((home.vault / "knowledge/connections").glob("*.md"))}


def part(text: str, name: str) -> list[str]:
    return text.partition(f"## {name}\n")[2].partition("\n\n## ")[0].strip().splitlines()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    feed(home, "c1", "c2")
    return home


def test_it_reads_well_and_proves_itself(home: Home) -> None:
    [text] = made(home).values()
    assert "\n# Same cause in harbor-api and tidepool: The query on readings.taken_at scans" in text
    assert "type: connection\n" in text
    assert 'projects: ["harbor-api", "tidepool"]' in text
    links = re.search(r"^connects: \[(.*)\]$", text, re.MULTILINE)
    assert links
    assert len(re.findall(r"\[\[knowledge/concepts/[\w-]+\]\]", links[1])) == 2
    assert [line for line in part(text, "Key Points") if "scans the whole table" in line] == part(text, "Key Points")
    sources = part(text, "Sources")
    assert [line.partition("#^")[0] for line in sources] == ["- [[daily/2026-06-08", "- [[daily/2026-06-09"]
    assert all("because the index is missing" in line for line in sources)
    assert len(part(text, "Related Concepts")) == 2
    assert home.json("lint")["faults"] == []
    log = (home.vault / "knowledge/log.md").read_text()
    assert log.count("- created: Same cause in harbor-api and tidepool") == 1
    assert "\n## Connections\n" in (home.vault / "knowledge/index.md").read_text()
    # The articles it connects lead there.
    name = next(iter(made(home))).removesuffix(".md")
    holders = [
        path for path in (home.vault / "knowledge/concepts").glob("*.md")
        if f"[[knowledge/connections/{name}|" in path.read_text()
    ]  # fmt: skip
    assert len(holders) == 2


def test_a_third_session_is_added_to_it(home: Home) -> None:
    [before] = made(home)
    feed(home, "c3")
    [(name, text)] = made(home).items()
    assert name == before
    assert len(part(text, "Key Points")) == 3
    assert "updated: 2026-06-10" in text
    assert "created: 2026-06-09" in text
    log = (home.vault / "knowledge/log.md").read_text()
    assert log.count("- added to: Same cause in harbor-api and tidepool") == 1
    assert home.json("lint")["faults"] == []


def test_any_order_and_all_again_give_the_same(home: Home, tmp_path: Path) -> None:
    feed(home, "c3")
    wanted = made(home)
    explain = ("doctor", "--fingerprint")
    for n, order in enumerate(itertools.permutations(SESSIONS)):
        if order in (("c1", "c2", "c3"), ("c2", "c1", "c3"), ("c1", "c3", "c2")):
            continue
        other = Home(tmp_path / f"other{n}")
        for name in order:
            feed(other, name)
        assert made(other) == wanted, order
        assert other.run(*explain).stdout == home.run(*explain).stdout
    home.run("compile", "--all", **NOW)
    assert made(home) == wanted


@pytest.mark.parametrize("deleted", [False, True])
def test_retracted_it_stays_away_and_its_facts_stay(home: Home, deleted: bool) -> None:
    [name] = made(home)
    path = home.vault / "knowledge/connections" / name
    if deleted:
        path.unlink()
    else:
        path.write_text(path.read_text().replace("status: active", "status: retracted", 1))
    home.run("up", "--once", "--settle", "0", **NOW)
    feed(home, "c3")
    home.run("compile", "--all", **NOW)
    assert list(made(home)) == ([] if deleted else [name])
    facts = [p.read_text() for p in (home.vault / "knowledge/concepts").glob("*.md")]
    assert sum(FACT in text.partition("## Details")[0] for text in facts) == 1
    assert sum("query on bookings.berth scans" in text.partition("## Details")[0] for text in facts) == 1
    # No page leads to it but by the callout that says it was retracted.
    leading = [line for text in facts for line in text.split("\n") if "[[knowledge/connections/" in line]
    assert all(line.startswith("> ") and not deleted for line in leading)
    assert home.json("lint")["faults"] == []


def test_it_goes_with_a_concept(home: Home) -> None:
    text = next(iter(made(home).values()))
    linked = re.search(r"\[\[knowledge/concepts/([\w-]+)\]\]", text)
    assert linked
    path = concept(home, f"{linked[1]}.md")
    path.write_text(path.read_text().replace("status: active", "status: retracted", 1))
    home.run("up", "--once", "--settle", "0", **NOW)
    home.run("compile", **NOW)
    assert made(home) == {}
    assert home.json("lint")["faults"] == []


def test_the_sample_history_has_no_connection_and_no_plan(tmp_path: Path) -> None:
    home = history(tmp_path / "demo")
    assert made(home) == {}
    names = [path.stem for path in (home.vault / "knowledge/concepts").glob("*.md")]
    assert len(names) == 8
    assert not any("15-00" in name for name in names)
    said = "\n".join(path.read_text() for path in (home.vault / "knowledge/concepts").glob("*.md"))
    assert "- 原因は format.ts の 12 行目です" not in said
    assert home.json("lint")["faults"] == []


def test_a_day_with_two_articles_is_thin_and_another_embedder_folds_anew(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", meaning=True)
    home.env["AFTERWORD_INDEX_EMBEDDER"] = "off"
    feed(home, "c1")
    log = (home.vault / "knowledge/log.md").read_text()
    count = len(list((home.vault / "knowledge/concepts").glob("*.md")))
    assert 0 < count < 3
    assert f"- thin: {count} of the 3 that a day should give" in log
    feed(home, "c2", "c3")
    words = home.run("doctor", "--fingerprint").stdout
    first = home.vault_bytes()

    # By meaning, and back by words: all articles are folded again, and are what they were.
    del home.env["AFTERWORD_INDEX_EMBEDDER"]
    feed(home)
    calm = Home(tmp_path / "calm", meaning=True)
    feed(calm, *SESSIONS)
    shown = [line for line in home.run("doctor", "--fingerprint").stdout.splitlines() if "article" in line]
    assert shown == [line for line in calm.run("doctor", "--fingerprint").stdout.splitlines() if "article" in line]
    home.env["AFTERWORD_INDEX_EMBEDDER"] = "off"
    feed(home)
    assert home.run("doctor", "--fingerprint").stdout == words
    concepts = {name: text for name, text in home.vault_bytes().items() if "concepts" in str(name)}
    assert concepts == {name: text for name, text in first.items() if "concepts" in str(name)}
    shutil.rmtree(calm.path)


class Listening:
    """The extractive engine, and what it was asked."""

    def __init__(self) -> None:
        self.name = "extractive"
        self.paid = False
        self.asked: list[CompileInput] = []
        self._engine = Extractive()

    def digest(self, segment: DigestInput) -> Digest:
        return self._engine.digest(segment)

    def compile(self, day: CompileInput) -> list[Proposal]:
        self.asked.append(day)
        return self._engine.compile(day)

    def compare(self, day: str, pairs: Sequence[Pair]) -> list[Verdict]:
        del day, pairs
        return []

    def nothing(self, day: CompileInput) -> None:
        self._engine.nothing(day)


def test_a_day_that_gives_few_articles_is_asked_once_more(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    feed(home, "c1")
    alone = Home(tmp_path / "alone")
    feed(alone, "c1")
    faults = {}
    for each in (home, alone):
        ledger = open_writer(each.state, "box")
        try:
            engine = Listening()
            made = Compile(ledger, Redactor(), engine, min_words=0)
            outcome = made.run(made.all_days(), again=True, dry=True)
        finally:
            ledger.close()
        assert {day.state for day in outcome.days} == {"compiled"}
        faults[each] = [given.fault for given in engine.asked]
    # Days with three articles are asked for once; the other again, with the fault named, and not a third time.
    assert faults[home] == ["", "", ""]
    assert faults[alone][0] == ""
    assert len(faults[alone]) == 2
    assert re.fullmatch(r"[012] articles, 3 to 7 are wanted", faults[alone][1])
