"""`report`: its figures are those of the history, every text is only text, nothing is fetched or run."""

import random
import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest
from homes import Home
from transcripts import ClaudeSession, CodexSession

SECRET = "sk-ant-" + "api03-" + "Zq8vB2nM4kL7xW1p" * 5 + "AA"
HOSTILE = "<script>alert(1)</script> <img src=http://evil.example/x.png onerror=alert(1)>"
DAYS = {"2026-06-08": {"claude-code": 1, "codex": 1}, "2026-06-10": {"claude-code": 1}}


class Page(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.given: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.given += [(name, value or "") for name, value in attrs]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    # Wednesday last: an older transcript that comes later is a case of its own.
    for number, (day, kind) in enumerate(
        (("2026-06-08", ClaudeSession), ("2026-06-08", CodexSession), ("2026-06-10", ClaudeSession))
    ):
        session = kind(random.Random(number), cwd=f"/srv/project-{number}")
        session.clock = datetime.fromisoformat(day).replace(hour=9, tzinfo=UTC)
        session.prompt(f"{HOSTILE} The export number {number} fails every night, find out why; the key is {SECRET}")
        session.reply(f"The root cause: export {number} shares one folder. Decision: each gets its own. {HOSTILE}")
        session.reply(f"TODO: tell the people of export {number} about {HOSTILE}")
        path = session.path(made.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(session.lines))
    made.run("up", "--once", "--settle", "0")
    return made


def test_the_figures_are_those_of_the_history(home: Home) -> None:
    found = home.json("report")
    assert found["activity"]["days"] == DAYS
    assert found["activity"]["sessions"] == 3
    assert found["first"] == "2026-06-08"
    assert found["articles"] == len(list((home.vault / "knowledge/concepts").glob("*.md"))) > 0
    assert found["growth"][-1]["articles"] == found["articles"] + found["connections"]
    boxes = len(re.findall(r"^\s*- \[ \]", home.daily(), re.MULTILINE))
    assert found["open_actions"] == len(found["actions"]) == boxes > 0
    assert found["spend"] == []
    later = home.json("report", "--since", "2026-06-09")
    assert later["activity"]["days"] == {"2026-06-10": {"claude-code": 1}}
    assert later["activity"]["sessions"] == 1
    assert home.json("report", "--since", "2030-01-01")["activity"]["days"] == {}
    home.run("report", "--since", "june", code=2)


def test_every_text_is_only_text_and_no_secret_is_in_it(home: Home, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    home.run("report", "-o", str(target))
    assert target.stat().st_mode & 0o777 == 0o600
    text = target.read_text("utf-8")
    page = Page(text)
    assert "svg" in page.tags
    assert not page.tags & {"script", "img", "iframe", "link", "object", "embed", "form", "base"}
    assert [name for name, _ in page.given if name.startswith("on") or name in ("src", "srcset", "style")] == []
    assert [value for name, value in page.given if name == "href" and not value.startswith("obsidian://")] == []
    assert "@import" not in text
    assert "url(" not in text
    markdown = home.run("report", "--format", "md").stdout
    assert not re.search(r"(?<!\\)<(script|img)", markdown)
    for said in (text, markdown, home.run("report", "--json").stdout):
        assert SECRET not in said


def test_a_report_is_replaced_and_another_file_is_not(home: Home, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    home.run("report", "-o", str(target))
    home.run("report", "-o", str(target), "--since", "2026-06-09")
    target.write_text("mine")
    assert home.run("report", "-o", str(target), code=None).returncode != 0
    assert target.read_text() == "mine"
    home.run("report", "-o", str(target), "--force")
    assert "<svg" in target.read_text("utf-8")


def test_an_empty_ledger_has_a_report(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.run("up", "--once", "--settle", "0")
    assert home.json("report")["activity"]["days"] == {}
    assert "No session was written up yet." in home.run("report", "-o", "-").stdout
    assert "No session was written up yet." in home.run("report", "--format", "md").stdout
