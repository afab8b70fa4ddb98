"""How much of what was planted in made-up sessions is found in articles, and how well doubles are told.

`python -m bench.compile [--json] [--misses]`. The sessions are those of `bench.digest`, four to a day: the digests are
the extractive engine's own, so a fact the digest missed counts as missed here as well (`given` leaves those out).
Merge decisions are measured on pairs labelled by hand. Only the `dev` halves were looked at while tuning.
"""

import argparse
import json
import platform
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from afterword.compile.extractive import Extractive
from afterword.compile.likeness import Likeness
from afterword.compile.merge import Knowledge
from afterword.compile.same import Profile, judge, profile_of
from afterword.compile.sentences import normal
from afterword.compile.validate import points_of, valid
from afterword.domain.articles import RELATED, Article, Claim, CompileInput, Proposal, SectionText
from afterword.domain.ids import SegmentKey
from bench.digest import Case, cases

PAIRS = Path(__file__).parent.parent / "tests" / "fixtures" / "compile" / "pairs.txt"
TARGETS = {"facts": 0.75, "duplicates": 0.05, "precision": 0.95, "recall": 0.80, "links": 1.0, "unproved": 0}
SESSIONS_A_DAY = 4


class Pair(msgspec.Struct, frozen=True):
    same: bool
    split: str
    name: str
    one: Profile
    other: Profile


def pairs(path: Path = PAIRS) -> list[Pair]:
    """The labelled pairs, in their order."""
    found = []
    for block in path.read_text("utf-8").split("\n= ")[1:]:
        head, _, rest = block.partition("\n")
        verdict, split, name = head.split(" ", 2)
        one, other = (_side(text) for text in rest.split("\nB: "))
        found.append(Pair(verdict == "same", split, name, one, other))
    return found


def _side(text: str) -> Profile:
    title, *lines = [line for line in text.removeprefix("A: ").strip().split("\n") if line]
    points = tuple(Claim(line[2:], SegmentKey("s-000000000000"), line[2:]) for line in lines)
    return profile_of(Proposal("concept", title, points, ""), title)


def merge_scores(rows: Sequence[Pair]) -> dict[str, dict[str, Any]]:
    """Precision and recall of `same`, by split and in all."""
    likeness = Likeness()
    for row in rows:
        likeness.add(row.one.words)
        likeness.add(row.other.words)
    scores = {}
    for split in (*sorted({row.split for row in rows}), "all"):
        mine = [row for row in rows if split in (row.split, "all")]
        said = [judge(row.one, row.other, likeness) > 0 for row in mine]
        hits = sum(yes and row.same for yes, row in zip(said, mine, strict=True))
        scores[split] = {
            "pairs": len(mine),
            "precision": round(hits / max(1, sum(said)), 3),
            "recall": round(hits / max(1, sum(row.same for row in mine)), 3),
            "missed": [row.name for yes, row in zip(said, mine, strict=True) if row.same and not yes],
            "wrong": [row.name for yes, row in zip(said, mine, strict=True) if yes and not row.same],
        }
    return scores


def compiled(found: Sequence[Case]) -> dict[str, Any]:
    """The articles of these sessions and what of the planted facts is in them."""
    engine = Extractive()
    knowledge = Knowledge()
    texts: dict[str, list[str]] = {}
    sections: dict[str, SectionText] = {}
    facts: list[tuple[str, str, bool]] = []
    claims = unproved = thin = 0
    before = time.process_time()
    for n in range(0, len(found), SESSIONS_A_DAY):
        day = f"2026-01-{n // SESSIONS_A_DAY + 1:02}"
        today = []
        for m, case in enumerate(found[n : n + SESSIONS_A_DAY]):
            section = _section(case, day, m, engine)
            today.append(section)
            sections[section.key] = section
            for passage in (*case.segment.passages, *case.segment.reports):
                texts.setdefault(passage.item, []).append(passage.text)
            said = [
                normal(text).replace("`", "").casefold()
                for point in points_of(section.digest)
                for text in (point.text, point.quote)
            ]
            for span in (*case.labels.decisions, *case.labels.lessons):
                wanted = normal(span).replace("`", "").casefold()
                facts.append((case.name, wanted, any(wanted in text for text in said)))
        given = CompileInput(day, tuple(today))
        raw = engine.compile(given)
        kept, _ = valid(
            raw, {s.key: s for s in today}, lambda ids: [t for i in ids for t in texts.get(i, [])], given.most
        )
        claims += sum(len(p.points) for p in raw)
        unproved += sum(len(p.points) for p in raw) - sum(len(p.points) for p in kept)
        thin += len(kept) < 3
        knowledge.build(day, engine.name, kept)
    cpu_s = time.process_time() - before
    articles = knowledge.articles
    told = {uid: _told(article) for uid, article in articles.items()}
    holders = {wanted: [uid for uid, text in told.items() if wanted in text] for _, wanted, _ in facts}
    keyed = {uid: _told(article, details=False) for uid, article in articles.items()}
    doubled = {
        uid
        for _, wanted, _ in facts
        if len(where := [uid for uid, text in keyed.items() if wanted in text]) > 1
        for uid in where[1:]
    }
    open_links = sum(1 for a in articles.values() for r in a.related if r.uid not in articles)
    few = sum(len(a.related) < min(RELATED, len(articles) - 1) for a in articles.values())
    have = [fact for fact in facts if fact[2]]
    return {
        "sessions": len(found),
        "articles": len(articles),
        "facts": len(facts),
        "found": sum(bool(holders[wanted]) for _, wanted, _ in facts),
        "given": len(have),
        "given_found": sum(bool(holders[wanted]) for _, wanted, _ in have),
        "in_key_points": sum(any(wanted in text for text in keyed.values()) for _, wanted, _ in facts),
        "doubled": len(doubled),
        "links_open": open_links,
        "few_links": few,
        "claims": claims,
        "unproved": unproved,
        "thin_days": thin,
        "cpu_ms": round(1000 * cpu_s, 1),
        "missed": [f"{name}: {wanted}" for name, wanted, there in facts if there and not holders[wanted]],
        "titles": [article.title for article in articles.values()],
    }


