"""Names made from other names: slugs (`[a-z0-9-]`, safe on every system and in every marker), projects."""

import re
import unicodedata

_NOT_SLUG = re.compile(r"[^a-z0-9]+")


def slug(text: str, fallback: str = "unknown", limit: int = 40) -> str:
    """`text` as a slug of at most `limit` characters; `fallback` when nothing of it can stay."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return _NOT_SLUG.sub("-", plain).strip("-")[:limit].strip("-") or fallback


def project_of(cwd: str) -> str:
    """The project a working directory belongs to: the last part of its path."""
    return cwd.replace("\\", "/").rstrip("/").rpartition("/")[2]
