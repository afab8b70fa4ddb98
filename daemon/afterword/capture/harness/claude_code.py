"""Claude Code: `projects/<slug>/<session>.jsonl` and its sub-agents, a tree of rows that only grows.

Nothing a person or a tool wrote stays in the state; the tree itself (rewinds) is kept by whoever takes the rows.
"""

import re
from pathlib import Path
from typing import Literal

from msgspec import Struct

from afterword.capture.harness import claude_queue as queue
from afterword.capture.harness.claude_rows import KNOWN, META, QUIET, RECORDS, TITLES, Block, Record, ToolResult, whole
from afterword.capture.harness.claude_speech import Heard, hear
from afterword.capture.harness.claude_state import (
    Call,
    Seen,
    State,
    answer,
    chain_root,
    place,
    remember_call,
    remember_leaf,
    seen,
)
from afterword.capture.harness.claude_stores import roots, sources
from afterword.capture.harness.claude_tools import called, picture, result_text
from afterword.capture.harness.lenient import part, records
from afterword.capture.harness.stores import side_file
from afterword.capture.harness.texts import tidy
from afterword.capture.harness.times import moment
from afterword.domain.events import (
    BadLine,
    Decoded,
    Facts,
    Fingerprint,
    Finish,
    Item,
    Key,
    Row,
    Skipped,
    TitleRank,
)
from afterword.domain.items import Kind, SaidBy

__all__ = ["decode", "label", "name", "roots", "session_of", "sources", "start", "state_type"]

name = "claude-code"
label = "Claude Code"
state_type = State

_WORD = re.compile(r"[\w.-]{1,64}")
_SLASH = re.compile(r"/[A-Za-z][\w:.-]*(?:\s|\Z)")
_TOOL_USES = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_TITLE_MAX = 300
_VERSION_MAX = 40


def start(path: Path) -> State:
    """The state before the first line; a sub-agent's `.meta.json` is read now."""
    folders = [folder.name for folder in path.parents]
    below_session = folders.index("subagents") if "subagents" in folders[:4] else None
    if below_session is None and not path.stem.startswith("agent-"):
        return State(stem=path.stem, folder=path.parent.name)
    stem, folder = path.stem, path.parent.name
    if below_session is not None:
        stem, folder = folders[below_session + 1], folders[below_session + 2]
    state = State(stem=stem, folder=folder, agent=path.stem.removeprefix("agent-"))
    meta = part(side_file(path.with_name(f"{path.stem}.meta.json")), META)
    if meta is not None:
        state.agent_type, state.spawned_by = meta.agent_type, meta.tool_use_id
    return state


def session_of(state: State) -> str:
    """The session the file is in, as far as is known."""
    main = state.session or state.stem
    return f"{main}/{state.agent}" if state.agent else main


def decode(line: bytes, state: State, fingerprint: Fingerprint) -> list[Decoded]:
    """Decode one complete line, changing `state`."""
    out: list[Decoded] = []
    for record in records(line, RECORDS, whole):
        if isinstance(record, BadLine):
            out.append(record)
        else:
            _Reading(record, state, fingerprint, out).read()
    return out


