"""Writes what the code says of itself: `python docs/make_reference.py`.

`docs/configuration.md` from the docstrings of `afterword.domain.settings`, `docs/openapi.json` from the routes' table.
With `--check` nothing is written, and the exit code says whether both are what the code says.
"""

import ast
import json
import sys
from pathlib import Path

from afterword.serve.openapi import described

ROOT = Path(__file__).parent.parent
SETTINGS = ROOT / "daemon/afterword/domain/settings.py"
PAGE = ROOT / "docs/configuration.md"
API = ROOT / "docs/openapi.json"
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


def page() -> str:
    """The page as Markdown."""
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


def main() -> int:
    made = {PAGE: page(), API: json.dumps(described(), indent=1, ensure_ascii=False) + "\n"}
    if "--check" in sys.argv[1:]:
        return int(any(not path.exists() or path.read_text("utf-8") != text for path, text in made.items()))
    for path, text in made.items():
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
