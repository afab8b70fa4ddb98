"""How much of what matters the extractive digest finds, and how much junk it shows, on the made-up sessions.

`python -m bench.digest [--json] [--misses] [--folder DIR]`. A planted statement counts as found only in its own part.
A point is junk when it matches nothing labelled worth showing there, an exchange also when it shows what is labelled
junk; a point that stands in the wrong part is *misfiled*. The context counts as right when it names the matter.
The sessions are made up. Those marked `held-out` were written after the phrases were; what they miss was not looked at,
and `--misses` does not show it. Sessions that were looked at are `dev`, so their figures are flattering.
"""

import argparse
import json
import platform
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TypedDict

import msgspec

from afterword.compile.extractive import Extractive
from afterword.compile.sentences import normal
from afterword.domain.digest import Digest, DigestInput, Point
from afterword.domain.items import Kind

FOLDER = Path(__file__).parent.parent / "tests" / "fixtures" / "digest"
PARTS = ("decisions", "lessons", "actions")
TARGETS = {"decisions": 0.80, "lessons": 0.75, "actions": 0.85}
MAX_JUNK = 0.15


class Labels(msgspec.Struct, frozen=True):
    """Spans of the session's text. `fair` may be shown as an exchange, `also` in a part, neither has to be.

    The context of a session should hold one of the spans of `context`, where there are any.
    """

    decisions: list[str]
    lessons: list[str]
    actions: list[str]
    fair: list[str]
    junk: list[str]
    also: dict[str, list[str]]
    context: list[str] = []

    def of(self, part: str) -> list[str]:
        return {"decisions": self.decisions, "lessons": self.lessons, "actions": self.actions}[part]


class Case(msgspec.Struct, frozen=True):
    name: str
    split: str
    language: str
    segment: DigestInput
    labels: Labels


class Score(TypedDict):
    sessions: int
    planted: dict[str, int]
    found: dict[str, int]
    anywhere: dict[str, int]
    points: int
    junk: int
    misfiled: int
    contexts: int
    named: int
    cpu_ms: float


class Result(msgspec.Struct, frozen=True):
    case: Case
    found: dict[str, int]
    anywhere: dict[str, int]
    points: int
    junk: list[str]
    misfiled: list[str]
    missed: list[str]
    named: bool
    cpu_s: float


def cases(folder: Path = FOLDER) -> list[Case]:
    """The labelled sessions, by name."""
    return [msgspec.json.decode(path.read_bytes(), type=Case) for path in sorted(folder.glob("*.json"))]


def judge(case: Case, digest: Digest, cpu_s: float = 0.0) -> Result:
    """The digest against the labels of its session."""
    shown = {
        "decisions": digest.decisions,
        "lessons": digest.lessons,
        "actions": digest.actions,
        "exchanges": digest.exchanges,
    }
    everything = [point for points in shown.values() for point in points]
    labels = case.labels
    found: dict[str, int] = {}
    anywhere: dict[str, int] = {}
    missed: list[str] = []
    for part in PARTS:
        spans = labels.of(part)
        hits = [any(tells(point, span) for point in shown[part]) for span in spans]
        found[part] = sum(hits)
        anywhere[part] = sum(any(tells(p, span) for p in (*everything, digest.context)) for span in spans)
        missed += [f"{part}: {span}" for span, hit in zip(spans, hits, strict=True) if not hit]
    junk: list[str] = []
    misfiled: list[str] = []
    planted = [span for part in PARTS for span in labels.of(part)]
    kind_of = {passage.item: passage.kind for passage in case.segment.passages}
    for part, points in shown.items():
        for point in points:
            if part == "exchanges":
                fact = any(kind_of[item] is Kind.COMMAND for item in point.items)
                asked = any(
                    passage.kind is Kind.PROMPT and passage.item in point.items and point.quote in normal(passage.text)
                    for passage in case.segment.passages
                )
                good = fact or asked or matches(point, labels.fair) or matches(point, planted)
                if not good or matches(point, labels.junk):
                    junk.append(f"{part}: {point.text}")
            elif matches(point, labels.of(part)) or matches(point, labels.also.get(part, [])):
                continue
            elif matches(point, planted) and not matches(point, labels.junk):
                misfiled.append(f"{part}: {point.text}")
            else:
                junk.append(f"{part}: {point.text}")
    named = not labels.context or matches(digest.context, labels.context)
    if not named:
        missed.append(f"context: {digest.context.text}")
    return Result(case, found, anywhere, len(everything), junk, misfiled, missed, named, cpu_s)


