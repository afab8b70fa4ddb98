"""The engines: which rules may hit a text, and where. All give the same matches; they differ in speed alone.

`hyperscan` passes once over the bytes with every rule and searches with re2 (or re) only for the rules that hit.
`re2` does the same with an re2 set. `python` looks for the literals a rule starts with. No engine may be used by
two threads at once: hyperscan's scratch space and the memory of its last matches belong to one scan. The
`Redactor` holds a lock around it.
"""

from __future__ import annotations

import importlib
import re
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from threading import Thread
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from afterword.redact.rule import Rule

EngineName: TypeAlias = Literal["hyperscan", "re2", "python"]


class Match(Protocol):
    def span(self, group: int = 0, /) -> tuple[int, int]: ...


Search: TypeAlias = Callable[[bytes, int], Match | None]
"""The leftmost match in the bytes at or after a position."""


class Engine(Protocol):
    @property
    def name(self) -> EngineName: ...

    def scan(self, data: bytes) -> Sequence[tuple[int, Search]]:
        """The numbers of the rules that may hit, ascending, each with its search for this very data."""


_BOUNDED = re.compile(r"\{(\d+),\d+\}")


def gate(pattern: str) -> bytes:
    """`pattern` with its repeats unbounded: it matches at least where `pattern` does, and its automaton is small."""

    def loose(bound: re.Match[str]) -> str:
        least = int(bound.group(1))
        return "*" if least == 0 else "+" if least == 1 else f"{{{least},}}"

    return _BOUNDED.sub(loose, pattern).encode()


def pick(name: str, rules: Sequence[Rule]) -> tuple[Engine, str]:
    """The engine and why it is not the fastest ("" when it is). `auto` takes the fastest that works here."""
    if name == "python":
        return PythonEngine(rules), ""
    if name == "re2":
        return Re2Engine(rules), ""
    if name == "hyperscan":
        return HyperscanEngine(rules), ""
    if name != "auto":
        raise ValueError(f"unknown redaction engine {name!r}")
    reasons = []
    for module, maker in (("hyperscan", AutoEngine), ("re2", Re2Engine)):
        try:
            importlib.import_module(module)
            engine: Engine = maker(rules)
        except (ImportError, OSError) as err:
            reasons.append(f"{module} is not usable here: {err}")
        else:
            return engine, "; ".join(reasons)
    return PythonEngine(rules), "; ".join(reasons)


