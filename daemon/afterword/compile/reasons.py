"""Why an article links to another, in the language it is written in."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from afterword.compile import cues
from afterword.compile.likeness import fold, is_light, stem
from afterword.compile.sentences import words
from afterword.domain.articles import Article

_WORD = re.compile(r"[^\W\d_]{3,}")
_EAST = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LEAST_LETTERS: Final = 4
_EMPTY: Final = frozenset(
    map(
        fold,
        words(
            "last first hour hours minute minutes second seconds month year night evening morning local whole every "
            "third once twice many much long short time times file files name names value values case part place line "
            "lines number numbers page thing user users person people step steps way ways kind example reason cause "
            "result side end begin start back set run runs running find found keep kept give given without only "
            "already almost nobody somebody everybody longer shorter order same other another alone still until since "
            "release"
        ),
    )
)
"""Words that two texts may share without having a matter in common."""

TEXTS: Final[Mapping[str, tuple[str, str, str, str]]] = {
    "en": ("both about {}", "came up in the same session", "also from {}", "from the days around it"),
    "de": ("beide über {}", "aus derselben Sitzung", "auch aus {}", "aus denselben Tagen"),
    "pl": ("oba dotyczą: {}", "z tej samej sesji", "także z {}", "z tych samych dni"),
    "ru": ("оба о: {}", "из того же сеанса", "тоже из {}", "из тех же дней"),
    "he": ("שניהם על {}", "מאותה שיחה", "גם מ־{}", "מאותם ימים"),
    "fr": ("traitent tous deux de {}", "de la même session", "aussi de {}", "des mêmes jours"),
    "es": ("ambos sobre {}", "de la misma sesión", "también de {}", "de los mismos días"),
    "it": ("entrambi su {}", "dalla stessa sessione", "anche da {}", "degli stessi giorni"),
    "pt": ("ambos sobre {}", "da mesma sessão", "também de {}", "dos mesmos dias"),
    "ja": ("どちらも{}について", "同じセッションから", "同じく{}から", "同じ頃の記事"),
    "zh": ("都与{}有关", "来自同一次会话", "同样来自{}", "来自同一时期"),
    "ko": ("둘 다 {}에 관한 글", "같은 세션에서", "역시 {}에서", "같은 시기의 글"),
}
"""Language → (shared words, same session, same project, else)."""
IN_CONNECTION: Final[Mapping[str, tuple[str, str]]] = {
    "en": ("where it showed on {}", "what it has in common with another session"),
    "de": ("wo es sich am {} zeigte", "was es mit einer anderen Sitzung gemeinsam hat"),
    "pl": ("gdzie wyszło to {}", "co łączy to z inną sesją"),
    "ru": ("где это проявилось {}", "что общего с другим сеансом"),
    "he": ("היכן זה התגלה ב־{}", "מה משותף לזה ולשיחה אחרת"),
    "fr": ("là où cela s’est vu le {}", "ce que cela a en commun avec une autre session"),
    "es": ("donde se vio el {}", "lo que tiene en común con otra sesión"),
    "it": ("dove si è visto il {}", "ciò che ha in comune con un’altra sessione"),
    "pt": ("onde se viu em {}", "o que tem em comum com outra sessão"),
    "ja": ("{}に現れた箇所", "別のセッションとの共通点"),
    "zh": ("{}出现之处", "与另一次会话的共同点"),
    "ko": ("{}에 드러난 곳", "다른 세션과의 공통점"),
}
"""Language → (why a connection links to an article, why the article links back)."""
_AND: Final = {
    "en": " and ",
    "de": " und ",
    "pl": ", ",
    "ru": ", ",
    "fr": " et ",
    "es": " y ",
    "it": " e ",
    "pt": " e ",
}


_FILLERS: Final = frozenset(row[3] for row in TEXTS.values())


def is_filler(said: str) -> bool:
    """Whether a reason is none: a link only because there should be one."""
    return said in _FILLERS


def language_of(article: Article) -> str:
    """The language an article is written in."""
    return cues.language(" ".join((article.title, *(claim.text for claim in article.points))))


def reason(one: Article, other: Article, common: Iterable[str]) -> str:
    """Why `one` links to `other`. `common` are the stems both hold, the most telling first."""
    language = language_of(one)
    about, session, project, days = TEXTS.get(language, TEXTS["en"])
    shown = [word for stem_ in common if (word := _surface(stem_, language, one, other))][:2]
    if shown:
        return about.format(_AND.get(language, "、" if language in ("ja", "zh") else ", ").join(shown))
    if set(one.sections) & set(other.sections):
        return session
    projects = [name for name in one.projects if name in other.projects]
    return project.format(projects[0]) if projects else days


def back_reason(article: Article) -> str:
    """Why an article links to a connection that it is part of."""
    return IN_CONNECTION.get(language_of(article), IN_CONNECTION["en"])[1]


def _surface(wanted: str, language: str, *articles: Article) -> str:
    """A word of both articles as it was written, if it matters to them: in a title, or said twice in each."""
    if is_light(wanted) or wanted in _EMPTY:
        return ""
    forms: Counter[str] = Counter()
    titled = False
    least = 99
    for article in articles:
        told = [word for claim in article.points for word in _WORD.findall(claim.text)]
        named = _WORD.findall(article.title)
        here = [word for word in (*named, *told) if stem(word) == wanted]
        plain = language != "de"  # where a capital is only that of a sentence's first word
        forms.update(word.lower() if plain and word[1:] == word[1:].lower() else word for word in here)
        titled = titled or any(stem(word) == wanted for word in named)
        least = min(least, len(here))
    if least < 1 or (not titled and least < 2):
        return ""
    form = min(forms, key=lambda form: (-forms[form], len(form), form))
    return form if len(form) >= _LEAST_LETTERS or form.isupper() or _EAST.search(form) else ""
