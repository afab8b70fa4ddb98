"""What stands at the head of a sentence: approvals, joining words, labels, and words that point at its neighbour."""

import re

_LEAST_LEFT = 20

_APPROVAL = re.compile(
    r"(?:hi|hey|hello|cześć|hej|привет|היי|hallo|salut|bonjour|hola|ciao|olá|wow ok|great find|good find|ok ship it"
    r"|(?:that |it )?(?:sounds|makes|looks) (?:good|sense|right|fine)(?: to me)?|fair enough|good|great|nice|perfect|ok"
    r"|okay|agreed|yes|yeah|no|right|true"
    r"|sure"
    r"|dobrze|dobra|świetnie|zgoda|tak|nie|хорошо|отлично|согласен|да|нет|ок|ладно|טוב|כן|לא|אוקיי|מצוין"
    r"|gut|ja|nein|okay|in ordnung|einverstanden|passt|bien|d'accord|oui|non|vale|sí|no|bene|sì|certo|bom|sim|não)"
    r"(?:[,;:!.]|\s*[—–-])\s*(?:but|and|so|then|also)?\s*",
    re.IGNORECASE,
)
_AFFIRMING = re.compile(
    r"(?:ok(?:ay)?|agreed|yes|yeah|yep|sure|right|good|great|perfect|fine|exactly|let's do (?:that|it)|do (?:that|it)"
    r"|zgoda|tak|dobrze|jasne|super|zrób tak|да|давай|согласен|хорошо|ок|сделай так|כן|מסכים|בסדר|אוקיי|סבבה"
    r"|ja|gerne|einverstanden|genau|passt|so machen wir|mach das|oui|d'accord|vas-y|sí|vale|de acuerdo|hazlo"
    r"|sì|va bene|sim|pode ser|はい|お願いします|その方法で|それで|好的?|可以|同意|네|좋아)(?:\W|$)",
    re.IGNORECASE,
)


class _ByLanguage:
    """What a sentence may start with, by language; English counts in every one. Each is compiled when it is first
    asked: all of them together take longer than most commands."""

    def __init__(self, rows: dict[str, str], *, word_end: str = r"\b") -> None:
        self._rows = rows
        self._word_end = word_end
        self._compiled: dict[str, re.Pattern[str]] = {}

    def match(self, text: str, language: str) -> re.Match[str] | None:
        code = language if language in self._rows else "en"
        pattern = self._compiled.get(code)
        if pattern is None:
            row = self._rows[code] if code == "en" else f"{self._rows[code]}|{self._rows['en']}"
            pattern = self._compiled[code] = re.compile(rf"(?:{row}){self._word_end}", re.IGNORECASE)
        return pattern.match(text)


