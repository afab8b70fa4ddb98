"""Tool calls of Cursor, by whichever of its names: which kind of item one is, its text, and how it ended."""

import posixpath
import re
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Raw, Struct

from afterword.capture.harness.claude_tools import signed
from afterword.capture.harness.codex_tools import patched
from afterword.capture.harness.cursor_values import Tool
from afterword.capture.harness.lenient import part
from afterword.capture.harness.texts import tidy
from afterword.domain.items import ExitStatus, Kind

_COMMANDS = frozenset({"shell", "bash", "terminal", "runcommand", "runterminalcmd", "executecommand"})
_EDITS = frozenset(
    {"write", "strreplace", "multistrreplace", "delete", "edit", "multiedit", "searchreplace", "reapply", "writefile",
     "createfile", "deletefile", "applypatch", "editnotebook", "notebookedit"}
)  # fmt: skip
_EXIT_HEAD = re.compile(r"\s*Exit code: *(-?\d{1,10})\b")
_OUTPUT_HEAD = re.compile(r"\s*Exit code: *-?\d{1,10}\s*Command output:\s*(?:```\w*\n)?")
_OUTPUT_TAIL = re.compile(r"\s*(?:```\s*)?(?:Command completed\b.*|Shell state\b.*)?\Z", re.DOTALL)
_TAIL = 600
_VERSION = re.compile(r"v\d+\Z")
_PATCH = "*** Begin Patch"


class Edit(Struct, gc=False):
    old_string: str | None = None
    new_string: str | None = None


class Given(Struct, gc=False):
    """What we read of a tool's arguments, in the spellings of all its versions."""

    command: str | None = None
    target_file: str | None = None
    target_file_camel: str | None = msgspec.field(default=None, name="targetFile")
    file_path: str | None = None
    file_path_camel: str | None = msgspec.field(default=None, name="filePath")
    relative_path: str | None = msgspec.field(default=None, name="relativeWorkspacePath")
    target_notebook: str | None = None
    path: str | None = None
    effective_uri: str | None = msgspec.field(default=None, name="effectiveUri")
    old_string: str | None = None
    new_string: str | None = None
    edits: list[Edit] | None = None
    code_edit: str | None = None
    contents: str | None = None
    content: str | None = None
    streaming_content: str | None = msgspec.field(default=None, name="streamingContent")
    patch: str | None = None
    input: str | None = None
    instructions: str | None = None


class Chunk(Struct, gc=False, rename="camel"):
    diff_string: str | None = None


class Diff(Struct, gc=False):
    chunks: list[Chunk] | None = None


class Outcome(Struct, gc=False):
    """What we read of a result that is an object."""

    output: str | None = None
    contents: str | None = None
    content: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    rejected: bool | None = None
    diff: Diff | str | None = None
    model_error: str | None = msgspec.field(default=None, name="modelVisibleErrorMessage")
    client_error: str | None = msgspec.field(default=None, name="clientVisibleErrorMessage")


class Called(msgspec.Struct, frozen=True, gc=False):
    """A call as an item. A call that changes several files is several."""

    kind: Kind
    text: str
    path: str | None = None
    spans: bool = False
    """The text of an edit is what was replaced and by what."""


class Ended(msgspec.Struct, frozen=True, gc=False):
    """What a result says: its text, and how the tool ended."""

    text: str = ""
    exit_status: ExitStatus = None


_GIVEN = msgspec.json.Decoder(Given)
_OUTCOME = msgspec.json.Decoder(Outcome)
_FIELDS = msgspec.json.Decoder(dict[str, Raw])
_STRING = msgspec.json.Decoder(str)
_NUMBER = msgspec.json.Decoder(int)
_ANY = msgspec.json.Decoder(dict[str, object])


def payload(raw: Raw) -> str:
    """The JSON or the text that a payload holds, which may be a JSON string of it."""
    text = bytes(raw).strip()
    if text.startswith(b'"'):
        try:
            return _STRING.decode(text)
        except ValueError:
            return text.decode("utf-8", "replace").strip('"')
    return "" if text in (b"", b"null", b"{}") else text.decode("utf-8", "replace")


def called(name: str, *payloads: str) -> list[Called]:
    """The items a call is, from the first of its payloads that tells enough."""
    plain = _VERSION.sub("", name.lower().replace("_", "").replace("-", "").removeprefix("functions."))
    for text in payloads:
        given = part(text, _GIVEN) if text.lstrip().startswith("{") else None
        found = _called(plain, given or Given(patch=text if _PATCH in text else None))
        if found:
            return found
    shown = next((text for text in payloads if text.strip()), "")
    return [Called(Kind.CALL, tidy(f"{name} {_compact(shown)}".rstrip()))]


