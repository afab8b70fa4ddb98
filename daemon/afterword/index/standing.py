"""Whether there is an index and how it stands, told without loading anything heavy."""

import re
import sqlite3
from pathlib import Path
from typing import Literal, TypeAlias

from afterword.domain.settings import Index as Wanted

FILE = "index.db"
CUTTING = "c2"
"""The way documents are cut into chunks, and words into stems; another one makes another collection."""

Semantic: TypeAlias = Literal["ready", "building", "off"]
DocumentKind: TypeAlias = Literal["article", "lesson", "diary", "message"]
"""What can be found: articles, facts of the lessons, sections of a day, and what was said in a session."""

SIGNATURES = {"local": "use3:512:v1", "minilm": "use3-minilm:896:v1"}
"""Setting → signature of its embedder: model, dimension, version."""


def signature_of(wanted: Wanted) -> str:
    """The signature of the embedder that the settings want; one of another model or dimension is another one."""
    if wanted.embedder == "gemini":
        return f"{wanted.gemini_model}:{wanted.gemini_dim}:g1"
    return SIGNATURES[wanted.embedder]


def collection_name(signature: str) -> str:
    """A collection's name: embedder, dimension and version of the cutting, in what Chroma allows."""
    return "afterword-" + re.sub(r"[^a-zA-Z0-9]+", "-", f"{signature}-{CUTTING}")


def standing(folder: Path, signature: str) -> Semantic:
    """Whether there is a whole index for this embedder, one that is being made, or none."""
    path = folder / FILE
    if not path.exists():
        return "off"
    try:
        db = sqlite3.connect(path.as_uri() + "?mode=ro", uri=True, timeout=5)
        try:
            rows = dict(db.execute("SELECT name, complete FROM build"))
        finally:
            db.close()
    except sqlite3.DatabaseError:
        return "building"
    if not rows:
        return "building"
    return "ready" if rows.get(collection_name(signature)) else "building"
