"""A marker in every place of a session: after `forget` a searcher that decodes finds it nowhere, and it stays so."""

import random
from pathlib import Path

import pytest
from decoding import assert_gone, in_folders, ours
from homes import Home
from needles import Needles
from transcripts import ClaudeSession, CodexSession

NOW = {"AFTERWORD_NOW": "2026-09-01T12:00:00Z"}
UP = ("up", "--once", "--settle", "0")
MARKER = "quillwortmarker77"


def claude(home: Home, number: int, marker: str, cwd: str) -> tuple[ClaudeSession, Path]:
    made = ClaudeSession(random.Random(number), session=f"11112222-0000-4000-8000-00000000{number:04}", cwd=cwd)
    made.prompt(f"Why does {marker} fail on the second run of the export job in the release build?", gitBranch=marker)
    made.command(f"cat /srv/{marker}/notes.txt", f"{marker} is here\n" + f"a longer line of {marker} output\n" * 40)
    call = "toolu_edit1"
    made.row(
        "assistant",
        message=made._answer(
            {
                "type": "tool_use", "id": call, "name": "Edit",
                "input": {"file_path": f"{cwd}/{marker}.py", "old_string": "a", "new_string": f"b = '{marker}'"},
            }
        ),
    )  # fmt: skip
    made.row(
        "user", message={"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": "ok"}]}
    )
    made.reply(f"The cause was {marker}: two jobs share it. We decided that each job gets its own {marker}.")
    made.prompt(f"Thanks. Remember that {marker} must be rotated.")
    made.reply(f"Lesson learned: never share {marker} between two jobs of a build.")
    made.lines.append(
        b'{"type":"ai-title","sessionId":"%s","aiTitle":"About %s"}\n' % (made.session.encode(), marker.encode())
    )
    made.lines.append(
        b'{"type":"summary","summary":"Title with %s","leafUuid":"%s"}\n'
        % (marker.encode(), (made.parent or "").encode())
    )
    path = home.path / ".claude/projects" / cwd.replace("/", "-") / f"{made.session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(made.lines))
    return made, path


def codex(home: Home, marker: str) -> CodexSession:
    made = CodexSession(random.Random(7), cwd=f"/srv/{marker}-web")
    made.prompt(f"Why does {marker} fail?")
    made.command(f"grep {marker} x", f"{marker}\n" * 30)
    made.reply(f"The cause was {marker}. We decided to drop {marker}.")
    path = made.path(home.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(made.lines))
    return made


@pytest.mark.parametrize("words", [("session",), ("--match", MARKER), ("--project", f"{MARKER}-app")])
def test_a_marker_in_every_place_of_a_session(tmp_path: Path, words: tuple[str, ...]) -> None:
    home = Home(tmp_path / "home", meaning=words == ("session",))
    made, path = claude(home, 1, MARKER, f"/srv/{MARKER}-app")
    claude(home, 2, "something", "/srv/other-app")
    home.run(*UP, **NOW)
    found = in_folders(Needles([MARKER]), *ours(home))
    places = {hit.where.partition(" ")[0] for hit in found}
    assert {"afterword/ledger.db", "afterword/text-0.db"} <= places
    assert any("daily" in place for place in places)
    said = (made.session,) if words == ("session",) else words
    home.run("forget", *said, "--yes", **NOW)
    assert_gone(home, MARKER)
    home.run(*UP, **NOW)
    path.with_name("copied.jsonl").write_bytes(path.read_bytes())
    if words == ("session",):
        made.prompt(f"And {MARKER} once more")
        path.write_bytes(b"".join(made.lines))
    home.run(*UP, **NOW)
    home.run("compile", "--all", **NOW)
    home.run("index", **NOW) if words == ("session",) else None
    assert_gone(home, MARKER)
    for command in (("status",), ("sources",), ("doctor",), ("search", "export job release"), ("undo",)):
        said_now = home.run(*command, "--json", code=None, **NOW)
        assert MARKER not in said_now.stdout + said_now.stderr, command


def test_two_agents_and_a_daemon(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    claude(home, 1, MARKER, f"/srv/{MARKER}-app")
    codex(home, MARKER)
    home.run(*UP, **NOW)
    with home.daemon(AFTERWORD_CAPTURE_SWEEP="1s", **NOW):
        said = home.json("forget", "--match", MARKER, "--yes", **NOW)
        assert said["left"] == []
        assert_gone(home, MARKER)
        home.run("ingest", **NOW)
        home.run("compile", **NOW)
        assert_gone(home, MARKER)
    assert_gone(home, MARKER)