class _Reading(Struct):
    """One record being read: where it belongs and what came of it."""

    record: Record
    state: State
    fingerprint: Fingerprint
    out: list[Decoded]
    session: str = ""
    main: str = ""
    agent: str = ""
    time_us: int | None = None
    prompt: Literal["typed", "queued"] | None = None

    def read(self) -> None:
        record = self.record
        kind = record.type
        if kind not in KNOWN:
            self.out.append(Skipped(kind if _WORD.fullmatch(kind) else "unnamed"))
        if kind in QUIET and record.uuid is None:
            return
        self._settle_session()
        self.time_us = moment(record.timestamp)
        if kind == "queue-operation":
            self._queue_operation()
        elif kind in TITLES:
            self._title()
        if record.uuid is None and kind not in ("user", "assistant", "attachment", "system"):
            return
        known = seen(self.state, self.session)
        items: list[Decoded] = []
        match kind:
            case "user":
                items = self._user()
            case "assistant":
                items = self._assistant()
            case "attachment":
                items = self._attachment()
            case "system":
                items = self._system()
        if self.agent and self._is_warm_up(known, items):
            return
        self._facts(known)
        if record.uuid is not None:
            self.out.append(Row(self.session, record.uuid, record.parent_uuid, self.prompt))
        self.out.extend(items)

    def _settle_session(self) -> None:
        record, state = self.record, self.state
        if record.session_id:
            state.session = record.session_id
        self.main = state.session or state.stem
        if state.agent:
            self.agent = record.agent_id or state.agent
        elif record.is_sidechain:
            # The chain is followed even where rows name their agent, so that a row without the name finds it.
            root = chain_root(state, record.uuid, record.parent_uuid)
            self.agent = record.agent_id or root
        self.session = f"{self.main}/{self.agent}" if self.agent else self.main

    # What the rows hold

    def _user(self) -> list[Decoded]:
        record = self.record
        content = record.message.content if record.message else None
        blocks = [Block(type="text", text=content)] if isinstance(content, str) else content or []
        if record.is_compact_summary or record.is_visible_in_transcript_only:
            return self._summary()
        results = any(block.type == "tool_result" for block in blocks)
        items: list[Decoded] = []
        if results:
            for n, block in enumerate(blocks):
                if block.type == "tool_result":
                    self._result(n, block, items)
        if record.is_meta:
            return items
        for n, text in _spoken(blocks):
            heard, left = hear(text)
            if heard is Heard.SUMMARY:
                items += self._summary()
            elif results and heard is Heard.SPEECH:
                items.append(self._item(self._own(n), Kind.OUTPUT, left, SaidBy.MACHINE))
            else:
                self._heard(n, heard, left, "typed", items)
        if record.uuid:
            remember_leaf(self.state, record.uuid)
        return items

    def _heard(self, n: int, heard: Heard, text: str, prompt: Literal["typed", "queued"], items: list[Decoded]) -> None:
        """Add what a person did: speech, a slash command, or an own shell command and its output."""
        person = SaidBy.AGENT if self.agent else SaidBy.PERSON
        match heard:
            case Heard.SPEECH:
                items.append(self._item(self._own(n), Kind.PROMPT, text, person))
                self.state.boundary = False
                if not self.agent:
                    self.prompt = prompt
                    self.out.extend(queue.found(self.state, self.session, text, self.fingerprint))
            case Heard.SHELL:
                items.append(self._item(self._own(n), Kind.COMMAND, text, person))
            case Heard.SLASH:
                items.append(self._item(self._own(n), Kind.META, text, person))
            case Heard.SHELL_OUTPUT:
                items.append(self._item(self._own(n), Kind.OUTPUT, text, SaidBy.MACHINE))

    def _result(self, n: int, block: Block, items: list[Decoded]) -> None:
        tool = block.tool_use_id
        call = self.state.calls.pop(tool, None) if tool else None
        if call is not None:
            twin = self.record.tool_use_result
            status = "ok"
            if block.is_error:
                status = "error"
            elif isinstance(twin, ToolResult) and twin.interrupted:
                status = "interrupted"
            items.append(Finish(self.session, call.key, Kind(call.kind), status))
        text = result_text(block.content)
        if text:
            items.append(self._item((tool,) if tool else self._own(n), Kind.OUTPUT, text, SaidBy.MACHINE))

    def _summary(self) -> list[Decoded]:
        """The divider of a compaction, unless its boundary row gave it already."""
        told, self.state.boundary = self.state.boundary, False
        return [] if told else [self._item(self._own(0), Kind.SUMMARY, "", SaidBy.MACHINE)]

    def _system(self) -> list[Decoded]:
        if self.record.subtype != "compact_boundary":
            return []
        self.state.boundary = True
        return [self._item(self._own(0), Kind.SUMMARY, "", SaidBy.MACHINE)]

    def _attachment(self) -> list[Decoded]:
        attachment = self.record.attachment
        items: list[Decoded] = []
        if attachment is None or attachment.type != "queued_command" or self.record.is_meta or attachment.is_meta:
            return items
        mode = attachment.command_mode or "prompt"
        if "notification" in mode:
            return items
        prompt = attachment.prompt
        blocks = [Block(type="text", text=prompt)] if isinstance(prompt, str) else prompt or []
        for n, text in _spoken(blocks):
            heard, left = hear(text)
            if heard is Heard.SPEECH and mode == "bash":
                heard = Heard.SHELL
            self._heard(n, heard, left, "queued", items)
        return items

    def _assistant(self) -> list[Decoded]:
        record, message = self.record, self.record.message
        if message is None or record.is_api_error_message or message.model == "<synthetic>":
            return []
        self.state.boundary = False
        if record.uuid:
            remember_leaf(self.state, record.uuid)
        content = message.content
        blocks = [Block(type="text", text=content)] if isinstance(content, str) else content or []
        texts = [(n, tidy(block.text)) for n, block in enumerate(blocks) if block.type == "text" and block.text]
        thoughts = [
            (n, tidy(block.thinking)) for n, block in enumerate(blocks) if block.type == "thinking" and block.thinking
        ]
        placed = {**self._placed(texts, Kind.REPLY), **self._placed(thoughts, Kind.THINKING)}
        items: list[Decoded] = []
        for n, block in enumerate(blocks):
            if n in placed:
                items.append(placed[n])
            elif block.type in _TOOL_USES:
                items.append(self._call(n, block))
        return items

    def _placed(self, texts: list[tuple[int, str]], kind: Kind) -> dict[int, Decoded]:
        texts = [(n, text) for n, text in texts if text.strip()]
        message = self.record.message
        if not texts or message is None:
            return {}
        if not message.id:
            return {n: self._item(self._own(n), kind, text, SaidBy.AGENT) for n, text in texts}
        known = answer(self.state, message.id)
        marks = known.texts if kind is Kind.REPLY else known.thoughts
        indexes = place(marks, [text for _, text in texts], self.fingerprint)
        return {
            n: self._item((message.id, index), kind, text, SaidBy.AGENT)
            for (n, text), index in zip(texts, indexes, strict=True)
        }

    def _call(self, n: int, block: Block) -> Item:
        kind, text, path = called(block)
        message = self.record.message
        key = (message.id, block.id) if message and message.id and block.id else self._own(n)
        if block.id and key is not None:
            remember_call(self.state, block.id, Call(key, kind))
        return self._item(key, kind, text, SaidBy.AGENT, path)

    # What the other records tell

    def _queue_operation(self) -> None:
        if self.agent:
            return
        record = self.record
        content = record.content
        given = content if isinstance(content, str) else "\n".join(text for _, text in _spoken(content or []))
        heard, text = hear(given)
        if _SLASH.match(text):
            return  # it comes as a row of its own when its turn comes
        if heard in (Heard.SPEECH, Heard.NOTHING):
            self.out.extend(
                queue.operation(self.state, self.session, record.operation, text, self.time_us, self.fingerprint)
            )

    def _title(self) -> None:
        record = self.record
        title: str | None = None
        rank: TitleRank = 3
        match record.type:
            case "custom-title":
                title, rank = record.custom_title, 4
            case "ai-title":
                title = record.ai_title
            case "last-prompt":
                heard, title = hear(record.last_prompt or "")
                rank = 2
                if heard is not Heard.SPEECH:
                    return
            case "summary" if record.leaf_uuid in self.state.leaves:
                title, rank = record.summary, 1
        title = " ".join((title or "").split())[:_TITLE_MAX]
        if title and self.session:
            self.out.append(Facts(self.session, title=title, title_rank=rank))

    def _facts(self, known: Seen) -> None:
        record, state = self.record, self.state
        facts = Facts(self.session)
        changes: dict[str, str | int] = {}
        if record.cwd:
            at = self.fingerprint(record.cwd)
            if at != known.at:
                known.cwd, known.at = True, at
                changes["cwd"] = record.cwd
        if record.git_branch:
            branch = self.fingerprint(record.git_branch)
            if branch != known.branch:
                known.branch = branch
                changes["branch"] = record.git_branch
        model = record.message.model if record.message else None
        if model and model not in (known.model, "<synthetic>"):
            known.model = changes["model"] = model
        version = (record.version or "")[:_VERSION_MAX]
        if version and version != known.version:
            known.version = changes["version"] = version
        origin = record.forked_from
        if origin is not None and origin.session_id:
            if not known.forked:
                known.forked = True
                changes["forked_from"] = self._beside(origin.session_id)
        elif self.time_us is not None and not known.started:
            known.started = True
            changes["started_us"] = self.time_us
        if self.agent and not known.told:
            changes["parent"] = self.main
            if state.agent_type:
                changes["agent"] = state.agent_type
            if state.spawned_by:
                changes["spawned_by"] = state.spawned_by
        if not known.told and state.folder:
            changes["folder"] = state.folder
        if changes or not known.told:
            known.told = True
            self.out.append(_replaced(facts, changes))

    def _is_warm_up(self, known: Seen, items: list[Decoded]) -> bool:
        """Whether this row belongs to a sub-agent that was only warmed up: one tiny text, no tools."""
        prompts = [item for item in items if isinstance(item, Item) and item.kind is Kind.PROMPT]
        if prompts and not known.heard:
            known.heard = True
            known.warm = prompts[0].text.strip().lower() == "warmup"
        elif any(not isinstance(item, Item) or item.kind not in (Kind.REPLY, Kind.THINKING) for item in items):
            known.warm = False
        return known.warm

    # Keys

    def _own(self, n: int) -> Key | None:
        origin = self.record.forked_from
        node = (origin.message_uuid if origin else None) or self.record.uuid
        return (node, n) if node else None

    def _beside(self, session: str) -> str:
        return f"{session}/{self.agent}" if self.agent else session

    def _item(self, key: Key | None, kind: Kind, text: str, said_by: SaidBy, path: str | None = None) -> Item:
        origin = self.record.forked_from
        owner = self._beside(origin.session_id) if origin and origin.session_id else None
        return Item(self.session, key, kind, text, self.time_us, said_by, path, None, owner)


def _replaced(facts: Facts, changes: dict[str, str | int]) -> Facts:
    return Facts(facts.session, **changes)  # type: ignore[arg-type]  # keys and types are those of `_facts`


def _spoken(blocks: list[Block]) -> list[tuple[int, str]]:
    """The texts among blocks with their places; pictures are notes inside the text they came with."""
    texts: list[tuple[int, str]] = []
    notes: list[tuple[int, str]] = []
    for n, block in enumerate(blocks):
        if block.type == "text" and block.text:
            texts.append((n, block.text))
        elif note := picture(block):
            notes.append((n, note))
    if not notes:
        return texts
    note = "\n".join(note for _, note in notes)
    speech = [at for at, (_, text) in enumerate(texts) if hear(text)[0] is Heard.SPEECH]
    if not speech:
        return [*texts, (notes[0][0], note)]
    n, text = texts[speech[-1]]
    texts[speech[-1]] = (n, f"{text}\n{note}")
    return texts
