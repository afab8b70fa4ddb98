"""The sample history as articles, and one more session in it."""

import json
import re
import shutil
from pathlib import Path

from homes import Home

import afterword

HISTORY = Path(afterword.__file__).parent / "demo" / "history"
NOW = {"AFTERWORD_NOW": "2026-06-11T12:00:00Z"}


def history(path: Path) -> Home:
    """The sample history, compiled."""
    home = Home(path)
    shutil.copytree(HISTORY, home.path, dirs_exist_ok=True)
    home.run("up", "--once", "--settle", "0", **NOW)
    return home


def concepts(home: Home) -> dict[str, str]:
    return {path.stem: path.read_text() for path in sorted((home.vault / "knowledge/concepts").glob("*.md"))}


def titles(home: Home) -> set[str]:
    return {re.search(r"^# (.*)$", text, re.MULTILINE)[1] for text in concepts(home).values()}  # type: ignore[index]


def concept(home: Home, part: str) -> Path:
    return next(path for path in (home.vault / "knowledge").rglob("*.md") if part in path.name)


def later(
    home: Home,
    text: str,
    answer: str,
    day: str = "2026-06-10T16:00:00",
    name: str = "f1",
    project: str = "harbor-api",
) -> None:
    """One more Claude Code session."""
    rows = [
        {"type": "user", "message": {"role": "user", "content": text}},
        {
            "type": "assistant",
            "message": {"id": f"m-{name}", "role": "assistant", "content": [{"type": "text", "text": answer}]},
        },
    ]
    parent = None
    out = []
    for n, row in enumerate(rows):
        uuid = f"{name}-{n}"
        out.append(
            {
                **row, "uuid": uuid, "parentUuid": parent, "sessionId": f"0000-{name}",
                "timestamp": f"{day}.{n:03}Z", "cwd": f"/home/maya/src/{project}", "version": "2.0.0",
                "isSidechain": False, "userType": "external",
            }
        )  # fmt: skip
        parent = uuid
    path = home.path / f".claude/projects/-home-maya-src-{project}" / f"0000-{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in out))
