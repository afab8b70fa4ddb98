"""How much of what was planted in made-up sessions is found in articles, and how well doubles are told.

`python -m bench.compile [--json] [--misses]`. The sessions are those of `bench.digest`, four to a day: the digests are
the extractive engine's own, so a fact the digest missed counts as missed here as well (`given` leaves those out).
Merge decisions are measured on pairs labelled by hand, by words alone and by meaning too, in one language and across
two; `supersedes` are pairs whose second part replaces a decision of the first. Only `dev` halves were looked at while
tuning. `--words` leaves the embedder out.
"""

import argparse
import json
import platform
import re
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from afterword.compile.connections import Where
from afterword.compile.extractive import Extractive
from afterword.compile.likeness import Likeness
from afterword.compile.merge import Knowledge
from afterword.compile.relations import Told, relation, told
from afterword.compile.replacing import replaces
from afterword.compile.same import Meaning, Profile, judge, profile_of
from afterword.compile.sentences import normal
from afterword.compile.validate import points_of, valid
from afterword.domain.articles import RELATED, Article, Claim, CompileInput, Proposal, SectionText
from afterword.domain.ids import SegmentKey
from afterword.index.embedder import LocalEmbedder
from afterword.index.nearness import Nearness
from afterword.index.standing import SIGNATURES
from bench.digest import Case, cases

PAIRS = Path(__file__).parent.parent / "tests" / "fixtures" / "compile" / "pairs.txt"
CONNECTIONS = PAIRS.with_name("connections.txt")
TARGETS = {"facts": 0.75, "duplicates": 0.05, "precision": 0.95, "recall": 0.80, "links": 1.0, "unproved": 0}
SESSIONS_A_DAY = 4


class Pair(msgspec.Struct, frozen=True):
    verdict: str
    split: str
    name: str
    one: Profile
    other: Profile
    claims: tuple[tuple[Claim, ...], tuple[Claim, ...]]

    @property
    def same(self) -> bool:
        """Whether both belong into one article."""
        return self.verdict == "same"

    @property
    def across(self) -> bool:
        """Whether it is told in two languages."""
        return bool(re.match(r"(en|de)-[a-z0-9]{2}-|x-", self.name))


def pairs(path: Path = PAIRS) -> list[Pair]:
    """The labelled pairs, in their order."""
    found = []
    for block in path.read_text("utf-8").split("\n= ")[1:]:
        head, _, rest = block.partition("\n")
        verdict, split, name = head.split(" ", 2)
        one, other = map(_side, rest.split("\nB: "), ("s-00000000000a", "s-00000000000b"))
        found.append(Pair(verdict, split, name, one[0], other[0], (one[1], other[1])))
    return found


def _side(text: str, section: str) -> tuple[Profile, tuple[Claim, ...]]:
    title, *lines = [line for line in text.removeprefix("A: ").strip().split("\n") if line]
    points = tuple(Claim(line[2:], SegmentKey(section), line[2:]) for line in lines)
    return profile_of(Proposal("concept", title, points, ""), title), points


class Met(msgspec.Struct, frozen=True):
    """Two statements and what they show together, or `none`."""

    verdict: str
    split: str
    name: str
    one: Told
    other: Told


def met(path: Path = CONNECTIONS) -> list[Met]:
    """The labelled statements of two sessions, in their order."""
    found = []
    for block in path.read_text("utf-8").split("\n= ")[1:]:
        head, one, other = block.strip().split("\n")[:3]
        verdict, split, name = head.split(" ", 2)
        both = [
            told(Claim(text[3:], SegmentKey(key), text[3:]))
            for text, key in ((one, "s-00000000000a"), (other, "s-00000000000b"))
        ]
        found.append(Met(verdict, split, name, *both))
    return found


def connection_scores(rows: Sequence[Met], meaning: Meaning | None) -> dict[str, dict[str, Any]]:
    """Precision and recall of connections by split and in all; a wrong kind of relation counts as wrong."""
    likeness = Likeness()
    for row in rows:
        likeness.add(row.one.words)
        likeness.add(row.other.words)
    said = {}
    for row in rows:
        near = meaning.alike([row.one.claim.text], [row.other.claim.text])[0][0] if meaning else 0.0
        shown = relation(row.one, row.other, near, likeness)
        said[row.name] = shown[0] if shown else "none"
    scores = {}
    for split in (*sorted({row.split for row in rows}), "all"):
        mine = [row for row in rows if split in (row.split, "all")]
        real = [row for row in mine if row.verdict != "none"]
        hits = sum(said[row.name] == row.verdict for row in real)
        claimed = [row for row in mine if said[row.name] != "none"]
        scores[split] = {
            "pairs": len(mine),
            "precision": round(hits / max(1, len(claimed)), 3),
            "recall": round(hits / max(1, len(real)), 3),
            "missed": [row.name for row in real if said[row.name] == "none"],
            "wrong": [row.name for row in claimed if said[row.name] != row.verdict],
        }
    return scores


