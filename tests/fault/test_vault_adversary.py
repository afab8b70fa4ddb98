"""Obsidian and two sync tools as adversaries of the running daemon: thousands of random steps by a second process.

It opens notes and saves them late, from an older copy; edits our sections, ticks tasks, renames, moves and deletes;
a sync tool lets the last writer win, another one makes conflict copies. At the end every byte a person wrote last is
there, each section stands once, links resolve, and nothing is written any more.
"""

import os
import random
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from homes import Home
from kills import Feed
from transcripts import busy_session

from afterword.domain.daily import Mark, find_markers, spans
from afterword.domain.ids import SegmentKey
from afterword.domain.sections import ref
from afterword.store.ledger import segments
from afterword.store.ledger.ledger import open_reader

STEPS = int(os.environ.get("AFTERWORD_TEST_VAULT_STEPS", "300"))
SEED = int(os.environ.get("AFTERWORD_TEST_SEED", "20260301"))
DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.md")
POINT = re.compile(r"^- (?!\[)(.+)$", re.MULTILINE)


ARTICLE = re.compile(r'\A.{0,80}^uid: "(.*?)"$', re.MULTILINE | re.DOTALL)


def words_in(text: str) -> set[str]:
    """The words a person typed into a note of this kind."""
    return set(re.findall(rf"typed-{'article' if ARTICLE.search(text) else 'day'}-\d+-by-me", text))


class Person:
    """Somebody at work in the vault. `wrote` is what each file held when they, or their sync tool, wrote it last."""

    def __init__(self, rng: random.Random, vault: Path, replica: Path) -> None:
        self.rng = rng
        self.vault = vault
        self.replica = replica
        self.wrote: dict[Path, set[str]] = {}
        self.open: list[tuple[Path, str]] = []
        self.deleted: set[str] = set()
        self.doubled: set[str] = set()
        """Sections a merge doubled: where somebody changed one of the two before they were seen, both are theirs."""
        self.done: Counter[str] = Counter()
        self.synced: dict[str, bytes] = {}
        self._count = 0

    def word(self, text: str) -> str:
        """A word that stands nowhere else, to be typed into this text; what a day teaches gets into articles, too."""
        self._count += 1
        return f"typed-{'article' if ARTICLE.search(text) else 'day'}-{self._count:05}-by-me"

    def days(self) -> list[Path]:
        return sorted(p for p in (self.vault / "daily").glob("*.md") if DAY.fullmatch(p.name))

    def articles(self) -> list[Path]:
        found = []
        for path in sorted(self.vault.rglob("*.md")):
            if ARTICLE.search(path.read_text("utf-8", "replace")) and "Conflicted" not in path.name:
                found.append(path)
        return found

    def save(self, path: Path, text: str) -> None:
        """Write a file as editors do; what stands in it now is what must stay."""
        beside = path.with_name(f".{path.name}.saving")
        beside.write_text(text)
        if self.rng.random() < 0.7:
            # Saved a while ago, so that the daemon need not wait.
            at = beside.stat().st_mtime - self.rng.choice((8, 70, 400))
            os.utime(beside, (at, at))
        beside.replace(path)
        self.wrote[path] = words_in(text)

    def begin(self) -> None:
        """Open a note, to save it some steps later as it is now and with something typed."""
        if row := self.days() + self.articles():
            path = self.rng.choice(row)
            self.open.append((path, path.read_text()))

    def finish(self) -> None:
        if self.open:
            path, text = self.open.pop(self.rng.randrange(len(self.open)))
            if path.parent.is_dir() and (path.exists() or self.rng.random() < 0.3):
                self.save(path, self.typed(text))
                self.deleted -= set(ARTICLE.findall(text))

    def typed(self, text: str) -> str:
        """The text with a line more, somewhere a person would write."""
        line = self.rng.choice(("{}", "- {}", "- [ ] {}", "> {}", "## {}", "{} with ünïcödé 🚀")).format(
            self.word(text)
        )
        if ARTICLE.search(text):
            at = text.find("\n## ", text.find("\n## Details") + 1) if self.rng.random() < 0.5 else -1
            return (
                text[:at] + f"\n{line}\n" + text[at:] if at > 0 else text.rstrip("\n") + f"\n\n## My notes\n\n{line}\n"
            )
        where = self.rng.choice(("top", "end", "between"))
        if where == "end":
            return text + ("" if text.endswith("\n") else "\n") + line + self.rng.choice(("", "\n", "\n\n"))
        at = text.find("\n# ") if where == "top" else text.find("\n### Session", self.rng.randrange(len(text) + 1))
        at = text.find("\n", at + 1) if at >= 0 else len(text)
        return text[:at] + f"\n{line}\n" + text[at:] if where == "top" else text[:at] + f"\n\n{line}\n" + text[at:]

    def edit(self) -> None:
        """Change a point of ours, or tick a task, in place."""
        if row := self.days() + self.articles():
            path = self.rng.choice(row)
            text = path.read_text()
            if self.rng.random() < 0.4 and "- [ ] " in text:
                self.save(path, text.replace("- [ ] ", "- [x] ", 1))
            elif points := [m for m in POINT.finditer(text) if "[[" not in m[0]]:
                found = self.rng.choice(points)
                said = f"{found[1]} {self.word(text)}" if self.rng.random() < 0.7 else self.word(text)
                self.save(path, text[: found.start(1)] + said + text[found.end(1) :])

    def delete(self) -> None:
        row = self.days() if self.rng.random() < 0.5 else self.articles()[:1] if self.rng.random() < 0.2 else []
        if row:
            path = self.rng.choice(row)
            self.deleted.update(ARTICLE.findall(path.read_text()))
            path.unlink()
            self.wrote.pop(path, None)

    def rename(self) -> None:
        row = self.articles()
        aside = sorted((self.vault / "daily").glob("* aside.md"))
        if aside and self.rng.random() < 0.7:
            self.move(aside[0], aside[0].with_name(aside[0].name.replace(" aside", "")))
        elif row and self.rng.random() < 0.6:
            path = self.rng.choice(row)
            name = self.rng.choice(
                (path.name.upper(), f"{path.stem[:30]}-{self.rng.randrange(9)}.md", f"My {path.name}")
            )
            target = self.rng.choice((path.parent, self.vault)) / name[:90]
            if not target.exists():
                self.move(path, target)
        elif days := self.days():
            path = self.rng.choice(days)
            self.move(path, path.with_name(f"{path.stem} aside.md"))

    def move(self, path: Path, target: Path) -> None:
        self.wrote.pop(target, None)
        path.replace(target)
        self.wrote[target] = self.wrote.pop(path, set())

    def sync(self) -> None:
        """The other device writes an older copy; then one of two tools brings both together."""
        row = self.days() + [path for path in self.articles() if path.is_relative_to(self.vault / "knowledge")]
        if not row:
            return
        path = self.rng.choice(row)
        name = str(path.relative_to(self.vault))
        there = self.replica / name
        there.parent.mkdir(parents=True, exist_ok=True)
        if name not in self.synced or self.rng.random() < 0.4:
            shutil.copy2(path, there)
            self.synced[name] = there.read_bytes()
            return
        text = self.typed(there.read_text())
        there.write_text(text)
        if self.rng.random() < 0.5:
            self.save(path, text)  # the last writer wins, and wrote the older text
        elif path.read_bytes() != self.synced[name]:
            stamp = f"{path.stem} (Conflicted copy Phone 2026030{self.rng.randrange(1, 9)}1200).md"
            self.save(path.with_name(stamp), text)
        else:
            self.save(path, text)
        self.synced[name] = there.read_bytes()

    def merge(self) -> None:
        """A merge of two copies that both have a section, as editors merge: it stands there twice."""
        if row := self.days():
            path = self.rng.choice(row)
            text = path.read_text()
            if blocks := re.findall(r"(?ms)^### Session \(.*?^%% /afterword \S+ %%\n", text):
                block = self.rng.choice(blocks)
                self.doubled.update(re.findall(r"(?m)^%% /afterword (\S+) %%$", block))
                self.save(path, f"{text}\n{block}")

    def step(self) -> None:
        what = self.rng.choices(
            (self.begin, self.finish, self.edit, self.rename, self.delete, self.sync, self.merge),
            (6, 6, 6, 2, 1, 4, 1),
        )[0]
        try:
            what()
        except FileNotFoundError:
            self.done["gone meanwhile"] += 1
        self.done[what.__name__] += 1

    def missing(self) -> dict[str, set[str]]:
        """What somebody typed and that is in its file no more."""
        lost = {}
        for path, words in self.wrote.items():
            if gone := words - words_in(path.read_text() if path.exists() else ""):
                lost[str(path.relative_to(self.vault))] = gone
        return lost


