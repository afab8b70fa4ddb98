"""The labelled corpus of texts with and without secrets, and how a redactor does on it."""

import re
from pathlib import Path

import msgspec

from afterword.redact.redactor import Redactor

FOLDER = Path(__file__).parent / "fixtures" / "redact"
_APART = "\u205e"
_MARKER = re.compile(r"\[redacted:[a-z0-9-]+\]")
_PIECE = 12


class Positive(msgspec.Struct, frozen=True):
    """A text with a secret in it; `around`: nothing but the secret may change."""

    kind: str
    text: str
    secret: str
    around: bool = True


class Negative(msgspec.Struct, frozen=True):
    """A text without a secret."""

    about: str
    text: str


class Quality(msgspec.Struct, frozen=True):
    """How a redactor does: texts of which something of the secret is left, that got another kind, whose surroundings
    changed; and harmless texts that changed."""

    positives: int
    negatives: int
    missed: list[str]
    misnamed: list[str]
    torn: list[str]
    wrong: list[str]

    @property
    def recall(self) -> float:
        return 1 - len(self.missed) / self.positives

    @property
    def precision(self) -> float:
        caught = self.positives - len(self.missed)
        return caught / (caught + len(self.wrong))


def positives() -> list[Positive]:
    rows = msgspec.json.Decoder(Positive).decode_lines((FOLDER / "positives.jsonl").read_bytes())
    return [Positive(row.kind, _joined(row.text), _joined(row.secret), row.around) for row in rows]


def negatives() -> list[Negative]:
    rows = msgspec.json.Decoder(Negative).decode_lines((FOLDER / "negatives.jsonl").read_bytes())
    return [Negative(row.about, _joined(row.text)) for row in rows]


def _joined(text: str) -> str:
    return text.replace(_APART, "")


def left_of(secret: str, clean: str) -> bool:
    """Whether the secret, or a piece of it long enough to be of use, is still there."""
    pieces = (secret[at : at + _PIECE] for at in range(0, len(secret) - _PIECE + 1, _PIECE // 3))
    return secret in clean or (" " not in secret and any(piece in clean for piece in pieces))


def measure(redactor: Redactor) -> Quality:
    """The quality of a redactor on the whole corpus."""
    found = Quality(len(positives()), len(negatives()), [], [], [], [])
    for case in positives():
        clean = redactor.redact(case.text)
        if left_of(case.secret, clean):
            found.missed.append(case.text)
        elif case.kind and f"[redacted:{case.kind}]" not in clean:
            found.misnamed.append(case.text)
        elif case.around and _MARKER.split(clean) != case.text.split(case.secret):
            found.torn.append(case.text)
    found.wrong.extend(case.text for case in negatives() if redactor.redact(case.text) != case.text)
    return found
