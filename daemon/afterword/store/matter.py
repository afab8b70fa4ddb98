"""Front matter read: YAML 1.2, as Obsidian reads it. Writing is `domain.frontmatter`'s."""

from afterword.domain.article_note import layout


def read_matter(note: bytes) -> dict[str, object] | None:
    """The values of a note's front matter; empty without any, None when it cannot be read or a name is there twice."""
    where = layout(note)
    if where.matter is None:
        return None if note.lstrip(b"\xef\xbb\xbf").startswith(b"---") else {}
    # 40 ms that commands which read no note do not pay
    from ruamel.yaml import YAML  # noqa: PLC0415
    from ruamel.yaml.error import YAMLError  # noqa: PLC0415

    reader = YAML(typ="safe", pure=True)
    try:
        found = reader.load(note[slice(*where.matter)].decode("utf-8"))
    except (YAMLError, UnicodeDecodeError, ValueError):
        return None
    if found is None:
        return {}
    return {str(key): value for key, value in found.items()} if isinstance(found, dict) else None
