"""What a sentence is by its wording: phrase tables compiled into one look-up per word."""

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from afterword.compile import passing, phrases, smalltalk, tasks
from afterword.compile.sentences import words

_TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_EAST = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_FILLERS = words(
    "so ok okay and but also then well yes yeah no right now actually hmm alright please just oh "
    "а и но итак так ок да нет ну то i a ale więc no dobra tak ok to und aber also na gut ja nein "
    "et mais alors oui non y pero entonces sí e ma allora sì mas então sim não אז כן לא אבל"
)
_LATIN = frozenset(smalltalk.STOPWORDS) - {"en"}
_HEBREW_PREFIXES = "ושהכ"
_APOSTROPHES = {
    bare: f"{bare[:-1]}'t"
    for bare in words("dont doesnt didnt isnt arent wasnt werent wont wouldnt couldnt shouldnt hasnt havent hadnt cant")
} | {"lets": "let's", "thats": "that's", "im": "i'm", "ive": "i've", "youre": "you're", "theres": "there's"}
"""What people who type fast leave the apostrophe out of."""
_GAP = 4
_NEVER = re.compile(r"(?!)")
_ANNOUNCES = {"pl": re.compile(r"\w{3,}ę$"), "ru": re.compile(r"\w{3,}[юу]$")}
"""Language → how a first word ends by which an agent announces what it will do ("sprawdzę", "проверю")."""
_WILL_DO = {"pl": re.compile(r"\w{3,}uję$"), "ru": re.compile(r"\w{4,}ую$")}
_DID = {"pl": re.compile(r"\w{3,}ł[ae]m$")}
"""Language → how the first person reads wherever it stands: what he is going to do, what he did."""
_TOLD = {
    "pl": re.compile(r"\w{2,}[aiyęą]ł[aioy]?$|\w{2,}(?:ali|ili|yli|eli)$"),
    "ru": re.compile(r"\w{3,}[аеиыя]л[аио]?(?:с[ья])?$"),
}
_WISHED = re.compile(r"\b(?:żeby|aby|by|gdyby|чтобы|бы)\b", re.IGNORECASE)
"""Language → the third person of the past: somebody tells, unless it is a wish."""
_FIRST_WORDS = 4


class Cue(NamedTuple):
    part: str
    language: str
    weight: float
    words: tuple[str, ...]
    at_start: bool
    by_person: bool


class Lexicon:
    """Phrases by their first word (whole, or its first three letters where it may go on)."""

    def __init__(self, tables: Iterable[tuple[str, phrases.Table]]) -> None:
        self._whole: dict[str, list[Cue]] = {}
        self._stems: dict[str, list[Cue]] = {}
        self._inside: list[tuple[str, float, re.Pattern[str]]] = []
        for part, table in tables:
            for language, by_weight in table.items():
                for weight, row in by_weight.items():
                    if language == "inside":
                        alternatives = "|".join(re.escape(phrase) for phrase in row.split("|") if phrase)
                        self._inside.append((part, weight, re.compile(alternatives)))
                    else:
                        for phrase in row.split("|"):
                            self._add(part, language, weight, phrase.strip())

    def _add(self, part: str, language: str, weight: float, phrase: str) -> None:
        by_person = phrase.startswith("@")
        phrase = phrase.removeprefix("@")
        at_start = phrase.startswith("^")
        words = tuple(phrase.removeprefix("^").lower().split())
        first = words[0]
        index, key = (self._stems, first.rstrip("*")[:3]) if first.endswith("*") else (self._whole, first)
        index.setdefault(key, []).append(Cue(part, language, weight, words, at_start, by_person))

    def weigh(self, text: str, *, person: bool, language: str = "") -> dict[str, float]:
        """Points per part: the strongest phrase counts whole, every further one two fifths.

        English counts in every session, the other languages of the Latin script only in their own.
        """
        hits: dict[str, list[float]] = {}
        spans = [found.span() for found in _TOKEN.finditer(text)]
        words = [_APOSTROPHES.get(word, word) for a, b in spans if (word := text[a:b].lower().replace("’", "'"))]
        lead = 0
        while lead < len(words) - 1 and lead < 3 and words[lead] in _FILLERS:
            if words[lead] == "i" and language != "pl":
                break
            lead += 1
        for n, word in enumerate(words):
            for cue in self._candidates(word):
                if (cue.by_person and not person) or (cue.language in _LATIN and cue.language != language):
                    continue
                if cue.at_start and not (n in (0, lead) or _clause_starts(text, spans[n][0])):
                    continue
                if _matches(cue.words, words, n):
                    # "We should" of a person is a wish for now; only plain deferrals are left for later.
                    halved = person and cue.part == "action" and cue.weight <= 2
                    hits.setdefault(cue.part, []).append(cue.weight / 2 if halved else cue.weight)
        if words and not person:
            will, did = _WILL_DO.get(language, _NEVER), _DID.get(language, _NEVER)
            if _ANNOUNCES.get(language, _NEVER).match(words[lead]) or any(map(will.match, words[:_FIRST_WORDS])):
                hits.setdefault("chatter", []).append(1.0)
            if any(map(did.match, words)):
                hits.setdefault("done", []).append(2.0)
        elif any(map(_TOLD.get(language, _NEVER).match, words)) and not _WISHED.search(text):
            hits.setdefault("observe", []).append(1.0)
        if self._inside and _EAST.search(text):
            for part, weight, pattern in self._inside:
                if pattern.search(text):
                    hits.setdefault(part, []).append(weight)
        return {part: max(points) + 0.4 * (sum(points) - max(points)) for part, points in hits.items()}

    def _candidates(self, word: str) -> list[Cue]:
        found = self._whole.get(word, []) + self._stems.get(word[:3], [])
        if word[0] in _HEBREW_PREFIXES and len(word) > 3:
            found = found + self._whole.get(word[1:], []) + self._stems.get(word[1:4], [])
        return found