class AutoEngine:
    """Hyperscan once it pays: compiling its database takes as long as the plain engine needs for a megabyte or two.

    A command that prints a page never compiles it; a daemon or an import does so once. An import waits for it, it has
    megabytes to go; where texts come in slowly another thread does it, for it takes seconds on a busy machine.
    """

    name: EngineName = "hyperscan"
    WARM_BYTES = 500_000
    IMPORT_S = 5.0
    """What takes longer to bring so many bytes is no import."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._seen_bytes = 0
        self._since_s = 0.0
        self._warming: Thread | None = None
        self._engine: Engine = PythonEngine(rules)

    def scan(self, data: bytes) -> Sequence[tuple[int, Search]]:
        if self._seen_bytes < self.WARM_BYTES:
            self._since_s = self._since_s or time.monotonic()
            self._seen_bytes += len(data)
            if self._seen_bytes >= self.WARM_BYTES:
                if time.monotonic() - self._since_s <= self.IMPORT_S:
                    self._warm()
                else:
                    self._warming = Thread(target=self._warm, name="redaction", daemon=True)
                    self._warming.start()
        return self._engine.scan(data)

    def warm(self, compiled: bytes | None = None) -> bytes | None:
        """Be as fast as possible from now on; `compiled` is what this gave in another process of this program."""
        if not isinstance(self._engine, HyperscanEngine):
            self._engine = HyperscanEngine(self._rules, compiled)
            self._seen_bytes = self.WARM_BYTES
        return self._engine.compiled()

    def _warm(self) -> None:
        self._engine = HyperscanEngine(self._rules)


_SHORT_BYTES = 400
"""Up to here it is quicker to look at what a text has than at every literal: ids, paths, names are that short."""


class PythonEngine:
    """Standard library only: a rule is tried where one of its literals stands."""

    name: EngineName = "python"

    def __init__(self, rules: Sequence[Rule]) -> None:
        # Compiled when first needed: all of them take a tenth of a second, which a command that prints a page has not.
        self._sources = [rule.pattern.encode() for rule in rules]
        self._patterns: dict[int, re.Pattern[bytes]] = {}
        self._needs: list[tuple[int, bytes]] = []
        by_literal: dict[bytes, list[int]] = {}
        for number, rule in enumerate(rules):
            for start in rule.starts:
                by_literal.setdefault(start.encode(), []).append(number)
            if not rule.starts:
                self._needs.append((number, rule.needs.encode()))
        self._by_literal = tuple(by_literal.items())
        self._by_pair: dict[bytes, list[tuple[bytes, list[int]]]] = {}
        for literal, numbers in self._by_literal:
            self._by_pair.setdefault(literal[:2] if len(literal) > 1 else b"", []).append((literal, numbers))

    def scan(self, data: bytes) -> list[tuple[int, Search]]:
        lower = data.lower()
        places: dict[int, set[int]] = {}
        for literal, numbers in self._begun(lower):
            if literal in lower:
                positions = _positions(lower, literal)
                for number in numbers:
                    places.setdefault(number, set()).update(positions)
        found: list[tuple[int, Search]] = [(number, _trier(self._pattern(number), at)) for number, at in places.items()]
        found += [(number, self._pattern(number).search) for number, literal in self._needs if literal in lower]
        found.sort(key=lambda row: row[0])
        return found

    def _begun(self, lower: bytes) -> Sequence[tuple[bytes, list[int]]]:
        """The literals that may stand in a text: in a short one few have the two bytes that they begin with."""
        if len(lower) > _SHORT_BYTES:
            return self._by_literal
        pairs = {b"", *(lower[at : at + 2] for at in range(len(lower)))}
        return [row for pair in pairs for row in self._by_pair.get(pair, ())]

    def _pattern(self, number: int) -> re.Pattern[bytes]:
        found = self._patterns.get(number)
        if found is None:
            found = self._patterns[number] = re.compile(self._sources[number])
        return found


def _positions(lower: bytes, literal: bytes) -> list[int]:
    places = []
    here = lower.find(literal)
    while here >= 0:
        places.append(here)
        here = lower.find(literal, here + 1)
    return places


def _trier(pattern: re.Pattern[bytes], places: set[int]) -> Search:
    tries = sorted({place - lead for place in places for lead in (0, 1, 2) if place >= lead})

    def search(data: bytes, at: int) -> Match | None:
        for number in range(bisect_left(tries, at), len(tries)):
            found = pattern.match(data, tries[number])
            if found:
                return found
        return None

    return search


class Re2Engine:
    """google-re2: linear time, one set for the gate."""

    name: EngineName = "re2"

    def __init__(self, rules: Sequence[Rule]) -> None:
        import re2  # noqa: PLC0415 - optional: a platform without a wheel does without

        options = _re2_options(re2)
        gates = re2.Set.SearchSet(options)
        for rule in rules:
            gates.Add(gate(rule.gate or rule.pattern))
        gates.Compile()
        self._which: Callable[[bytes], list[int] | None] = gates.Match
        whole = b"|".join(b"(?:" + gate(rule.gate or rule.pattern) + b")" for rule in rules)
        self._any: Search = re2.compile(whole, options).search
        self._searches = re2_searches(rules)

    def scan(self, data: bytes) -> list[tuple[int, Search]]:
        if self._any(data, 0) is None:
            return []
        # The set answers None when its automaton runs out of memory: then every rule has to look for itself.
        which = self._which(data)
        return [
            (number, self._searches[number])
            for number in (range(len(self._searches)) if which is None else sorted(which))
        ]


def _re2_options(re2: Any) -> Any:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.max_mem = 256 << 20
    return options


def re2_searches(rules: Sequence[Rule]) -> list[Search]:
    """One search per rule, by re2."""
    import re2  # noqa: PLC0415 - optional, see above

    return [re2.compile(rule.pattern.encode(), _re2_options(re2)).search for rule in rules]


_COMPILED: dict[tuple[bytes, ...], bytes] = {}
"""What this process has compiled, by its expressions: compiling takes a second, loading it a hundredth. Every redactor
has a database of its own, for what scans one may not be shared."""


class HyperscanEngine:
    """Hyperscan as the gate; re2 searches for the rules that hit, or re where re2 is missing."""

    name: EngineName = "hyperscan"

    def __init__(self, rules: Sequence[Rule], compiled: bytes | None = None) -> None:
        """`compiled` is what another one made of the very same rules, on this machine."""
        import hyperscan  # noqa: PLC0415 - optional: a platform without a wheel does without

        expressions = [gate(rule.gate or rule.pattern) for rule in rules]
        compiled = compiled or _COMPILED.get(tuple(expressions))
        if compiled is not None:
            self._database = hyperscan.loadb(compiled, mode=hyperscan.HS_MODE_BLOCK)
            self._database.scratch = hyperscan.Scratch(self._database)
        else:
            count = len(rules)
            self._database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
            self._database.compile(
                expressions=expressions,
                ids=list(range(count)),
                elements=count,
                flags=[hyperscan.HS_FLAG_SINGLEMATCH] * count,
            )
            _COMPILED[tuple(expressions)] = hyperscan.dumpb(self._database)
        self._hits: list[int] = []
        append = self._hits.append

        def note(number: int, _start: int, _end: int, _flags: int, _context: object) -> None:
            append(number)

        self._note = note
        try:
            self._searches = re2_searches(rules)
        except ImportError:
            self._python = PythonEngine(rules)
            self._searches = []

    def compiled(self) -> bytes:
        """The compiled rules, for other processes on this machine: that takes a second otherwise."""
        import hyperscan  # noqa: PLC0415 - it is there, or this engine were not

        data: bytes = hyperscan.dumpb(self._database)
        return data

    def scan(self, data: bytes) -> Sequence[tuple[int, Search]]:
        hits = self._hits
        hits.clear()
        self._database.scan(data, match_event_handler=self._note)
        if not hits:
            return ()
        if not self._searches:
            wanted = set(hits)
            return [row for row in self._python.scan(data) if row[0] in wanted]
        return [(number, self._searches[number]) for number in sorted(hits)]
