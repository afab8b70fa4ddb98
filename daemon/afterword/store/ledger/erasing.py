"""Takes what is planned to be forgotten out of the ledger's rows, in steps that survive a kill.

Rows stay where others hang on them, without a byte of text: an item keeps its id and its place, a session its ids. A
step and the plan's entry of it commit together. Call it with `Ledger.erasing`.
"""

import json
from collections.abc import Callable, Collection
from typing import Final

import msgspec

from afterword.domain.articles import Article, Claim
from afterword.domain.digest import Digest, Point
from afterword.domain.ids import ArticleUid, SegmentKey
from afterword.domain.items import Kind, SaidBy
from afterword.redact.redactor import Redactor
from afterword.redact.text import stored
from afterword.store import faults
from afterword.store.ledger import (
    articles,
    backfill,
    forgetting,
    lessons,
    masked,
    model_calls,
    registers,
    section_edits,
    segments,
    sessions,
    sources,
)
from afterword.store.ledger.ledger import Ledger, RecordKind, unpack
from afterword.store.ledger.segments import DigestRecord, SectionRecord
from afterword.store.ledger.tombstones import FACTS

_AT_ONCE: Final = 200
_EDITS: Final = "/edits"
_GONE: Final = Article("concept", "", "", (), "", "", "", "", status="withdrawn")
_NOTHING: Final = Digest(Point("", (), ""))


def rows(ledger: Ledger, redactor: Redactor, said: Collection[str], on_progress: Callable[[int, int], None]) -> None:
    """Erase items, facts, write-ups, builds and what else holds words of them. `said` names what in a decoder's state
    a transcript says."""
    _items(ledger, on_progress)
    with ledger.transaction():
        _facts(ledger, redactor, said)
        _write_ups(ledger)
        _lessons(ledger)
        _builds(ledger)
        _small(ledger)
        faults.hit("forget.step")


def _items(ledger: Ledger, on_progress: Callable[[int, int], None]) -> None:
    todo = forgetting.rows(ledger, "item")
    for at in range(0, len(todo), _AT_ONCE):
        on_progress(at, len(todo))
        some = todo[at : at + _AT_ONCE]
        counts = masked.Change()
        with ledger.transaction():
            for row in some:
                blob, packed = ledger.db.execute("SELECT text, packed FROM item WHERE row = ?", (row,)).fetchone()
                if blob:
                    # Only with the text as it was are its postings found.
                    ledger.db.execute(
                        "INSERT INTO text_pending (item, old, old_packed) VALUES (?, ?, ?)", (row, blob, packed)
                    )
                    counts.text("", unpack(blob, packed))
                # No revision: its tombstone says it, to other machines too.
                ledger.db.execute(
                    "UPDATE item SET text = x'', packed = 0, chars = 0, path = NULL, exit_status = NULL WHERE row = ?",
                    (row,),
                )
            counts.save(ledger)
            forgetting.done(ledger, "item", some)
            faults.hit("forget.step")


def _facts(ledger: Ledger, redactor: Redactor, said: Collection[str]) -> None:
    planned = forgetting.planned(ledger, "facts")
    for row in forgetting.rows(ledger, "session"):
        what = planned.get(str(row), "")
        ledger.db.execute("DELETE FROM share WHERE session IN (SELECT id FROM session WHERE row = ?)", (row,))
        facts = sessions.facts_of(ledger, row)
        folder = facts.cwd
        if what in ("session", "facts"):
            for name in FACTS:
                setattr(facts, name, "")
            facts.title_rank = 0
        elif what == "title" and facts.title_rank:
            facts.title, facts.title_rank = "", 0
        if not facts.title_rank and what not in ("session", "facts"):
            facts.title = _title(ledger, redactor, row)
        sessions.set_facts(ledger, row, redactor.document(msgspec.to_builtins(facts), plain=sessions.PLAIN))
        if what in ("session", "facts"):
            ledger.db.execute(
                "DELETE FROM checkout WHERE folder = ? AND folder NOT IN"
                " (SELECT coalesce(json_extract(facts, '$.cwd'), '') FROM session)",
                (folder,),
            )
            _sources(ledger, row, said)
    forgetting.done(ledger, "facts", planned)


def _title(ledger: Ledger, redactor: Redactor, session: int) -> str:
    """What a session is called by now: the beginning of the first prompt that is left."""
    rows = ledger.db.execute(
        "SELECT i.text, i.packed FROM membership m JOIN item i ON i.row = m.item"
        " WHERE m.session = ? AND m.state < 2 AND i.kind = ? AND i.said_by = ? AND i.chars > 0 ORDER BY m.pos, m.sub",
        (session, Kind.PROMPT, SaidBy.PERSON),
    )
    found = rows.fetchone()
    return sessions.title_of(redactor.redact(unpack(*found))) if found else ""


