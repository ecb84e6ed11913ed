"""Every piece of work is measured and shown; the data are what the page says."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.feature_extraction.text import CountVectorizer

from noisybayes.bench.speed import WORKS, binary, cluster, em, growth, texts
from noisybayes.bench.speed.page import render_page, results_path
from noisybayes.bench.store import read_rows
from noisybayes.cli.app import app
from noisybayes.cli.bench.speed import WORKS as NAMES


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(em, "SHAPES", (em.Shape(2_000, 400, 20, 4),))
    monkeypatch.setattr(texts, "CASES", (texts.Case(300, 5),))
    monkeypatch.setattr(texts, "VOCABULARY", 50)
    monkeypatch.setattr(binary, "SIZES", (3_000,))
    monkeypatch.setattr(cluster, "SIZES", (3_000,))
    monkeypatch.setattr(cluster, "N_COLUMNS", 300)
    monkeypatch.setattr(growth, "ROWS", (500, 2_000))
    monkeypatch.setattr(growth, "CLASSES", (2, 5))
    monkeypatch.setattr(growth, "COLUMNS", (300,))
    monkeypatch.setattr(growth, "N_ROWS", 1_000)
    monkeypatch.setattr(growth, "N_COLUMNS", 300)


def test_the_command_line_offers_every_work():
    assert tuple(WORKS) == NAMES


@pytest.mark.parametrize("work", WORKS)
def test_a_work_goes_from_command_to_page(work, small, tmp_path):
    result = CliRunner().invoke(app, ["bench", "speed", work, "--reps", "2", "--root", str(tmp_path)])
    assert result.exit_code == 0, result.output
    rows = read_rows(results_path(tmp_path, work))
    assert WORKS[work].page(rows).strip() in render_page(tmp_path)
    assert (tmp_path / "docs/speed.md").read_text() == render_page(tmp_path)


def test_random_texts_are_as_described():
    X, y = em.random_texts(np.random.default_rng(0), np.float32, 1_000, 400, 20, 4)
    assert X.dtype == np.float32
    assert X.shape == (1_000, 400)
    assert X.has_canonical_format
    assert set(X.data) == {1.0}
    assert 18 < X.nnz / 1_000 <= 20
    assert set(y) == {0, 1, 2, 3}


def test_both_count_the_same_words(monkeypatch):
    monkeypatch.setattr(texts, "VOCABULARY", 50)
    messages = texts.random_messages(np.random.default_rng(0), 200, 6)
    counts, words = texts.count_all(texts.pl.Series(messages), texts.Tokenizer("words"))
    vectorizer = CountVectorizer()
    np.testing.assert_array_equal(vectorizer.fit_transform(messages).toarray(), counts.toarray())
    assert list(vectorizer.get_feature_names_out()) == words.to_list()
