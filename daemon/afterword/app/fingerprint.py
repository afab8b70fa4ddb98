"""`Equal`: one hash of exactly what two runs or machines must agree on."""

import hashlib

import msgspec

from afterword.store.ledger import segments, sessions
from afterword.store.ledger.ledger import Ledger, unpack


def lines(ledger: Ledger) -> list[str]:
    """What is compared, one fact a line, sorted: items with kind, final text and exit; each session's items in order
    with their flags; current sections by key and text.

    Not in it: origins, numbers, superseded revisions, wall-clock columns, the order of sections in a day.
    """
    found = []
    items = ledger.db.execute("SELECT row, id, kind, path, exit_status, text, packed FROM item")
    names: dict[int, str] = {}
    for row, its_id, kind, path, exit_status, blob, packed in items:
        names[row] = its_id.hex()
        text = hashlib.blake2b(unpack(blob, packed).encode(), digest_size=16).hexdigest()
        found.append(f"item {its_id.hex()} {kind} {text} {path!r} {exit_status!r}")
    for session in sessions.load(ledger, ""):
        inherited = sessions.inherited_items(ledger, session.row)
        order = ledger.db.execute(
            "SELECT m.item, m.state FROM membership m JOIN item i ON i.row = m.item"
            " WHERE m.session = ? ORDER BY m.pos, m.sub, i.id",
            (session.row,),
        )
        flags = " ".join(f"{names[item]}:{state}{'i' * (item in inherited)}" for item, state in order)
        found.append(f"session {session.id} {hashlib.blake2b(flags.encode(), digest_size=16).hexdigest()}")
    for register, record in segments.sections(ledger):
        said = msgspec.json.encode(
            (record.day, record.time, record.harness, record.project, record.withdrawn_by, record.digest)
        )
        found.append(f"section {register.key} {hashlib.blake2b(said, digest_size=16).hexdigest()}")
    return sorted(found)


def fingerprint(ledger: Ledger) -> str:
    """The hash of `lines`, 32 hex digits."""
    digest = hashlib.blake2b(digest_size=16)
    for line in lines(ledger):
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()
