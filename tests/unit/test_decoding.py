"""The searcher finds a text in every form it is planted in, and does not find what is not there."""

import base64
import gzip
import html
import json
import random
import shutil
import sqlite3
import string
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
import zstandard
from decoding import in_bytes, in_folders
from needles import Needles, words
from pages import page_terms

SECRET = "Kq7/wZ+3pX\"9=mT4&vB8<größe>yL2'nR6"
PLAIN = "kV93mQpX72LwZtYb40Hs"
TALK = "we keep the harbour tables in a folder of their own and build them at night " * 20
RNG = random.Random(7)
NOISE = "".join(RNG.choices(string.ascii_letters + string.digits + "    ", k=60_000))


def ascii_json(text: str) -> str:
    return json.dumps(text)


def escaped_all(text: str) -> str:
    return "".join(f"\\u{ord(c):04x}" for c in text)


FORMS: dict[str, Callable[[str], bytes]] = {
    "as it is": lambda t: t.encode(),
    "upper case": lambda t: t.encode().upper(),
    "json": lambda t: ascii_json(t).encode(),
    "json with slashes escaped": lambda t: ascii_json(t).replace("/", "\\/").encode(),
    "json in json": lambda t: json.dumps({"a": json.dumps([t])}).encode(),
    "json in json in json": lambda t: json.dumps(json.dumps({"a": json.dumps([t])})).encode(),
    "all of it escaped": lambda t: escaped_all(t).encode(),
    "an address": lambda t: quote(t, safe="").encode(),
    "an address in an address": lambda t: quote(quote(t, safe=""), safe="").encode(),
    "html": lambda t: html.escape(t).encode(),
    "html by numbers": lambda t: "".join(f"&#{ord(c)};" for c in t).encode(),
    "html by hex": lambda t: "".join(f"&#x{ord(c):x};" for c in t).encode(),
    "repr": lambda t: repr({"t": t}).encode(),
    "repr of bytes": lambda t: repr(t.encode()).encode(),
    "ascii": lambda t: ascii(t).encode(),
    "utf-16 little": lambda t: t.encode("utf-16-le"),
    "utf-16 big": lambda t: t.encode("utf-16-be"),
    "hex": lambda t: t.encode().hex().encode(),
    "HEX": lambda t: t.encode().hex().upper().encode(),
    "base64, first": lambda t: base64.b64encode(t.encode()),
    "base64, second": lambda t: base64.b64encode(b"x" + t.encode()),
    "base64, third": lambda t: base64.b64encode(b"xy" + t.encode() + b"z"),
    "base64 for addresses": lambda t: base64.urlsafe_b64encode(b"\xff\xfe" + t.encode()),
    "zstd": lambda t: zstandard.compress((TALK + t + TALK).encode()),
    "gzip": lambda t: gzip.compress((TALK + t + TALK).encode()),
    "zlib": lambda t: zlib.compress((TALK + t + TALK).encode(), 9),
    "zlib, quick": lambda t: zlib.compress((TALK + t + TALK).encode(), 1),
    "gzip in base64": lambda t: base64.b64encode(gzip.compress((TALK + t).encode())),
    "zstd in gzip": lambda t: gzip.compress(zstandard.compress((TALK + t).encode())),
    "json in zstd": lambda t: zstandard.compress(json.dumps({"a": TALK + t}).encode()),
    "base64 in zstd": lambda t: zstandard.compress(TALK.encode() + base64.b64encode(t.encode())),
    "first half": lambda t: t[: len(t) // 2].encode(),
    "second half": lambda t: t[len(t) // 2 :].encode(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", [SECRET, PLAIN])
def test_a_text_is_found_in_every_form(form: str, text: str, tmp_path: Path) -> None:
    needles = Needles([text, "something-else-12345"])
    data = FORMS[form](text)
    assert {hit.text for hit in in_bytes(needles, data, "x")} == {text}
    around = b"\0\x01 plain words before " + data + b"\n and after \xff"
    if not form.startswith("base64"):
        assert {hit.text for hit in in_bytes(needles, around, "x")} == {text}
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/file").write_bytes(data)
    assert {hit.text for hit in in_folders(needles, tmp_path)} == {text}
    (tmp_path / "deep/file").write_bytes(FORMS[form]("Another text that is as long as it is"))
    assert in_folders(needles, tmp_path) == set()


def test_texts_are_told_apart_and_found_across_the_pieces_of_a_long_file() -> None:
    many = [f"{n:05}-{'kqzv'[n % 4]}wXyZ{n * 7919 % 99991:05}" for n in range(2000)]
    needles = Needles(many)
    data = bytearray(b"." * (17 << 20))
    for at in ((8 << 20) - 5, (16 << 20) - 1, 0, (17 << 20) - 16):
        data[at : at + 16] = many[at % 2000].encode()[:16]
    assert {hit.text for hit in in_bytes(needles, bytes(data), "x")} == {
        many[at % 2000] for at in ((8 << 20) - 5, (16 << 20) - 1, 0, (17 << 20) - 16)
    }


def test_names_links_and_attributes_are_looked_at(tmp_path: Path) -> None:
    needles = Needles(["top Secret_Name 42 xyz"])
    for name in ("top Secret_Name 42 xyz.md", "2026-top-secret-name-42-xyz"):
        (tmp_path / name).write_text("")
        assert {hit.where for hit in in_folders(needles, tmp_path)} == {f"the name of {tmp_path.name}/{name}"}
        (tmp_path / name).unlink()
    (tmp_path / "link").symlink_to("/srv/top Secret_Name 42 xyz/file")
    assert {hit.where for hit in in_folders(needles, tmp_path)} == {f"the target of {tmp_path.name}/link"}


def database(path: Path, *, log: bool = False) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None)
    if log:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA wal_autocheckpoint = 0")
    db.execute("CREATE TABLE item (row INTEGER PRIMARY KEY, text BLOB, packed INTEGER)")
    return db


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("size", [100, 3000, 30_000])
def test_cells_are_read_also_from_the_log(tmp_path: Path, *, log: bool, packed: bool, size: int) -> None:
    db = database(tmp_path / "a.db", log=log)
    text = (NOISE[:size] + SECRET + NOISE[: size // 2]).encode()
    db.execute("INSERT INTO item (text, packed) VALUES (?, ?)", (zstandard.compress(text) if packed else text, packed))
    hits = in_folders(Needles([SECRET, PLAIN]), tmp_path)
    assert {hit.text for hit in hits} == {SECRET}
    assert any(" item.text" in hit.where for hit in hits)
    db.close()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("size", [100, 1500, 30_000, 150_000])
@pytest.mark.parametrize("secure", [False, True])
def test_what_was_deleted_is_found_in_free_pages_unless_it_was_erased(
    tmp_path: Path, *, packed: bool, size: int, secure: bool
) -> None:
    db = database(tmp_path / "a.db")
    db.execute(f"PRAGMA secure_delete = {'ON' if secure else 'OFF'}")
    text = ("".join(RNG.choices(string.ascii_letters, k=size)) + SECRET + NOISE[: size // 2]).encode()
    for other in range(40):
        filler = "".join(RNG.choices(string.ascii_letters, k=300))
        db.execute("INSERT INTO item (text, packed) VALUES (?, 0)", (filler,))
        if other == 20:
            blob = zstandard.compress(text, 1) if packed else text
            db.execute("INSERT INTO item (row, text, packed) VALUES (100, ?, ?)", (blob, packed))
    # The first page that gets free becomes the list of the others and loses its beginning; this is another one.
    db.execute("CREATE TABLE other (text)")
    db.execute("DROP TABLE other")
    assert db.execute("DELETE FROM item WHERE row = 100").rowcount == 1
    db.close()
    assert {hit.text for hit in in_folders(Needles([SECRET]), tmp_path)} == (set() if secure else {SECRET})


FULL_TEXT = {
    "prose": 'fts5(body, content="", tokenize="unicode61 remove_diacritics 2 tokenchars \'_\'")',
    "tool": 'fts5(body, content="", columnsize=0, detail=none, tokenize="unicode61 tokenchars \'_\'")',
    "whole": "fts5(body)",
}


@pytest.mark.parametrize("table", FULL_TEXT)
@pytest.mark.parametrize("text", [PLAIN, "ghp_Zk93mQpX72LwZtYb40HsQ1", "aB3-xY9.kL2/qW8", "S3cr3t!pw"])
def test_the_words_of_a_full_text_are_read(tmp_path: Path, table: str, text: str) -> None:
    db = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    db.execute(f"CREATE VIRTUAL TABLE {table} USING {FULL_TEXT[table]}")
    near = f"{text[:-3]}zzz {text[:-2]}zz"  # terms that share most of it stand before it
    parts = " and ".join(words(text)[::-1])
    for row, said in enumerate((TALK, f"x {near} y", f"{TALK} {text} {TALK}"), 1):
        db.execute(f"INSERT INTO {table} (rowid, body) VALUES (?, ?)", (row, said))
    hits = in_folders(Needles([text]), tmp_path)
    assert any(hit.where.endswith(f" {table}") and hit.how == "index" for hit in hits), hits
    db.execute(f"INSERT INTO {table} ({table}) VALUES ('delete-all')" if table != "whole" else "DELETE FROM whole")
    for row, word in enumerate(parts.split(" and "), 10):
        db.execute(f"INSERT INTO {table} (rowid, body) VALUES (?, ?)", (row, f"{TALK} {word}"))
    db.execute("VACUUM")
    db.close()
    if len(words(text)) > 1:
        # Its words in several documents are not the text.
        assert not any(hit.how == "index" for hit in in_folders(Needles([text]), tmp_path))


def test_words_of_deleted_documents_are_read_from_the_pages(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    db.execute(f"CREATE VIRTUAL TABLE prose USING {FULL_TEXT['prose']}")
    said = f"{PLAIN[:14]} some words {PLAIN} more"
    db.execute("INSERT INTO prose (rowid, body) VALUES (1, ?)", (said,))
    db.execute("INSERT INTO prose (prose, rowid, body) VALUES ('delete', 1, ?)", (said,))
    assert any(hit.how.startswith("term") for hit in in_folders(Needles([PLAIN]), tmp_path))
    block = db.execute("SELECT block FROM prose_data WHERE id > 1000 ORDER BY id").fetchone()[0]
    assert page_terms(block) == sorted({word.lower() for word in said.split()})
    db.execute("INSERT INTO prose (prose) VALUES ('optimize')")
    db.execute("VACUUM")
    db.close()
    assert in_folders(Needles([PLAIN]), tmp_path) == set()


def test_archives_are_opened(tmp_path: Path) -> None:
    db = database(tmp_path / "a.db")
    db.execute("INSERT INTO item (text) VALUES (?)", (zstandard.compress((NOISE + SECRET).encode()),))
    db.close()
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(tmp_path / "a.db")
    (tmp_path / "a.db.gz").write_bytes(gzip.compress((tmp_path / "a.db").read_bytes()))
    (tmp_path / "a.db").unlink()
    found = {hit.where for hit in in_folders(Needles([SECRET]), tmp_path)}
    assert {where.split()[0] for where in found} == {f"{tmp_path.name}/a.zip", f"{tmp_path.name}/a.db.gz"}


def test_a_vector_store_is_read(tmp_path: Path) -> None:
    # In a process of its own: a store that is open keeps files and threads until its process ends.
    planted = f"""
import chromadb
from chromadb.config import Settings
client = chromadb.PersistentClient({str(tmp_path / "store")!r}, settings=Settings(anonymized_telemetry=False))
collection = client.create_collection("notes", embedding_function=None)
vectors = [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]]
collection.add(["1", "2"], embeddings=vectors, documents=["first {PLAIN} text", "second"], metadatas=[{{"a": "b"}}] * 2)
"""
    subprocess.run([sys.executable, "-c", planted], check=True, capture_output=True)
    assert {hit.text for hit in in_folders(Needles([PLAIN]), tmp_path)} == {PLAIN}
    shutil.rmtree(tmp_path / "store")


def test_a_text_too_short_to_prove_anything_is_refused() -> None:
    with pytest.raises(ValueError, match="too short"):
        Needles(["ab"])
