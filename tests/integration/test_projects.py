"""Which project a session belongs to: its checkout, remembered from when the folder was there."""

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from homes import Home
from transcripts import ClaudeSession, CodexSession
from writer import Reading

from afterword.capture import project
from afterword.store.ledger import sessions

GIT = shutil.which("git") or ""
WHO = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *words: str) -> None:
    subprocess.run([GIT, *WHO, *words], cwd=folder, check=True, capture_output=True)


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "Begin")
    return folder


def talk(seed: int, cwd: Path | str | None) -> ClaudeSession:
    session = ClaudeSession(random.Random(seed), session=f"session-{seed}", cwd=str(cwd))
    session.prompt(f"Look at the cache, number {seed}.")
    session.reply(f"The root cause was a missing lock, number {seed}. We decided to add one.")
    if cwd is None:
        rows = [json.loads(line) for line in session.lines]
        for row in rows:
            del row["cwd"]
        session.lines = [json.dumps(row).encode() + b"\n" for row in rows]
    return session


def write(home: Path, *made: ClaudeSession | CodexSession) -> None:
    for session in made:
        path = session.path(home)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(session.lines))


def facts(reading: Reading, native: str) -> sessions.SessionFacts:
    return sessions.load(reading.ledger, "WHERE s.native = ?", (native,))[0].facts


@pytest.mark.skipif(not GIT, reason="needs git to make a worktree")
def test_worktrees_and_subfolders_belong_to_their_main_checkout_also_when_they_are_gone(tmp_path: Path) -> None:
    main = repository(tmp_path / "code/orchard")
    git(main, "worktree", "add", "-q", str(tmp_path / "trees/fix-cache"))
    git(main, "worktree", "add", "-q", str(tmp_path / "trees/never-worked-in"))
    (main / "packages/api").mkdir(parents=True)
    reading = Reading(tmp_path / "home")
    write(tmp_path / "home", talk(1, tmp_path / "trees/fix-cache"), talk(2, main / "packages/api"), talk(3, main))
    reading.sweep()
    for n in (1, 2, 3):
        assert facts(reading, f"session-{n}").root == str(main)
        assert facts(reading, f"session-{n}").project == "orchard"
    assert facts(reading, "session-1").cwd == str(tmp_path / "trees/fix-cache")

    shutil.rmtree(tmp_path / "trees")
    shutil.rmtree(main)
    again = [tmp_path / "trees/fix-cache/src", tmp_path / "trees/never-worked-in", main / "packages/web", main]
    write(tmp_path / "home", *(talk(10 + n, cwd) for n, cwd in enumerate(again)))
    write(tmp_path / "home", talk(20, tmp_path / "code"), talk(21, tmp_path / "trees/other"))
    reading.restart()
    reading.sweep()
    assert [facts(reading, f"session-{10 + n}").project for n in range(4)] == ["orchard"] * 4
    assert facts(reading, "session-20").project == "code"
    assert facts(reading, "session-21").project == "other"
    # Read again from the start with the folder gone, a session keeps what was found at first sight.
    path = talk(1, "").path(tmp_path / "home")
    path.write_bytes(path.read_bytes().replace(b"cache", b"cachE"))
    reading.sweep(thorough=True)
    assert facts(reading, "session-1").project == "orchard"
    reading.close()


@pytest.mark.skipif(not GIT, reason="needs git to make a worktree")
@pytest.mark.parametrize(("bare", "name"), [("api.git", "api"), (".bare", "hub")])
def test_worktrees_of_a_bare_repository(bare: str, name: str, tmp_path: Path) -> None:
    seed = repository(tmp_path / "seed")
    hub = tmp_path / "hub"
    hub.mkdir()
    git(hub, "clone", "-q", "--bare", str(seed), bare)
    git(hub / bare, "worktree", "add", "-q", str(hub / "main-tree"))
    found = project.main_checkout(hub / "main-tree", tmp_path)
    assert found is not None
    assert found.root.name == name
    assert found.worktrees == [hub / "main-tree"]


def test_a_submodule_is_a_project_of_its_own_and_a_home_in_git_is_none(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "work/api").mkdir(parents=True)
    (tmp_path / "work/orchard/.git/modules/vendor").mkdir(parents=True)
    sub = tmp_path / "work/orchard/vendor"
    sub.mkdir()
    (sub / ".git").write_text("gitdir: ../.git/modules/vendor\n")
    at = {name: project.main_checkout(tmp_path / name, tmp_path) for name in ("work/api", "work/orchard/vendor", ".")}
    assert at["work/api"] is None
    assert {name: found.root for name, found in at.items() if found} == {"work/orchard/vendor": sub, ".": tmp_path}
    for broken in ("", "gitdir:", "gitdir: /nowhere/.git/worktrees/x", "\0", "x" * 9000):
        (sub / ".git").write_text(broken)
        found = project.main_checkout(sub, tmp_path)
        assert found is not None
        assert found.root == (Path("/nowhere") if "nowhere" in broken else sub)


@pytest.mark.parametrize(
    "cwd", ["/", "relative/folder", "C:\\work\\api", "/no/such/folder", "/a\0b", "/" + "x/" * 3000]
)
def test_any_cwd_is_survived(cwd: str, tmp_path: Path) -> None:
    reading = Reading(tmp_path)
    write(tmp_path, talk(1, cwd))
    reading.sweep()
    assert facts(reading, "session-1").root == ""
    assert len(reading.live("session-1")) == 2
    reading.close()


def test_without_a_cwd_the_stores_own_name_of_the_project_is_used_undecoded(tmp_path: Path) -> None:
    reading = Reading(tmp_path)
    write(tmp_path, talk(1, None), talk(2, "/srv/orchard-api"))
    reading.sweep()
    assert facts(reading, "session-1").project == "-srv-orchard-api"
    assert facts(reading, "session-2").project == "orchard-api"
    reading.close()


@pytest.mark.skipif(not GIT, reason="needs git to make a worktree")
def test_notes_search_and_show_say_the_same_project_and_a_secret_in_a_path_stays_out(tmp_path: Path) -> None:
    home = Home(tmp_path)
    secret = "sk-ant-api03-" + "Qz7Rk2Vw9Xt4" * 8
    main = repository(tmp_path / "code/orchard")
    git(main, "worktree", "add", "-q", str(tmp_path / "trees/hotfix"))
    odd = repository(tmp_path / secret / "cellar")
    write(tmp_path, talk(1, tmp_path / "trees/hotfix"), talk(2, odd))
    home.run("up", "--once", "--settle", "0")

    def found(question: dict[str, Any]) -> set[str]:
        return {result["session"] for result in question["results"] if result["session"]}

    assert home.json("show", "session-1")["session"]["project"] == "orchard"
    assert home.json("show", "session-2")["session"]["project"] == "cellar"
    assert found(home.json("search", "cache", "--project", "orchard")) == {"session-1"}
    assert home.json("search", "cache", "--project", "hotfix", code=None)["results"] == []
    assert " orchard box %%" in home.daily()
    for path in tmp_path.rglob("*"):
        if path.is_file() and ".local" in path.parts:
            assert secret.encode() not in path.read_bytes(), path
