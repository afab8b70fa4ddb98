"""`search` once it is known what is asked: the answer for a person or a script."""

import os
from typing import Any

from afterword.app.asking import answer
from afterword.app.config import Config
from afterword.app.results import Question
from afterword.cli.output import note, say, say_json
from afterword.domain.clock import Zones, parse_rfc3339
from afterword.domain.errors import Exit


def find(config: Config, query: tuple[str, ...], *, as_json: bool, limit: int, **given: Any) -> int:
    """Answer a question and print it; the exit code. `given` are the filters and the mode as the command names them."""
    text = " ".join(query)
    wanted = Question(text, **given | {"mode": given["mode"] or "both"}, limit=limit)
    fields = answer(config, os.environ, wanted)
    found = fields["results"]
    if as_json:
        say_json("search", fields)
        return Exit.DONE if found else Exit.NOTHING
    if found:
        from afterword.app.reading import reader, zones_of

        with reader(config) as ledger:
            zones = zones_of(config, ledger)
    for row in found:
        say(_heading(row, zones))
        say(f"    {row['snippet']}")
        if row["path"]:
            say(f"    → {row['path']}" + (f" (^{row['block']})" if row["block"] else ""))
    if not found:
        narrowed = " ".join(f"--{name} {value}" for name, value in given.items() if value and name != "mode")
        note(f"nothing holds {text!r}" + (f" with {narrowed}" if narrowed else ""))
    more = fields["total"] - sum("exact" in row["why"] for row in found)
    if more > 0 and found:
        note(f"{more:,} more; use --limit, --project, --since …")
    if not fields["complete"]:
        note("the full text is being made again: there may be more")
    if fields.get("semantic_problem"):
        note(f"exact words only: {fields['semantic_problem']}")
    if fields["semantic"] == "building" and wanted.mode != "exact":
        note("exact words only so far: the index for search by meaning is being made")
    return Exit.DONE if found else Exit.NOTHING


def _heading(row: dict[str, Any], zones: Zones) -> str:
    at_us = parse_rfc3339(row["time"])
    at = zones.local(at_us).strftime("%Y-%m-%d %H:%M") if at_us is not None else ""
    words = [row["item_kind"] or row["kind"], at]
    words += [row["harness"], row["project"], row["session"][:13]] if row["session"] else [row["title"]]
    words += ["abandoned"] if row["abandoned"] else []
    return " · ".join(word for word in words if word) + ("" if "exact" in row["why"] else " · by meaning")
