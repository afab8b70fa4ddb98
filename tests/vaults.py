"""Vaults as people have them, made up: each a tree of files by its path. Bytes are as they would be on a disk."""

import json
import unicodedata

PLAIN = {
    ".obsidian/app.json": '{\n  "promptDelete": false\n}',
    ".obsidian/appearance.json": '{\n  "accentColor": "",\n  "enabledCssSnippets": [\n    "mine"\n  ]\n}',
    ".obsidian/core-plugins.json": '{\n  "graph": false,\n  "daily-notes": true\n}',
    ".obsidian/workspace.json": '{"main":{"id":"1"},"active":"1"}',
    ".obsidian/hotkeys.json": "{}",
    ".obsidian/snippets/mine.css": "body { color: red }\n",
    "Welcome.md": "# Welcome\n",
    "Projects/Harbor.md": "See [[Welcome]].\n",
}


GOLDEN: dict[str, dict[str, str]] = {
    "plain": PLAIN,
    "small-json": {".obsidian/app.json": "{}", ".obsidian/types.json": '{"types":{}}', "Hub.md": "[[A]] [[B]]\n"},
    "periodic-notes": PLAIN
    | {
        ".obsidian/community-plugins.json": '["dataview", "periodic-notes"]',
        ".obsidian/plugins/periodic-notes/data.json": json.dumps(
            {"daily": {"enabled": True, "folder": "Journal", "format": "YYYY/MM/YYYY-MM-DD", "template": "T"}}
        ),
        ".obsidian/daily-notes.json": '{"folder": "old", "format": ""}',
        "Journal/2026/03/2026-03-04.md": "---\r\nmood: fine\r\n---\r\nMy own day.\r\n",
    },
    "own-format": PLAIN
    | {
        ".obsidian/daily-notes.json": '{"folder": "Diary", "format": "dddd, MMMM Do YYYY"}',
        "Diary/Wednesday, March 4th 2026.md": "up early",
    },
    "odd-folder": PLAIN
    | {".obsidian/daily-notes.json": json.dumps({"folder": 'My "days": it\'s #1 \\ `x`', "format": ""})},
    "odd-format": PLAIN | {".obsidian/daily-notes.json": '{"folder": "Diary", "format": "gggg-[W]ww"}'},
    "polish-words": PLAIN
    | {
        ".obsidian/daily-notes.json": '{"folder": "Dziennik", "format": "D MMMM YYYY"}',
        "Dziennik/4 marca 2026.md": "rano\n",
    },
    "capital-daily": PLAIN | {"Daily/2026-03-04.md": "# mine\n\nno newline at the end"},
    "days-at-the-top": PLAIN | {"2026-03-04.md": "top\n", "2026-03-03.md": ""},
    "array-core-plugins": PLAIN | {".obsidian/core-plugins.json": '[\n  "graph",\n  "file-explorer"\n]'},
    "broken-json": PLAIN
    | {
        ".obsidian/core-plugins.json": '{"graph": true,',
        ".obsidian/types.json": '{"types": {"status": "text", "status": "number"}}',
        ".obsidian/graph.json": "\ufeff{}",
        ".obsidian/bookmarks.json": "[]",
        ".obsidian/appearance.json": "",
    },
    "decomposed-names": PLAIN
    | {
        ".obsidian/daily-notes.json": '{"folder": "Tägliche Notizen", "format": ""}',
        unicodedata.normalize("NFD", "Tägliche Notizen/2026-03-04.md"): "grün\n",
    },
    "type-clashes": PLAIN
    | {
        ".obsidian/types.json": json.dumps(
            {"types": {"status": "multitext", "created": "datetime", "date": "datetime", "use_count": "text"}}
        )
    },
    "other-config": {
        ".config-mobile/app.json": "{}",
        ".config-mobile/core-plugins.json": '{"bases": false}',
        "Note.md": "x\n",
    },
    "ours-in-the-way": PLAIN
    | {
        "Memory/Home.md": "my own memory palace\n",
        "memory/other.md": "another one\n",
        ".obsidian/snippets/afterword.css": "/* mine */\n",
        ".obsidian/templates.json": '{"folder": "T"}',
        ".obsidian/bookmarks.json": '{"items": [{"type": "group", "title": "Afterword", "items": []}]}',
    },
    "only-markdown": {"a/b/c.md": "deep\n", "picture.png": "\x89PNG"},
}
"""Name → files."""
