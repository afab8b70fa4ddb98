"""Commands that failed and later passed: facts of a session that no sentence has to tell.

A program's output is no source of statements here; of it only the short error line is quoted.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from afterword.compile.cues import is_injection
from afterword.compile.sentences import cut, normal, words
from afterword.domain.digest import Passage, Point
from afterword.domain.items import Kind

MAX_OUTPUT = 20_000
MAX_ERROR = 110
MAX_COMMAND = 70


class Fix(NamedTuple):
    failed: int
    """The index of the last failing run among the passages."""
    passed: int
    runs: int
    """How often it failed before."""
    point: Point


class Run(NamedTuple):
    """One run of a command. `at` is its index among the passages, `command` the part that does the work, `key` what
    makes two command lines runs of the same thing; `failed` is None when nothing tells."""

    at: int
    command: str
    key: tuple[str, ...]
    failed: bool | None
    error: str
    error_item: str


_TRIVIAL = words(
    "grep rg ls cat cd find test [ which head tail sed awk echo diff wc stat ps kill sleep pwd true false ag fd type "
    "command less file du df env printenv mkdir touch rm cp mv ln jq read source export set tree pgrep"
)
_TRIVIAL_GIT = words("status diff log show branch stash add rev-parse ls-files blame grep fetch")
_WRAPPERS = words("sudo time env npx uv poetry pdm pipenv run exec bundle pnpm yarn bunx nohup xvfb-run dotenv --")
_WITH_VERB = words(
    "git npm cargo go docker kubectl make pip pip3 terraform helm gradle mvn dotnet rake rails mix bun deno brew apt "
    "apt-get systemctl alembic docker-compose compose conda hatch tox nox just task"
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*$")
_ERROR_LINES = (
    (5.0, re.compile(r"^E\s+\S|^\s*\S*(?:Error|Exception)\b: \S|\b[a-z]?[A-Z]\w+(?:Error|Exception)\b: \S")),
    (
        3.0,
        re.compile(
            r"(?i)\b(?:error|fatal|panic|panicked|ошибка|błąd|fehler|erreur|errore|erro)\b\s*(?:\[\w+\])?[:!]|שגיאה|エラー|错误|오류"
        ),
    ),
    (
        2.0,
        re.compile(
            r"\bFAIL(?:ED)?\b|✗|✕|not found|(?i:permission denied|connection refused|no such file|undefined|cannot"
            r"|timed out|mismatch|unexpected|assert)"
        ),
    ),
)


class _Template(NamedTuple):
    same: str
    """The same command passed later."""
    other: str
    """Another form of it passed later."""
    error: str
    edits: str
    unedited: str = ""


_TEMPLATES = {
    "en": _Template(
        "{command} failed{error}, then passed{edits}",
        "{command} failed{error}, then {other} passed{edits}",
        " ({error})",
        " after editing {paths}",
    ),
    "pl": _Template(
        "{command} nie przeszło{error}, a{edits} przeszło",
        "{command} nie przeszło{error}, a{edits} przeszło {other}",
        " ({error})",
        " po zmianie {paths}",
        " potem",
    ),
    "ru": _Template(
        "{command}: сначала ошибка{error},{edits} успешно",
        "{command}: ошибка{error},{edits} {other} успешно",
        " ({error})",
        " после правки {paths}",
        " затем",
    ),
    "he": _Template(
        "{command} נכשל{error}, ו{edits} עבר",
        "{command} נכשל{error}, ו{edits} {other} עבר",
        " ({error})",
        "אחרי עריכת {paths}",
        "אחר כך",
    ),
    "de": _Template(
        "{command} schlug fehl{error} und lief{edits} durch",
        "{command} schlug fehl{error},{edits} lief {other} durch",
        " ({error})",
        " nach Änderung an {paths}",
        " danach",
    ),
    "fr": _Template(
        "{command} a échoué{error}, puis a réussi{edits}",
        "{command} a échoué{error}, puis {other} a réussi{edits}",
        " ({error})",
        " après modification de {paths}",
    ),
    "es": _Template(
        "{command} falló{error} y luego pasó{edits}",
        "{command} falló{error} y luego pasó {other}{edits}",
        " ({error})",
        " tras editar {paths}",
    ),
    "it": _Template(
        "{command} è fallito{error}, poi è riuscito{edits}",
        "{command} è fallito{error}, poi è riuscito {other}{edits}",
        " ({error})",
        " dopo la modifica di {paths}",
    ),
    "pt": _Template(
        "{command} falhou{error} e depois passou{edits}",
        "{command} falhou{error} e depois {other} passou{edits}",
        " ({error})",
        " após editar {paths}",
    ),
    "ja": _Template(
        "{command} は失敗した{error}が、{edits}成功した",
        "{command} は失敗した{error}が、{edits} {other} が成功した",
        "（{error}）",
        "{paths} を編集すると",
        "その後",
    ),
    "zh": _Template(
        "{command} 失败{error}，{edits}通过",
        "{command} 失败{error}，{edits} {other} 通过",
        "（{error}）",
        "修改 {paths} 后",
        "之后",
    ),
    "ko": _Template(
        "{command} 명령이 실패했으나{error} {edits} 통과했다",
        "{command} 명령이 실패했으나{error} {edits} {other} 명령이 통과했다",
        "({error})",
        "{paths} 수정 후",
        "이후",
    ),
}
"""Language → the sentence of a fix. Commands stand in it without backticks: the note would show them escaped."""

_FIX = re.compile(
    "|".join(
        re.sub(r"\\\{\w+\\\}", ".*", re.escape(form)) for row in _TEMPLATES.values() for form in (row.same, row.other)
    ),
    re.DOTALL,
)


def is_fix(text: str) -> bool:
    """Whether a digest's point tells of a command that failed and then passed."""
    return _FIX.fullmatch(text.rstrip(".。")) is not None


