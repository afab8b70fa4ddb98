"""The one choke point: plain text in, `Redacted` out."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from afterword.domain.errors import UserError
from afterword.redact.engines import AutoEngine, Search, pick
from afterword.redact.exits import Tally
from afterword.redact.finding import Span, byte_spans, merged, rule_spans, widened
from afterword.redact.looks import MARKER
from afterword.redact.marking import _TOKEN, mark
from afterword.redact.rules import RULES, RULES_VERSION

if TYPE_CHECKING:
    from afterword.redact.text import Redacted

Json: TypeAlias = "str | int | float | bool | Mapping[str, Json] | Sequence[Json] | None"
GROWTH = 5
"""A redacted text is at most this many times as long as it was; user rules (`extra`) aside."""

PLAIN = re.compile(r"[A-Za-z0-9_.:+/@-]{0,80}")
"""What an id, a slug, a day, a time, a zone or a key of our own records looks like."""

_MARKER = re.compile(MARKER.pattern.encode())
_PASSES = 8
_EXTRA = len(RULES)


class Redactor:
    """Replaces secrets by `[redacted:<kind>]`.

    Safe to share between threads (a lock is held while a text is scanned). Not to be carried over a fork in
    mid-scan; a worker process makes its own.
    """

    def __init__(self, engine: str = "auto", extra: Sequence[str] = (), allow: Sequence[str] = ()) -> None:
        """`extra` and `allow` are regular expressions of Python's `re`: more to redact, and what to leave alone.

        Raises:
            UserError: one of them is no regular expression, or matches the empty text.
        """
        self._engine, self.fallback = pick(engine, RULES)
        self._scan = self._engine.scan
        self._extra = [_compiled("extra", pattern) for pattern in extra]
        self._allow = [_compiled("allow", pattern) for pattern in allow]
        self._lock = Lock()
        self.engine_name: str = self._engine.name
        self.version: int = RULES_VERSION
        self.rules: tuple[str, tuple[str, ...], tuple[str, ...]] = (engine, tuple(extra), tuple(allow))
        """What it was made with, so that another process can make the same."""
        self.patterns: tuple[tuple[str, ...], tuple[str, ...]] = (tuple(extra), tuple(allow))
        """The user's own rules: what is redacted beside the built-in ones, and what is not."""
        self.counts: dict[str, int] = {}
        """Replaced values by kind since this redactor was made."""
        self.exits = Tally()

    def warm(self, compiled: bytes | None = None) -> bytes | None:
        """Compile what makes it fast now, not when it first pays, or take over what this gave another process of this
        very program. None where nothing can be handed on."""
        with self._lock:
            if not isinstance(self._engine, AutoEngine):
                return None
            return self._engine.warm(compiled)

    def redact(self, text: str) -> Redacted:
        """`text` without its secrets. Doing it twice changes nothing; a lone surrogate becomes U+FFFD."""
        return self._redact(text, own=True)

    def _redact(self, text: str, *, own: bool) -> Redacted:
        """`own`: the user's patterns count too."""
        try:
            data = text.encode()
        except UnicodeEncodeError:
            text = _repaired(text)
            data = text.encode()
        with self._lock:
            hits = self._scan(data)
            if not hits and not (own and self._extra):
                return mark(text, _TOKEN)
            changed = self._apply(data, hits, text, own=own)
        return mark(text if changed is None else changed, _TOKEN)

    def plain(self, text: str) -> Redacted:
        """`text` as `document` takes it under a key named in `plain`: an id that things are found by."""
        return self._ours(text)

    def tree(self, value: Json, *, plain: Collection[str] | None = None) -> Json:
        """The same shape with every string and every key redacted.

        A string under a key that names a credential is judged as that credential, as it would be in the text
        `"key": "value"`; so is the `value` beside a `name`. With `plain` the tree is a record of ours, see `document`.
        """
        return self._structure(value) if _all_ours(value, plain) else self._tree(value, plain)

    def document(self, value: Json, *, plain: Collection[str] = ()) -> Redacted:
        """A record of ours, redacted, as compact JSON with sorted keys: always valid, and final for the built-in rules.

        A pattern of the user's such as `\\d+` or `UTC` is meant for what people and agents wrote; in the form of a
        record it would destroy the record. So `[redact] extra` is not applied to keys, nor to any string under
        a key named in `plain` (`""` names a value that stands under no key, as in a record that is a list).
        Name there what the program itself made: ids, segment keys, days, times, zones, names of harnesses and engines.
        Leave out what came from outside, also when it is short: titles, paths, branches, projects, models.

        The built-in rules hold everywhere. A key or a `plain` value that does not look like one (`PLAIN`: at most 80
        ASCII letters, digits and `_.:+/@-`) is redacted like any text.

            redactor.document(builtins, plain=("session", "day", "time", "harness", "origin", "withdrawn_by"))
            redactor.document([["", "Europe/Vienna"]], plain=("",))
        """
        clean = self.tree(value, plain=plain)
        for form in _forms(clean, plain):
            text = _dumped(form)
            with self._lock:
                data = text.encode()
                changed = self._apply(data, self._scan(data), text, own=False)
            if changed is None:
                break
            if _same_form(changed, form, plain):
                text = changed
                break
        return mark(text, _TOKEN)

    def joined(self, documents: Mapping[str, Redacted], plain: Collection[str] = ()) -> Redacted:
        """One document of several, under keys of ours; what is in them is final already. `plain` as for `document`."""
        text = "{" + ",".join(f'"{key}":{document}' for key, document in documents.items()) + "}"
        data = text.encode()
        with self._lock:
            hits = self._scan(data)
            changed = self._apply(data, hits, text, own=False) if hits else None
        if changed is None:
            return mark(text, _TOKEN)
        return self.document({key: json.loads(document) for key, document in documents.items()}, plain=plain)

    def _tree(self, value: Json, plain: Collection[str] | None) -> Json:
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, Mapping):
            return self._mapping(value, plain)
        if isinstance(value, Sequence):
            return [self._tree(item, plain) for item in value]
        return value

    def _mapping(self, value: Mapping[str, Json], plain: Collection[str] | None) -> dict[str, Json]:
        named = next((value[word] for word in ("name", "key", "Name", "Key") if isinstance(value.get(word), str)), None)
        result: dict[str, Json] = {}
        for key, item in value.items():
            clean = _unlike(result, self.redact(key) if plain is None else self._ours(key))
            if plain is not None and key in plain:
                result[clean] = self._structure(item)
            else:
                context = named if isinstance(named, str) and key in ("value", "Value") else key
                result[clean] = self._under(context, item, plain)
        return result

    def _under(self, key: str, item: Json, plain: Collection[str] | None) -> Json:
        if isinstance(item, str):
            return self.valued(key, item)
        if isinstance(item, Sequence):
            return [self.valued(key, each) if isinstance(each, str) else self._tree(each, plain) for each in item]
        return self._tree(item, plain)

    def _structure(self, value: Json) -> Json:
        """The same value, of which every string is ours."""
        return value if self._harmless(value) else self._each(value)

    def _harmless(self, value: Json) -> bool:
        """Whether one look at all of a value shows that no string of it holds anything: as JSON they stand in it as
        they are, where nothing had to be escaped, and a quote is a boundary as its end would be."""
        if self._extra or not isinstance(value, Mapping | list | tuple):
            return False
        text = _dumped(value)
        if "\\" in text or not text.isascii():
            return False
        with self._lock:
            return not self._scan(text.encode())

    def _each(self, value: Json) -> Json:
        if isinstance(value, str):
            return self._ours(value)
        if isinstance(value, Mapping):
            result: dict[str, Json] = {}
            for key, item in value.items():
                result[_unlike(result, self._ours(key))] = self._each(item)
            return result
        if isinstance(value, Sequence):
            return [self._each(item) for item in value]
        return value

    def _ours(self, text: str) -> Redacted:
        return self._redact(text, own=not PLAIN.fullmatch(text))

    def valued(self, key: str, text: str) -> Redacted:
        """`text` redacted as the value of `key`: under `password` a plain word is a secret too."""
        clean = self.redact(text)
        if not text or len(key) > 200 or "\n" in text.strip():
            return clean
        quoted = text.strip().replace("\\", "").replace('"', "").replace("'", "").replace("`", "")
        line = f'"{_repaired(key)}": "{_repaired(quoted)}"'
        lead = len(f'"{_repaired(key)}": "'.encode())
        data = line.encode()
        with self._lock:
            for start, end, rule in self._spans(data, self._scan(data), line, own=False):
                if start == lead and end == len(data) - 1 and not self._allowed(text):
                    kind = RULES[rule].kind
                    self.counts[kind] = self.counts.get(kind, 0) + 1
                    return mark(f"[redacted:{kind}]", _TOKEN)
        return clean

    def _allowed(self, text: str) -> bool:
        return any(pattern.fullmatch(text) for pattern in self._allow)

    def _apply(self, data: bytes, hits: Sequence[tuple[int, Search]], text: str, *, own: bool = True) -> str | None:
        """The text with its secrets replaced; None when there are none. Repeats until nothing is left to find,
        since a replaced value can uncover the next one."""
        changed: str | None = None
        for _ in range(_PASSES):
            spans = self._spans(data, hits, text, own=own)
            if not spans:
                break
            pieces: list[bytes] = []
            at = 0
            for start, end, number in spans:
                kind = RULES[number].kind if number < _EXTRA else "extra"
                self.counts[kind] = self.counts.get(kind, 0) + 1
                pieces += (data[at:start], b"[redacted:", kind.encode(), b"]")
                at = end
            pieces.append(data[at:])
            data = b"".join(pieces)
            changed = text = data.decode(errors="replace")
            hits = self._scan(data)
        return changed

    def _spans(self, data: bytes, hits: Sequence[tuple[int, Search]], text: str, *, own: bool) -> list[Span]:
        """What is to be replaced, in order, without overlaps."""
        found: list[Span] = []
        for number, search in hits:
            rule_spans(number, search, data, found)
        if own:
            for pattern in self._extra:
                found += [(start, end, _EXTRA) for start, end in byte_spans(pattern, text)]
        if not found:
            return found
        markers = [match.span() for match in _MARKER.finditer(data)] if b"[redacted:" in data else []
        kept = [wide for span in found if (wide := widened(span, markers))] if markers else found
        if self._allow and kept:
            allowed = [place for pattern in self._allow for place in byte_spans(pattern, text)]
            kept = [span for span in kept if not any(start <= span[0] and span[1] <= end for start, end in allowed)]
        return merged(kept)


