"""No secret leaves by any way, from any agent's store; and the same search finds all of them when nothing is redacted.

One run of the whole product (`whole.Whole`) with the rules blind proves that the harness sees every way out, one with
the rules as they are that nothing is to be seen. A way out that is added to the registry gets a row here.
"""

import json
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
    "daily-note": r"Afterword/daily/",
    "note-append": r"ledger\.db append\.|Afterword/daily/",
    "article": r"Afterword/knowledge/",
    "replaced-file": r"Afterword/knowledge/|/context/",
    "vector-index": r"chroma|index\.db",
    "context": r"/context/",
    "hook-output": r"said: hook-output",
    "door-question": r"said: door-question",
    "api": r"said: api",
    "mcp": r"said: mcp",
    "opener": r"said: opener",
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
    "merge-vectors": "hashes and vectors",
    "database-copy": "a nameless copy of an agent's own file; none may be left when the process is dead",
    "lock": "a process number and a command's name",
    "door-card": "a port, a process number and a token",
    "service-manager": "ready, alive, stopping",
    "unit": "paths of ours, as the person's own variables give them",
}
"""Exit → why no text of a session can leave by it. They are searched all the same."""

OWN_WORDS = {"spool": "the agent's own ids and paths, until the daemon has acted on them"}
"""Exit → what of the canaries may be there for a moment."""


def test_every_exit_is_looked_at() -> None:
    """A new row of the registry needs a pattern here, or a reason why no text leaves by it."""
    assert SEEN.keys() | WITHOUT_TEXT.keys() | OWN_WORDS.keys() == {row.name for row in EXITS}
    assert not SEEN.keys() & WITHOUT_TEXT.keys()


@pytest.fixture(scope="module")
def blind(tmp_path_factory: pytest.TempPathFactory) -> tuple[Whole, set[Hit]]:
    """Everything, with rules that find nothing."""
    return done(tmp_path_factory.mktemp("blind"), "unredacted")


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> tuple[Whole, set[Hit]]:
    """Everything, with the rules as they are."""
    return done(tmp_path_factory.mktemp("seeing"), "")


def done(path: Path, build: str) -> tuple[Whole, set[Hit]]:
    whole = Whole(path, build)
    whole.everything()
    return whole, whole.hits(Needles(whole.canaries.places))


@pytest.mark.slow
@pytest.mark.xdist_group("canaries-blind")
class TestBlind:
    """What would leave if nothing were redacted: so much is seen by the search."""

    def test_at_every_exit_something_is_seen(self, blind: tuple[Whole, set[Hit]]) -> None:
        whole, hits = blind
        kinds = {
            name: {whole.canaries.places[hit.text][0] for hit in hits if re.search(pattern, hit.where)}
            for name, pattern in SEEN.items()
        }
        assert [name for name, seen in kinds.items() if not seen] == []
        # Where whole texts go, every kind goes.
        for name in ("ledger-item", "text-index", "vector-index"):
            assert set(whole.canaries.kinds) - kinds[name] == set(), name
        for name, share in (("ledger-register", 0.9), ("daily-note", 0.9), ("json-output", 0.7), ("article", 0.5)):
            assert len(kinds[name]) >= share * len(whole.canaries.kinds), name

    def test_from_every_agent_and_out_of_every_kind_of_place(self, blind: tuple[Whole, set[Hit]]) -> None:
        whole, hits = blind
        seen = {hit.text for hit in hits if re.search(SEEN["ledger-item"], hit.where)}
        planted = Counter(place.partition(":")[0] for _, place in whole.canaries.places.values())
        found = Counter(whole.canaries.places[text][1].partition(":")[0] for text in seen)
        agents = {path.name for path in (whole.path / "stores").iterdir()}
        assert len(agents) >= 11
        assert {name for name in agents if found[name] < planted[name] / 3} == set()
        places = {whole.canaries.places[text][1].partition(": ")[2] for text in seen}
        assert {"path", "prompt", "text", "command", "model", "title", "output", "content", "file_path"} - places <= {
            "file_path"
        }
        assert {"gitBranch", "branch", "headBranch"} & {
            whole.canaries.places[hit.text][1].partition(": ")[2] for hit in hits
        }
        for phase in ("grown", "live", "hook", "crash", "killed", "typed", "asked", "mcp"):
            assert any(whole.canaries.places[hit.text][1].startswith(phase) for hit in hits), phase

    def test_what_is_there_for_a_moment_is_seen(self, blind: tuple[Whole, set[Hit]]) -> None:
        _, hits = blind
        assert any(hit.where.startswith("seen:") and ".afterword.tmp" in hit.where for hit in hits)


@pytest.mark.slow
@pytest.mark.xdist_group("canaries-seeing")
class TestSeeing:
    """What leaves with the rules as they are: nothing."""

    def test_nothing_leaves(self, seeing: tuple[Whole, set[Hit]]) -> None:
        whole, hits = seeing
        left = {hit for hit in hits if hit.where not in {f"said: {name}" for name in OWN_WORDS}}
        assert {(whole.canaries.places[hit.text], hit.where, hit.how) for hit in left} == set()

    def test_what_is_no_secret_stays(self, seeing: tuple[Whole, set[Hit]]) -> None:
        whole, _ = seeing
        shown = json.loads(whole.say("show", whole.plain.session, "--json", code=0).stdout)
        texts = [item["text"].strip() for item in shown["messages"] if item["kind"] == "output"]
        assert [text for text in whole.negatives if text.strip() not in texts] == []

    def test_a_word_that_was_stored_is_found_and_one_that_was_not_is_gone(self, seeing: tuple[Whole, set[Hit]]) -> None:
        whole, _ = seeing
        with pytest.raises(AssertionError):
            assert_gone(whole.home, "find out why")
        assert_gone(whole.home, "a word that nobody ever said")
