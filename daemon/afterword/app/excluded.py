"""What is stored of projects that are left out by now: it stays until somebody says otherwise."""

import shlex
from collections import Counter
from typing import Any

from afterword.app.config import Config
from afterword.capture.exclusion import Exclusions
from afterword.domain.slugs import slug
from afterword.store.ledger import left_out, sessions
from afterword.store.ledger.ledger import Ledger


def exclusions(config: Config, ledger: Ledger | None) -> Exclusions:
    """The rules in force, for one look."""
    folders = left_out.Folders(ledger) if ledger else None
    return Exclusions(config.settings.capture.exclude_projects, config.places.home, folders)


def stored(config: Config, ledger: Ledger) -> list[dict[str, Any]]:
    """(project, how many sessions of it are stored, what to call it for `forget --project`) for every project that is
    left out, by name.

    A project is called by its folders where its name would mean one that is not left out as well: another folder of
    that name, or the rest of a repository.
    """
    rules = exclusions(config, ledger)
    found: Counter[str] = Counter()
    folders: dict[str, set[str]] = {}
    kept: set[str] = set()
    for facts, count in sessions.places(ledger):
        if rules.excludes(facts.cwd or facts.folder, facts.root):
            found[facts.project] += count
            folders.setdefault(facts.project, set()).add(facts.cwd or facts.folder)
        else:
            kept |= _called(facts.project)
    return [
        {"project": name, "sessions": found[name], "forget": _meant(name, folders[name], kept)}
        for name in sorted(found)
    ]


def _called(project: str) -> set[str]:
    """What `forget --project` knows a project by."""
    return {project.casefold(), slug(project)} if project else set()


def _meant(name: str, folders: set[str], kept: set[str]) -> list[str]:
    if name and not _called(name) & kept:
        return [name]
    paths = sorted(folder for folder in folders if folder.startswith("/"))
    # What lies below a folder is meant with it.
    return [path for path in paths if not any(path.startswith(f"{above}/") for above in paths)] or [name]


def words(found: list[dict[str, Any]]) -> tuple[str, str]:
    """The same as a sentence, and what to do about it; both empty when there is nothing to say."""
    if not found:
        return "", ""
    count = sum(row["sessions"] for row in found)
    amount = "one session of an excluded project is" if count == 1 else f"{count:,} sessions of excluded projects are"
    names = [row["project"] for row in found]
    meant = [name for row in found for name in row["forget"]]
    commands = ", ".join(f"`afterword forget --project {shlex.quote(name)}`" for name in meant[:3])
    more = f", and so on for {len(meant) - 3} more" if len(meant) > 3 else ""
    return f"{amount} stored from before ({', '.join(names[:5])})", f"{commands}{more} takes them out"
