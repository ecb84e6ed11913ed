"""Words that count and their weights, against scikit-learn's TfidfVectorizer."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from noisybayes.data.errors import InputError
from noisybayes.text.vocabulary import TextFeatures, TextSettings

WORDS = [f"w{i:03}" for i in range(200)]


def random_texts(n=120, seed=0):
    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, len(WORDS) + 1)
    texts = [" ".join(rng.choice(WORDS, size=12, p=share / share.sum())) for _ in range(n)]
    return pl.Series("message", [*texts[:-2], "", None])


def plain(texts):
    return texts.fill_null("").to_list()


@pytest.mark.parametrize("ngrams", [1, 2])
@pytest.mark.parametrize(("n", "min_df", "max_df"), [(120, 3, 0.1), (30, 1, 1.0)])
def test_weights_are_those_of_scikit_learn(ngrams, n, min_df, max_df):
    texts = random_texts(n)
    given = TextSettings(min_df=max(2, min_df), max_df=min(0.5, max_df), ngrams=ngrams)  # small files have their own
    features, X, _ = TextFeatures.fit(texts, given)
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=min_df, max_df=max_df, ngram_range=(1, ngrams))
    theirs = vectorizer.fit_transform(plain(texts))
    assert list(features.feature_names) == vectorizer.get_feature_names_out().tolist()
    np.testing.assert_allclose(X.toarray(), theirs.toarray(), rtol=1e-12)
    np.testing.assert_allclose(features.idf, vectorizer.idf_, rtol=1e-12)
    again = TextFeatures.from_dict(json.loads(json.dumps(features.to_dict())))
    assert (again.transform(texts).toarray() == X.toarray()).all()
    new = random_texts(40, seed=1)
    np.testing.assert_allclose(
        features.transform(new).toarray(), vectorizer.transform(plain(new)).toarray(), rtol=1e-12
    )


def test_the_words_with_the_largest_weights_are_kept():
    texts = random_texts()
    features, X, _ = TextFeatures.fit(texts, TextSettings(max_words=20))
    full = TfidfVectorizer(sublinear_tf=True, min_df=2, max_df=0.5)
    weights = np.asarray(full.fit_transform(plain(texts)).sum(axis=0)).ravel()
    best = np.sort(full.get_feature_names_out()[np.argsort(-weights, kind="stable")[:20]])
    assert list(features.feature_names) == best.tolist()
    again = TfidfVectorizer(sublinear_tf=True, vocabulary=list(features.feature_names)).fit_transform(plain(texts))
    np.testing.assert_allclose(X.toarray(), again.toarray(), rtol=1e-12)


def refusal(texts, **options):
    with pytest.raises(InputError) as caught:
        TextFeatures.fit(pl.Series("message", texts, dtype=pl.String), TextSettings(**options))
    return str(caught.value)


def test_texts_without_words():
    assert refusal([None, " \n"]) == "every text in the column 'message' is empty; choose another one with --text"
    assert refusal(["!", "? a"]) == "the texts in the column 'message' contain no words; choose another one with --text"
    assert refusal([f"word{i}" for i in range(60)]) == (
        "no word in the column 'message' occurs in at least 2 and at most 60 of the 60 texts; "
        "lower min_df or raise max_df"
    )


def test_settings_are_checked():
    for options, text in (
        ({"min_df": 0}, "min_df must be at least 1, got 0"),
        ({"max_df": 2.0}, "max_df must be a share above 0 and up to 1, got 2.0"),
        ({"max_words": 0}, "max_words must be at least 1, got 0"),
        ({"ngrams": 3}, "ngrams must be 1 or 2, got 3"),
        ({"weighting": "bm25"}, "weighting must be 'tfidf' or 'binary', got 'bm25'"),
    ):
        assert refusal(["some text"], **options) == text
