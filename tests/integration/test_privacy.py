"""Everything we make is for its owner alone, from its first instant on, whatever the umask; and no secret is in the
arguments of a process."""

import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Self

import pytest
from homes import Home
from kills import children_of
from transcripts import ClaudeSession

import afterword
from afterword.store import doorfile

HISTORY = Path(afterword.__file__).parent / "demo" / "history"
NOW = {"AFTERWORD_NOW": "2026-06-11T12:00:00Z"}


def wide(home: Home, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command under umask 000."""
    done = subprocess.run(
        [sys.executable, "-m", "afterword", *words],
        env=home.env | env, capture_output=True, text=True, timeout=300, check=False, umask=0,
    )  # fmt: skip
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done


def open_to_others(root: Path, besides: set[Path]) -> list[str]:
    """What others may do anything with, but for what was there before."""
    return [
        f"{stat.S_IMODE(path.lstat().st_mode):o} {path.relative_to(root)}"
        for path in sorted(root.rglob("*"))
        if path not in besides and not path.is_symlink() and path.lstat().st_mode & 0o077
    ]


class Watch:
    """Looks all the time at what appears below a folder, also what is gone again an instant later."""

    def __init__(self, root: Path, besides: set[Path]) -> None:
        self._root, self._besides = root, besides
        self._done = threading.Event()
        self.found: set[str] = set()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(0.002):
            for parent, folders, files in os.walk(self._root):
                for name in (*folders, *files):
                    path = Path(parent, name)
                    try:
                        at = path.lstat()
                    except OSError:
                        continue
                    if at.st_mode & 0o077 and not stat.S_ISLNK(at.st_mode) and path not in self._besides:
                        self.found.add(f"{stat.S_IMODE(at.st_mode):o} {path.relative_to(self._root)}")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home", meaning=True)
    shutil.copytree(HISTORY, home.path, dirs_exist_ok=True)
    return home


def test_the_whole_main_job_under_an_open_umask(home: Home, tmp_path: Path) -> None:
    before = {home.path, *home.path.rglob("*")}
    with Watch(home.path, before) as watch:
        wide(home, "init", str(home.vault), "--zone", "UTC", "--yes")
        wide(home, "up", "--once", "--settle", "0", **NOW)
        found = home.json("search", "export")["results"]
        session = next(one["session"] for one in found if one["session"])
        wide(home, "share", session, "--html", str(home.path / "shared.html"), "--md", str(home.path / "shared.md"))
        wide(home, "backup", **NOW)
        wide(home, "backup", str(home.path / "own.db.zst"), **NOW)
        wide(home, "compile", "--all", **NOW)
        wide(home, "index", **NOW)
        wide(home, "doctor", "--fingerprint")
        wide(home, "config", "set", "segment.settle", "5m")
        spooled = f'{{"session_id":"x","cwd":"{home.path}"}}'
        subprocess.run(
            [sys.executable, "-m", "afterword.hook", "session-end"],
            input=spooled.encode(), env=home.env, check=True, umask=0,
        )  # fmt: skip
        daemon = subprocess.Popen(
            [sys.executable, "-m", "afterword", "run", "--settle", "0"],
            env=home.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, umask=0,
        )  # fmt: skip
        try:
            fresh = ClaudeSession(random.Random(4))
            fresh.prompt("what appears while a daemon runs")
            fresh.reply("We decided to keep it private because it is ours.")
            end = time.monotonic() + 60
            while doorfile.read(home.state) is None:
                assert daemon.poll() is None
                assert time.monotonic() < end
                time.sleep(0.05)
            path = fresh.path(home.path)
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            before |= {path, path.parent}
            path.write_bytes(b"".join(fresh.lines))
            while home.json("search", '"appears while a daemon"', "--exact", code=None).get("total", 0) < 1:
                assert time.monotonic() < end
                time.sleep(0.1)
        finally:
            daemon.send_signal(signal.SIGTERM)
            daemon.wait(60)
        backup = next((home.state / "backups").iterdir())
        wide(home, "restore", str(backup), "--yes", **NOW)
    assert open_to_others(home.path, before) == []
    assert watch.found == set()
    assert (home.vault / "daily").is_dir()
    assert (home.state / "chroma").is_dir()


def test_the_folders_above_are_private_too(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(mode=0o700)
    home = Home(tmp_path / "home")
    subprocess.run(
        [sys.executable, "-m", "afterword.hook", "session-start"], input=b"{}", env=home.env, check=True, umask=0
    )
    wide(home, "up", "--once")
    assert open_to_others(home.path, set()) == []


def test_what_others_can_read_is_mended_at_the_start_and_by_doctor(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.sample("claude-code")
    home.run("up", "--once", "--settle", "0")
    ledger, text, folder = home.state / "ledger.db", home.state / "text-0.db", home.state / "context"
    settings = home.path / ".config/afterword/config.toml"
    folder.mkdir(exist_ok=True)
    for path, mode in ((ledger, 0o644), (text, 0o666), (folder, 0o755), (home.state, 0o755), (settings, 0o640)):
        path.chmod(mode)
    outside = tmp_path / "outside"
    outside.write_text("not ours")
    outside.chmod(0o644)
    (home.state / "link").symlink_to(outside)

    def modes() -> list[int]:
        return [stat.S_IMODE(path.stat().st_mode) for path in (ledger, text, folder, home.state, settings)]

    checks = {check["name"]: check for check in home.json("doctor", code=None)["checks"]}
    assert checks["privacy"]["level"] == "note"
    assert "mended" in checks["privacy"]["message"]
    assert modes() == [0o600, 0o600, 0o700, 0o700, 0o600]
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644
    checks = {check["name"]: check for check in home.json("doctor", code=None)["checks"]}
    assert checks["privacy"]["level"] == "ok"
    ledger.chmod(0o644)
    home.state.chmod(0o755)
    home.run("ingest")
    assert modes() == [0o600, 0o600, 0o700, 0o700, 0o600]


def test_a_person_s_own_modes_in_the_vault_stay(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.sample("claude-code")
    home.run("up", "--once", "--settle", "0")
    (note,) = list((home.vault / "daily").glob("*.md"))[:1]
    note.chmod(0o640)
    (home.vault / "daily").chmod(0o750)
    session = ClaudeSession(random.Random(5))
    session.prompt("one more thing that is written up")
    session.reply("We decided to write it up because it is worth it.")
    path = session.path(home.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(session.lines))
    home.run("up", "--once", "--settle", "0")
    assert stat.S_IMODE(note.stat().st_mode) == 0o640
    assert stat.S_IMODE((home.vault / "daily").stat().st_mode) == 0o750


def test_no_secret_in_the_arguments_of_a_process(home: Home) -> None:
    import sqlite3

    key = "AKIA" + "Z7" * 8
    home.env["GEMINI_API_KEY"] = key
    home.run("up", "--once", "--settle", "0", **NOW)
    with sqlite3.connect(home.state / "ledger.db") as db:
        hash_key: bytes = db.execute("SELECT value FROM meta WHERE key = 'hash_key'").fetchone()[0]
    seen: set[bytes] = set()
    with home.daemon() as daemon:
        card = doorfile.read(home.state)
        assert card is not None
        other = [home.start("search", "export", "--semantic"), home.start("index"), home.start("backup")]
        end = time.monotonic() + 60
        while any(process.poll() is None for process in other):
            assert time.monotonic() < end
            for pid in [daemon.pid, *children_of(daemon.pid), *(process.pid for process in other)]:
                try:
                    seen.add(Path(f"/proc/{pid}/cmdline").read_bytes())
                except OSError:
                    continue
            time.sleep(0.01)
        for process in other:
            process.communicate()
    if not seen:
        pytest.skip("this system does not show the arguments of processes")
    everything = b"\n".join(seen)
    assert b"afterword" in everything
    for secret in (card.token.encode(), key.encode(), hash_key, hash_key.hex().encode()):
        assert secret not in everything
