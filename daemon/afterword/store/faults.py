"""A seam for crash tests: die, or fail, at the n-th time a named point is reached.

`AFTERWORD_FAULT=kill@ledger.commit#7` kills the process (SIGKILL, nothing is flushed) the 7th time the point is
reached; `fail@…` raises OSError(ENOSPC) there once; several are separated by commas. The points are the rows of
`POINTS`. Without the variable a call costs one comparison. Read once at import, because the points lie in
functions that know no settings; this is the one piece of module state.
"""

import errno
import os
import signal

POINTS = {
    "ledger.begin": "after BEGIN, nothing written yet",
    "ledger.inside": "between two statements of a transaction",
    "ledger.commit": "everything written, before COMMIT",
    "ledger.committed": "after COMMIT, before anybody knows",
    "preview.whole": "what was said is looked through, nothing of it is read",
    "cold.commit": "in a worker of a first reading: a piece of a file is read, its position not sent yet",
    "arrivals.commit": "a batch of another machine is in the ledger, before its COMMIT",
    "arrivals.committed": "after that COMMIT, before the other machine knows",
    "text.commit": "full text written, before its COMMIT",
    "text.committed": "after its COMMIT, the ledger not told yet",
    "note.append": "an append is planned, nothing of it is in the note",
    "note.half": "half of an append is in the note",
    "note.appended": "all of it is in the note, not yet synced or confirmed",
    "index.upsert": "old chunks are out of the vector store, new ones not yet in",
    "index.inside": "in Chroma's process: half of a batch is in the vector store; its daemon dies with it",
    "index.half": "a batch of new chunks is in the vector store, others are not",
    "index.upserted": "all new chunks are in the vector store, the manifest does not know",
    "index.manifest": "the manifest is written, before COMMIT",
    "build.article": "an article of a build is put into the ledger, further ones are not",
    "build.commit": "a whole build is put into the ledger, before its COMMIT",
    "build.committed": "a build is in the ledger, nothing of it in the vault",
    "article.plan": "an article's file is planned in the ledger, not written yet",
    "article.written": "an article's file is written, the ledger not told yet",
    "build.files": "the articles' files are written, index and log are not",
    "build.log": "the log is written, the ledger not told yet",
    "model.asked": "a call to a model is noted, and not yet made",
    "model.answered": "a model's answer is in the ledger, nothing was made of it",
    "rescrub.step": "a step of a re-scrub is written, before its COMMIT",
    "rescrub.rows": "every row is re-scrubbed, full text, vault and index are not",
    "rescrub.text": "the full text is re-scrubbed as well, vault and index are not",
    "rescrub.note": "one daily note is re-scrubbed, others are not",
    "rescrub.vault": "the vault is re-scrubbed as well, the index is not",
    "rescrub.index": "everything is re-scrubbed, the ledger does not say so yet",
    "init.manifest": "what goes into a vault is written down, nothing of it is there",
    "init.step": "one file is in a vault that is being made, others are not",
    "init.card": "a vault is made, the manifest does not say so",
    "forget.marked": "a forgetting holds in the ledger, every byte of it is still there",
    "forget.step": "a step of erasing rows is written, before its COMMIT",
    "forget.rows": "the ledger's rows are erased, nothing made from them is",
    "forget.note": "one daily note was relieved of forgotten sections, others were not",
    "forget.articles": "articles were made without what is forgotten, their files may hold it",
    "forget.text": "notes, articles and full text are done, the index is not",
    "forget.index": "the index is done, free pages are not",
    "forget.packed": "everything is done, the plan does not say so yet",
    "lesson.drained": "an entry of the spool is in the ledger, its file still there",
    "lesson.written": "an entry's file is written, the ledger not told yet",
    "lesson.facts": "facts are in the ledger, before their COMMIT",
    "lesson.plan": "a topic's or an agent's file is planned in the ledger, not written yet",
    "lesson.placed": "a topic's or an agent's file is written, the ledger not told yet",
    "backup.copy": "a part of the ledger is copied",
    "backup.pack": "a part of the copy is written",
    "backup.written": "a backup is written and synced, not in place yet",
    "backup.placed": "a backup is in its place, the ledger does not know its hash yet",
    "restore.ready": "the ledger to be restored is ready, the present one untouched",
    "restore.aside": "the present ledger has a second name, the restored one is not in its place",
    "restore.placed": "the restored ledger is in its place, the former one not yet removed",
    "atomic.write": "a replacement file is half written",
    "atomic.fsync": "a replacement file is written, not synced",
    "atomic.rename": "a replacement file is complete, not yet in place",
}


def _parse(spec: str) -> dict[str, list[tuple[str, int]]]:
    wanted: dict[str, list[tuple[str, int]]] = {}
    for part in filter(None, spec.split(",")):
        action, _, rest = part.partition("@")
        point, _, count = rest.partition("#")
        if action not in ("kill", "fail") or point not in POINTS or not count.isdigit():
            raise ValueError(f"AFTERWORD_FAULT: cannot read {part!r}")
        wanted.setdefault(point, []).append((action, int(count)))
    return wanted


_wanted = _parse(os.environ.get("AFTERWORD_FAULT", ""))
_reached: dict[str, int] = {}


def hit(point: str, *, with_parent: bool = False) -> None:
    """Say that `point` is reached; die, `with_parent` too, or raise if a test asked for it."""
    if not _wanted or point not in _wanted:
        return
    _reached[point] = count = _reached.get(point, 0) + 1
    for action, at in _wanted[point]:
        if count == at:
            if action == "kill":
                if with_parent:
                    os.kill(os.getppid(), signal.SIGKILL)
                os.kill(os.getpid(), signal.SIGKILL)
            raise OSError(errno.ENOSPC, f"fault injected at {point}")


def armed(point: str) -> bool:
    """Whether a test wants something at this point (then a write is done in two halves)."""
    return point in _wanted
