"""Whether a sentence stands by itself, and what of it is only a way of starting."""

import re
from typing import Final

from afterword.compile import cues
from afterword.compile.sentences import words

_FIRST = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_EAST = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# Before a comma or colon any of these is only a way of starting; before a bare space only those that deny nothing.
_LEADS: Final = re.compile(
    r"(?:(?:and|so|but|then|also|yes|yeah|no|ok|okay|well|agreed|right|now|in short|of course|by the way|actually"
    r"|good|sure|great|thanks|fine|a więc|więc|ale|tak|nie|dobrze|dobra|zatem|dlatego|итак|да|нет|но|значит|поэтому"
    r"|хорошо|ладно|אז|כן|לא|אבל|טוב|ja|nein|also|aber|und|dann|gut|donc|alors|oui|non|mais|entonces|pero|sí|no"
    r"|allora|quindi|sì|então|mas|sim|não|では|はい|ただ|そして|所以|那么|好的|好)\s*[,:、，]\s*"
    r"|(?:and|so|but|then|a więc|więc|dlatego|итак|поэтому|אז|dann|donc|alors|entonces|allora|quindi|então)\s+(?=\w))+",
    re.IGNORECASE,
)
_LABELS: Final = re.compile(
    r"(?P<lesson>lessons? learned|lessons?|learned|takeaway|insight|wniosek|wnioski|nauczka|lekcja|вывод|урок|מסקנה|לקח"
    r"|lehre|erkenntnis|fazit|leçon|conclusion|lección|conclusión|lezione|lição|教訓|結論|学び|教训|结论|经验|교훈)"
    r"|(?P<decision>decisions?|decided|decyzja(?: zapisana)?|ustalenie|ustalmy|решение|решили|החלטה|הוחלט|entscheidung"
    r"|décision|decisión|decisione|decisão|決定|方針|决定|결정)"
    r"|(?P<cause>(?:root )?cause|the (?:root )?cause|reason|the reason|diagnosis|przyczyna(?: jest jasna)?|powód"
    r"|причина|הסיבה|ursache|la cause|cause|causa|la causa|原因|원인)"
    r"|(?P<other>(?:key |main )?findings?|observation|caveat|heads-up|tl;dr|obserwacja|наблюдение|ממצא|befund|constat"
    r"|hallazgo|osservazione|发现|発見|note|result|summary|reproduced|fyi|important|uwaga|ważne|итог|результат|важно|注意|結果)",
    re.IGNORECASE,
)


def label(text: str) -> tuple[str, str]:
    """(lesson, decision, cause, other or nothing; the text behind the label) of "Lesson learned: …"."""
    found = _LABELS.match(text)
    if found and (rest := re.match(r"\s*[:：]\s*(?=\S)", text[found.end() :])):
        return found.lastgroup or "", text[found.end() + rest.end() :]
    return "", text


_OPTION: Final = re.compile(
    r"(?:let's|let us|we'll|i'd|we)\s+(?:go|take|do|pick)\s+(?:with\s+)?(?:option\s+|number\s+|the\s+)?"
    r"(?:\d+|first|second|third|last|former|latter)(?:\s+one)?\s*[:,–—-]\s*",
    re.IGNORECASE,
)
_ADVICE: Final = re.compile(
    r"(?:my |our )?(?:recommendation|suggestion|advice|rekomendacja|propozycja|рекомендация|предложение|המלצה"
    r"|empfehlung|vorschlag|recommandation|recomendación|raccomandazione|recomendação)\s*:\s+(?=\S)",
    re.IGNORECASE,
)


def advised(text: str) -> str:
    """The sentence without "My recommendation:" before it, once it was taken."""
    rest = _ADVICE.sub("", text, count=1)
    return text if rest == text else capital(rest)


_ANAPHORA: Final = words(
    "it it's its that that's this these those they they're he she both same which there such neither either former"
    " latter another one others mine yours everything nothing something"
    " to tego ta ten te tam taki ona ono oni one taka jego jej ich"
    " это этот эта эти там тот та те он она оно они такой его её их"
    " זה זאת זו הוא היא הם אלה שם"
    " dies dieser diese dieses es er sie dort ce cela ça ceci elle ils elles eso esto este esta ello"
    " questo questa ciò isso isto este esta ele ela"
)
_EAST_ANAPHORA: Final = ("それ", "これ", "その", "この", "あれ", "そこ", "这", "那", "它", "他", "그", "이것")
_SAID_YES: Final = re.compile(r"(?:ok|okay|yes|yeah|no|right|sure|tak|nie|да|нет|כן|לא)\s+(?=\w)", re.IGNORECASE)
_SELF: Final = re.compile(
    r"(?:i|i'm|i'll|i'd|i've|we'll|let's|let me|my|please|you|can you|could you|me"
    r"|sprawdzę|zrobię|chcę|proszę|мне|я|пожалуйста|אני|ich|je|j'ai|yo|io|eu)\b",
    re.IGNORECASE,
)
_DOING: Final = re.compile(
    r"(?:deploying|running|checking|looking|starting|pushing|reading|trying|waiting|testing|working|writing|adding"
    r"|say the word|good night|good morning|thank you|thanks|find the|check the|add a|write it|do it)\b",
    re.IGNORECASE,
)
_DID: Final = re.compile(
    r"(?:\w+\s+){0,2}\w{3,}(?:łem|łam|liśmy|łyśmy)\b|(?:\w+\s+){0,2}(?:habe ich|ich habe|j'ai)\b", re.IGNORECASE
)
_WISH: Final = re.compile(r"(?:たい|たくない)(?:です|んです)?[。.]?$")
_ENDS: Final = (".", "!", "?", "…", "。", "！", "？", "؟", "۔", ":", "”", '"')


