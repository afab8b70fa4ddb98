"""What points to a person or a machine is replaced when a session is shared; words that only look like it stay."""

import pytest

from afterword.domain.personal import Identity, Personal, owner_of

WHO = Identity("/home/mkowalska", ("mkowalska",), ("Marta Kowalska",), ("thinkpad-marta.lan", "thinkpad-marta"))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("cd /home/mkowalska/api && ls", "cd ~/api && ls"),
        ('"/home/mkowalska"', '"~"'),
        ("/home/mkowalska2/x", "~/x"),
        ("/home/other/x and /Users/Jane.Doe/y", "~/x and ~/y"),
        (r"C:\Users\jane\src", r"~\src"),
        ("C:/Users/jane/src", "~/src"),
        ("/Users/Shared/x", "/Users/Shared/x"),
        ("~/.claude/projects/-home-mkowalska-api/x", "~/.claude/projects/~-api/x"),
        ("mkowalska@thinkpad-marta:~$", "[user]@[host]:~$"),
        ("mkowalska@thinkpad-marta.lan:~$", "[email]:~$"),
        ("Author: Marta Kowalska <marta.k+git@example.co.uk>", "Author: [name] <[email]>"),
        ("git clone git@example.com:x/y", "git clone git@example.com:x/y"),
        ("MKOWALSKA_HOME=1 mkowalskas", "[user]_HOME=1 mkowalskas"),
        ("the user mkowalska's files", "the user [user]'s files"),
        ("thinkpad-marta is slow", "[host] is slow"),
        ("@decorator and x@y and a@b.c", "@decorator and x@y and a@b.c"),
        ("pkg@1.2.3 left-pad@^1.0.0", "pkg@1.2.3 left-pad@^1.0.0"),
        ("", ""),
    ],
)
def test_texts(text: str, wanted: str) -> None:
    personal = Personal(WHO)
    assert personal.scrub(text) == wanted
    assert bool(personal.counts) == (text != wanted)


def test_names_that_are_words_stay() -> None:
    personal = Personal(Identity("/root", ("root", "ci"), ("Al",), ("localhost", "laptop")))
    assert personal.scrub("root runs the build on a laptop, see /root/x and al") == (
        "root runs the build on a laptop, see ~/x and al"
    )
    assert personal.counts == {"home folder": 1}


@pytest.mark.parametrize(
    ("folder", "owner"),
    [
        ("/home/maya/src/api", "maya"),
        ("/Users/Jane.Doe", "Jane.Doe"),
        (r"C:\Users\jane\src", "jane"),
        ("/srv/api", ""),
        ("", ""),
        ("/data/home/maya", ""),
    ],
)
def test_whose_home_it_is(folder: str, owner: str) -> None:
    assert owner_of(folder) == owner


def test_counted_by_kind() -> None:
    personal = Personal(WHO)
    personal.scrub("/home/mkowalska /home/mkowalska a@example.com thinkpad-marta")
    assert personal.counts == {"home folder": 2, "e-mail address": 1, "host name": 1}