def stats(vault: Path) -> dict[str, tuple[int, int, int]]:
    """What would show a write: time, size, inode."""
    rows = ((p, p.stat()) for p in vault.rglob("*") if p.is_file())
    return {str(p.relative_to(vault)): (s.st_mtime_ns, s.st_size, s.st_ino) for p, s in rows}


def sections(vault: Path) -> Counter[str]:
    """How often the start of each revision of a section stands in the daily notes."""
    found: Counter[str] = Counter()
    for path in (vault / "daily").glob("*.md"):
        if DAY.fullmatch(path.name):
            marks = find_markers(path.read_bytes(), fenced=True)
            found.update(ref(mark.key, mark.rev) for mark in marks if mark.mark is Mark.START)
    return found


def alike(vault: Path, name: str) -> bool:
    """Whether a revision of a section stands in one note twice, byte for byte."""
    for path in (vault / "daily").glob("*.md"):
        note = path.read_bytes()
        blocks = [note[s.start : s.end] for s in spans(note) if s.closed and ref(s.key, s.rev) == name]
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
            time.sleep(rng.uniform(0, 0.12))
            if number % 50 == 49:
                assert person.missing() == {}, (SEED, number, person.done)
        while feed.give(more=False):
            pass
        # A daemon with nothing to do writes nothing: no echo of what was saved.
        quiet, since, end = stats(home.vault), time.monotonic(), time.monotonic() + 300
        while time.monotonic() - since < 8:
            assert time.monotonic() < end, "the daemon finds no rest"
            time.sleep(0.5)
            if (now := stats(home.vault)) != quiet:
                quiet, since = now, time.monotonic()
    assert person.missing() == {}, (SEED, person.done)
    home.run("up", "--once", "--settle", "0")
    assert person.missing() == {}, (SEED, person.done)
    record_property("adversary", f"seed {SEED}: {STEPS} steps, {dict(person.done)}, {len(feed.sessions)} sessions")

    counted, wanted = sections(home.vault), newest(home)
    assert len(wanted) >= 5
    twice = {name for name in person.doubled & wanted if counted[name] > 1 and not alike(home.vault, name)}
    assert {name: counted[name] for name in wanted - twice if counted[name] != 1} == {}, (SEED, person.done)
    assert [fault for fault in home.json("lint", code=None)["faults"] if fault["kind"] == "broken"] == []
    there = {uid for path in person.articles() for uid in ARTICLE.findall(path.read_text())}
    assert not person.deleted & there, "what was deleted came back"
    before = stats(home.vault)
    home.run("up", "--once", "--settle", "0")
    assert stats(home.vault) == before
