"""One wrong fact, told in two sessions of two projects: that the NAS is a Synology. It becomes a point of two articles,
a connection of both, a fact in each of two topics, and stands in three agents' files."""

import re
from pathlib import Path

from homes import Home
from knowledge import NOW, later

CLAIM = "the NAS is a Synology"
REASON = "we looked at its label"
INSTEAD = "The NAS runs fnos on a self-built box"
SAID = re.compile(r"NAS is a Synology", re.IGNORECASE)
SESSIONS = {
    "n1": (
        "2026-06-08T10:00:00",
        "homelab",
        "The nightly backup of the homelab breaks off since Sunday. Find out why, please.",
        """The backup job itself is fine, it waits for its share and gives up.

The root cause: the NAS is a Synology, and its SMB server drops the mount when the disks spin down.

Decision: the nightly backup wakes the disks before it mounts the share.

Lesson learned: look at the log of the server before the one of the client.""",
    ),
    "n2": (
        "2026-06-09T10:00:00",
        "harbor-api",
        "The dumps of the harbor database stop half way since last week, the timer is green all the same.",
        """The dump is written whole here, it is the copy that stops half way.

The root cause: the NAS is a Synology, and its SSH server drops the transfer when the disks spin down.

Decision: the copy is tried again three times, ten minutes apart.

Lesson learned: a timer that is green says nothing about the copy it starts.""",
    ),
}


def homelab(path: Path, *, meaning: bool = False) -> Home:
    """A home in which all of it was told, compiled and distilled, for Claude Code, Codex and Gemini CLI."""
    home = Home(path, meaning=meaning)
    home.env["AFTERWORD_COMPILE_MIN_WORDS"] = "20"
    for name, (day, project, asked, answered) in SESSIONS.items():
        later(home, asked, answered, day=day, name=name, project=project)
        (home.path / "src" / project / ".git").mkdir(parents=True)
    for told in home.path.glob(".claude/**/*.jsonl"):
        told.write_text(told.read_text().replace("/home/maya/src/", f"{home.path}/src/"))
    for agent in ("codex", "gemini"):
        home.run("learn", f"Say {agent} what to run, it does not look", "--agent", agent, "--everywhere", **NOW)
    home.run("learn", "The NAS is a Synology with four disks", "--topic", "hardware", "--everywhere", **NOW)
    home.run("up", "--once", "--settle", "0", **NOW)
    return home


def notes(home: Home, folder: str) -> dict[str, str]:
    """The notes below a folder of the vault by their names."""
    return {path.name: path.read_text() for path in sorted((home.vault / folder).glob("*.md"))}


def current(home: Home) -> dict[str, list[str]]:
    """Surface → the lines in which the vault tells it as something that holds: callouts that say when and why it was
    retracted do not, nor do the records of what was said on a day."""
    found = {}
    for path in sorted((home.vault / "knowledge").rglob("*.md")) + sorted((home.vault / "lessons").rglob("*.md")):
        text = path.read_text()
        if "status: retracted" in text or path.parent.name == "journal" or path.name == "log.md":
            continue
        lines = [
            line for line in text.splitlines() if SAID.search(line) and "~~" not in line and not line.startswith(">")
        ]
        if lines:
            found[path.relative_to(home.vault).as_posix()] = lines
    for path in sorted((home.state / "context").glob("*.txt")):
        if SAID.search(path.read_text()):
            found[path.name] = []
    return found