def _called(plain: str, given: Given) -> list[Called]:
    path = _path(given)
    if plain in _COMMANDS or plain.startswith("runterminalc"):
        return [Called(Kind.COMMAND, tidy(given.command))] if given.command else []
    if plain == "read" or plain.startswith("readfile"):
        return [Called(Kind.READ, path, path)] if path else []
    if plain in _EDITS or plain.startswith("editfile"):
        patch = given.patch or given.input
        if plain == "applypatch" and patch:
            return [Called(Kind.EDIT, text, file) for file, text in patched(patch, "")]
        spans = bool(given.edits) or given.old_string is not None or given.new_string is not None
        return [Called(Kind.EDIT, tidy(_span(given, spans=spans)), path, spans)] if path else []
    return []


def _path(given: Given) -> str | None:
    spellings = (
        given.target_file,
        given.file_path,
        given.path,
        given.relative_path,
        given.target_file_camel,
        given.file_path_camel,
        given.target_notebook,
        given.effective_uri,
    )
    found = next((path for path in spellings if path), None)
    return local(found) if found else None


def local(uri: str) -> str:
    """The path of a URI of a file, here or on the machine a window is connected to; anything else as it is."""
    if not uri.startswith(("file:", "vscode-remote:")):
        return uri
    try:
        path = unquote(urlsplit(uri).path)
    except ValueError:
        return uri
    return path[1:] if re.match(r"/[A-Za-z]:", path) else path


def _span(given: Given, *, spans: bool) -> str:
    if spans:
        edits = given.edits or [Edit(given.old_string, given.new_string)]
        return "\n@@\n".join(signed(edit.old_string, edit.new_string) for edit in edits)
    wholes = (given.code_edit, given.contents, given.content, given.streaming_content, given.instructions)
    return next((text for text in wholes if text), "")


def _compact(text: str) -> str:
    found = part(text, _ANY) if text.lstrip().startswith("{") else None
    return text.strip() if found is None else msgspec.json.encode(found).decode("utf-8", "replace") if found else ""


def paths(found: list[Called]) -> list[str]:
    """The absolute paths that a call names."""
    return [call.path for call in found if call.path and posixpath.isabs(call.path)]


def ended(tool: Tool) -> Ended:
    """How the call of a bubble ended, and its output."""
    text = payload(tool.result)
    outcome = part(text, _OUTCOME) if text.lstrip().startswith("{") else None
    status = _status(tool, outcome)
    if outcome is None:
        shown = text
    else:
        code = _exit_code(text)
        status = status if code is None else code
        shown = _output(outcome) or ("" if code is not None or outcome.output is not None else _compact(text))
    if not shown.strip():
        shown = _error(payload(tool.error))
    return Ended(tidy(shown.strip("\n")), status)


def diff(tool: Tool) -> str:
    """The diff that an edit's result holds; empty without one."""
    text = payload(tool.result)
    outcome = part(text, _OUTCOME) if text.lstrip().startswith("{") else None
    if outcome is None or outcome.diff is None:
        return ""
    if isinstance(outcome.diff, str):
        return tidy(outcome.diff)
    return tidy("\n".join(chunk.diff_string for chunk in outcome.diff.chunks or [] if chunk.diff_string))


def _status(tool: Tool, outcome: Outcome | None) -> ExitStatus:
    if tool.user_decision == "rejected" or (outcome and outcome.rejected):
        return "interrupted"
    extra = tool.additional_data.status if tool.additional_data else None
    match tool.status or extra:
        case "completed" | "success":
            return "ok"
        case "error":
            return "error"
        case "cancelled" | "rejected" | "aborted":
            return "interrupted"
        case _:
            return None


def _exit_code(text: str) -> int | None:
    for name, raw in (part(text, _FIELDS) or {}).items():
        if name.startswith("exitCode"):
            try:
                return _NUMBER.decode(raw)
            except ValueError:
                continue
    return None


def _output(outcome: Outcome) -> str:
    whole = outcome.output or outcome.contents or outcome.content
    return whole or "\n".join(filter(None, (outcome.stdout, outcome.stderr)))


def _error(text: str) -> str:
    if text.startswith('"'):
        return payload(Raw(text.encode()))
    found = part(text, _OUTCOME) if text.lstrip().startswith("{") else None
    return text if found is None else found.model_error or found.client_error or _compact(text)


def result(text: str) -> Ended:
    """A result as the agent was told it: a command's exit number stands in its head."""
    code = _EXIT_HEAD.match(text)
    if code is None:
        return Ended(tidy(text.strip("\n")))
    head = _OUTPUT_HEAD.match(text)
    if head is not None:
        tail = _OUTPUT_TAIL.search(text, max(head.end(), len(text) - _TAIL))
        text = text[head.end() : tail.start() if tail else len(text)]
    return Ended(tidy(text.strip("\n")), int(code[1]))
