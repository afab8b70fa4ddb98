"""Exact search: what counts as a word, what is found as it stands, and that nothing is ranked wrong for being quick."""

import contextlib
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from transcripts import ClaudeSession
from writer import Reading

from afterword.domain.errors import UsageError
from afterword.index import hybrid, narrowing, search
from afterword.index.hybrid import Result
from afterword.index.narrowing import Filters
from afterword.index.search import Answer
from afterword.store.ledger.items import State

NOW_US = 1_790_000_000_000_000
Find = Callable[..., Answer]


class Told(Reading):
    """A ledger whose first session says each text, by turns a person, the agent and a command's output."""

    def tell(self, *said: tuple[str, str]) -> None:
        session = ClaudeSession(random.Random(len(said)), session=f"s-{len(said)}-{self.now_us}")
        for number, (what, text) in enumerate(said):
            if what == "output":
                session.command(f"make part-{number}", text)
            else:
                getattr(session, what)(text)
        path = session.path(self.root)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(session.lines))
        self.sweep()
        self.full_text().catch_up()

    def find(self, query: str, limit: int = 50, **filters: object) -> Answer:
        return search.search(
            self.ledger, self.root / "state", query, Filters(**filters), limit=limit, now_us=NOW_US  # type: ignore[arg-type]
        )  # fmt: skip

    def texts(self, query: str, **filters: object) -> list[str]:
        answer = self.find(query, **filters)
        assert answer.total == len(answer.hits)
        return [str(hit.text) for hit in answer.hits]


SAID = "The resolveEncodedPath of src/net/tls_client.rs fails with SSL_ERROR_SYSCALL in std::net::TcpStream."
OUT = "error: unknown option --force-with-lease=main in v2.14.1-rc.3 at lib/net.py:41"
CJK = "接続プールを確認する、检查缓存失效的原因。"
LAO = "ຂໍ້ຜິດພາດຂອງຖານຂໍ້ມູນ"
KHMER = "កំហុសក្នុងមូលដ្ឋានទិន្នន័យ"


@pytest.fixture
def told(tmp_path: Path) -> Told:
    told = Told(tmp_path)
    told.tell(
        ("prompt", SAID), ("reply", "I push it with --force-with-lease, then I retry."), ("output", OUT),
        ("prompt", f"{CJK} {LAO} {KHMER}"), ("reply", "The retry of the connection pool; the pool has no connection."),
    )  # fmt: skip
    return told


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("resolveEncodedPath", 1), ("RESOLVEENCODEDPATH", 1), ("SSL_ERROR_SYSCALL", 1), ("tls_client.rs", 1),
        ("src/net/tls_client.rs", 1), ("std::net::TcpStream", 1), ("net::TcpStream", 1), ("std::TcpStream", 0),
        ("--force-with-lease", 2), ("force-with-lease", 2), ("--force-with-lease=main", 1), ("with-force-lease", 0),
        ("v2.14.1-rc.3", 1), ("2.14.1", 0), ("2.14.2", 0), ("lib/net.py:41", 1), ("lib/net.py:4", 0),
        ("接続プール", 1), ("プール", 1), ("缓存失效", 1), ("失效缓存", 0), ("ຖານຂໍ້ມູນ", 1), ("មូលដ្ឋាន", 1),
        ('"connection pool"', 1), ('"pool connection"', 0), ('"connection  pool"', 1), ("connection pool", 1),
        ("retry", 2), ("retry connection", 1), ('"The retry of"', 1), ("retry absent", 0),
    ],
)  # fmt: skip
def test_what_is_found_as_it_stands(told: Told, query: str, hits: int) -> None:
    assert len(told.texts(query)) == hits


def test_a_star_is_the_beginning_of_a_word(told: Told) -> None:
    assert told.texts("resolveEnc*") == [SAID]
    assert told.texts("tls_cl*") == [SAID]
    assert set(told.texts("forc*")) == {OUT, "I push it with --force-with-lease, then I retry."}
    assert told.texts("unknow* optio*") == [OUT]
    assert told.texts("zz*") == []
    assert told.texts('"unknow*"') == []  # in quotes a star is a star


def test_parts_of_names_are_found_when_no_word_is(told: Told) -> None:
    assert told.texts("encoded") == [SAID]
    assert told.texts("EncodedPath") == [SAID]
    assert told.texts("syscall") == [SAID]
    assert told.texts("PathEncoded") == []
    assert told.texts("unkno") == [OUT]
    assert told.texts('"encoded"') == []
    assert told.texts("encoded absent") == []


