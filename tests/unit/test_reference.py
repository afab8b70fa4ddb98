"""The page of settings says what the code says."""

import subprocess
import sys
from pathlib import Path

import msgspec

from afterword.domain.settings import Peer, Settings

ROOT = Path(__file__).parent.parent.parent


def test_the_page_of_settings_is_that_of_the_code() -> None:
    done = subprocess.run([sys.executable, str(ROOT / "docs/make_reference.py"), "--check"], check=False)
    assert done.returncode == 0, "run `make docs`"


def test_every_setting_is_explained() -> None:
    page = (ROOT / "docs/configuration.md").read_text("utf-8")
    for section in msgspec.structs.fields(Settings):
        several = section.type == dict[str, Peer]
        name = f"{section.name}.NAME" if several else section.name
        part = page.partition(f"## [{name}]")[2].partition("\n## ")[0]
        for key in msgspec.structs.fields(Peer if several else section.type):
            row = next(line for line in part.splitlines() if line.startswith(f"| `{key.name}` |"))
            assert len(row.rstrip(" |").rpartition("|")[2].strip()) > 10, row
