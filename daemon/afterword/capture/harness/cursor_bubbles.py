"""The messages and steps of one conversation in Cursor's window as events."""

from collections.abc import Iterator

from afterword.capture.harness import cursor_kv as kv
from afterword.capture.harness import cursor_places as places
from afterword.capture.harness import cursor_tools as tools
from afterword.capture.harness.cursor_family import Family, children
from afterword.capture.harness.cursor_speech import spoken, typed, words
from afterword.capture.harness.cursor_values import BUBBLES, Bubble, Composer, Tool
from afterword.capture.harness.lenient import NOT_JSON, part
from afterword.capture.harness.texts import tidy
from afterword.capture.harness.times import moment
from afterword.domain.events import Database, Decoded, Facts, Item, Key, Skipped
from afterword.domain.items import ExitStatus, Kind, SaidBy

_TITLE_MAX = 300
_TASK = "task-"


class Conversation:
    """One conversation being read, message by message; its facts come with the first message."""

    def __init__(self, opened: Database, session: str, composer: Composer, family: Family) -> None:
        self.session = session
        self._opened = opened
        self._composer = composer
        self._family = family
        self._head = family.head(opened, session)
        self._cwd: str | None = None
        self._model: str | None = None
        self._paths: list[str] = []
        self._begun = False
        self._names_folders = False
        info = composer.subagent_info or self._head.subagent_info
        self._parent = (info and info.parent_composer_id) or composer.parent_composer_id or family.parent(session)
        self._agent = info.subagent_type_name if info else None
        self._is_agent = bool(self._parent or self._head.is_subagent or session.startswith(_TASK))

    def raw_bubble(self, its_id: str, raw: bytes, kind: int | None) -> list[Decoded]:
        found = part(raw, BUBBLES)
        return [NOT_JSON] if found is None else self.bubble(its_id, found, kind)

    def oversized(self, its_id: str, size: int) -> list[Decoded]:
        note = f"[left out: a message of {size:,} bytes]"
        item = Item(self.session, self._key(its_id), Kind.META, note, None, SaidBy.MACHINE)
        return [*self._begin(), item]

    def bubble(self, its_id: str, bubble: Bubble, kind: int | None) -> list[Decoded]:
        """The items of one message or step. `kind` is what the list says it is, where it does not say so itself."""
        out = self._begin()
        self._names_folders |= bubble.workspace_uris is not None
        if self._cwd is None and (found := _folder(bubble)):
            self._cwd = found
            out.append(Facts(self.session, cwd=found))
        model = bubble.model_info.model_name if bubble.model_info else None
        self._model = model or self._model
        match bubble.type if bubble.type is not None else kind:
            case 1 | "user":
                out += self._prompt(its_id, bubble)
            case 2 | "ai" | "assistant":
                out += self._answer(its_id, bubble)
            case None:
                out.append(Skipped("bubble without a type"))
            case other:
                out.append(Skipped(f"bubble/{other}"))
        return out

    def end(self) -> list[Decoded]:
        """What is known only when all of it was read."""
        if not self._begun:
            return []
        out: list[Decoded] = []
        if self._cwd is None and (cwd := self._found_folder()):
            out.append(Facts(self.session, cwd=cwd))
        model = self._model or (self._composer.model_config and self._composer.model_config.model_name)
        if model:
            out.append(Facts(self.session, model=model))
        for child in children(self._composer):
            if kv.has_bubbles(self._opened.db, child):
                out.append(Facts(child, parent=self.session))
        return out

    def _begin(self) -> list[Decoded]:
        if self._begun:
            return []
        self._begun = True
        composer = self._composer
        title = " ".join((composer.name or "").split())[:_TITLE_MAX]
        return [
            Facts(
                self.session,
                branch=composer.created_on_branch or None,
                title=title or None,
                title_rank=4,
                parent=self._parent,
                agent=self._agent or None,
                archived=composer.is_archived,
                started_us=moment(composer.created_at or composer.last_updated_at),
            )
        ]

    def _found_folder(self) -> str | None:
        found = places.of_workspace(self._composer.workspace_identifier or self._head.workspace_identifier)
        # Messages that name an empty list of folders were written in a window without one; older ones have no list.
        if found is None and not self._names_folders:
            found = self._family.window(self._opened, self.session)
        return found or places.common(self._paths)

    def _prompt(self, its_id: str, bubble: Bubble) -> Iterator[Decoded]:
        notes = ["[image]"] * len(bubble.images or [])
        text = "\n".join(filter(None, (typed(words(bubble)), *notes)))
        if text:
            yield self._item(its_id, bubble, Kind.PROMPT, text, SaidBy.AGENT if self._is_agent else SaidBy.PERSON)

    def _answer(self, its_id: str, bubble: Bubble) -> Iterator[Decoded]:
        thought = tidy((bubble.thinking.text or "").strip()) if bubble.thinking else ""
        if thought:
            yield self._item(its_id, bubble, Kind.THINKING, thought, SaidBy.AGENT)
        text = spoken(words(bubble))
        if text:
            yield self._item(its_id, bubble, Kind.REPLY, text, SaidBy.AGENT)
        if bubble.tool_former_data is not None and bubble.tool_former_data.name:
            yield from self._tool(its_id, bubble, bubble.tool_former_data)

    def _tool(self, its_id: str, bubble: Bubble, tool: Tool) -> Iterator[Decoded]:
        calls = tools.called(tool.name or "", tools.payload(tool.raw_args), tools.payload(tool.params))
        ended = tools.ended(tool)
        self._paths += tools.paths(calls)
        for n, call in enumerate(calls):
            text, status = call.text, ended.exit_status
            if call.kind is Kind.COMMAND and status == "ok":
                status = None  # It ran to its end; with which number is not known.
            if call.kind is Kind.EDIT and not call.spans and len(calls) == 1:
                text = tools.diff(tool) or text
            yield self._item(its_id, bubble, call.kind, text, SaidBy.AGENT, call.path, status, n)
        edited = calls[0].kind is Kind.EDIT
        if ended.text and not (edited and ended.exit_status == "ok"):
            yield self._item(its_id, bubble, Kind.OUTPUT, ended.text, SaidBy.MACHINE)

    def _item(
        self,
        its_id: str,
        bubble: Bubble,
        kind: Kind,
        text: str,
        said_by: SaidBy,
        path: str | None = None,
        status: ExitStatus = None,
        n: int = 0,
    ) -> Item:
        key = (*self._key(its_id), n) if n else self._key(its_id)
        return Item(self.session, key, kind, text, _time(bubble), said_by, path, status)

    def _key(self, its_id: str) -> Key:
        return (self.session, its_id)


def _time(bubble: Bubble) -> int | None:
    started = bubble.timing_info.client_start_time if bubble.timing_info else None
    for given in (bubble.created_at, bubble.timestamp, started):
        if given:
            return moment(given)
    return None


def _folder(bubble: Bubble) -> str | None:
    uris = [uri for uri in bubble.workspace_uris or [] if uri]
    return tools.local(uris[0]) if uris else bubble.workspace_project_dir or None
