"""Which stores and files of agents are on this machine now."""

from pathlib import Path

import msgspec

from afterword.capture.harness import table
from afterword.domain.events import Found, Where


class StoreView(msgspec.Struct, frozen=True):
    """What a harness has on this machine now. `files` counts what is read, `problems` what is not, by reason."""

    harness: str
    label: str
    roots: list[Path]
    present: list[Path]
    reads: bool
    found: list[Found]


def survey(where: Where) -> list[StoreView]:
    """Every harness with its roots and files, read or not."""
    return [_view(harness, where) for harness in table.HARNESSES]


def _view(harness: table.Harness, where: Where) -> StoreView:
    decoder = harness.load()
    roots = decoder.roots(where)
    present = [root for root in roots if is_there(root)]
    found: list[Found] = []
    if harness.reads:
        for root in present:
            try:
                found += decoder.sources(root)
            except OSError as err:
                found.append(Found(root, "none", err.strerror or str(err)))
    return StoreView(harness.name, harness.label, roots, present, harness.reads, found)


def is_there(root: Path) -> bool:
    """Whether something is there, be it out of our reach: that is not being gone."""
    try:
        return root.exists()
    except PermissionError:
        return True
    except OSError:
        return False