def test_a_word_that_is_there_is_not_looked_for_in_names(told: Told) -> None:
    told.now_us += 1
    told.tell(("prompt", "It is encoded twice."))
    assert told.texts("encoded") == ["It is encoded twice."]


def test_kinds_and_roles_narrow(told: Told) -> None:
    flag = "--force-with-lease"
    assert told.texts(flag, kind="output") == [OUT]
    assert told.texts(flag, kind="prompt") == []
    assert told.texts(flag, role="assistant") == ["I push it with --force-with-lease, then I retry."]
    assert told.texts("retry", kind="reply", role="tool") == []
    assert len(told.texts("part", kind="command")) == 1


def test_what_is_taken_out_of_the_full_text_is_what_went_in(told: Told) -> None:
    text = told.full_text()
    text.optimize()
    ledger = told.ledger
    row = ledger.db.execute("SELECT row FROM item WHERE kind = 1 ORDER BY row").fetchone()[0]
    blob, packed = ledger.db.execute("SELECT text, packed FROM item WHERE row = ?", (row,)).fetchone()
    with ledger.transaction():
        ledger.db.execute("UPDATE item SET text = ?, packed = 0 WHERE row = ?", (b"Nothing of it.", row))
        ledger.db.execute("INSERT INTO text_pending (item, old, old_packed) VALUES (?, ?, ?)", (row, blob, packed))
    assert text.catch_up() == 1
    for query in ("resolveEncodedPath", "encoded", "SSL_ERROR_SYSCALL", "syscall", "EncodedPath"):
        assert told.texts(query) == []
    assert told.texts("nothing") == ["Nothing of it."]


def slow(told: Told, query: str, limit: int, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], int]:
    """The same question the way that looks at everything: narrowed by what narrows nothing."""
    everything = narrowing.Where("", (), "", (), frozenset({"prose", "tool"}))
    with monkeypatch.context() as patched:
        patched.setattr(search, "conditions", lambda _filters: everything)
        answer = told.find(query, limit)
    return [hit.item for hit in answer.hits], answer.total


def test_ranking_a_part_gives_the_best_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(3)
    words = ["cache", "lock", "queue", "retry", "pool"]
    told = Told(tmp_path)
    for number in range(6):
        told.now_us = NOW_US - number * 86_400_000_000
        said = [
            (rng.choice(["prompt", "reply", "output", "output"]), " ".join(rng.choices(words, k=rng.randrange(1, 9))))
            for _ in range(30 + number)
        ]
        told.tell(*said)
    # Some are abandoned, some hidden copies, some both in different sessions.
    db = told.ledger.db
    with told.ledger.transaction():
        for (row,) in db.execute("SELECT row FROM membership").fetchall():
            state = rng.choice([State.LIVE, State.LIVE, State.ABANDONED, State.HIDDEN])
            db.execute("UPDATE membership SET state = ? WHERE row = ?", (state, row))
        for (item,) in db.execute("SELECT row FROM item WHERE row % 5 = 0").fetchall():
            state = rng.choice([State.LIVE, State.ABANDONED, State.HIDDEN])
            db.execute(
                "INSERT OR IGNORE INTO membership (session, item, pos, sub, state, origin)"
                " VALUES (1, ?, 9999, ?, ?, 1)",
                (item, item, state),
            )
    compared = 0
    for query in [*words, "cache lock", "queue retry pool", "cache*", "lock ca*", "nowhere"]:
        for limit in (1, 3, 10, 1000):
            answer = told.find(query, limit)
            assert ([hit.item for hit in answer.hits], answer.total) == slow(told, query, limit, monkeypatch), query
            compared += answer.total > limit
    assert compared > 10
    assert not [hit for hit in told.find("cache", 1000).hits if hit.abandoned and hit.score > 1.0]


