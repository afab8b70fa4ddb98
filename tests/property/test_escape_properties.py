"""A Markdown tokenizer as the judge of prose() and fence(), and scanners for what only Obsidian knows."""

import re
from importlib.util import find_spec

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.front_matter import front_matter_plugin
from mdit_py_plugins.tasklists import tasklists_plugin

from afterword.domain.escape import FENCE_LANGUAGES, fence, plain, plain_lines, prose, unescape

# fmt: off
SNIPPETS = [
    "#tag", "#", "##", "# h", "C#", "[[a]]", "[[", "![[", "]]", "![x](http://e/x)", "[x](y)", "[^1]", "[^1]:", "^[n]",
    "^id", " ^s-9f2c41d07a3b", "%%", "%", "%%x%%", "$", "$$", "$a$", "`", "``", "```", "~~~", "````dataviewjs", "<",
    "<%", "%>", "<img>", "</div>", "<!--", "-->", "<?", "<http://e>", "&", "&amp;", "&#35;", "&#x23;", "---", "--",
    "-", "- ", "+ ", "* ", "*", "**", "_", "__", "==", "=", "===", "= x", "$= x", "1.", "1) ", "12.", "> ",
    "> [!note]", "- [ ] ", "[ ] ", "[x]", "|", "a|b", "|-|", "key:: v", "::", ":", "(k:: v)", "http://",
    "https://a.b/c", "ftp://x.y", "www.a.de", "Www.", "a@b.cd", "mailto:a@b.cd", "xmpp:a@b.cd", "//a.b", "\\", "\\\\",
    "\\n", "\\[", "\\`", "\n", "\r\n", "\t", "  ", "\u2028", "\x85", "\x00", "\ufeff", "\u200b", "\u200d", "\ufe0f",
    "\ud800", "\udc00", "\u202e", "\U000e0041", "\xa0", "\u3000", "é", "ß", "中", "😀", "١", "²", "a", "b", "A", "1",
    "0", ".", "!", "(", ")", "[", "]", "{", "}", "^", "~", "~~", '"', "'", "%% /afterword s-9f2c41d07a3b %%",
    "%% afterword s-9f2c41d07a3b a b c %%", "### Session (14:20)", "**Context:**", "|:-",
]
# fmt: on
hostile = st.lists(
    st.sampled_from(SNIPPETS) | st.text(st.characters(exclude_categories=()), max_size=3) | st.just(" "), max_size=12
).map("".join)
text = hostile | st.text(st.characters(exclude_categories=()))


def judge() -> MarkdownIt:
    md = MarkdownIt("gfm-like", {"linkify": find_spec("linkify_it") is not None})
    md.use(footnote_plugin).use(dollarmath_plugin).use(tasklists_plugin).use(front_matter_plugin)
    if md.linkify:
        md.linkify.set({"fuzzy_link": False, "fuzzy_ip": False})
        md.linkify.add("//", None)  # GFM knows no addresses without a scheme
    return md


MD = judge()


def texts(inline: list[Token]) -> str:
    assert {token.type for token in inline} <= {"text"}, [(token.type, token.content) for token in inline]
    return "".join(token.content for token in inline)


def only_inline(source: str, *blocks: str) -> list[Token]:
    tokens = MD.parse(source)
    assert [token.type for token in tokens] == list(blocks), source
    children = next(token for token in tokens if token.type == "inline").children
    assert children is not None
    return children


LIST = ("bullet_list_open", "list_item_open", "paragraph_open", "inline", "paragraph_close", "list_item_close")


@given(text)
def test_prose_is_text_wherever_it_stands(raw: str) -> None:
    safe, seen = prose(raw), plain(raw)
    assert "\n" not in safe
    if not seen:
        assert safe == ""
        return
    assert texts(only_inline(safe, "paragraph_open", "inline", "paragraph_close")) == seen
    assert texts(only_inline(f"- {safe}", *LIST, "bullet_list_close")) == seen
    assert texts(only_inline(f"> {safe}", *("blockquote_open", *LIST[2:5], "blockquote_close"))) == seen
    assert texts(only_inline(f"# {safe}", "heading_open", "inline", "heading_close")) == seen
    assert texts(only_inline(f"above\n\n{safe}\n\nbelow", *LIST[2:5] * 3)[:1]) == "above"
    box, *rest = only_inline(f"- [ ] {safe}", *LIST, "bullet_list_close")
    assert box.type == "html_inline"
    assert texts(rest).lstrip(" ") == seen
    head = only_inline(f"**Context:** {safe} ^s-9f2c41d07a3b", "paragraph_open", "inline", "paragraph_close")
    strong = [token.type for token in head].index("strong_close") + 1
    assert texts(head[strong:]) == f" {seen} ^s-9f2c41d07a3b"
    row = [token for token in MD.parse(f"|a|b|\n|-|-|\n| {safe} | x |") if token.type == "inline"]
    assert [texts(cell.children or []) for cell in row] == ["a", "b", seen, "x"]


@given(text)
def test_visible_text_comes_back(raw: str) -> None:
    assert unescape(prose(raw)) == plain(raw)
    assert plain(plain(raw)) == plain(raw)
    assert plain_lines(plain_lines(raw)) == plain_lines(raw)


@given(text)
def test_nothing_only_obsidian_knows(raw: str) -> None:
    safe = prose(raw)
    for token in ("[[", "%%", "==", "::", "<", "p://", "s://", "\ufeff", "\u200b"):
        assert token not in safe
    assert not re.search(r"(^|\s)\^[A-Za-z0-9-]+\s*$", safe)
    assert not re.search(r"(^|[^\\A-Za-z0-9])#", safe)
    assert not re.search(r"(?i)(^|[^\w\\])www\.", safe)
    assert not re.search(r"^\s*([-+*>#=|~]|\d+[.)](\s|$))", safe)
    # What stands without a backslash before it.
    bare = re.sub(r"\\[!-/:-@\[-`{-~]", " ", safe)
    assert not re.search(r"[`*\[$~|<]", bare)
    assert not re.search(r"&(?!(?:lt|amp);)[\w#]", bare)


@given(text)
def test_only_visible_characters_remain(raw: str) -> None:
    for seen in (plain(raw), plain_lines(raw).replace("\n", "").replace("\t", "")):
        assert not re.search(
            "[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]", seen
        )
        assert not re.search("[\U000e0000-\U000e007f]", seen)


@given(text, st.sampled_from([*sorted(FENCE_LANGUAGES), "dataviewjs", "query", "", "js\n```", "a`b"]), text)
@example("```\n[[x]]\n````\n~~~~~\n", "text", "")
def test_fence_is_one_block_with_the_exact_text(raw: str, language: str, before: str) -> None:
    safe = fence(raw, language)
    shown = plain_lines(raw).replace("<%", "<\u200b%")
    shown += "" if not shown or shown.endswith("\n") else "\n"
    block, *after = [
        t for t in MD.parse(f"{prose(before)}\n\n{safe}\n\nafter") if t.type in {"fence", "paragraph_open"}
    ][bool(plain(before)) :]
    assert (block.type, [t.type for t in after]) == ("fence", ["paragraph_open"])
    assert block.content == shown
    assert block.info == (language if language in FENCE_LANGUAGES else "text")
    assert "<%" not in safe
