"""What is known of Cursor's conversations beside their own values: parents, folders, and the lists of old versions."""

from pathlib import Path

from afterword.capture.harness import cursor_kv as kv
from afterword.capture.harness import cursor_places as places
from afterword.capture.harness.cursor_places import LISTED
from afterword.capture.harness.cursor_values import CATALOGUES, COMPOSERS, TABS, Composer, Tab
from afterword.capture.harness.lenient import part
from afterword.domain.events import Database

__all__ = ["CHAT", "LISTED", "Family", "children"]

CHAT = "workbench.panel.aichat.view.aichat.chatdata"
_HEADS = "composer.composerHeaders"


class Family:
    """What is known of conversations beside their own values, while one database is open: parents and folders."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}
        self._heads: dict[str, Composer] | None = None
        self._windows: dict[str, str] | None = None
        self._listed: dict[str, tuple[str, dict[str, Tab | Composer]]] = {}

    def learn(self, name: str, composer: Composer) -> None:
        """Note whose parent a conversation is."""
        for child in children(composer):
            self._parents.setdefault(child, name)

    def parent(self, name: str) -> str | None:
        return self._parents.get(name)

    def head(self, opened: Database, name: str) -> Composer:
        """What the catalogues of the database say of a conversation."""
        row = kv.headed(opened.db, name)
        found = part(row, COMPOSERS) if row else None
        if found is not None:
            return found
        if self._heads is None:
            raw = kv.value(opened.db, "ItemTable", _HEADS) if "ItemTable" in kv.tables(opened.db) else None
            listed = part(raw, CATALOGUES) if isinstance(raw, bytes) else None
            heads = (listed and listed.all_composers) or []
            self._heads = {head.composer_id: head for head in heads if head.composer_id}
        return self._heads.get(name) or Composer()

    def listed(self, opened: Database, key: str) -> tuple[str, dict[str, Tab | Composer]]:
        """(version, conversations with a message) of one value of the window's own table; old versions kept them so."""
        if key not in self._listed:
            raw = kv.value(opened.db, "ItemTable", key, kv.CONVERSATION_MAX)
            data = raw if isinstance(raw, bytes) else b""
            found: dict[str, Tab | Composer] = {}
            if key == CHAT:
                tabs = part(data, TABS) if data else None
                found.update({tab.tab_id: tab for tab in (tabs and tabs.tabs) or [] if tab.tab_id and tab.bubbles})
            else:
                told = part(data, CATALOGUES) if data else None
                talks = (told and told.all_composers) or []
                found.update({talk.composer_id: talk for talk in talks if talk.composer_id and talk.conversation})
            self._listed[key] = opened.fingerprint(data.decode("utf-8", "replace")), found
        return self._listed[key]

    def window(self, opened: Database, name: str) -> str | None:
        """The folder of the window that lists a conversation."""
        own = places.window(opened.path.parent)
        if own is not None:
            return own
        if self._windows is None:
            self._windows = places.of_windows(_user(opened.path))
        return self._windows.get(name)


def _user(database: Path) -> Path:
    """The User folder above `globalStorage/state.vscdb`."""
    return database.parent.parent


def children(composer: Composer) -> list[str]:
    return [*(composer.subagent_composer_ids or []), *(composer.sub_composer_ids or [])]
