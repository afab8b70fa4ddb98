"""Keys of ours in somebody's settings: what is added can be told and taken out, whatever the settings hold."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.app.vault_template import Layout, files_for
from afterword.domain.day_names import DayNames
from afterword.domain.obsidian_settings import MERGED, Merged, merge, parse, without

OURS = {
    name.rpartition("/")[2]: parse(data)
    for name, data in files_for(Layout(DayNames("daily"))).items()
    if name.startswith(".obsidian/") and name.endswith(".json")
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["types", "items", "colorGroups", "enabledCssSnippets", "graph", "bases", "status", "query", "title", "Afterword"]
)
LIKELY = st.recursive(
    JSON, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)


@pytest.mark.parametrize("name", MERGED)
@given(theirs=LIKELY)
def test_what_is_added_is_all_there_is_and_comes_out_again(name: str, theirs: Any) -> None:
    before = json.dumps(theirs)
    merged = merge(name, theirs, OURS[name])
    assert json.dumps(theirs) == before, "what was given stays as it is"
    if not isinstance(merged, Merged):
        return
    again = merge(name, merged.value, OURS[name])
    assert isinstance(again, Merged)
    assert again.added == ()
    assert again.value == merged.value
    back = without(merged.value, merged.added)
    assert {k: v for k, v in back.items() if v} == {k: v for k, v in theirs.items() if v} if merged.added else True
    if not merged.added:
        assert merged.value == theirs


@pytest.mark.parametrize("data", [b"{", b'{"a": 1, "a": 2}', b"\xff{}", b"\xef\xbb\xbf{}", b"", b"{} x"])
def test_what_is_no_plain_json_is_not_read(data: bytes) -> None:
    with pytest.raises(ValueError):  # what json says of it is not ours
        parse(data)


def test_what_is_off_stays_off_and_types_stay_theirs() -> None:
    merged = merge("core-plugins.json", {"bases": False}, OURS["core-plugins.json"])
    assert isinstance(merged, Merged)
    assert merged.value["bases"] is False
    assert merged.value["graph"] is True
    merged = merge("types.json", {"types": {"status": "multitext"}, "more": 1}, OURS["types.json"])
    assert isinstance(merged, Merged)
    assert merged.value["types"]["status"] == "multitext"
    assert merged.value["more"] == 1
    assert merged.clashes == ("status is of type multitext here, not text",)
    assert merge("core-plugins.json", ["graph"], OURS["core-plugins.json"]) == (
        "it has a form that nothing can be added to"
    )
