"""`search` once it is known what is asked: the answer for a person or a script."""

import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from afterword.app.asking import answer
from afterword.app.config import Config
from afterword.app.results import Question
from afterword.cli.output import clean, note, say_json
from afterword.domain.clock import Zones, parse_rfc3339
from afterword.domain.errors import Exit


def find(config: Config, query: tuple[str, ...], *, as_json: bool, limit: int, **given: Any) -> int:
    """Answer a question and print it; the exit code. `given` are the filters and the mode as the command names them."""
    text = " ".join(query)
    wanted = Question(text, **given | {"mode": given["mode"] or "both"}, limit=limit)
    fields = answer(config, os.environ, wanted, os.getcwd())  # noqa: PTH109
    found = fields["results"]
    if as_json:
        say_json("search", fields)
        return Exit.DONE if found else Exit.NOTHING
    for line in lines(config, fields):
        sys.stdout.write(line + "\n")
    sys.stdout.flush()
    for sentence in beside(wanted, fields, given):
        note(sentence)
    return Exit.DONE if found else Exit.NOTHING


def lines(config: Config, fields: dict[str, Any]) -> Iterator[str]:
    """The results as a person reads them, clean: on a terminal wrapped to its width, elsewhere a line for each part."""
    found = fields["results"]
    if not found:
        return
    from afterword.app.reading import reader, zones_of

    with reader(config) as ledger:
        zones = zones_of(config, ledger)
    if sys.stdout.isatty():
        from afterword.cli.view import screen, terms_of

        shown = screen(config.vault.name if config.vault else None)
        terms = terms_of(fields["instead"] or fields["query"])
        for row in found:
            yield from shown.result(heading(row, zones), row, terms)
        return
    for row in found:
        yield clean(heading(row, zones))
        yield clean(f"    {row['snippet']}")
        if row.get("retracted"):
            yield clean(f"    ! {row['retracted']['why']} ({row['retracted']['says']})")
        if row["path"]:
            yield clean(f"    → {row['path']}" + (f" (^{row['block']})" if row["block"] else ""))


_HOW = {
    "beginnings": "nothing holds these very words; these are beginnings of words, or parts of names",
    "forms": "nothing holds these very words; these are other forms of them",
    "spelling": "nothing holds these very words; looked for: {instead}",
    "file": "no text holds this; these are edits and reads of files of that name",
    "most": "nothing holds all of these words; these hold most of them",
}


def beside(wanted: Question, fields: dict[str, Any], given: Mapping[str, Any]) -> Iterator[str]:
    """What is to be said beside the results."""
    found = fields["results"]
    exact = sum("exact" in row["why"] for row in found)
    if not found:
        said = {name: value for name, value in given.items() if value and name not in ("mode", "page")}
        narrowed = " ".join(f"--{name} {value}" for name, value in said.items())
        where = f" on page {wanted.page}" if wanted.page > 1 else ""
        yield f"nothing holds {wanted.query!r}" + (f" with {narrowed}" if narrowed else "") + where
    elif exact and fields["matched"] in _HOW:
        yield _HOW[fields["matched"]].format(instead=fields["instead"])
    more = fields["total"] - exact - (wanted.page - 1) * wanted.limit
    if more > 0 and found:
        yield f"{more:,} more; use --page {wanted.page + 1}, --limit, --project, --since …"
    if wanted.kind in ("article", "diary") and (wanted.mode == "exact" or fields["semantic"] == "off"):
        yield "articles and the diary are found through the index by meaning: leave --exact away, or turn it on"
    if not fields["complete"]:
        yield "the full text is being made again: there may be more"
    if fields.get("semantic_problem"):
        yield f"exact words only: {fields['semantic_problem']}"
    if fields["semantic"] == "building" and wanted.mode != "exact":
        yield "exact words only so far: the index for search by meaning is being made"


def heading(row: dict[str, Any], zones: Zones) -> str:
    """Where a result is from, on one line."""
    at_us = parse_rfc3339(row["time"])
    at = zones.local(at_us).strftime("%Y-%m-%d %H:%M") if at_us is not None else ""
    words = [row["item_kind"] or row["kind"], at]
    words += [row["harness"], row["project"], row["session"][:13]] if row["session"] else [row["title"]]
    words += [f"from {row['from']}"] if row.get("from") else []
    words += ["abandoned"] if row["abandoned"] else []
    words += ["may be out of date"] if row.get("stale") else []
    return " · ".join(word for word in words if word) + ("" if "exact" in row["why"] else " · by meaning")
