"""Cursor's window databases (`state.vscdb`): which conversations are in one, and which of them changed.

Row ids tell almost everything, since Cursor replaces the rows it changes: keys and row ids alone are read of all
conversations, values only of those whose row moved and of the most recent ones, for writers that update in place.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from afterword.capture.harness import cursor_kv as kv
from afterword.capture.harness.cursor_bubbles import Conversation
from afterword.capture.harness.cursor_family import CHAT, LISTED, Family
from afterword.capture.harness.cursor_values import COMPOSERS, Bubble, Composer, Tab
from afterword.capture.harness.lenient import part as piece
from afterword.domain.events import BadLine, Database, Decoded, Fingerprint, Part

_TAB, _IN_LIST, _DRAFT = "tab:", "listed:", ".draft:"
_RECENT = 12
_LAST_BUBBLES = 5
_EMPTY = "-"
_MISSING = BadLine("a listed message is not there")
_TOO_BIG = BadLine("a conversation's own value is too big to be read")


class Seen(NamedTuple):
    """What a version is made of: the conversation's row, its messages' rows, and a hash of what counts in it."""

    row: str
    bubbles: str
    inside: str

    @classmethod
    def of(cls, version: str) -> "Seen":
        row, _, rest = version.partition("|")
        bubbles, _, inside = rest.partition("|")
        return cls(row, bubbles, inside)

    @property
    def version(self) -> str:
        return "|".join(self)


def parts(opened: Database, known: Mapping[str, str], family: Family, fingerprint: Fingerprint) -> Iterator[Part]:
    """Every conversation in the database, and the drafts, which give no event, so that they need not be read again."""
    tables = kv.tables(opened.db)
    if "cursorDiskKV" in tables:
        yield from _composers(opened, known, family, fingerprint)
    if "ItemTable" in tables:
        for key, prefix in ((CHAT, _TAB), (LISTED, _IN_LIST)):
            version, talks = family.listed(opened, key)
            for name in talks:
                yield Part(prefix + name, version)


def _composers(opened: Database, known: Mapping[str, str], family: Family, fingerprint: Fingerprint) -> Iterator[Part]:
    db = opened.db
    found = [(entry, *kv.bubbles_seen(db, entry.composer)) for entry in kv.composers(db)]
    rows = sorted((entry.row for entry, _, _ in found), reverse=True)[:_RECENT]
    newest = sorted((newest for _, newest, _ in found), reverse=True)[:_RECENT]
    recent = {entry.composer for entry, last, _ in found if entry.row in rows or (last and last in newest)}
    for entry, _, bubbles in found:
        name = entry.composer if entry.composer in known else _DRAFT + entry.composer
        before = Seen.of(known[name]) if name in known else None
        still = before is not None and (before.row, before.bubbles) == (str(entry.row), bubbles)
        if before is not None and still and entry.composer not in recent:
            yield Part(name, before.version)
            continue
        inside = _inside(opened, entry.composer, family, fingerprint)
        if before is not None and (before.bubbles, before.inside) == (bubbles, inside):
            # Only what the window remembers changed: the text being typed, where it was scrolled to.
            yield Part(name, before.version)
        elif inside != _EMPTY:
            yield Part(entry.composer, Seen(str(entry.row), bubbles, inside).version)
        elif name != entry.composer:
            # (A conversation that is suddenly empty stays as it was read.)
            yield Part(name, Seen(str(entry.row), bubbles, inside).version)


def _inside(opened: Database, name: str, family: Family, fingerprint: Fingerprint) -> str:
    """What counts of a conversation's own value and of its last messages, as a hash; `-` for a draft."""
    raw = kv.value(opened.db, "cursorDiskKV", kv.composer_key(name), kv.CONVERSATION_MAX)
    composer = piece(raw, COMPOSERS) if isinstance(raw, bytes) else None
    if composer is None:
        return _EMPTY if raw is None else f"unread {raw.size if isinstance(raw, kv.Oversized) else len(raw)}"
    family.learn(name, composer)
    headers = [header.bubble_id or "" for header in composer.headers or []]
    if not headers and not composer.conversation:
        return _EMPTY
    words = [
        *(composer.name or "", str(composer.created_at), str(composer.last_updated_at), str(composer.checkpoint_at)),
        *(str(composer.is_archived), (composer.model_config and composer.model_config.model_name) or ""),
        *(composer.sub_composer_ids or []),
        *(composer.subagent_composer_ids or []),
        *headers,
    ]
    if composer.conversation or composer.conversation_map:
        assert isinstance(raw, bytes)
        words.append(raw.decode("utf-8", "replace"))
    for bubble in headers[-_LAST_BUBBLES:]:
        last = kv.value(opened.db, "cursorDiskKV", kv.bubble_key(name, bubble))
        words.append(last.decode("utf-8", "replace") if isinstance(last, bytes) else str(last))
    return fingerprint("\0".join(words))


