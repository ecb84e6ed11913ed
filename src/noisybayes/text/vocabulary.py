"""A column of texts to weighted words: which words count, and how much."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from .._threads import in_threads
from ..data.errors import InputError
from ..data.untrusted import is_finite, is_text, listed, only_keys
from .counts import Array, Counted, count_known, count_pieces, recoded, stacked, threads_for
from .tokens import Kind, Tokenizer, choose_tokenizer

# in a small file a word in one text may be all there is, and one in half of the texts may be the topic
_FEW_FOR_MIN_DF = 50
_FEW_FOR_MAX_DF = 100
_MILLION = 1 << 20


@dataclass(frozen=True)
class TextSettings:
    min_df: int = 2  # minimum number of texts with a word (1 in a file of fewer than 50 rows)
    max_df: float = 0.5  # and in at most this share of them (from 100 rows on)
    max_words: int = 20_000  # those with the largest summed TF-IDF
    ngrams: int = 1  # 2: also pairs of adjacent words
    weighting: Literal["tfidf", "binary"] = "tfidf"

    def __post_init__(self) -> None:
        for name, ok, need in (
            ("min_df", self.min_df >= 1, "at least 1"),
            ("max_df", 0 < self.max_df <= 1, "a share above 0 and up to 1"),
            ("max_words", self.max_words >= 1, "at least 1"),
            ("ngrams", self.ngrams in (1, 2), "1 or 2"),
            ("weighting", self.weighting in ("tfidf", "binary"), "'tfidf' or 'binary'"),
        ):
            if not ok:
                raise InputError(f"{name} must be {need}, got {getattr(self, name)!r}")


@dataclass(frozen=True, eq=False)
class TextFeatures:
    """Weights as in scikit-learn's TfidfVectorizer(sublinear_tf=True), or zeros and ones."""

    settings: TextSettings
    tokenizer: Tokenizer
    feature_names: tuple[str, ...]
    idf: Array  # (d,)

    @classmethod
    def fit(
        cls, texts: pl.Series, settings: TextSettings | None = None, dtype: Any = np.float64
    ) -> tuple[TextFeatures, Any, list[str]]:
        """The fitted features, the matrix of these texts, and sentences about what is suboptimal."""
        settings = settings or TextSettings()
        if not has_text(texts):
            raise every_text_is_empty(texts.name)
        tokenizer, notes = choose_tokenizer(texts, settings.ngrams)
        parts = count_pieces(texts, tokenizer)
        counted = pl.concat(pl.DataFrame({"word": part.words, "count": part.in_rows}) for part in parts)
        in_rows = counted.group_by("word").agg(pl.col("count").sum()).sort("word")
        n, n_texts_with = len(texts), in_rows["count"].to_numpy()
        frequent = _frequent(n_texts_with, n, settings, texts.name)
        words, idf = in_rows["word"].gather(frequent), np.log((1.0 + n) / (1.0 + n_texts_with[frequent])) + 1.0
        if len(frequent) > settings.max_words:
            weights = np.asarray(sum(_summed_weights(part, words, idf) for part in parts))
            best = np.sort(np.argsort(-weights, kind="stable")[: settings.max_words])
            words, idf = words.gather(best), idf[best]
        features = cls(settings, tokenizer, tuple(words.to_list()), idf)

        def weigh(part: Counted) -> Any:
            return features.weigh(part).astype(dtype, copy=False)

        return features, stacked(list(in_threads(weigh, parts, threads_for(len(texts))))), notes

    def weigh(self, part: Counted) -> Any:
        """(n, d) CSR, float64, of texts whose words were counted."""
        return _weighted(recoded(part, self._vocabulary), self.idf, self.settings.weighting)

    @property
    def _vocabulary(self) -> pl.Series:
        return pl.Series(self.feature_names, dtype=pl.String)

    def transform(self, texts: pl.Series) -> Any:
        """(n, d) CSR, float64. A text without known words is a row of zeros."""
        counts = count_known(texts, self.tokenizer, self._vocabulary)
        return _weighted(counts, self.idf, self.settings.weighting)

    def to_dict(self) -> dict[str, Any]:
        return {
            "settings": asdict(self.settings),
            "tokenizer": asdict(self.tokenizer),
            "words": list(self.feature_names),
            "idf": self.idf.tolist(),
        }

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> TextFeatures:
        only_keys(stored, "a vocabulary", ("settings", "tokenizer", "words", "idf"))
        words = listed(stored["words"], "the vocabulary", is_text)
        idf = listed(stored["idf"], "the weights of the words", lambda x: is_finite(x) and x > 0, len(words))
        if not words or len(set(words)) < len(words):
            raise ValueError("the words of the vocabulary are absent or not distinct")
        settings, tokenizer = TextSettings(**stored["settings"]), Tokenizer(**stored["tokenizer"])
        if tokenizer.kind not in get_args(Kind) or tokenizer.ngrams not in (1, 2):
            raise ValueError("the tokenizer is of an unknown kind")
        return cls(settings, tokenizer, tuple(words), np.array(idf, dtype=np.float64))


def _summed_weights(part: Counted, words: pl.Series, idf: Array) -> Array:
    """(d,) TF-IDF of each word, summed over some texts, in whole millionths: their sums are exact, so that words on
    the edge of the vocabulary do not depend on how the texts are parted."""
    weighted = _weighted(recoded(part, words), idf, "tfidf")
    return np.bincount(weighted.indices, np.rint(weighted.data * _MILLION), minlength=len(words))


def document_frequency_bounds(n: int, settings: TextSettings) -> tuple[int, float]:
    """The minimum and maximum number of the n texts that may contain a word."""
    least = settings.min_df if n >= _FEW_FOR_MIN_DF else 1
    return least, settings.max_df * n if n >= _FEW_FOR_MAX_DF else n


def has_text(texts: pl.Series) -> bool:
    return bool(texts.fill_null("").str.contains(r"\S").any())


def every_text_is_empty(column: str) -> InputError:
    return InputError(f"every text in the column {column!r} is empty; choose another one with --text")


def _frequent(in_rows: Array, n: int, settings: TextSettings, column: str) -> Array:
    """Positions of the words that occur in neither too few nor too many texts."""
    least, most = document_frequency_bounds(n, settings)
    frequent = np.flatnonzero((in_rows >= least) & (in_rows <= most))
    if not len(in_rows):
        raise InputError(f"the texts in the column {column!r} contain no words; choose another one with --text")
    if not len(frequent):
        raise InputError(
            f"no word in the column {column!r} occurs in at least {least} and at most {most:g} of the {n} texts; "
            "lower min_df or raise max_df"
        )
    return frequent


def _weighted(counts: Any, idf: Array, weighting: str) -> Any:
    """Changes `counts`."""
    if weighting == "binary":
        counts.data[:] = 1.0
        return counts
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    counts.data = (1.0 + np.log(counts.data)) * idf[counts.indices]
    counts.data /= np.sqrt(np.bincount(row, counts.data**2, minlength=counts.shape[0]))[row]
    return counts
