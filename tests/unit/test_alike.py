"""Which two facts are one, and which of two cannot both hold."""

import pytest

from afterword.app.alike import Words, topic_of

WORDS = Words()

SAME = [
    ("The NAS runs fnos", "the NAS runs fnos."),
    ("Use uv instead of pip in this repo", "In this repo use uv instead of pip"),
    ("The upload test needs the redis container to be running", "The upload test needs the redis container running"),
]
APART = [
    ("The API listens on port 8080", "The API listens on port 9090"),
    ("Deploys go to staging first", "Deploys go to production first"),
    ("Restarting the worker cured the leak", "Restarting the worker did not cure the leak"),
    ("Use uv in this repo", "The NAS runs fnos"),
    ("Set SMTP_PASS before the mail test", "Set API_KEY before the mail test"),
]
AGAINST = [
    ("The NAS runs fnos, not Synology", "The NAS is Synology"),
    ("The NAS is fnos", "The NAS is Synology"),
    ("The API listens on port 9090", "The API listens on port 8080"),
    ("Restarting the worker does not cure the leak", "Restarting the worker does cure the leak"),
    ("We cache in SQLite instead of Redis", "We cache in Redis"),
]
BOTH_HOLD = [
    ("The build is slow", "The build is broken"),
    ("The API uses Redis", "The API uses Postgres"),
    ("Error 500 means the proxy is down", "Error 404 means the route is missing"),
    ("The API listens on port 9090", "The worker listens on port 8080"),
    ("The staging database is db-2", "The production database is db-1"),
    ("Never push to main", "Run the tests before a push"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_one_fact(one: str, other: str) -> None:
    assert WORDS.same(one, other)
    assert WORDS.same(other, one)
    assert not WORDS.against(one, other)


@pytest.mark.parametrize(("one", "other"), APART)
def test_two_facts(one: str, other: str) -> None:
    assert not WORDS.same(one, other)
    assert not WORDS.same(other, one)


@pytest.mark.parametrize(("later", "earlier"), AGAINST)
def test_the_later_goes_against_the_earlier(later: str, earlier: str) -> None:
    assert WORDS.against(later, earlier)
    assert not WORDS.same(later, earlier)


@pytest.mark.parametrize(("later", "earlier"), BOTH_HOLD)
def test_both_hold(later: str, earlier: str) -> None:
    assert not WORDS.against(later, earlier)
    assert not WORDS.against(earlier, later)


def test_a_topic_comes_of_the_words() -> None:
    assert topic_of("The deploy to staging needs a rollback plan") == "deployment"
    assert topic_of("Something else entirely") == ""
