"""An article as its note shows it: every foreign text escaped, every link to something that is there."""

import datetime as dt
from collections.abc import Callable, Mapping

import msgspec

from afterword.domain.article_note import EVIDENCE, HEAD, Wanted
from afterword.domain.articles import Article, Claim, Current, Edits
from afterword.domain.day_names import DayNames
from afterword.domain.escape import label, plain, prose
from afterword.domain.frontmatter import Value, Word, coerced
from afterword.domain.ids import ArticleUid, SegmentKey
from afterword.domain.sections import ref

TAG_SAFE = str.maketrans(dict.fromkeys(" .,;:'\"()[]{}#^|\\<>?!*`~$%&=+@", "-"))


class Source(msgspec.Struct, frozen=True):
    """Where a section stands: its note (without `.md`), its block, and the words a link to it shows. A person's own
    note has words alone: where it lies is not kept."""

    note: str
    block: str
    shown: str

    @property
    def link(self) -> str:
        return f"[[{self.note}#^{self.block}|{self.shown}]]" if self.note else self.shown


class Target(msgspec.Struct, frozen=True):
    """An article to link to: its note without `.md`, its title, and whether it is live."""

    note: str
    title: str
    live: bool


Sources = Mapping[SegmentKey, Source]
Targets = Mapping[ArticleUid, Target]
Out = Callable[[str], str]
"""A text's last way through the redactor."""


def wanted(
    current: Current, sources: Sources, targets: Targets, out: Out, types: Mapping[str, str] | None = None
) -> Wanted:
    """The note of an article. `types` are the types the vault gives to properties, where they are known."""
    article, edits = current.article, current.edits
    parts = {
        HEAD: _head(article, targets, out),
        "Key Points": _section("Key Points", [_point(claim, out) for claim in article.points]),
        "Details": _section(
            "Details", "\n\n".join(str(prose(out(part))) for part in article.details.split("\n\n")).split("\n")
        ),
        "Related Concepts": _section("Related Concepts", list(_related(article, targets, out))),
        "Sources": _section("Sources", list(_sources(article, sources, out))),
    }
    for name, body in edits.bodies.items():
        if name in parts:
            parts[name] = body.rstrip("\n") + "\n"
    new = _evidence(article, edits)
    if new:
        parts[EVIDENCE] = _section(EVIDENCE, [_line(claim, sources, out) for claim in new])
    front = _front(current, sources, targets, out)
    kinds = {key: kind for key, kind in (types or {}).items() if key != "uid"}  # by which a note is known
    return Wanted(tuple((key, coerced(value, kinds.get(key, ""))) for key, value in front), parts)


def _head(article: Article, targets: Targets, out: Out) -> str:
    lines = [f"# {prose(out(article.title))}"]
    if article.status == "retracted":
        when = f" on {article.retracted_on}" if article.retracted_on else ""
        lines += ["", f"> [!warning] Retracted{when}"]
        if article.retract_reason:
            lines.append(f"> {prose(out(article.retract_reason))}")
    elif newer := _replacement(article, targets):
        lines += ["", "> [!info] Replaced", f"> By [[{newer.note}|{label(out(newer.title))}]]."]
    return "\n".join(lines) + "\n"


def _replacement(article: Article, targets: Targets) -> Target | None:
    """The article that an engine found to take this one's place, while it is there."""
    found = targets.get(ArticleUid(article.replaced_by)) if article.replaced_by else None
    return found if found and found.live else None


def _point(claim: Claim, out: Out) -> str:
    """A key point; what another one took the place of is struck out, with the day."""
    text = prose(out(claim.text))
    return f"- ~~{text}~~ ({claim.until})" if claim.until else f"- {text}"


def _section(name: str, lines: list[str]) -> str:
    return "\n".join([f"## {name}", *(lines or ["-"])]) + "\n"


def _related(article: Article, targets: Targets, out: Out) -> list[str]:
    rows = []
    for related in article.related:
        target = targets.get(related.uid)
        if target and target.live:
            reason = prose(out(related.reason))
            rows.append(f"- [[{target.note}|{label(out(target.title))}]]" + (f" - {reason}" if reason else ""))
    return rows


def _sources(article: Article, sources: Sources, out: Out) -> list[str]:
    rows = []
    for number, claim in enumerate(article.points, 1):
        source = sources.get(claim.section)
        where = source.link if source else f"{claim.section} (no longer there)"
        rows.append(f'- {where}: "{prose(out(claim.quote))}" → point {number}')
    return rows


def _line(claim: Claim, sources: Sources, out: Out) -> str:
    source = sources.get(claim.section)
    return f"- {prose(out(claim.text))}" + (f" {source.link}" if source else "")


def _evidence(article: Article, edits: Edits) -> list[Claim]:
    """What came after a person rewrote the Key Points."""
    if "Key Points" not in edits.bodies:
        return []
    return [claim for claim in article.points if claim.quote not in edits.seen]


def _front(current: Current, sources: Sources, targets: Targets, out: Out) -> list[tuple[str, Value]]:
    article, edits = current.article, current.edits
    # A person's part keeps the note of what was withdrawn; nothing says it any more.
    status = "stale" if article.status == "withdrawn" else article.status
    links = dict.fromkeys(
        f"[[{source.note}#^{source.block}]]" for key in article.sections if (source := sources.get(key)) and source.note
    )
    rows: list[tuple[str, Value]] = [
        ("type", Word(article.kind)),
        ("uid", current.uid),
        ("title", plain(out(article.title))),
        ("slug", article.slug),
        ("aliases", [plain(out(name)) for name in _aliases(article, edits)]),
        ("tags", [_tag(plain(out(tag))) for tag in article.tags]),
        ("projects", [plain(out(project)) for project in article.projects]),
        ("sources", list(links)),
    ]
    if article.kind == "connection":
        rows.append(("connects", [f"[[{t.note}]]" for r in article.related if (t := targets.get(r.uid)) and t.live]))
    rows += [("created", _day(article.created)), ("updated", _day(article.updated)), ("status", Word(status))]
    if article.status == "retracted":
        if article.retracted_on:
            rows.append(("retracted_on", _day(article.retracted_on)))
        if article.retract_reason:
            rows.append(("retract_reason", plain(out(article.retract_reason))))
    if newer := _replacement(article, targets):
        rows.append(("replaced_by", f"[[{newer.note}]]"))
    elif article.replaced_by and edits.replaced_by is not None:
        rows.append(("replaced_by", plain(out(article.replaced_by))))
    rows += [("use_count", 0), ("engine", Word(article.engine)), ("cssclasses", [Word("memory-article")])]
    if edits.bodies:
        rows.append(("edited", True))
    return rows


def _aliases(article: Article, edits: Edits) -> tuple[str, ...]:
    return article.aliases if edits.aliases is not None else article.names


def _tag(tag: str) -> str:
    try:
        return Word(tag)
    except ValueError:
        return tag.translate(TAG_SAFE).strip("-") or "memory"


def _day(text: str) -> Value:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        return text


def source_of(day: str, time: str, key: SegmentKey, rev: int, path: str, days: DayNames) -> Source:
    """The source a section is, in the note it stands in or would stand in; revision 0 is a person's own note."""
    if not rev:
        return Source("", "", f"your notes of {day}")
    return Source((path or days.name(day)).removesuffix(".md"), ref(key, rev), f"{day} {time}")
