"""Texts to tokens: which script, which words, and the counts of scikit-learn."""

from __future__ import annotations

import sys

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from noisybayes.text import counts
from noisybayes.text.counts import count_all, count_known
from noisybayes.text.scripts import main_script
from noisybayes.text.tokens import Tokenizer, choose_tokenizer

TEXTS = [
    "Where is my car? WHERE is it",
    "Être à Zürich, naïve; x 1 22 snake_case don't",
    "",
    "ÅNGSTRÖM привет Мир γεια",
    "the price, the price. the",
]
KINDS = ("words", "chinese", "characters")


def tokens(kind, text, ngrams=1):
    return Tokenizer(kind, ngrams).tokens(pl.Series([text]))["token"].to_list()


@pytest.mark.parametrize(
    ("script", "texts"),
    [
        ("words", ["hello there", None, "привет"]),
        ("words", ["a long English text that names 北京 in passing"]),
        ("words", ["नमस्ते दुनिया"]),
        ("chinese", ["我想买一辆宝马", "BMW 多少钱？"]),
        ("japanese", ["東京タワーはどこですか"]),
        ("korean", ["안녕하세요 BMW"]),
        ("thai", ["สวัสดีครับ"]),
    ],
)
def test_the_script_of_a_column(script, texts):
    series = pl.Series(texts, dtype=pl.String)
    assert main_script(series) == script
    kind = {"words": "words", "chinese": "chinese"}.get(script, "characters")
    assert choose_tokenizer(series) == (Tokenizer(kind, 2 if kind == "characters" else 1), [])


def test_words():
    assert tokens("words", "Don't PANIC, x 42!") == ["don", "panic", "42"]
    assert tokens("words", "one two. three", ngrams=2) == ["one", "two", "three", "one two", "two three"]
    assert tokens("words", "नमस्ते e\u0301te\u0301") == ["नमस्ते", "e\u0301te\u0301"]  # vowel signs and accents do not cut


def test_chinese_words():
    assert tokens("chinese", "我想买iPhone，多少钱？") == ["我", "想", "买", "iphone", "多少", "钱"]
    assert tokens("chinese", "多少钱", ngrams=2) == ["多少", "钱", "多少 钱"]


def test_characters_and_pairs_within_runs():
    found = tokens("characters", "iPhoneは東京。안녕 5 ok", ngrams=2)
    assert found == ["iphone", "ok", "は", "東", "京", "안", "녕", "は東", "東京", "안녕"]


def test_chinese_without_its_extra_is_cut_into_characters(monkeypatch):
    monkeypatch.setitem(sys.modules, "rjieba", None)
    tokenizer, notes = choose_tokenizer(pl.Series("message", ["我想买"]))
    assert tokenizer == Tokenizer("characters", 2)
    assert notes == [
        "the texts in 'message' are split into characters, not words: "
        "Chinese text needs rjieba: pip install 'noisybayes[zh]'"
    ]


# scikit-learn cuts words at accents of their own and at vowel signs
letters = st.characters(codec="utf-8", categories=["L", "Nd", "Pc", "Po", "Zs", "Cc", "So"], max_codepoint=0x24FF)


@settings(max_examples=50)
@given(texts=st.lists(st.text(letters | st.sampled_from("ab "), max_size=15), max_size=6), ngrams=st.integers(1, 2))
@example(texts=TEXTS, ngrams=1)
@example(texts=TEXTS, ngrams=2)
def test_counts_are_those_of_scikit_learn(texts, ngrams):
    lowered = [text.lower().replace("\u0307", "") for text in texts]  # the lower case of İ has an accent of its own
    texts = [*lowered, None, "one word"]
    series, tokenizer = pl.Series("x", texts, dtype=pl.String), Tokenizer("words", ngrams)
    for kind in KINDS:
        found = Tokenizer(kind, ngrams).tokens(series)
        assert found["token"].null_count() == 0
        assert found["token"].str.len_chars().min() != 0
    ours, words = count_all(series, tokenizer)
    vectorizer = CountVectorizer(ngram_range=(1, ngrams))
    theirs = vectorizer.fit_transform([text or "" for text in texts])
    assert words.to_list() == vectorizer.get_feature_names_out().tolist()
    assert (ours.toarray() == theirs.toarray()).all()
    assert ours.has_sorted_indices
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(counts, "_SLICE", 2)  # rows at once
        assert (count_known(series, tokenizer, words).toarray() == ours.toarray()).all()
        assert (count_all(series, tokenizer)[0].toarray() == ours.toarray()).all()
