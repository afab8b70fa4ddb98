"""Obsidian and two sync tools as adversaries of the running daemon: thousands of random steps by a second process.

They open notes and save them late, from an older copy; edit our sections, rewrite front matter, tick tasks, rename,
move and delete; a sync tool lets the last writer win, another one makes conflict copies. At the end every byte a person
wrote last is there, each section stands once, links resolve, and nothing is written any more.
"""

import os
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from adversary import ARTICLE, DAY, Person, matter_of
from homes import Home
from kills import Feed
from markdown_it import MarkdownIt
from ruamel.yaml import YAML
from transcripts import busy_session

from afterword.domain.ids import SegmentKey
from afterword.domain.sections import ref
from afterword.store.ledger import article_files, articles, segments
from afterword.store.ledger.ledger import open_reader

NOTES = "*.[mM][dD]"
STEPS = int(os.environ.get("AFTERWORD_TEST_VAULT_STEPS", "300"))
SEED = int(os.environ.get("AFTERWORD_TEST_SEED", "20260301"))
_START = re.compile(
    r"^ {0,3}%% afterword (s-[0-9a-f]{12}(?:-r\d+)?) [a-z0-9-]+ [a-z0-9-]+ [a-z0-9-]+ %%$", re.MULTILINE
)
_LINK = re.compile(r"(?<!\\)\[\[([^\]|#]*)(?:#([^\]|]*))?(?:\|[^\]]*)?\]\]")


def stats(vault: Path) -> dict[str, tuple[int, int, int]]:
    """What would show a write: time, size, inode."""
    rows = ((p, p.stat()) for p in vault.rglob("*") if p.is_file())
    return {str(p.relative_to(vault)): (s.st_mtime_ns, s.st_size, s.st_ino) for p, s in rows}


def sections(vault: Path) -> Counter[str]:
    """How often the start of each revision of a section stands in the daily notes."""
    found: Counter[str] = Counter()
    for path in (vault / "daily").glob("*.md"):
        if DAY.fullmatch(path.name):
            found.update(_START.findall(path.read_text()))
    return found


def alike(vault: Path, name: str) -> bool:
    """Whether a revision of a section stands in one note twice, byte for byte."""
    block = re.compile(rf"(?ms)^### Session \([^\n]*\n%% afterword {name} [^\n]*%%$.*?^%% /afterword {name} %%$")
    for path in (vault / "daily").glob("*.md"):
        blocks = block.findall(path.read_text())
        if DAY.fullmatch(path.name) and len(blocks) > len(set(blocks)):
            return True
    return False


def newest(home: Home) -> set[str]:
    ledger = open_reader(home.state)
    try:
        return {
            ref(SegmentKey(register.key), register.rev)
            for register, record in segments.sections(ledger)
            if not record.withdrawn_by
        }
    finally:
        ledger.close()


def held(home: Home) -> set[str]:
    """The articles of which a person holds a part, and those whose file is theirs: put back after it was taken away."""
    ledger = open_reader(home.state)
    try:
        edited = {str(each.uid) for each in articles.current(ledger) if each.edits.bodies}
        return edited | {str(uid) for uid, file in article_files.every(ledger).items() if not file.written.parts}
    finally:
        ledger.close()


def unresolved(vault: Path, theirs: set[str]) -> Iterator[str]:
    """Links of ours that lead to no note, or to no block in it, as Obsidian would look for them.

    A part that a person holds is theirs, links included, and so is a further file of an article. A section that was
    deleted comes back with its newest revision alone: links between days are asked for the note.
    """
    texts = {str(p.relative_to(vault))[:-3].casefold(): p.read_text() for p in vault.rglob(NOTES)}
    faults: dict[str, list[list[str]]] = {}
    for path in sorted(vault.rglob(NOTES)):
        text, name = path.read_text(), str(path.relative_to(vault))[:-3]
        article = ARTICLE.search(text)
        if "Conflicted" in name or not (article or DAY.fullmatch(path.name) or name == "knowledge/index"):
            continue
        row = faults.setdefault(article[1] if article else name, [])
        row.append([])
        if article and article[1] in theirs:
            text = matter_of(text)
        for target, block in _LINK.findall(re.sub(r"%%.*?%%", "", text)):
            note = texts.get((target or name).casefold())
            if note is None:
                row[-1].append(f"{name}: [[{target}]] leads nowhere")
            elif article and block.startswith("^") and not re.search(rf"(?m) {re.escape(block)}$", note):
                row[-1].append(f"{name}: [[{target}#{block}]] leads to no block")
    for row in faults.values():
        yield from min(row, key=len)