@pytest.mark.parametrize(
    ("query", "how", "wanted"),
    [
        ("unknown optoin", "spelling", None),  # a word of tool text alone: nobody wrote it
        ("conection retries", "spelling", "The retry of the connection pool; the pool has no connection."),
        ("pools connections", "forms", "The retry of the connection pool; the pool has no connection."),
        ("wyszukiwarkę zimową", "forms", "Nasza wyszukiwarka zna buty zimowe."),
        ("повторы уведомлений", "forms", "Повтор уведомления ничего не меняет."),
        ("הודעות בתורים", "forms", "ההודעה נתקעה בתור."),
        ("wyszukiwraka", "spelling", "Nasza wyszukiwarka zna buty zimowe."),
    ],
)
def test_other_forms_and_spellings_are_found_when_no_word_is(
    told: Told, query: str, how: str, wanted: str | None
) -> None:
    told.now_us += 1
    told.tell(
        ("prompt", "Nasza wyszukiwarka zna buty zimowe."), ("reply", "Повтор уведомления ничего не меняет."),
        ("prompt", "ההודעה נתקעה בתור."),
    )  # fmt: skip
    answer = told.find(query)
    assert [str(hit.text) for hit in answer.hits] == ([wanted] if wanted else [])
    assert answer.how == (how if wanted else "all")
    assert bool(answer.words) == (how == "spelling" and wanted is not None)


def test_names_and_phrases_have_no_other_spelling(told: Told) -> None:
    for query in ('"conection pool"', "--force-with-laese", "src/net/tls_cleint.rs"):
        assert told.texts(query) == []
    assert told.find("resolveEncodedPaht").words == "resolveencodedpath"


def test_what_holds_most_of_the_words_is_the_last_resort(told: Told) -> None:
    question = "why does the connection pool have no more rhubarb"

    def found(asked: str) -> Answer:
        return search.search(
            told.ledger, told.root / "state", asked, Filters(), limit=5, now_us=NOW_US, most=True
        )  # fmt: skip

    assert told.texts(question) == []
    answer = found(question)
    assert [str(hit.text) for hit in answer.hits] == ["The retry of the connection pool; the pool has no connection."]
    assert answer.how == "most"
    nothing = found("why does the rhubarb pool have no custard or crumble")
    assert (nothing.hits, nothing.how) == ([], "all")


def test_a_file_is_found_by_its_name(told: Told) -> None:
    session = ClaudeSession(random.Random(5), session="edits")
    session.prompt("Please do.")
    change = {"file_path": "/srv/app/lib/rows_4.py", "old_string": "one", "new_string": "two"}
    block = {"type": "tool_use", "id": "toolu_edit", "name": "Edit", "input": change}
    session.row("assistant", message=session._answer(block))
    path = session.path(told.root)
    path.write_bytes(b"".join(session.lines))
    told.sweep()
    told.full_text().catch_up()
    answer = told.find("rows_4.py")
    assert (answer.how, answer.total) == ("file", 1)
    assert "lib/rows_4.py" in answer.hits[0].snippet
    assert told.find("lib/rows_4.py").total == 1
    assert told.find("bib/rows_4.py").total == 0
    assert told.find("rows_4.py", role="user").total == 0


@pytest.mark.parametrize(
    "query",
    [
        '"', '"""', '"a" "', "a OR b", "NEAR(a b, 2)", "NEAR", "a NOT b", "^a", "a*b", "* a", "(a", "a)", "prose:a",
        "{a b}: c", "-a", "--", "a -- b", "a\x00b", "\x00 a", "'; DROP TABLE item; --", "a" * 100_000, "ab " * 30_000,
        "🙂 a", "🙂🙂", "\u202eabc\u202c", "שלום עולם", "\ud800a", "é" * 5000,
        "%_\\", "a\nb\tc", "\u200b a", "…", "a…b", "№ 5", "½ a",
    ],
)  # fmt: skip
def test_no_query_is_an_error_of_the_database(told: Told, query: str) -> None:
    answer = None
    with contextlib.suppress(UsageError):  # there is no word in it
        answer = search.search(told.ledger, told.root / "state", query, Filters(), limit=5, now_us=NOW_US, most=True)
    if any(char.isalnum() for char in query):
        assert answer is not None
        assert answer.total >= len(answer.hits)


def test_a_page_goes_on_where_the_last_one_ended(told: Told) -> None:
    told.now_us += 1
    told.tell(*[("prompt", f"rhubarb number {n}") for n in range(7)])
    whole = [r.id for r in paged(told, limit=7, page=1)]
    assert [r.id for page in (1, 2, 3) for r in paged(told, limit=3, page=page)] == whole
    assert len(whole) == 7
    assert paged(told, limit=3, page=4) == []


def paged(told: Told, *, limit: int, page: int) -> list[Result]:
    state = told.root / "state"
    return hybrid.search(told.ledger, state, "rhubarb", Filters(), limit=limit, page=page, now_us=NOW_US).results
