"""What may be out of date: marked, said why, ranked lower, and nothing more; a person's word counts more."""

import datetime as dt
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from homes import Home
from knowledge import later

UP = ("up", "--once", "--settle", "0")
NOW = {"AFTERWORD_NOW": "2026-06-11T12:00:00Z"}
AFTER = {"AFTERWORD_NOW": "2026-06-20T12:00:00Z"}
FILE = "limits.py"


def git(folder: Path, day: str, *words: str) -> None:
    env = {
        **os.environ, "GIT_AUTHOR_DATE": f"{day}T10:00:00Z", "GIT_COMMITTER_DATE": f"{day}T10:00:00Z",
        "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
    }  # fmt: skip
    who = ("-c", "user.name=Maya", "-c", "user.email=maya@example.org")
    subprocess.run(["git", *who, "-C", str(folder), *words], env=env, check=True, capture_output=True)


def touched(path: Path, day: str) -> None:
    at = dt.datetime.fromisoformat(f"{day}T10:00:00+00:00").timestamp()
    os.utime(path, (at, at))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """An article that names a file which its session read."""
    home = Home(tmp_path / "home")
    home.env["AFTERWORD_COMPILE_MIN_WORDS"] = "20"
    answer = (
        f"Decision: the upload limit stays at 20 MB and lives in {FILE}, so that both services read it from there."
        f" Lesson learned: the proxy has a limit of its own, and {FILE} must stay below that."
    )
    later(home, "Where does the upload limit live? It is in two places now, make it one.", answer, name="lim")
    store = next(home.path.glob(".claude/**/0000-lim.jsonl"))
    project = home.path / "src/harbor-api"
    project.mkdir(parents=True)
    (project / FILE).write_text("LIMIT = 20\n")
    touched(project / FILE, "2026-06-09")
    read = {
        "type": "assistant", "uuid": "lim-r", "parentUuid": "lim-1", "sessionId": "0000-lim", "version": "2.0.0",
        "timestamp": "2026-06-10T16:00:01.500Z", "cwd": str(project), "isSidechain": False, "userType": "external",
        "message": {
            "id": "m-r", "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": str(project / FILE)}}],
        },
    }  # fmt: skip
    text = store.read_text().replace("/home/maya/src/", f"{home.path}/src/")
    store.write_text(text + json.dumps(read) + "\n")
    return home


def note(home: Home) -> Path:
    (path,) = [path for path in (home.vault / "knowledge/concepts").glob("*.md") if FILE in path.read_text()]
    return path


def status(home: Home) -> str:
    found = re.search(r"^status: (\w+)$", note(home).read_text(), re.MULTILINE)
    assert found
    return found[1]


def candidates(home: Home) -> list[dict[str, Any]]:
    found = home.json("review", code=None, **AFTER)["candidates"]
    return [one for one in found if one["kind"] == "stale"]


def test_a_file_that_changed_since(home: Home) -> None:
    home.run(*UP, **NOW)
    assert status(home) == "active"
    before = note(home).read_bytes()
    path = home.path / "src/harbor-api" / FILE
    path.write_text("LIMIT = 40\n")
    touched(path, "2026-06-15")
    home.run("compile", **AFTER)
    assert status(home) == "stale"
    assert f"> [!question] May be out of date\n> {FILE} changed on 2026-06-15" in note(home).read_text()
    home.run("compile", **AFTER)
    (one,) = candidates(home)
    assert one["evidence"][0] == f"{FILE} changed on 2026-06-15"
    assert FILE in (home.vault / "knowledge/review.md").read_text()
    assert "stale" in home.run("report", "--format", "md", **AFTER).stdout
    # A person says that it still holds: the mark goes, and comes back when the file changes again.
    home.run("review", "--reject", one["id"], **AFTER)
    assert status(home) == "active"
    assert note(home).read_bytes() == before
    home.run("compile", **AFTER)
    assert status(home) == "active"
    assert candidates(home) == []
    touched(path, "2026-06-25")
    later_on = {"AFTERWORD_NOW": "2026-06-26T12:00:00Z"}
    home.run("compile", **later_on)
    assert status(home) == "stale"
    # Pinned, it stays as it is, whatever is found.
    (again,) = [each for each in home.json("review", **later_on)["candidates"] if each["kind"] == "stale"]
    home.run("review", "--pin", again["id"], **later_on)
    assert status(home) == "active"
    assert "pinned: true" in note(home).read_text()
    home.run("compile", **later_on)
    assert status(home) == "active"
    # Nothing was deleted by any of this.
    assert note(home).is_file()


def test_with_git_a_fresh_checkout_is_no_change(home: Home) -> None:
    project = home.path / "src/harbor-api"
    git(project, "2026-06-09", "init", "-q")
    git(project, "2026-06-09", "add", FILE)
    git(project, "2026-06-09", "commit", "-qm", "Limit")
    home.run(*UP, **NOW)
    touched(project / FILE, "2026-06-18")
    home.run("compile", **AFTER)
    assert status(home) == "active", "its bytes are those of a commit before the article"
    (project / FILE).write_text("LIMIT = 40\n")
    touched(project / FILE, "2026-06-14")
    git(project, "2026-06-16", "commit", "-qam", "More")
    home.run("compile", **AFTER)
    assert f"{FILE} changed on 2026-06-16" in note(home).read_text()


def test_what_nobody_uses_and_what_is_told_again(home: Home) -> None:
    year = {"AFTERWORD_NOW": "2027-03-01T12:00:00Z"}
    home.run(*UP, **NOW)
    home.run("compile", AFTERWORD_COMPILE_STALE_AFTER="off", **year)
    assert status(home) == "active"
    home.run("useful", note(home).stem, AFTERWORD_NOW="2026-12-01T12:00:00Z")
    home.run("compile", **year)
    assert status(home) == "active"
    much_later = {"AFTERWORD_NOW": "2027-12-01T12:00:00Z"}
    home.run("compile", **much_later)
    assert status(home) == "stale"
    assert "not used since 2026-12-01" in note(home).read_text()
    home.run("useful", note(home).stem, **much_later)
    home.run("compile", **much_later)
    assert status(home) == "active"
