"""A session for somebody else's eyes: its write-up and its conversation, scrubbed once more, and what was scrubbed."""

import re
import socket
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from afterword.app.config import Config
from afterword.app.reading import redactor, zones_of
from afterword.app.retracted import Retractions, Statement
from afterword.app.show import Shown, find, whole
from afterword.domain.errors import NothingFound
from afterword.domain.escape import plain, plain_lines
from afterword.domain.ids import SegmentKey
from afterword.domain.items import Kind, SaidBy
from afterword.domain.personal import Identity, Personal, owner_of
from afterword.domain.section_edits import SectionEdits, laid_over
from afterword.domain.sections import texts_of
from afterword.redact.exits import leave
from afterword.store import files
from afterword.store.ledger import section_edits, segments
from afterword.store.ledger.ledger import Ledger

WARNING: Final = (
    "Read this before you send it. Known patterns were replaced, but patterns are not understanding: names of people"
    " and customers, internal addresses and business facts in plain words are still here."
)
_SHOWN: Final = frozenset(Kind) - {Kind.META}
_ITEM_MAX: Final = 100_000
"""Characters of one item; a page is read by people."""
_ESCAPE_SEQUENCE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_MARKER: Final = re.compile(r"\[redacted:([a-z0-9-]{1,24})\]")
_GIT_NAME: Final = re.compile(r"^\s*name\s*=\s*(.+?)\s*$", re.MULTILINE)
_GIT_USER: Final = re.compile(r"^\[user\]\s*$(.*?)(?=^\[|\Z)", re.MULTILINE | re.DOTALL)


class Said(msgspec.Struct, frozen=True):
    """One thing in the conversation. `time` is local, `HH:MM`; `cut` counts characters that were left out."""

    kind: Kind
    said_by: SaidBy
    text: str
    path: str
    status: str
    time: str
    cut: int
    retracted: str = ""
    """That what is said here was retracted since, when and why."""


class Section(msgspec.Struct, frozen=True):
    """A write-up: the local day and time, and its parts by their names in notes; empty ones are left out."""

    day: str
    time: str
    parts: tuple[tuple[str, tuple[str, ...]], ...]


class Shared(msgspec.Struct, frozen=True):
    """What is shared. `scrubbed` counts what was replaced, by kind; `left_out` the items that were rewound or came from
    another session."""

    title: str
    facts: tuple[str, ...]
    sections: tuple[Section, ...]
    said: tuple[Said, ...]
    scrubbed: dict[str, int]
    left_out: int
    retracted: tuple[tuple[str, str], ...] = ()
    """What is stated in it and was retracted since: the statement, and when, why, and what holds in its place."""


def identity(config: Config, users: tuple[str, ...] | None = None) -> Identity:
    """Who shares, as far as this machine knows."""
    import getpass  # noqa: PLC0415
    import pwd  # noqa: PLC0415

    home = config.places.home
    known, names = [home.name], []
    try:
        known.append(getpass.getuser())
        names.append(pwd.getpwnam(known[-1]).pw_gecos.partition(",")[0])
    except (KeyError, OSError):
        pass
    try:
        settings = (home / ".gitconfig").read_text("utf-8", "replace")
        names += [found for block in _GIT_USER.findall(settings) for found in _GIT_NAME.findall(block)]
    except OSError:
        pass
    host = socket.gethostname()
    hosts = {host, host.partition(".")[0]}
    return Identity(str(home), users or tuple(known), tuple(name for name in names if name), tuple(sorted(hosts)))


