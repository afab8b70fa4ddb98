"""The agent's own to-do list: which steps of its last edition are still open."""

import re
from collections.abc import Sequence

from afterword.compile.sentences import cut, normal, plain
from afterword.domain.digest import Passage, Point
from afterword.domain.items import Kind

_PLAN = re.compile(
    r"\s*\W{0,3}(?:\w+[.:_])*(?:todo_?write|update_?plan|write_?todos|todo_?list|set_?plan|plan)\b", re.IGNORECASE
)
_ENTRY = re.compile(r"\{[^{}]{0,2000}\}")
_CONTENT = re.compile(r'"(?:content|step|title|description|text)"\s*:\s*"([^"\\]{4,400})"')
_OPEN = re.compile(r'"(?:status|state)"\s*:\s*"(?:pending|in_progress|todo|not_started)"', re.IGNORECASE)


def open_steps(passages: Sequence[Passage]) -> list[Point]:
    """The steps that the last plan of the segment leaves open, in its order."""
    for passage in reversed(passages):
        if passage.kind is Kind.CALL and _PLAN.match(passage.text[:60]):
            return [
                Point(cut(plain(normal(content.group(1))), 240), (passage.item,), content.group(1))
                for entry in _ENTRY.finditer(passage.text[:50_000])
                if _OPEN.search(entry.group()) and (content := _CONTENT.search(entry.group()))
            ]
    return []
