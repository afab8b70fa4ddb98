"""Tool calls of Codex: commands and their exit numbers, patches and their files."""

import ntpath
import posixpath
import re
import shlex

import msgspec

from afterword.capture.harness.codex_lines import (
    ARGUMENTS,
    OLD_OUTPUT,
    Action,
    Arguments,
    Change,
    Changes,
    Output,
    Part,
)
from afterword.capture.harness.codex_speech import joined, pictures
from afterword.capture.harness.lenient import part
from afterword.capture.harness.texts import tidy

COMMANDS = frozenset(
    {"exec_command", "shell", "container.exec", "shell_command", "local_shell", "unified_exec", "local_shell_call"}
)
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "fish"})
_POWERSHELLS = frozenset({"powershell", "pwsh", "powershell.exe", "pwsh.exe"})
_HEAD = 2000
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) *(-?\d{1,10})\b", re.MULTILINE)
_RUNNING = re.compile(r"^Process running with session ID *(\w{1,40})", re.MULTILINE)
_BODY = re.compile(r"^Output:(?:\n|\Z)", re.MULTILINE)
_HEAD_LINES = ("Exit code:", "Chunk ID:", "Wall time:", "Process exited", "Process running", "Command:")
_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_PATCH_END = re.compile(r"^\*\*\* End Patch", re.MULTILINE)
_ANY = msgspec.json.Decoder(dict[str, object])
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")


class Ended(msgspec.Struct, frozen=True):
    """What a tool's output says: its text, and how the tool ended."""

    text: str
    exit_code: int | None = None
    running: str | None = None
    success: bool | None = None

    @property
    def aborted(self) -> bool:
        return self.text[:40].lower().startswith(("aborted by user", "command aborted by user"))


def arguments(given: object) -> Arguments:
    found = part(given, ARGUMENTS) if isinstance(given, str) else None
    return found or Arguments()


def command_text(given: str | list[str] | None) -> str:
    """A command as a person would type it: the script of `bash -lc script`, else the words quoted."""
    if given is None or isinstance(given, str):
        return tidy(given or "")
    if len(given) == 3:
        program = given[0].replace("\\", "/").rsplit("/", 1)[-1].lower()
        if (program in _SHELLS and given[1] in ("-lc", "-c")) or (
            program in _POWERSHELLS and given[1].lower() == "-command"
        ):
            return tidy(given[2])
    return tidy(shlex.join(given))


def called_command(name: str, given: object, action: Action | str | None) -> str:
    """The command of a shell call, whatever its arguments look like."""
    if isinstance(action, Action) and action.command:
        return command_text(action.command)
    found = arguments(given)
    text = command_text(found.cmd or found.command or found.input)
    return text or tidy(given if isinstance(given, str) else name)


def compact(name: str, given: object) -> str:
    """A tool's name and arguments on one line."""
    if not isinstance(given, str) or not given.strip():
        return name
    found = part(given, _ANY) if given.lstrip().startswith("{") else None
    if found is not None:
        given = msgspec.json.encode(found).decode("utf-8", "replace") if found else ""
    return tidy(f"{name} {given}".rstrip())


def searched(action: Action | str | None) -> str:
    words = (action.query, action.url, action.pattern) if isinstance(action, Action) else ()
    return " ".join(filter(None, ("web_search", *words)))


def ended(output: str | Output | list[Part] | None) -> Ended:
    """Read a tool's output; commands put their exit number into its head."""
    success: bool | None = None
    notes: list[str] = []
    if isinstance(output, Output):
        success = output.success
        notes = pictures(output.content)
        text = joined(output.content) if output.content is not None else output.output or ""
    elif isinstance(output, list):
        notes = pictures(output)
        text = joined(output)
    else:
        text = output or ""
    if text.startswith("{") and '"metadata"' in text:
        old = part(text, OLD_OUTPUT)
        if old is not None:
            return Ended(tidy(old.output), old.metadata.exit_code, None, success)
    found = _headed(text, success)
    return Ended("\n".join([found.text, *notes]).strip(), None, None, success) if notes else found


def _headed(text: str, success: bool | None) -> Ended:
    head = text[:_HEAD]
    if not head.startswith(_HEAD_LINES):
        return Ended(tidy(text), None, None, success)
    body = _BODY.search(head)
    if body is not None:
        head, text = head[: body.start()], text[body.end() :]
    code, running = _EXIT.search(head), _RUNNING.search(head)
    return Ended(tidy(text), int(code[1]) if code else None, running[1] if running else None, success)


def patched(patch: str, cwd: str) -> list[tuple[str, str]]:
    """(absolute path, text) for each file of an `apply_patch` input, by path."""
    end = _PATCH_END.search(patch)
    stop = end.start() if end else len(patch)
    heads = [head for head in _FILE.finditer(patch) if head.start() < stop]
    files: dict[str, list[str]] = {}
    for n, head in enumerate(heads):
        until = heads[n + 1].start() if n + 1 < len(heads) else stop
        text = patch[head.end() : until].strip("\n")
        files.setdefault(absolute(head[2].strip(), cwd), []).append(text)
    return sorted((path, tidy("\n".join(texts))) for path, texts in files.items())


def changed(changes: Changes, cwd: str) -> list[tuple[str, str]]:
    """(absolute path, diff) for each changed file, by path."""
    if isinstance(changes, dict):
        named = list(changes.items())
    else:
        named = [(change.path, change) for change in changes or [] if change.path]
    return sorted((absolute(path, cwd), tidy(_diff(change))) for path, change in named)


def _diff(change: Change) -> str:
    text = change.unified_diff or change.diff or change.content or ""
    return f"*** Move to: {change.move_path}\n{text}" if change.move_path else text


def absolute(path: str, cwd: str) -> str:
    """The path as an absolute one, in the manner of the system the rollout comes from."""
    if path.startswith("/"):
        return posixpath.normpath(path)
    if _WINDOWS.match(path):
        return ntpath.normpath(path)
    if _WINDOWS.match(cwd):
        return ntpath.normpath(ntpath.join(cwd, path))
    return posixpath.normpath(posixpath.join(cwd, path)) if cwd else path
