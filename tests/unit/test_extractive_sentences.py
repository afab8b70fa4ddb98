import pytest

from afterword.compile.sentences import cut, normal, plain, sentences, split


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Edit app/health.py first. Then run it.", ["Edit app/health.py first.", "Then run it."]),
        ("Use v1.2.3 of foo.bar. It works.", ["Use v1.2.3 of foo.bar.", "It works."]),
        ("See https://example.org/a.b?c=d. Next one.", ["See https://example.org/a.b?c=d. Next one."]),
        ("Caches, e.g. Redis, i.e. memory. Done.", ["Caches, e.g. Redis, i.e. memory.", "Done."]),
        ("Call `a. B` now. Then stop.", ["Call `a. B` now.", "Then stop."]),
        ("Wait... maybe not. Right.", ["Wait... maybe not.", "Right."]),
        ("add it to CI. also lint", ["add it to CI.", "also lint"]),
        ("Das gilt z.B. für Tests. Und d.h. mehr.", ["Das gilt z.B. für Tests.", "Und d.h. mehr."]),
        ("Dotyczy to np. testów itd. Potem koniec.", ["Dotyczy to np. testów itd.", "Potem koniec."]),
        ("Это, т.е. кэш, мешает. Убираем.", ["Это, т.е. кэш, мешает.", "Убираем."]),
        ("החלטנו לעבור. זה עובד!", ["החלטנו לעבור.", "זה עובד!"]),
        ("原因は設定です。直しました！本当？はい", ["原因は設定です。", "直しました！", "本当？", "はい"]),
        ("改用队列。不要轮询！", ["改用队列。", "不要轮询！"]),
        ("캐시를 껐다. 이제 된다.", ["캐시를 껐다.", "이제 된다."]),
        (
            "It ran SELECT … FOR UPDATE and slept. Then it woke.",
            ["It ran SELECT … FOR UPDATE and slept.", "Then it woke."],
        ),
        ("Started. … wait, it stopped.", ["Started.", "… wait, it stopped."]),
        ("So machen wir es. Aber ohne Sperre.", ["So machen wir es.", "Aber ohne Sperre."]),
        ("¿Por qué? Porque sí.", ["¿Por qué?", "Porque sí."]),
        ("", []),
    ],
)
def test_split(text: str, expected: list[str]) -> None:
    assert split(normal(text)) == expected


def texts(markdown: str) -> list[str]:
    return [sentence.text for sentence in sentences(markdown)]


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("Before.\n```py\nx = 1. Not prose.\n```\nAfter.", ["Before.", "After."]),
        ("~~~\ncode\n~~~\nText.", ["Text."]),
        ("```\nnever closed", []),
        ("| a | b |\n|---|---|\n| c. | d. |\n\nText.", ["Text."]),
        ("> quoted by the agent.\n\nOwn words.", ["Own words."]),
        ("# Title\nText.", ["Text."]),
        ("Text.\n\n    indented = code\n\nMore.", ["Text.", "More."]),
        ("- one\n- two\n  goes on\n\nEnd.", ["one", "two goes on", "End."]),
        ("A line that is wrapped in the middle because it was too long\nfor the screen.", None),
        ("first thing\nSecond thing", ["first thing", "Second thing"]),
        ("It is waiting for\nPostgres.", ["It is waiting for Postgres."]),
        ("It ran SELECT …\nFOR UPDATE.", ["It ran SELECT … FOR UPDATE."]),
        ("Two jobs (dock-1 and\nDock-2) met.", ["Two jobs (dock-1 and Dock-2) met."]),
        ("<details>\nText.\n</details>", ["Text."]),
    ],
)
def test_markdown_is_read_as_prose(markdown: str, expected: list[str] | None) -> None:
    assert texts(markdown) == (expected if expected is not None else [normal(markdown)])


def test_headings_and_leads_and_boxes_are_known() -> None:
    found = sentences("## Next steps\n- [ ] one\n- [x] two\n\nRemaining work:\n* three\n\nTODO\n- four")
    assert [(s.text, s.heading, s.listed, s.box) for s in found if s.listed] == [
        ("one", "Next steps", True, " "),
        ("two", "Next steps", True, "x"),
        ("three", "Remaining work:", True, ""),
        ("four", "TODO", True, ""),
    ]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("**Root cause:** the *pool* is ~~too~~ small", "Root cause: the pool is too small"),
        ("see [the docs](https://x.org) and [[a/b|note]]", "see the docs and note"),
        ("keep `snake_case_name` and other_snake_case as is", "keep `snake_case_name` and other_snake_case as is"),
        ("✅ done <b>now</b>", "done now"),
        ("a\u202eb\u200b", "ab"),
        ("`*not bold*`", "`*not bold*`"),
        ("[redacted:api-key] was used", "[redacted:api-key] was used"),
    ],
)
def test_plain(raw: str, expected: str) -> None:
    assert plain(raw) == expected


def test_cut_ends_at_a_word() -> None:
    assert cut("one two three four", 12) == "one two…"
    assert cut("short", 12) == "short"
    assert cut("a `b c d e f g` h", 12) == "a b c d e…"
    assert len(cut("x" * 500, 240)) == 240


def test_every_sentence_is_found_in_its_text() -> None:
    markdown = "# T\n\nOne **two**\nthree. Four\tfive.\n\n1. six\n   seven.\n- [ ] eight [nine](x)."
    for sentence in sentences(markdown):
        assert sentence.raw in normal(markdown)
