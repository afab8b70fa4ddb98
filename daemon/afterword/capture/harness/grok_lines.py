"""The lines of a Grok Build session: enveloped updates, older bare ones, and the files beside them."""

import re

import msgspec
from msgspec import Raw, Struct, field

NO_JSON = Raw(b"")
_OWNED = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(\d{1,15})", re.IGNORECASE)
_NUMBERED = re.compile(r".*?(\d{1,15})", re.DOTALL)
KIND = re.compile(rb'"sessionUpdate"\s*:\s*"(\w+)"')
"""The kind of a line as it stands there; inside a text its quotes would be escaped."""


class Loose(Struct, gc=False):
    """An object nothing of which is read."""


class Meta(Struct, gc=False, rename="camel"):
    """What an update says about itself, in the envelope or in the chunk."""

    event_id: str | None = None
    agent_timestamp_ms: int | float | None = None
    prompt_index: int | None = None
    model_id: str | None = None
    host_turn: bool | None = None


class Content(Struct, gc=False, rename="camel"):
    """A chunk's content, or one piece of a tool's."""

    type: str = ""
    text: str | None = None
    content: "Content | None" = None
    path: str | None = None
    old_text: str | None = None
    new_text: str | None = None
    mime_type: str | None = None
    data: Raw = NO_JSON
    """Of a picture; left raw, only its size is told."""


class Location(Struct, gc=False):
    path: str | None = None


class Update(Struct, gc=False):
    """An update of any kind."""

    kind: str = field(default="", name="sessionUpdate")
    content: Content | list[Content] | None = None
    meta: Meta | None = field(default=None, name="_meta")
    # tools
    call: str | None = field(default=None, name="toolCallId")
    title: str | None = None
    tool: str | None = field(default=None, name="kind")
    status: str | None = None
    raw_input: Raw = field(default=NO_JSON, name="rawInput")
    raw_output: Raw = field(default=NO_JSON, name="rawOutput")
    locations: list[Location] | None = None
    # everything else
    target: int | None = field(default=None, name="target_prompt_index")
    target_camel: int | None = field(default=None, name="targetPromptIndex")
    child: str | None = field(default=None, name="child_session_id")
    child_type: str | None = field(default=None, name="subagent_type")
    model_id: str | None = None
    model_camel: str | None = field(default=None, name="modelId")
    model: str | None = None


class Params(Struct, gc=False):
    session: str | None = field(default=None, name="sessionId")
    update: Update | None = None
    meta: Meta | None = field(default=None, name="_meta")


class Line(Struct, gc=False):
    """One line: an envelope with params, or in the oldest sessions the params themselves."""

    timestamp: int | float | None = None
    method: str | None = None
    params: Params | None = None
    session: str | None = field(default=None, name="sessionId")
    update: Update | None = None


class Info(Struct, gc=False):
    id: str | None = None
    cwd: str | None = None


class Summary(Struct, gc=False):
    """`summary.json`."""

    info: Info = field(default_factory=Info)
    generated_title: str | None = None
    title_is_manual: bool | None = None
    session_summary: str | None = None
    current_model_id: str | None = None
    created_at: str | int | float | None = None
    parent_session_id: str | None = None
    forked_at: str | int | float | None = None
    session_kind: str | None = None
    hidden: bool | None = None
    agent_name: str | None = None
    head_branch: str | None = None


class Sidecar(Struct, gc=False):
    """`subagents/<id>/meta.json` of the parent."""

    parent_session_id: str | None = None
    subagent_type: str | None = None


LINES = msgspec.json.Decoder(Line)
SUMMARY = msgspec.json.Decoder(Summary)


def whole(line: Line) -> bool:
    """Whether what was found behind a broken half is a record."""
    return bool((line.params and line.params.update) or line.update)


class Record(Struct, frozen=True, gc=False):
    """A line taken apart. `number` is the line's index in its unit, `ms` the event's own time."""

    number: int
    session: str
    update: Update
    event: str
    owner: str
    """The session the event id was made in; empty when it does not say."""
    nth: int
    """The event's number in its session; -1 when it does not say."""
    ms: float | None
    seconds: float | None
    index: int | None
    model: str
    host: bool


def record(line: Line, number: int) -> Record | None:
    """The parts of a line; None for a line without an update."""
    params = line.params or Params(line.session, line.update)
    update = params.update
    if update is None:
        return None
    metas = [meta for meta in (update.meta, params.meta) if meta is not None]
    event = next((meta.event_id for meta in metas if meta.event_id), "")
    owned = _OWNED.fullmatch(event)
    counted = owned[2] if owned else (found[1] if (found := _NUMBERED.fullmatch(event)) else "-1")
    return Record(
        number=number,
        session=params.session or "",
        update=update,
        event=event,
        owner=owned[1] if owned else "",
        nth=int(counted),
        ms=next((meta.agent_timestamp_ms for meta in metas if meta.agent_timestamp_ms), None),
        seconds=line.timestamp,
        index=next((meta.prompt_index for meta in metas if meta.prompt_index is not None), None),
        model=next((meta.model_id for meta in metas if meta.model_id), ""),
        host=any(meta.host_turn for meta in metas),
    )


def in_order(records: list[Record]) -> list[Record]:
    """By the events' own time and number. One without a time stays behind the one before it in the file; a rewind
    ends what the file holds of its unit."""
    keyed: list[tuple[float, int, int, Record]] = []
    at, nth = -1.0, -1
    for n, each in enumerate(records):
        if each.ms is not None:
            nth = each.nth if each.nth >= 0 or each.ms != at else nth
            at = each.ms
        last = each.update.kind == "rewind_marker"
        keyed.append((float("inf") if last else at, nth, n, each))
    return [each for _, _, _, each in sorted(keyed, key=lambda entry: entry[:3])]
