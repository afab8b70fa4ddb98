"""Made-up secrets, each used in one place only, and stores of agents with such secrets wherever a text can be."""

import json
import random
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import zstandard
from redact_corpus import Positive, left_of, positives

from afterword.redact.redactor import Redactor

_SOLID = re.compile(r"[A-Za-z0-9+/=_.~!@#$%^&*?-]{8,}")
_TRIES = 12
_SHORTEST = 8
_LONGEST = 300
_TOKENS = ("github-token", "anthropic-key", "gitlab-token", "stripe-key", "npm-token", "groq-key", "huggingface-token")
"""Kinds that are one word, as it can stand in a path, a branch or a name."""


class Canaries:
    """Gives out secrets, kind by kind in turn. `places` says for each what it is and where it was put."""

    def __init__(self, seed: int = 1) -> None:
        self._rng = random.Random(seed)
        self._redactor = Redactor()
        self.places: dict[str, tuple[str, str]] = {}
        by_kind: dict[str, list[Positive]] = {}
        for row in positives():
            if _solid(row.secret) and len(row.text) <= 6 * _LONGEST:
                by_kind.setdefault(row.kind or "any", []).append(row)
        for kind, rows in by_kind.items():
            rows.sort(key=lambda row: ("\n" in row.text, len(row.text) > _LONGEST, len(_solid(row.secret)) < 12))
            # One line and short, where there are such: so it gets into a title and a note.
            by_kind[kind] = rows[: max(3, sum("\n" not in row.text and len(row.text) <= _LONGEST for row in rows))]
        self._by_kind = by_kind
        self.kinds = tuple(sorted(by_kind))
        self._turn = 0

    def text(self, place: str, kind: str = "") -> str:
        """A stretch of text with a new secret in it, as one line."""
        for _ in range(_TRIES):
            if not kind:
                self._turn += 1
            chosen = kind or self.kinds[self._turn % len(self.kinds)]
            made = self._new(self._rng.choice(self._by_kind[chosen]))
            if made:
                text, needle = made
                self.places[needle] = (chosen, place)
                return text
        raise AssertionError(f"no canary of {kind or 'any kind'}")

    def token(self, place: str) -> str:
        """A new secret that is one word."""
        for _ in range(_TRIES):
            self._turn += 1
            kind = _TOKENS[self._turn % len(_TOKENS)]
            made = self._new(self._rng.choice(self._by_kind[kind]))
            if made and re.fullmatch(r"[\w-]+", made[1]):
                self.places[made[1]] = (kind, place)
                return made[1]
        raise AssertionError("no token")

    def _new(self, row: Positive) -> tuple[str, str] | None:
        solid = _solid(row.secret)
        runs = re.findall(r"[A-Za-z0-9]+|[^A-Za-z0-9]+", solid)
        word = re.compile(r"[a-z]*|[A-Z]*|[^A-Za-z0-9]*|[A-Za-z]{,19}")
        random_ones = [run for run in runs if len(run) >= _SHORTEST and not word.fullmatch(run)] or [max(runs, key=len)]
        for _ in range(_TRIES):
            fresh = "".join(self._renewed(run, min(6, len(run) // 3)) if run in random_ones else run for run in runs)
            text = row.text.replace(solid, fresh)
            if fresh not in self.places and fresh != solid and fresh in text and not self._left(fresh, text):
                return text, fresh
        return None

    def _left(self, fresh: str, text: str) -> bool:
        return left_of(fresh, self._redactor.redact(text))

    def _renewed(self, run: str, keep: int) -> str:
        """Other characters of the same kinds; what a provider begins with stays."""
        letters = "abcdef" if re.fullmatch(r"[0-9a-f]+", run[keep:]) else "abcdefghijkmnopqrstuvwxyz"
        capitals = "ABCDEF" if re.fullmatch(r"[0-9A-F]+", run[keep:]) else "ABCDEFGHJKLMNPQRSTUVWXYZ"
        sets = {"d": "23456789", "l": letters, "u": capitals}
        kinds = ("d" if char.isdigit() else "l" if char.islower() else "u" for char in run[keep:])
        return run[:keep] + "".join(self._rng.choice(sets[kind]) for kind in kinds)


def _solid(secret: str) -> str:
    """The longest stretch of a secret that stays together however it is written."""
    found = max(_SOLID.findall(secret), key=len, default="")
    return found if len(found) >= _SHORTEST and len(set(found)) >= 6 else ""


_FREE = frozenset(
    """
    text title command cmd content message output stdout stderr error summary thought thinking old_string new_string
    oldString newString query description prompt lastPrompt last_prompt thread_name subject aggregatedOutput
    formatted_output instruction plan note result display
    """.split()  # noqa: SIM905 - a list would fill a page
)
_BRANCH = frozenset(("branch", "gitBranch", "headBranch", "git_branch"))
_MODEL = frozenset(("model", "modelId", "modelName", "model_id", "modelID", "model_slug"))
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:")


class Planted:
    """Puts canaries into an agent's store: into every text, branch and model, and into the name of its project."""

    def __init__(self, canaries: Canaries, name: str) -> None:
        self._canaries = canaries
        self._name = name
        self._known: dict[str, str] = {}
        self._project = f"orchard-{canaries.token(f'{name}: path')}"

    def store(self, home: Path) -> None:
        """Change everything below a folder in place."""
        for path in sorted(home.rglob("*"), key=lambda path: -len(path.parts)):
            if path.is_file():
                self._file(path)
            if "orchard-api" in path.name:
                path.rename(path.with_name(self._renamed(path.name)))

    def _file(self, path: Path) -> None:
        match path.suffix:
            case ".jsonl":
                path.write_text(self._lines(path.read_text()))
            case ".zst":
                text = zstandard.ZstdDecompressor().stream_reader(path.read_bytes()).read().decode()
                path.write_bytes(zstandard.compress(self._lines(text).encode()))
            case ".json":
                path.write_text(json.dumps(self._value(json.loads(path.read_text()))))
            case ".md":
                path.write_text("".join(self._markdown(line) for line in path.read_text().splitlines(keepends=True)))
            case ".db" | ".vscdb":
                self._database(path)
            case _:
                path.write_bytes(self._renamed(path.read_bytes().decode()).encode())

    def _renamed(self, text: str) -> str:
        return text.replace("orchard-api", self._project)

    def _lines(self, text: str) -> str:
        return "".join(self._line(line) for line in text.splitlines(keepends=True))

    def _line(self, line: str) -> str:
        try:
            return json.dumps(self._value(json.loads(line)), ensure_ascii=False) + "\n"
        except ValueError:
            return self._renamed(line)  # a broken line, or glued ones

    def _markdown(self, line: str) -> str:
        line = self._renamed(line)
        said = line.strip()
        if said.startswith("#### ") and "/" not in said[5:6] and "<" not in said:
            return line.rstrip("\n ") + f" {self._canaries.text(f'{self._name}: prompt')}  \n"
        if said and said[0].isalpha() and " " in said:
            return line.rstrip("\n ") + f" {self._canaries.text(f'{self._name}: text')}\n"
        return line

    def _value(self, value: Any, key: str = "") -> Any:
        match value:
            case dict():
                return {self._renamed(name): self._value(inner, name) for name, inner in value.items()}
            case list():
                return [self._value(inner, key) for inner in value]
            case str():
                return self._text(value, key)
        return value

    def _text(self, text: str, key: str) -> str:
        if text not in self._known:
            self._known[text] = self._planted(text, key)
        return self._known[text]

    def _planted(self, text: str, key: str) -> str:
        where = f"{self._name}: {key}"
        if text[:1] in "{[":
            try:
                return json.dumps(self._value(json.loads(text)))
            except ValueError:
                pass
        if key in _BRANCH and text:
            return f"{text}/{self._canaries.token(where)}"
        if key in _MODEL and text:
            return f"{text}-{self._canaries.token(where)}"
        text = self._renamed(text)
        if not text.strip() or _TIME.match(text) or not (key in _FREE or (" " in text and len(text) > 8)):
            return text
        if text.startswith("*** Begin Patch"):
            return re.sub(r"^(\+.*)$", lambda m: f"{m[1]}  # {self._line_of(where)}", text, count=1, flags=re.MULTILINE)
        if text.lstrip().startswith(("<", "/")) or text.startswith("# AGENTS.md"):
            return text
        return f"{text} ; {self._line_of(where)}" if key in ("command", "cmd") else f"{text} {self._line_of(where)}"

    def _line_of(self, where: str) -> str:
        while "\n" in (text := self._canaries.text(where)):
            pass
        return text

    def _database(self, path: Path) -> None:
        db = sqlite3.connect(path, isolation_level=None)
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = [row[1] for row in db.execute(f'PRAGMA table_info("{table}")')]
            for row in db.execute(f'SELECT rowid, * FROM "{table}"').fetchall():
                for column, value in zip(columns, row[1:], strict=True):
                    new = self._cell(value, column)
                    if new != value:
                        db.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?', (new, row[0]))
        db.close()

    def _cell(self, value: Any, column: str) -> Any:
        if isinstance(value, bytes):
            try:
                return json.dumps(self._value(json.loads(value))).encode()
            except ValueError:
                return value
        if not isinstance(value, str) or value.startswith("cursorAuth"):
            return value
        if re.fullmatch(r"(?:[0-9a-f]{2}){8,}", value) and value.startswith("7b"):
            return json.dumps(self._value(json.loads(bytes.fromhex(value)))).encode().hex()
        return self._text(value, column)


def sessions(canaries: Canaries, make: Callable[[int], Any]) -> Iterator[Any]:
    """Sessions that tell stories with secrets of every kind, so that they come as far as a text can."""
    kinds = list(canaries.kinds)
    for number, at in enumerate(range(0, len(kinds), 3)):
        three = (kinds[at:] + kinds)[:3]
        cause, decision, lesson = (
            canaries.text(f"story: {part}", kind) for part, kind in zip(_PARTS, three, strict=True)
        )
        what = _MATTERS[number % len(_MATTERS)]
        session = make(number)
        session.prompt(
            f"The {what} {number} fails every third run, find out why. It says {canaries.text('story: prompt')}"
        )
        session.command(f"pytest -q tests/t_{number}", f"E   timeout {canaries.text('story: output')}", failed=True)
        session.reply(
            f"The root cause is that the {what} is started with {cause}\n\n"
            f"Decision: the {what} gets a file of its own instead of {decision}\n\n"
            f"Lesson learned: never start the {what} with {lesson}"
        )
        session.command(f"pytest -q tests/t_{number}", f"{number} passed")
        yield session


_PARTS = ("cause", "decision", "lesson")
_MATTERS = (
    "export", "map", "queue", "invoice", "login form", "backup", "tide table", "report", "webhook", "cache", "search",
    "probe", "importer", "worker", "chart", "archive", "scheduler", "mailer", "gateway", "mirror", "parser", "router",
)  # fmt: skip