def _sources(ledger: Ledger, session: int, said: Collection[str]) -> None:
    """What is kept of where the sources of a session lie, if all that is read from them was forgotten like it."""
    bare = (
        f"SELECT 1 FROM register r WHERE r.kind = {int(RecordKind.TOMBSTONE)} AND (r.key = 'session:' || n.id"
        " OR r.key = 'facts:' || n.id AND r.value LIKE '%\"cwd\"%')"
    )
    rows = ledger.db.execute(
        "SELECT row, state FROM source WHERE row IN (SELECT s.source FROM shown s JOIN membership m"
        " ON m.row = s.membership WHERE m.session = ?) AND row NOT IN (SELECT s.source FROM shown s"
        " JOIN membership m ON m.row = s.membership JOIN session n ON n.row = m.session"
        f" WHERE m.state < 3 AND NOT EXISTS ({bare}))",
        (session,),
    ).fetchall()
    for source, state in rows:
        bare = json.dumps(sources.without(json.loads(state), said), separators=(",", ":")) if state else ""
        ledger.db.execute("UPDATE source SET state = ? WHERE row = ?", (stored(bare), source))
        sources.hide_path(ledger, source)


def _write_ups(ledger: Ledger) -> None:
    """Blank digests and sections, and what people's edits of them quoted. What is left of their items is written up
    anew."""
    blank = forgetting.planned(ledger, "blank")
    for key in blank:
        digest = registers.get(ledger, RecordKind.DIGEST, key)
        if digest:
            old = digest.read(DigestRecord)
            bare = DigestRecord(old.session, "", old.engine, _NOTHING)
            forgetting.rewrite(ledger, digest, msgspec.json.encode(bare).decode())
        found = segments.section(ledger, SegmentKey(key))
        if found:
            register, record = found
            gone = SectionRecord(
                session=record.session,
                day=record.day,
                time=record.time,
                start_us=record.start_us,
                harness=record.harness,
                project="",
                origin=record.origin,
                digest=_NOTHING,
                withdrawn_by=key,
            )
            forgetting.rewrite(ledger, register, msgspec.json.encode(gone).decode())
        edits = registers.get(ledger, RecordKind.SEGMENT, section_edits.key_of(SegmentKey(key)))
        if edits:
            forgetting.rewrite(ledger, edits, forgetting.NO_EDITS)
    forgetting.done(ledger, "blank", blank)


def _builds(ledger: Ledger) -> None:
    """Take the proposals that stood on these sections out of the builds: their days are due again."""
    keys = set(forgetting.planned(ledger, "section"))
    days = forgetting.planned(ledger, "day")
    for day, (register, record) in articles.builds(ledger).items():
        kept = tuple(p for p in record.proposals if not any(claim.section in keys for claim in p.points))
        if day in days or len(kept) < len(record.proposals):
            bare = msgspec.structs.replace(
                record, sent_hash="", proposals=kept, uids=(), created=(), updated=(), merged=()
            )
            forgetting.rewrite(ledger, register, msgspec.json.encode(bare).decode())


def _lessons(ledger: Ledger) -> None:
    """Take entries of the journal out, and the facts that nothing else says; others go by what is left to say them."""
    gone = set(forgetting.planned(ledger, "lesson"))
    if not gone:
        return
    _replacements(ledger, {each.text for uid, each in lessons.stored_lessons(ledger).items() if uid in gone})
    for key in gone:
        for name in (key, f"{key}/edits"):
            if register := registers.get(ledger, RecordKind.LESSON, name):
                _drop(ledger, register)
    entries = {each.uid: each.lesson for each in lessons.lessons(ledger)}
    for its_id, fact in lessons.stored_facts(ledger).items():
        if not gone & set(fact.lessons):
            continue
        kept = tuple(uid for uid in fact.lessons if uid in entries and uid not in gone)
        register = registers.get(ledger, RecordKind.FACT, its_id)
        edits = registers.get(ledger, RecordKind.FACT, f"{its_id}/edits")
        if register and kept:
            newest = max(kept, key=lambda uid: (entries[uid].at_us, uid))
            bare = msgspec.structs.replace(fact, lessons=kept, text=entries[newest].text, engine="extractive")
            forgetting.rewrite(ledger, register, msgspec.json.encode(bare).decode())
            if edits:
                told = msgspec.structs.replace(lessons.fact_edits(ledger, its_id), text=None)
                forgetting.rewrite(ledger, edits, msgspec.json.encode(told).decode())
                forgetting.say_again(ledger, edits)
            continue
        for each in (register, edits):
            if each:
                _drop(ledger, each)
    ledger.set_meta(lessons.OWED, 1)


def _replacements(ledger: Ledger, texts: Collection[str]) -> None:
    """Take these words out of the retractions in whose place they were said."""
    for its_id in lessons.stored_facts(ledger):
        edits = lessons.fact_edits(ledger, its_id)
        register = registers.get(ledger, RecordKind.FACT, f"{its_id}/edits")
        if register and edits.replaced_by in texts:
            bare = msgspec.structs.replace(edits, replaced_by="")
            forgetting.rewrite(ledger, register, msgspec.json.encode(bare).decode())


