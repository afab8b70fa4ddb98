"""What the writer of a first reading tells its workers."""

import msgspec

MARK = "[redacted:"
MASKED = "something in the name of a folder is masked"


class Task(msgspec.Struct, frozen=True, array_like=True):
    """A file to read, that nobody has read yet."""

    harness: str
    path: bytes


class Orders(msgspec.Struct, frozen=True, array_like=True):
    """What the writer tells its workers, by a pipe: the key and a person's patterns are in it."""

    hash_key: bytes
    engine: str
    extra: tuple[str, ...]
    allow: tuple[str, ...]
    quiet_before_us: int
    """Who was not written to since then is quiet."""
    tasks: list[Task]
