"""What a person means by `forget`: words → ids of sessions and rows of items, with all that goes with them.

The words are used here and kept nowhere: from here on there are only ids.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from afterword.app import show
from afterword.domain.clock import Zones
from afterword.domain.errors import NothingFound, UsageError
from afterword.domain.ids import LessonUid, SegmentKey, SessionId
from afterword.domain.items import Kind
from afterword.domain.lessons import agent_name
from afterword.domain.slugs import slug
from afterword.store.ledger import articles, forgetting, lessons, segments, sessions, tombstones
from afterword.store.ledger.forgetting import Wanted
from afterword.store.ledger.ledger import Ledger, unpack
from afterword.store.ledger.sessions import SessionFacts

_WHITE: Final = re.compile(r"\s+")


class Selector(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to forget: exactly one of these. `before` is a local day, `match` a text, in any case."""

    session: str | None = None
    project: str | None = None
    before: str | None = None
    agent: str | None = None
    match: str | None = None
    look: bool = False
    """A person struck it out of their own notes just now."""

    @property
    def given(self) -> list[str]:
        return [name for name, value in msgspec.structs.asdict(self).items() if value and name != "look"]


class Hit(msgspec.Struct, frozen=True):
    """A session that loses something: `items` of its `of` items. `whole`: nothing of it is left."""

    id: SessionId
    harness: str
    native: str
    project: str
    title: str
    started_us: int | None
    items: int
    of: int
    whole: bool


class ArticleHit(msgspec.Struct, frozen=True):
    """An article that loses `points` of its `of` points; with none left it goes."""

    uid: str
    title: str
    path: str
    points: int
    of: int


class Targets(msgspec.Struct, frozen=True):
    """What goes. `copies` are items elsewhere that say the very same at length, `shared` those of forgotten sessions
    that another one owns and keeps. `sections` are (note, key)."""

    wanted: Wanted
    sessions: tuple[Hit, ...]
    items: int
    copies: int
    shared: int
    sections: tuple[tuple[str, SegmentKey], ...]
    articles: tuple[ArticleHit, ...]
    lessons: int = 0
    """How many entries of the journal go."""


def folded(text: str) -> str:
    """A text as it is matched: in one case, white space as one space, an accent and its letter as one sign."""
    return unicodedata.normalize("NFC", _WHITE.sub(" ", text).casefold())


def resolve(ledger: Ledger, zones: Zones, daily: str, selector: Selector) -> Targets:
    """What a selector means in this ledger.

    Raises:
        UsageError: not exactly one thing is named, or it cannot be read.
        NothingFound: nothing answers to it.
    """
    if len(selector.given) != 1:
        raise UsageError("name one thing to forget", "a session, or one of --project, --before, --agent, --match")
    if selector.session:
        wanted = _by_session(ledger, selector.session)
    elif selector.match:
        wanted = _by_text(ledger, selector.match)
    elif selector.before:
        wanted = _by_day(ledger, zones, selector.before)
    else:
        wanted = _by_facts(ledger, selector)
    wanted = msgspec.structs.replace(wanted, look=selector.look, lessons=_lessons(ledger, selector))
    if wanted.empty and not selector.look:
        raise NothingFound("nothing answers to that", "`afterword search` shows what there is")
    return _with_copies(ledger, daily, wanted)


def _lessons(ledger: Ledger, selector: Selector) -> tuple[LessonUid, ...]:
    """The entries of the journal that are meant; those that were drawn from what goes come with it."""
    row = lessons.lessons(ledger)
    if selector.project:
        return tuple(each.uid for each in row if each.lesson.project == slug(selector.project, fallback="-"))
    if selector.agent:
        return tuple(each.uid for each in row if each.lesson.by == agent_name(selector.agent))
    if selector.before:
        return tuple(each.uid for each in row if each.lesson.day < selector.before)
    if not selector.match:
        return ()
    needle, named = folded(selector.match).strip(), slug(selector.match, fallback="-")

    def holds(*texts: str) -> bool:
        return any(needle in folded(text) for text in texts)

    found = {
        each.uid
        for each in row
        if holds(each.lesson.text, each.lesson.evidence, each.edits.retract_reason)
        or any(named in name for name in (each.lesson.project, each.lesson.topic))
    }
    for each in lessons.facts(ledger):
        if holds(each.fact.text, each.edits.retract_reason, each.edits.replaced_by):
            found.update(each.fact.lessons)
    # Of an entry that a person reworded, what it said before is still in the ledger.
    stored = {its_id: entry for its_id, entry in lessons.stored_lessons(ledger).items() if holds(entry.text)}
    return tuple(sorted({*found, *stored}))


