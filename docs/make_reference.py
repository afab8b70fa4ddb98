"""Writes what the code says of itself: `python docs/make_reference.py`.

`docs/configuration.md` from the docstrings of `afterword.domain.settings`, `docs/openapi.json` from the routes' table,
`docs/commands.md` from the commands as click sees them, the table in `docs/formats.md` from the harnesses.
With `--check` nothing is written, and the exit code says whether all of them are what the code says.
"""

import ast
import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from afterword.capture.harness.table import HARNESSES, Harness
from afterword.cli.commands import COMMANDS
from afterword.cli.group import cli
from afterword.domain.errors import Exit
from afterword.domain.events import Where
from afterword.serve.openapi import described

ROOT = Path(__file__).parent.parent
SETTINGS = ROOT / "daemon/afterword/domain/settings.py"
PAGE = ROOT / "docs/configuration.md"
API = ROOT / "docs/openapi.json"
SHELL = ROOT / "docs/commands.md"
FORMATS = ROOT / "docs/formats.md"
BEGIN, END = "<!-- made by make_reference.py -->\n", "<!-- end -->"
HEAD = """# Settings

Made from the code by `make docs`; every key there is, with its default. Settings stand in `config.toml`
(`afterword config path` says where; `~/.config/afterword/config.toml` on Linux), each in its section:

```toml
[segment]
settle = "5m"
```

`afterword config set segment.settle 5m` writes one and keeps every other byte of the file; `afterword config show`
prints what is in force and where it comes from. A variable overrides the file: `AFTERWORD_SEGMENT_SETTLE=5m`. A name or
a value that cannot be is said with its line and what is allowed. Durations: `0`, `2s`, `10m`, `1.5h`, `30d`; sizes:
`64K`, `256M`, `1G`.
"""

SHELL_HEAD = """# Commands

Made from the program's own help by `make docs`. `afterword COMMAND --help` says the same.

`--json` prints one object, `{"version": 1, "command": …}`, and for an error `{"version": 1, "error": {…}}` with `kind`,
`message` and `hint`. Results go to standard output, everything else to standard error.

| exit code | means |
| --- | --- |
"""
READ_AS = {"log of lines": "decode", "documents or a database": "parts"}
MEANS = {
    Exit.DONE: "done",
    Exit.FAILED: "it failed, or something needs a person",
    Exit.USAGE: "the call's words are off",
    Exit.NOTHING: "nothing was found",
    Exit.NOT_SET_UP: "not set up yet: `afterword up`",
    Exit.BUSY: "another process writes; try again",
}


def page() -> str:
    """The page of settings as Markdown."""
    tree = ast.parse(SETTINGS.read_text("utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    parts = [HEAD]
    for field in _fields(classes["Settings"]):
        assert isinstance(field.target, ast.Name)
        annotation = ast.unparse(field.annotation)
        many = annotation.startswith("dict[")
        section = classes[annotation.removeprefix("dict[str, ").rstrip("]")]
        parts += [f"## [{field.target.id}{'.NAME' if many else ''}]", "| key | default | |\n| --- | --- | --- |"]
        body = section.body
        for at, node in enumerate(body):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
                behind = body[at + 1] if at + 1 < len(body) else None
                said = ast.literal_eval(behind.value) if isinstance(behind, ast.Expr) else ""
                parts[-1] += f"\n| `{node.target.id}` | `{_default(node.value)}` | {' '.join(str(said).split())} |"
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _fields(node: ast.ClassDef) -> list[ast.AnnAssign]:
    return [inner for inner in node.body if isinstance(inner, ast.AnnAssign)]


def _default(node: ast.expr) -> str:
    value = ast.literal_eval(node)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    return str(list(value)) if isinstance(value, tuple) else f"{value}"


def commands() -> str:
    """The page of commands as Markdown, in the order of the program's help."""
    codes = "\n".join(f"| {code.value} | {MEANS[code]} |" for code in Exit)
    top = click.Context(cli, info_name="afterword", max_content_width=100)
    parts = [SHELL_HEAD + codes]
    for name in COMMANDS:
        command = cli.get_command(top, name)
        assert command is not None, name
        parts += _command(command, click.Context(command, info_name=name, parent=top), 2)
    return "\n\n".join(parts) + "\n"


def _command(command: click.Command, at: click.Context, depth: int) -> Iterator[str]:
    """A command's chapter, then those of its sub-commands."""
    yield f"{'#' * depth} {at.command_path}"
    said = inspect.cleandoc(command.help or "")
    for paragraph in said.split("\n\n"):
        # What click is told not to wrap are lines for the shell.
        yield "```text\n" + paragraph.removeprefix("\b\n") + "\n```" if paragraph.startswith("\b\n") else paragraph
    yield f"```text\n{' '.join([at.command_path, *command.collect_usage_pieces(at)])}\n```"
    rows = [row for one in command.params if (row := one.get_help_record(at)) and row[1]]
    if rows:
        yield "| option | |\n| --- | --- |\n" + "\n".join(f"| `{_cell(name)}` | {_cell(text)} |" for name, text in rows)
    if isinstance(command, click.Group):
        for name in command.list_commands(at):
            inner = command.get_command(at, name)
            if inner is not None and not inner.hidden:
                yield from _command(inner, click.Context(inner, info_name=name, parent=at), depth + 1)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


class _Asked(dict[str, str]):
    """An environment without variables that notes which were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def get(self, key: str, default: str = "") -> str:  # type: ignore[override]
        self.names += [key] if key not in self.names else []
        return default


def formats() -> str:
    """The page of formats with the table of agents put in anew."""
    before, _, rest = FORMATS.read_text("utf-8").partition(BEGIN)
    _, _, behind = rest.partition(END)
    rows = "\n".join(_agent(harness) for harness in HARNESSES)
    head = "| agent | name here | read as | looked for in | moved by |\n| --- | --- | --- | --- | --- |"
    return f"{before}{BEGIN}\n{head}\n{rows}\n\n{END}{behind}"


def _agent(harness: Harness) -> str:
    module, asked = harness.load(), _Asked()
    found = [root for system in ("linux", "darwin") for root in module.roots(Where(asked, Path("~"), system))]
    kinds = [word for word, way in READ_AS.items() if hasattr(module, way)]
    places = ", ".join(f"`{root}`" for root in dict.fromkeys(found)) or "folders where other agents worked"
    names = ", ".join(f"`{name}`" for name in asked.names)
    return f"| {harness.label} | `{harness.name}` | {', '.join(kinds)} | {places} | {names} |"


def main() -> int:
    made = {
        PAGE: page(),
        API: json.dumps(described(), indent=1, ensure_ascii=False) + "\n",
        SHELL: commands(),
        FORMATS: formats(),
    }
    if "--check" in sys.argv[1:]:
        return int(any(not path.exists() or path.read_text("utf-8") != text for path, text in made.items()))
    for path, text in made.items():
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
