"""Connections among articles: which statements show something together, and what becomes of it in the fold."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from afterword.compile.connections import IN_CONNECTION, TITLES, Where
from afterword.compile.likeness import Likeness
from afterword.compile.merge import Knowledge
from afterword.compile.reasons import TEXTS, reason
from afterword.compile.relations import Told, relation, told
from afterword.compile.retracting import Closed, Retracted
from afterword.compile.same import profile_of
from afterword.domain.articles import MAX_PER_DAY, Article, Claim, Proposal
from afterword.domain.ids import ArticleUid, SegmentKey
from afterword.index.embedder import LocalEmbedder
from afterword.index.nearness import Nearness
from afterword.index.standing import SIGNATURES

LABELLED = Path(__file__).parent.parent / "fixtures" / "compile" / "connections.txt"


@pytest.fixture(scope="module")
def meaning(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nearness]:
    folder = tmp_path_factory.mktemp("vectors")
    made = Nearness(folder, SIGNATURES["local"], lambda: LocalEmbedder(folder))
    yield made
    made.close()


def labelled() -> list[tuple[str, Told, Told]]:
    rows = []
    for block in LABELLED.read_text("utf-8").split("\n= ")[1:]:
        head, one, other = block.strip().split("\n")[:3]
        pair = [told(Claim(text[3:], SegmentKey(key), text[3:])) for text, key in ((one, "s-1"), (other, "s-2"))]
        rows.append((head.split()[0], pair[0], pair[1]))
    return rows


@pytest.mark.parametrize(("by_meaning", "least"), [(True, 0.65), (False, 0.25)])
def test_what_is_taken_for_a_relation_is_one_and_of_its_kind(meaning: Nearness, by_meaning: bool, least: float) -> None:
    rows = labelled()
    likeness = Likeness()
    for _, one, other in rows:
        likeness.add(one.words)
        likeness.add(other.words)
    hits = 0
    for verdict, one, other in rows:
        near = meaning.alike([one.claim.text], [other.claim.text])[0][0] if by_meaning else 0.0
        shown = relation(one, other, near, likeness)
        assert shown is None or shown[0] == verdict, (one.claim.text, other.claim.text)
        hits += shown is not None
    assert hits >= least * sum(verdict != "none" for verdict, _, _ in rows)


CUSTOMERS = "The query on customers.name scans the whole table because the index is missing."
ORDERS = "The root cause is that the query on orders.created_at scans the whole table, because its index is missing."
STATIONS = "The query on stations.code scans the whole table because the index is missing."
ORIGINS = {
    "s-000000000001": Where("one", "2026-06-08", "09:00", "harbor-api"),
    "s-000000000002": Where("two", "2026-06-09", "09:00", "tidepool"),
    "s-000000000003": Where("three", "2026-06-10", "09:00", "harbor-api"),
    "s-000000000004": Where("one", "2026-06-09", "11:00", "harbor-api"),
}


def proposal(title: str, text: str, n: int, *more: str) -> Proposal:
    section = SegmentKey(f"s-00000000000{n}")
    points = tuple(Claim(said, section, said) for said in (text, *more))
    return Proposal("concept", title, points, text, projects=(ORIGINS[section].project,))


FIRST = ("2026-06-08", proposal("The customer list takes nine seconds", CUSTOMERS, 1))
SECOND = ("2026-06-09", proposal("Reports of last month never finish", ORDERS, 2))
THIRD = ("2026-06-10", proposal("Tide pages time out in the morning", STATIONS, 3))


def fold(*days: tuple[str, Proposal], meaning: Nearness | None, closed: Closed | None = None) -> Knowledge:
    knowledge = Knowledge(None, closed, meaning, ORIGINS.get)
    for day, proposals in itertools.groupby(days, key=lambda row: row[0]):
        knowledge.build(day, "extractive", [row[1] for row in proposals])
    return knowledge


def connections(knowledge: Knowledge) -> dict[ArticleUid, Article]:
    return {uid: row for uid, row in knowledge.articles.items() if row.kind == "connection"}


def test_one_cause_in_two_projects_is_a_connection(meaning: Nearness) -> None:
    knowledge = fold(FIRST, SECOND, meaning=meaning)
    [(uid, made)] = connections(knowledge).items()
    assert made.title == (
        "Same cause in harbor-api and tidepool: The query on orders.created_at scans the whole table, because its index"
        " is missing"
    )
    assert [claim.quote for claim in made.points] == [CUSTOMERS, ORDERS]
    assert [claim.section for claim in made.points] == ["s-000000000001", "s-000000000002"]
    assert {related.uid for related in made.related} == {FIRST[1].uid, SECOND[1].uid}
    assert made.projects == ("harbor-api", "tidepool")
    assert (made.created, made.updated) == ("2026-06-09", "2026-06-09")
    for concept in (FIRST[1].uid, SECOND[1].uid):
        assert knowledge.articles[concept].related[0].uid == uid


def test_a_third_session_is_added(meaning: Nearness) -> None:
    before = connections(fold(FIRST, SECOND, meaning=meaning))
    [(uid, made)] = connections(fold(FIRST, SECOND, THIRD, meaning=meaning)).items()
    assert list(before) == [uid]
    assert made.title == before[uid].title
    assert [claim.quote for claim in made.points] == [CUSTOMERS, ORDERS, STATIONS]
    assert len(made.related) == 3
    assert (made.created, made.updated) == ("2026-06-09", "2026-06-10")


def test_folded_on_top_it_is_what_it_is_folded_at_once(meaning: Nearness) -> None:
    whole = fold(FIRST, SECOND, THIRD, meaning=meaning)
    so_far = fold(FIRST, SECOND, meaning=meaning)
    stored = dict(sorted(so_far.articles.items()))
    on_top = Knowledge(stored, None, meaning, ORIGINS.get)
    on_top.build(THIRD[0], "extractive", [THIRD[1]])
    assert on_top.articles == whole.articles


def test_one_session_connects_nothing(meaning: Nearness) -> None:
    again = ("2026-06-09", proposal("Reports of last month never finish", ORDERS, 4))
    assert ORIGINS["s-000000000004"].session == ORIGINS["s-000000000001"].session
    assert len(fold(FIRST, again, meaning=meaning).articles) == 2
    unknown = Knowledge(None, None, meaning, {}.get)
    for day, row in (FIRST, SECOND):
        unknown.build(day, "extractive", [row])
    assert not connections(unknown)


@pytest.mark.parametrize(
    "text",
    [
        "The report is wrong because the index of the column is counted from one.",
        "The query on orders.created_at scans the whole table.",
        "Every query on customers.name uses the index now.",
        "The root cause is a full disk on the runner.",
    ],
)
def test_near_misses_connect_nothing(meaning: Nearness, text: str) -> None:
    knowledge = fold(FIRST, ("2026-06-09", proposal("Reports of last month never finish", text, 2)), meaning=meaning)
    assert not connections(knowledge)


def test_what_another_decision_took_the_place_of_is_no_evidence() -> None:
    claim = Claim(CUSTOMERS, SegmentKey("s-000000000001"), CUSTOMERS)
    assert told(claim).role == "cause"
    assert told(Claim(CUSTOMERS, claim.section, CUSTOMERS, until="2026-06-12")).role == ""


def closing(knowledge: Knowledge, uid: ArticleUid) -> Closed:
    article = knowledge.articles[uid]
    row = Retracted(profile_of(article, *article.names), article.points, frozenset(), article.kind)
    return Closed({uid: row})


def test_a_retracted_connection_stays_away_and_its_facts_stay(meaning: Nearness) -> None:
    before = fold(FIRST, SECOND, meaning=meaning)
    [uid] = connections(before)
    after = fold(FIRST, SECOND, THIRD, meaning=meaning, closed=closing(before, uid))
    assert list(connections(after)) == [uid]
    concepts = [row for row in after.articles.values() if row.kind == "concept"]
    assert {row.points[0].text for row in concepts} == {CUSTOMERS, ORDERS, STATIONS}
    assert not any(related.uid == uid for row in concepts for related in row.related)

    # Also when an older day comes and the pair first seen is another: what was seen in it is known by its quotes.
    older = ("2026-06-07", proposal("Tide pages time out in the morning", STATIONS, 3))
    late = fold(older, FIRST, SECOND, meaning=meaning, closed=closing(before, uid))
    assert {
        key for key, row in connections(late).items() if {CUSTOMERS, ORDERS} <= {claim.quote for claim in row.points}
    } == {uid}
    assert not any(related.uid == uid for row in late.articles.values() for related in row.related)


def test_a_retracted_concept_is_connected_to_nothing(meaning: Nearness) -> None:
    before = fold(FIRST, SECOND, meaning=meaning)
    after = fold(FIRST, SECOND, meaning=meaning, closed=closing(before, FIRST[1].uid))
    assert not connections(after)


def test_it_has_no_part_in_what_concepts_are_compared_by(meaning: Nearness) -> None:
    with_it = fold(FIRST, SECOND, THIRD, meaning=meaning)
    without = Knowledge(None, None, meaning)
    for day, row in (FIRST, SECOND, THIRD):
        without.build(day, "extractive", [row])
    assert {uid: row.points for uid, row in without.articles.items()} == {
        uid: row.points for uid, row in with_it.articles.items() if row.kind == "concept"
    }


def test_a_day_gives_no_more_than_seven(meaning: Nearness) -> None:
    topics = (
        "pelicans nest", "clocks drift", "valves rust", "maps fold", "lamps flicker", "ropes fray",
    )  # fmt: skip
    rows = [("2026-06-09", proposal(f"Why {each}", f"The {each} when it rains in {each[:4]}.", 2)) for each in topics]
    full = fold(FIRST, SECOND, *rows, meaning=meaning)
    done = Knowledge(None, None, meaning, ORIGINS.get)
    done.build(*FIRST[:1], "extractive", [FIRST[1]])
    assert len(done.build("2026-06-09", "extractive", [SECOND[1], *(row for _, row in rows)])) == MAX_PER_DAY
    assert not connections(full)


@pytest.mark.parametrize(
    ("one", "other", "title"),
    [
        (
            "Przyczyna: serwer liczył datę w UTC zamiast w strefie użytkownika.",
            "Faktury lądują w złym miesiącu, ponieważ serwer liczy datę w UTC zamiast w strefie użytkownika.",
            "Ta sama przyczyna w harbor-api i tidepool: ",
        ),
        (
            "原因: 接続プールが小さすぎて、リクエストが接続を待っていました。",
            "夜間バッチが遅い原因は、接続プールが小さすぎて接続待ちが発生していたことです。",
            "harbor-apiとtidepoolで同じ原因：",
        ),
        (
            "Lesson learned: a test that writes to a fixed path under /tmp is a race once two jobs share a runner.",
            "The snapshot fails because two jobs on the runner write to the same fixed path under /tmp.",
            "A lesson that came too late: ",
        ),
    ],
)
def test_titles_say_the_relation_in_the_language_of_the_day(
    meaning: Nearness, one: str, other: str, title: str
) -> None:
    rows = [("2026-06-08", proposal("Pierwszy", one, 1)), ("2026-06-09", proposal("Drugi", other, 2))]
    knowledge = Knowledge(None, None, meaning, ORIGINS.get)
    for day, row in rows:
        # Put there as they are: whether both would be one article is not the question here.
        article = knowledge._article(row.uid, day, "extractive", row)
        knowledge._shelf.put(row.uid, article)
    knowledge._connect("2026-06-09", "extractive", {row.uid: "created" for _, row in rows})
    [made] = connections(knowledge).values()
    assert made.title.startswith(title)
    assert len(made.title) > len(title) + 10


def test_every_language_has_all_its_texts() -> None:
    assert set(TITLES) == set(TEXTS) == set(IN_CONNECTION)
    for rows in TITLES.values():
        assert [row.count("{}") for row in rows] == [3, 1, 3, 1, 1, 1]


@pytest.mark.parametrize(
    ("title", "point", "about", "beside"),
    [
        (
            "Why uploads of large files stop",
            "The upload of large files stops because the proxy cuts it.",
            "both about upload",
            "came up in the same session",
        ),
        (
            "Warum der Upload abbricht",
            "Der Upload bricht ab, weil der Proxy die Datei nicht annimmt.",
            "beide über Upload",
            "aus derselben Sitzung",
        ),
        (
            "Dlaczego upload się urywa",
            "Upload się urywa, ponieważ serwer nie przyjmuje pliku.",
            "oba dotyczą: upload",
            "z tej samej sesji",
        ),
        (
            "Pourquoi le fichier upload échoue",
            "Le fichier upload échoue parce que le serveur ne le prend pas.",
            "traitent tous deux de upload",
            "de la même session",
        ),
        (
            "upload が止まる理由",
            "upload が止まるのは、サーバーが途中で切るためです。",
            "どちらもuploadについて",
            "同じセッションから",
        ),
    ],
)
def test_why_articles_are_linked_is_said_in_their_language(title: str, point: str, about: str, beside: str) -> None:
    claim = Claim(point, SegmentKey("s-1"), point)
    article = Article("concept", title, "x", (claim,), "", "2026-06-08", "2026-06-08", "extractive")
    assert reason(article, article, ["upload"]) == about
    assert reason(article, article, []) == beside