def _by_session(ledger: Ledger, name: str) -> Wanted:
    found = show.find(ledger, name)
    family = [SessionId(its_id) for its_id in _family(ledger, found)]
    items = {row for its_id in family for row in forgetting.owned_by(ledger, its_id)}
    return Wanted(sessions=tuple(family), items=tuple(sorted(_left(ledger, items))))


def _family(ledger: Ledger, session: sessions.Head) -> Iterator[str]:
    """A session and its sub-agents, theirs included."""
    seen = {session.id}
    todo: list[sessions.Head] = [session]
    while todo:
        here = todo.pop()
        yield here.id
        below = sessions.load(
            ledger, "WHERE s.harness = ? AND json_extract(s.facts, '$.parent') = ?", (here.harness, here.native)
        )
        todo += [child for child in below if child.id not in seen]
        seen |= {child.id for child in below}


def _by_facts(ledger: Ledger, selector: Selector) -> Wanted:
    """The sessions of a project or an agent, with all there is of them now."""
    row = sessions.load(ledger, "")
    if selector.agent:
        known = sorted({session.harness for session in row})
        if selector.agent not in known:
            raise UsageError(f"there is no agent {selector.agent!r} here", "use one of " + ", ".join(known))
        chosen = [session for session in row if session.harness == selector.agent]
    else:
        chosen = [session for session in row if _of_project(session.facts, selector.project or "")]
    family = {its_id for session in chosen for its_id in _family(ledger, session)}
    items = {item for its_id in family for item in forgetting.owned_by(ledger, SessionId(its_id))}
    return _held(ledger, _left(ledger, items), {SessionId(its_id) for its_id in family})


def _of_project(facts: SessionFacts, name: str) -> bool:
    folder = name.rstrip("/")
    paths = [path for path in (facts.root, facts.cwd) if path]
    if "/" in folder:
        return any(path == folder or path.startswith(f"{folder}/") for path in paths)
    return facts.project.casefold() == name.casefold() or (bool(facts.project) and slug(facts.project) == name)


def _by_day(ledger: Ledger, zones: Zones, day: str) -> Wanted:
    start = zones.start_of(day)
    if start is None:
        raise UsageError(f"--before: {day!r} is no day", "write it like 2026-06-10")
    rows = ledger.db.execute("SELECT row FROM item WHERE time_us < ?", (start,))
    return _held(ledger, _left(ledger, {row for (row,) in rows}), titles=True)


def _by_text(ledger: Ledger, text: str) -> Wanted:
    needle = folded(text).strip()
    if len(needle) < 3:  # said in the message
        raise UsageError("--match wants three characters or more", "a shorter text is in nearly everything")
    items: set[int] = set()
    for row, blob, packed, path in ledger.db.execute("SELECT row, text, packed, path FROM item"):
        if needle in folded(unpack(blob, packed)) or (path and needle in folded(path)):
            items.add(row)
    bare, titled = [], []
    placed = _read_from(ledger, needle)
    for session in sessions.load(ledger, ""):
        facts = session.facts
        said_of = (facts.cwd, facts.root, facts.folder, facts.branch, facts.model)
        if session.row in placed or any(needle in folded(said) for said in said_of):
            bare.append(session.id)
        elif facts.title_rank and needle in folded(facts.title):
            titled.append(session.id)
    named = {*bare, *titled}
    for _, record in segments.sections(ledger):
        digest = record.digest
        points = (digest.context, *digest.exchanges, *digest.decisions, *digest.lessons, *digest.actions)
        for point in points:
            # A write-up may call a session by its title: that is no word of its items.
            told = point.quote if record.session in named else f"{point.text}\n{point.quote}"
            if needle in folded(told):
                items |= set(_rows(ledger, point.items))
    return _held(ledger, _left(ledger, items), set(bare), titled=titled)


