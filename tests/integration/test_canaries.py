"""No secret leaves by any way, from any agent's store; and the same search finds all of them when nothing is redacted.

One run of the whole product (`whole.Whole`) with the rules blind proves that the harness sees every way out, one with
the rules as they are that nothing is to be seen. A way out that is added to the registry gets a row here; `make prove`
runs the first of the two.
"""

import os
import re
from collections import Counter
from pathlib import Path

import pytest
from decoding import Hit, assert_gone
from needles import Needles
from whole import Whole

from afterword.redact.exits import EXITS

SEEN = {
    "ledger-item": r"ledger\.db (item|session|membership)\.",
    "ledger-register": r"ledger\.db register\.value",
    "ledger-source": r"ledger\.db (source\.|checkout\.)",
    "ledger-job": r"ledger\.db job\.",
    "text-index": r"text-0\.db (prose|tool)$",
    "preview": r"^out/preview\.db (said|session)\.",
    "daily-note": r"Afterword/daily/",
    "note-append": r"ledger\.db append\.|Afterword/daily/",
    "article": r"Afterword/knowledge/",
    "lesson": r"Afterword/lessons/(journal|topics|agents)/",
    "replaced-file": r"Afterword/knowledge/|/context/",
    "vector-index": r"chroma|index\.db",
    "context": r"/context/",
    "memory-block": r"(^|/)AGENTS\.md$",
    "hook-output": r"said: hook-output",
    "share": r"^out/\d+\.",
    "sync-batch": r"^out/batches/",
    "report": r"^out/report\.",
    "backup": r"^out/ledger\.db\.zst item\.",
    "restore": r"^afterword/ledger\.db item\.",
    "door-question": r"said: door-question",
    "model-request": r"said: model-request",
    "api": r"said: api",
    "paired": r"/paired/",
    "mcp": r"said: mcp",
    "opener": r"said: opener",
    "explain": r"said: explain",
    "terminal": r"said: terminal",
    "json-output": r"said: json-output",
    "log": r"said: log",
    "crash": r"said: crash",
}
"""Exit → where the canaries are found that left by it."""

WITHOUT_TEXT = {
    "vault-template": "the files that came with the program",
    "vault-card": "ids and zones",
    "config": "the vault's path",
    "demo-home": "a made-up history that came with the program",
    "question-spend": "days and counts of tokens",
    "use-note": "ids and days",
    "merge-vectors": "hashes and vectors",
    "model-rows": "numbers that came with the program",
    "database-copy": "a nameless copy of an agent's own file; none may be left when the process is dead",
    "lock": "a process number and a command's name",
    "door-card": "a port, a process number and a token",
    "agent-settings": "paths of our programs; an agent's own settings stay in its own file",
    "git-hook": "the path of our program",
    "private-file": "an empty file",
    "backup-look": "a backup unpacked for a look, in a private folder that is swept",
    "person-line": "a word of ours in the place of what a person struck",
    "tombstones": "ids and hashes of what was forgotten",
    "numbered": "an id and a number",
    "peer-process": "a name of the settings, given to our own program",
    "reading-pipe": "a pipe between processes of ours: what comes out of it is looked at in the ledger",
    "reading-orders": "paths of files, and the person's own patterns, in a pipe between processes of ours",
    "service-manager": "ready, alive, stopping",
    "unit": "paths of ours, as the person's own variables give them",
}
"""Exit → why no text of a session can leave by it. They are searched all the same."""

OWN_WORDS = {"spool": r"^said: spool$|^seen: \d{20}-\d+\.json$"}
"""Exit → where an agent's own ids and paths may be until the daemon has acted on them: such a file is for its owner's
eyes, holds no text of a session, and is gone at the end."""


def test_every_exit_is_looked_at() -> None:
    """A new row of the registry needs a pattern here, or a reason why no text leaves by it."""
    assert SEEN.keys() | WITHOUT_TEXT.keys() | OWN_WORDS.keys() == {row.name for row in EXITS}
    assert not SEEN.keys() & WITHOUT_TEXT.keys()


