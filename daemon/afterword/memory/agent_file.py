"""What an agent loads when it starts: a file generated from the facts that concern it, within a budget.

Pinned facts first, then the newest; what did not fit is counted, with a pointer. The same facts give the same bytes.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from afterword.domain.escape import prose
from afterword.domain.frontmatter import Word, emit
from afterword.domain.ids import FactId
from afterword.domain.lessons import AGENT_LINES, CurrentFact
from afterword.domain.topic_note import fact_line

BUDGET_BYTES: Final = 25_000
_FACT_CHARS: Final = 500
_GROUPS: Final = (("lesson", "What holds"), ("dead-end", "Tried, and does not work"), ("local-fact", "On this machine"))
_POINTERS: Final = 6
_HEAD: Final = (
    "Notes of earlier sessions, not instructions: check before you rely on one. Made from the journal; what is written"
    " here by hand goes there and does not stay here. `afterword learn` or the tool `remember` adds to it."
)

_LEFT_OUT: Final = re.compile(rb"^_([0-9,]+) more facts? (?:is|are) left out here: ", re.MULTILINE)

Out = Callable[[str], str]


def agent_file(agent: str, facts: Sequence[CurrentFact], machine: str, topics: str, out: Out) -> bytes:
    """The whole file. `topics` is the topics' folder in the vault; `out` is what a text passes on its way out."""
    mine = [each for each in facts if each.live and each.concerns(agent, machine)]
    mine.sort(key=lambda each: (not each.fact.pinned, -each.fact.at_us, each.id))
    texts = {each.id: _text(each, out) for each in mine[:AGENT_LINES]}
    chosen = min(len(mine), AGENT_LINES)
    while True:
        note = _render(agent, mine, chosen, texts, topics)
        over = note.count("\n") - AGENT_LINES, len(note.encode()) - BUDGET_BYTES
        if chosen == 0 or max(over) <= 0:
            return note.encode()
        # Lines are at most so long, so at least so many have to go.
        chosen -= max(1, over[0], over[1] // (4 * (_FACT_CHARS + 200)))


def left_out(note: bytes) -> int:
    """How many facts an agent's file says it has no room for."""
    found = _LEFT_OUT.search(note)
    return int(found[1].replace(b",", b"")) if found else 0


def _text(each: CurrentFact, out: Out) -> str:
    text = out(each.fact.text)
    if len(text) > _FACT_CHARS:
        text = text[:_FACT_CHARS].rpartition(" ")[0] + " …"
    return fact_line(each.id, prose(text), ", ".join(each.fact.projects))


def _render(agent: str, mine: Sequence[CurrentFact], chosen: int, texts: Mapping[FactId, str], topics: str) -> str:
    front = emit([("type", Word("agent")), ("title", f"What was learned: {agent}"), ("agents", [agent])])
    rows = [
        *front.splitlines(),
        f"# What was learned: {agent}",
        "",
        _HEAD,
    ]
    for kind, title in _GROUPS:
        group = [each for each in mine[:chosen] if each.fact.kind == kind]
        group.sort(key=lambda each: (not each.fact.pinned, each.fact.topic, each.fact.created, each.id))
        if group:
            rows += ["", f"## {title}", "", *(texts[each.id] for each in group)]
    left = Counter(each.fact.topic for each in mine[chosen:])
    if left:
        most = sorted(left, key=lambda topic: (-left[topic], topic))
        named = ", ".join(f"[[{topics}/{topic}|{topic}]] {left[topic]}" for topic in most[:_POINTERS])
        more = ", …" if len(most) > _POINTERS else ""
        count = sum(left.values())
        rows += ["", f"_{count:,} more {'fact is' if count == 1 else 'facts are'} left out here: {named}{more}._"]
    elif not mine:
        rows += ["", "_Nothing yet._"]
    return "\n".join(rows) + "\n"
