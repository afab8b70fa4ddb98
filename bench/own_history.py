"""A made-up coding history in four languages, and what people would ask of it: the question set of our own.

The stories are written by hand (`own/stories-*.txt`); around them a seeded generator lays work that comes again every
month (for questions about times), requests of several people for the same thing (names), logs full of codes, and
small talk. Every other story, by a hash of its name, is held out: weights are chosen on the rest alone.
"""

import datetime as dt
import random
import zlib
from collections.abc import Iterator
from pathlib import Path

from bench.questions import Question, Turn, transcript

NOW = "2026-06-30T12:00:00Z"
_FOLDER = Path(__file__).parent / "own"
_PROJECTS = ("atlas", "lantern", "quill", "ferry", "basalt", "orchid", "compass")
_MARKS = {">": "user", "<": "assistant", "$": "command", "!": "output", "=": "edit"}
_MONTHS = {
    "en": ("January", "February", "March", "April", "May", "June"),
    "pl": ("styczniu", "lutym", "marcu", "kwietniu", "maju", "czerwcu"),
    "ru": ("январе", "феврале", "марте", "апреле", "мае", "июне"),
    "he": ("ינואר", "פברואר", "מרץ", "אפריל", "מאי", "יוני"),
}
# What comes again every month: (language, project, what was asked for, what came of it, question).
_ROUTINES = (
    ("en", "atlas", "Run the load test of {project} again, please.",
     "Load test done: {a} requests a second at the 95th percentile of {b} ms; the limit was the {c}.",
     "what came out of the load test of atlas in {month}"),
    ("en", "ferry", "Dependencies of {project} need their update.",
     "Updated {a} packages, {b} of them with breaking changes; the {c} had to be adapted.",
     "which dependencies did we update in ferry in {month}"),
    ("en", "orchid", "How are the costs of {project} this month?",
     "Costs are {a} euros, {b} percent of it for the {c}.",
     "what were the costs of orchid in {month}"),
    ("pl", "kasztan", "Zrób przegląd bezpieczeństwa projektu {project}.",
     "Przegląd zrobiony: {a} uwag, w tym {b} poważnych; najgorsza dotyczy: {c}.",
     "co wyszło z przeglądu bezpieczeństwa w {month}"),
    ("ru", "sosna", "Подведи итоги спринта по проекту {project}.",
     "Итоги спринта: закрыто {a} задач, перенесено {b}; больше всего времени ушло на {c}.",
     "какие были итоги спринта в {month}"),
    ("he", "tamar", "סכם בבקשה את הישיבה על {project}.",
     "סיכום הישיבה: {a} נושאים, {b} משימות פתוחות, העיקרית היא {c}.",
     "מה היה בסיכום הישיבה בחודש {month}"),
)  # fmt: skip
_THINGS = {
    "en": ("connection pool", "disk", "image cache", "queue", "template engine", "session store"),
    "pl": ("logowanie", "kopie zapasowe", "nagłówki", "uprawnienia", "sesje", "wtyczki"),
    "ru": ("отчёты", "платежи", "склад", "мобильную сборку", "импорт", "поиск"),
    "he": ("התשלומים", "העיצוב", "הגיבוי", "הבדיקות", "הביצועים", "ההרשאות"),
}
# What several people ask for: (what, what was done, question).
_WISHES = (
    ("an export of the member list", "The export writes {a} columns in the order {name} gave.",
     "what did {name} want exported"),
    ("a darker theme for the admin pages", "The contrast is {a}:1 now, as {name} asked.",
     "which theme did {name} ask for"),
    ("fewer e-mails from the build", "{name} gets one summary at {a} o'clock.",
     "who wanted fewer e-mails, was it {name}"),
    ("keyboard shortcuts in the editor", "{a} shortcuts, the list is in the help page; {name} tried them.",
     "which shortcuts did {name} try"),
)  # fmt: skip
_PEOPLE = ("Ania", "Bartek", "Carmen", "Dmitri", "Esra", "Farid")
_TALK = (
    ("Rename the {a} module, the name says nothing.", "Renamed, {n} imports follow it; the tests pass."),
    ("Add a type to every function in the {a} module.", "{n} functions have types now, mypy is content."),
    ("The {a} page needs a new icon.", "Drawn with {n} points, in the colours of the rest."),
    ("Explain what the {a} module does.", "It reads rows, groups them by {n} keys and hands them on."),
    ("Remove dead code from the {a} module.", "{n} lines less; nothing called them."),
)
_AREAS = ("sidebar", "invoice", "calendar", "avatar", "footer", "importer", "wizard", "badge", "digest", "ticket")


