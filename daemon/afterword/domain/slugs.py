"""Names made from other names: slugs (`[a-z0-9-]`, safe on every system and in every marker), projects."""

import hashlib
import re
import unicodedata
from typing import Final

_NOT_SLUG = re.compile(r"[^a-z0-9]+")


def slug(text: str, fallback: str = "unknown", limit: int = 40) -> str:
    """`text` as a slug of at most `limit` characters; `fallback` when nothing of it can stay."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return _NOT_SLUG.sub("-", plain).strip("-")[:limit].strip("-") or fallback


def article_slug(title: str) -> str:
    """A slug that reads: at most 80 characters, ASCII where the title can be written so.

    Polish, Russian, Ukrainian, Greek, Hebrew and Japanese kana are transliterated; Chinese, Korean, titles with kanji
    and other scripts keep their letters, at most 120 bytes of them in NFC. `C#` and `C++` keep apart from `C`. A title
    without a letter or digit becomes a mark.
    """
    text = unicodedata.normalize("NFC", title).lower()
    for sign, word in _SIGNS:
        text = sign.sub(word, text)
    kana = _SMALL_TSU.sub(lambda m: _latin(m[1])[:1] + m[1], _kana(text))
    latin = _ascii("".join(map(_latin, kana)))
    lost = sum(char.isalpha() and not _ascii(_latin(char)) and char not in "ьъ" for char in kana)
    words = _NOT_SLUG.sub("-", latin).strip("-")
    limit = SLUG_MAX
    if not words or lost * 3 > sum(map(str.isalpha, kana)):
        # Of Chinese, or kanji, only the particles and a stray word would be left.
        words = _NOT_WORD.sub("-", unicodedata.normalize("NFC", unicodedata.normalize("NFKC", text))).strip("-")
        while len(words.encode("utf-8", "ignore")) > _BYTES_MAX:
            limit = min(limit, len(words)) - 1
            words = words[:limit]
        words = words.encode("utf-8", "ignore").decode().strip("-")
    if not words:
        words = "n" + hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    if len(words) > SLUG_MAX:
        words = (words[:SLUG_MAX].rpartition("-")[0] or words[:SLUG_MAX]).strip("-")
    return f"{words}-note" if words in _DEVICES else words


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def _latin(char: str) -> str:
    return _LATIN.get(char, char)


def _kana(text: str) -> str:
    """Katakana as hiragana, with a vowel for the long mark left out and y-sounds put together."""
    folded = "".join(chr(ord(c) - 0x60) if "\u30a1" <= c <= "\u30f6" else c for c in text).replace("\u30fc", "")
    return _Y_SOUND.sub(
        lambda m: _LATIN[m[1]][:-1] + ("" if m[1] in "しちじ" else "y") + "auo"["ゃゅょ".index(m[2])], folded
    )


SLUG_MAX: Final = 80
_BYTES_MAX: Final = 120
"""A file's name may have 255, and some systems take letters with accents apart."""
_NOT_WORD = re.compile(r"[\W_]+")
_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(1, 10))})
_SIGNS: Final = tuple(
    (re.compile(sign), word)
    for sign, word in (
        (r"(?<=\w)\+\+", "pp"),
        (r"(?<=\w)#", "-sharp"),
        (r"(?<=\w)['’](?=\w)", ""),
        (r"&", " and "),
        (r"%", " percent "),
    )
)
_SMALL_TSU = re.compile("っ(.)")
_Y_SOUND = re.compile("([きしちにひみりぎじびぴ])([ゃゅょ])")


def _table(*rows: str) -> dict[str, str]:
    return {pair[0]: pair[1:] for row in rows for pair in row.split()}


_LATIN: Final = _table(
    "łl øo đd ßss æae œoe þth ðd ıi",
    "аa бb вv гg дd еe ёyo жzh зz иi йy кk лl мm нn оo пp рr",
    "сs тt уu фf хkh цts чch шsh щshch ъ ыy ьь эe юyu яya іi їyi єye ґg",
    "αa βv γg δd εe ζz ηi θth ιi κk λl μm",
    "νn ξx οo πp ρr σs ςs τt υy φf χch ψps ωo",
    "אa בb גg דd הh וv זz חh טt יy כk ךk לl",
    "מm םm נn ןn סs עa פp ףp צts ץts קk רr שsh תt",
    "あa いi うu えe おo かka きki くku けke こko がga ぎgi",
    "ぐgu げge ごgo さsa しshi すsu せse そso ざza じji ずzu ぜze ぞzo",
    "たta ちchi つtsu てte とto だda ぢji づzu でde どdo なna にni",
    "ぬnu ねne のno はha ひhi ふfu へhe ほho ばba びbi ぶbu べbe",
    "ぼbo ぱpa ぴpi ぷpu ぺpe ぽpo まma みmi むmu めme もmo やya ゆyu",
    "よyo らra りri るru れre ろro わwa をo んn ぁa ぃi ぅu ぇe ぉo",
) | {"ь": "", "ъ": ""}


def project_of(cwd: str) -> str:
    """The project a working directory belongs to: the last part of its path, of a bare repository without its mark."""
    above, _, name = cwd.replace("\\", "/").rstrip("/").rpartition("/")
    if name in (".git", ".bare"):
        name = above.rpartition("/")[2]
    return name.removesuffix(".git") or name
