"""How fast redaction is, and how good: `python -m bench.redaction [--json]`.

Speed is characters per second of CPU time, per engine, against every rule as a plain `re.sub`. Quality is recall and
precision on the labelled table of the tests.
"""

import argparse
import importlib.util
import json
import random
import re
import sys
import time
from pathlib import Path
from typing import Any

from afterword.redact.redactor import Redactor
from afterword.redact.rules import RULES, RULES_VERSION

ENGINES = ("hyperscan", "re2", "python")
TESTS = Path(__file__).parent.parent / "tests"
WORDS = (  # noqa: SIM905 - a list would fill a page
    "the request retries after a stale cache entry and returns the token count config user session index query "
    "parser buffer branch merge release pool thread worker event handler schema table row column value key result"
).split()


def generated(chars: int, seed: int = 1) -> list[str]:
    """Tool output, code and prose of 2 to 20 KB each; one in a hundred holds a secret."""
    rng = random.Random(seed)
    texts = []
    total = 0
    while total < chars:
        lines: list[str] = []
        size, want = 0, rng.randrange(2_000, 20_000)
        while size < want:
            a, b, c = rng.choices(WORDS, k=3)
            line = rng.choice(
                (
                    f"    {a}_{b} = {c}.{a}({b}, {rng.randrange(1000)})",
                    f"2026-01-{rng.randrange(1, 29):02}T10:00:00Z INFO [{a}] req={rng.getrandbits(48):012x} status=200",
                    f"-rw-r--r-- 1 kim kim {rng.randrange(99999)} Mar 12 10:00 src/{a}/{b}_{c}.py",
                    f'{{"id": "{rng.getrandbits(128):032x}", "{a}": "{b} {c}"}}',
                    " ".join(rng.choices(WORDS, k=14)) + ".",
                    f"+    if {a}.{b} != {rng.randrange(1000)}:",
                )
            )
            lines.append(line)
            size += len(line) + 1
        if rng.random() < 0.01:
            lines.append("password: " + "Tr0ub" + "4dor3")
        texts.append("\n".join(lines))
        total += size
    return texts


def rate(engine: str, texts: list[str]) -> dict[str, float]:
    """M chars per CPU second on `texts`, microseconds for a short text, milliseconds to build the engine."""
    started = time.process_time()
    redactor = Redactor(engine)
    built = time.process_time() - started
    redactor.redact(texts[0])
    started = time.process_time()
    for text in texts:
        redactor.redact(text)
    took = time.process_time() - started
    short = texts[0][:80]
    started = time.process_time()
    for _ in range(20_000):
        redactor.redact(short)
    return {
        "mchars_per_cpu_s": sum(map(len, texts)) / took / 1e6,
        "short_us": (time.process_time() - started) / 20_000 * 1e6,
        "build_ms": built * 1e3,
    }


def naive(texts: list[str]) -> dict[str, float]:
    """Every rule as one `re.sub` over every text."""
    patterns = [re.compile(rule.pattern.encode()) for rule in RULES]
    started = time.process_time()
    for text in texts:
        data = text.encode()
        for pattern in patterns:
            data = pattern.sub(b"[redacted]", data)
        data.decode()
    return {"mchars_per_cpu_s": sum(map(len, texts)) / (time.process_time() - started) / 1e6}


def quality(engine: str = "re2") -> dict[str, Any]:
    """Recall over the texts with a secret, precision over all texts that were changed: on the corpus of
    `tests/fixtures/redact`, and on the labelled table of the unit tests."""
    redactor = Redactor(engine)
    found = from_tests("redact_corpus").measure(redactor)
    table = from_tests("unit/test_redact_table")
    return {
        "positives": found.positives,
        "negatives": found.negatives,
        "recall": found.recall,
        "precision": found.precision,
        "missed": found.missed,
        "wrong": found.wrong,
        "another_kind": found.misnamed,
        "surroundings": found.torn,
        "table": {
            "positives": len(table.POSITIVE),
            "negatives": len(table.NEGATIVE),
            "missed": [text for _, text, secret in table.POSITIVE if secret in redactor.redact(text)],
            "wrong": [text for text in table.NEGATIVE if redactor.redact(text) != text],
        },
    }


def hostile(engine: str, chars: int) -> dict[str, dict[str, float]]:
    """CPU seconds for each hostile shape at a quarter and at all of `chars`, and their ratio: 4 is linear."""
    shapes = from_tests("redact_hostile").SHAPES
    redactor = Redactor(engine)
    found = {}
    for name, make in shapes.items():
        took = []
        for size in (chars // 4, chars):
            text = make(size)
            started = time.process_time()
            redactor.redact(text)
            took.append(time.process_time() - started)
        found[name] = {"seconds": took[1], "ratio": took[1] / max(took[0], 1e-3)}
    return found


def from_tests(name: str) -> Any:
    """A module of the tests."""
    spec = importlib.util.spec_from_file_location(Path(name).name, TESTS / f"{name}.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(TESTS / name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="for a script")
    parser.add_argument("--mchars", type=float, default=20.0, help="millions of characters for the fast engines")
    parser.add_argument("--hostile", type=float, metavar="MCHARS", help="also measure hostile shapes of this size")
    options = parser.parse_args()
    texts = generated(int(options.mchars * 1e6))
    few = texts[: max(1, len(texts) // 20)]
    speed = {name: rate(name, few if name == "python" else texts) for name in ENGINES}
    speed["naive re.sub"] = naive(few[: max(1, len(few) // 4)])
    result = {"rules": len(RULES), "version": RULES_VERSION, "speed": speed, "quality": quality()}
    if options.hostile:
        result["hostile"] = {name: hostile(name, int(options.hostile * 1e6)) for name in ENGINES}
    if options.json:
        print(json.dumps(result, ensure_ascii=False))
        return 0
    base = speed["naive re.sub"]["mchars_per_cpu_s"]
    print(f"{len(RULES)} rules, version {RULES_VERSION}")
    for name, row in speed.items():
        print(
            f"{name:14} {row['mchars_per_cpu_s']:9.2f} M chars/CPU s  {row['mchars_per_cpu_s'] / base:7.1f}x"
            + (
                f"  short text {row['short_us']:6.2f} us  built in {row['build_ms']:5.0f} ms"
                if "short_us" in row
                else ""
            )
        )
    found = result["quality"]
    print(
        f"recall {found['recall']:.3f} of {found['positives']}, "
        f"precision {found['precision']:.3f} with {found['negatives']} harmless texts"
    )
    table = found["table"]
    missed, wrong = [*found["missed"], *table["missed"]], [*found["wrong"], *table["wrong"]]
    print(
        f"named as another kind {len(found['another_kind'])}, surroundings changed {len(found['surroundings'])};"
        f" labelled table: {len(table['missed'])} of {table['positives']} missed,"
        f" {len(table['wrong'])} of {table['negatives']} wrong"
    )
    for text in (*missed, *wrong):
        print("  ", text)
    for name, shapes in result.get("hostile", {}).items():
        worst = max(shapes, key=lambda shape: shapes[shape]["seconds"])
        steep = max(shapes, key=lambda shape: shapes[shape]["ratio"] if shapes[shape]["seconds"] > 0.1 else 0)
        print(
            f"{name:14} {len(shapes)} hostile shapes of {options.hostile} M chars: worst {shapes[worst]['seconds']:.2f}"
            f" CPU s ({worst}), steepest x{shapes[steep]['ratio']:.1f} for x4 ({steep})"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
