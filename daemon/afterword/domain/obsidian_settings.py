"""Our keys into somebody's Obsidian settings, and out again: only what is absent is added, only what is ours goes.

A settings file is a JSON value. What was added is told as steps, each a path into that value and what lies there.
"""

import json
from typing import Any, Final, TypeAlias

import msgspec

Json: TypeAlias = Any
"""A parsed JSON value of somebody else's: only looked at where its shape was checked."""


class Added(msgspec.Struct, frozen=True):
    """One thing of ours in a settings file: a key with its value, or (`member`) a member of a list."""

    path: tuple[str, ...]
    value: Json
    member: bool = False


class Merged(msgspec.Struct, frozen=True):
    """A settings file with our keys in it; `clashes` are in words, for the person."""

    value: Json
    added: tuple[Added, ...]
    clashes: tuple[str, ...] = ()


MERGED: Final = (
    "appearance.json", "core-plugins.json", "types.json", "graph.json", "bookmarks.json", "daily-notes.json",
    "templates.json",
)  # fmt: skip
"""The files that get keys of ours in a vault that has them; every other one is left as it is."""
_MAPS: Final = {"core-plugins.json": (), "types.json": ("types",)}
_LISTS: Final = {"appearance.json": ("enabledCssSnippets", ""), "graph.json": ("colorGroups", "query")}
_ONLY_NEW: Final = ("daily-notes.json", "templates.json")


def parse(data: bytes) -> Json:
    """The JSON value of a settings file.

    Raises:
        ValueError: it is no JSON, or has a key twice, which would be lost.
    """

    def once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("it has a key twice")
        return found

    return json.loads(data.decode("utf-8"), object_pairs_hook=once)


def written(value: Json) -> bytes:
    """A settings file as Obsidian writes it."""
    return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "surrogatepass")


def merge(name: str, theirs: Json, ours: Json) -> Merged | str:
    """Their settings with what is absent of ours; or why they are left alone."""
    if name in _ONLY_NEW:
        return Merged(theirs, ())
    if not isinstance(theirs, dict):
        # The old form of core-plugins.json lists what is on: what is missing there was never said to be off.
        return "it has a form that nothing can be added to"
    value = json.loads(json.dumps(theirs))
    added: list[Added] = []
    clashes: list[str] = []
    if name in _MAPS:
        where = _MAPS[name]
        there, mine = _at(value, where, {}), _at(ours, where, {})
        if not isinstance(there, dict):
            return f"its {'.'.join(where)} has a form that nothing can be added to"
        for key, given in mine.items():
            if key not in there:
                there[key] = given
                added.append(Added((*where, key), given))
            elif where and there[key] != given:
                clashes.append(f"{key} is of type {there[key]} here, not {given}")
        if where and where[0] not in theirs and added:
            value[where[0]] = there
    elif name in _LISTS:
        key, by = _LISTS[name]
        there = value.setdefault(key, []) if _at(ours, (key,), []) else []
        if not isinstance(there, list):
            return f"its {key} has a form that nothing can be added to"
        known = [_name_of(member, by) for member in there]
        for member in _at(ours, (key,), []):
            if _name_of(member, by) not in known:
                there.append(member)
                added.append(Added((key,), member, member=True))
    elif name == "bookmarks.json":
        there = value.setdefault("items", [])
        if not isinstance(there, list):
            return "its items have a form that nothing can be added to"
        for group in _at(ours, ("items",), []):
            if all(_name_of(member, "title") != group["title"] for member in there):
                there.append(group)
                added.append(Added(("items",), group, member=True))
    return Merged(value if added else theirs, tuple(added), tuple(clashes))


def without(value: Json, added: tuple[Added, ...]) -> Json:
    """The settings without what was added, as far as that is still as it was added."""
    value = json.loads(json.dumps(value))
    for one in added:
        holder = _at(value, one.path if one.member else one.path[:-1], None)
        if one.member and isinstance(holder, list) and one.value in holder:
            holder.remove(one.value)
        elif not one.member and isinstance(holder, dict) and holder.get(one.path[-1]) == one.value:
            del holder[one.path[-1]]
    return value


def _at(value: Json, path: tuple[str, ...], default: Json) -> Json:
    for key in path:
        if not isinstance(value, dict):
            return default
        value = value.get(key, default)
    return value


def _name_of(member: Json, by: str) -> Json:
    return member.get(by) if by and isinstance(member, dict) else member
