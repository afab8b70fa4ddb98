"""A model of what capture makes of a decoder's events, in plain dictionaries, and ways to feed it."""

import hashlib
import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, assert_never, cast

import msgspec

from afterword.capture.tail.content import opened
from afterword.domain.events import (
    Assembler,
    BadLine,
    Decoded,
    Decoder,
    Document,
    Drop,
    Facts,
    Finish,
    Item,
    Key,
    Message,
    PartsReader,
    Place,
    Revert,
    Rewind,
    Rollback,
    Row,
    Skipped,
    Window,
)
from afterword.domain.ids import ItemId, item_id
from afterword.domain.items import ExitStatus, Kind, SaidBy

FIXTURES = Path(__file__).parent.parent / "fixtures" / "harness"


def fingerprint(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, key=b"test").hexdigest()


def load(name: str) -> Decoder:
    module: Any = importlib.import_module(f"afterword.capture.harness.{name}")
    decoder: Decoder = module
    return decoder


@dataclass
class Member:
    id: ItemId
    owner: str | None
    node: str | None
    source: Path
    place: tuple[int, int]
    authority: int = 0
    hidden: bool = False
    abandoned: bool = False


@dataclass
class Session:
    facts: dict[str, Any] = field(default_factory=dict)
    title_rank: int = 0
    members: dict[ItemId, Member] = field(default_factory=dict)


@dataclass
class Node:
    parent: str | None
    prompt: str | None
    order: int


