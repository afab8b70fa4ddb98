"""Every note the sample history makes, read by others: YAML 1.2, GitHub's Markdown, and Obsidian's kinds of link."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from knowledge import history
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.front_matter import front_matter_plugin
from mdit_py_plugins.tasklists import tasklists_plugin
from ruamel.yaml import YAML

MARKDOWN = MarkdownIt("gfm-like").use(front_matter_plugin).use(tasklists_plugin).use(footnote_plugin)
if MARKDOWN.linkify:
    # GitHub makes no link of what has no scheme.
    MARKDOWN.linkify.set({"fuzzy_link": False, "fuzzy_ip": False})
LINK = re.compile(r"(?<!\\)\[\[([^\]|#]*)(?:#([^\]|]*))?(?:\|([^\]]*))?\]\]")
COMMENT = re.compile(r"%%.*?%%", re.DOTALL)
TYPES = {
    "type": str, "uid": str, "title": str, "slug": str, "aliases": list, "tags": list, "projects": list,
    "sources": list, "connects": list, "status": str, "use_count": int, "edited": bool, "engine": str,
    "cssclasses": list, "date": object, "created": object, "updated": object, "retracted_on": object,
    "agents": list, "kind": str, "source": str, "by": str, "at": object, "topic": str, "machine": str, "evidence": str,
    "supersedes": list, "pinned": bool,
}  # fmt: skip


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return history(tmp_path_factory.mktemp("parsed") / "home").vault


def notes(vault: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(vault.rglob("*.md")):
        yield str(path.relative_to(vault)), path.read_text("utf-8")


def walk(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from walk(token.children or [])


def test_front_matter_is_flat_yaml_of_the_types_obsidian_is_told(vault: Path) -> None:
    seen = 0
    for name, text in notes(vault):
        assert text.startswith("---\n"), name
        matter = text[4 : text.index("\n---\n", 3) + 1]
        yaml = YAML(typ="safe", pure=True)
        yaml.version = (1, 2)  # type: ignore[assignment]
        values = yaml.load(matter)
        for key, value in values.items():
            assert isinstance(value, TYPES[key]), (name, key, value)
            assert not isinstance(value, list) or all(isinstance(item, str) for item in value), (name, key)
        types = json.loads((vault / ".obsidian/types.json").read_text())["types"]
        assert values.keys() <= types.keys(), name
        seen += 1
    assert seen > 15


def test_markdown_has_nothing_that_runs_or_fetches(vault: Path) -> None:
    for name, text in notes(vault):
        for token in walk(MARKDOWN.parse(text)):
            assert token.type not in ("html_block", "image", "footnote_ref", "code_block"), (name, token.content)
            if token.type == "html_inline":
                assert token.content.startswith('<input class="task-list-item-checkbox"'), (name, token.content)
            if token.type == "fence":
                assert (name, token.info) == ("maps/Open actions.md", "query"), name
            if token.type == "link_open":
                raise AssertionError(f"{name}: a link of Markdown's own: {token.attrs}")
        body = text[text.index("\n---\n", 3) :]
        assert "<%" not in body, name
        assert not re.search(r"(?<!\\)\$\$|(?<![\w\\])::", body), name


def test_every_link_leads_somewhere(vault: Path) -> None:
    texts = {name.removesuffix(".md"): text for name, text in notes(vault)}
    files = {str(path.relative_to(vault)) for path in vault.rglob("*") if path.is_file()}
    links = 0
    for name, text in texts.items():
        for target, block, _ in LINK.findall(COMMENT.sub("", text)):
            links += 1
            note = target or name
            assert note in texts or note in files, (name, target)
            if block.startswith("^"):
                assert re.search(rf"(?m) {re.escape(block)}$", texts[note]), (name, target, block)
            elif block and note.endswith(".base"):
                assert f"name: {block}\n" in (vault / note).read_text(), (name, target, block)
    assert links > 50


def test_settings_and_bases_parse(vault: Path) -> None:
    for path in (vault / ".obsidian").glob("*.json"):
        json.loads(path.read_text())
    for path in (vault / "bases").glob("*.base"):
        views = YAML(typ="safe", pure=True).load(path.read_text())["views"]
        assert len({view["name"] for view in views}) == len(views)


def test_a_day_has_one_section_a_session_and_each_of_the_fixed_shape(vault: Path) -> None:
    labels = ("Context", "Key Exchanges", "Decisions Made", "Lessons Learned", "Action Items")
    for path in sorted((vault / "daily").glob("*.md")):
        text = path.read_text()
        assert text.count("\n## Sessions\n") == 1
        for block in re.findall(r"(?ms)^### Session \(\d\d:\d\d\)\n(.*?)^%% /afterword \S+ %%$", text):
            found = re.findall(r"(?m)^\*\*([A-Z][A-Za-z ]+):\*\*", block)
            assert found[0] == "Context"
            assert found == [label for label in labels if label in found]
