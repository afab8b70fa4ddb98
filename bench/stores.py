"""Stores that measurements read from: made once from a corpus by the real program, and kept beside it.

`AFTERWORD_BENCH` names the folder for corpora and stores (default: `afterword-bench` in the folder for temporary
files). A store that another version of the program made is made again.
"""

import json
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from afterword.store import textwriter
from afterword.store.ledger import schema
from bench.capture import corpus
from bench.frame import run


class Store(msgspec.Struct, frozen=True):
    """A corpus as HOME, and what the program made of it."""

    home: Path
    root: Path
    env: Mapping[str, str]
    made: Mapping[str, Any]
    """corpus.json: `totals`, `needles`."""

    @property
    def state(self) -> Path:
        """The program's state folder."""
        return self.root / "state/afterword"

    @property
    def mb(self) -> float:
        """The size of the transcripts."""
        return float(self.made["totals"]["bytes"]) / 1e6


def env_of(home: Path, root: Path) -> dict[str, str]:
    """An environment in which the program reads `home` and writes below `root` only."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    places = {f"XDG_{kind}_HOME": str(root / kind.lower()) for kind in ("STATE", "CONFIG", "CACHE", "DATA")}
    return kept | places | {"HOME": str(home), "TZ": "UTC"}


def store(size_mb: int, seed: int) -> Store:
    """The store of a corpus, with everything in it read."""
    home = corpus(size_mb, seed)
    root = home.with_name(home.name.replace("corpus", "store"))
    env = env_of(home, root)
    stamp = f"{len(schema.MIGRATIONS)} {textwriter.VERSION}"
    noted = root / "made-by"
    if not noted.exists() or noted.read_text() != stamp:
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        run([sys.executable, "-m", "afterword", "ingest"], env)
        noted.write_text(stamp)
    return Store(home, root, env, json.loads((home / "corpus.json").read_text()))