def fixes(passages: Sequence[Passage], language: str) -> list[Fix]:
    """The commands that failed and, later in the segment, passed, in order of their passing."""
    failed: dict[tuple[str, ...], list[Run]] = {}
    found: list[Fix] = []
    for run in runs(passages):
        if run.failed:
            failed.setdefault(run.key, []).append(run)
            continue
        before = failed.get(run.key)
        if not before or (run.failed is None and run.command != before[-1].command):
            continue
        del failed[run.key]
        found.append(_fix(before, run, passages, language))
    return found


def _fix(before: list[Run], passing: Run, passages: Sequence[Passage], language: str) -> Fix:
    last = before[-1]
    error = next((run for run in reversed(before) if run.error), None)
    edits = [p for p in passages[last.at : passing.at] if p.kind is Kind.EDIT and p.path]
    if not edits:
        edits = [p for p in passages[before[0].at : passing.at] if p.kind is Kind.EDIT and p.path]
    paths = list(dict.fromkeys(_short_path(p.path or "") for p in edits))
    shown = ", ".join(paths[:3]) + ("…" if len(paths) > 3 else "")
    template = _TEMPLATES.get(language, _TEMPLATES["en"])
    command = cut(last.command, MAX_COMMAND).replace("`", "'")
    other = cut(passing.command, MAX_COMMAND).replace("`", "'")
    text = (template.same if other == command else template.other).format(
        command=command,
        other=other,
        error=template.error.format(error=cut(error.error.removeprefix("E "), MAX_ERROR)) if error else "",
        edits=template.edits.format(paths=shown) if paths else template.unedited,
    )
    failing_item, passing_item = passages[last.at].item, passages[passing.at].item
    ids = [error.error_item] if error else []
    ids += [failing_item, passing_item, *(p.item for p in edits[:3])]
    quote = error.error if error else normal(passages[last.at].text[:2000])
    return Fix(last.at, passing.at, len(before), Point(text, tuple(dict.fromkeys(ids)), quote))


def runs(passages: Sequence[Passage]) -> list[Run]:
    """The commands worth following, each with what its output says. Outputs follow their commands in order."""
    waiting: list[int] = []
    answered = False
    outputs: dict[int, list[Passage]] = {}
    commands: list[int] = []
    for at, passage in enumerate(passages):
        if passage.kind in (Kind.COMMAND, Kind.CALL):
            if answered:
                waiting, answered = [], False
            waiting.append(at)
            if passage.kind is Kind.COMMAND:
                commands.append(at)
        elif passage.kind is Kind.OUTPUT:
            answered = True
            if waiting:
                outputs[waiting.pop(0)] = [passage]
        elif passage.kind in (Kind.PROMPT, Kind.REPLY):
            waiting = []
    found: list[Run] = []
    for at in commands:
        key = _key(passages[at].text)
        if not key:
            continue
        output = outputs.get(at, [])
        error, error_item = error_line(output)
        if passages[at].exit_status == "interrupted":
            continue
        failed = _failed(passages[at], output, error)
        found.append(Run(at, _shown(passages[at].text), key, failed, error if failed else "", error_item))
    return found