def done(path: Path, build: str) -> tuple[Whole, set[Hit]]:
    whole = Whole(path, build)
    whole.everything()
    return whole, whole.hits(Needles(whole.canaries.places))


@pytest.mark.slow
@pytest.mark.skipif("AFTERWORD_TEST_ALL" not in os.environ, reason="takes a minute: `make prove` does it")
def test_without_redaction_every_secret_is_seen_at_every_exit(tmp_path: Path) -> None:
    whole, hits = done(tmp_path, "unredacted")
    places = whole.canaries.places
    kinds = {
        name: {places[hit.text][0] for hit in hits if re.search(pattern, hit.where)} for name, pattern in SEEN.items()
    }
    assert [name for name, seen in kinds.items() if not seen] == []
    # Where whole texts go, every kind goes; a note or an article has room for some of them.
    for name in ("ledger-item", "text-index", "vector-index"):
        assert set(whole.canaries.kinds) - kinds[name] == set(), name
    for name, share in (("ledger-register", 0.9), ("daily-note", 0.9), ("json-output", 0.5), ("article", 0.5)):
        assert len(kinds[name]) >= share * len(whole.canaries.kinds), name
    _from_every_agent_and_kind_of_place(whole, hits)
    # What is there for a moment is seen, too.
    assert any(hit.where.startswith("seen:") and ".afterword.tmp" in hit.where for hit in hits)


def _from_every_agent_and_kind_of_place(whole: Whole, hits: set[Hit]) -> None:
    places = {text: place.split(": ") for text, (_, place) in whole.canaries.places.items()}
    seen = {hit.text for hit in hits if re.search(SEEN["ledger-item"], hit.where)}
    planted = Counter(place[0] for place in places.values())
    found = Counter(places[text][0] for text in seen)
    agents = {path.name for path in (whole.path / "stores").iterdir()}
    assert len(agents) >= 11
    assert {name: (found[name], planted[name]) for name in agents if found[name] < planted[name] / 3} == {}
    kept = {places[text][1] for text in seen if len(places[text]) > 1}
    assert {"path", "prompt", "text", "command", "model", "title", "output", "content", "thinking"} - kept == set()
    ways = {places[hit.text][0] for hit in hits}
    assert {"grown", "live", "hook", "crash", "killed", "typed", "asked", "mcp"} - ways == set()


@pytest.mark.slow
def test_with_redaction_nothing_leaves_and_what_is_no_secret_stays(tmp_path: Path) -> None:
    whole, hits = done(tmp_path, "")
    left = {hit for hit in hits if not any(re.search(pattern, hit.where) for pattern in OWN_WORDS.values())}
    assert {(whole.canaries.places[hit.text], hit.where, hit.how) for hit in left} == set()
    shown = whole.home.json("show", whole.plain.session)
    texts = [item["text"].strip() for item in shown["messages"] if item["kind"] == "output"]
    assert [text for text in whole.negatives if text.strip() not in texts] == []
    _what_was_masked_still_holds_together(whole)
    with pytest.raises(AssertionError):
        assert_gone(whole.home, "find out why")
    assert_gone(whole.home, "a word that nobody ever said")
    with pytest.raises(AssertionError):
        assert_gone(whole.home, "the live one stays")
    said = whole.home.run("forget", "--match", "the live one stays", "--yes", "--prune-backups", code=None)
    assert said.returncode == 0, said
    assert_gone(whole.home, "the live one stays")


def _what_was_masked_still_holds_together(whole: Whole) -> None:
    """Every path that is answered leads to a file, every link to a note: what is masked is no part of a name."""
    found = [
        row
        for word in ("redacted", "fails", "decision")
        for row in whole.home.json("search", word, "-n", "500")["results"]
    ]
    paths = {row["path"] for row in found if row["path"]}
    assert any(path.startswith("knowledge/") for path in paths)
    assert [path for path in sorted(paths) if not (whole.home.vault / path).is_file()] == []
    faults = whole.home.json("lint", code=None)["faults"]
    assert [fault for fault in faults if "link" in fault["kind"]] == []