def events(opened: Database, part: Part, family: Family, fingerprint: Fingerprint) -> Iterator[list[Decoded]]:
    """One conversation, whole."""
    del fingerprint
    if part.name.startswith(_DRAFT):
        return
    if part.name.startswith((_TAB, _IN_LIST)):
        prefix, key = (_TAB, CHAT) if part.name.startswith(_TAB) else (_IN_LIST, LISTED)
        name = part.name.removeprefix(prefix)
        talk = family.listed(opened, key)[1].get(name)
        if isinstance(talk, Tab):
            shown = Composer(composer_id=name, name=talk.chat_title, last_updated_at=talk.last_send_time)
            yield from _spoken(Conversation(opened, name, shown, family), talk.bubbles or [])
        elif talk is not None:
            yield from _spoken(Conversation(opened, name, talk, family), talk.conversation or [])
        return
    raw = kv.value(opened.db, "cursorDiskKV", kv.composer_key(part.name), kv.CONVERSATION_MAX)
    composer = piece(raw, COMPOSERS) if isinstance(raw, bytes) else None
    if composer is None:
        yield [_TOO_BIG if isinstance(raw, kv.Oversized) else BadLine("not JSON")] if raw is not None else []
    elif composer.headers:
        yield from _listed(opened, Conversation(opened, part.name, composer, family), composer)
    else:
        yield from _spoken(Conversation(opened, part.name, composer, family), composer.conversation or [])


def _listed(opened: Database, talk: Conversation, composer: Composer) -> Iterator[list[Decoded]]:
    """The messages in the order of the list; one that is not in it was taken back."""
    own = composer.conversation_map or {}
    inline = {bubble.bubble_id: bubble for bubble in composer.conversation or [] if bubble.bubble_id}
    missing = False
    seen: set[str] = set()
    for header in composer.headers or []:
        its_id = header.bubble_id
        if not its_id or its_id in seen:
            continue
        seen.add(its_id)
        raw = kv.value(opened.db, "cursorDiskKV", kv.bubble_key(talk.session, its_id))
        if isinstance(raw, kv.Oversized):
            yield talk.oversized(its_id, raw.size)
        elif raw is None or raw.strip() == b"null":
            known = own.get(its_id) or inline.get(its_id)
            missing = missing or known is None
            # One that is missing keeps its place.
            yield talk.bubble(its_id, known, header.type) if known else []
        else:
            yield talk.raw_bubble(its_id, raw, header.type)
    yield [*talk.end(), *([_MISSING] if missing else [])]


def _spoken(talk: Conversation, bubbles: list[Bubble]) -> Iterator[list[Decoded]]:
    """Messages that lie in the conversation's own value."""
    for n, bubble in enumerate(bubbles):
        yield talk.bubble(bubble.bubble_id or bubble.id or f"#{n}", bubble, None)
    yield talk.end()
