"""What a person changed in a section that has several revisions in a note."""

from afterword.domain.section_edits import SectionEdits, Standing, Told, edits_of
from afterword.domain.sections import Parsed, Texts


def told(*texts: str) -> Told:
    return lambda _part, text: text in texts


def section(rev: int, *lessons: str, said: Told | None, closed: bool = True, goes_on: bool = False) -> Standing:
    return Standing(rev, Parsed(Texts("c", lessons=lessons), goes_on=goes_on), closed, said)


NONE = SectionEdits(0)
NOW = Texts("c", lessons=("a", "b", "c1"))


def test_a_later_revision_that_repeats_nothing_takes_nothing_out() -> None:
    first = section(1, "a", "b", said=told("c", "a", "b"))
    second = section(2, "c1", said=told("c", "c1"), goes_on=True)
    assert edits_of([first, second], NOW, 2, NONE, (1, 2)).empty


def test_a_change_in_either_revision_counts() -> None:
    first = section(1, "a", "mine", said=told("c", "a", "b"))
    second = section(2, "yours", said=told("c", "c1"), goes_on=True)
    found = edits_of([first, second], NOW, 2, NONE, (1, 2))
    assert found.removed == {"lessons": ("b", "c1")}
    assert found.added == {"lessons": ("mine", "yours")}
    # And back again.
    first = section(1, "a", "b", said=told("c", "a", "b"))
    assert edits_of([first, second], NOW, 2, found, (1, 2)).removed == {"lessons": ("c1",)}


def test_what_a_revision_said_that_the_newest_does_not_is_nobodys_edit() -> None:
    first = section(1, "a", "b", "old", said=told("c", "a", "b", "old"))
    second = section(2, "c1", said=told("c", "c1"), goes_on=True)
    assert edits_of([first, second], NOW, 2, NONE, (1, 2)).empty


def test_without_the_earlier_revision_nothing_counts_as_taken_out_and_what_was_known_stays() -> None:
    second = section(2, "c1", said=told("c", "c1"), goes_on=True)
    known = SectionEdits(1, {"lessons": ("b",)}, {"lessons": ("mine",)}, ("task",))
    found = edits_of([second], NOW, 2, known, (1, 2))
    assert (found.removed, found.added, found.done) == (known.removed, known.added, known.done)


def test_a_revision_of_an_older_version_keeps_what_was_read_off_it() -> None:
    first = section(1, "a", "mine", said=None)
    second = section(2, "c1", said=told("c", "c1"), goes_on=True)
    known = SectionEdits(1, {"lessons": ("b",)}, {"lessons": ("mine",)})
    found = edits_of([first, second], NOW, 2, known, (2,))
    assert (found.removed, found.added) == (known.removed, known.added)


def test_an_older_version_wrote_the_whole_section_again() -> None:
    second = section(2, "a", "c1", said=None)
    assert edits_of([second], NOW, 2, SectionEdits(2), ()).removed == {"lessons": ("b",)}


def test_what_is_cut_short_keeps_what_was_taken_out_before() -> None:
    known = SectionEdits(1, {"lessons": ("b",)})
    cut = section(1, "a", said=told("c", "a", "b", "c1"), closed=False)
    assert edits_of([cut], NOW, 1, known, (1,)).removed == {"lessons": ("b",)}


def test_ticks_are_kept_by_text() -> None:
    parsed = Parsed(Texts("c", actions=("one", "two")), done=(1,))
    found = edits_of([Standing(1, parsed, True, None)], Texts("c", actions=("one", "two")), 1, NONE, ())
    assert found.done == ("two",)
    assert not found.empty
