"""Whatever days bring: a connection has evidence from two sessions or more, and connects articles that say it."""

from hypothesis import given
from hypothesis import strategies as st

from afterword.compile.connections import MOST_CONNECTED, Where
from afterword.compile.merge import Knowledge
from afterword.domain.articles import MAX_PER_DAY, Claim, Proposal
from afterword.domain.ids import SegmentKey

THINGS = ("customers.name", "orders.created_at", "stations.code", "/tmp/fixtures", "the lock file", "the token")
SENTENCES = (
    "The query on {} scans the whole table because the index is missing.",
    "The root cause is that two jobs write to {} at the same time and one deletes it.",
    "Lesson learned: two jobs must never write to {} at the same time.",
    "Decision: {} is written by one job only, the others ask for it.",
    "The numbers are wrong because we changed {} and two jobs write to it at the same time.",
    "Nobody reads {} any more.",
)
SAID = st.builds(str.format, st.sampled_from(SENTENCES), st.sampled_from(THINGS))
SECTIONS = [SegmentKey(f"s-{n:012x}") for n in range(8)]
"""Two sections of each of four sessions, one of them of nobody knows which."""
ORIGINS = {
    key: Where(f"session {n // 2}", f"2026-06-{n + 1:02}", "09:00", f"project {n % 3}")
    for n, key in enumerate(SECTIONS[:-1])
}
PROPOSALS = st.lists(st.lists(SAID, min_size=1, max_size=3, unique=True), max_size=6)


@given(days=st.lists(PROPOSALS, max_size=len(SECTIONS)), cut=st.integers(0, len(SECTIONS)))
def test_connections_rest_on_two_sessions(days: list[list[list[str]]], cut: int) -> None:
    def proposals(n: int) -> list[Proposal]:
        return [
            Proposal("concept", f"Matter {n}-{m}", tuple(Claim(text, SECTIONS[n], text) for text in row), row[0])
            for m, row in enumerate(days[n])
        ]

    whole = Knowledge(None, None, None, ORIGINS.get)
    parted = Knowledge(None, None, None, ORIGINS.get)
    for n in range(len(days)):
        if n == cut:
            # As the ledger gives them back.
            parted = Knowledge(dict(sorted(parted.articles.items())), None, None, ORIGINS.get)
        day = f"2026-06-{n + 1:02}"
        assert len(whole.build(day, "extractive", proposals(n))) <= MAX_PER_DAY
        parted.build(day, "extractive", proposals(n))
    assert parted.articles == whole.articles
    concepts = {uid: row for uid, row in whole.articles.items() if row.kind == "concept"}
    for uid, row in whole.articles.items():
        if row.kind == "concept":
            continue
        assert len({ORIGINS[claim.section].session for claim in row.points}) >= 2
        members = [related.uid for related in row.related]
        assert 2 <= len(set(members)) <= MOST_CONNECTED
        said = {claim.quote for member in members for claim in concepts[member].points}
        assert {claim.quote for claim in row.points} <= said
        assert uid not in members