def tells(point: Point, span: str) -> bool:
    """Whether a point says what was planted: the span stands in its quote or its text (backticks aside)."""
    wanted = normal(span).replace("`", "").casefold()
    return any(wanted in normal(text).replace("`", "").casefold() for text in (point.quote, point.text))


def matches(point: Point, spans: Iterable[str]) -> bool:
    return any(tells(point, span) for span in spans)


def run(found: Iterable[Case]) -> list[Result]:
    engine = Extractive()
    results = []
    for case in found:
        before = time.process_time()
        digest = engine.digest(case.segment)
        results.append(judge(case, digest, time.process_time() - before))
    return results


def total(results: list[Result]) -> Score:
    return Score(
        sessions=len(results),
        planted={part: sum(len(r.case.labels.of(part)) for r in results) for part in PARTS},
        found={part: sum(r.found[part] for r in results) for part in PARTS},
        anywhere={part: sum(r.anywhere[part] for r in results) for part in PARTS},
        points=sum(r.points for r in results),
        junk=sum(len(r.junk) for r in results),
        misfiled=sum(len(r.misfiled) for r in results),
        contexts=sum(bool(r.case.labels.context) for r in results),
        named=sum(bool(r.case.labels.context) and r.named for r in results),
        cpu_ms=round(1000 * sum(r.cpu_s for r in results), 1),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--misses", action="store_true", help="name what the dev half missed (never the held-out one)")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    options = parser.parse_args()
    results = run(cases(options.folder))
    groups: dict[str, list[Result]] = {}
    for result in results:
        split = result.case.split
        groups.setdefault(split, []).append(result)
        script = "en" if result.case.language == "en" else "other"
        groups.setdefault(f"{split}/{script}", []).append(result)
    scores = {name: total(group) for name, group in sorted(groups.items())}
    if options.json:
        where = {"python": platform.python_version(), "machine": platform.machine(), "system": platform.system()}
        print(json.dumps({"version": 1, "ran_on": where, "targets": {**TARGETS, "junk": MAX_JUNK}, "splits": scores}))
        return 0
    print(f"Python {platform.python_version()} on {platform.system()} {platform.machine()}")
    heads = "".join(f"{part:>16}" for part in PARTS)
    print(f"{'split':16}{'sessions':>9}{heads}{'junk':>14}{'misfiled':>10}{'context':>9}{'cpu ms':>9}")
    for name, score in scores.items():
        row = f"{name:16}{score['sessions']:>9}"
        for part in PARTS:
            hit, most = score["found"][part], score["planted"][part]
            row += f"{f'{hit}/{most} {hit / max(1, most):.2f}':>16}"
        junk = f"{score['junk']}/{score['points']} {score['junk'] / max(1, score['points']):.2f}"
        context = f"{score['named']}/{score['contexts']}"
        print(row + f"{junk:>14}{score['misfiled']:>10}{context:>9}{score['cpu_ms']:>9}")
    print(f"{'target':16}{'':9}{'>= 0.80':>16}{'>= 0.75':>16}{'>= 0.85':>16}{'<= 0.15':>14}")
    if options.misses:
        for result in results:
            if result.case.split == "dev":
                lines = [*(f"missed {m}" for m in result.missed), *(f"JUNK {j}" for j in result.junk)]
                lines += [f"misfiled {m}" for m in result.misfiled]
                print(f"\n{result.case.name}", *lines, sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
