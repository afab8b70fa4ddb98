"""`share`: one page that fetches and runs nothing, scrubbed once more, counted, private, and never over something."""

import getpass
import html
import json
import os
import random
import re
import shutil
import socket
import stat
from html.parser import HTMLParser
from pathlib import Path

import pytest
from homes import Home
from transcripts import ClaudeSession

SECRET = "sk-ant-" + "api03-" + "Zq8vB2nM4kL7xW1p" * 5 + "AA"
HOSTILE = (
    "<script>alert(1)</script> <img src=http://evil.example/x.png onerror=alert(1)> [click](javascript:alert(1))"
    " ![](http://evil.example/y.png) <style>@import 'http://evil.example'</style> </pre></code></details><iframe src=x>"
    ' "onmouseover="alert(1) \u202egnp.exe \x1b[31mred\x1b[0m &lt;b&gt; <!-- --> ]]>'
)


class Page(HTMLParser):
    """Every tag and attribute of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def told(tmp_path: Path) -> tuple[Home, ClaudeSession]:
    home = Home(tmp_path / "mkowalska")
    session = ClaudeSession(random.Random(1), cwd=str(home.path / "work/orchard-api"))
    session.prompt(f"The export fails, see {home.path}/code/orchard-api/log.txt; ask jane.doe@example.com about it")
    session.command("echo hi && make test", f"{HOSTILE}\nline two\nline three", failed=True)
    decided = "The cause is a race. We decided to use a lock file because it survives."
    session.reply(f"{decided}\n\n```python\nx = '<b>'\n```\n{HOSTILE}")
    session.prompt("booking number BOOK-12345 is mine")
    session.reply(f"Set `KEY={SECRET}` in the shell.")
    path = session.path(home.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(session.lines))
    home.run("up", "--once", "--settle", "0")
    return home, session


def test_one_page_that_fetches_and_runs_nothing(told: tuple[Home, ClaudeSession], tmp_path: Path) -> None:
    home, session = told
    target = tmp_path / "out.html"
    said = home.json("share", session.session, "--html", str(target))
    text = target.read_text("utf-8")
    page = Page(text)
    names = {tag for tag, _ in page.tags}
    assert not names & {
        "script",
        "img",
        "iframe",
        "link",
        "a",
        "object",
        "embed",
        "form",
        "base",
        "svg",
        "video",
        "input",
    }
    attributes = {name for _, given in page.tags for name in given}
    assert attributes <= {"lang", "charset", "http-equiv", "content", "name", "class", "role"}, attributes
    (policy,) = [given["content"] for tag, given in page.tags if given.get("http-equiv")]
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    style = text.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style
    assert text.count("</main>") == 1
    assert names >= {"details", "summary", "pre", "article"}
    # The text of the session is all there, as text.
    assert "<script>alert(1)</script>" in page.text
    assert "x = '<b>'" in page.text
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert "We decided to use a lock file" in page.text
    assert "Read this before you send it" in page.text
    assert "Decisions Made" in page.text
    assert said["messages"] >= 6
    assert said["written"] == [{"file": str(target), "format": "html", "bytes": target.stat().st_size}]
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_it_is_scrubbed_once_more_and_counted(told: tuple[Home, ClaudeSession], tmp_path: Path) -> None:
    home, session = told
    target = tmp_path / "out.html"
    rules = {"AFTERWORD_REDACT_EXTRA": r"BOOK-\d+"}
    said = home.json("share", session.session, "--html", str(target), code=None, **rules)
    text = html.unescape(target.read_text("utf-8"))
    for gone in (SECRET, str(home.path), "jane.doe", "BOOK-12345"):
        assert gone not in text, gone
    assert "~/code/orchard-api/log.txt" in text
    assert "[email]" in text
    assert said["scrubbed"]["e-mail address"] >= 1
    assert said["scrubbed"]["home folder"] >= 1
    assert said["scrubbed"]["extra"] >= 1
    assert sum(count for kind, count in said["scrubbed"].items() if "key" in kind or "anthropic" in kind) >= 1
    for kind, count in said["scrubbed"].items():
        assert f"{count:,} × {kind}" in text
    name = socket.gethostname()
    if len(name) > 3 and name != "localhost":
        assert not re.search(rf"\b{re.escape(name)}\b", text)


def test_markdown_shows_texts_as_texts(told: tuple[Home, ClaudeSession], tmp_path: Path) -> None:
    from markdown_it import MarkdownIt

    home, session = told
    target = tmp_path / "out.md"
    home.run("share", session.session, "--md", str(target))
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    text = target.read_text("utf-8")
    tokens = MarkdownIt("commonmark").parse(text)
    flat = [t for token in tokens for t in [token, *(token.children or [])]]
    assert not {t.type for t in flat} & {"html_block", "html_inline", "image", "link_open"}
    printed = home.run("share", session.session)
    assert "Read this before you send it" in printed.stdout
    assert "Scrubbed:" in printed.stderr
    assert home.run("share", session.session, "--md", "-").stdout == printed.stdout
    assert str(home.path) not in printed.stdout


def test_nothing_is_overwritten(told: tuple[Home, ClaudeSession], tmp_path: Path) -> None:
    home, session = told
    target = tmp_path / "mine.html"
    target.write_text("mine")
    target.chmod(0o644)
    assert "--force" in home.json("share", session.session, "--html", str(target), code=1)["error"]["hint"]
    assert target.read_text() == "mine"
    home.run("share", session.session, "--html", str(target), "--force")
    assert target.read_text().startswith("<!DOCTYPE html>")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    home.run("share", session.session, "--html", str(tmp_path / "none/out.html"), code=1)
    home.run("share", "nobody-knows-this", "--html", str(tmp_path / "x.html"), code=3)
    home.run("share", session.session, "--json", code=2)
    assert not (tmp_path / "x.html").exists()


def test_what_was_rewound_is_not_shared(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    session = ClaudeSession(random.Random(2))
    first = session.prompt("the first question of all")
    session.prompt("a thought that was taken back")
    session.prompt("the question that was asked instead", parent=first)
    session.reply("the answer to that")
    path = session.path(home.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(session.lines))
    home.run("ingest")
    shown = home.json("show", session.session)["messages"]
    assert any(item["abandoned"] for item in shown)
    printed = home.run("share", session.session).stdout
    assert "taken back" not in printed
    assert "asked instead" in printed


def test_a_session_with_nothing_left_is_refused(tmp_path: Path) -> None:
    import sqlite3

    home = Home(tmp_path / "home")
    session = ClaudeSession(random.Random(3))
    session.prompt("something that is gone by now")
    path = session.path(home.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(session.lines))
    home.run("ingest")
    with sqlite3.connect(home.state / "ledger.db") as db:
        db.execute("UPDATE item SET text = x'', packed = 0, chars = 0")
    home.run("share", session.session, "--html", str(tmp_path / "x.html"), code=3)
    assert not (tmp_path / "x.html").exists()


def test_it_is_known_who_shares() -> None:
    from afterword.app.config import load
    from afterword.app.share import identity

    who = identity(load(env={"HOME": "/home/mkowalska"}))
    assert who.home == "/home/mkowalska"
    assert "mkowalska" in who.users
    assert getpass.getuser() in who.users
    assert socket.gethostname() in who.hosts


def test_the_sample_history_can_be_shared(tmp_path: Path) -> None:
    import afterword

    home = Home(tmp_path / "home")
    shutil.copytree(Path(afterword.__file__).parent / "demo/history", home.path, dirs_exist_ok=True)
    home.run("up", "--once", "--settle", "0", AFTERWORD_NOW="2026-06-11T12:00:00Z")
    found = home.json("search", "export", "--exact")["results"][0]["session"]
    target = Path(os.environ.get("AFTERWORD_TEST_SHARED", tmp_path / "demo.html"))
    done = home.run("share", found, "--html", str(target), "--force", "--json")
    assert json.loads(done.stdout)["messages"] > 3
    # The history is another machine's, of somebody else's name.
    assert "maya" not in target.read_text("utf-8").lower()
