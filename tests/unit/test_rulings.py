"""Rulings: they name what was said, not where it stands now, and what keeps apart holds."""

from afterword.compile.rulings import Rulings, ruling
from afterword.domain.articles import Ruling


def test_a_ruling_holds_from_both_sides_and_for_what_was_united_since() -> None:
    said = Rulings([Ruling("same", ("c",), ("a", "b"))])
    assert said.between({"c"}, {"a"}) == "same"
    assert said.between({"a"}, {"c", "d"}) == "same"
    assert said.between({"d"}, {"a"}) is None
    assert said.opposite({"c"}) == {"a", "b"}


def test_what_keeps_apart_outweighs_what_unites() -> None:
    said = Rulings([Ruling("same", ("c",), ("a",))])
    said.add([Ruling("distinct", ("c",), ("b",))])
    assert said.between({"c"}, {"a", "b"}) == "distinct"
    assert said.between({"c"}, {"a"}) == "same"


def test_a_replacement_has_a_direction() -> None:
    said = Rulings([Ruling("supersedes", ("new",), ("old",))])
    assert said.between({"new"}, {"old"}) == "supersedes"
    assert said.between({"old"}, {"new"}) == "distinct"


def test_what_both_say_names_neither() -> None:
    assert ruling("distinct", frozenset("abc"), frozenset("bcd")) == Ruling("distinct", ("a",), ("d",))
    assert ruling("distinct", frozenset("ab"), frozenset("abc")) is None
