"""Somebody at work in a vault while the daemon writes it, with Obsidian and with tools that copy it between devices.

What they wrote is judged by readers of other people's: GitHub's Markdown, YAML 1.2, and plain searches for markers.
"""

import os
import random
import re
import shutil
from collections import Counter
from io import StringIO
from pathlib import Path

from ruamel.yaml import YAML

DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.md")
ARTICLE = re.compile(r'\A---\n(?:(?!---\n)[^\n]*\n)*?uid: ["\']?(a-[0-9a-f]{12})["\']?\n')
TYPED = re.compile(r"typed-(?:article|day)-\d+-by-me")
_POINT = re.compile(r"^- (?!\[)(.+)$", re.MULTILINE)
_BLOCK = re.compile(r"(?ms)^### Session \([^\n]*\n%% afterword (s-\S+) [^\n]*%%$.*?^%% /afterword \1 %%\n?")


def words_in(text: str) -> set[str]:
    """The words a person typed into a note of this kind."""
    kind = "article" if ARTICLE.search(text) else "day"
    return {word for word in TYPED.findall(text) if word.startswith(f"typed-{kind}-")}


def typed_lines(text: str) -> set[str]:
    """The lines with words a person typed, each byte of them; of front matter the words alone.

    Once each: a section that a merge doubled, a person's words in it, is to be there once.
    """
    words, matter = words_in(text), matter_of(text)
    found = {line for line in text[len(matter) :].split("\n") if words & set(TYPED.findall(line))}
    return found | (words & set(TYPED.findall(matter)))


def matter_of(text: str) -> str:
    """The front matter with both its fences; empty where there is none."""
    found = re.match(r"---\n.*?\n---\n", text, re.DOTALL)
    return found[0] if found else ""


def outside(text: str) -> list[str]:
    """The lines of a daily note that stand in no section of ours, but for empty ones."""
    return [line for line in _BLOCK.sub("", text).split("\n") if line.strip()]


