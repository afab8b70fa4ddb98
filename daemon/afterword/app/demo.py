"""The demo: a bundled, made-up history in a throw-away home."""

import shutil
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

SEARCHES = (
    ("TMPDIR",),
    ('"per-job temp directory"',),
    ("Warum sind polnische Buchstaben beim Import der Rechnungen kaputt",),
)
"""Three searches that find something in the sample history, as the words of a command line: a word, a phrase, and a
question in another language than what answers it."""


def make_home() -> Path:
    """A fresh folder that can serve as HOME, with the sample history in it."""
    home = Path(tempfile.mkdtemp(prefix="afterword-demo-"))
    with as_file(files("afterword") / "demo" / "history") as history:
        shutil.copytree(history, home, dirs_exist_ok=True)
    return home
