"""Where Qwen Code's sessions lie."""

import re
from collections.abc import Iterator
from pathlib import Path

from afterword.capture.harness import stores
from afterword.capture.harness.lenient import part
from afterword.capture.harness.qwen_lines import META, Meta
from afterword.domain.events import Found, Where

_LOG = re.compile(r".+\.jsonl", re.DOTALL)
_OLD = re.compile(r"session-.+\.json", re.DOTALL)
_AGENT = re.compile(r"agent-.+\.jsonl", re.DOTALL)
OLDER = "sessions of Qwen Code's first builds are not read"


def roots(where: Where) -> list[Path]:
    """Every folder that holds `projects`."""
    own = stores.overridden(where, "QWEN")
    if own:
        return own
    return [
        *stores.listed(where, "QWEN_RUNTIME_DIR"),
        *(stores.listed(where, "QWEN_HOME") or [where.home / ".qwen"]),
    ]


def sources(root: Path) -> Iterator[Found]:
    """Each project's sessions, older ones first, the archived ones, then sub-agents; older documents by name only."""
    try:
        projects = [entry for entry in stores.entries(root / "projects") if stores.is_folder(entry)]
    except PermissionError:
        yield Found(root / "projects", "none", stores.NOT_LISTED)
        projects = []
    for project in projects:
        for folder, depth in (("chats", 0), ("chats/archive", 0), ("subagents", 1)):
            name = _AGENT if folder == "subagents" else _LOG
            found = list(stores.below(Path(project.path) / folder, name, depth))
            yield from (entry for entry in found if isinstance(entry, Found))
            for entry in stores.oldest_first([entry for entry in found if not isinstance(entry, Found)]):
                yield stores.line_log(entry)
    for old in stores.below(root / "tmp", _OLD, 2):
        yield old if isinstance(old, Found) else Found(Path(old.path), "none", OLDER)


def is_archived(path: Path) -> bool:
    return path.parent.name == "archive"


def spawned(path: Path) -> tuple[str, Meta] | None:
    """The session that spawned a sub-agent, and what lies beside its transcript; None for a session of its own."""
    if path.parent.parent.name != "subagents":
        return None
    meta = part(stores.side_file(path.with_name(f"{path.stem}.meta.json")), META)
    return path.parent.name, meta or Meta()