def _failed(command: Passage, output: Sequence[Passage], error: str) -> bool | None:
    """None when nothing tells."""
    status = next((p.exit_status for p in (command, *output) if p.exit_status is not None), None)
    match status:
        case None:
            return True if error else None
        case int():
            return status != 0
        case "ok":
            return False
        case "error" | "failed":
            return True
        case _:
            return None


_LOOP = re.compile(r"\s*(?:for|select|case)\s\S+\s+in\b")
_CONTROL = re.compile(r"\s*(?:(?:while|until|if|elif|do|then|else|!)\s+|[({]+\s*)+")
_CLOSING = words("done fi esac } ) wait")


def _main(command: str) -> list[str]:
    """The words of the part of a command line that does the work; of a loop that is its body."""
    lines = [part for part in command[:2000].split("\n") if part.strip() and not part.lstrip().startswith("#")]
    if not lines:
        return []
    looped = _LOOP.match(lines[0]) or _CONTROL.match(lines[0])
    words: list[str] = []
    for part in re.split(r"&&|;|\|\|", " ; ".join(lines) if looped else lines[0]):
        if _LOOP.match(part):
            continue
        part = _CONTROL.sub("", part, count=1) if _CONTROL.match(part) else part  # noqa: PLW2901
        words = re.split(r"\s\d?>|\s\||<<|\s&(?:\s|$)", " " + part)[0].split()
        if words and words[-1].endswith(")") and "(" not in words[-1]:
            words[-1] = words[-1].rstrip(")")
        while words and (_ASSIGNMENT.match(words[0]) or words[0] in _WRAPPERS):
            words = words[1:]
        if words and words[0] == "timeout":
            words = words[2:]
        if len(words) > 2 and words[0].startswith("python") and words[1] == "-m":
            words = words[2:]
        if words and words[0] and words[0].rsplit("/", 1)[-1] not in _TRIVIAL | _CLOSING:
            return words
    return []


def _key(command: str) -> tuple[str, ...]:
    """What makes two command lines runs of the same thing; empty for those not worth following."""
    words = _main(command)
    if not words:
        return ()
    program = words[0].rsplit("/", 1)[-1].lower()
    if program.startswith(("python", "node", "ruby", "bash", "sh", "perl")) or not program[0].isalnum():
        script = next((word for word in words[1:] if not word.startswith("-")), "")
        if not script or any(word in ("-c", "-e", "-") for word in words[1:2]):
            return ("exact", normal(command[:2000]))
        return (program.rstrip("0123456789."), script)
    if program in _WITH_VERB:
        verbs = [word for word in words[1:] if not word.startswith("-")]
        verb = verbs[0] if verbs else ""
        if program == "git" and verb in _TRIVIAL_GIT:
            return ()
        if verb == "run" and len(verbs) > 1:
            verb = verbs[1]
        return (program, verb)
    return (program,)


def _shown(command: str) -> str:
    """The command line without its folder change and plumbing."""
    words = _main(command)
    return " ".join(words) if words else normal(command[:200])


def error_line(output: Sequence[Passage]) -> tuple[str, str]:
    """The most telling error line of an output, white space normalised, and its item."""
    best: tuple[float, str, str] = (0.0, "", "")
    for passage in output:
        text = passage.text
        if len(text) > MAX_OUTPUT:
            text = text[: MAX_OUTPUT // 4].rsplit("\n", 1)[0] + "\n" + text[-3 * MAX_OUTPUT // 4 :].split("\n", 1)[-1]
        for line in text.split("\n"):
            if len(line) > 300:
                continue
            points = next((points for points, pattern in _ERROR_LINES if pattern.search(line)), 0.0)
            if points <= best[0]:
                continue
            short = normal(line)
            if len(short) <= 220 and len(short.split()) <= 28 and "://" not in short and not is_injection(short):
                best = (points, short, passage.item)
    return best[1], best[2]


def _short_path(path: str) -> str:
    return "/".join(path.replace("\\", "/").rsplit("/", 2)[-2:]).lstrip("/")
