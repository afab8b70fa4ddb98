"""Service files: what the templates become, read back as their systems read them."""

import os
import plistlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from afterword.app import units
from afterword.app.config import load
from afterword.domain.errors import UserError

ODD = {"HOME": "/home/some one", "XDG_STATE_HOME": '/tmp/a b/50%$x"y\\<&', "CODEX_HOME": "/größe"}


def test_the_unit_names_this_interpreter_and_its_places() -> None:
    text = units.systemd(units.command(load(env={}), named=False), {"XDG_STATE_HOME": "/var/x"})
    assert f"ExecStart={sys.executable} -P -m afterword run\n" in text
    assert "Environment=XDG_STATE_HOME=/var/x\n" in text or 'Environment="XDG_STATE_HOME=/var/x"\n' in text
    assert not re.search(r"@[A-Z]+@", text)
    for line in ("Type=notify", "Restart=on-failure", "RestartPreventExitStatus=2 4", "NoNewPrivileges=yes",
                 "PrivateTmp=yes", "ProtectSystem=full", "UMask=0077"):  # fmt: skip
        assert f"\n{line}\n" in text


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd here")
@pytest.mark.parametrize("env", [{}, ODD])
def test_systemd_takes_the_unit(tmp_path: Path, env: dict[str, str]) -> None:
    config = load(env={"HOME": str(tmp_path)})
    unit = tmp_path / "afterword.service"
    unit.write_text(units.systemd(units.command(config, named=True), env))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", str(unit)],
        env={"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "Failed to initialize manager" in done.stderr:
        pytest.skip("systemd cannot be asked here")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_agent_of_launchd_is_a_property_list() -> None:
    config = load(env={"HOME": "/Users/some & one"})
    found = plistlib.loads(units.launchd(units.command(config, named=False), ODD, config).encode())
    assert found["ProgramArguments"] == [sys.executable, "-P", "-m", "afterword", "run"]
    assert found["EnvironmentVariables"]["XDG_STATE_HOME"] == ODD["XDG_STATE_HOME"]
    assert found["EnvironmentVariables"]["HOME"] == "/Users/some & one"
    assert found["KeepAlive"] == {"SuccessfulExit": False}
    assert found["Umask"] == 0o77
    assert found["StandardErrorPath"].endswith("/afterword/daemon.log")


def test_a_path_that_would_break_a_unit_is_refused() -> None:
    with pytest.raises(UserError):
        units.systemd(["/bin/python", "-m", "x\nExecStartPre=/bin/evil"], {})


def test_service_print_speaks_of_no_place_left_open(tmp_path: Path) -> None:
    for kind in ("--systemd", "--launchd"):
        done = subprocess.run(
            [sys.executable, "-m", "afterword", "service", "print", kind],
            env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert sys.executable in done.stdout
        assert not re.search(r"@[A-Z]+@", done.stdout)