def compose(config: Config, ledger: Ledger, prefix: str, who: Identity) -> Shared:
    """A session, scrubbed by the rules of now.

    Raises:
        NothingFound, Ambiguous: no session, or several, answer to the prefix; or nothing of it is left to share.
    """
    found = whole(ledger, find(ledger, prefix))
    zones = zones_of(config, ledger)
    # A session may be another machine's, where the same person goes by another name.
    owner = owner_of(found.session.facts.root or found.session.facts.cwd)
    who = msgspec.structs.replace(who, users=(*who.users, owner)) if owner else who
    own, personal = redactor(config), Personal(who)
    kept: Counter[str] = Counter()

    def scrub(text: str, tidy: Callable[[str], str] = plain_lines) -> str:
        text = tidy(_ESCAPE_SEQUENCE.sub("", text))
        kept.update(_MARKER.findall(text))
        before = Counter(own.counts)
        text = leave("share", text, own)
        kept.update(Counter(own.counts) - before)
        # What was put together anew is looked at once more.
        return str(leave("share", personal.scrub(text), own))

    live = [item for item in found.items if not (item.abandoned or item.inherited) and item.kind in _SHOWN]
    gone = Retractions(ledger)
    told: dict[str, Statement] = {}
    said = tuple(_said(item, scrub, zones.local(item.time_us).strftime("%H:%M"), gone, told) for item in live)
    said = tuple(one for one in said if one.text or one.path)
    session, facts = found.session, found.session.facts
    if not said:
        raise NothingFound(
            f"nothing of {session.shown_native} is left to share", "what was forgotten or rewound is not shared"
        )
    sections = tuple(
        _section(register.key, record, section_edits.get(ledger, SegmentKey(register.key)), scrub, gone, told)
        for register, record in segments.sections(ledger, session.id)
        if not record.withdrawn_by
    )
    when = zones.local(session.started_us).strftime("%Y-%m-%d") if session.started_us is not None else ""
    words = (session.harness, facts.project, facts.model, when)
    return Shared(
        title=scrub(facts.title or "A session", plain),
        facts=tuple(scrub(word, plain) for word in words if word),
        sections=sections,
        said=said,
        scrubbed={kind: count for kind, count in sorted((kept + personal.counts).items()) if count},
        left_out=len(found.items) - len(said),
        retracted=tuple((scrub(one.text, plain), scrub(one.words, plain)) for one in told.values()),
    )


def _said(item: Shown, scrub: Callable[[str], str], time: str, gone: Retractions, told: dict[str, Statement]) -> Said:
    text = scrub(item.text)
    statement = gone.of_item(item.id) if gone else None
    if statement:
        told.setdefault(statement.text, statement)
    return Said(
        kind=item.kind,
        said_by=item.said_by,
        text=text[:_ITEM_MAX],
        path=scrub(item.path or ""),
        status="" if item.exit_status is None else str(item.exit_status),
        time=time,
        cut=max(0, len(text) - _ITEM_MAX),
        retracted=scrub(statement.words) if statement else "",
    )


def _section(
    key: str,
    record: segments.SectionRecord,
    edits: SectionEdits,
    scrub: Callable[[str], str],
    gone: Retractions,
    told: dict[str, Statement],
) -> Section:
    digest = laid_over(record.digest, edits)[0]
    texts = texts_of(digest)
    quotes = {
        point.text: point.quote
        for part in (digest.exchanges, digest.decisions, digest.lessons, digest.actions)
        for point in part
    }

    def marked(text: str) -> str:
        statement = gone.of_point(key, quotes.get(text, ""), text) if gone else None
        if statement is None:
            return scrub(text)
        told.setdefault(statement.text, statement)
        return scrub(f"({statement.words}) {text}")

    # What a person ticked off is no open action any more.
    actions = tuple(f"{text} (done)" if plain(text) in edits.done else text for text in texts.actions)
    rows = (
        ("Context", (texts.context,) if texts.context else ()),
        ("Key Exchanges", texts.exchanges),
        ("Decisions Made", texts.decisions),
        ("Lessons Learned", texts.lessons),
        ("Action Items", actions),
    )
    return Section(record.day, record.time, tuple((name, tuple(map(marked, row))) for name, row in rows if row))


def write(path: Path, text: str, *, force: bool) -> int:
    """Put a page into a file that only its owner can read; how many bytes it has. All of it is there, or nothing.

    Raises:
        UserError: there is a file already, and it is not to be replaced.
    """
    from afterword.domain.errors import UserError  # noqa: PLC0415

    data = text.encode("utf-8", "replace")
    if not path.parent.is_dir():
        raise UserError(f"{path.parent} is not a folder", "make it first, or name another file")
    if force:
        files.replace(path, data, keep=False)
    elif not files.create(path, data, mode=0o600):
        raise UserError(f"{path} is there already", "name another file, or use --force")
    return len(data)
