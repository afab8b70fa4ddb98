"""What a reply of aider's model would change, file by file: SEARCH/REPLACE blocks, diffs, or whole files."""

import re

from afterword.capture.harness.claude_tools import signed

_SEARCH = re.compile(r"<{5,9} SEARCH>?\s*")
_DIVIDER = re.compile(r"={5,9}\s*")
_REPLACE = re.compile(r">{5,9} REPLACE\s*")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})(.*)")
_DIFF_FILE = re.compile(r"\+\+\+ (?:b/)?(\S.*)")
_DECORATION = "`*#: \t"
_LOOK_BACK = 12


def spans(reply: str, path: str) -> str:
    """What the reply puts into `path`, as aider names it; empty when the reply does not show it."""
    changed = _replaced(reply) or _diffs(reply) or _wholes(reply)
    own = [text for named, text in changed if _same(named, path)]
    return "\n@@\n".join(own)


def _same(named: str, path: str) -> bool:
    """Models write a path as they like: decorated, or only its end."""
    return bool(named) and (named == path or path.endswith("/" + named) or named.endswith("/" + path))


def _name(line: str) -> str:
    return line.strip(_DECORATION)


def _replaced(reply: str) -> list[tuple[str, str]]:
    """(path, span) of every SEARCH/REPLACE block; one without a path has that of the block before."""
    out: list[tuple[str, str]] = []
    old: list[str] = []
    new: list[str] = []
    into: list[str] | None = None
    path = ""
    lines = reply.split("\n")
    for n, line in enumerate(lines):
        if into is None:
            if _SEARCH.fullmatch(line):
                path = _above(lines, n) or path
                old, new = [], []
                into = old
        elif into is old and _DIVIDER.fullmatch(line):
            into = new
        elif into is new and _REPLACE.fullmatch(line):
            out.append((path, signed("\n".join(old), "\n".join(new))))
            into = None
        else:
            into.append(line)
    return out


def _above(lines: list[str], at: int) -> str:
    """The path that a block belongs to: right above it, behind its fence, or above its fence."""
    for n in range(at - 1, max(-1, at - _LOOK_BACK), -1):
        fence = _FENCE.match(lines[n])
        if fence is None:
            if n == at - 1 and _path_like(lines[n]):
                return _name(lines[n])
            if _REPLACE.fullmatch(lines[n]):
                return ""
            continue
        if _path_like(fence[2]):
            return _name(fence[2])
        named = next((line for line in reversed(lines[max(0, n - 2) : n]) if line.strip()), "")
        return _name(named) if _path_like(named) else ""
    return ""


def _path_like(line: str) -> bool:
    name = _name(line)
    return bool(name) and " " not in name and ("." in name or "/" in name)


def _fenced(reply: str) -> list[tuple[str, str, list[str]]]:
    """(line above, what stands behind the fence, lines) of every closed fence."""
    out: list[tuple[str, str, list[str]]] = []
    fence = info = above = last = ""
    inside: list[str] = []
    for line in reply.split("\n"):
        found = _FENCE.match(line)
        if fence and found and not found[2].strip() and found[1].startswith(fence):
            out.append((above, info, inside))
            fence = ""
        elif fence:
            inside.append(line)
        elif found:
            fence, info, above, inside = found[1], found[2].strip(), last, []
        elif line.strip():
            last = line
    return out


def _diffs(reply: str) -> list[tuple[str, str]]:
    out: list[tuple[str, str]] = []
    for _, info, lines in _fenced(reply):
        if info == "diff":
            path = ""
            for line in lines:
                named = _DIFF_FILE.fullmatch(line)
                if named:
                    path = named[1].strip()
                elif path and not line.startswith("--- "):
                    out.append((path, line))
    merged: dict[str, list[str]] = {}
    for path, line in out:
        merged.setdefault(path, []).append(line)
    return [(path, "\n".join(lines)) for path, lines in merged.items()]


def _wholes(reply: str) -> list[tuple[str, str]]:
    return [(_name(above), "\n".join(lines)) for above, info, lines in _fenced(reply) if info != "diff"]
