"""Makes `Redacted` of text. Nobody but this layer may import it: a contract in `pyproject.toml` says so."""

from __future__ import annotations

from typing import Final

from afterword.redact.text import Redacted

_TOKEN: Final = object()


def mark(text: str, token: object) -> Redacted:
    """`text` as Redacted; for the redactor, which holds the token."""
    if token is not _TOKEN:
        raise TypeError("Redacted text is made by Redactor.redact only")
    return str.__new__(Redacted, text)
