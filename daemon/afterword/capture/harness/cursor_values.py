"""The JSON values of Cursor's key-value database: the fields we read, everything else is skipped in C."""

import msgspec
from msgspec import Raw, Struct, field

NO_JSON = Raw(b"")
When = str | int | float | None


class Loose(Struct, gc=False):
    """An object nothing of which is read."""


class Thinking(Struct, gc=False):
    text: str | None = None


class ToolStatus(Struct, gc=False):
    status: str | None = None


class Tool(Struct, gc=False, rename="camel"):
    """A tool's call and its result. The payloads are JSON inside strings, in some versions plain JSON."""

    name: str | None = None
    status: str | None = None
    raw_args: Raw = NO_JSON
    params: Raw = NO_JSON
    result: Raw = NO_JSON
    error: Raw = NO_JSON
    user_decision: str | None = None
    additional_data: ToolStatus | None = None


class Model(Struct, gc=False, rename="camel"):
    model_name: str | None = None


class Timing(Struct, gc=False, rename="camel"):
    client_start_time: int | float | None = None


class Bubble(Struct, gc=False, rename="camel"):
    """One message or one step of the agent. `type` is 1 or "user" for a person, 2 or "ai" for the agent."""

    type: int | str | None = None
    bubble_id: str | None = None
    id: str | None = None
    text: str | None = None
    raw_text: str | None = None
    content: str | None = None
    message: str | None = None
    init_text: str | None = None
    rich_text: str | None = None
    thinking: Thinking | None = None
    tool_former_data: Tool | None = None
    created_at: When = None
    timestamp: When = None
    timing_info: Timing | None = None
    model_info: Model | None = None
    images: list[Loose] | None = None
    workspace_uris: list[str] | None = None
    workspace_project_dir: str | None = None


class Header(Struct, gc=False, rename="camel"):
    """A line of the list that says which bubbles a conversation has, in order."""

    bubble_id: str | None = None
    type: int | None = None


class Uri(Struct, gc=False, rename="camel"):
    fs_path: str | None = None
    external: str | None = None
    path: str | None = None


class Workspace(Struct, gc=False, rename="camel"):
    uri: Uri | str | None = None


class SubAgent(Struct, gc=False, rename="camel"):
    parent_composer_id: str | None = None
    subagent_type_name: str | None = None


class Composer(Struct, gc=False, rename="camel"):
    """A conversation: its facts, and its bubbles or the list of them."""

    composer_id: str | None = None
    name: str | None = None
    created_at: When = None
    last_updated_at: When = None
    checkpoint_at: When = field(default=None, name="conversationCheckpointLastUpdatedAt")
    headers: list[Header] | None = field(default=None, name="fullConversationHeadersOnly")
    conversation: list[Bubble] | None = None
    conversation_map: dict[str, Bubble] | None = None
    model_config: Model | None = None
    sub_composer_ids: list[str] | None = None
    subagent_composer_ids: list[str] | None = None
    subagent_info: SubAgent | None = None
    parent_composer_id: str | None = None
    is_subagent: bool | None = None
    is_archived: bool | None = None
    workspace_identifier: Workspace | None = None
    created_on_branch: str | None = None


class Catalogue(Struct, gc=False, rename="camel"):
    """A list of conversations: the whole of them in old workspaces, heads alone later."""

    all_composers: list[Composer] | None = None


class Tab(Struct, gc=False, rename="camel"):
    """A conversation of the chat panel that came before composers."""

    tab_id: str | None = None
    chat_title: str | None = None
    last_send_time: When = None
    bubbles: list[Bubble] | None = None


class Tabs(Struct, gc=False):
    tabs: list[Tab] | None = None


class Node(Struct, gc=False):
    """A node of the editor's state: text, or nodes."""

    type: str | None = None
    text: str | None = None
    children: "list[Node] | None" = None


class Editor(Struct, gc=False):
    root: Node | None = None


BUBBLES = msgspec.json.Decoder(Bubble)
COMPOSERS = msgspec.json.Decoder(Composer)
CATALOGUES = msgspec.json.Decoder(Catalogue)
TABS = msgspec.json.Decoder(Tabs)
EDITORS = msgspec.json.Decoder(Editor)