def _read_from(ledger: Ledger, needle: str) -> set[int]:
    """The sessions that are read from files with this in their path."""
    found: set[int] = set()
    for source, path in ledger.db.execute("SELECT row, path FROM source").fetchall():
        if needle in folded(path):
            rows = ledger.db.execute(
                "SELECT DISTINCT m.session FROM shown s JOIN membership m ON m.row = s.membership WHERE s.source = ?",
                (source,),
            )
            found |= {row for (row,) in rows}
    return found


def _rows(ledger: Ledger, ids: tuple[str, ...]) -> Iterator[int]:
    for its_id in ids:
        found = ledger.db.execute("SELECT row FROM item WHERE id = ?", (bytes.fromhex(its_id),)).fetchone()
        if found:
            yield found[0]


def _left(ledger: Ledger, items: set[int]) -> set[int]:
    """Without those that were forgotten before."""
    return items - {row for (row,) in ledger.db.execute("SELECT item FROM erased")}


def _held(
    ledger: Ledger,
    items: set[int],
    bare: set[SessionId] | None = None,
    *,
    titles: bool = False,
    titled: list[SessionId] | None = None,
) -> Wanted:
    """Items, with the facts of sessions that have nothing else; and, with `titles`, the titles of the others."""
    gone, given = set(bare or ()), set(titled or ())
    for session, whole in _sessions_of(ledger, items).items():
        its_id, facts = _head(ledger, session)
        if whole:
            gone.add(its_id)
        elif titles and facts.title_rank:
            given.add(its_id)
    return Wanted(bare=tuple(sorted(gone)), titled=tuple(sorted(given - gone)), items=tuple(sorted(items)))


def _sessions_of(ledger: Ledger, items: set[int]) -> dict[int, bool]:
    """The sessions that hold some of these items: row → whether they hold nothing else of their own."""
    found: dict[int, bool] = {}
    for item in items:
        for (session,) in ledger.db.execute("SELECT session FROM membership WHERE item = ?", (item,)):
            found[session] = True
    erased = {row for (row,) in ledger.db.execute("SELECT item FROM erased")}
    for session in found:
        held = {row for (row,) in ledger.db.execute("SELECT item FROM membership WHERE session = ?", (session,))}
        found[session] = not (held - items - erased)
    return found


def _head(ledger: Ledger, session: int) -> tuple[SessionId, SessionFacts]:
    found = sessions.heads(ledger, [session])[session]
    return found.id, found.facts


def _with_copies(ledger: Ledger, daily: str, wanted: Wanted) -> Targets:
    items = set(wanted.items)
    hashes = set()
    for item in items:
        kind, blob, packed = ledger.db.execute("SELECT kind, text, packed FROM item WHERE row = ?", (item,)).fetchone()
        hashes.add(tombstones.text_hash(kind, unpack(blob, packed)))
    copies = tombstones.same_texts(ledger, hashes - {""}) - items
    every = items | copies
    keys = {key for item in every for key in forgetting.made_of(ledger, item)}
    heads = {its_id: head for its_id in wanted.sessions if (head := sessions.head(ledger, its_id))}
    shared = sum(len(sessions.inherited_items(ledger, head.row)) for head in heads.values())
    wholly = {head.row for head in heads.values()}
    wholly |= {row for row, whole in _sessions_of(ledger, every).items() if whole}
    titled = {head.row for its_id in (*wanted.bare, *wanted.titled) if (head := sessions.head(ledger, its_id))}
    for row in wholly | titled:
        keys |= {SegmentKey(register.key) for register, _ in segments.sections(ledger, _head(ledger, row)[0])}
    sections = []
    for key in sorted(keys):
        found = segments.section(ledger, key)
        if found:
            placed = ledger.db.execute("SELECT path FROM placed WHERE key = ?", (key,)).fetchone()
            sections.append((placed[0] if placed else f"{daily}/{found[1].day}.md", key))
    drawn = {
        uid
        for key in keys
        if (held := segments.section(ledger, key))
        for uid in forgetting.drawn_from(ledger, held[0].row)
    }
    return Targets(
        wanted=msgspec.structs.replace(wanted, items=tuple(sorted(every))),
        sessions=tuple(_hits(ledger, every, wanted, wholly)),
        items=len(every),
        copies=len(copies),
        shared=shared,
        sections=tuple(sections),
        articles=tuple(_article_hits(ledger, _told_in(ledger, every))),
        lessons=len(drawn | set(wanted.lessons)),
    )