@dataclass
class Model:
    """Everything read so far, from any number of files."""

    harness: str
    items: dict[ItemId, Item] = field(default_factory=dict)
    status: dict[ItemId, ExitStatus] = field(default_factory=dict)
    sessions: dict[str, Session] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)
    """The tree of the file being read."""
    walked: bool = False
    """What lives in it is the way from its root to its last line."""
    bad: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    keyless: int = 0
    path: Path = Path()
    authority: int = 0
    """That of the file being read."""
    reverts: list[Revert] = field(default_factory=list)
    standing: dict[ItemId, ItemId] = field(default_factory=dict)
    """Positional key → what stands there now."""
    messages: dict[str, int] = field(default_factory=dict)
    """Message of the file being read → where it stands."""
    at: int = 0
    """The place of the line being read."""

    def open(self, path: Path) -> None:
        """A file is read from its start: what it gave before is replaced."""
        self.path = path
        self.nodes = {}
        self.walked = False
        self.messages = {}
        self.at = 0
        for session in self.sessions.values():
            session.members = {key: member for key, member in session.members.items() if member.source != path}

    def _left_behind(self, session: str, member: Member) -> bool:
        at_us = self.items[member.id].time_us
        return any(
            revert.session == session and member.place[0] >= revert.pos and at_us is not None and at_us < revert.time_us
            for revert in self.reverts
        )

    def line(self, decoded: Iterable[Decoded]) -> None:
        node: str | None = None
        message: int | None = None
        repeated = False
        self.at += 1000
        for nth, event in enumerate(decoded):
            match event:
                case Message():
                    self.at += 1
                    at = self.at if event.at is None else event.at
                    message = self.messages.setdefault(event.node, at)
                case Rewind():
                    self._rewind(event)
                case Row():
                    node = event.node
                    repeated = node in self.nodes
                    if not repeated:
                        parent = event.parent
                        if event.path and parent and parent not in self.nodes:
                            parent = next(reversed(self.nodes), None)
                        self.nodes[node] = Node(parent, event.prompt, len(self.nodes))
                        self.walked |= event.path is not None
                case Item():
                    if not repeated:
                        place = (self.at if message is None else message, nth if event.nth is None else event.nth)
                        self._item(event, node, place)
                case Finish():
                    self.status[self._meant(event)] = event.exit_status
                case Drop():
                    self._session(event.session).members[self._meant(event)].hidden = True
                case Place():
                    self.at = event.pos
                case Revert():
                    self.reverts.append(event)
                    for member in self._session(event.session).members.values():
                        member.abandoned |= self._left_behind(event.session, member)
                case Rollback():
                    self._rollback(event)
                case Facts():
                    self._facts(event)
                case Window():
                    pass
                case BadLine():
                    self.bad.append(event.reason)
                case Skipped():
                    self.skipped.append(event.record_type)
                case _:
                    assert_never(event)
        self._rewinds()

    def _session(self, native: str) -> Session:
        return self.sessions.setdefault(native, Session())

    def _meant(self, event: Finish | Drop) -> ItemId:
        its_id = item_id(self.harness, event.kind.word, event.key)
        return self.standing.get(its_id, its_id) if event.positional else its_id

    def _placed(self, event: Item) -> Key:
        """The key of the row a positional item goes to; the row that stood there is abandoned."""
        assert event.key is not None
        base, generation = item_id(self.harness, event.kind.word, event.key), 0
        while True:
            key = (*event.key, f"~{generation}") if generation else event.key
            its_id = item_id(self.harness, event.kind.word, key)
            known = self.items.get(its_id)
            if known is None or event.text.startswith(known.text):
                break
            generation += 1
        old = self.standing.get(base)
        members = self._session(event.session).members
        if old in members and old != its_id:
            members[old].abandoned = True
        self.standing[base] = its_id
        return key

    def _rewind(self, event: Rewind) -> None:
        cut = self.messages.get(event.node)
        for session in self.sessions.values():
            for member in session.members.values():
                if member.source == self.path and (cut is None or member.place[0] >= cut):
                    member.abandoned = True
        self.messages = {node: at for node, at in self.messages.items() if cut is not None and at < cut}

    def _item(self, event: Item, node: str | None, place: tuple[int, int]) -> None:
        key = self._placed(event) if event.positional else event.key
        if key is None:
            self.keyless += 1
            key = ("keyless", self.keyless)
        its_id = item_id(self.harness, event.kind.word, key)
        known = self.items.get(its_id)
        if not (event.lesser and known and len(known.text) > len(event.text)):
            self.items[its_id] = event
        if event.exit_status is not None:
            self.status[its_id] = event.exit_status
        members = self._session(event.session).members
        if its_id not in members:
            members[its_id] = Member(its_id, event.owner, node, self.path, place, self.authority)
            members[its_id].abandoned = event.abandoned or self._left_behind(event.session, members[its_id])
        elif self.authority > members[its_id].authority:
            members[its_id].authority, members[its_id].place = self.authority, place

    def _facts(self, event: Facts) -> None:
        session = self._session(event.session)
        for name in ("branch", "model", "parent", "agent", "spawned_by", "forked_from", "archived"):
            value = getattr(event, name)
            if value is not None:
                session.facts[name] = value
        for name in ("cwd", "started_us"):
            value = getattr(event, name)
            if value is not None:
                session.facts.setdefault(name, value)
        if event.title and event.title_rank >= session.title_rank:
            session.title_rank = event.title_rank
            session.facts["title"] = event.title

    def _rollback(self, event: Rollback) -> None:
        members = list(self._session(event.session).members.values())
        prompts = [
            n
            for n, member in enumerate(members)
            if not member.hidden and not member.abandoned and self._by_person(member)
        ]
        if prompts:
            for member in members[prompts[-event.turns :][0] :]:
                member.abandoned = True

    def _by_person(self, member: Member) -> bool:
        item = self.items[member.id]
        return item.kind is Kind.PROMPT and item.said_by is SaidBy.PERSON

    def _walk(self) -> None:
        way: set[str] = set()
        step: str | None = next(reversed(self.nodes))
        while step in self.nodes:
            way.add(step)
            step = self.nodes[step].parent
        for session in self.sessions.values():
            for member in session.members.values():
                if member.source == self.path and member.node:
                    member.abandoned = member.node not in way

    def _rewinds(self) -> None:
        if self.walked:
            self._walk()
            return
        by_parent: dict[str | None, list[str]] = {}
        for name, node in self.nodes.items():
            if node.prompt:
                by_parent.setdefault(node.parent, []).append(name)
        dead: set[str] = set()
        for parent, prompts in by_parent.items():
            if parent not in self.nodes:
                continue
            typed = [n for n, name in enumerate(prompts) if self.nodes[name].prompt == "typed"]
            if typed:
                dead.update(prompts[: typed[-1]])
        if not dead:
            return
        for name, node in self.nodes.items():
            if node.parent in dead:
                dead.add(name)
        for session in self.sessions.values():
            for member in session.members.values():
                if member.node in dead:
                    member.abandoned = True

    # What is asked of it

    def inherited(self, native: str) -> set[ItemId]:
        session = self.sessions[native]
        source = self.sessions.get(session.facts.get("forked_from", ""))
        known = source.members if source else {}
        return {m.id for m in session.members.values() if m.owner not in (None, native) or m.id in known}

    def view(self, native: str) -> dict[str, Any]:
        """The session in the words of `expected.json`."""
        session = self.sessions[native]
        inherited = self.inherited(native)
        out: dict[str, Any] = {"messages": [], "abandoned": [], "commands": [], "edited": [], "read": []}
        out["compactions"] = out["inherited"] = 0
        top = max((member.authority for member in session.members.values()), default=0)
        for member in sorted(session.members.values(), key=lambda member: member.place):
            item = self.items[member.id]
            if member.hidden or member.authority < top:
                continue
            spoken = {Kind.PROMPT: "user", Kind.REPLY: "assistant"}.get(item.kind)
            if member.id in inherited:
                out["inherited"] += spoken is not None
                continue
            if member.abandoned:
                if spoken:
                    out["abandoned"].append([spoken, item.text])
                continue
            if spoken:
                out["messages"].append([spoken, item.text])
            elif item.kind is Kind.COMMAND:
                out["commands"].append([item.text, self.status.get(member.id)])
            elif item.kind is Kind.EDIT and item.path not in out["edited"]:
                out["edited"].append(item.path)
            elif item.kind is Kind.READ:
                out["read"].append(item.path)
            elif item.kind is Kind.SUMMARY:
                out["compactions"] += 1
        return out | {name: value for name, value in session.facts.items() if name != "started_us"}

    def said(self, native: str) -> list[tuple[str, str]]:
        return [(role, text) for role, text in self.view(native)["messages"]]

    def dump(self) -> Any:
        """All of it, for comparing two ways to read."""
        return (
            self.items,
            self.status,
            self.sessions,
            self.bad,
            self.skipped,
        )


