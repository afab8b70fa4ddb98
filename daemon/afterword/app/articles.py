"""Articles as the index reads them: as they stand in the ledger, with a person's edits, by their place in the vault."""

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from afterword.domain.articles import Current
from afterword.domain.clock import Zones
from afterword.domain.escape import unescape
from afterword.store.ledger import article_files, articles
from afterword.store.ledger.ledger import Ledger

if TYPE_CHECKING:
    from afterword.index.documents import Document


class LedgerArticles:
    """The `ArticleSource` of the index. Only live articles that lie in the vault are found."""

    def __init__(self, ledger: Ledger, zones: Zones) -> None:
        self._ledger = ledger
        self._zones = zones

    def _standing(self) -> dict[str, Current]:
        files = article_files.every(self._ledger)
        return {
            files[each.uid].path: each
            for each in articles.current(self._ledger)
            if each.live and each.uid in files and not files[each.uid].state
        }

    def prints(self) -> Mapping[str, str]:
        """Path in the vault → a hash of what the article says, and of what is told beside it."""
        return {path: _print(each) for path, each in self._standing().items()}

    def load(self, ref: str) -> "Document | None":
        """The article at this path; None when none stands there."""
        from afterword.index.documents import Document, Part  # noqa: PLC0415  # the index is loaded when it is used

        each = self._standing().get(ref)
        if each is None:
            return None
        article = each.article
        said = _said(each)
        return Document(
            kind="article",
            ref=ref,
            print=_print(each),
            title=article.title,
            day=article.updated,
            time_us=self._zones.start_of(article.updated) or 0,
            project="\n".join(article.projects),
            harness="",
            session="",
            parts=tuple(Part(text, heading) for heading, text in said[1:] if text),
        )


def _print(each: Current) -> str:
    article = each.article
    facts = (article.title, article.updated, article.projects, _said(each))
    return hashlib.blake2b(msgspec.json.encode(facts), digest_size=12).hexdigest()


def _said(each: Current) -> list[tuple[str, str]]:
    """(heading, text) of everything the article says: a section a person changed as the person left it, but in the
    form of one that nobody changed, so that what stayed the same in it needs no new vector."""
    article, bodies = each.article, each.edits.bodies
    points = [
        ("Key Points", f"{claim.text} (until {claim.until})" if claim.until else claim.text) for claim in article.points
    ]
    details = [("Details", paragraph) for paragraph in article.details.split("\n\n")]
    own = [(heading, text) for heading, body in bodies.items() for text in _texts(heading, body)]
    return [
        ("", " ".join(article.names)),
        *(points if "Key Points" not in bodies else []),
        *(details if "Details" not in bodies else []),
        *own,
    ]


def _texts(heading: str, body: str) -> list[str]:
    """The points or paragraphs of a section as it stands in a note."""
    first, _, rest = body.partition("\n")
    text = unescape(rest if first.strip() == f"## {heading}" else body)
    if heading != "Key Points":
        return text.strip().split("\n\n")
    return [line.removeprefix("- ") for line in text.splitlines() if line.strip()]
