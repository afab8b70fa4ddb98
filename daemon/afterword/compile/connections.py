"""Connections: what shows only across two or more sessions, found among the articles while they are folded.

After each day the articles that it touched are compared with all others. What is found depends on nothing but the
articles so far, where their sections come from, and what people retracted, as the fold itself does.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final

import msgspec

from afterword.compile import cues
from afterword.compile.likeness import Likeness
from afterword.compile.reasons import IN_CONNECTION
from afterword.compile.relations import Relation, Told, relation, told
from afterword.compile.retracting import Closed
from afterword.compile.same import Meaning
from afterword.compile.titles import headline
from afterword.domain.articles import Article, Claim, Related
from afterword.domain.ids import ArticleUid, SegmentKey, connection_uid

MOST_CONNECTED: Final = 6
_MOST_POINTS: Final = 12
_AMONG: Final = 400
"""A concept is compared with so many others, the newest first."""

TITLES: Final[Mapping[str, tuple[str, str, str, str, str, str]]] = {
    "en": (
        "Same cause in {} and {}: {}", "The same cause again: {}", "Same lesson in {} and {}: {}",
        "The same lesson again: {}", "A lesson that came too late: {}", "What a decision led to: {}",
    ),
    "de": (
        "Dieselbe Ursache in {} und {}: {}", "Wieder dieselbe Ursache: {}", "Dieselbe Lehre in {} und {}: {}",
        "Noch einmal dieselbe Lehre: {}", "Eine Lehre, die nicht half: {}", "Folge einer Entscheidung: {}",
    ),
    "pl": (
        "Ta sama przyczyna w {} i {}: {}", "Znowu ta sama przyczyna: {}", "Ten sam wniosek w {} i {}: {}",
        "Znowu ten sam wniosek: {}", "Wniosek, który nie pomógł: {}", "Skutek decyzji: {}",
    ),
    "ru": (
        "Одна причина в {} и {}: {}", "Снова та же причина: {}", "Один вывод в {} и {}: {}", "Снова тот же вывод: {}",
        "Вывод, который не помог: {}", "К чему привело решение: {}",
    ),
    "he": (
        "אותה סיבה ב־{} וב־{}: {}", "שוב אותה סיבה: {}", "אותו לקח ב־{} וב־{}: {}", "שוב אותו לקח: {}",
        "לקח שלא עזר: {}", "תוצאה של החלטה: {}",
    ),
    "fr": (
        "Même cause dans {} et {} : {}", "Encore la même cause : {}", "Même leçon dans {} et {} : {}",
        "Encore la même leçon : {}", "Une leçon oubliée : {}", "Suite d’une décision : {}",
    ),
    "es": (
        "La misma causa en {} y {}: {}", "Otra vez la misma causa: {}", "La misma lección en {} y {}: {}",
        "Otra vez la misma lección: {}", "Una lección olvidada: {}", "Consecuencia de una decisión: {}",
    ),
    "it": (
        "La stessa causa in {} e {}: {}", "Di nuovo la stessa causa: {}", "La stessa lezione in {} e {}: {}",
        "Di nuovo la stessa lezione: {}", "Una lezione dimenticata: {}", "Conseguenza di una decisione: {}",
    ),
    "pt": (
        "A mesma causa em {} e {}: {}", "De novo a mesma causa: {}", "A mesma lição em {} e {}: {}",
        "De novo a mesma lição: {}", "Uma lição esquecida: {}", "Consequência de uma decisão: {}",
    ),
    "ja": (
        "{}と{}で同じ原因：{}", "また同じ原因：{}", "{}と{}で同じ教訓：{}", "また同じ教訓：{}",
        "生かされなかった教訓：{}", "決定がもたらしたもの：{}",
    ),
    "zh": (
        "{}与{}同一原因：{}", "又是同一原因：{}", "{}与{}同一教训：{}", "又是同一教训：{}", "没有吸取的教训：{}",
        "一项决定的后果：{}",
    ),
    "ko": (
        "{}와 {}의 같은 원인: {}", "또 같은 원인: {}", "{}와 {}의 같은 교훈: {}", "또 같은 교훈: {}",
        "지켜지지 않은 교훈: {}", "결정의 결과: {}",
    ),
}  # fmt: skip
"""Language → titles for one cause (in two projects, in one), one lesson (the same), a lesson and what it warned of,
a decision and what came of it."""


class Where(msgspec.Struct, frozen=True):
    """Where a section comes from."""

    session: str
    day: str
    time: str
    project: str


Origins = Callable[[SegmentKey], Where | None]
"""Section → where it comes from; None when that is not known: then it is no evidence."""


class Seen(msgspec.Struct, frozen=True):
    """Two claims of two articles that show a relation; the first is the earlier one."""

    sure: float
    relation: Relation
    one: tuple[ArticleUid, Told]
    other: tuple[ArticleUid, Told]

    @property
    def uid(self) -> ArticleUid:
        return connection_uid(self.one[0], self.other[0])

    @property
    def claims(self) -> tuple[Claim, Claim]:
        return self.one[1].claim, self.other[1].claim


class Connecting:
    """Finds connections among articles. What claims tell is worked out once."""

    def __init__(self, origins: Origins, likeness: Likeness, meaning: Meaning | None) -> None:
        self._origins = origins
        self._likeness = likeness
        self._meaning = meaning
        self._told: dict[Claim, Told | None] = {}

    def seen(self, concepts: Mapping[ArticleUid, Article], touched: Collection[ArticleUid]) -> list[Seen]:
        """What shows between `touched` concepts and all, the surest first."""
        among = sorted(concepts, key=lambda uid: (concepts[uid].updated, uid), reverse=True)[:_AMONG]
        rows = [(uid, each) for uid in sorted({*among, *touched}) for each in self._of(concepts[uid])]
        found: dict[tuple[ArticleUid, Claim, Claim], Seen] = {}
        for uid in sorted(touched):
            mine = list(self._of(concepts[uid]))
            others = [(other, each) for other, each in rows if other != uid]
            near = self._near([each.claim.text for each in mine], [each.claim.text for _, each in others])
            for n, own in enumerate(mine):
                for m, (other, theirs) in enumerate(others):
                    seen = self._pair((uid, own), (other, theirs), near[n][m])
                    if seen:
                        found[seen.uid, *seen.claims] = seen
        return sorted(found.values(), key=lambda s: (-s.sure, s.one[1].when, s.other[1].when, s.uid, s.claims[0].quote))

    def article(self, seen: Seen, concepts: Mapping[ArticleUid, Article], day: str, engine: str) -> Article | None:
        """The connection two claims make, its slug still to be settled; None when no title can be made of it."""
        title = self._title(seen)
        if not title:
            return None
        both = [concepts[uid] for uid, _ in (seen.one, seen.other)]
        made = Article(
            kind="connection",
            title=title,
            slug="",
            points=(),
            details="",
            created=day,
            updated=day,
            engine=engine,
            tags=tuple(tag for tag in both[0].tags if tag in both[1].tags),
        )
        return self.joined(made, seen, concepts, day)

    def joined(self, article: Article, seen: Seen, concepts: Mapping[ArticleUid, Article], day: str) -> Article:
        """The connection with what was seen now; as it is when that is there already."""
        points, related, paragraphs = list(article.points), list(article.related), [article.details]
        projects = list(article.projects)
        for uid, each in (seen.one, seen.other):
            if uid not in {row.uid for row in related}:
                if len(related) == MOST_CONNECTED:
                    continue
                related.append(Related(uid, self._reason(article.title, each.claim)))
            if each.claim.place not in {claim.place for claim in points} and len(points) < _MOST_POINTS:
                points.append(each.claim)
                where = self._origins(each.claim.section)
                if where:
                    paragraphs.append(f"{where.day}, {where.project} ({concepts[uid].title}): {each.claim.text}")
                    projects.append(where.project)
        if (len(points), len(related)) == (len(article.points), len(article.related)):
            return article
        return msgspec.structs.replace(
            article,
            points=tuple(points),
            related=tuple(related),
            details="\n\n".join(part for part in paragraphs if part),
            projects=tuple(dict.fromkeys(name for name in projects if name != "unknown")),
            updated=max(article.updated, day),
        )

    def _of(self, article: Article) -> Iterator[Told]:
        for claim in article.points:
            if claim not in self._told:
                where = self._origins(claim.section)
                each = told(claim, (where.day, where.time, claim.section)) if where and where.session else None
                self._told[claim] = each if each and each.role else None
            found = self._told[claim]
            if found:
                yield found

    def _pair(self, one: tuple[ArticleUid, Told], other: tuple[ArticleUid, Told], near: float) -> Seen | None:
        first, second = (one, other) if one[1].when <= other[1].when else (other, one)
        here, there = (self._origins(each.claim.section) for _, each in (first, second))
        if here is None or there is None or here.session == there.session:
            return None
        shown = relation(first[1], second[1], near, self._likeness)
        return Seen(shown[1], shown[0], first, second) if shown else None

    def _near(self, ones: list[str], others: list[str]) -> list[list[float]]:
        if self._meaning is None or not ones or not others:
            return [[0.0] * len(others) for _ in ones]
        return [list(row) for row in self._meaning.alike(ones, others)]

    def _title(self, seen: Seen) -> str:
        """What the relation is, and of what, in the language of the later session."""
        head = headline(seen.other[1].claim.text) or headline(seen.one[1].claim.text)
        here, there = (self._origins(claim.section) for claim in seen.claims)
        if not head or here is None or there is None:
            return ""
        rows = TITLES.get(cues.language(head), TITLES["en"])
        if seen.relation == "unheeded":
            return rows[4].format(headline(seen.claims[0].text) or head)
        if seen.relation == "consequence":
            return rows[5].format(head)
        at = 0 if seen.relation == "cause" else 2
        if here.project != there.project and "unknown" not in (here.project, there.project):
            return rows[at].format(here.project, there.project, head)
        return rows[at + 1].format(head)

    def _reason(self, title: str, claim: Claim) -> str:
        where = self._origins(claim.section)
        said = IN_CONNECTION.get(cues.language(title), IN_CONNECTION["en"])[0]
        return said.format(where.day if where else "")


def home_of(seen: Seen, connections: Mapping[ArticleUid, Article], closed: Closed) -> tuple[ArticleUid, bool]:
    """(uid, whether it is there) of the connection that something seen belongs to: the one between these articles, one
    that holds one of the claims, one a person retracted that held both; or else a new one."""
    retracted = closed.disproved(seen.claims)
    if retracted:
        return retracted, retracted in connections
    uids, places = {seen.one[0], seen.other[0]}, {claim.place for claim in seen.claims}
    between = [uid for uid, row in connections.items() if uids <= {related.uid for related in row.related}]
    holding = [uid for uid, row in connections.items() if any(claim.place in places for claim in row.points)]
    for row in ([seen.uid] if seen.uid in connections else [], between, holding):
        if row:
            return min(row, key=lambda uid: (connections[uid].created, uid)), True
    return seen.uid, False


def members(connection: Article) -> Iterable[ArticleUid]:
    """The articles it connects."""
    return (related.uid for related in connection.related)