def at_exit(engine: str, extra: Sequence[str], allow: Sequence[str]) -> Redactor:
    """A redactor for what a command prints: with the user's own rules, or without where they cannot be read."""
    try:
        return Redactor(engine, extra, allow)
    except UserError:
        return Redactor(engine)


def _compiled(setting: str, pattern: str) -> re.Pattern[str]:
    try:
        compiled = re.compile(pattern)
    except re.error as err:
        raise UserError(f"[redact] {setting}: {pattern!r} is no regular expression: {err}", "see Python's re") from err
    if compiled.search(""):
        raise UserError(f"[redact] {setting}: {pattern!r} matches the empty text", "make it match at least a character")
    return compiled


def _repaired(text: str) -> str:
    """`text` with surrogate pairs joined and lone ones replaced."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _dumped(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _unlike(result: Mapping[str, Json], key: Redacted) -> Redacted:
    """`key`, or a longer one when `result` has it already."""
    while key in result:
        key = mark(key + "~", _TOKEN)
    return key


def _all_ours(value: Json, plain: Collection[str] | None) -> bool:
    return plain is not None and "" in plain and not isinstance(value, Mapping)


def _forms(value: Json, plain: Collection[str]) -> Iterator[Json]:
    """The record, and what is left of it when that is no good.

    Two harmless strings can make a secret side by side. That must not cost the document its form: then only the
    form is kept, and where the form itself is the secret, nothing but the number of its parts.
    """
    yield value
    if not _all_ours(value, plain):
        yield _blank(value, plain)
    yield _blank(value, None)


def _same_form(text: str, value: Json, plain: Collection[str] | None) -> bool:
    """Whether `text` is a document with the keys and the structure of `value`."""
    try:
        found: Json = json.loads(text)
    except ValueError:
        return False
    return bool(_blank(found, plain) == json.loads(_dumped(_blank(value, plain))))


def _blank(value: Json, plain: Collection[str] | None) -> Json:
    """The same shape without its texts; without `plain` also without its keys."""
    if isinstance(value, str):
        return "[redacted:document]" if value else value
    if isinstance(value, Mapping):
        if plain is None:
            return {f"{number}": _blank(item, plain) for number, item in enumerate(value.values())}
        return {key: item if key in plain else _blank(item, plain) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_blank(item, plain) for item in value]
    return value