class Person:
    """Somebody at work. `wrote` is what each file held when they, or their sync tool, wrote it last."""

    def __init__(self, rng: random.Random, vault: Path, replica: Path) -> None:
        self.rng = rng
        self.vault = vault
        self.replica = replica
        self.wrote: dict[Path, str] = {}
        self.open: list[tuple[Path, str]] = []
        self.deleted: set[str] = set()
        self.doubled: set[str] = set()
        """Sections a merge doubled: where somebody changed one of the two before they were seen, both are theirs."""
        self.done: Counter[str] = Counter()
        self.synced: dict[str, bytes] = {}
        self.seen: dict[str, tuple[tuple[int, int, int], int]] = {}
        self.echoes: list[str] = []
        """Files that were written anew with the bytes they held."""
        self._count = 0

    def word(self, text: str) -> str:
        """A word that stands nowhere else, to be typed into this text; what a day teaches gets into articles, too."""
        self._count += 1
        return f"typed-{'article' if ARTICLE.search(text) else 'day'}-{self._count:05}-by-me"

    def days(self) -> list[Path]:
        return sorted(p for p in (self.vault / "daily").glob("*.md") if DAY.fullmatch(p.name))

    def articles(self) -> list[Path]:
        found = []
        for path in sorted(self.vault.rglob("*.[mM][dD]")):
            with path.open(encoding="utf-8", errors="replace") as file:
                if ARTICLE.search(file.read(8000)) and "Conflicted" not in path.name:
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
        self.wrote[path] = text
        self._mine(path)

    def _mine(self, path: Path) -> None:
        """What this file is like now is the person's doing."""
        self.seen.pop(str(path.relative_to(self.vault)), None)

    def watch(self) -> None:
        """Look for files that somebody else wrote: each must hold other bytes than before."""
        now = {}
        for path in self.vault.rglob("*"):
            if path.name.startswith(".") or not path.is_file():
                continue
            name = str(path.relative_to(self.vault))
            try:
                at = path.stat()
                was = self.seen.get(name)
                stamp = (at.st_mtime_ns, at.st_size, at.st_ino)
                held = was[1] if was and was[0] == stamp else hash(path.read_bytes())
            except FileNotFoundError:
                continue
            if was and was[0] != stamp and was[1] == held:
                self.echoes.append(name)
            now[name] = (stamp, held)
        self.seen = now

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
            elif points := [m for m in _POINT.finditer(text) if "[[" not in m[0]]:
                found = self.rng.choice(points)
                said = f"{found[1]} {self.word(text)}" if self.rng.random() < 0.7 else self.word(text)
                self.save(path, text[: found.start(1)] + said + text[found.end(1) :])

    def properties(self) -> None:
        """Rewrite the front matter as editors of properties do: another order, other quotes, a key of the person's."""
        if row := self.days() + self.articles():
            path = self.rng.choice(row)
            text = path.read_text()
            if matter := matter_of(text):
                yaml = YAML(pure=True)
                yaml.width = 10_000
                values = yaml.load(matter[4:-4])
                keys = list(values)
                self.rng.shuffle(keys)
                out = StringIO()
                yaml.dump({key: values[key] for key in keys} | {"mood": self.word(text)}, out)
                self.save(path, f"---\n{out.getvalue()}---\n{text[len(matter) :]}")

    def own(self) -> None:
        """A note of the person's own, or the daily note of a day, made before the program needs it."""
        if self.rng.random() < 0.5:
            path = self.vault / f"Own {self.rng.randrange(40)}.md"
            self.save(path, f"{path.read_text() if path.exists() else '# Own'}\n{self.word('')}\n")
            return
        path = self.vault / f"daily/2026-0{self.rng.randrange(3, 6)}-{self.rng.randrange(1, 31):02}.md"
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            head = self.rng.choice(("", "---\nmood: fine\n---\n", "# My day\n\n", "## Sessions\n\nmine\n\n## After\n"))
            self.save(path, head + self.word("") + self.rng.choice(("", "\n")))

    def delete(self) -> None:
        row = self.days() if self.rng.random() < 0.5 else self.articles()[:1] if self.rng.random() < 0.1 else []
        if row:
            path = self.rng.choice(row)
            gone = set(ARTICLE.findall(path.read_text()))
            path.unlink()
            # Saved under an old name before, it is still there.
            self.deleted |= gone - {uid for other in self.articles() for uid in ARTICLE.findall(other.read_text())}
            self.wrote.pop(path, None)
            self._mine(path)

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
        path.replace(target)
        self.wrote.pop(target, None)
        self._mine(path)
        self._mine(target)
        if path in self.wrote:
            self.wrote[target] = self.wrote.pop(path)

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
            self.save(path, text)
            self.done["the last writer won"] += 1
        elif path.read_bytes() != self.synced[name]:
            stamp = f"{path.stem} (Conflicted copy Phone 2026030{self.rng.randrange(1, 9)}1200).md"
            self.save(path.with_name(stamp), text)
            self.done["a conflicted copy"] += 1
        else:
            self.save(path, text)
        self.synced[name] = there.read_bytes()

    def merge(self) -> None:
        """A merge of two copies that both have a section, as editors merge: it stands there twice."""
        if row := self.days():
            path = self.rng.choice(row)
            text = path.read_text()
            if blocks := list(_BLOCK.finditer(text)):
                block = self.rng.choice(blocks)
                self.doubled.add(block[1])
                self.save(path, f"{text}\n{block[0]}")

    def step(self) -> None:
        what = self.rng.choices(
            (self.begin, self.finish, self.edit, self.rename, self.delete, self.sync, self.merge, self.properties,
             self.own),
            (6, 6, 6, 2, 1, 4, 1, 2, 1),
        )[0]  # fmt: skip
        try:
            what()
        except FileNotFoundError:
            self.done["gone meanwhile"] += 1
        self.done[what.__name__] += 1
        self.watch()

    def missing(self) -> dict[str, list[str]]:
        """What somebody wrote and that is in its file no more, by file."""
        lost = {}
        for path, saved in self.wrote.items():
            now = path.read_text() if path.exists() else ""
            gone = sorted(typed_lines(saved) - typed_lines(now))
            if not ARTICLE.search(saved):
                rest = iter(outside(now))
                gone += [line for line in outside(saved) if line not in rest]
            if gone:
                lost[str(path.relative_to(self.vault))] = gone
        return lost
