"""The pages that are made from the code say what it says, and so does `version`."""

import json
import subprocess
import sys
from pathlib import Path

import msgspec

from afterword.domain.settings import Peer, Settings
from afterword.redact.rules import RULES_VERSION
from afterword.store.ledger.schema import MIGRATIONS

ROOT = Path(__file__).parent.parent.parent


def test_the_pages_made_from_the_code_are_those_of_the_code() -> None:
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


def test_the_version_names_what_a_report_needs(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "afterword", "version", "--json"]
    done = subprocess.run(words, check=True, capture_output=True, env={"HOME": str(tmp_path)})
    said = json.loads(done.stdout)
    assert (said["redaction_rules"], said["schema"]) == (RULES_VERSION, len(MIGRATIONS))
    assert {"python", "sqlite", "chromadb", "hyperscan"} <= {name for name, version in said["parts"].items() if version}