class Story:
    """A session: its name, project, start, language and turns, and what is asked of it."""

    def __init__(self, key: str, project: str, start: dt.datetime, language: str) -> None:
        self.key = key
        self.project = project
        self.start = start
        self.language = language
        self.turns: list[Turn] = []
        self.asked: list[tuple[str, str]] = []


def stories() -> list[Story]:
    """All sessions of the history, the written and the made ones; always the same."""
    rng = random.Random(20260630)
    written = [story for path in sorted(_FOLDER.glob("stories-*.txt")) for story in _written(path)]
    return [*written, *_monthly(rng), *_wished(rng), *_coded(rng), *_recent(), *_talked(rng)]


def questions(part: str = "all") -> list[Question]:
    """The questions that something answers: `dev`, `held-out` or `all`."""
    found = []
    for story in stories():
        held_out = bool(zlib.crc32(story.key.encode()) & 1)
        if part == "all" or held_out == (part == "held-out"):
            found += [Question(text, category, [story.key]) for category, text in story.asked]
    return found


def unanswerable() -> dict[str, list[str]]:
    """The questions that nothing answers, by kind."""
    found: dict[str, list[str]] = {}
    kind = ""
    for line in (_FOLDER / "unanswerable.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            kind = line[2:].partition(":")[0]
        elif line.strip():
            found.setdefault(kind, []).append(line)
    return found


def lay_out(home: Path) -> None:
    """Write every session as a transcript into a HOME."""
    for story in stories():
        transcript(home, story.key, story.turns, story.start, story.project)


def _written(path: Path) -> Iterator[Story]:
    story: Story | None = None
    language = path.stem.rpartition("-")[2]
    for line in path.read_text(encoding="utf-8").splitlines():
        mark, _, text = line.partition(" ")
        if mark == "#":
            if story:
                yield story
            key, project, day = (part.strip() for part in text.split("|"))
            story = Story(key, project, _at(day, 9 + len(key) % 8), language)
        elif mark == "?" and story:
            category, _, asked = text.partition("|")
            story.asked.append((category.strip(), asked.strip()))
        elif story:
            story.turns.append((_MARKS[mark], text))
    if story:
        yield story


def _at(day: str, hour: int) -> dt.datetime:
    return dt.datetime.fromisoformat(day).replace(hour=hour, tzinfo=dt.UTC)


def _monthly(rng: random.Random) -> Iterator[Story]:
    for number, (language, project, wish, done, asked) in enumerate(_ROUTINES):
        for month in range(1, 7):
            story = Story(
                f"monthly-{project}-{month}", project, _at(f"2026-{month:02d}-{3 + number * 4:02d}", 10), language
            )
            thing = _THINGS[language][(month + number) % 6]
            story.turns = [
                ("user", wish.format(project=project)),
                ("assistant", done.format(a=rng.randrange(20, 900), b=rng.randrange(3, 20), c=thing)),
            ]
            story.asked = [("time", asked.format(month=_MONTHS[language][month - 1]))]
            yield story


def _wished(rng: random.Random) -> Iterator[Story]:
    for number, (wish, done, asked) in enumerate(_WISHES):
        for place, name in enumerate(_PEOPLE):
            day = dt.date(2026, 1, 5) + dt.timedelta(days=number * 40 + place * 5)
            story = Story(f"wish-{number}-{name.lower()}", _PROJECTS[(number + place) % 7], _at(str(day), 15), "en")
            story.turns = [
                ("user", f"{name} asks for {wish}."),
                ("assistant", done.format(a=rng.randrange(4, 19), name=name)),
            ]
            if place % 2 == number % 2:
                story.asked = [("name", asked.format(name=name))]
            yield story


def _coded(rng: random.Random) -> Iterator[Story]:
    """Sessions full of codes; each has one that stands nowhere else, and one that others nearly have."""
    for number in range(16):
        code = f"E{rng.randrange(1000, 9999)}"
        call = "".join(
            word.title() for word in rng.sample(("resolve", "encoded", "tenant", "route", "batch", "cursor"), 3)
        )
        call = f"{call[0].lower()}{call[1:]}{number}"
        flag = f"--{rng.choice(('keep', 'skip', 'force', 'only'))}-{rng.choice(_AREAS)}-{number}"
        story = Story(f"codes-{number}", _PROJECTS[number % 7], _at(f"2026-05-{number + 3:02d}", 11), "en")
        story.turns = [
            ("user", f"The build of {story.project} is red, please look."),
            ("command", f"make check {flag}"),
            ("output", f"error {code}: {call}() returned 3 rows, 4 expected\nmake: *** [check] Error 2"),
            ("assistant", f"`{call}` counted the header as a row. It starts at the second line now."),
            ("edit", f"{story.project}/rows_{number}.py"),
        ]
        if number % 2:
            story.asked = [("identifier", call), ("flag", flag)]
        else:
            story.asked = [("error", f"error {code}: {call}() returned 3 rows"), ("identifier", f"rows_{number}.py")]
        yield story


def _recent() -> Iterator[Story]:
    """What people call by its distance from today, which is the last of June."""
    told = (
        ("2026-06-29", "ferry", "The harbour display flickers.", "A loose refresh timer; it ticks once a second now.",
         "what did we fix on the display yesterday", "wyświetlacz w porcie, co zrobiliśmy wczoraj"),
        ("2026-06-24", "quill", "Spell checking is slow in long documents.",
         "Only the paragraph that changed is checked now.",
         "what was done about spell checking last week", "что сделали с проверкой орфографии на прошлой неделе"),
        ("2026-06-12", "basalt", "Cut the log volume of basalt by half.",
         "Health checks are not logged any more, that was 58 percent.",
         "how did we cut the log volume earlier this month", "מה עשינו החודש עם הלוגים של basalt"),
        ("2026-05-22", "lantern", "The price table needs thousands separators.",
         "Numbers are formatted by the visitor's locale.",
         "what did we do with the price table last month", "co zrobiliśmy z tabelą cen w zeszłym miesiącu"),
    )  # fmt: skip
    for day, project, wish, done, *asked in told:
        story = Story(f"recent-{project}", project, _at(day, 13), "en")
        story.turns = [("user", wish), ("assistant", done)]
        story.asked = [("time", text) for text in asked]
        yield story
    # The same words at another time: only the time tells them apart.
    for day, project, wish, done, *_ in told:
        story = Story(f"earlier-{project}", project, _at(day.replace("2026-0", "2025-0"), 13), "en")
        story.turns = [("user", wish), ("assistant", done.replace("now", "for the time being"))]
        yield story


def _talked(rng: random.Random) -> Iterator[Story]:
    for number in range(80):
        wish, done = rng.choice(_TALK)
        day = dt.date(2026, 1, 2) + dt.timedelta(days=rng.randrange(170))
        story = Story(f"talk-{number}", rng.choice(_PROJECTS), _at(str(day), rng.randrange(8, 18)), "en")
        area = rng.choice(_AREAS)
        story.turns = [
            ("user", wish.format(a=area)),
            ("assistant", done.format(n=rng.randrange(2, 90))),
        ]
        yield story
