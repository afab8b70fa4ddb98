"""Where in a Codex rollout a line is: whose thread, which turn, whether in a copied history; and the keys it gives."""

import re

from afterword.capture.harness.codex_lines import Payload, Source, Spawn
from afterword.capture.harness.codex_state import State
from afterword.capture.harness.times import moment
from afterword.domain.events import Decoded, Drop, Facts, Fingerprint, Item, Key, Place, Revert, Skipped
from afterword.domain.items import ExitStatus, Kind, SaidBy

_WORD = re.compile(r"[\w./-]{1,80}")
_UUID7 = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE)
_VERSION_MAX = 40
_PLACE_BITS = 20
_ORDINAL_MAX = 1 << 40
_SECOND_US = 1_000_000


class Standing:
    """One line's place; what comes of the line goes to `out`, what must be remembered to `state`."""

    def __init__(self, state: State, fingerprint: Fingerprint, out: list[Decoded]) -> None:
        self.state = state
        self.fingerprint = fingerprint
        self.out = out
        self.time_us: int | None = None

    def meta(self, meta: Payload) -> None:
        state = self.state
        if not meta.id:
            return
        if not state.thread:
            self._first_meta(meta)
            return
        self.end_turn()
        if meta.id == state.thread:
            self._end_copy()
        elif not state.settled:
            state.copying = True
        state.above = meta.id
        if state.copying and not state.forked and not state.sub_agent:
            state.forked = meta.id
            self.out.append(Facts(state.thread, forked_from=meta.id))

    def _first_meta(self, meta: Payload) -> None:
        state = self.state
        state.thread = state.above = meta.id or ""
        created = moment(meta.timestamp)
        state.created_us = created if created is not None else self.time_us
        spawn = Spawn(meta.parent_thread_id, meta.agent_nickname, meta.agent_role)
        kind: str | None = None
        if isinstance(meta.source, Source) and meta.source.subagent is not None:
            state.sub_agent = True
            given = meta.source.subagent
            if isinstance(given, str):
                kind = given
            elif given.thread_spawn is not None:
                spawn = given.thread_spawn
        parent = spawn.parent_thread_id or meta.parent_thread_id
        state.sub_agent = state.sub_agent or bool(parent)
        state.paginated = meta.history_mode == "paginated"
        base = meta.history_base.thread_id if meta.history_base else None
        forked = meta.forked_from_id or (base if base != meta.id else None)
        if base == meta.id and meta.history_base:
            self._go_on_from(meta.history_base.end_ordinal_exclusive)
        if forked:
            state.forked = forked
            # A paginated fork refers to the other thread's history and copies nothing.
            state.copying = base is None and not state.paginated
        state.cwd = meta.cwd or ""
        state.cwd_told = bool(meta.cwd)
        self.out.append(
            Facts(
                state.thread,
                cwd=meta.cwd or None,
                version=(meta.cli_version or "")[:_VERSION_MAX] or None,
                branch=meta.git.branch if meta.git else None,
                parent=parent,
                agent=spawn.agent_nickname or meta.agent_nickname or spawn.agent_role or meta.agent_role or kind,
                forked_from=forked,
                archived=True if state.archived else None,
                started_us=state.created_us,
            )
        )

    def _go_on_from(self, ordinal: int | None) -> None:
        """This file takes the thread up again at an ordinal of an earlier file: what followed there was reverted."""
        at_us = self.time_us if self.time_us is not None else self.state.created_us
        if ordinal is None or not 0 <= ordinal < _ORDINAL_MAX or at_us is None:
            return
        self.state.base = ordinal
        self.out.append(Revert(self.session(), ordinal << _PLACE_BITS, at_us))

    def place(self, ordinal: int | None) -> None:
        """Tell where a line of a paginated thread stands: ordinals go on from file to file, but may repeat."""
        state = self.state
        if not state.paginated or ordinal is None or not 0 <= ordinal < _ORDINAL_MAX:
            return
        if state.shift is None:
            state.shift = max(0, state.base - ordinal)
        state.place = max((ordinal + state.shift) << _PLACE_BITS, state.place + 1)
        self.out.append(Place(state.place))

    def context(self, context: Payload) -> None:
        state = self.state
        self.begin_turn(context.turn_id)
        cwd = model = None
        if context.cwd:
            state.cwd = context.cwd
            if not state.cwd_told:
                state.cwd_told, cwd = True, context.cwd
        if context.model and context.model != state.model:
            state.model = model = context.model
        if cwd or model:
            self.out.append(Facts(self.session(), cwd=cwd, model=model))

    def begin_turn(self, turn: str | None) -> None:
        """A turn starts; after a copied history it may be this thread's first own one."""
        state = self.state
        if not state.copying:
            state.settled = True
        elif state.created_us is not None and self._began_here(turn, state.created_us):
            self._end_copy()
        self.turn(turn)

    def _began_here(self, turn: str | None, created_us: int) -> bool:
        stamp = _UUID7.fullmatch(turn or "")
        if stamp is not None:
            # Such an id holds the time its turn began, which copying does not rewrite.
            return int(stamp[1] + stamp[2], 16) >= created_us // 1000
        # Copied lines are stamped at once. A sub-agent's first turn follows sooner, and copies little or nothing.
        pause_us = _SECOND_US if self.state.forked else _SECOND_US // 10
        return self.time_us is not None and self.time_us > created_us + pause_us

    def _end_copy(self) -> None:
        state = self.state
        state.settled = True
        if state.copying:
            self.end_turn()
            state.copying = False
            # The copied part may come from a version that logs prompts in another way.
            state.events_seen = False
            state.prompts.clear()

    def turn(self, turn: str | None) -> None:
        """Go to the turn with this id; without one, to the next number unless this one is still empty."""
        state = self.state
        if turn:
            if turn == state.turn:
                return
        elif not state.turn.startswith("#") or not state.used:
            return
        self.end_turn()
        if not turn:
            state.turns += 1
        state.turn = turn or f"#{state.turns}"
        state.counts.clear()
        state.used = False

    def end_turn(self) -> None:
        """Events without a response item of their own were copies, where the turn has such items at all."""
        for kind, twins in ((Kind.REPLY, self.state.replies), (Kind.THINKING, self.state.thoughts)):
            if twins.answered:
                for n, _ in twins.events:
                    self.out.append(Drop(self.session(), self.key(n), kind))
            twins.events.clear()
            twins.items.clear()
            twins.answered = False

    def session(self) -> str:
        return self.state.thread or self.state.stem

    def key_thread(self) -> str:
        """Whose key an item gets: that of the last meta above, so that copied items find their first rows."""
        state = self.state
        own = self.session()
        if state.copying:
            return state.forked if state.above == own and state.forked else state.above
        # Numbered turns mean something in their own thread only.
        return own if state.turn.startswith("#") else state.above or own

    def key(self, n: int) -> Key:
        return (self.key_thread(), self.state.turn, n)

    def next(self, kind: Kind) -> int:
        """The number of the next item of this kind in the turn."""
        counts, word = self.state.counts, kind.word
        n = counts.get(word, 0)
        counts[word] = n + 1
        self.state.used = True
        return n

    def item(
        self,
        key: Key,
        kind: Kind,
        text: str,
        said_by: SaidBy,
        path: str | None = None,
        exit_status: ExitStatus = None,
    ) -> None:
        state = self.state
        owner = None
        if state.copying:
            owner = state.above if state.above != self.session() else state.forked or None
        else:
            state.settled = True
        state.used = True
        self.out.append(Item(self.session(), key, kind, text, self.time_us, said_by, path, exit_status, owner))

    def counted(self, kind: Kind, text: str, said_by: SaidBy, exit_status: ExitStatus = None) -> None:
        """Tell an item that has no id of its own."""
        self.item(self.key(self.next(kind)), kind, text, said_by, None, exit_status)

    def summary(self) -> None:
        self.counted(Kind.SUMMARY, "", SaidBy.MACHINE)

    def skip(self, kind: str) -> None:
        self.out.append(Skipped(kind if _WORD.fullmatch(kind) else "unnamed"))
