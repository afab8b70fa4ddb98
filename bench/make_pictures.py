"""Make the pictures in docs/pictures: the demo's report, and its vault as Obsidian's reading view shows it.

    python -m bench.make_pictures                     # writes docs/pictures again; needs Chromium
    python -m bench.make_pictures --vault VAULT --out FOLDER

Not Obsidian itself: a Markdown renderer with the template's snippet and the app's variables for a light theme.
"""

import argparse
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from mdit_py_plugins.tasklists import tasklists_plugin
from ruamel.yaml import YAML

HERE = Path(__file__).resolve().parents[1]
TARGET = HERE / "docs" / "pictures"
WIDTH_PX = 860
_COMMENT = re.compile(r"%%.*?%%\n?", re.DOTALL)
_BLOCK_ID = re.compile(r" \^[\w-]+$", re.MULTILINE)
_LINK = re.compile(r"(?<!\\)!?\[\[([^\]|]*?)(?:\|([^\]]*))?\]\]")
_CALLOUT = re.compile(r"<blockquote>\s*<p>\[!(\w+)\] ([^\n<]*)\n?(.*?)</blockquote>", re.DOTALL)

STYLE = """
:root { --text: #222; --muted: #707070; --faint: #ababab; --line: #e3e3e3; --accent: #6c4bd8; --warn: 224, 132, 24; }
body { margin: 0; background: #fff; color: var(--text); font: 16px/1.55 Inter, "Liberation Sans", sans-serif; }
main { max-width: 720px; margin: 0 auto; padding: 28px 40px 36px; }
.inline-title { font-size: 1.7em; font-weight: 700; margin: 0 0 .4em; }
h1 { font-size: 1.65em; line-height: 1.25; margin: .9em 0 .5em; } h2 { font-size: 1.35em; margin: 1.2em 0 .4em; }
h3 { font-size: 1.15em; margin: 1.2em 0 .3em; } p { margin: .5em 0; } ul { margin: .3em 0; padding-left: 1.4em; }
a { color: var(--accent); text-decoration: none; } code { background: #f4f4f4; border-radius: 4px; padding: .1em .3em; }
.task-list-item { list-style: none; margin-left: -1.3em; }
.properties { border: 0; font-size: .86em; margin: 0 0 1em; border-collapse: collapse; width: 100%; }
.properties caption { text-align: left; color: var(--muted); font-weight: 600; padding-bottom: .3em; }
.properties td { border-bottom: 1px solid var(--line); padding: 3px 8px 3px 0; vertical-align: top; }
.properties td:first-child { color: var(--muted); width: 110px; }
.pill { background: #efeafc; color: var(--accent); border-radius: 10px; padding: 1px 9px; margin: 0 4px 2px 0;
  display: inline-block; }
.callout { background: rgba(var(--warn), .1); border-radius: 4px; padding: 10px 14px; margin: .8em 0; }
.callout b { color: rgb(var(--warn)); }
"""


def page(name: str, text: str, snippet: str) -> str:
    """A note as an HTML page. `name` is its file's name without `.md`; `snippet` the template's CSS."""
    matter, _, body = text.removeprefix("---\n").partition("\n---\n")
    values: dict[str, Any] = YAML(typ="safe", pure=True).load(matter) or {}
    body = _BLOCK_ID.sub("", _COMMENT.sub("", body))
    body = _LINK.sub(lambda m: f"[{m[2] or m[1].rpartition('#')[2].rpartition('/')[2]}](#)", body)
    shown = MarkdownIt("gfm-like", {"linkify": False, "html": False}).use(tasklists_plugin).render(body)
    shown = _CALLOUT.sub(r'<div class="callout"><b>\2</b><p>\3</div>', shown)
    classes = " ".join(map(html.escape, values.get("cssclasses", [])))
    title = f'<div class="inline-title">{html.escape(name)}</div>'
    return (
        f'<!doctype html><meta charset="utf-8"><style>{STYLE}{snippet}</style>'
        f'<main class="{classes}">{title}{_properties(values)}{shown}</main>'
    )


def _properties(values: dict[str, Any]) -> str:
    rows = "".join(
        f"<tr><td>{html.escape(key)}</td><td>{_value(key, value)}</td></tr>"
        for key, value in values.items()
        if key not in ("cssclasses", "uid", "slug")
    )
    return f'<table class="properties"><caption>Properties</caption>{rows}</table>'


def _value(key: str, value: Any) -> str:
    if isinstance(value, list):
        words = [_LINK.sub(lambda m: m[2] or m[1].partition("#")[0], str(item)) for item in value]
        mark = "#" if key == "tags" else ""
        return "".join(f'<span class="pill">{mark}{html.escape(word)}</span>' for word in words)
    return html.escape(str(value))


def photograph(source: str, target: Path, height_px: int) -> None:
    """Render a page into a PNG of `WIDTH_PX` by `height_px`."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("no Chromium was found")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        file.write_text(source, "utf-8")
        words = [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--user-data-dir={folder}/p",
        ]
        words += [f"--window-size={WIDTH_PX},{height_px}", f"--screenshot={target}", file.as_uri()]
        subprocess.run(words, check=True, capture_output=True, timeout=120)


def demo_vault() -> Path:
    """The vault of a demo, made now."""
    done = subprocess.run(
        [sys.executable, "-m", "afterword", "up", "--demo", "--json"], check=True, capture_output=True, text=True
    )
    return Path(json.loads(done.stdout)["vault"])


def report_of(vault: Path) -> str:
    """The report of the demo whose vault this is."""
    env = {"PATH": os.environ["PATH"], "HOME": str(vault.parent), "AFTERWORD_NOW": "2026-06-11T12:00:00Z"}
    words = [sys.executable, "-m", "afterword", "report", "--format", "html", "-o", "-"]
    return subprocess.run(words, check=True, capture_output=True, text=True, env=env).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vault", type=Path, help="a vault of the demo; made anew when it is not given")
    parser.add_argument("--out", type=Path, default=TARGET)
    given = parser.parse_args()
    vault = given.vault or demo_vault()
    snippet = (vault / ".obsidian/snippets/afterword.css").read_text("utf-8")
    days = sorted((vault / "daily").glob("*.md"))
    concepts = sorted(
        (vault / "knowledge/concepts").glob("*.md"), key=lambda path: -path.read_text("utf-8").count("[[")
    )
    given.out.mkdir(parents=True, exist_ok=True)
    for name, path, height_px in (
        ("daily", days[0], 1250),
        ("article", concepts[0], 1250),
        ("home", vault / "Home.md", 980),
    ):
        photograph(page(path.stem, path.read_text("utf-8"), snippet), given.out / f"{name}.png", height_px)
    photograph(report_of(vault), given.out / "report.png", 1250)


if __name__ == "__main__":
    main()