def _hits(ledger: Ledger, items: set[int], wanted: Wanted, wholly: set[int]) -> Iterator[Hit]:
    rows = set(_sessions_of(ledger, items)) | wholly
    for its_id in (*wanted.sessions, *wanted.bare, *wanted.titled):
        head = sessions.head(ledger, its_id)
        rows |= {head.row} if head else set()
    for session in sessions.load(ledger, "WHERE s.row IN (SELECT value FROM json_each(?))", (str(sorted(rows)),)):
        held = {row for (row,) in ledger.db.execute("SELECT item FROM membership WHERE session = ?", (session.row,))}
        yield Hit(
            session.id,
            session.harness,
            session.shown_native,
            session.facts.project,
            session.facts.title,
            session.started_us,
            len(held & items),
            len(held),
            session.row in wholly,
        )


def _told_in(ledger: Ledger, items: set[int]) -> dict[SegmentKey, str]:
    """Section → all that goes of what it was made from."""
    found: dict[SegmentKey, str] = {}
    for item in items:
        blob, packed = ledger.db.execute("SELECT text, packed FROM item WHERE row = ?", (item,)).fetchone()
        for key in forgetting.made_of(ledger, item):
            found[key] = found.get(key, "") + "\n" + folded(unpack(blob, packed))
    return found


def _article_hits(ledger: Ledger, told: dict[SegmentKey, str]) -> Iterator[ArticleHit]:
    paths = dict(ledger.db.execute("SELECT uid, path FROM article_file"))
    for each in articles.current(ledger):
        points = each.article.points
        lost = sum(folded(claim.quote).strip(" …") in told.get(claim.section, "") for claim in points)
        if lost and each.article.status != "withdrawn":
            yield ArticleHit(each.uid, each.article.title, paths.get(each.uid, ""), lost, len(points))


def nothing() -> Targets:
    """What a selector means that only a person's own text answers to."""
    return Targets(Wanted(), (), 0, 0, 0, (), ())


def needles(ledger: Ledger, targets: Targets, selector: Selector) -> Callable[[str], list[tuple[int, int]]]:
    """Finds in a line of a note what is to be forgotten: the text itself, or sentences of what was said and of what
    was written up of it. Gives (start, end) of each, in characters."""
    if selector.match:
        # A Mac's file names spell an accent as a sign of its own.
        forms = (unicodedata.normalize(form, selector.match).split() for form in ("NFC", "NFD"))
        spelled = dict.fromkeys(r"\s+".join(map(re.escape, words)) for words in forms)
        pattern = re.compile("|".join(spelled), re.IGNORECASE)
        return lambda line: [found.span() for found in pattern.finditer(line)]
    known: set[str] = set()
    for item in targets.wanted.items:
        kind, blob, packed = ledger.db.execute("SELECT kind, text, packed FROM item WHERE row = ?", (item,)).fetchone()
        if kind in (Kind.PROMPT, Kind.REPLY, Kind.COMMAND, Kind.OUTPUT):
            known |= {_key(part) for _, _, part in _sentences(unpack(blob, packed))}
    for _, key in targets.sections:
        found = segments.section(ledger, key)
        if found:
            digest = found[1].digest
            for point in (digest.context, *digest.exchanges, *digest.decisions, *digest.lessons, *digest.actions):
                known |= {_key(part) for text in (point.text, point.quote) for _, _, part in _sentences(text)}
    for uid in targets.wanted.lessons:
        entry = lessons.lesson(ledger, uid)
        known |= {_key(part) for _, _, part in _sentences(entry.lesson.text)} if entry else set()
    known.discard("")
    return lambda line: [(start, end) for start, end, part in _sentences(line) if _key(part) in known]


_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*")
_NOT_WORD: Final = re.compile(r"[\W_]+")
_LONG: Final = 24


def _sentences(text: str) -> Iterator[tuple[int, int, str]]:
    for found in _SENTENCE.finditer(text):
        yield (*found.span(), found[0])


def _key(sentence: str) -> str:
    said = _NOT_WORD.sub(" ", sentence).strip().casefold()
    return said if len(said) >= _LONG else ""
