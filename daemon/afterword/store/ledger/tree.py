"""The conversation tree of a source: which prompt each line hangs from, and which prompts were rewound.

A rewind writes nothing: the next prompt hangs itself from an earlier row. So among sibling prompts of one parent
only the last typed one is live, with everything below it. Other branch points (parallel tools, progress rows) have
no second prompt and stay whole. A *turn* is a prompt with everything below it down to the next prompts.

In logs that say so, each line is a turn of its own, and what lives is the way from the root to the last line.
"""

from typing import Literal, NamedTuple

from afterword.store.ledger.ledger import Ledger

_FIRST = -(2**63)
_REMEMBERED = 4096


class Placed(NamedTuple):
    """Where a line stands: `repeated` when its node was seen at another place of this source."""

    turn: int | None
    dead: bool
    repeated: bool
    rewound: list[int]
    """Turns that this line rewinds, with all turns below them."""
    revived: list[int]
    """Turns that were rewound and that this line goes on from."""


class Tree:
    """The tree of one source; changes inside the caller's transaction."""

    def __init__(self, ledger: Ledger, source: int) -> None:
        self._db = ledger.db
        self._source = source
        self._ledger = ledger
        self._nodes: dict[int, int | None] = {}
        """The turns of the lines placed last: the next line mostly hangs from one of them."""
        self._dead_turns: dict[int, bool] = {}

    def clear(self) -> None:
        """Forget the tree, before the source is read again from its start."""
        self._db.execute("DELETE FROM node WHERE source = ?", (self._source,))
        self._db.execute("DELETE FROM turn WHERE source = ?", (self._source,))
        self._nodes.clear()
        self._dead_turns.clear()

    def place(
        self,
        node: str,
        parent: str | None,
        pos: int,
        prompt: Literal["typed", "queued"] | None,
        path: Literal["next", "jump"] | None = None,
    ) -> Placed:
        """Put a line into the tree and say what follows from it."""
        its_node = self._number(node)
        plain = not (prompt or path)
        # Most lines are new and hang plainly from the one before: they take one statement.
        if not plain and (known := self._known(its_node, pos)):
            return known
        above = self._find(self._number(parent)) if parent else None
        turn = above[1] if above else None
        rewound: list[int] = []
        revived: list[int] = []
        if path:
            if path == "jump" and parent and not above:
                # The line it hangs from was lost: nobody says that something was undone.
                turn = self._last()
            elif path == "jump":
                rewound, revived = self._walk(turn)
            turn = self._db.execute(
                "INSERT INTO turn (source, parent_node, parent_turn, dead) VALUES (?, ?, ?, 0)",
                (self._source, above[0] if above else None, turn),
            ).lastrowid
        elif prompt:
            parent_node = above[0] if above else None
            if prompt == "typed" and parent_node is not None:
                rewound = self._rewind(parent_node)
            dead = self._dead(turn)
            turn = self._db.execute(
                "INSERT INTO turn (source, parent_node, parent_turn, dead) VALUES (?, ?, ?, ?)",
                (self._source, parent_node, turn, dead),
            ).lastrowid
        made = self._db.execute("INSERT OR IGNORE INTO node VALUES (?, ?, ?, ?)", (self._source, its_node, pos, turn))
        if made.rowcount == 0 and (known := self._known(its_node, pos)):
            return known
        if len(self._nodes) >= _REMEMBERED:
            self._nodes.clear()
        self._nodes[its_node] = turn
        return Placed(turn, self._dead(turn), False, rewound, revived)

    def _known(self, node: int, pos: int) -> Placed | None:
        """Where a line stands already."""
        found = self._db.execute(
            "SELECT pos, turn FROM node WHERE source = ? AND node = ?", (self._source, node)
        ).fetchone()
        return Placed(found[1], self._dead(found[1]), found[0] != pos, [], []) if found else None

    def _find(self, node: int) -> tuple[int, int | None] | None:
        """(node, its turn) of a line that was placed."""
        if node in self._nodes:
            return node, self._nodes[node]
        found: tuple[int, int | None] | None = self._db.execute(
            "SELECT node, turn FROM node WHERE source = ? AND node = ?", (self._source, node)
        ).fetchone()
        return found

    def message(self, node: str, at: int) -> int:
        """Where a message stands: where it was seen first, or `at` when it is new or was cut off."""
        self._nodes.clear()
        number = self._number(node)
        known = self._db.execute(
            "SELECT pos, turn FROM node WHERE source = ? AND node = ?", (self._source, number)
        ).fetchone()
        if known and known[1] is None:
            return int(known[0])
        self._db.execute("INSERT OR REPLACE INTO node VALUES (?, ?, ?, NULL)", (self._source, number, at))
        return at

    def cut(self, node: str, line: int) -> int | None:
        """Cut off a message and all that stand after it, as the line at position `line` says.

        Returns:
            Where the message stands; None when it does not stand (a line read twice finds what it cut itself).
        """
        self._nodes.clear()
        mark = -2 - line
        found = self._db.execute(
            "SELECT pos FROM node WHERE source = ? AND node = ? AND (turn IS NULL OR turn = ?)",
            (self._source, self._number(node), mark),
        ).fetchone()
        self._db.execute(
            "UPDATE node SET turn = ? WHERE source = ? AND turn IS NULL AND pos >= ?",
            (mark, self._source, found[0] if found else _FIRST),
        )
        return int(found[0]) if found else None

    def _rewind(self, parent_node: int) -> list[int]:
        self._dead_turns.clear()
        rewound = []
        todo = self._db.execute(
            "SELECT row FROM turn WHERE source = ? AND parent_node = ? AND dead = 0", (self._source, parent_node)
        ).fetchall()
        while todo:
            (turn,) = todo.pop()
            rewound.append(turn)
            self._db.execute("UPDATE turn SET dead = 1 WHERE row = ?", (turn,))
            todo += self._db.execute("SELECT row FROM turn WHERE parent_turn = ? AND dead = 0", (turn,)).fetchall()
        return rewound

    def _last(self) -> int | None:
        """The turn of the last line, where each line is one: the end of the way that lives."""
        found = self._db.execute("SELECT row FROM turn WHERE +source = ? ORDER BY row DESC LIMIT 1", (self._source,))
        row: tuple[int] | None = found.fetchone()
        return row[0] if row else None

    def _walk(self, end: int | None) -> tuple[list[int], list[int]]:
        """Let the way from the root to turn `end` live instead of the one to the last line, from where they part.

        Returns:
            The turns that died, and those that live again.
        """
        revived = []
        while end is not None and self._dead(end):
            revived.append(end)
            end = self._above(end)
        rewound = []
        step = self._last()
        while step is not None and step != end:
            rewound.append(step)
            step = self._above(step)
        self._dead_turns.clear()
        for rows, dead in ((rewound, 1), (revived, 0)):
            self._db.executemany("UPDATE turn SET dead = ? WHERE row = ?", [(dead, row) for row in rows])
        return rewound, revived

    def _above(self, turn: int) -> int | None:
        above: int | None = self._db.execute("SELECT parent_turn FROM turn WHERE row = ?", (turn,)).fetchone()[0]
        return above

    def _dead(self, turn: int | None) -> bool:
        if turn is None:
            return False
        dead = self._dead_turns.get(turn)
        if dead is None:
            if len(self._dead_turns) >= _REMEMBERED:
                self._dead_turns.clear()
            found = self._db.execute("SELECT dead FROM turn WHERE row = ?", (turn,)).fetchone()
            dead = self._dead_turns[turn] = bool(found[0])
        return dead

    def _number(self, node: str) -> int:
        return int.from_bytes(self._ledger.keyed_hash(node.encode("utf-8", "surrogatepass"), 8), signed=True)