Feed = Callable[[Model, Decoder, Path, list[bytes]], None]


def plain(model: Model, decoder: Decoder, path: Path, lines: list[bytes]) -> None:
    model.open(path)
    state = decoder.start(path)
    for unit in _units(decoder, lines):
        for decoded in _decoded(decoder, unit, state):
            model.line(decoded)


def through_json(model: Model, decoder: Decoder, path: Path, lines: list[bytes]) -> None:
    """The state is written and read again after every line."""
    model.open(path)
    state = decoder.start(path)
    for unit in _units(decoder, lines):
        state = msgspec.json.decode(msgspec.json.encode(state), type=decoder.state_type)
        for decoded in _decoded(decoder, unit, state):
            model.line(decoded)


def _units(decoder: Decoder, lines: list[bytes]) -> list[list[bytes]]:
    """Lines that are decoded together."""
    units: list[list[bytes]] = []
    ends = getattr(decoder, "ends_unit", None)
    for line in lines:
        if units and ends and not ends(units[-1][-1], line):
            units[-1].append(line)
        else:
            units.append([line])
    return units


def _decoded(decoder: Decoder, unit: list[bytes], state: Any) -> list[list[Decoded]]:
    if hasattr(decoder, "decode_unit"):
        assembler = cast("Assembler", decoder)
        return [decoded for _, decoded in assembler.decode_unit(unit, state, fingerprint)]
    return [decoder.decode(line, state, fingerprint) for line in unit]


def twice(model: Model, decoder: Decoder, path: Path, lines: list[bytes]) -> None:
    """The file is read from its start again: nothing changes."""
    plain(model, decoder, path, lines)
    plain(model, decoder, path, lines)


def read_store(decoder: Decoder, root: Path, feed: Feed = plain) -> Model:
    model = Model(decoder.name)
    for found in decoder.sources(root):
        if found.problem:
            continue
        model.authority = found.authority
        if found.reader == "lines":
            with opened(found.path) as content:
                feed(model, decoder, found.path, content.pread(1 << 24, 0).splitlines())
            continue
        reader = cast("PartsReader", decoder)
        document = Document(found.path, found.path.read_bytes())
        for part in reader.parts(document, {}):
            model.open(found.path)
            for decoded in reader.events(document, part, fingerprint):
                model.line(decoded)
    return model


def read_lines(module: str, lines: Iterable[Any], path: str = "/x/s.jsonl", feed: Feed = plain) -> Model:
    """A model of one made-up file; rows may be given as bytes or as what JSON makes of them."""
    decoder = load(module)
    model = Model(decoder.name)
    feed(model, decoder, Path(path), [row if isinstance(row, bytes) else msgspec.json.encode(row) for row in lines])
    return model
