"""Whether a changed file only grew, or must be read again from its start.

Growth is append only if the bytes before the checkpoint are still the bytes that were read. The first and last
4 KiB and the last partial MiB are compared on every change; everything when the size did not grow although the
file changed, when the caller asks for it, and once when the file has been quiet.
"""

from afterword.capture.tail.content import Content
from afterword.capture.tail.prefix import BLOCK, Hasher, Mark, PrefixHash
from afterword.store.ledger.sources import Checkpoint

EDGE = 4096


def edges(content: Content, offset: int, hasher: Hasher) -> tuple[bytes, bytes]:
    """Keyed hashes of the first and the last (up to) 4 KiB of [0, offset) as the file is now."""
    head = content.pread(min(EDGE, offset), 0)
    start = max(0, offset - EDGE)
    tail = content.pread(offset - start, start)
    return hasher.keyed_hash(head), hasher.keyed_hash(tail)


def resume(content: Content, at: Checkpoint, hasher: Hasher, *, whole: bool) -> PrefixHash | None:
    """The prefix hash standing at the checkpoint, ready to go on; None when the bytes before it changed.

    `whole` compares every byte before the position, otherwise the edges and the last partial block.
    """
    if at.offset == 0:
        return PrefixHash(hasher.hash_key)
    if not content.holds(at.offset) or edges(content, at.offset, hasher) != (at.head, at.tail):
        return None
    border = at.offset - at.offset % BLOCK
    prefix = PrefixHash(hasher.hash_key) if whole else PrefixHash(hasher.hash_key, Mark(border, at.chain, b""))
    while prefix.offset < at.offset:
        data = content.pread(min(BLOCK, at.offset - prefix.offset), prefix.offset)
        if not data:
            return None
        prefix.update(data)
    return prefix if prefix.mark() == Mark(at.offset, at.chain, at.part) else None
