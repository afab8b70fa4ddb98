"""The far end of `bench.sync`, and its ledgers that are none. Imports little: its start is part of what is measured."""

import sys
from collections.abc import Iterator, Mapping, Sequence

from afterword_sync.channel import standard_streams
from afterword_sync.conversation import serve
from afterword_sync.frame import Kind
from afterword_sync.link import Deadlines, Link
from afterword_sync.log import Inserted
from afterword_sync.record import Payload, Record


class Texts:
    """A ledger with one record for each of some payloads."""

    kinds = frozenset({"item"})
    early = frozenset[str]()

    def __init__(self, origin: str, payloads: Sequence[bytes]) -> None:
        self.origin = origin
        self._payloads = payloads
        self.taken: dict[str, int] = {}

    def vector(self) -> Mapping[str, int]:
        """As `Log.vector`."""
        return {self.origin: len(self._payloads), **self.taken}

    def machines(self) -> Mapping[str, str]:
        """As `Log.machines`."""
        return {self.origin: "bench"}

    def rules(self) -> str:
        """As `Log.rules`."""
        return "bench"

    def read(self, origin: str, first: int, last: int, _peer: str | None) -> Iterator[Record]:
        """As `Log.read`."""
        if origin != self.origin:
            return
        for n in range(first, last + 1):
            yield Record(origin, n, "item", f"{n:032x}", 1, Payload(self._payloads[n - 1]))

    def priority(self, _have: Mapping[str, int], _peer: str | None) -> Iterator[Record]:
        """As `Log.priority`: there are none."""
        return iter(())

    def withheld(self, peer: str, vector: Mapping[str, int]) -> Mapping[str, Sequence[tuple[int, int]]]:
        """As `Log.withheld`: nothing is."""
        del peer, vector
        return {}

    def insert(self, records: Sequence[Record], _sender: str) -> Inserted:
        """As `Log.insert`: they are counted."""
        self.taken[records[0].origin] = records[-1].n
        return Inserted(new=len(records))

    def insert_early(self, records: Sequence[Record], sender: str) -> Inserted:
        """As `Log.insert_early`: there are none."""
        raise NotImplementedError

    def reborn(self, known: int) -> str:
        """As `Log.reborn`: never called here."""
        raise NotImplementedError


def take_frames() -> None:
    """Unpack what comes and acknowledge it, unread."""
    with Link(standard_streams(), Deadlines()) as link:
        while (frame := link.take(wait=True)) is not None and frame.kind is Kind.BATCH:
            link.send(Kind.ACK)
        link.send(Kind.DONE)
        link.flush()


if __name__ == "__main__":
    if sys.argv[1:] == ["frames"]:
        take_frames()
    else:
        serve(standard_streams(), Texts("b" * 32, ()))
