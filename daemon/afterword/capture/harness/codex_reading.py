"""Reading one line of a Codex rollout: what it holds, and which of two copies of a text counts."""

from afterword.capture.harness import codex_speech as speech
from afterword.capture.harness import codex_tools as tools
from afterword.capture.harness.codex_lines import (
    LINE_TYPES,
    QUIET_EVENTS,
    QUIET_ITEMS,
    QUIET_THREAD_ITEMS,
    Line,
    Payload,
    ThreadItem,
)
from afterword.capture.harness.codex_state import CALLS, PROMPTS, RUNNING, TWINS, Call, Prompt, Twins
from afterword.capture.harness.codex_turns import Standing
from afterword.capture.harness.texts import image_url_note, tidy
from afterword.capture.harness.times import moment
from afterword.domain.events import Drop, Facts, Finish, Key, Rollback
from afterword.domain.items import ExitStatus, Kind, SaidBy

_TITLE_MAX = 300
_MESSAGES = frozenset({"message", "reasoning"})


class Reading(Standing):
    """One line being read."""

    def line(self, line: Line) -> None:
        payload = line.payload or Payload()
        self.time_us = moment(line.timestamp)
        if line.type == "session_meta":
            self.meta(payload)  # it says whether ordinals count
        self.place(line.ordinal)
        match line.type:
            case "turn_context":
                self.context(payload)
            case "response_item":
                self._response(payload)
            case "event_msg":
                self._event(payload)
            case "compacted":
                self.summary()
            case kind if kind not in LINE_TYPES:
                self.skip(kind)

    # What the model saw

    def _response(self, item: Payload) -> None:
        if self.state.paginated:
            return
        match item.type:
            case "message" if item.role == "user":
                self._user_item(item)
            case "message" if item.role == "assistant":
                self._twin_item(Kind.REPLY, self.state.replies, speech.joined(item.content))
            case "reasoning":
                parts = item.summary if isinstance(item.summary, list) else []
                for part in parts:
                    self._twin_item(Kind.THINKING, self.state.thoughts, tidy(part.text or ""))
            case "function_call" | "custom_tool_call" | "local_shell_call":
                self._call(item)
            case "function_call_output" | "custom_tool_call_output" | "local_shell_call_output":
                self._output(item)
            case "web_search_call":
                call = item.call_id or item.id
                key = (self.key_thread(), call) if call else self.key(self.next(Kind.CALL))
                self.item(key, Kind.CALL, tools.searched(item.action), SaidBy.AGENT)
            case kind if kind not in QUIET_ITEMS | _MESSAGES:
                self.skip(f"response_item/{kind}")

    def _user_item(self, item: Payload) -> None:
        shell = speech.shell_command(item.content)
        if shell is not None:
            command, result = shell
            found = tools.ended(result)
            self.counted(Kind.COMMAND, command, SaidBy.PERSON, found.exit_code)
            if found.text:
                self.counted(Kind.OUTPUT, found.text, SaidBy.MACHINE)
            return
        state = self.state
        if state.events_seen:
            return
        text = speech.typed_parts(item.content)
        shown = "\n".join(filter(None, (text, *speech.pictures(item.content))))
        if not shown:
            return
        key = self.key(self.next(Kind.PROMPT))
        self._prompt(key, shown)
        state.prompts.append(Prompt(key, self.fingerprint(speech.folded(text))))
        if len(state.prompts) > PROMPTS:
            del state.prompts[0]

    def _user_event(self, given: str, notes: list[str]) -> None:
        text = speech.typed(given)
        shown = "\n".join(filter(None, (text, *notes)))
        if not shown or speech.shell_command(given) is not None:
            return
        state = self.state
        if not state.events_seen:
            state.events_seen = True
            print_ = self.fingerprint(speech.folded(text))
            same = next((prompt for prompt in reversed(state.prompts) if prompt.print == print_), None)
            for prompt in state.prompts:
                if prompt is not same:
                    self.out.append(Drop(self.session(), prompt.key, Kind.PROMPT))
            state.prompts.clear()
            if same is not None:
                return
        self._prompt(self.key(self.next(Kind.PROMPT)), shown)

    def _prompt(self, key: Key, text: str) -> None:
        own_agent = self.state.sub_agent and not self.state.copying
        self.item(key, Kind.PROMPT, text, SaidBy.AGENT if own_agent else SaidBy.PERSON)

    def _twin_item(self, kind: Kind, twins: Twins, text: str) -> None:
        """A text as a response item: the item, unless its event came before."""
        if not text.strip():
            return
        print_ = self.fingerprint(speech.folded(text))
        twins.answered = True
        for at, (_, event) in enumerate(twins.events):
            if event == print_:
                del twins.events[at]
                return
        self.counted(kind, text, SaidBy.AGENT)
        twins.items.append(print_)
        if len(twins.items) > TWINS:
            del twins.items[0]

    def _twin_event(self, kind: Kind, twins: Twins, given: object) -> None:
        """A text as an event: an item for now, unless its response item came before."""
        text = tidy(given) if isinstance(given, str) else ""
        if not text.strip():
            return
        print_ = self.fingerprint(speech.folded(text))
        if print_ in twins.items:
            twins.items.remove(print_)
            return
        n = self.next(kind)
        self.item(self.key(n), kind, text, SaidBy.AGENT)
        twins.events.append((n, print_))
        if len(twins.events) > TWINS:
            del twins.events[0]

    # Tools

    def _call(self, item: Payload) -> None:
        tool = item.name or item.type
        thread = self.key_thread()
        given = item.arguments if isinstance(item.arguments, str) else item.input
        if tool == "apply_patch":
            self._patch_call(item.call_id, given)
            return
        kind = Kind.COMMAND if tool in tools.COMMANDS else Kind.CALL
        key: Key = (thread, item.call_id) if item.call_id else self.key(self.next(kind))
        command = kind is Kind.COMMAND
        text = tools.called_command(tool, given, item.action) if command else tools.compact(tool, given)
        if item.call_id:
            self._remember(item.call_id, Call(thread, kind))
            if tool == "write_stdin":
                self._continue(item.call_id, tools.arguments(given).session_id)
        self.item(key, kind, text, SaidBy.AGENT)

    def _patch_call(self, call: str | None, given: object) -> None:
        patch = given if isinstance(given, str) else ""
        if patch.lstrip().startswith("{"):
            found = tools.arguments(patch)
            patch = found.patch or (found.input if isinstance(found.input, str) else "") or patch
        files = tools.patched(patch, self.state.cwd)
        thread = self.key_thread()
        if not files:
            key: Key = (thread, call) if call else self.key(self.next(Kind.CALL))
            self.item(key, Kind.CALL, tools.compact("apply_patch", given), SaidBy.AGENT)
            return
        if call:
            self._remember(call, Call(thread, Kind.EDIT, len(files)))
        for key, (path, text) in zip(self._edit_keys(thread, call, len(files)), files, strict=True):
            self.item(key, Kind.EDIT, text, SaidBy.AGENT, path)

    def _edit_keys(self, thread: str, call: str | None, files: int) -> list[Key]:
        if not call:
            return [self.key(self.next(Kind.EDIT)) for _ in range(files)]
        return [(thread, call)] if files == 1 else [(thread, call, n) for n in range(files)]

    def _patched(self, end: Payload) -> None:
        """A patch was applied, or not: the diffs are later editions of its edits."""
        files = tools.changed(end.changes, self.state.cwd)
        status = None if end.success is None else "ok" if end.success else "failed"
        known = self.state.calls.get(end.call_id or "")
        if known is not None and known.kind == Kind.EDIT:
            thread = known.thread
            if not files:
                self._finish_edits(end.call_id or "", known, status)
        else:
            thread = self.key_thread()
        for key, (path, text) in zip(self._edit_keys(thread, end.call_id, len(files)), files, strict=True):
            if text or known is None or known.kind != Kind.EDIT:
                self.item(key, Kind.EDIT, text, SaidBy.AGENT, path, status)
            elif status:
                self.out.append(Finish(self.session(), key, Kind.EDIT, status))

    def _finish_edits(self, call_id: str, call: Call, status: ExitStatus) -> None:
        if status is not None:
            for key in self._edit_keys(call.thread, call_id, call.files):
                self.out.append(Finish(self.session(), key, Kind.EDIT, status))

    def _output(self, item: Payload) -> None:
        found = tools.ended(item.output)
        call_id = item.call_id
        call = self.state.calls.get(call_id) if call_id else None
        if call is not None and call_id:
            self._end_call(call_id, call, found)
        if not found.text:
            return
        thread = call.thread if call else self.key_thread()
        key: Key = (thread, call_id) if call_id else self.key(self.next(Kind.OUTPUT))
        self.item(key, Kind.OUTPUT, found.text, SaidBy.MACHINE)

    def _end_call(self, call_id: str, call: Call, found: tools.Ended) -> None:
        state = self.state
        continued = state.continuing.get(call_id)
        if found.running:
            state.running.pop(found.running, None)
            state.running[found.running] = continued or call_id
            if len(state.running) > RUNNING:
                del state.running[next(iter(state.running))]
            return
        if continued and found.exit_code is not None:
            first = state.calls.pop(continued, None)
            if first is not None:
                self._finish(continued, first, found.exit_code)
        state.continuing.pop(call_id, None)
        del state.calls[call_id]
        if call.kind == Kind.EDIT:
            ended = found.success if found.exit_code is None else found.exit_code == 0
            self._finish_edits(call_id, call, None if ended is None else "ok" if ended else "failed")
        elif call.kind == Kind.COMMAND and found.exit_code is not None:
            self._finish(call_id, call, found.exit_code)
        elif found.aborted:
            self._finish(call_id, call, "interrupted")
        elif found.success is not None:
            self._finish(call_id, call, "ok" if found.success else "failed")

    def _finish(self, call_id: str, call: Call, status: ExitStatus) -> None:
        self.out.append(Finish(self.session(), (call.thread, call_id), Kind(call.kind), status))

    def _remember(self, call_id: str, call: Call) -> None:
        self.state.calls.pop(call_id, None)
        self.state.calls[call_id] = call
        if len(self.state.calls) > CALLS:
            del self.state.calls[next(iter(self.state.calls))]

    def _continue(self, call_id: str, process: str | int | None) -> None:
        """`write_stdin` goes on with a running command: its output may tell how that one ended."""
        first = self.state.running.get(str(process)) if process is not None else None
        if first is not None:
            self.state.continuing[call_id] = first
            if len(self.state.continuing) > RUNNING:
                del self.state.continuing[next(iter(self.state.continuing))]

    # What the person saw

    def _event(self, event: Payload) -> None:
        state = self.state
        kind = event.type
        if kind == "item_completed":
            self._completed(event)
            return
        match kind:
            case "task_started" | "turn_started":
                self.begin_turn(event.turn_id)
            case "task_complete" | "turn_complete" | "turn_aborted":
                self.end_turn()
            case "thread_rolled_back":
                self.end_turn()
                turns = int(event.num_turns or 0)
                if turns > 0:
                    self.out.append(Rollback(self.session(), turns))
            case "thread_name_updated":
                title = " ".join((event.thread_name or "").split())[:_TITLE_MAX]
                if title and not state.copying:
                    self.out.append(Facts(event.thread_id or self.session(), title=title, title_rank=4))
            case "user_message" | "agent_message" | "agent_reasoning" | "patch_apply_end" | "exec_command_end":
                if not state.paginated:
                    self._shown(event)
            case _ if kind not in QUIET_EVENTS:
                self.skip(f"event_msg/{kind}")

    def _shown(self, event: Payload) -> None:
        match event.type:
            case "user_message":
                notes = [image_url_note(url) for url in event.images or []]
                self._user_event(event.message if isinstance(event.message, str) else "", notes)
            case "agent_message":
                self._twin_event(Kind.REPLY, self.state.replies, event.message)
            case "agent_reasoning":
                self._twin_event(Kind.THINKING, self.state.thoughts, event.text)
            case "patch_apply_end":
                self._patched(event)
            case "exec_command_end":
                call = self.state.calls.get(event.call_id or "")
                if call is not None and call.kind == Kind.COMMAND and event.exit_code is not None:
                    self._finish(event.call_id or "", call, event.exit_code)

    # Paginated threads

    def _completed(self, event: Payload) -> None:
        state, item = self.state, event.item
        if item is None:
            return
        if not state.paginated:
            # A legacy thread holds single items (a plan); a prompt among them shows a mode that no header named.
            if item.type != "UserMessage" or state.events_seen:
                return
            state.paginated = True
        if event.turn_id:
            self.turn(event.turn_id)
        match item.type:
            case "UserMessage":
                self._user_event(speech.typed_parts(item.content), speech.pictures(item.content))
            case "AgentMessage":
                if text := speech.joined(item.content):
                    self.counted(Kind.REPLY, text, SaidBy.AGENT)
            case "Reasoning":
                given = item.summary_text or item.summary or []
                for text in [given] if isinstance(given, str) else given:
                    if text.strip():
                        self.counted(Kind.THINKING, tidy(text), SaidBy.AGENT)
            case "CommandExecution":
                self._executed(item)
            case "FileChange":
                self._files_changed(item)
            case "McpToolCall" | "DynamicToolCall" | "CollabAgentToolCall":
                called = ".".join(filter(None, (item.server, item.tool))) or item.type
                self._tool_item(
                    item, Kind.CALL, tools.compact(called, bytes(item.arguments).decode("utf-8", "replace"))
                )
            case "Extension" | "WebSearch":
                self._tool_item(item, Kind.CALL, f"web_search {item.query or ''}".rstrip())
            case "ContextCompaction":
                self.summary()
            case kind if kind not in QUIET_THREAD_ITEMS:
                self.skip(f"item/{kind}")

    def _executed(self, item: ThreadItem) -> None:
        code = item.exit_code if item.exit_code is not None else item.exit_code_camel
        status: ExitStatus = code
        if code is None and item.status in ("failed", "declined"):
            status = "failed"
        said_by = SaidBy.PERSON if item.source == "user_shell" else SaidBy.AGENT
        self._tool_item(item, Kind.COMMAND, tools.command_text(item.command), said_by, status)
        output = item.aggregated_output or item.aggregated_output_camel or item.stdout or ""
        if output.strip():
            self._tool_item(item, Kind.OUTPUT, tidy(output), SaidBy.MACHINE)

    def _files_changed(self, item: ThreadItem) -> None:
        files = tools.changed(item.changes, self.state.cwd)
        status = {"completed": "ok", "failed": "failed", "declined": "failed"}.get(str(item.status))
        for key, (path, text) in zip(self._edit_keys(self.key_thread(), item.id, len(files)), files, strict=True):
            self.item(key, Kind.EDIT, text, SaidBy.AGENT, path, status)

    def _tool_item(
        self, item: ThreadItem, kind: Kind, text: str, said_by: SaidBy = SaidBy.AGENT, status: ExitStatus = None
    ) -> None:
        key: Key = (self.key_thread(), item.id) if item.id else self.key(self.next(kind))
        self.item(key, kind, text, said_by, None, status)
