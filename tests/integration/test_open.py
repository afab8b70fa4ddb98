"""`open`: from any kind of result to the note and block it was written up in."""

import random
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from homes import Home
from transcripts import ClaudeSession

from afterword.cli.open import Place, link, uri


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path)
    made.run("init", str(tmp_path / "My & Notes"), "--yes")
    session = ClaudeSession(random.Random(1), session="session-1")
    session.prompt("Why is the cache broken?")
    session.reply("We decided to keep one lock a file.")
    path = session.path(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(session.lines))
    made.run("up", "--once", "--settle", "0")
    return made


def test_every_kind_of_result_opens_its_note(home: Home) -> None:
    (hit, *_) = home.json("search", "cache")["results"]
    section = home.json("show", "session-1")["session"]["sections"][0]["key"]
    wanted = {
        "uri": f"obsidian://open?vault=My%20%26%20Notes&file=daily%2F{Path(hit['path']).stem}%23%5E{section}",
        "path": hit["path"],
        "block": section,
    }
    for name in (hit["id"], "session-1", hit["session"], section, section[:8]):
        assert home.json("open", name) == {"version": 1, "command": "open", **wanted}, name
    for name in (hit["path"], hit["path"].removesuffix(".md"), "./" + hit["path"]):
        assert home.json("open", name)["uri"] == wanted["uri"].partition("%23")[0]
    assert home.run("open", "--print", hit["id"]).stdout == wanted["uri"] + "\n"


def test_what_is_nowhere_is_not_found(home: Home) -> None:
    for name in ("nothing", "00" * 16, "s-000000000000", "../../etc/passwd", "/etc/passwd", "daily/none.md", "daily"):
        assert home.json("open", name, code=3)["error"]["kind"] == "nothing-found"


def test_the_opener_gets_the_address(home: Home, tmp_path: Path) -> None:
    opener = tmp_path / "bin/xdg-open"
    opener.parent.mkdir()
    opener.write_text(f'#!/bin/sh\nprintf "%s" "$1" > {tmp_path}/opened\n')
    opener.chmod(0o755)
    said = home.run("open", "session-1", PATH=f"{opener.parent}:/usr/bin:/bin")
    assert (tmp_path / "opened").read_text() == said.stdout.strip()
    (tmp_path / "opened").unlink()
    home.run("open", "--print", "session-1", PATH=f"{opener.parent}:/usr/bin:/bin")
    assert not (tmp_path / "opened").exists()


def test_addresses_survive_odd_names() -> None:
    for vault, path in (("a&b=c", "x/y z.md"), ("größe", "50%/#1.md"), ("源", "a?b.md")):
        asked = parse_qs(urlsplit(uri(vault, Place(path, "s-1"))).query)
        assert asked == {"vault": [vault], "file": [f"{path.removesuffix('.md')}#^s-1"]}
    assert link("obsidian://x") == "\x1b]8;;obsidian://x\x1b\\obsidian://x\x1b]8;;\x1b\\"