_JOINING = _ByLanguage(
    {
        "en": "and also|and|also|oh",
        "pl": "i|a także|oraz|też",
        "ru": "и также|и|а также|также|а",
        "he": "וגם|גם",
        "de": "und auch|und|auch",
        "fr": "et aussi|et",
        "es": "y también|y",
        "it": "e anche|e",
        "pt": "e também|e",
    },
    word_end=r"\s+(?=\w)",
)
_SO = _ByLanguage(
    {
        "en": "then|so",
        "pl": "wtedy|więc|to(?= [^\\W\\d]+my\\b)",
        "ru": "тогда|значит",
        "he": "אז",
        "de": "dann|also",
        "fr": "alors|donc",
        "es": "entonces",
        "it": "allora|quindi",
        "pt": "então",
        "ja": "では、?|じゃあ、?|それでは、?",
        "zh": "那么?，?",
        "ko": "그럼,?|그러면,?",
    },
    word_end=r"(?:\b|(?<=[\u3000-\ud7af]))\s*(?=[\w`])",
)
_BUT = _ByLanguage(
    {
        "en": "but|however|though|yet|only for|except",
        "pl": "ale|jednak|lecz",
        "ru": "но|однако",
        "he": "אבל|אך",
        "de": "aber|jedoch|allerdings",
        "fr": "mais|cependant|toutefois",
        "es": "pero|sin embargo",
        "it": "ma|però",
        "pt": "mas|porém",
        "ja": "しかし|ただし|ただ、|でも",
        "zh": "但|不过|然而",
        "ko": "하지만|그러나|다만",
    },
    word_end="",
)
_FOLLOWS = _ByLanguage(
    {
        "en": "then|so|therefore|thus|hence|otherwise|that's why|which is why|because of (?:that|this)",
        "pl": "wtedy|więc|dlatego|stąd|przez to|zatem|inaczej|wówczas",
        "ru": "тогда|поэтому|значит|отсюда|иначе|из-за этого",
        "he": "לכן|אז|ואז|בגלל זה|אחרת",
        "de": "dann|daher|deshalb|deswegen|also|somit|dadurch|sonst",
        "fr": "donc|alors|du coup|c'est pourquoi|sinon",
        "es": "entonces|por eso|así que|por lo tanto|si no",
        "it": "quindi|allora|perciò|per questo|altrimenti",
        "pt": "então|por isso|portanto|logo|senão",
        "ja": "そのため|だから|それで|したがって|そこで|すると|つまり",
        "zh": "所以|因此|于是",
        "ko": "그래서|따라서|그러면|그러니",
    },
    word_end="",
)
_VERB = (
    "is|isn't|are|aren't|was|wasn't|were|means?|meant|has|have|had|can|can't|could|will|won't|would|makes?|made"
    "|happens?"
    "|happened|explains?|only|also|works?|gives?|lets|keeps|needs?|should|must|breaks?|does|doesn't|did|didn't|fails?"
)
_POINTS = _ByLanguage(
    {
        "en": (
            r"(?:it|they|he|she)\b(?! turn(?:s|ed) out| (?:is|was) (?:important|better|worth|not enough)| takes\b"
            r"| was .* that)"
            rf"|(?:this|that|these|those|both|one)\s+(?:{_VERB})\b|that's"
        ),
        "pl": (
            r"to\s+(?:jest|był[aoy]?|są|nie|tylko|oznacza|znaczy|działa|samo|dlatego|ta|ten|już)\b"
            r"|(?:on|ona|ono|oni|one)\b|tak było"
        ),
        "ru": r"(?:это|он|она|оно|они|там)\b",
        "he": r"(?:זה|זאת|זו|הוא|היא|הם|הן|שם)\b",
        "de": (
            r"das\s+(?:ist|war|sind|liegt|lag|kommt|kam|heißt|passiert|geht|macht|gilt|muss|kann|wird|hat|hält)\b"
            r"|es\b(?! (?:gibt|gab|reicht|genügt|fehlt|fehlen|bleibt|bleiben|braucht|lohnt|wäre|sollte))|er\b"
            r"|sie (?:ist|war|wird|hat|liegt|braucht|geht)\b|dies\b"
        ),
        "fr": (
            r"c'est\b|c'était\b|ce sont\b|cela\b|ça\b|elles?\b|ils\b"
            r"|il\b(?! (?:fau[td]\w*|y a|reste|suffit|s'avère|manque))"
        ),
        "es": r"(?:esto|eso|ello|ellos|ellas)\b",
        "it": r"ciò\b|questo (?:è|era|vale|significa)\b|ess[oa]\b",
        "pt": r"(?:isso|isto|eles?|elas?)\b",
        "ja": "(?:これ|それ|あれ)[はがをでもに]",
        "zh": "[这那](?:是|会|样|意味|说明|就)|它",
        "ko": "이것|그것|이는 |그건 |이건 ",
    },
    word_end="",
)


_TRAILING = re.compile(r",? (?:though|jednak|allerdings)[.!]?$", re.IGNORECASE)


def headed(text: str, language: str) -> str:
    """A person's sentence without a leading "hey," or "sounds good, and"; the whole where too little would be left."""
    rest = _APPROVAL.sub("", text, count=1) if _APPROVAL.match(text) else text
    joined = _JOINING.match(rest, language)
    rest = rest[joined.end() :] if joined else rest
    return _like(text, rest) if len(rest.split()) >= 3 else text


_NEXT = re.compile(
    r"(?:now|next|teraz|potem|сейчас|теперь|затем|jetzt|als nächstes|maintenant|ensuite|ahora|luego|adesso|poi|agora)\b"
    r"|עכשיו|כעת|次に|続いて|现在|接下来|이제|다음으로",
    re.IGNORECASE,
)


def goes_on(text: str) -> bool:
    """Whether a sentence starts with "now" or "next"."""
    return _NEXT.match(text) is not None


_YES = re.compile(
    r"(?:yes|no|right|correct|tak|nie|да|нет|כן|לא|ja|nein|oui|non|sí|no|sì|sim|não|はい|いいえ|是的|네|아니요)\s?[,:.;、，—–]\s*",
    re.IGNORECASE,
)


def unanswered(text: str, language: str) -> str:
    """An agent's sentence without its leading "Yes:", where the rest stands by itself."""
    found = _YES.match(text)
    if not found or leans(text[found.end() :], language) or len(text) - found.end() < _LEAST_LEFT:
        return text
    return capital(text[found.end() :])


def unjoined(text: str, language: str, *, so: bool = True) -> str:
    """The sentence without a leading "and"; with `so`, also without "so" and "then"."""
    for patterns in (_JOINING, _SO) if so else (_JOINING,):
        found = patterns.match(text, language)
        if found:
            return _like(text, text[found.end() :])
    return text


