"""Ready contexts: what the hook prints when a session starts, written ahead so that it costs the agent a file read."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from afterword.app.config import Config
from afterword.app.memory_blocks import Blocks
from afterword.domain.clock import Clock, Zones
from afterword.memory import context as rendering
from afterword.memory.context import CHARS_A_TOKEN, Context, of_project, rendered
from afterword.memory.pages import TOPICS
from afterword.redact.exits import leave
from afterword.redact.redactor import Redactor
from afterword.redact.text import Redacted
from afterword.store import contexts
from afterword.store.ledger import article_files, articles, lessons, sessions, staleness, uses
from afterword.store.ledger.ledger import Ledger

AGENTS: Final = ("claude",)
"""The agents whose hooks print one."""
_CHECKOUTS_MAX: Final = 500


class Recalling:
    """Says what a session begins with. One for a pass: it reads facts and articles once."""

    def __init__(self, config: Config, ledger: Ledger, today: str) -> None:
        self._today = today
        self._budget = config.settings.recall.tokens * CHARS_A_TOKEN
        self._topics = f"{config.lessons}/{TOPICS}"
        self._machine = ledger.origin[1]
        self._facts = [each for each in lessons.facts(ledger) if each.live]
        files = article_files.every(ledger)
        self._places = {str(uid): file.path for uid, file in files.items()}
        self._articles = [
            each for each in articles.current(ledger) if each.live and each.uid in files and not files[each.uid].state
        ]

    def of(self, project: str, agent: str) -> Context:
        """The lines for a session of an agent in a project; in no project those alone that hold in all of them."""
        mine = of_project(self._articles, project)
        return rendering.context(
            self._facts,
            mine,
            self._places,
            agent=agent,
            machine=self._machine,
            project=project,
            today=self._today,
            budget_chars=self._budget,
            topics=self._topics,
        )


class Ready:
    """Keeps the contexts in line with articles and facts. One per writer process."""

    def __init__(
        self,
        config: Config,
        ledger: Ledger,
        redactor: Redactor,
        zones: Zones,
        clock: Clock,
        excludes: Callable[[str], bool] = lambda _folder: False,
    ) -> None:
        """`excludes` says of a folder that it is left out: no session there is given anything."""
        self._excludes = excludes
        self._config = config
        self._state = config.places.state
        self._ledger = ledger
        self._redactor = redactor
        self._zones = zones
        self._clock = clock
        self._blocks = Blocks(self._state)
        self._at: object = None

    def sync(self) -> int:
        """Write what changed and remove what no project needs any more; how many files changed.

        Costs a few small queries while nothing changed.
        """
        ledger, today = self._ledger, self._zones.day(self._clock())
        now = (
            articles.stamp(ledger, edits=True), article_files.places(ledger), sessions.stamp(ledger),
            lessons.stamp(ledger), uses.stamp(ledger), staleness.stamp(ledger), today, self._blocks.stamp(),
        )  # fmt: skip
        if now == self._at:
            return 0
        said = Recalling(self._config, ledger, today)
        wanted = {}
        for checkout, project in self._checkouts().items():
            for agent in AGENTS:
                found = said.of(project, agent)
                if found.lines:
                    wanted[contexts.path_of(self._state, checkout, agent).name] = self._out(found)
        changed = contexts.keep(self._state, wanted)
        for block in self._blocks.every():
            folder = Path(block.folder) if block.folder else None
            if folder is None or not self._excludes(str(folder)):
                project = project_of(ledger, folder)[0] if folder else ""
                changed += self._blocks.renew(block, self._out(said.of(project, block.agent)))
        self._at = now
        return changed

    def _out(self, found: Context) -> Redacted:
        return leave("context", rendered(found), self._redactor)

    def _checkouts(self) -> dict[Path, str]:
        """Main checkouts that are there, and their projects."""
        found: dict[Path, str] = {}
        for folder, project in sessions.folders(self._ledger, _CHECKOUTS_MAX):
            checkout = _checkout(Path(folder))
            if checkout and checkout not in found and not self._excludes(folder):
                found[checkout] = project
        return found


def _checkout(folder: Path) -> Path | None:
    """The checkout a working folder is in; None where it is not there, or where we may not look: an agent may have
    worked as somebody else, in a container, or in a folder the system keeps from us."""
    try:
        return contexts.checkout_of(folder) if folder.is_absolute() and folder.is_dir() else None
    except (OSError, ValueError, RuntimeError):
        return None


def project_of(ledger: Ledger, folder: Path) -> tuple[str, Path]:
    """(project, checkout) of a folder: a sub-folder and a worktree get their main checkout's."""
    checkout = _checkout(folder) or folder
    project = next(
        (name for cwd, name in sessions.folders(ledger, _CHECKOUTS_MAX) if _checkout(Path(cwd)) == checkout),
        checkout.name,
    )
    return project, checkout


def of_folder(config: Config, ledger: Ledger, folder: Path, agent: str, today: str) -> tuple[str, Context]:
    """(project, what a session in this folder begins with)."""
    project, _ = project_of(ledger, folder)
    return project, Recalling(config, ledger, today).of(project, agent)
