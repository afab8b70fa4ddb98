"""`Equal`: one hash of exactly what two runs or machines must agree on."""

import hashlib

import msgspec

from afterword.store.ledger import articles, section_edits, segments, sessions, tombstones, views
from afterword.store.ledger.items import State
from afterword.store.ledger.ledger import Ledger


def lines(ledger: Ledger) -> list[str]:
    """What is compared, one fact a line, sorted: items with kind, final text and exit; each session's items in order
    with their flags; current sections by key and text; articles by uid and text as stored.

    Not in it: origins, numbers, superseded revisions, what was withdrawn or forgotten, wall-clock columns, the order of
    sections in a day; and lessons: facts are drawn from them in the order in which they came, and a forgetting takes
    along what another run had never drawn.
    """
    found = []
    names: dict[int, str] = {}
    gone = tombstones.erased_items(ledger)
    for row, its_id, kind, text, path, exit_status in views.all_items(ledger):
        if row in gone:
            continue  # another machine may never have had it
        names[row] = its_id.hex()
        found.append(f"item {its_id.hex()} {kind} {_hash(text.encode())} {path!r} {exit_status!r}")
    for session in sessions.load(ledger, ""):
        if tombstones.session_forgotten(ledger, session.id):
            continue
        inherited = sessions.inherited_items(ledger, session.row)
        flags = " ".join(
            f"{names[item.row]}:{item.state}{'i' * (item.row in inherited)}"
            for item in views.in_order(ledger, session.row)
            if item.state is not State.FORGOTTEN
        )
        found.append(f"session {session.id} {_hash(flags.encode())}")
    for register, record in segments.sections(ledger):
        if record.withdrawn_by:
            continue  # who looked later, after all of it was taken back, never made one
        said = msgspec.json.encode((record.day, record.time, record.harness, record.project, record.digest))
        found.append(f"section {register.key} {_hash(said)}")
    for key, edits in section_edits.every(ledger).items():
        if not edits.empty:
            found.append(f"section {key} edits {_hash(msgspec.json.encode(edits))}")
    for current in articles.current(ledger):
        if current.article.status != "withdrawn":
            # The days are left out: a later build of the same words only moves them.
            article = msgspec.structs.replace(current.article, created="", updated="", engine="")
            if current.stale:  # found by looking at files or use, which machines do at other times
                article = msgspec.structs.replace(article, status="active")
            found.append(f"article {current.uid} {_hash(msgspec.json.encode((article, current.edits)))}")
    return sorted(found)


def fingerprint(ledger: Ledger) -> str:
    """The hash of `lines`, 32 hex digits."""
    digest = hashlib.blake2b(digest_size=16)
    for line in lines(ledger):
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