def affirms(text: str) -> bool:
    """Whether a sentence says yes to what was said before it, and hardly more."""
    return _AFFIRMING.match(text) is not None and len(text) <= 40


def leans(text: str, language: str) -> bool:
    """Whether a sentence is understood only together with the one before it ("Then …", "But …", "It …")."""
    rest = unjoined(text, language) if _JOINING.match(text, language) else text
    for patterns in (_BUT, _FOLLOWS, _POINTS):
        found = patterns.match(rest, language)
        if found and not _goes_on(rest, found.end()):
            return True
    return _TRAILING.search(text) is not None


def contrasts(text: str, language: str) -> bool:
    """Whether a sentence starts with "but"."""
    found = _BUT.match(text, language)
    return (found is not None and not _goes_on(text, found.end())) or _TRAILING.search(text) is not None


def _goes_on(text: str, at: int) -> bool:
    """Whether a word goes on at this place; in Japanese and Chinese that cannot be told."""
    return text[at - 1 : at].isalpha() and text[at : at + 1].isalpha() and ord(text[at]) < 0x3000


def _like(whole: str, rest: str) -> str:
    """`rest` with a capital where the whole began with one and `rest` with a plain word."""
    return capital(rest) if whole[:1].isupper() else rest


_PLAIN_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*(?=[\s,;:!?]|\.(?:\s|$)|$)")


def capital(text: str) -> str:
    """The text with its first letter large, unless it begins with a name that is written small ("offsetMs")."""
    word = _PLAIN_WORD.match(text)
    if not word or not (word.group()[1:].islower() or len(word.group()) == 1):
        return text
    return text[0].upper() + text[1:]


_LABELS = {
    "decision": (
        r"decisions?(?: (?:noted|recorded|made))?|decided|agreed|decyzj[ae](?: (?:zapisana|podjęta))?|ustaleni[ae]"
        r"|ustalono"
        r"|решени[ея]|решили|решено|החלטה|ההחלטה|הוחלט|entscheidung(?:en)?|beschluss|décisions?|decisi[óo]n(?:es)?"
        r"|decisione|decisão|acordado|決定(?:事項)?|方針|决定|結論|结论|결정"
    ),
    "lesson": (
        r"lessons?(?: learn(?:ed|t))?|learn(?:ed|t)|takeaway|what we learned|gotcha|(?:key |main )?findings?"
        r"|caveat|heads-up|note(?: to self)?|wnios(?:ek|ki)"
        r"|nauczka|obserwacja"
        r"|lekcja|uwaga|урок|вывод|выводы|наблюдение|примечание|לקח|מסקנה|הערה|lehre|erkenntnis|merke|hinweis"
        r"|leçon|à retenir"
        r"|à noter"
        r"|lecci[óo]n|aprendizaje|nota|lezione|lição|aprendizado|教訓|学び|注意|教训|经验|교훈|배운 점"
    ),
    "action": (
        r"to-?do|to do|next(?: steps?)?|action items?|follow-?up|remaining|still open|left over|still to do|pending"
        r"|fixme"
        r"|do zrobienia|(?:następn[ye]|kolejn[ye]) kroki?|pozostało|zostało|следующи[йе] шаги?|осталось|сделать|дальше"
        r"|לעשות|לביצוע|הצעד הבא|השלב הבא|נשאר|nächster? schritte?|zu erledigen|noch offen|offen|als nächstes"
        r"|à faire|prochaines? étapes?|reste à faire|por hacer|pendientes?|(?:próximo|siguiente) paso|da fare"
        r"|prossim[oi] pass[oi]|por fazer|a fazer|pendente|próximo passo|残り|残タスク|次のステップ|やること|今後"
        r"|待办|下一步|剩余|할 일|다음 단계|남은 일"
    ),
}
_LABEL = {
    part: re.compile(rf"(?:{row})\s?(?:[:：]\s*|\s[–—-]\s)(?=\S)", re.IGNORECASE) for part, row in _LABELS.items()
}


def unlabelled(text: str, part: str) -> str:
    """The sentence without the label that the part's own heading repeats ("Decision: …" among the decisions)."""
    found = _LABEL[part].match(text) if part in _LABEL else None
    return capital(text[found.end() :]) if found and len(text) > found.end() else text


def is_labelled(text: str, part: str) -> bool:
    return part in _LABEL and _LABEL[part].match(text) is not None


def labelled_part(text: str) -> str:
    """decision, lesson or action, where a sentence carries the label of one."""
    return next((part for part in _LABEL if is_labelled(text, part)), "")
