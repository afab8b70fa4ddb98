"""The vault template as it goes into a vault: its paths rewritten to the folders of that vault."""

import re
from typing import Final

import msgspec

from afterword.assets import asset
from afterword.domain.day_names import DayNames

CONFIG: Final = ".obsidian"
"""What Obsidian calls its folder unless told otherwise."""
_OWN: Final = ("knowledge", "lessons", "maps", "bases", "templates")
_NEW_FOLDERS: Final = (
    "knowledge/concepts", "knowledge/connections", "lessons/journal", "lessons/topics", "lessons/agents",
)  # fmt: skip
_HOME: Final = re.compile(r"\[\[Home\]\]")
_LINKED: Final = re.compile(rf"(\[\[|`|\"path\": \"|-path:)({'|'.join(_OWN)})\b")
_IN_FOLDER: Final = re.compile(r'^ +- file\.inFolder\("(\w+)"\)\n', re.MULTILINE)
_PATH_OF: Final = re.compile(r'path:(\\?"?)daily\1 ?')
_UNSOUGHT: Final = re.compile(r'["\\\x00-\x1f]')
_DAILY: Final = re.compile(r"`daily/`")


class Layout(msgspec.Struct, frozen=True):
    """Where things lie in a vault. `prefix` is empty, or the folder that all but daily notes lie below."""

    days: DayNames
    prefix: str = ""
    config: str = CONFIG

    def own(self, name: str) -> str:
        """The path of something of ours that is no daily note."""
        return f"{self.prefix}/{name}" if self.prefix else name

    @property
    def folders(self) -> list[str]:
        """The folders that are there from the start."""
        return [*filter(None, [self.days.folder]), *map(self.own, _NEW_FOLDERS)]


def files_for(layout: Layout) -> dict[str, bytes]:
    """The template's files by their path in a vault with this layout."""
    root = asset("vault_template")
    found = {}
    for path in sorted(root.rglob("*")):
        if not path.is_file():
            continue
        name = path.relative_to(root).as_posix()
        text = path.read_text("utf-8")
        if name.startswith(f"{CONFIG}/"):
            name = layout.config + name.removeprefix(CONFIG)
            # The plugin is a program, the same in every vault.
            text = text if "/plugins/" in name else _settings(path.name, text, layout)
        else:
            name = layout.own(name)
            text = _page(text, layout)
        found[name] = text.encode()
    return found


def _page(text: str, layout: Layout) -> str:
    folder, sought = layout.days.folder, _sought(layout)
    if layout.prefix:
        text = _HOME.sub(f"[[{layout.prefix}/Home|Home]]", text)
        text = _LINKED.sub(lambda m: f"{m[1]}{layout.own(m[2])}", text)
        # The daily notes of a person have their own front matter.
        text = text.replace("    - 'type == \"daily\"'\n", "    - 'file.ext == \"md\"'\n")
    text = _IN_FOLDER.sub(lambda m: _in_folder(m[0], m[1], layout), text)
    text = _DAILY.sub(lambda _: f"`{folder.replace('`', '')}/`" if folder else "The vault's own folder", text)
    return _PATH_OF.sub(lambda _: f'path:"{sought}" ' if sought else "", text)


def _in_folder(line: str, name: str, layout: Layout) -> str:
    folder = _sought(layout) if name == "daily" else layout.own(name)
    if not folder:
        return ""
    if folder == name:
        return line
    said = f'file.inFolder("{folder}")'.replace("'", "''")
    return f"{line[: line.index('-')]}- '{said}'\n"


def _sought(layout: Layout) -> str:
    """The folder of the daily notes where it can be named in a query; otherwise all of the vault is meant."""
    return "" if _UNSOUGHT.search(layout.days.folder) else layout.days.folder


def _settings(name: str, text: str, layout: Layout) -> str:
    folder = layout.days.folder
    if name == "daily-notes.json":
        text = text.replace('"daily"', _json(folder)).replace('"YYYY-MM-DD"', _json(layout.days.form))
        return text.replace('"templates/Daily"', _json(layout.own("templates/Daily")))
    if name == "templates.json":
        return text.replace('"templates"', _json(layout.own("templates")))
    folder = _sought(layout)
    if layout.prefix:
        text = re.sub(r'"path": "(?!daily)', f'"path": "{layout.prefix}/', text)
        text = text.replace("-path:templates", f'-path:\\"{layout.own("templates")}\\"')
    if name == "graph.json" and layout.days.folder != "daily":
        group = re.compile(r',?\n    \{ "query": "path:daily"[^\n]*')
        return text.replace('"path:daily"', _json(f'path:"{folder}"')) if folder else group.sub("", text)
    if name == "bookmarks.json" and layout.days.folder != "daily":
        inner = f'path:\\"{folder}\\" ' if folder else ""
        return text.replace('path:\\"daily\\" ', inner)
    return text


def _json(text: str) -> str:
    return msgspec.json.encode(text).decode()
