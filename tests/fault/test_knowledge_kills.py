"""Killed at random points while sessions are fed, written up, compiled every two seconds and indexed, the program ends
up equal to a run nobody disturbed, and its index holds what the ledger wants, no more and no less."""

import os
import random
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from homes import Home
from kills import LEDGER, NOTE, Feed, disturb, missing
from transcripts import telling_session

from afterword.app.articles import LedgerArticles
from afterword.domain.clock import Zones
from afterword.index import manifest
from afterword.index.chunks import cut
from afterword.index.documents import (
    diary_prints,
    lesson_prints,
    load_diary,
    load_lesson,
    load_session,
    sessions_by_age,
)
from afterword.index.keeper import FOLDER
from afterword.index.keeping import open_client
from afterword.index.standing import FILE, SIGNATURES, collection_name
from afterword.redact.exits import leave
from afterword.redact.redactor import Redactor
from afterword.store.ledger import articles
from afterword.store.ledger.ledger import Ledger, open_reader

KILLS = int(os.environ.get("AFTERWORD_TEST_KNOWLEDGE_KILLS", "6"))
SEED = int(os.environ.get("AFTERWORD_TEST_SEED", "20260614"))
DAYS = 5
FIRST = datetime(2026, 6, 8, tzinfo=UTC)

POINTS = {
    "upsert": ("index.upsert", "index.inside", "index.half"),
    "build": ("build.article", "build.commit", "article.plan", "article.written"),
    "index": ("index.upserted", "index.manifest"),
    "pages": ("build.committed", "build.files", "build.log", "atomic.write", "atomic.fsync", "atomic.rename"),
    "note": NOTE,
    "ledger": LEDGER,
}
"""Kind of place → the points there. `upsert`: between what goes out of Chroma and all that comes in; `build`: in the
transaction of a build, or between the plan of an article's file and its confirmation."""
EVERY = {"AFTERWORD_COMPILE_EVERY": "2s", "AFTERWORD_COMPILE_AT": "off"}


def fault(rng: random.Random, done: Counter[str]) -> tuple[str, str]:
    """(kind of kill, value of AFTERWORD_FAULT): what there were too few of comes first."""
    share = {"upsert": 4, "build": 4, "index": 10, "pages": 10, "note": 12, "ledger": 12, "signal": 8, "family": 8}
    short = [kind for kind, part in share.items() if done[kind] * part < KILLS]
    kind = rng.choice(short or list(share))
    if kind not in POINTS:
        return kind, ""
    point = rng.choice(POINTS[kind])
    # Reached once a record, a transaction, an article or a replaced file; the index's points once in some seconds.
    most = {"ledger.inside": 100, "build.article": 3, "article.plan": 3, "article.written": 3, "build.commit": 2}.get(
        point, {"ledger": 25, "upsert": 1, "index": 1}.get(kind, 2)
    )
    return kind, f"kill@{point}#{rng.randrange(1, most + 1)}"


