"""Vectors from Gemini: texts in, one vector for each out, or a fault that says why there are none.

With the newer embedding models a list of strings gives one vector for all of them, so every text is a content of its
own, and the count is checked.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from afterword.compile.gemini.faults import ModelFault
from afterword.compile.gemini.transport import Transport

if TYPE_CHECKING:
    from google.genai import Client

TRIES_QUESTION: Final = 1
"""A person waits for a question's vector."""


class Vectors(msgspec.Struct, frozen=True):
    """A row for each text, as the server gave it; `tokens` it counted, None where it did not say."""

    rows: list[list[float]]
    tokens: int | None


def vectors(transport: Transport, model: str, dim: int, texts: Sequence[str], *, question: bool) -> Vectors:
    """The vectors of texts; of a question where a person waits for it, so that it is tried once.

    Raises:
        ModelFault: they cannot be had, or what came is not one vector of `dim` numbers for each text.
    """

    def once(client: "Client") -> Vectors:
        return _once(client, transport.timeout_ms, model, dim, texts, question=question)

    try:
        return transport.tried(once, model, *([TRIES_QUESTION] if question else []))
    except ModelFault as fault:
        if fault.why != "model-gone":
            raise
        raise ModelFault(
            f"Gemini has no embedding model {model!r} (any more)",
            "set a current one, and the index is made anew with it: "
            "`afterword config set index.gemini_model gemini-embedding-001`",
            why="model-gone",
        ) from fault


def _once(client: "Client", timeout_ms: int, model: str, dim: int, texts: Sequence[str], *, question: bool) -> Vectors:
    from google.genai import types  # noqa: PLC0415  # over a second, and only where a model is asked

    contents = [types.Content(parts=[types.Part(text=text)]) for text in texts]
    answer = client.models.embed_content(
        model=model,
        contents=contents,
        config=types.EmbedContentConfig(
            task_type="RETRIEVAL_QUERY" if question else "RETRIEVAL_DOCUMENT",
            output_dimensionality=dim,
            http_options=types.HttpOptions(timeout=timeout_ms),
        ),
    )
    rows = [each.values or [] for each in answer.embeddings or []]
    if len(rows) != len(texts):
        raise ModelFault(f"Gemini gave {len(rows)} vectors for {len(texts)} texts", why="odd")
    if any(len(row) != dim or not all(map(math.isfinite, row)) or not any(row) for row in rows):
        raise ModelFault(f"Gemini gave a vector that is not one of {dim} numbers", why="odd")
    return Vectors(rows, answer.usage_metadata.prompt_token_count if answer.usage_metadata else None)
