"""Vectors of texts by a model of the user: the laws of the cache, and what is refused; without any model."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest

from noisybayes import audit
from noisybayes._extras import MissingExtraError
from noisybayes.auditing import sentence_vectors
from noisybayes.auditing.sentence_vectors import embed_texts
from noisybayes.data.errors import InputError

FRAME = pl.DataFrame({"text": ["red car", "blue bus"] * 20, "label": ["x", "y"] * 20, "n": list(range(40))})


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """A folder that looks like a model, and the texts that were embedded by it."""
    folder, asked = tmp_path / "model", []
    folder.mkdir()
    (folder / "modules.json").write_text("[]")

    def encoder(path):
        def encode(texts):
            asked.extend(texts)
            return np.array([[len(text), sum(map(ord, text)) % 97, 1.0] for text in texts], dtype=np.float32)

        return encode

    monkeypatch.setattr(sentence_vectors, "_encoder", encoder)
    return folder, asked


def test_every_text_is_embedded_once_for_each_model(counted, tmp_path):
    folder, asked = counted
    cache, stages = tmp_path / "cache", []
    first = embed_texts(["b", "a", "b"], folder, cache, stages.append)
    assert stages[-1] == "embedding texts, 100 %"
    assert sorted(asked) == ["a", "b"]
    np.testing.assert_array_equal(first[0], first[2])
    again = embed_texts(["a", "b", "new one"], folder, cache)
    assert sorted(asked) == ["a", "b", "new one"]
    np.testing.assert_array_equal(again[:2], first[[1, 0]])
    (folder / "weights").write_text("others")
    embed_texts(["a"], folder, cache)
    assert sorted(asked) == ["a", "a", "b", "new one"]
    for file in cache.iterdir():  # a damaged cache is made again
        file.write_bytes(file.read_bytes()[:50])
    np.testing.assert_array_equal(embed_texts(["a"], folder, cache), first[[1]])
    assert len(asked) == 5


def test_the_audit_uses_them(counted, tmp_path):
    found = audit(FRAME, label="label", text="text", embed=str(counted[0]))
    assert set(counted[1]) == {"red car", "blue bus"}
    assert any("embeddings" in note for note in found.run.notes)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"text": "text", "embeddings": np.ones((40, 2))}, "embed= and embeddings= are mutually exclusive"),
        ({"numeric": "n"}, "needs a column of text"),
    ],
)
def test_what_does_not_go_with_it_is_one_sentence(counted, asked, told):
    with pytest.raises(InputError, match=told):
        audit(FRAME, label="label", embed=str(counted[0]), **asked)


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "modules.json").write_text("[]")
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'noisybayes\[embed\]'"):
        embed_texts(["a"], tmp_path)
