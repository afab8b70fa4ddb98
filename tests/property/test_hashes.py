"""Ids and keyed hashes are what their definitions say, whatever quick way makes them: stored ones depend on it."""

import hashlib
import hmac
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from afterword.domain.ids import KeyPart, item_id, session_id
from afterword.store.ledger.ledger import Ledger, open_writer

ANY_TEXT = st.text(st.characters(codec=None))  # lone surrogates, too
PARTS = st.lists(st.one_of(ANY_TEXT, st.integers(-(2**63), 2**63 - 1)), max_size=4)


def hashed(person: bytes, parts: list[KeyPart]) -> bytes:
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, person=person).digest()


@given(PARTS)
def test_an_item_id_is_the_hash_of_the_compact_json_of_its_key(key: list[KeyPart]) -> None:
    assert item_id("claude-code", "prompt", key) == hashed(b"afterword-item", ["claude-code", "prompt", *key])


@given(ANY_TEXT)
def test_a_session_id_is_the_hash_of_harness_and_native_id(native: str) -> None:
    assert session_id("codex", native) == hashed(b"afterword-sess", ["codex", native]).hex()


def test_ids_stay_what_they_were() -> None:
    assert (
        item_id("claude-code", "prompt", ('b5c8-\x7f\n"\\/é\u2028\ud800', 3)).hex()
        == "4888c81d0da086406cb165ef9d35e525"
    )
    assert session_id("claude-code", "0f3f1e9a/agent-1") == "820874ef8475a55b89b908ef5573ac30"


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    return open_writer(Path(tmp_path_factory.mktemp("ledger")), "here")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200), size=st.integers(1, 32))
def test_a_keyed_hash_is_an_hmac(ledger: Ledger, data: bytes, size: int) -> None:
    assert ledger.keyed_hash(data, size) == hmac.digest(ledger.hash_key, data, "sha256")[:size]
