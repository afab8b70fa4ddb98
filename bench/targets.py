"""What is to be reached: a row for each figure, with the command and the field that measure it."""

from collections.abc import Mapping
from typing import Any

import msgspec


class Target(msgspec.Struct, frozen=True):
    """`goal` and `stretch` are upper bounds. `from_mb`: counts from this size of the corpus on."""

    bench: str
    field: str
    what: str
    goal: float
    stretch: float | None = None
    unit: str = ""
    from_mb: int = 0

    def counts(self, found: Mapping[str, Any]) -> bool:
        """Whether the measurement was of the size that the target speaks of."""
        return float(found.get("corpus_mb", self.from_mb)) >= self.from_mb * 0.95

    def verdict(self, value: float, found: Mapping[str, Any]) -> str:
        """In words: the target, and whether it is reached."""
        stretch = f", stretch {self.stretch:g}" if self.stretch is not None else ""
        said = f"target {self.goal:g}{self.unit}{stretch}"
        if not self.counts(found):
            return f"({said} at {self.from_mb:,} MB)"
        if self.stretch is not None and value <= self.stretch:
            return f"{said}: stretch reached"
        return f"{said}: {'reached' if value <= self.goal else 'NOT reached'}"


TARGETS = (
    Target("capture", "cpu_ratio_to_json_loads", "cold ingest, CPU against one `json.loads` pass", 12, 8, "x"),
    Target("capture", "wall_per_cpu", "cold ingest, wall against its CPU seconds (2 free cores)", 0.65, 0.55),
    Target("capture", "prose_after", "cold ingest, all prose is searchable after this part of its time", 0.5, 0.33),
    Target("capture", "peak_mb", "peak memory of a process in ingest", 300, 220, " MB"),
    Target("capture", "redaction_percent", "redaction with its start: share of cold ingest, CPU", 20, None, " %", 200),
    Target("capture", "store_per_text_char", "size of the store, bytes per character of text", 0.8, 0.6),
    Target("capture", "needles_wrong", "needles not found with their exact count", 0),
    Target("capture", "secrets_left", "planted secrets in any byte written", 0),
    Target("query", "rare_cpu_ms", "exact query in process, rare word (CPU)", 2, 0.5, " ms", 3300),
    Target("query", "two_common_cpu_ms", "exact query in process, two common words (CPU)", 10, 3, " ms", 3300),
    Target("query", "cli_ratio", "`afterword search` exact, whole process, CPU against `python -c pass`", 8, 5, "x"),
    Target("query", "cli_daemon_ratio", "the same with a daemon running", 8, 5, "x"),
    Target("query", "peak_mb", "peak memory of exact search", 300, 220, " MB"),
    Target("query", "needles_wrong", "needles not found with their exact count", 0),
    Target("idle", "rest_cpu_percent", "idle daemon, 2,000 files, a sweep included: share of a core", 0.5, 0.2, " %"),
    Target("idle", "rest_rss_mb", "idle daemon before the first question by meaning: memory", 200, None, " MB"),
    Target("idle", "nothing_changed_cpu_ms", '"nothing changed" over 2,000 files, in process (CPU)', 50, 30, " ms"),
    Target("latency", "median_ms", "appended line → searchable, daemon running", 50, 20, " ms"),
    Target("index", "first_cpu_min", "first index of 5,000 chunks, local embedder", 2.5, None, " CPU min"),
    Target("index", "edited_embedded", "note edited in one paragraph: chunks embedded", 1),
    Target("index", "hybrid_ms", "hybrid query through the daemon, 20,000 chunks", 40, 15, " ms"),
    Target("index", "daemon_mb", "daemon with Chroma and the model open, 20,000 chunks", 500, 400, " MB"),
    Target("sync", "stream_per_cat", "push, JSONL with zstd: time against `ssh host cat` of the same", 0.67, 0.5),
    Target("sync", "nothing_beyond_connect_s", "nothing new, beyond the connect", 1, None, " s"),
    Target("hook", "worst_ratio", "hook, each event, against `python -c pass`", 1.5, None, "x"),
)  # fmt: skip
