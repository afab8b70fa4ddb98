"""The pages of the documentation say what the code says: messages, commands, options, settings, files."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from afterword.app.agents import AGENTS
from afterword.capture.harness.table import HARNESSES
from afterword.cli.commands import COMMANDS
from afterword.cli.group import cli
from afterword.serve.mcp_tools import TOOLS

ROOT = Path(__file__).parent.parent.parent
MADE = {"commands.md", "configuration.md"}
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")] + sorted(
    page for page in (ROOT / "docs").glob("*.md") if page.name not in MADE
)
NAMES = [page.name for page in PAGES]


@cache
def said_by_the_code() -> str:
    """Every text that stands in the code, those in one expression as one; what is filled in is a mark."""
    found: list[str] = []
    for folder in ("daemon/afterword", "sync/afterword_sync"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.append(node.value)
                elif isinstance(node, ast.JoinedStr):
                    parts = [part.value if isinstance(part, ast.Constant) else "\0" for part in node.values]
                    found.append("".join(map(str, parts)))
    return "\n".join(found)


def quoted() -> list[str]:
    page = (ROOT / "docs/troubleshooting.md").read_text("utf-8")
    return re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)


def stands(message: str) -> bool:
    """Whether the parts of a quoted message stand in the code, in one text."""
    parts = [re.escape(part) for part in message.split("…")]
    return re.search("[^\n]*".join(parts), said_by_the_code()) is not None


def test_a_page_quotes_messages() -> None:
    assert len(quoted()) > 30
    assert not stands("no agent's store was ever found")


@pytest.mark.parametrize("message", quoted())
def test_a_quoted_message_stands_in_the_code(message: str) -> None:
    assert stands(message)


def commands_in(page: Path) -> Iterator[list[str]]:
    """What a page says about the command line: words behind `afterword`, in code."""
    text = page.read_text("utf-8")
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            yield from _calls(line.partition("  #")[0])
    for code in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        if code not in quoted():
            yield from _calls(code)


def _calls(text: str) -> Iterator[list[str]]:
    for found in re.finditer(r"(?:^|[\s/(|])afterword ([a-z][^|>]*)", text):
        yield found[1].split()


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_what_a_page_tells_to_type_is_there(page: Path) -> None:
    for words in commands_in(page):
        name = words[0].rstrip(".,:;)")
        assert name in COMMANDS, f"{page.name}: afterword {' '.join(words)}"
        command = cli.get_command(click.Context(cli), name)
        while isinstance(command, click.Group) and len(words) > 1 and words[1] in command.commands:
            command = command.commands[words.pop(1)]
        assert command is not None
        known = {option for one in command.params for option in one.opts} | {"--help", "-h"}
        for word in words[1:]:
            if word.startswith("--") and len(word) > 2:
                assert re.match(r"--[a-z-]+", word)[0] in known, f"{page.name}: {' '.join(words)}"  # type: ignore[index]


def test_every_agent_and_tool_is_on_its_page() -> None:
    page = (ROOT / "docs/agents-and-mcp.md").read_text("utf-8")
    assert [name for name in TOOLS if f"| `{name}` |" not in page] == []
    short = {"GitHub Copilot CLI": "Copilot CLI"}
    assert [agent.label for agent in AGENTS if short.get(agent.label, agent.label) not in page] == []
    readme = (ROOT / "README.md").read_text("utf-8")
    assert [h.label for h in HARNESSES if h.label.removesuffix(" CLI").removesuffix(" Build") not in readme] == []


def test_links_of_the_pages_outside_the_site_lead_somewhere() -> None:
    for page in (page for page in PAGES if page.parent == ROOT):
        for target in re.findall(r"\]\(([^)#]+)", page.read_text("utf-8")):
            assert target.startswith("https://") or (ROOT / target).exists(), f"{page.name}: {target}"
