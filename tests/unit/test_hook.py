"""The hook, and the daemon's side of what they share: one table of cases for both."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from platformdirs import PlatformDirs
from platformdirs.macos import MacOS

from afterword import hook
from afterword.store import contexts, spool

CASES = json.loads((Path(__file__).parent.parent / "fixtures/hook_cases.json").read_text())


def named(case: dict[str, Any]) -> str:
    return str(case["name"])


def lay_out(root: Path, case: dict[str, Any]) -> tuple[Path, Path]:
    """(working folder, its checkout as a real path)."""
    for folder in case["folders"]:
        (root / folder).mkdir(parents=True, exist_ok=True)
    for name, text in case.get("files", {}).items():
        (root / name).write_text(text.replace("{root}", str(root)))
    for name, target in case.get("links", {}).items():
        (root / name).symlink_to(root / target)
    return root / case["cwd"], (root / case["is"]).resolve()


@pytest.mark.parametrize("case", CASES["checkouts"], ids=named)
def test_hook_and_daemon_find_the_same_checkout(tmp_path: Path, case: dict[str, Any]) -> None:
    cwd, checkout = lay_out(tmp_path, case)
    assert hook.checkout(str(cwd)) == str(checkout)
    assert contexts.checkout_of(cwd) == checkout


@pytest.mark.parametrize("case", CASES["checkouts"], ids=named)
def test_the_hook_finds_the_context_the_daemon_keeps(tmp_path: Path, case: dict[str, Any]) -> None:
    cwd, checkout = lay_out(tmp_path, case)
    state = tmp_path / "state"
    path = contexts.path_of(state, checkout, "codex")
    path.parent.mkdir(parents=True)
    path.write_bytes("Tests run with `make test`. żółw\n".encode())
    assert hook.context(str(state), str(cwd), "codex") == path.read_bytes()
    assert hook.context(str(state), str(cwd), "claude") == b""


@pytest.mark.parametrize("case", CASES["inputs"], ids=named)
def test_what_an_agent_says_reaches_the_daemon(tmp_path: Path, case: dict[str, Any]) -> None:
    said = hook.fields(case["stdin"].encode("utf-8", "surrogatepass"))
    assert said == case["is"]
    hook.spool(str(tmp_path), "session-end", said)
    found = spool.read(tmp_path, 0)
    if case.get("spooled", True):
        assert found.malformed == ()
        (event,) = found.events.values()
        assert event == spool.Spooled("session-end", **case["is"])
    else:
        # A lone surrogate is no text the daemon takes.
        assert len(found.malformed) == 1


@pytest.mark.parametrize("env", [{}, {"XDG_STATE_HOME": "/x/state"}, {"XDG_STATE_HOME": "/x/state/"},
                                 {"XDG_STATE_HOME": "relative"}, {"XDG_STATE_HOME": ""}, {"XDG_STATE_HOME": "/"},
                                 {"HOME": "relative"}, {"HOME": ""}, {"HOME": "/somewhere/else"}])  # fmt: skip
@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_the_state_folder_is_the_one_platformdirs_names(
    monkeypatch: pytest.MonkeyPatch, env: dict[str, str], platform: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    for name, value in ({"HOME": "/home/someone", "XDG_STATE_HOME": ""} | env).items():
        monkeypatch.setenv(name, value)
    dirs = MacOS if platform == "darwin" else PlatformDirs
    wanted = Path(dirs("afterword", appauthor=False).user_state_dir)
    assert Path(hook.state_folder(dict(os.environ))) == wanted


def test_the_state_folder_without_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    assert Path(hook.state_folder(dict(os.environ))) == Path(PlatformDirs("afterword", appauthor=False).user_state_dir)


def test_agents_are_named_by_plain_words() -> None:
    assert hook.agent(["session-start"]) == "claude"
    assert hook.agent(["session-start", "--agent", "codex"]) == "codex"
    assert hook.agent(["session-start", "--agent=open-code_2"]) == "open-code_2"
    for odd in ("../x", "a/b", "", ".", "ż", "a.b", "a b"):
        assert hook.agent(["session-start", "--agent", odd]) == ""


def test_a_full_spool_takes_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook, "SPOOLED_MAX", 3)
    said = {"session": "s", "transcript": "", "cwd": ""}
    for _ in range(5):
        hook.spool(str(tmp_path), "session-end", said)
    assert len(spool.names(tmp_path)) == 3


def test_spooled_files_are_private(tmp_path: Path) -> None:
    hook.spool(str(tmp_path / "state"), "session-end", {"session": "s", "transcript": "", "cwd": ""})
    folder = tmp_path / "state/spool"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.stat().st_mode & 0o777 for path in folder.iterdir()] == [0o600]


def test_what_is_no_event_is_told_apart(tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    folder.mkdir()
    (folder / "1.json").write_text("{")
    (folder / "2.json").write_text('{"event": "other", "session": "", "transcript": "", "cwd": ""}')
    (folder / "3.json").write_bytes(b"x" * 100_000)
    (folder / "4.json").mkdir()
    (folder / "5.json").symlink_to("/etc/passwd")
    (folder / ".6.json.tmp").write_text("a hook is at it")
    os.mkfifo(folder / "7.json")
    found = spool.read(tmp_path, 0)
    assert found.events == {}
    assert found.malformed == ("1.json", "2.json", "3.json", "4.json", "5.json", "7.json")
    assert ".6.json.tmp" in spool.read(tmp_path, 10**18).malformed


def stdin_closed() -> None:
    os.close(0)


def stdout_closed() -> None:
    os.close(1)


def all_closed() -> None:
    for fd in (0, 1, 2):
        os.close(fd)


def full_disk(home: Path) -> None:
    """What a write meets on a full disk cannot be had without one; a folder where the file should be is as bad."""
    (home / ".local/state").mkdir(parents=True)
    (home / ".local/state/afterword").write_text("a file, no folder")


def read_only(home: Path) -> None:
    state = home / ".local/state/afterword"
    (state / "spool").mkdir(parents=True)
    (state / "spool").chmod(0o500)
    state.chmod(0o500)


def loop_of_links(home: Path) -> None:
    (home / ".local").symlink_to(home / ".local")


def nothing(_home: Path) -> None:
    """All is well."""


WORLDS: list[tuple[str, Callable[[Path], None], dict[str, str | None], bytes | None, Callable[[], None] | None]] = [
    ("all is well", nothing, {}, b'{"session_id": "s"}', None),
    ("no HOME", nothing, {"HOME": None}, b"{}", None),
    ("a HOME that is not there", nothing, {"HOME": "/nowhere/at/all"}, b"{}", None),
    ("a relative HOME", nothing, {"HOME": "x"}, b"{}", None),
    ("no environment", nothing, {"HOME": None, "PATH": None}, b"{}", None),
    ("bad JSON", nothing, {}, b"{{{", None),
    ("no UTF-8", nothing, {}, b"\xff\xfe\x00{", None),
    ("deep JSON", nothing, {}, b"[" * 500_000, None),
    ("huge stdin", nothing, {}, b'{"session_id": "' + b"x" * 30_000_000 + b'"}', None),
    ("no stdin", nothing, {}, None, stdin_closed),
    ("no stdout", nothing, {}, b"{}", stdout_closed),
    ("no descriptors at all", nothing, {}, None, all_closed),
    ("a file where the state should be", full_disk, {}, b"{}", None),
    ("a read-only state", read_only, {}, b"{}", None),
    ("a loop of links", loop_of_links, {}, b"{}", None),
    ("a cwd that is not there", nothing, {}, b'{"cwd": "/nowhere/\\u0000/at/all"}', None),
]


@pytest.mark.parametrize("event", ["session-start", "session-end", "pre-compact", "no-such-event", ""])
@pytest.mark.parametrize("world", WORLDS, ids=[world[0] for world in WORLDS])
def test_the_hook_never_fails_and_never_speaks(tmp_path: Path, world: Any, event: str) -> None:
    _, prepare, changes, said, before = world
    prepare(tmp_path)
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]} | changes
    done = subprocess.run(
        [sys.executable, "-m", "afterword.hook", *([event] if event else [])],
        env={name: value for name, value in env.items() if value is not None},
        input=said, stdin=None if said is not None else subprocess.DEVNULL,
        capture_output=True, timeout=30, check=False, preexec_fn=before, cwd=tmp_path,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_nobody_has_to_close_the_hooks_stdin() -> None:
    reading, writing = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "afterword.hook", "session-start"],
            stdin=reading, env={"HOME": "/nowhere/at/all"}, capture_output=True, timeout=10, check=False,
        )  # fmt: skip
    finally:
        os.close(reading)
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_reader_that_went_away_is_no_trouble(tmp_path: Path) -> None:
    state = tmp_path / ".local/state/afterword"
    path = contexts.path_of(state, tmp_path.resolve(), "claude")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x" * 200_000)
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "afterword.hook", "session-start"],
        input=b"", stdout=writing, stderr=subprocess.PIPE, env={"HOME": str(tmp_path)}, cwd=tmp_path, check=False,
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_ready_context_is_printed_as_it_stands(tmp_path: Path) -> None:
    state = tmp_path / ".local/state/afterword"
    path = contexts.path_of(state, tmp_path.resolve(), "claude")
    path.parent.mkdir(parents=True)
    path.write_bytes("Decided: per-job folders. 源\n".encode() * 3000)
    done = subprocess.run(
        [sys.executable, "-m", "afterword.hook", "session-start"],
        input=json.dumps({"cwd": str(tmp_path)}).encode(), env={"HOME": str(tmp_path)}, capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout == path.read_bytes()


def stopping(tmp_path: Path, transcript: str, **said: Any) -> bytes:
    path = tmp_path / "t.jsonl"
    path.write_text(transcript)
    given = {"session_id": "a/../b", "transcript_path": str(path), "cwd": str(tmp_path), **said}
    return hook.asking(str(tmp_path / "state"), json.dumps(given).encode())


EDITED = '{"type":"tool_use","name":"Edit"}\n'


def test_a_working_session_is_asked_once_for_what_it_learned(tmp_path: Path) -> None:
    asked = stopping(tmp_path, EDITED)
    assert json.loads(asked)["decision"] == "block"
    assert "remember" in json.loads(asked)["reason"]
    assert stopping(tmp_path, EDITED) == b""
    assert stopping(tmp_path, EDITED, session_id="another") == asked
    (kept, _) = sorted((tmp_path / "state/asked").iterdir())
    assert kept.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("transcript", "said"),
    [
        ('{"type":"text","text":"What is this?"}\n', {}),
        (EDITED + '{"type":"tool_use","name":"mcp__afterword__remember"}\n', {}),
        (EDITED + '{"command": "afterword learn \'x\'"}\n', {}),
        (EDITED, {"stop_hook_active": True}),
        (EDITED, {"session_id": ""}),
    ],
)
def test_nobody_is_asked_without_a_reason(tmp_path: Path, transcript: str, said: dict[str, Any]) -> None:
    assert stopping(tmp_path, transcript, **said) == b""


def test_a_stop_hook_is_silent_whatever_is_broken(tmp_path: Path) -> None:
    for given in (b"", b"{", b'{"session_id": "x", "transcript_path": "/nowhere"}'):
        done = subprocess.run(
            [sys.executable, "-m", "afterword.hook", "stop", "--agent", "claude"],
            env={"HOME": str(tmp_path)}, input=given, capture_output=True, timeout=30, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
