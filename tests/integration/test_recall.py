"""What a session begins with: by use and age, of this project and agent, never taken for talk, and kept in a block of
an agent's own file where somebody asks for that."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from homelab import homelab, notes
from homes import Home
from knowledge import NOW, history

ROUNDS = int(os.environ.get("AFTERWORD_TEST_RECALL_ROUNDS", "3"))
UP = ("up", "--once", "--settle", "0")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return homelab(tmp_path / "home")


def recalled(home: Home, project: str, *words: str) -> list[dict[str, Any]]:
    return home.json("recall", str(home.path / "src" / project), *words, **NOW)["results"]  # type: ignore[no-any-return]


def test_lessons_have_their_scope(home: Home) -> None:
    home.run("learn", "Ask before you reboot the NAS", "--project", "homelab", **NOW)
    home.run("learn", "Berth numbers begin at one", "--project", "harbor-api", **NOW)
    home.run("distill", **NOW)
    texts = " ".join(row["text"] for row in recalled(home, "homelab"))
    assert "Ask before you reboot the NAS" in texts
    assert "Berth numbers" not in texts
    assert "Say codex" not in texts
    codex = {row["text"]: row["why"] for row in recalled(home, "homelab", "--agent", "codex")}
    assert any("for codex" in why for text, why in codex.items() if "Say codex" in text)
    whys = [" ".join(row["why"]) for row in recalled(home, "homelab")]
    assert any("learned in homelab" in why for why in whys)


def test_what_is_used_comes_first_and_what_is_stale_last(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    folder = str(home.path / "harbor-api")
    Path(folder).mkdir()
    env = {**NOW, "AFTERWORD_RECALL_TOKENS": "20000"}

    def order() -> list[dict[str, Any]]:
        return [row for row in home.json("recall", folder, **env)["results"] if row["kind"] == "article"]

    before = [row["path"] for row in order()]
    last = before[-1]
    for _ in range(6):
        home.run("useful", last, **NOW)
    home.run("compile", **NOW)
    after = order()
    assert after[0]["path"] == last
    assert "opened or cited 6 times" in after[0]["why"]
    assert "use_count: " in (home.vault / last).read_text()
    first = home.vault / before[0]
    first.write_text(first.read_text().replace("status: active", "status: stale"))
    home.run("compile", **NOW)
    stale = order()[-1]
    assert stale["path"] == before[0]
    assert "may be out of date" in stale["text"]


def test_the_budget_holds_and_says_what_did_not_fit(home: Home) -> None:
    for number in range(60):
        home.run(
            "learn", f"Thing number {number} has to be switched on by hand, in the panel of it", "--everywhere", **NOW
        )
    home.run("distill", **NOW)
    found = home.json("recall", str(home.path / "src/homelab"), AFTERWORD_RECALL_TOKENS="300", **NOW)
    assert found["budget_chars"] == 1_200
    assert sum(len(row["text"]) + 1 for row in found["results"]) <= 1_200
    assert found["left_out"]["lessons"] >= 8
    assert any(row["kind"] == "article" for row in found["results"]), "lessons leave room for articles"


def test_rounds_of_it_add_nothing(home: Home) -> None:
    folder = home.path / "src/homelab"

    def counts() -> tuple[int, int, list[str]]:
        items = home.json("status", **NOW)["ledger"]["items"]
        facts = home.json("distill", **NOW)["facts"]
        return items, facts, sorted(notes(home, "knowledge/concepts"))

    items, facts, concepts = counts()
    for number in range(ROUNDS):
        said = json.dumps({"session_id": "x", "transcript_path": "", "cwd": str(folder)})
        text = subprocess.run(
            [sys.executable, "-m", "afterword.hook", "session-start"],
            env=home.env, input=said, capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        assert "Learned before:" in text
        rows = [
            {"type": "user", "message": {"role": "user", "content": f"{text}\nGo on with step {number}."}},
            {"type": "user", "message": {"role": "user", "content": text}},
        ]
        out = ""
        for n, row in enumerate(rows):
            more = {
                "uuid": f"r{number}-{n}", "parentUuid": f"r{number}-0" if n else None, "sessionId": f"round-{number}",
                "timestamp": f"2026-06-11T09:{number:02}:0{n}.000Z", "cwd": str(folder), "version": "2.0.0",
                "isSidechain": False, "userType": "external",
            }  # fmt: skip
            out += json.dumps({**row, **more}) + "\n"
        store = home.path / ".claude/projects/-round"
        store.mkdir(exist_ok=True)
        (store / f"round-{number}.jsonl").write_text(out)
        home.run(*UP, **NOW)
    after = counts()
    assert after == (items + ROUNDS, facts, concepts), "the prompts alone are new"


def test_a_block_in_an_agents_own_file(home: Home) -> None:
    own = home.path / ".codex/AGENTS.md"
    own.parent.mkdir()
    own.write_bytes(b"# Mine\r\n\r\nNo end of line here")
    mine = own.read_bytes()
    dry = home.json("agents", "install", "codex", "--memory", "--dry-run", **NOW)["entries"]
    assert [one["state"] for one in dry if one["what"] == "memory block"] == ["would"]
    assert own.read_bytes() == mine
    done = home.json("agents", "install", "codex", "--memory", **NOW)["entries"]
    assert [one["state"] for one in done if one["what"] == "memory block"] == ["put"]
    text = own.read_bytes()
    assert text.startswith(mine)
    assert b"Say codex what to run" in text
    assert text.count(b"<afterword-context id=") == 1
    again = home.json("agents", "install", "codex", "--memory", **NOW)["entries"]
    assert [one["state"] for one in again if one["what"] == "memory block"] == ["there"]
    assert own.read_bytes() == text
    # It is kept up to date, and what somebody wrote meanwhile stays.
    own.write_bytes(own.read_bytes() + b"And this.\n")
    home.run("learn", "Codex wants absolute paths", "--agent", "codex", "--everywhere", **NOW)
    home.run("distill", **NOW)
    assert b"Codex wants absolute paths" in own.read_bytes()
    assert own.read_bytes().endswith(b"And this.\n")
    own.write_bytes(own.read_bytes().removesuffix(b"And this.\n"))
    home.run("agents", "uninstall", "codex", **NOW)
    assert own.read_bytes() == mine
    # Where somebody took one of the lines away nobody can say where ours ends.
    home.run("agents", "install", "codex", "--memory", **NOW)
    own.write_bytes(own.read_bytes().replace(b"<!-- /afterword -->\n", b""))
    broken = home.json("agents", "install", "codex", "--memory", code=1, **NOW)["entries"]
    assert [one["state"] for one in broken if one["what"] == "memory block"] == ["broken"]


def test_a_block_in_a_projects_file(home: Home) -> None:
    (home.path / ".gemini").mkdir()
    project = home.path / "src/homelab"
    (project / "deep").mkdir()
    home.run(
        "agents", "install", "gemini", "--no-hooks", "--no-mcp", "--memory", "--project", str(project / "deep"), **NOW
    )
    page = project / "GEMINI.md"
    text = page.read_text()
    assert "Say gemini what to run" in text
    assert "Written up:" in text
    assert not (project / "deep/GEMINI.md").exists()
    assert re.search(r"^- .*\(knowledge/", text, re.MULTILINE)
    assert os.access(page, os.R_OK)
    home.run("agents", "uninstall", "gemini", **NOW)
    assert not page.exists()
    home.run("agents", "install", "gemini", "--project", str(project), code=2, **NOW)