def _small(ledger: Ledger) -> None:
    """What else remembers words: how to undo the newest build, why articles may be out of date, which is found anew,
    and what jobs were asked and answered."""
    for register in registers.below(ledger, RecordKind.SETTING, "stale/"):
        forgetting.rewrite(ledger, register, '{"why":""}')
    if ledger.meta("build_undo") is not None:
        ledger.set_meta("build_undo", "null")
    # A question to a model quotes articles of other days too: of none a text is kept, of all what they cost.
    ledger.db.execute(
        "UPDATE model_call SET request = x'', request_packed = 0, reply = x'', reply_packed = 0, reason = ''"
    )
    # A server's refusal may quote what it was asked; that it waits, and until when, stays.
    ledger.db.execute(
        "UPDATE meta SET value = json_set(value, '$.reason', 'forgotten') WHERE key IN (?, ?) AND value <> ''"
        " AND coalesce(json_extract(value, '$.reason'), '') <> ''",
        (model_calls.PAUSE, backfill.ASKED),
    )
    error = '{"kind":"forgotten","message":"forgotten","hint":""}'
    ledger.db.execute(
        "UPDATE job SET arguments = '{}', progress = '', result = CASE WHEN state = 'done' THEN '{}' ELSE '' END,"
        " error = CASE WHEN state = 'failed' THEN ? ELSE '' END WHERE state IN ('done', 'failed')",
        (error,),
    )


def drop_articles(ledger: Ledger) -> dict[ArticleUid, bool]:
    """After the articles were folded anew: take out what still stands on quotes that no build has any more.

    Inside a transaction.

    Returns:
        The planned articles, and whether each is still there.
    """
    proposals = [proposal for _, record in articles.builds(ledger).values() for proposal in record.proposals]
    live = {claim.place for proposal in proposals for claim in proposal.points}
    known = {proposal.uid for proposal in proposals}
    keys = set(forgetting.planned(ledger, "section"))
    found: dict[ArticleUid, bool] = {}
    for name in forgetting.planned(ledger, "article"):
        uid = ArticleUid(name)
        register = registers.get(ledger, RecordKind.ARTICLE, uid)
        article = articles.stored(ledger).get(uid)
        if register is None or article is None:
            found[uid] = False
            continue

        def left(claims: tuple[Claim, ...]) -> tuple[Claim, ...]:
            return tuple(claim for claim in claims if claim.section not in keys or claim.place in live)

        kept = left(article.points)
        found[uid] = bool(kept) and article.status != "withdrawn"
        edits_register = registers.get(ledger, RecordKind.ARTICLE, articles.edits_key(uid))
        if not found[uid]:
            for each in (register, edits_register, *_beside(ledger, uid)):
                if each:
                    _drop(ledger, each)
            continue
        if kept != article.points:
            bare = msgspec.structs.replace(article, points=kept, details="", related=())
            forgetting.rewrite(ledger, register, msgspec.json.encode(bare).decode())
        if edits_register:
            edits = articles.edits_of(ledger, uid)
            quotes = {claim.quote for claim in kept}
            bare_edits = msgspec.structs.replace(
                edits,
                claims=left(edits.claims),
                seen=tuple(quote for quote in edits.seen if quote in quotes),
                spared=tuple(other for other in edits.spared if other in known),
                struck=tuple(struck for struck in edits.struck if left((struck.claim,))),
                linked=tuple(other for other in edits.linked if other in known),
            )
            if bare_edits != edits:
                forgetting.rewrite(ledger, edits_register, msgspec.json.encode(bare_edits).decode())
        for each in (register, edits_register):
            if each:
                forgetting.say_again(ledger, each)
    ledger.set_meta(articles.OWED, 1)
    ledger.set_meta("build_undo", "null")
    return found


def _beside(ledger: Ledger, uid: ArticleUid) -> list[registers.Register]:
    """What is known of an article besides what it says, under keys that hold its uid."""
    return [
        register
        for prefix in ("use/", "stale/", "review/")
        for register in registers.below(ledger, RecordKind.SETTING, prefix)
        if uid in register.key
    ]


def _drop(ledger: Ledger, register: registers.Register) -> None:
    """Leave nothing of a register but that it is gone. Its key stays: others know it by that, and of an article a later
    day may tell again."""
    kind = ledger.db.execute("SELECT kind FROM register WHERE row = ?", (register.row,)).fetchone()[0]
    edits = register.key.endswith(_EDITS) or kind != RecordKind.ARTICLE
    forgetting.rewrite(ledger, register, "{}" if edits else msgspec.json.encode(_GONE).decode())
    if kind != RecordKind.ARTICLE:
        ledger.db.execute("UPDATE register SET forgotten = 1 WHERE row = ?", (register.row,))
    for side in ("dst", "src"):
        ledger.db.execute(f"DELETE FROM derivation WHERE {side}_kind = ? AND {side} = ?", (kind, register.row))
