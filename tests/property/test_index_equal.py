"""Whatever is said, edited and taken away: the index built bit by bit equals the one built at once."""

import random
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from index_world import World
from transcripts import sentence

STEPS = st.lists(
    st.sampled_from(["say", "say", "new", "rewind", "write", "edit", "remove", "index", "lose", "reopen"]),
    min_size=3,
    max_size=12,
)


@settings(max_examples=6)
@given(steps=STEPS, seed=st.integers(0, 10_000))
def test_bit_by_bit_equals_at_once(steps: list[str], seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), seed)
        world.max_chunks = 30
        rng = world.rng
        for step in [*steps, "index"]:
            play(world, rng, step)
        bit_by_bit = world.check()
        world.embedder.embedded.clear()
        world.catch_up(rebuild=True)
        assert world.check() == bit_by_bit
        assert world.embedder.embedded == []
        world.reading.close()


def play(world: World, rng: random.Random, step: str) -> None:
    held = world.articles.held
    if step == "new" or (step in ("say", "rewind") and not world.sessions):
        world.talk(*(sentence(rng, rng.randrange(3, 60)) for _ in range(rng.randrange(1, 8))))
    elif step == "say":
        world.talk(sentence(rng, 20), sentence(rng, 40), session=rng.choice(world.sessions))
    elif step == "rewind":
        session = rng.choice(world.sessions)
        fork = session.parent
        session.prompt(sentence(rng), parent=fork)
        session.prompt(sentence(rng), parent=fork)
        world.write(session)
    elif step == "write" or (step in ("edit", "remove") and not held):
        held[f"a{len(held)}.md"] = [(f"H{n}", sentence(rng, rng.randrange(5, 90))) for n in range(4)]
    elif step == "edit":
        held[rng.choice(sorted(held))][rng.randrange(4)] = ("H", sentence(rng, 30))
    elif step == "remove":
        del held[rng.choice(sorted(held))]
    elif step == "lose":
        with world.open() as index:
            index.step(0.0)
    else:
        world.catch_up(thorough=step == "reopen")
