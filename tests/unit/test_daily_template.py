"""The first-run vault: its settings parse, its links resolve inside it, its daily head is ours."""

import json
import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from afterword.domain.daily import new_note

TEMPLATE = Path(__file__).parents[2] / "vault_template"
FILES = sorted(path for path in TEMPLATE.rglob("*") if path.is_file())
NOTES = [path for path in FILES if path.suffix == ".md"]
COLOURS = {5020415, 11763691, 16098851, 3584894, 9211020, 14242639}


def names(paths: list[Path]) -> list[str]:
    return [path.relative_to(TEMPLATE).as_posix() for path in paths]


def settings(name: str) -> dict[str, object]:
    value = json.loads((TEMPLATE / ".obsidian" / name).read_bytes())
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize("path", NOTES, ids=names(NOTES))
def test_every_link_resolves(path: Path) -> None:
    text = path.read_text("utf-8")
    for target in re.findall(r"!?\[\[([^\]|#]+)", text):
        assert (TEMPLATE / target).is_file() or (TEMPLATE / f"{target}.md").is_file(), target
    for base, view in re.findall(r"!\[\[([^\]|#]+\.base)#([^\]]+)\]\]", text):
        views = YAML(typ="safe", pure=True).load((TEMPLATE / base).read_text("utf-8"))["views"]
        assert view in [view["name"] for view in views]
    assert not re.search(r"\]\(|<%|dataview", text)


@pytest.mark.parametrize("path", NOTES, ids=names(NOTES))
def test_front_matter_uses_our_properties(path: Path) -> None:
    matter = path.read_text("utf-8").split("---\n")[1]
    types = settings("types.json")["types"]
    assert isinstance(types, dict)
    assert set(YAML(typ="safe", pure=True).load(matter)) <= set(types)


def test_the_daily_template_gives_our_head() -> None:
    text = (TEMPLATE / "templates/Daily.md").read_text("utf-8")
    assert text.replace('"{{date:YYYY-MM-DD}}"', "2026-06-10").replace("{{date:YYYY-MM-DD}}", "2026-06-10") == new_note(
        "2026-06-10"
    )
    daily = settings("daily-notes.json")
    assert daily == {"folder": "daily", "format": "YYYY-MM-DD", "template": "templates/Daily"}
    assert (TEMPLATE / f"{daily['template']}.md").is_file()


def test_settings() -> None:
    snippets = settings("appearance.json")["enabledCssSnippets"]
    assert [path.stem for path in (TEMPLATE / ".obsidian/snippets").iterdir()] == snippets
    assert all(isinstance(on, bool) for on in settings("core-plugins.json").values())
    groups = settings("graph.json")["colorGroups"]
    assert isinstance(groups, list)
    assert {group["color"]["rgb"] for group in groups} == COLOURS
    assert "retracted" in groups[0]["query"]
    items = settings("bookmarks.json")["items"]
    assert isinstance(items, list)
    (group,) = items
    for item in group["items"]:
        assert item["type"] in {"file", "search"}
        assert item["type"] != "file" or (TEMPLATE / item["path"]).is_file()


def test_only_files_that_belong_in_a_new_vault() -> None:
    never = {"workspace.json", "hotkeys.json", "sync.json", "publish.json"}
    assert not never & {path.name for path in FILES}
    assert all(path.suffix in {".md", ".json", ".css", ".base", ".js"} for path in FILES)
    assert all(b"\r" not in path.read_bytes() and path.read_bytes().endswith(b"\n") for path in FILES)