def _clause_starts(text: str, at: int) -> bool:
    before = text[max(0, at - 3) : at].rstrip()
    return before[-1:] in {":", ";", "—", "–"}


def _fits(pattern: str, word: str) -> bool:
    if pattern.startswith("*"):
        return word.endswith(pattern[1:])
    if pattern.endswith("*"):
        stem = pattern[:-1]
        if word.startswith(stem):
            return True
    elif word == pattern:
        return True
    if word[0] in _HEBREW_PREFIXES and len(word) > 3:
        return word[1:].startswith(pattern[:-1]) if pattern.endswith("*") else word[1:] == pattern
    return False


def _matches(pattern: tuple[str, ...], words: list[str], n: int) -> bool:
    at = n
    gap = False
    for want in pattern:
        if want == "…":
            gap = True
            continue
        reach = min(len(words), at + (_GAP + 1 if gap else 1))
        while at < reach and not _fits(want, words[at]):
            at += 1
        if at >= reach:
            return False
        at += 1
        gap = False
    return True


@cache
def lexicon() -> Lexicon:
    """The phrase tables, compiled once per process."""
    return Lexicon(
        (
            ("decision", phrases.DECISION),
            ("lesson", phrases.LESSON),
            ("action", tasks.ACTION),
            ("done", tasks.DONE),
            ("hedge", smalltalk.HEDGE),
            ("chatter", smalltalk.CHATTER),
            ("proposal", smalltalk.PROPOSAL),
            ("request", smalltalk.REQUEST),
            ("observe", smalltalk.OBSERVE),
            ("limit", smalltalk.LIMIT),
            ("connect", smalltalk.CONNECT),
            ("self", smalltalk.SELF),
            ("empty", passing.EMPTY),
            ("order", passing.ORDER),
            ("now", passing.NOW),
            ("need", passing.NEED),
            ("doing", passing.DOING),
        )
    )


@cache
def _headings() -> Lexicon:
    return Lexicon(
        (part, {"all": {1: row}, "inside": {1: smalltalk.HEADINGS_INSIDE[part]}})
        for part, row in smalltalk.HEADINGS.items()
    )


def heading_part(heading: str) -> str:
    """decision, lesson, action, chatter or changes, if a heading announces one; else nothing."""
    if not heading or len(heading) > 80:
        return ""
    found = _headings().weigh(heading, person=True)
    for part in ("action", "lesson", "decision", "chatter", "changes"):
        if part in found:
            return part
    return ""


_LABEL = re.compile(r"([^\W\d][\w' -]{1,30})(?:[:：]\s+|：)\S")


def label(text: str) -> str:
    """The words before a colon at the beginning of a sentence ("Left over: …"), where there are few."""
    found = _LABEL.match(text)
    return found.group(1) if found and len(found.group(1).split()) <= 4 else ""


_LOG_LIKE = re.compile(
    r"\[?\d{4}[-/]\d\d[-/]\d\d[ T,]+\d|\[?\d\d:\d\d:\d\d"
    r"|(?:ERROR|WARN|WARNING|INFO|DEBUG|TRACE|FATAL|FAILED|PASSED|FAIL|PASS)\b[\s:\]]"
    r"|at \S+\(|File \"|Traceback|E\s{2,}|\$ |>>> |(?:npm|yarn) (?:ERR|WARN)|diff --git|@@ |\+\+\+"
    r"|[\w./\\-]+:\d+(?::\d+)?[:\s]|[\w.]*(?:Error|Exception|Warning): "
    r"|\{\"|\[\{|<\?xml|-{3,}|={3,}|\d+ (?:passed|failed)\b"
)
_NOT_WORDS = re.compile(
    r"`[^`]*`|https?://\S+|\[redacted:[^\]]*\]|(?<!\w)[./~]?[\w.-]*/[\w./-]+|\w+\(\)|--?[a-z][\w-]+"
)
_QUESTION_ENDS = ("?", "？", "؟", "ですか。", "ますか。", "吗。", "까요.")
_INJECTION = re.compile(
    r"(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,4}(?:instructions?|prompts?|rules|guidelines)|system prompt"
    r"|you are now|new instructions|<\/?(?:system|assistant|user|instructions?)\b|do not tell the user"
    r"|(?:игнорируй|забудь)\w*\s+(?:\w+\s+){0,3}инструкци|zignoruj\w*\s+(?:\w+\s+){0,3}(?:instrukcj|polecen)"
    r"|התעלם\s+(?:\w+\s+){0,3}(?:הוראות|ההוראות)|ignoriere\s+(?:\w+\s+){0,3}anweisung"
    r"|(?:忽略|无视).{0,8}(?:指令|指示|提示)|指示を無視",
    re.IGNORECASE,
)