def misread(vault: Path) -> Iterator[str]:
    """Notes that others cannot read: front matter by YAML 1.2, one block of it, the rest by GitHub's Markdown."""
    markdown = MarkdownIt("gfm-like")
    for path in sorted(vault.rglob(NOTES)):
        text = path.read_text("utf-8")
        matter = matter_of(text)
        if matter:
            yaml = YAML(typ="safe", pure=True)
            yaml.version = (1, 2)  # type: ignore[assignment]
            if not isinstance(yaml.load(matter[4:-4]), dict):
                yield f"{path.name}: no front matter"
        if any(token.type == "html_block" for token in markdown.parse(text[len(matter) :])):
            yield f"{path.name}: HTML"


def test_what_a_person_writes_stays_whatever_they_and_their_tools_do(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    rng = random.Random(SEED)
    home = Home(tmp_path / "home")
    home.env |= {"AFTERWORD_CAPTURE_SWEEP": "1s", "AFTERWORD_COMPILE_EVERY": "2s", "AFTERWORD_COMPILE_MIN_WORDS": "5"}
    home.run("init", "--yes")
    feed = Feed(rng, home.path, partial(busy_session, parts=5))
    feed.room = 6 + STEPS // 60
    person = Person(rng, home.vault, tmp_path / "replica")
    with home.daemon("--settle", "1s"):
        for number in range(STEPS):
            feed.give(more=True)
            person.step()
            time.sleep(rng.uniform(0, 0.08))
            if number % 50 == 49:
                assert person.missing() == {}, (SEED, number, person.done)
                assert person.echoes == [], (SEED, number, Counter(person.echoes), person.done)
        while feed.give(more=False):
            pass
        # A daemon with nothing to do writes nothing: no echo of what was saved.
        quiet, since, end = stats(home.vault), time.monotonic(), time.monotonic() + 300
        while time.monotonic() - since < 8:
            assert time.monotonic() < end, "the daemon finds no rest"
            time.sleep(0.5)
            person.watch()
            if (now := stats(home.vault)) != quiet:
                quiet, since = now, time.monotonic()
    assert person.missing() == {}, (SEED, person.done)
    home.run("up", "--once", "--settle", "0")
    assert person.missing() == {}, (SEED, person.done)
    assert person.echoes == [], (SEED, Counter(person.echoes), person.done)

    counted, wanted = sections(home.vault), newest(home)
    record_property(
        "adversary",
        f"seed {SEED}: {STEPS} steps, {dict(person.done)}, {len(feed.sessions)} sessions, {len(wanted)} sections,"
        f" {len(person.articles())} articles",
    )
    assert len(wanted) >= 5
    twice = {name for name in person.doubled & wanted if counted[name] > 1 and not alike(home.vault, name)}
    assert {name: counted[name] for name in wanted - twice if counted[name] != 1} == {}, (SEED, person.done)
    assert {name for name, many in counted.items() if many > 1 and name not in person.doubled} == set()
    assert list(unresolved(home.vault, held(home))) == []
    assert list(misread(home.vault)) == []
    there = {uid for path in person.articles() for uid in ARTICLE.findall(path.read_text())}
    assert not person.deleted & there, "what was deleted came back"
    before = stats(home.vault)
    home.run("up", "--once", "--settle", "0")
    assert stats(home.vault) == before
