"""What is stored of projects that are left out by now: it stays until somebody says otherwise."""

import shlex
from collections import Counter
from typing import Any

from afterword.app.config import Config
from afterword.capture.exclusion import Exclusions
from afterword.store.ledger import left_out, sessions
from afterword.store.ledger.ledger import Ledger


def exclusions(config: Config, ledger: Ledger | None) -> Exclusions:
    """The rules in force, for one look."""
    folders = left_out.Folders(ledger) if ledger else None
    return Exclusions(config.settings.capture.exclude_projects, config.places.home, folders)


def stored(config: Config, ledger: Ledger) -> list[dict[str, Any]]:
    """(project, how many sessions of it are stored) for every project that is left out, by name."""
    rules = exclusions(config, ledger)
    found: Counter[str] = Counter()
    for facts, count in sessions.places(ledger):
        if rules.excludes(facts.cwd or facts.folder, facts.root):
            found[facts.project] += count
    return [{"project": name, "sessions": found[name]} for name in sorted(found)]


def words(found: list[dict[str, Any]]) -> tuple[str, str]:
    """The same as a sentence, and what to do about it; both empty when there is nothing to say."""
    if not found:
        return "", ""
    count = sum(row["sessions"] for row in found)
    amount = "one session of an excluded project is" if count == 1 else f"{count:,} sessions of excluded projects are"
    names = [row["project"] for row in found]
    commands = ", ".join(f"`afterword forget --project {shlex.quote(name)}`" for name in names[:3])
    more = f", and so on for {len(names) - 3} more" if len(names) > 3 else ""
    return f"{amount} stored from before ({', '.join(names[:5])})", f"{commands}{more} takes them out"
