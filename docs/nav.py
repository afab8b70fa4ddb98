"""A hook of mkdocs: the pages of `docs/adr` in the navigation, by their titles, so that a new one needs no list."""

from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """The configuration with the decisions in its last chapter."""
    folder = Path(config["docs_dir"]) / "adr"
    pages = [
        {page.read_text("utf-8").partition("\n")[0].removeprefix("# "): f"adr/{page.name}"}
        for page in sorted(folder.glob("*.md"))
    ]
    config["nav"][-1]["Changing it"].append({"Decisions": pages})
    return config
