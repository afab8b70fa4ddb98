"""The index on a real Chroma server: the same as in a folder, and what happens when the server is not as it should."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from chroma_server import TOKEN, ChromaServer, Door, certificate
from chromadb.api import ClientAPI
from homes import Home
from index_world import World

from afterword.index import keeper
from afterword.index.building import open_index
from afterword.index.keeper import FOLDER, Keeper, StoreFailed
from afterword.index.place import Place, problem_of
from afterword.index.standing import collection_name, standing

# Chroma's own client, which only the tests use in this process, leaves connections to be closed by the collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore:unclosed")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    with ChromaServer(tmp_path_factory.mktemp("server")) as made:
        yield made


def remote(world: World, url: str, **more: str) -> Place:
    return Place(url, owner=world.reading.ledger.origin[0][:16], **more)


def catch_up(world: World, place: Place | None, **how: bool) -> int:
    with open_index(
        world.state, world.reading.ledger, world.embedder, max_chunks=world.max_chunks, redact=str,
        articles=world.articles, place=place,
    ) as index:  # fmt: skip
        if how.pop("rebuild", False):
            index.rebuild()
        done = index.catch_up(**how)
    assert done.complete
    return done.embedded


def on_server(server: ChromaServer, world: World, place: Place) -> dict[str, tuple[str, str, str]]:
    """What the server has for this ledger, told as `World.in_chroma` does."""
    name = f"{collection_name(world.embedder.signature)}-{place.owner}"
    with server.client() as client:
        collection = client.get_collection(name, embedding_function=None)
        found = collection.get(include=["documents", "metadatas", "embeddings"])
    columns = zip(found["ids"], found["documents"], found["metadatas"], found["embeddings"], strict=True)
    return {
        its_id: (text, repr(sorted(facts.items())), repr([round(float(x), 4) for x in vector]))
        for its_id, text, facts, vector in columns
    }


def some(world: World) -> None:
    world.talk("Why does the cache forget its entries?", "The eviction ran twice. " * 30)
    world.talk("Retry the upload with a pause", "Done: five tries, doubling the pause each time.")
    world.articles.held["knowledge/concepts/cache.md"] = [("Eviction", "It runs twice. " * 40), ("Fix", "One lock.")]


def test_a_server_holds_what_a_folder_held_and_nothing_is_embedded_again(tmp_path: Path, server: ChromaServer) -> None:
    world = World(tmp_path)
    some(world)
    catch_up(world, None)
    held = world.check()
    place = remote(world, server.url)
    assert catch_up(world, place) == 0
    assert on_server(server, world, place) == held
    assert not (world.state / FOLDER).exists(), "no text is left where it was"
    world.talk("And now the queue", "It held a lock.", session=world.sessions[0])
    del world.articles.held["knowledge/concepts/cache.md"]
    catch_up(world, place)
    assert set(on_server(server, world, place)) == world.listed() != set(held)
    assert catch_up(world, place, rebuild=True) == 0
    assert catch_up(world, None) == 0
    world.check()


def test_what_others_keep_on_the_server_is_left_alone(tmp_path: Path, server: ChromaServer) -> None:
    one, other = World(tmp_path / "one"), World(tmp_path / "other", seed=2)
    some(one)
    some(other)
    with server.client() as foreign:
        _left_alone(server, one, other, foreign, tmp_path)


def _left_alone(server: ChromaServer, one: World, other: World, foreign: ClientAPI, tmp_path: Path) -> None:
    foreign.get_or_create_collection("somebody-elses", embedding_function=None)
    catch_up(one, remote(one, server.url))
    catch_up(other, remote(other, server.url))
    catch_up(one, remote(one, server.url), rebuild=True)
    assert set(on_server(server, other, remote(other, server.url))) == other.listed()
    assert "somebody-elses" in [each.name for each in foreign.list_collections()]
    # A collection of our name that is not ours is neither filled nor dropped.
    third = World(tmp_path / "third", seed=3)
    some(third)
    place = remote(third, server.url)
    name = f"{collection_name(third.embedder.signature)}-{place.owner}"
    foreign.get_or_create_collection(name, embedding_function=None, metadata={"what": "mine"})
    with pytest.raises(StoreFailed, match="is not ours"):
        catch_up(third, place)
    assert foreign.get_collection(name, embedding_function=None).count() == 0


def test_what_is_gone_or_too_much_on_the_server_is_mended(tmp_path: Path, server: ChromaServer) -> None:
    world = World(tmp_path)
    some(world)
    place = remote(world, server.url)
    catch_up(world, place)
    whole = on_server(server, world, place)
    name = f"{collection_name(world.embedder.signature)}-{place.owner}"
    with server.client() as client:
        collection = client.get_collection(name, embedding_function=None)
        collection.delete(ids=sorted(whole)[:2])
        collection.add(ids=["stray"], embeddings=[[0.5] * world.embedder.dim], documents=["left over"])
    assert catch_up(world, place) == 0
    assert on_server(server, world, place) == whole
    with server.client() as client:
        client.delete_collection(name)
    assert catch_up(world, place) == 0
    assert on_server(server, world, place) == whole


def test_many_ids_are_asked_for_and_given_in_pages(tmp_path: Path, server: ChromaServer) -> None:
    import numpy as np

    store = Keeper(tmp_path, None, Place(server.url, owner="pages"))
    entries = [keeper.Entry(f"id{n}", f"text {n}", {"kind": "message"}) for n in range(1000)]
    store.replace("afterword-many", "hash", [], entries, np.random.default_rng(1).random((1000, 8)).astype(np.float32))
    assert store.ids("afterword-many", "hash") == {entry.id for entry in entries}
    assert store.names() == ["afterword-many"]
    store.only()
    assert store.names() == []
    store.close()


def test_a_server_that_is_away_stops_nothing_and_is_found_again(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", meaning=True)
    home.sample("claude-code")
    with ChromaServer(tmp_path / "server") as server:
        env = {"AFTERWORD_CHROMA_URL": server.url}
        home.run("up", "--once", "--settle", "0", **env)
        assert (
            home.json("status", **env)["index"] | {"chroma": server.url, "problem": None}
            == home.json("status", **env)["index"]
        )
        assert "is in use" in _row(home, "chroma", **env)["message"]
        server.stop()
        said = home.run("index", code=1, **env).stderr
        assert "does not answer" in said
        assert server.url in said
        assert "does not answer" in home.json("status", **env)["index"]["problem"]
        assert _row(home, "chroma", **env)["level"] == "trouble"
        question = "why does the health endpoint give an error after starting"
        assert home.json("search", question, **env)["results"], "what is indexed is found without the server"
        server.start()
        assert home.json("index", **env)["done"]["complete"]
        assert home.json("status", **env)["index"]["problem"] is None


def _row(home: Home, name: str, **env: str) -> dict[str, str]:
    found: dict[str, str] = {c["name"]: c for c in home.json("doctor", code=None, **env)["checks"]}[name]
    return found


def test_a_token_is_sent_and_shown_nowhere(tmp_path: Path, server: ChromaServer) -> None:
    world = World(tmp_path)
    some(world)
    for header, value in (("authorization", f"Bearer {TOKEN}"), ("x-chroma-token", TOKEN)):
        with Door(server.port, header, value) as door:
            place = remote(world, door.url, token=TOKEN, header=header)
            assert TOKEN not in repr(place)
            catch_up(world, place)
            assert set(on_server(server, world, place)) == world.listed()
            with pytest.raises(StoreFailed, match="does not accept the token") as caught:
                catch_up(world, remote(world, door.url, token="another-one", header=header))
            assert "another-one" not in str(caught.value)


def test_a_certificate_of_an_authority_of_ones_own(tmp_path: Path, server: ChromaServer) -> None:
    world = World(tmp_path)
    some(world)
    both = certificate(tmp_path)
    with Door(server.port, cert=both) as door:
        with pytest.raises(StoreFailed, match="certificate that is not trusted"):
            catch_up(world, remote(world, door.url, token=TOKEN))
        place = remote(world, door.url, token=TOKEN, ca_file=str(tmp_path / "cert.pem"))
        catch_up(world, place)
        assert set(on_server(server, world, place)) == world.listed()


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (410, b'{"error":"gone"}', "another version"),
        (404, b"<html>", "another version"),
        (200, b'"0.4.2"', "another version"),
        (200, b"<html>a login page", "not Chroma"),
        (502, b"bad gateway", "not available"),
    ],
)
def test_what_is_no_server_of_ours_is_named(tmp_path: Path, status: int, body: bytes, said: str) -> None:
    with Door(1) as door:
        door.answer = status, body
        with pytest.raises(StoreFailed, match=said):
            Keeper(tmp_path, None, Place(door.url, owner="x"))


def test_no_database_of_that_name(tmp_path: Path, server: ChromaServer) -> None:
    with pytest.raises(StoreFailed, match="no database 'nowhere'"):
        Keeper(tmp_path, None, Place(server.url, owner="x", database="nowhere"))


def test_a_server_that_says_nothing_is_given_up(tmp_path: Path, server: ChromaServer) -> None:
    with Door(server.port) as door:
        store = Keeper(tmp_path, None, Place(door.url, owner="x", token=TOKEN), wait_s=60.0)
        store._wait_s = 0.5
        door.silent.set()
        with pytest.raises(StoreFailed, match="within"):
            store.names()
        store.close()


def test_half_a_first_index_is_not_searched_while_the_server_is_away(tmp_path: Path) -> None:
    world = World(tmp_path)
    some(world)
    with pytest.raises(StoreFailed, match="does not answer"):
        catch_up(world, remote(world, "http://127.0.0.1:1"))
    assert standing(world.state, world.embedder.signature) == "building"
    world.embedder.embedded.clear()
    catch_up(world, None)
    world.check()


def test_a_token_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    home = Home(tmp_path, meaning=True)
    home.sample("claude-code")
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o644)
    env = {"AFTERWORD_CHROMA_URL": "http://127.0.0.1:1", "AFTERWORD_CHROMA_TOKEN_FILE": str(file)}
    home.run("ingest", **env)
    said = home.run("index", code=1, **env).stderr
    assert "chmod 600" in said
    assert TOKEN not in said
    home.run("index", code=2, AFTERWORD_CHROMA_URL="chroma.example:8000")


def test_addresses() -> None:
    for url in ("http://h", "https://h:1", "http://127.0.0.1:8000/", "https://[::1]:8000"):
        assert not problem_of(url), url
    for url in ("h:8000", "ftp://h", "http://a:b@h", "http://h/path", "http://h:99999", "http://", "https://h?x=1"):
        assert problem_of(url), url
    assert Place("http://far").in_the_clear
    assert not Place("https://far").in_the_clear
    assert not Place("http://localhost:1").in_the_clear