def start(text: str) -> str:
    """The sentence without "And", "Yes, ", "Let's go with 3: " before it, and with a capital if a word begins it."""
    rest = _OPTION.sub("", text, count=1)
    rest = re.sub(r"^[–—-]\s+", "", rest)
    rest = _LEADS.sub("", rest, count=1) if _LEADS.match(rest) else rest
    if hangs(rest) and (behind := re.search(r"[:：]\s+", rest)):
        # "It is the same cause as there: the workers share one folder" says what it is after the colon.
        told = rest[behind.end() :]
        rest = told if long_enough(told) and not hangs(told) else rest
    rest = rest if len(rest.split()) >= 3 or len(_EAST.findall(rest)) >= 6 else text
    return capital(rest)


def capital(text: str) -> str:
    """The text with a capital first letter, unless it begins with an identifier."""
    first = text.split(" ", 1)[0]
    word = _FIRST.match(first)
    plain = word and word.end() >= len(first.rstrip(",.;:!?)'’s")) and first[1:] == first[1:].lower()
    return text[:1].upper() + text[1:] if plain and not re.search(r"[._/()=]\w|\w_", first) else text


def ended(text: str) -> str:
    """The text as a sentence: with an end."""
    if text.endswith(_ENDS):
        return text
    return text + ("。" if _EAST.search(text[-1:]) else ".")


def long_enough(text: str) -> bool:
    """Whether there are enough words to say something."""
    return len(_EAST.findall(text)) >= 9 or (len(text) >= 22 and len(text.split()) >= 4)


def hangs(text: str) -> bool:
    """Whether a sentence points at one before it, so that nobody understands it alone."""
    if text.startswith(_EAST_ANAPHORA):
        return True
    if said := _SAID_YES.match(text):
        text = text[said.end() :]
    word = _FIRST.match(text)
    return bool(word) and word.group().lower().replace("’", "'") in _ANAPHORA if word else False


def personal(text: str) -> bool:
    """Whether it is somebody's talk of themselves or to somebody, not a statement about the matter."""
    return bool(_SELF.match(text) or _DOING.match(text) or _DID.match(text) or _WISH.search(text))


_OBJECT: Final = re.compile(r"\b(?:it|them|that one|this one|this|go|ją|je|его|её|их|זה)\b", re.IGNORECASE)


def _vague(text: str) -> bool:
    """A short order about something named elsewhere: "Adapt it to .ts files"."""
    return len(text.split()) <= 7 and bool(_OBJECT.search(text))


_PLACE: Final = re.compile(
    r"[\w./-]+\.\w{1,5}(?::\d+)*|\d+\s*(?:行目?|번째 줄)|第\s*\d+\s*行|(?:on |at |in )?(?:the )?line \d+|\bzeile \d+"
    r"|(?:w )?\b(?:linii|linia|wierszu) \d+|(?:в )?строк[ае] \d+|\bligne \d+|\bl[ií]nea \d+|\briga \d+|\blinha \d+",
    re.IGNORECASE,
)
_POINTER: Final = re.compile(
    r"\b(?:the|root|cause|reason|problem|bug|fault|error|mistake|fix|is|was|in|at|of|on|it|sits|lies|here|function|file"
    r"|die|der|das|ursache|fehler|ist|liegt|steht|przyczyna|błąd|jest|leży|причина|ошибка|это|находится|la|el|le"
    r"|l'erreur|cause|causa|error|errore|erro|est|es|è|está|dans|en|nel|nella|no|na|w|в)\b|原因|問題|间题|问题|は|です|の|在|에"
    r"|원인은?|입니다|[\s.,:;!。、，：`'\"()-]+",
    re.IGNORECASE,
)


def only_points(text: str) -> bool:
    """Whether a sentence only says at which line of which file something is: true for a day."""
    rest, places = _PLACE.subn(" ", text)
    return places >= _PLACES and not _POINTER.sub("", rest)


_PLACES: Final = 2


def stands(text: str) -> bool:
    """Whether a sentence can be read by itself."""
    return (
        long_enough(text)
        and not only_points(text)
        and not hangs(text)
        and not _vague(text)
        and not cues.is_question(text)
        and not cues.is_log_like(text)
        and not text.endswith((":", "：", "…"))
        and _balanced(text)
    )


def tells(text: str) -> bool:
    """Whether a sentence can be told in the account of its session, where what comes before it is told as well."""
    words = len(text.split())
    return (
        (words >= 3 or len(_EAST.findall(text)) >= 6)
        and not hangs(text)
        and not cues.is_question(text)
        and not cues.is_log_like(text)
        and not cues.asks_nothing(text)
        and _balanced(text)
    )


def _balanced(text: str) -> bool:
    return text.count("`") % 2 == 0 and text.count("(") == text.count(")") and text.count("“") == text.count("”")
