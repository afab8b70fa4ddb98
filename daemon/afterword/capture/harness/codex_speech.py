"""What a person typed and what Codex put into the user role."""

import re

from afterword.capture.harness.codex_lines import Part
from afterword.capture.harness.texts import image_url_note, tidy

_INJECTED = (
    ("# agents.md instructions for", "</instructions>"),
    ("<environment_context>", "</environment_context>"),
    ("<user_instructions>", "</user_instructions>"),
    ("<skill>", "</skill>"),
    ("<turn_aborted>", "</turn_aborted>"),
    ("<subagent_notification>", "</subagent_notification>"),
    ("<additional_context>", "</additional_context>"),
)
_IDE_REQUEST = "## My request for Codex:"
_IMAGE_TAG = re.compile(r"</?image\b[^<>]*>")
_SHELL = re.compile(
    r"<user_shell_command>\s*<command>(.*?)</command>(?:\s*<result>(.*)</result>)?\s*</user_shell_command>",
    re.DOTALL | re.IGNORECASE,
)


def injected(text: str) -> bool:
    """Whether the whole text is a fragment of context in its markers."""
    text = text.strip()
    head, tail = text[:40].lower(), text[-40:].lower()
    return any(head.startswith(opening) and tail.endswith(closing) for opening, closing in _INJECTED)


def typed(text: str) -> str:
    """What a person typed of a text in the user role; empty when nothing is left."""
    if not text or injected(text):
        return ""
    at = text.find(_IDE_REQUEST)
    if at == 0 or (at > 0 and text[at - 1] == "\n"):
        text = text[at + len(_IDE_REQUEST) :]
    return tidy(text.strip())


def typed_parts(content: str | list[Part] | None) -> str:
    """What a person typed in a user message, its pictures left out."""
    if content is None or isinstance(content, str):
        return typed(content or "")
    texts = (part.text for part in content if part.text and not _IMAGE_TAG.fullmatch(part.text.strip()))
    return "\n".join(filter(None, (typed(text) for text in texts)))


def pictures(content: str | list[Part] | None) -> list[str]:
    """Size notes of the pictures in a message or an output."""
    if content is None or isinstance(content, str):
        return []
    return [
        image_url_note(part.image_url) if isinstance(part.image_url, str) else "[image]"
        for part in content
        if part.type in ("input_image", "image")
    ]


def joined(content: str | list[Part] | None) -> str:
    """The text of a reply or an output."""
    if content is None or isinstance(content, str):
        return tidy(content or "")
    return tidy("\n".join(part.text for part in content if part.text))


def shell_command(content: str | list[Part] | None) -> tuple[str, str] | None:
    """Command and result of the user's own `!command`; None when the text is none."""
    if content is None:
        return None
    text = content if isinstance(content, str) else "\n".join(part.text or "" for part in content)
    found = _SHELL.fullmatch(text.strip())
    return (tidy(found[1].strip()), tidy((found[2] or "").strip())) if found else None


def folded(text: str) -> str:
    """The text for comparing: white space normalised."""
    return " ".join(text.split())
