"""What states a claim, and what only speaks of the same things."""

import pytest

from afterword.compile.stating import states


@pytest.mark.parametrize(
    ("claim", "text", "wanted"),
    [
        ("the NAS is Synology", "The NAS is a Synology box in the hall.", True),
        ("the NAS is Synology", "Before that: the NAS is Synology, so use SMB 3.", True),
        ("the NAS is Synology", "The NAS is not Synology, it runs fnos.", False),
        ("the NAS is Synology", "The NAS runs fnos now instead of Synology.", False),
        ("the NAS is Synology", "Synology sells routers.", False),
        ("the cache lives in Redis", "The cache lives in Redis. Sessions live in Postgres.", True),
        ("the port is 8080", "The port is 9090.", False),
        ("staging runs Postgres 14", "Production runs Postgres 14.", False),
        ("a race on a shared temp directory", "Flaky login was a race on a shared temp directory.", True),
        ("", "Anything.", False),
        ("the is a", "The is a.", True),
    ],
)
def test_states(claim: str, text: str, *, wanted: bool) -> None:
    assert states(claim, text) is wanted
