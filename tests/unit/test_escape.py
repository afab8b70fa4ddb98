"""prose() and fence(): tables of what bites in Obsidian and of what may stay readable."""

import pytest

from afterword.domain.escape import SafeMd, fence, plain, plain_lines, prose, unescape

CASES = [
    # tags, headings, colours
    ("#fix the bug", r"\#fix the bug"),
    ("see #12 and (#tag)", r"see \#12 and (\#tag)"),
    ("C# and F#", "C# and F#"),
    ("é#tag", r"é\#tag"),
    # links, embeds, footnotes, tasks, callouts
    ("[[ -f x ]] && y", r"\[\[ -f x ]] && y"),
    ("![[secret]] ![x](http://e/x.png)", r"!\[\[secret]] !\[x](http\://e/x.png)"),
    ("[^1] and ^[inline]", r"\[\^1] and \^\[inline]"),
    ("[ ] do", r"\[ ] do"),
    ("- [ ] do", r"\- \[ ] do"),
    ("> [!note] x", r"\> \[!note] x"),
    # comments, math, highlights, code, emphasis, tables
    ("a %% b", r"a \%\% b"),
    ("%%%", r"\%\%\%"),
    ("100% sure", "100% sure"),
    ("$A and $B", r"\$A and \$B"),
    ("a == b === c = d", r"a \=\= b \=\=\= c = d"),
    ("= dv.x", r"\= dv.x"),
    ("`= this.x`", r"\`= this.x\`"),
    ("*a* _b_ snake_case __init__", r"\*a\* \_b\_ snake_case \_\_init\_\_"),
    ("~~x~~ a|b", r"\~\~x\~\~ a\|b"),
    # HTML, entities, Templater
    ("<img src=x>", "&lt;img src=x>"),
    ("<% tp.x() %>", "&lt;% tp.x() %>"),
    ("&lt; && &#35; & x &é", "&amp;lt; && &amp;\\#35; & x &amp;é"),
    # block ids
    ("text ^s-9f2c41d07a3b", r"text \^s-9f2c41d07a3b"),
    ("^id", r"\^id"),
    ("x^2", "x^2"),
    # Dataview, addresses
    ("key:: v", r"key\:\: v"),
    ("std::vector", r"std\:\:vector"),
    ("(due:: x)", r"(due\:\: x)"),
    ("note: this", "note: this"),
    ("https://a.b/c_d", r"https\://a.b/c_d"),
    ("obsidian://open", r"obsidian\://open"),
    ("WWW.example.com", r"WWW\.example.com"),
    ("me@example.com", r"me\@example.com"),
    ("@decorator", "@decorator"),
    # starts of lines
    ("---", r"\---"),
    ("===", r"\=\=\="),
    ("+ x", r"\+ x"),
    ("1. x", r"1\. x"),
    ("2) x", r"2\) x"),
    ("2026.", r"2026\."),
    ("3.14", "3.14"),
    ("4 items. 5. y", "4 items. 5. y"),
    # backslashes
    ("C:\\Users\\me", "C:\\Users\\me"),
    ("a\\*b", "a\\\\\\*b"),
    ("end\\", "end\\\\"),
    # white space and hidden characters
    ("  a\t\n b\r\n\u2028c\u0085d\xa0e  ", "a b c d e"),
    ("a\x00\x1bb", "ab"),
    ("a\u200bb\u202ec\u2066d\ufeff", "abcd"),
    ("a\U000e0041\U000e007fb", "ab"),
    ("a\ud800b", "a\ufffdb"),
    ("\ud83d\ude00", "😀"),
    ("%\u200b%", r"\%\%"),
    ("[\x00[x]]", r"\[\[x]]"),
    ("", ""),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_prose(text: str, expected: str) -> None:
    assert prose(text) == expected
    assert unescape(prose(text)) == plain(text)


def test_joiners_and_selectors_stay_only_where_a_script_or_an_emoji_needs_them() -> None:
    assert plain("👩\u200d👩\u200d👧 ❤\ufe0f\u200d🔥 نمی\u200cخواهم 1\ufe0f\u20e3") == (
        "👩\u200d👩\u200d👧 ❤\ufe0f\u200d🔥 نمی\u200cخواهم 1\ufe0f\u20e3"
    )
    assert plain("a\u200db") == "ab"
    assert plain("é" + "\ufe01\ufe02\U000e0101" * 40 + "x") == "é\ufe01x"
    assert plain("👧" + "\u200d" * 9 + "👧") == "👧\u200d👧"
    assert plain(" \u200d\ufe0f x") == "x"


def test_nothing_is_escaped_twice() -> None:
    with pytest.raises(TypeError):
        prose(prose("a"))
    with pytest.raises(TypeError):
        fence(prose("a"), "text")
    with pytest.raises(TypeError):
        SafeMd("made elsewhere")
    assert isinstance(prose("a"), SafeMd)
    assert not isinstance(prose("a") + "b", SafeMd)


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("a", "python", "````python\na\n````"),
        ("a\n", "python", "````python\na\n````"),
        ("", "text", "````text\n````"),
        ("x", "dataviewjs", "````text\nx\n````"),
        ("x", "python {.run}", "````text\nx\n````"),
        ("x", "text\nfoo", "````text\nx\n````"),
        ("x", "Python", "````text\nx\n````"),
        ("a\n`````\nb", "sh", "``````sh\na\n`````\nb\n``````"),
        ("a\r\nb\rc\u2028d\u0085e\x0cf\x1fg", "text", "````text\na\nb\nc\nd\ne\nf\ng\n````"),
        ("<% x %>", "text", "````text\n<\u200b% x %>\n````"),
        ("<\u200b% x", "text", "````text\n<\u200b% x\n````"),
        ("a\x1b[31m\tb\u202e", "text", "````text\na[31m\tb\n````"),
    ],
)
def test_fence(text: str, language: str, expected: str) -> None:
    assert fence(text, language) == expected


def test_plain_lines_keeps_spaces() -> None:
    assert plain_lines("  a\n\n\tb \n") == "  a\n\n\tb \n"


def test_long_runs_take_no_quadratic_time() -> None:
    for piece in ("\u200d", "é\u200d", "\\", "_", " \ufe0f\u200d", "1", "`", "<", "a"):
        assert unescape(prose(piece * 200_000)) == plain(piece * 200_000)
