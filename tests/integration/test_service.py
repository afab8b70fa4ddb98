"""`service`, with stand-ins for the programs of systemd: they start what the unit says and keep book of it."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import Home

SYSTEMCTL = """#!{python}
import json, os, pathlib, shlex, signal, subprocess, sys, time
book = pathlib.Path({book!r})
unit = pathlib.Path(os.environ["HOME"], ".config/systemd/user/afterword.service")
words = sys.argv[1:]
with (book / "calls").open("a") as file:
    file.write(" ".join(words) + chr(10))
if (book / "away").exists():
    sys.exit("Failed to connect to bus: No medium found")
assert words[0] == "--user"
pid = int((book / "pid").read_text()) if (book / "pid").exists() else 0

def stop():
    if pid:
        os.kill(pid, signal.SIGTERM)
        (book / "pid").unlink()
        for _ in range(600):
            try:
                state = pathlib.Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                return
            if state == "Z":
                return
            time.sleep(0.05)

match words[1]:
    case "restart":
        stop()
        text = unit.read_text()
        line = next(row for row in text.splitlines() if row.startswith("ExecStart="))
        env = {{"HOME": os.environ["HOME"], "PATH": "/usr/bin:/bin", "AFTERWORD_INDEX_EMBEDDER": "off"}}
        for row in text.splitlines():
            if row.startswith("Environment="):
                name, _, value = shlex.split(row.removeprefix("Environment="))[0].partition("=")
                env[name] = value
        child = subprocess.Popen(shlex.split(line.removeprefix("ExecStart=")), env=env, start_new_session=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        (book / "pid").write_text(str(child.pid))
    case "enable":
        (book / "enabled").touch()
    case "disable":
        stop()
        (book / "enabled").unlink(missing_ok=True)
    case "show":
        print("ActiveState=" + ("active" if pid else "inactive"))
        print(f"MainPID={{pid}}")
        print("NRestarts=0")
        print("UnitFileState=" + ("enabled" if (book / "enabled").exists() else "disabled"))
    case "daemon-reload":
        pass
"""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path / "home")
    book = tmp_path / "book"
    programs = tmp_path / "bin"
    for folder in (book, programs):
        folder.mkdir()
    for name, text in {
        "systemctl": SYSTEMCTL.format(python=sys.executable, book=str(book)),
        "loginctl": "#!/bin/sh\necho no\n",
        "journalctl": '#!/bin/sh\necho "$@"\n',
    }.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    made.env["PATH"] = f"{programs}:{made.env['PATH']}"
    made.sample("claude-code")
    yield made
    if (book / "pid").exists():
        os.kill(int((book / "pid").read_text()), signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="systemd is Linux only")
class TestSystemd:
    def test_from_installing_to_taking_out(self, home: Home) -> None:
        assert "afterword up --once" in home.run("service", "install", code=4).stderr
        home.run("up", "--once", "--settle", "0")
        assert home.json("service", "status", code=3)["installed"] is False
        done = home.run("service", "install")
        assert "enable-linger" in done.stderr
        unit = home.path / ".config/systemd/user/afterword.service"
        assert f"ExecStart={sys.executable} -P -m afterword run" in unit.read_text()
        end = time.monotonic() + 60
        while not home.json("status")["daemon"]["running"]:
            assert time.monotonic() < end
            time.sleep(0.2)
        found = home.json("service", "status")
        assert (found["state"], found["enabled"], found["problem"]) == ("active", True, "")
        assert found["pid"] == home.json("status")["daemon"]["pid"]
        assert home.json("service", "install")["changed"] is False
        assert "--unit afterword.service --lines 7" in home.run("service", "logs", "-n", "7").stdout
        home.run("service", "uninstall")
        assert not unit.exists()
        assert home.json("status")["daemon"]["running"] is False
        assert home.json("status")["ledger"]["sessions"] > 0
        assert "not installed" in home.run("service", "uninstall", code=3).stderr

    def test_a_daemon_that_runs_already_is_said(self, home: Home) -> None:
        home.run("up", "--once", "--settle", "0")
        with home.daemon():
            assert "afterword stop" in home.run("service", "install", code=75).stderr

    def test_an_interpreter_that_went_away_is_said(self, home: Home) -> None:
        home.run("up", "--once", "--settle", "0")
        home.run("service", "install")
        unit = home.path / ".config/systemd/user/afterword.service"
        unit.write_text(unit.read_text().replace(f"ExecStart={sys.executable}", "ExecStart=/gone/python"))
        found = home.json("service", "status", code=1)
        assert "/gone/python" in found["problem"]
        assert "service install" in found["hint"]
        assert home.json("service", "install")["changed"] is True
        assert home.json("service", "status")["problem"] == ""

    def test_without_a_session_it_says_how_to_get_one(self, home: Home) -> None:
        home.run("up", "--once", "--settle", "0")
        (home.path.parent / "book/away").touch()
        assert "enable-linger" in home.run("service", "install", code=1).stderr

    def test_a_unit_of_somebody_else_stays(self, home: Home) -> None:
        home.run("up", "--once", "--settle", "0")
        unit = home.path / ".config/systemd/user/afterword.service"
        unit.parent.mkdir(parents=True)
        unit.write_text("[Service]\nExecStart=/bin/true\n")
        assert "not ours" in home.run("service", "install", code=1).stderr
        assert unit.read_text() == "[Service]\nExecStart=/bin/true\n"