_LATIN_TERM = re.compile(r"`[^`]+`|\d|\b[A-Z]{2,}|\w[._/]\w|[a-z][A-Z]|--\w|\w_\w")
_OTHER_SCRIPT = re.compile("[\u0400-\u04ff\u0590-\u06ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LATIN_WORD = re.compile("[A-Za-z]{3,}")


def is_technical(text: str) -> bool:
    """Whether a sentence names a thing: code, a number, an identifier, or a Latin word in another script."""
    return bool(_LATIN_TERM.search(text) or (_OTHER_SCRIPT.search(text) and _LATIN_WORD.search(text)))


_ASKING = re.compile(r"(?:what|how|why|where|which|who|whose|when (?:do|does|did|will|can))\b", re.IGNORECASE)


def is_question(text: str, *, person: bool = False) -> bool:
    """Whether a sentence asks; people leave the question mark out."""
    if person and _ASKING.match(text):
        return True
    return text.rstrip("\"'”’»)*` ").endswith(_QUESTION_ENDS)


def is_injection(text: str) -> bool:
    """Whether a text reads like an order to a model, as pages and outputs carry them."""
    return _INJECTION.search(text) is not None


def is_log_like(text: str) -> bool:
    return _LOG_LIKE.match(text) is not None


def is_prose(text: str) -> bool:
    """Whether a sentence is made of words, not code, paths, log lines or a lead-in."""
    if is_log_like(text) or text.endswith((":", "：")):
        return False
    rest = _NOT_WORDS.sub(" ", text)
    letters = sum(map(str.isalpha, rest))
    if letters < 0.65 * len(rest.replace(" ", "")) or letters < 0.25 * len(text.replace(" ", "")):
        return False
    if len(_EAST.findall(text)) >= 4:
        return True
    words = [word for word in _TOKEN.findall(rest) if word[0].isalpha()]
    return len(words) >= 2 and letters >= 6


def bare(prompt: str) -> str:
    """A short prompt for comparison with the lists of whole prompts: lower case, no punctuation."""
    return " ".join(prompt.lower().replace("’", "'").strip(" \t\n.!,。！、…)(:;👍").replace(",", "").split())


def is_yes(prompt: str) -> bool:
    return bare(prompt) in smalltalk.AFFIRM


def asks_nothing(prompt: str) -> bool:
    """Whether a prompt has no content of its own: "yes", "continue", a slash command."""
    text = bare(prompt)
    return (
        text in smalltalk.AFFIRM or text in smalltalk.TRIVIAL or not any(map(str.isalnum, text)) or _is_command(prompt)
    )


def _is_command(prompt: str) -> bool:
    text = prompt.strip()
    return text.startswith("/") and "\n" not in text and len(text) < 40 and "/" not in text[1:].split(" ")[0]


def language(text: str) -> str:
    """The language of a sample, by script and by common words; en when unsure."""
    scripts = {
        "ru": len(re.findall("[\u0400-\u04ff]", text)),
        "he": len(re.findall("[\u0590-\u05ff]", text)),
        "ko": 2 * len(re.findall("[\uac00-\ud7af]", text)),
        "ja": 3 * len(re.findall("[\u3040-\u30ff]", text)),
        "zh": 2 * len(re.findall("[\u4e00-\u9fff]", text)),
    }
    latin = len(re.findall("[A-Za-z]", text))
    best = max(scripts, key=lambda code: scripts[code])
    if scripts[best] * 2 > latin:
        return best
    counts: dict[str, int] = {}
    for word in _TOKEN.findall(text.lower()):
        counts[word] = counts.get(word, 0) + 1
    points = {code: sum(counts.get(word, 0) for word in row.split()) for code, row in smalltalk.STOPWORDS.items()}
    for code, letters in smalltalk.LETTERS.items():
        points[code] += sum(map(letters.__contains__, text.lower()))
    return max(points, key=lambda code: (points[code], code == "en"))