@pytest.mark.slow
def test_kills_while_days_are_compiled_and_indexed_leave_no_difference(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    rng = random.Random(SEED)
    home, calm = Home(tmp_path / "disturbed", meaning=True), Home(tmp_path / "calm", meaning=True)
    feed = Feed(rng, home.path, partial(telling_session, first=FIRST, days=DAYS), most_bytes=700)
    home.run("init", "--yes")

    done: Counter[str] = Counter()
    places: Counter[str] = Counter()
    while sum(done.values()) < KILLS or min(done["upsert"], done["build"]) < KILLS // 5:
        kind, spec = fault(rng, done)
        feed.room = 2
        daemon = home.start("up", "--settle", "1s", **EVERY, **({"AFTERWORD_FAULT": spec} if spec else {}))
        wait_s = 40.0 if spec else rng.uniform(0.5, 4.0)
        killed = disturb(daemon, feed, rng, wait_s, family=kind == "family")
        by = kind if killed == "fault" or kind == "family" else "signal"
        done[by] += 1
        places[spec.partition("@")[2].partition("#")[0] if killed == "fault" else by] += 1
        assert sum(done.values()) < KILLS * 3, done
    at_work(home, feed, vectors=min(200, KILLS * 2))
    builds, days = built(home)
    vectors = len(in_chroma(home))
    while feed.give(more=False):
        pass
    home.run("up", "--once", "--settle", "0")
    feed.all_into(calm)
    calm.run("init", "--yes")
    calm.run("up", "--once", "--settle", "0")

    told = f"{sum(done.values())} kills, {dict(done)}, {dict(places)}"
    record_property("kills", f"seed {SEED}: {told}, {len(feed.sessions)} sessions, {builds} builds of {days} days,"
                             f" {vectors} vectors")  # fmt: skip
    check_equal(home, calm)
    first = home.vault_bytes()
    home.run("up", "--once", "--settle", "0")
    assert home.vault_bytes() == first
    shutil.rmtree(home.state / FOLDER)
    for path in [*home.state.glob(f"{FILE}*"), *home.state.glob("text-*.db*")]:
        path.unlink()
    home.run("up", "--once", "--settle", "0")
    assert home.vault_bytes() == first
    check_index(home)
    title = re.search(r"\[\[knowledge/concepts/[^|\]]+\|([^\]]+)\]\]", (home.vault / "knowledge/index.md").read_text())
    assert title is not None
    assert home.json("search", title[1])["results"], title[1]


def at_work(home: Home, feed: Feed, *, vectors: int) -> None:
    """Let it work until three days are compiled and so many vectors made, where a slow machine was killed before."""
    daemon = home.start("up", "--settle", "1s", **EVERY)
    end = time.monotonic() + 240
    while built(home)[1] < 3 or indexed(home) < vectors:
        feed.room = 1
        feed.give(more=True)
        assert daemon.poll() is None, daemon.communicate()
        assert time.monotonic() < end, (built(home), indexed(home))
        time.sleep(0.2)
    daemon.kill()
    daemon.communicate(timeout=30)


def check_equal(home: Home, calm: Home) -> None:
    """The ledgers are equal, the notes say the same, and each index holds what its ledger wants."""
    explain = ("doctor", "--fingerprint", "--explain")
    assert home.run(*explain).stdout.splitlines() == calm.run(*explain).stdout.splitlines()
    assert missing(home, calm) == {}
    assert knowledge(home) == knowledge(calm)
    check_log(home)
    check_index(home)
    check_index(calm)
    assert Counter(faults(home)) == Counter(faults(calm))


@contextmanager
def ledger_of(home: Home) -> Iterator[Ledger]:
    ledger = open_reader(home.state)
    try:
        yield ledger
    finally:
        ledger.close()


def faults(home: Home) -> list[str]:
    """The kinds of the faults that `lint` finds: made-up sessions tell some matters twice."""
    return [fault["kind"] for fault in home.json("lint", code=None)["faults"]]


def built(home: Home) -> tuple[int, int]:
    """How many builds there were, and of how many days that stand compiled."""
    with ledger_of(home) as ledger:
        found = articles.builds(ledger).values()
        return sum(register.rev for register, _ in found), sum(record.state == "compiled" for _, record in found)


def wanted(home: Home) -> dict[str, str]:
    """The chunks that the ledger wants in the index, id → text: from its documents, asking nothing of the index."""
    redactor = Redactor()
    found: dict[str, str] = {}
    with ledger_of(home) as ledger:
        source = LedgerArticles(ledger, Zones([]))
        documents = [source.load(ref) for ref in source.prints()]
        documents += [load_lesson(ledger, ref) for ref in lesson_prints(ledger)]
        documents += [load_diary(ledger, key) for key in diary_prints(ledger)]
        documents += [load_session(ledger, ref) for ref, _ in sessions_by_age(ledger)]
        for document in documents:
            if document is not None:
                found |= {c.id: c.text for c in cut(document, lambda text: leave("vector-index", text, redactor))}
    return found


def in_chroma(home: Home) -> dict[str, str]:
    """Every id in Chroma with its text."""
    client = open_client(home.state / FOLDER)
    try:
        found = client.get_collection(collection_name(SIGNATURES["local"]), embedding_function=None).get(
            include=["documents"]
        )
    finally:
        client.close()
    return dict(zip(found["ids"], found["documents"] or [], strict=True))


def listed(home: Home) -> set[str]:
    """Every id in the manifest."""
    held = manifest.open_reader(home.state)
    assert held is not None
    try:
        build = held.build(collection_name(SIGNATURES["local"]))
        assert build is not None
        assert build.complete
        return held.chunk_ids(build)
    finally:
        held.close()


def indexed(home: Home) -> int:
    """How many chunks the manifest lists by now."""
    held = manifest.open_reader(home.state)
    if held is None:
        return 0
    try:
        build = held.build(collection_name(SIGNATURES["local"]))
        return len(held.chunk_ids(build)) if build else 0
    finally:
        held.close()


def check_index(home: Home) -> None:
    """Chroma, the manifest and the ledger agree."""
    there, ought = in_chroma(home), wanted(home)
    assert there == ought
    assert listed(home) == set(ought)


def knowledge(home: Home) -> dict[str, list[str]]:
    """uid → the lines of its note, `index.md` by its name.

    Left out is what the order of arrival may change: an article keeps the path it first got, though an article that
    came first from half of a day had another title (so links are compared by uid); a link to a section names the
    revision that stands in the daily note; `created` and `updated` are the days on which builds touched it.
    """
    notes = {path: path.read_text() for path in (home.vault / "knowledge").glob("c*/*.md")}
    uids = {path: re.search(r"^uid: \"?(a-[0-9a-f]{12})\"?$", text, re.MULTILINE)[1] for path, text in notes.items()}  # type: ignore[index]
    assert len(set(uids.values())) == len(uids)
    names = {str(path.relative_to(home.vault).with_suffix("")): uid for path, uid in uids.items()}

    def plain(text: str) -> list[str]:
        text = re.sub(r"\[\[(knowledge/[^|\]#]+)", lambda link: f"[[{names[link[1]]}", text)
        text = re.sub(r"\^(s-[0-9a-f]{12})-r\d+", r"^\1", text)
        return [line for line in text.splitlines() if not line.startswith(("created:", "updated:"))]

    index = home.vault / "knowledge/index.md"
    return {uids[path]: plain(text) for path, text in notes.items()} | {"index": plain(index.read_text())}


def check_log(home: Home) -> None:
    """`log.md` has more entries the more often a day was built; the last one of each day is its last build's, and no
    build stands there twice."""
    marks = re.findall(
        r"^%% afterword build (\S+) ([0-9a-f]{8}) %%$", (home.vault / "knowledge/log.md").read_text(), re.MULTILINE
    )
    assert len(marks) == len(set(marks))
    with ledger_of(home) as ledger:
        assert set(dict(marks)) <= set(articles.builds(ledger))
        assert {day for day, (_, record) in articles.builds(ledger).items() if record.uids} <= set(dict(marks))
