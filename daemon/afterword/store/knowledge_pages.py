"""`knowledge/index.md`, the generated catalogue, and `knowledge/log.md`, one entry a build."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final, TypeAlias

from afterword.domain.articles import Current, key_points
from afterword.domain.escape import label, prose
from afterword.domain.frontmatter import Word, emit
from afterword.domain.ids import ArticleUid
from afterword.domain.note_names import linked
from afterword.redact.exits import leave
from afterword.redact.redactor import Redactor
from afterword.store import faults, files
from afterword.store.article_notes import ArticleNotes
from afterword.store.article_text import Target
from afterword.store.ledger import article_files, articles
from afterword.store.ledger.ledger import Ledger
from afterword.store.vault_card import may_write

_BEGIN: Final = b"%% afterword index %%"
_END: Final = b"%% /afterword index %%"
_REVIEW: Final = b"%% afterword review %%"
_REVIEW_END: Final = b"%% /afterword review %%"
_REVIEW_HEAD: Final = 3
_GIST = 140

Waiting: TypeAlias = tuple[str, str, tuple[str, ...], list[tuple[str, str]]]
"""(id, what it is about, evidence, (title, path) of its articles) of something that waits for a person's word."""


class KnowledgePages:
    """Writes the two pages. What stands outside the index's markers, and every line of the log, stays."""

    def __init__(self, vault: Path, knowledge: str, ledger: Ledger, redactor: Redactor, notes: ArticleNotes) -> None:
        self._vault = vault
        self._knowledge = knowledge
        self._ledger = ledger
        self._redactor = redactor
        self._notes = notes

    def sync(self) -> int:
        """Bring both up to date; how many files were written. Nothing is done while the vault is not there."""
        if not may_write(self._vault, self._ledger):
            return 0
        faults.hit("build.files")
        current = articles.current(self._ledger)
        known = article_files.every(self._ledger)
        # One that cannot be read just now is there.
        row = [each for each in current if each.uid in known and known[each.uid].state in ("", "odd")]
        targets = self._notes.targets(row, {uid: file.path for uid, file in known.items()})
        return self._index(row, targets) + self._log({each.uid: each.article.title for each in current})

    def _index(self, row: list[Current], targets: dict[ArticleUid, Target]) -> int:
        path = files.inside(self._vault, f"{self._knowledge}/index.md")
        block = _BEGIN + b"\n" + self._catalogue(row, targets).encode() + _END
        if not path.exists():
            if not any(each.live for each in row):
                return 0
            head = emit([("type", Word("map")), ("tags", [Word("memory/index")])]) + "\n# Knowledge\n\n"
            path.parent.mkdir(parents=True, exist_ok=True)
            return int(files.create(path, head.encode() + block + b"\n"))
        old = path.read_bytes()
        start, end = old.find(_BEGIN), old.find(_END)
        if start < 0 or end < start:
            return 0  # somebody's own page: not ours to write
        newline = b"\r\n" if b"\r\n" in old[start:end] else b"\n"
        new = old[:start] + block.replace(b"\n", newline) + old[end + len(_END) :]
        return int(new != old and files.swap(path, old, new))

    def put_review(self, found: Iterable[Waiting]) -> int:
        """Bring `review.md` up to date; 1 when it was written. A page without our markers is somebody's own."""
        if not may_write(self._vault, self._ledger):
            return 0
        lines = [
            "",
            "What waits for your word: `afterword review` asks about each with one key.",
            "",
        ]
        for its_id, what, evidence, row in found:
            lines.append(f"- {prose(self._out(what))} (`{its_id}`)")
            # A title alone where the note is not there (any more).
            links = [
                f"[[{linked(path)}|{label(self._out(title))}]]"
                if path and (self._vault / path).is_file()
                else str(prose(self._out(title)))
                for title, path in row
            ]
            lines += [f"    - {' · '.join(links)}"] if links else []
            lines += [f"    - {prose(self._out(line))}" for line in evidence]
        path = files.inside(self._vault, f"{self._knowledge}/review.md")
        waits = len(lines) > _REVIEW_HEAD
        block = _REVIEW + b"\n" + "\n".join([*lines, *([] if waits else ["Nothing waits."]), ""]).encode() + _REVIEW_END
        if not path.exists():
            if not waits or not path.parent.is_dir():
                return 0
            head = emit([("type", Word("map")), ("tags", [Word("memory/review")])]) + "\n# Review\n\n"
            return int(files.create(path, head.encode() + block + b"\n"))
        old = path.read_bytes()
        start, end = old.find(_REVIEW), old.find(_REVIEW_END)
        if start < 0 or end < start:
            return 0
        newline = b"\r\n" if b"\r\n" in old[start:end] else b"\n"
        new = old[:start] + block.replace(b"\n", newline) + old[end + len(_REVIEW_END) :]
        return int(new != old and files.swap(path, old, new))

    def _catalogue(self, row: Iterable[Current], targets: dict[ArticleUid, Target]) -> str:
        groups: dict[str, list[Current]] = {}
        for each in row:
            if each.live and each.uid in targets:
                group = (
                    "Connections" if each.article.kind == "connection" else next(iter(each.article.projects), "Other")
                )
                groups.setdefault(group, []).append(each)
        lines = []
        for group in sorted(groups, key=lambda name: (name == "Other", name == "Connections", name.casefold())):
            lines += ["", f"## {prose(self._out(group))}", ""]
            for each in sorted(groups[group], key=lambda e: (e.article.title.casefold(), e.uid)):
                link = f"[[{targets[each.uid].note}|{label(self._out(each.article.title))}]]"
                gist = self._gist(each)
                lines.append(f"- {link} - {gist}" if gist else f"- {link}")
        return "\n".join(lines) + "\n\n" if lines else "\n"

    def _gist(self, each: Current) -> str:
        text = next(iter(key_points(each)), "")
        if len(text) > _GIST:
            text = text[: _GIST - 1].rpartition(" ")[0].rstrip(" ,;:") + "…"
        return prose(self._out(text))

    def _log(self, titles: dict[ArticleUid, str]) -> int:
        logged = dict(self._ledger.db.execute("SELECT day, rev FROM build_logged"))
        owed = [
            (day, register.rev, record)
            for day, (register, record) in articles.builds(self._ledger).items()
            if logged.get(day) != register.rev and record.uids
        ]
        if not owed:
            return 0
        path = files.inside(self._vault, f"{self._knowledge}/log.md")
        old = path.read_bytes() if path.exists() else b""
        text = "" if old else emit([("type", Word("map")), ("tags", [Word("memory/log")])]) + "\n# Build log\n"
        if old and not old.endswith(b"\n"):
            text += "\n"
        for day, _, record in owed:
            body = []
            for word, uids in (("created", record.created), ("updated", record.updated)):
                for uid in uids:
                    told = "added to" if uid in record.merged else word
                    # No link: what was built may be renamed or deleted, and these lines stay as they are.
                    body.append(f"- {told}: {prose(self._out(titles.get(uid, uid)))} ({uid})")
            if record.reason == "thin":
                body.append(f"- thin: {len(record.uids)} of the 3 that a day should give")
            mark = f"%% afterword build {day} {_short(repr((record.sent_hash, record.engine, record.uids)))} %%"
            if mark.encode() not in old and body:
                again = " (again)" if f"%% afterword build {day} ".encode() in old else ""
                text += f"\n## {day}{again}\n{mark}\n" + "\n".join(body) + "\n"
        if text.strip():
            path.parent.mkdir(parents=True, exist_ok=True)
            files.append(path, text.encode())
        faults.hit("build.log")
        with self._ledger.transaction():
            self._ledger.db.executemany(
                "INSERT INTO build_logged VALUES (?, ?) ON CONFLICT (day) DO UPDATE SET rev = excluded.rev",
                [(day, rev) for day, rev, _ in owed],
            )
        return int(bool(text.strip()))

    def _out(self, text: str) -> str:
        return leave("article", text, self._redactor)


def _short(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()
