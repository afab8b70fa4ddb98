"""Which questions are held against the floor for English, and which against the one for other languages."""

import pytest

from afterword.index.background import ENGLISH, OTHERS
from afterword.index.scripts import is_english


@pytest.mark.parametrize(
    "text",
    [
        *ENGLISH,
        "TenantShardError",
        "--no-verify-jwt",
        "git push --force-with-lease",
        "café au lait is what we call it in the README of the shop",
    ],
)
def test_english_and_mere_names(text: str) -> None:
    assert is_english(text)


@pytest.mark.parametrize("text", [*OTHERS, "איך מגדלים עגבניות במרפסת", "", "42", "wie wir das gemacht haben"])
def test_other_languages_and_no_words(text: str) -> None:
    assert not is_english(text)
