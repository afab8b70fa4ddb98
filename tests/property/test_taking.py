"""A conversation that changes: taking in only what follows the first change is the same as reading it whole."""

import tempfile
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from talks import Talk, Talks, World

from afterword.app.fingerprint import lines
from afterword.capture.taking import Recall
from afterword.store.ledger import sources

TEXTS = st.sampled_from(["one", "two", "two and more", "three~", "four!", "?", "five"])
EDITS = st.one_of(
    st.tuples(st.just("add"), TEXTS, st.just(0)),
    st.tuples(st.just("change"), TEXTS, st.integers(0, 9)),
    st.tuples(st.just("insert"), TEXTS, st.integers(0, 9)),
    st.tuples(st.just("drop"), TEXTS, st.integers(0, 9)),
    st.tuples(st.just("undo"), TEXTS, st.integers(0, 9)),
    st.tuples(st.just("other"), TEXTS, st.integers(0, 9)),
)


def edited(talk: Talk, how: str, text: str, at: int) -> None:
    at = min(at, len(talk.said))
    match how:
        case "add":
            talk.said.append(text)
        case "insert":
            talk.said.insert(at, text)
        case "change" if at < len(talk.said):
            talk.said[at] = text
        case "drop" if at < len(talk.said):
            del talk.said[at]
        case "undo":
            talk.undone = at


def state(world: World) -> object:
    times = world.ledger.db.execute("SELECT id, time_us, time_flag, rev FROM item ORDER BY id").fetchall()
    members = world.ledger.db.execute(
        "SELECT i.id, m.pos, m.sub, m.said, m.state FROM membership m JOIN item i ON i.row = m.item ORDER BY 1"
    ).fetchall()
    shown = world.ledger.db.execute(
        "SELECT s.source, m.item, o.generation - s.generation > 0 FROM shown s JOIN membership m"
        " ON m.row = s.membership JOIN source o ON o.row = s.source ORDER BY 1, 2"
    ).fetchall()
    return lines(world.ledger), times, members, shown, [(line, why) for _, line, why in sources.troubles(world.ledger)]


@given(st.lists(TEXTS, max_size=6), st.lists(EDITS, min_size=1, max_size=12))
def test_taking_from_the_first_change_on_equals_reading_whole(
    begin: list[str], edits: list[tuple[str, str, int]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        worlds = []
        for name in ("recalls", "forgets"):
            (Path(folder) / name).mkdir()
            worlds.append(World(Path(folder) / name))
        talk, copy = Talk("a", list(begin)), Talk("a", ["one"], keys="copy")
        for how, text, at in [("add", "one", 0), *edits]:
            edited(copy if how == "other" else talk, "add" if how == "other" else how, text, at)
            for world in worlds:
                if world is worlds[1]:
                    world.recall = Recall()
                for name, given_talk in (("a", talk), ("b", copy)):
                    path = world.folder / f"{name}.json"
                    path.write_bytes(msgspec.json.encode([given_talk]))
                    world.take(path, Talks())
            assert state(worlds[0]) == state(worlds[1])
        for world in worlds:
            world.ledger.close()