def _section(case: Case, day: str, n: int, engine: Extractive) -> SectionText:
    key = SegmentKey(f"s-{abs(hash_of(case.name)):012x}"[:14])
    segment = case.segment
    return SectionText(
        key,
        day,
        f"{9 + n:02}:00",
        segment.harness,
        segment.project or case.name,
        case.name,
        segment.title,
        engine.digest(segment),
    )


def hash_of(text: str) -> int:
    import hashlib

    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest())


def _told(article: Article, *, details: bool = True) -> str:
    row = [text for claim in article.points for text in (claim.text, claim.quote)]
    return " ¶ ".join(
        normal(text).replace("`", "").casefold() for text in (*row, *([article.details] if details else []))
    )


def _line(row: Iterable[object]) -> str:
    return "".join(f"{cell!s:>14}" for cell in row)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--misses", action="store_true", help="name what the dev halves missed, and its titles")
    options = parser.parse_args()
    sessions = cases()
    by_split = {
        split: [case for case in sessions if case.split == split] for split in sorted({c.split for c in sessions})
    }
    knowledge = {split: compiled(found) for split, found in by_split.items()}
    merges = merge_scores(pairs())
    if options.json:
        where = {"python": platform.python_version(), "machine": platform.machine(), "system": platform.system()}
        print(json.dumps({"version": 1, "ran_on": where, "targets": TARGETS, "knowledge": knowledge, "merge": merges}))
        return 0
    print(f"Python {platform.python_version()} on {platform.system()} {platform.machine()}")
    print(
        _line(
            (
                "sessions of",
                "articles",
                "facts found",
                "given digest",
                "in key pts",
                "doubled",
                "few links",
                "unproved",
                "cpu ms",
            )
        )
    )
    for split, s in knowledge.items():
        print(
            _line(
                (
                    split,
                    s["articles"],
                    f"{s['found']}/{s['facts']} {s['found'] / s['facts']:.2f}",
                    f"{s['given_found'] / max(1, s['given']):.2f}",
                    f"{s['in_key_points'] / s['facts']:.2f}",
                    f"{s['doubled']} {s['doubled'] / max(1, s['articles']):.2f}",
                    s["few_links"] + s["links_open"],
                    f"{s['unproved']}/{s['claims']}",
                    s["cpu_ms"],
                )
            )
        )
    print(_line(("target", "", ">= 0.75", "", "", "<= 0.05", "0", "0", "")))
    for split, score in merges.items():
        print(
            f"merge decisions, {split:5} {score['pairs']:3} pairs:"
            f" precision {score['precision']:.2f}, recall {score['recall']:.2f}"
        )
    print("target                            precision 0.95, recall 0.80")
    if options.misses:
        for split, s in knowledge.items():
            if split == "dev":
                print(
                    f"\n{split}: given by the digest and in no article",
                    *s["missed"],
                    "\ntitles",
                    *s["titles"],
                    sep="\n  ",
                )
        print(
            "\nmerge, dev:", *merges["dev"]["missed"], *(f"WRONG {name}" for name in merges["dev"]["wrong"]), sep="\n  "
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