def merge_scores(every: Sequence[Pair], meaning: Meaning | None) -> dict[str, dict[str, Any]]:
    """Precision and recall of `same`, by split, across languages, and in all."""
    rows = [row for row in every if row.verdict != "supersedes"]
    likeness = Likeness()
    for row in rows:
        likeness.add(row.one.words)
        likeness.add(row.other.words)
    said = {row.name: judge(row.one, row.other, likeness, meaning=meaning) > 0 for row in rows}
    parts = {split: [row for row in rows if row.split == split] for split in sorted({row.split for row in rows})}
    parts |= {"one language": [r for r in rows if not r.across], "across": [r for r in rows if r.across], "all": rows}
    return {name: _scores(mine, said, "same") for name, mine in parts.items()}


def replaced_scores(rows: Sequence[Pair]) -> dict[str, dict[str, Any]]:
    """Precision and recall of `supersedes`, over all pairs: most of them replace nothing."""
    said = {row.name: bool(replaces(row.claims[1], row.claims[0])) for row in rows}
    parts = {split: [row for row in rows if row.split == split] for split in sorted({row.split for row in rows})}
    return {name: _scores(mine, said, "supersedes") for name, mine in (parts | {"all": list(rows)}).items()}


def _scores(mine: Sequence[Pair], said: Mapping[str, bool], verdict: str) -> dict[str, Any]:
    hits = sum(said[row.name] and row.verdict == verdict for row in mine)
    return {
        "pairs": len(mine),
        "precision": round(hits / max(1, sum(said[row.name] for row in mine)), 3),
        "recall": round(hits / max(1, sum(row.verdict == verdict for row in mine)), 3),
        "missed": [row.name for row in mine if row.verdict == verdict and not said[row.name]],
        "wrong": [row.name for row in mine if row.verdict != verdict and said[row.name]],
    }


def compiled(found: Sequence[Case], meaning: Meaning | None = None) -> dict[str, Any]:
    """The articles of these sessions and what of the planted facts is in them."""
    engine = Extractive()
    origins: dict[str, Where] = {}
    knowledge = Knowledge(meaning=meaning, origins=origins.get)
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
            origins[section.key] = Where(section.session, section.day, section.time, section.project)
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
    whole = {uid: _told(article) for uid, article in articles.items() if article.kind == "concept"}
    holders = {wanted: [uid for uid, text in whole.items() if wanted in text] for _, wanted, _ in facts}
    # A connection says again what its concepts say: it is no double of them, and finds no fact for them.
    keyed = {uid: _told(article, details=False) for uid, article in articles.items() if article.kind == "concept"}
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
        "articles": len(whole),
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
        "connections": sum(article.kind == "connection" for article in articles.values()),
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
    parser.add_argument("--words", action="store_true", help="compare by words alone")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        nearness = (
            None if options.words else Nearness(Path(folder), SIGNATURES["local"], lambda: LocalEmbedder(Path(folder)))
        )
        try:
            return _measured(options, nearness)
        finally:
            if nearness:
                nearness.close()


def _measured(options: argparse.Namespace, meaning: Meaning | None) -> int:
    sessions = cases()
    by_split = {
        split: [case for case in sessions if case.split == split] for split in sorted({c.split for c in sessions})
    }
    knowledge = {split: compiled(found, meaning) for split, found in by_split.items()}
    rows = pairs()
    merges = merge_scores(rows, meaning)
    by_words = merge_scores(rows, None)
    replaced = replaced_scores(rows)
    seen = met()
    connected, connected_by_words = connection_scores(seen, meaning), connection_scores(seen, None)
    if options.json:
        where = {"python": platform.python_version(), "machine": platform.machine(), "system": platform.system()}
        print(
            json.dumps(
                {
                    "version": 1,
                    "ran_on": where,
                    "targets": TARGETS,
                    "knowledge": knowledge,
                    "merge": merges,
                    "merge_by_words": by_words,
                    "supersedes": replaced,
                    "connections": connected,
                    "connections_by_words": connected_by_words,
                }
            )
        )
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
                "connections",
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
                    s["connections"],
                    s["cpu_ms"],
                )
            )
        )
    print(_line(("target", "", ">= 0.75", "", "", "<= 0.05", "0", "0", "", "")))
    print(_line(("same:", "pairs", "precision", "recall", "by words: P", "R")))
    for split, score in merges.items():
        words = by_words[split]
        print(_line((split, score["pairs"], score["precision"], score["recall"], words["precision"], words["recall"])))
    print(_line(("target", "", ">= 0.95", ">= 0.80", "", "")))
    print(_line(("connections:", "pairs", "precision", "recall", "by words: P", "R")))
    for split, score in connected.items():
        words = connected_by_words[split]
        print(_line((split, score["pairs"], score["precision"], score["recall"], words["precision"], words["recall"])))
    print(_line(("supersedes:", "pairs", "precision", "recall")))
    for split, score in replaced.items():
        print(_line((split, score["pairs"], score["precision"], score["recall"])))
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
        near = connected["dev"]
        print("\nconnections, dev:", *near["missed"], *(f"WRONG {name}" for name in near["wrong"]), sep="\n  ")
        named = replaced["dev"]
        print("\nsupersedes, dev:", *named["missed"], *(f"WRONG {name}" for name in named["wrong"]), sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
