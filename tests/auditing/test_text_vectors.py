"""Vectors of texts by a model of the user: a real static model, the laws of the cache, and what is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import huggingface_hub.constants
import numpy as np
import polars as pl
import pytest
from model2vec import StaticModel
from sklearn.metrics import average_precision_score
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from noisybayes import audit
from noisybayes._extras import MissingExtraError
from noisybayes.auditing import text_vectors
from noisybayes.auditing.text_vectors import STATIC, TRANSFORMER, TextModel, embed_texts
from noisybayes.data.errors import InputError

from ..cli.command import run, summary

FRAME = pl.DataFrame({"text": ["red car", "blue bus"] * 20, "label": ["x", "y"] * 20, "n": list(range(40))})
WORDS = [f"w{number}" for number in range(600)]
CLASS_OF_WORD = np.arange(600) % 2  # the class of each word


@pytest.fixture(scope="module")
def static(tmp_path_factory) -> Path:
    """A model whose vectors tell the words of two classes apart."""
    rng = np.random.default_rng(0)
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0, **{word: at for at, word in enumerate(WORDS, 1)}}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    vectors = rng.normal(scale=0.5, size=(601, 8))
    vectors[1:, 0] += 2 * CLASS_OF_WORD - 1
    folder = tmp_path_factory.mktemp("model")
    StaticModel(vectors.astype(np.float32), tokenizer).save_pretrained(folder)
    return folder


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """A model that looks like one of sentence-transformers, and the texts that were embedded by it."""
    folder, asked = tmp_path / "model", []
    folder.mkdir()
    (folder / "modules.json").write_text("[]")

    def encoder(model):
        def encode(texts):
            asked.extend(texts)
            return np.array([[len(text), sum(map(ord, text)) % 97, 1.0] for text in texts], dtype=np.float32)

        return encode

    monkeypatch.setattr(text_vectors, "_encoder", encoder)
    return TextModel.find(folder), asked


def rare_words() -> tuple[pl.DataFrame, np.ndarray]:
    """Texts that share hardly any words, with a fifth of the labels wrong."""
    rng = np.random.default_rng(1)
    true = np.arange(300) % 2
    texts = [" ".join(rng.choice(np.array(WORDS)[label == CLASS_OF_WORD], 2)) for label in true]
    wrong = rng.random(300) < 0.2
    return pl.DataFrame({"text": texts, "label": np.array(["a", "b"])[np.where(wrong, 1 - true, true)]}), wrong


def test_a_static_model_embeds_texts_and_keeps_no_cache(static, tmp_path):
    model, texts = TextModel.find(static), ["w1 w2", "w3", "", "not known", "w1 w2"]
    assert model.kind == STATIC
    vectors = embed_texts(texts, model, tmp_path / "cache")
    np.testing.assert_array_equal(vectors, StaticModel.from_pretrained(static).encode(texts))
    assert not vectors[2:4].any()
    assert not (tmp_path / "cache").exists()


def test_the_audit_ranks_better_and_says_what_it_used(static):
    frame, wrong = rare_words()
    alone = audit(frame, label="label", text="text")
    found = audit(frame, label="label", text="text", embed=static)

    def ap(result) -> float:
        return average_precision_score(wrong, result.to_polars("table")["p_wrong"])

    assert ap(found) > ap(alone) + 0.1  # .13 to .17 over five seeds
    assert alone.summary()["run"]["embedded_with"] is None
    assert found.summary()["run"]["embedded_with"] == {"name": str(static), "kind": "model2vec"}
    assert f"{static} (model2vec)" in found.to_html()


def test_the_command_writes_it_and_saves_the_model_of_the_columns_alone(static, tmp_path):
    rare_words()[0].write_csv(tmp_path / "rows.csv")
    scored = []
    for name, more in (("with", ("--embed", static)), ("without", ())):
        command = ("audit", tmp_path / "rows.csv", "--label", "label", "--text", "text", "--out", tmp_path / name)
        assert run(*command, *more).exit_code == 0
        assert run("predict", tmp_path / name, tmp_path / "rows.csv", "--out", tmp_path / f"{name}.csv").exit_code == 0
        scored.append(pl.read_csv(tmp_path / f"{name}.csv"))
    assert scored[0].equals(scored[1])
    assert summary(tmp_path / "with")["run"]["embedded_with"] == {"name": str(static), "kind": "model2vec"}


@pytest.mark.parametrize("name", ["minishlab/tiny", "tiny"])
def test_a_name_is_looked_up_in_the_local_cache(static, tmp_path, monkeypatch, name):
    at = tmp_path / "models--minishlab--tiny"
    (at / "refs").mkdir(parents=True)
    (at / "refs" / "main").write_text("0" * 40)
    (at / "snapshots").mkdir()
    (at / "snapshots" / ("0" * 40)).symlink_to(static, target_is_directory=True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    model = TextModel.find(name)
    assert model.about() == {"name": name, "kind": STATIC}
    assert embed_texts(["w1"], model).any()


def modules(kind: str) -> str:
    return json.dumps([{"idx": 0, "name": "0", "path": "", "type": f"sentence_transformers.models.{kind}"}])


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        (dict.fromkeys(("config.json", "model.safetensors", "tokenizer.json"), ""), STATIC),
        ({"modules.json": modules("StaticEmbedding")}, STATIC),
        ({"modules.json": modules("Transformer")}, TRANSFORMER),
        (
            {"config.json": "", "model.safetensors": "", "tokenizer.json": "", "modules.json": modules("Transformer")},
            TRANSFORMER,
        ),
    ],
)
def test_files_tell_the_kind_of_model(tmp_path, files, kind):
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    assert TextModel.find(tmp_path).kind == kind


def test_every_text_is_embedded_once_for_each_model(counted, tmp_path):
    model, asked = counted
    cache, stages = tmp_path / "cache", []
    first = embed_texts(["b", "a", "b"], model, cache, stages.append)
    assert stages[-1] == "embedding texts, 100 %"
    assert sorted(asked) == ["a", "b"]
    np.testing.assert_array_equal(first[0], first[2])
    again = embed_texts(["a", "b", "new one"], model, cache)
    assert sorted(asked) == ["a", "b", "new one"]
    np.testing.assert_array_equal(again[:2], first[[1, 0]])
    (model.folder / "weights").write_text("others")
    embed_texts(["a"], model, cache)
    assert sorted(asked) == ["a", "a", "b", "new one"]
    for file in cache.iterdir():  # a damaged cache is made again
        file.write_bytes(file.read_bytes()[:50])
    np.testing.assert_array_equal(embed_texts(["a"], model, cache), first[[1]])
    assert len(asked) == 5


def test_the_audit_uses_a_model_of_sentence_transformers(counted):
    model, asked = counted
    found = audit(FRAME, label="label", text="text", embed=str(model.folder))
    assert set(asked) == {"red car", "blue bus"}
    assert found.summary()["run"]["embedded_with"] == {"name": str(model.folder), "kind": "sentence-transformers"}


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"text": "text", "embeddings": np.ones((40, 2))}, "embed= and embeddings= are mutually exclusive"),
        ({"numeric": "n"}, "embed= needs a column of text"),
    ],
)
def test_what_does_not_go_with_it_is_one_sentence(static, asked, told):
    with pytest.raises(InputError, match=told):
        audit(FRAME, label="label", embed=static, **asked)


HOLDS = (
    "a static model (model2vec) has config.json, model.safetensors and tokenizer.json, a model of "
    "sentence-transformers has modules.json"
)


def test_without_a_model_it_is_said_what_one_is(tmp_path):
    with pytest.raises(InputError) as error:
        TextModel.find(tmp_path)
    assert str(error.value) == f"--embed: the folder {tmp_path} holds no model: {HOLDS}"
    with pytest.raises(InputError) as error:
        TextModel.find("no-such/model")
    assert str(error.value) == (
        "--embed: there is no model 'no-such/model' on this machine, and nothing is downloaded; name a model in the "
        f"local cache of Hugging Face, or a folder: {HOLDS}"
    )


def test_a_damaged_model_is_named(static, tmp_path):
    for path in static.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes()[:200])
    with pytest.raises(InputError, match=r"--embed: the model in .* cannot be loaded: "):
        embed_texts(["a"], TextModel.find(tmp_path))


@pytest.mark.parametrize(
    ("kind", "package", "extra"),
    [("StaticEmbedding", "model2vec", "embed"), ("Transformer", "sentence_transformers", "embed-models")],
)
def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch, kind, package, extra):
    (tmp_path / "modules.json").write_text(modules(kind))
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"--embed needs {package}: pip install 'noisybayes\[{extra}\]'"):
        embed_texts(["a"], TextModel.find(tmp_path))
